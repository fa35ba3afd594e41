package console

import (
	"os"
	"strconv"
	"strings"
)

// PeakRSS returns the most memory that the process had resident so far, in bytes, or 0 if that isn't known. Getrusage
// would include what the parent had resident when it started the process.
func PeakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
