//go:build (!amd64 && !arm64) || noasm

package kernel

// detected returns the levels beyond Generic; this build has none.
func detected() []Level { return nil }
