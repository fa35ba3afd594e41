package memory

import "golang.org/x/sys/unix"

// available returns the free share of the memory. The share is the number that macOS compares with its levels of memory
// pressure.
func available() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	percent, err := unix.SysctlUint32("kern.memorystatus_level")
	if err != nil {
		percent = 100
	}
	return share(size, percent)
}
