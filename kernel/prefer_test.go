package kernel

import "testing"

// TestPreferred: only the processors of the list prefer AVX2 to AVX-512. Processors without AVX-512 take what they have.
func TestPreferred(t *testing.T) {
	xeon := func(model int, brand string) CPU {
		return CPU{Vendor: "Intel", Family: 6, Model: model, Brand: "Intel(R) Xeon(R) " + brand + " @ 2.30GHz"}
	}
	all := []Level{Generic, AVX2, AVX512}
	for _, c := range []struct {
		cpu    CPU
		levels []Level
		want   Level
	}{
		{xeon(85, "Gold 5118 CPU"), all, AVX2},
		{xeon(85, "Gold 5120 CPU"), all, AVX2},
		{xeon(85, "Gold 5122 CPU"), all, AVX512},
		{xeon(85, "Gold 6148 CPU"), all, AVX512},
		{xeon(85, "Platinum 8259CL CPU"), all, AVX512}, // Cascade Lake
		{xeon(106, "Gold 5118 CPU"), all, AVX512},
		{CPU{Vendor: "AMD", Family: 25, Model: 17, Brand: "AMD EPYC 9654 96-Core Processor"}, all, AVX512},
		{CPU{}, all, AVX512},
		{xeon(85, "Gold 5118 CPU"), all[:2], AVX2},
		{xeon(85, "Gold 5118 CPU"), all[:1], Generic},
		{CPU{Vendor: "ARM"}, []Level{Generic, NEON}, NEON},
	} {
		if got := preferred(c.levels, c.cpu); got != c.want {
			t.Errorf("%+v with %v prefers %s, want %s", c.cpu, c.levels, got, c.want)
		}
	}
}

// TestInitialLevel: the environment's level comes first, whatever the processor prefers.
func TestInitialLevel(t *testing.T) {
	for _, l := range Levels() {
		if got, err := initialLevel(l.String()); got != l || err != nil {
			t.Errorf("HALFSPACE_ISA=%s gives %s", l, got)
		}
	}
	for _, name := range []string{"", "mmx"} {
		if got, err := initialLevel(name); got != preferred(Levels(), DetectedCPU()) || (err == nil) != (name == "") {
			t.Errorf("HALFSPACE_ISA=%q gives %s and the error %v", name, got, err)
		}
	}
}
