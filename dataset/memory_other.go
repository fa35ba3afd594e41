//go:build !linux

package dataset

// physicalMemory returns the machine's memory in bytes, as far as it is known.
func physicalMemory() int64 { return assumedMemory }
