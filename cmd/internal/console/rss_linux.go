package console

import (
	"os"
	"strconv"
	"strings"
)

// PeakRSS returns the largest resident memory of the process so far, in bytes, or 0 if it isn't known. Getrusage isn't
// used: it would include the resident memory of the parent at the start of the process.
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
