package forecast_test

import (
	"math"
	"testing"

	"halfspace/internal/forecast"
	"halfspace/internal/hotloops"
	"halfspace/kernel"
	"halfspace/kernel/limits"
)

// TestTable: each CPU has a positive number of cycles for each kernel, and no other ones. A multiply-add takes at least a
// 64th of a cycle: no CPU has more than four units of 16 float32.
func TestTable(t *testing.T) {
	models := forecast.Models()
	if len(models.CPUs()) < 11 || len(models.Kernels) < 25 {
		t.Errorf("%d CPUs and %d kernels", len(models.CPUs()), len(models.Kernels))
	}
	for _, cpu := range models.CPUs() {
		for level, cycles := range models.Cycles[cpu] {
			for _, k := range models.Kernels {
				if c := cycles[k.Name]; !(c >= 1.0/64) || math.IsInf(c, 0) {
					t.Errorf("%s, %s: %s takes %g cycles a %s", cpu, level, k.Name, c, k.Unit)
				}
			}
			if len(cycles) != len(models.Kernels) {
				t.Errorf("%s, %s: cycles of %d kernels, of %d in the list", cpu, level, len(cycles), len(models.Kernels))
			}
		}
	}
}

// TestLoops: the table and package hotloops have the same kernels, so that each forecast can be compared.
func TestLoops(t *testing.T) {
	left := map[string]bool{}
	for _, k := range forecast.Models().Kernels {
		left[k.Name] = true
	}
	for _, l := range hotloops.All() {
		if !left[l.Name] {
			t.Errorf("the table lacks %s", l.Name)
		}
		delete(left, l.Name)
	}
	for name := range left {
		t.Errorf("no loop calls %s", name)
	}
}

// TestSeconds: a stage takes the longer of its cycles and its bytes, and stages add up. There is no forecast for pure Go.
func TestSeconds(t *testing.T) {
	models, l := forecast.Models(), limits.Limits{Clock: 2e9, DRAM: 1e10}
	for _, cpu := range models.CPUs() {
		if _, ok := models.Predicted(cpu, kernel.Generic.String(), "EpochF32/28"); ok {
			t.Errorf("%s has cycles for pure Go", cpu)
		}
		for level := range models.Cycles[cpu] {
			cycles, _ := models.Predicted(cpu, level, "EpochF32/28")
			const rows = 1e6
			for _, bytes := range []float64{0, rows, 1000 * rows} {
				stage := forecast.Stage{Kernel: "EpochF32/28", Units: rows, Bytes: bytes}
				want := max(rows*cycles/2e9, bytes/1e10)
				if got, ok := models.Seconds(cpu, level, l, stage, stage); !ok || math.Abs(got-2*want) > 1e-12*want {
					t.Errorf("%s, %s, %g bytes: two stages take %g seconds, want %g", cpu, level, bytes, got, 2*want)
				}
			}
		}
	}
}

// TestUnknown: what the table or the limits lack has no forecast.
func TestUnknown(t *testing.T) {
	models, l := forecast.Models(), limits.Limits{Clock: 2e9, DRAM: 1e10}
	known := forecast.Stage{Kernel: "DotF32", Units: 1}
	if _, ok := models.Seconds("znver3", "avx2", l, known); !ok {
		t.Fatal("no forecast for znver3")
	}
	for what, got := range map[string]func() (float64, bool){
		"CPU":   func() (float64, bool) { return models.Seconds("", "avx2", l, known) },
		"level": func() (float64, bool) { return models.Seconds("znver3", "avx512", l, known) },
		"kernel": func() (float64, bool) {
			return models.Seconds("znver3", "avx2", l, known, forecast.Stage{Kernel: "none"})
		},
		"clock":     func() (float64, bool) { return models.Seconds("znver3", "avx2", limits.Limits{DRAM: 1}, known) },
		"bandwidth": func() (float64, bool) { return models.Seconds("znver3", "avx2", limits.Limits{Clock: 1}, known) },
	} {
		if seconds, ok := got(); ok || seconds != 0 {
			t.Errorf("without a %s the forecast is %g", what, seconds)
		}
	}
}

// TestFamily: cores that are known from their vendors' manuals.
func TestFamily(t *testing.T) {
	for _, c := range []struct {
		cpu  kernel.CPU
		want string
	}{
		{kernel.CPU{Vendor: "AMD", Family: 0x17, Model: 0x31}, "znver2"}, // EPYC 7002
		{kernel.CPU{Vendor: "AMD", Family: 0x17, Model: 0x01}, ""},       // EPYC 7001
		{kernel.CPU{Vendor: "AMD", Family: 0x19, Model: 0x01}, "znver3"}, // EPYC 7003
		{kernel.CPU{Vendor: "AMD", Family: 0x19, Model: 0x11}, "znver4"}, // EPYC 9004
		{kernel.CPU{Vendor: "AMD", Family: 0x1a, Model: 0x02}, "znver5"}, // EPYC 9005
		{kernel.CPU{Vendor: "Intel", Family: 6, Model: 85}, "skylake-avx512"},
		{kernel.CPU{Vendor: "Intel", Family: 6, Model: 106}, "icelake-server"},
		{kernel.CPU{Vendor: "Intel", Family: 6, Model: 143}, "sapphirerapids"},
		{kernel.CPU{Vendor: "Intel", Family: 6, Model: 94}, ""}, // a Skylake without AVX-512
		{kernel.CPU{Vendor: "ARM", Model: 0xd0c1}, "neoverse-n1"},
		{kernel.CPU{Brand: "Apple M1 Pro"}, "apple-m1"},
		{kernel.CPU{}, ""},
	} {
		if got := forecast.Family(c.cpu); got != c.want {
			t.Errorf("%+v is %q, want %q", c.cpu, got, c.want)
		}
	}
}
