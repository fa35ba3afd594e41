// Package memory says how much memory there is for this process, and bounds how much of it is taken.
package memory

import "math"

// Available returns how many bytes of memory the process may use without taking some from other processes, or 0 if unknown.
//
//   - Linux: what is left within the limits of the process's control groups, and of those around them.
//   - macOS: the share of the physical memory that the system calls free.
//   - Windows: the free physical memory.
func Available() int64 { return available() }

// least is what Available returns at least where it knows: less is no use to anyone.
const least = 16 << 20

// share returns so many percent of a number of bytes, all of it where that is no share, and 0 where there is no such number.
func share(bytes uint64, percent uint32) int64 {
	if percent == 0 || percent > 100 {
		percent = 100
	}
	if bytes == 0 || bytes > 1<<60 {
		return 0
	}
	return max(least, int64(bytes/100*uint64(percent)))
}

// Limit returns the bytes that were given, and without any four fifths of what is available, or no limit where that isn't known.
func Limit(given int64) int64 {
	if given > 0 {
		return given
	}
	if free := Available(); free > 0 {
		return free / 5 * 4
	}
	return math.MaxInt64
}
