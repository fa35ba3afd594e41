package kernel

import "github.com/klauspost/cpuid/v2"

// CPU describes the processor. A field is 0 or empty if its value isn't known.
type CPU struct {
	Brand         string
	Vendor        string   // the maker, such as Intel, AMD or ARM
	Family, Model int      // the vendor's numbers for the kind of core
	Cores         int      // physical cores
	Threads       int      // threads of all cores
	L1D           int      // bytes of the first-level data cache, of a core
	L2            int      // bytes of the second-level cache
	L3            int      // bytes of the third-level cache
	Features      []string // instruction sets that the processor and the operating system support
}

// A feature is a set of instructions. The processor has it if the processor supports all of needs. linux is the
// feature's name in /proc/cpuinfo.
type feature struct {
	name, linux string
	needs       []cpuid.FeatureID
}

// features are the vector instructions and a few other instructions that compilers choose code by. The library's own
// list is longer and misreads some bits: it takes protection keys for AMXFP8, and lists AMX where the operating system
// lacks it.
var features = []feature{
	{"SSE2", "sse2", []cpuid.FeatureID{cpuid.SSE2}},
	{"SSE4", "sse4_1", []cpuid.FeatureID{cpuid.SSE4}},
	{"SSE42", "sse4_2", []cpuid.FeatureID{cpuid.SSE42}},
	{"POPCNT", "popcnt", []cpuid.FeatureID{cpuid.POPCNT}},
	{"BMI1", "bmi1", []cpuid.FeatureID{cpuid.BMI1}},
	{"BMI2", "bmi2", []cpuid.FeatureID{cpuid.BMI2}},
	{"AVX", "avx", []cpuid.FeatureID{cpuid.AVX}},
	{"F16C", "f16c", []cpuid.FeatureID{cpuid.F16C, cpuid.AVX}},
	{"FMA3", "fma", []cpuid.FeatureID{cpuid.FMA3, cpuid.AVX}},
	{"AVX2", "avx2", []cpuid.FeatureID{cpuid.AVX2}},
	{"AVXVNNI", "avx_vnni", []cpuid.FeatureID{cpuid.AVXVNNI}},
	{"AVX512F", "avx512f", []cpuid.FeatureID{cpuid.AVX512F}},
	{"AVX512DQ", "avx512dq", []cpuid.FeatureID{cpuid.AVX512DQ}},
	{"AVX512CD", "avx512cd", []cpuid.FeatureID{cpuid.AVX512CD}},
	{"AVX512BW", "avx512bw", []cpuid.FeatureID{cpuid.AVX512BW}},
	{"AVX512VL", "avx512vl", []cpuid.FeatureID{cpuid.AVX512VL}},
	{"AVX512IFMA", "avx512ifma", []cpuid.FeatureID{cpuid.AVX512IFMA}},
	{"AVX512VBMI", "avx512vbmi", []cpuid.FeatureID{cpuid.AVX512VBMI}},
	{"AVX512VBMI2", "avx512_vbmi2", []cpuid.FeatureID{cpuid.AVX512VBMI2}},
	{"AVX512VNNI", "avx512_vnni", []cpuid.FeatureID{cpuid.AVX512VNNI}},
	{"AVX512BITALG", "avx512_bitalg", []cpuid.FeatureID{cpuid.AVX512BITALG}},
	{"AVX512VPOPCNTDQ", "avx512_vpopcntdq", []cpuid.FeatureID{cpuid.AVX512VPOPCNTDQ}},
	{"AVX512BF16", "avx512_bf16", []cpuid.FeatureID{cpuid.AVX512BF16}},
	{"AVX512FP16", "avx512_fp16", []cpuid.FeatureID{cpuid.AVX512FP16}},
	{"ASIMD", "asimd", []cpuid.FeatureID{cpuid.ASIMD}},
	{"ASIMDHP", "asimdhp", []cpuid.FeatureID{cpuid.ASIMDHP}},
	{"ASIMDDP", "asimddp", []cpuid.FeatureID{cpuid.ASIMDDP}},
	{"SVE", "sve", []cpuid.FeatureID{cpuid.SVE}},
	{"SVE2", "sve2", []cpuid.FeatureID{cpuid.SVE2}},
}

// DetectedCPU returns the processor's own description of itself.
func DetectedCPU() CPU {
	c := &cpuid.CPU
	d := CPU{
		Brand:   c.BrandName,
		Vendor:  c.VendorID.String(),
		Family:  c.Family,
		Model:   c.Model,
		Cores:   c.PhysicalCores,
		Threads: c.LogicalCores,
		L1D:     max(0, c.Cache.L1D),
		L2:      max(0, c.Cache.L2),
		L3:      max(0, c.Cache.L3),
	}
	for _, f := range features {
		if c.Supports(f.needs...) {
			d.Features = append(d.Features, f.name)
		}
	}
	return d
}
