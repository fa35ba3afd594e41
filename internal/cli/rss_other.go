//go:build !linux

package cli

// peakRSS returns the most memory that the process had resident so far, in bytes, or 0 if that isn't known.
func peakRSS() int64 { return 0 }
