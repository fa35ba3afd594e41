// Package memory bounds the memory that this process takes.
package memory

import "math"

// Available returns the number of bytes of memory that the process can use without taking memory from other processes,
// or 0 if it is unknown.
//
//   - Linux: the available memory, within the limits of the process's control groups and of the groups that contain them.
//   - macOS: the share of the physical memory that the system calls free.
//   - Windows: the free physical memory.
func Available() int64 { return available() }

// least is the smallest result of Available, except 0: less memory is of no use.
const least = 16 << 20

// share returns percent/100 × bytes, at least 16 MiB. It takes percent as 100 if it is 0 or above 100. It returns 0 if
// bytes is 0 or above 2^60 (unknown).
func share(bytes uint64, percent uint32) int64 {
	if percent == 0 || percent > 100 {
		percent = 100
	}
	if bytes == 0 || bytes > 1<<60 {
		return 0
	}
	return max(least, int64(bytes/100*uint64(percent)))
}

// Limit returns given if it is above 0. Otherwise it returns four fifths of Available, or math.MaxInt64 (no limit) if
// that is unknown.
func Limit(given int64) int64 {
	if given > 0 {
		return given
	}
	if free := Available(); free > 0 {
		return free / 5 * 4
	}
	return math.MaxInt64
}
