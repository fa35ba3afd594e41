//go:build amd64 && !noasm

package kernel

import "github.com/klauspost/cpuid/v2"

// detected returns the levels besides Generic that the CPU and the operating system support, the narrowest first.
func detected() []Level {
	if !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI1) {
		return nil
	}
	if !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
		return []Level{AVX2}
	}
	return []Level{AVX2, AVX512}
}
