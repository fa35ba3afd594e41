//go:build !linux

package cli

// availableMemory returns how much memory the process may use, or 0 if that isn't known.
func availableMemory() int64 { return 0 }
