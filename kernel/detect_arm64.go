//go:build arm64 && !noasm

package kernel

// detected returns the levels besides Generic: every arm64 processor has ASIMD.
func detected() []Level { return []Level{NEON} }
