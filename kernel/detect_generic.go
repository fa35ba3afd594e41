//go:build (!amd64 && !arm64) || noasm

package kernel

// detected returns the levels besides Generic; this build has none.
func detected() []Level { return nil }
