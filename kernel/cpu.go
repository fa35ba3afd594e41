package kernel

import "github.com/klauspost/cpuid/v2"

// CPU describes the processor. A field is 0 or empty if its value isn't known.
type CPU struct {
	Brand    string
	Cores    int // physical cores
	Threads  int // logical cores
	L1D      int // bytes of the first-level data cache, of a core
	L2       int // bytes of the second-level cache
	L3       int // bytes of the third-level cache
	Features []string
}

// DetectedCPU returns what the processor reports.
func DetectedCPU() CPU {
	c := &cpuid.CPU
	return CPU{
		Brand:    c.BrandName,
		Cores:    c.PhysicalCores,
		Threads:  c.LogicalCores,
		L1D:      max(0, c.Cache.L1D),
		L2:       max(0, c.Cache.L2),
		L3:       max(0, c.Cache.L3),
		Features: c.FeatureSet(),
	}
}
