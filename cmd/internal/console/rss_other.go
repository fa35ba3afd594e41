//go:build !linux

package console

// PeakRSS returns 0: the largest resident memory of the process isn't known here.
func PeakRSS() int64 { return 0 }
