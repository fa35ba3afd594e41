//go:build !linux

package console

// PeakRSS returns the most memory that the process had resident so far, in bytes, or 0 if that isn't known.
func PeakRSS() int64 { return 0 }
