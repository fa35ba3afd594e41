package loops_test

import (
	"testing"

	"halfspace/bench/loops"
	"halfspace/internal/kerneltest"
)

// TestLoops: every loop runs on every level, does a positive amount of work, and has a name of its own.
func TestLoops(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		names := map[string]bool{}
		for _, l := range append(loops.All(), loops.Compiled()...) {
			if l.Units <= 0 || names[l.Name] {
				t.Errorf("loop %s with %d units of work is twice there or does nothing", l.Name, l.Units)
			}
			names[l.Name] = true
			l.Run()
		}
	})
}

// BenchmarkLoops times the loops on the active level.
func BenchmarkLoops(b *testing.B) {
	for _, l := range append(loops.All(), loops.Compiled()...) {
		b.Run(l.Name, func(b *testing.B) {
			for b.Loop() {
				l.Run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(l.Units), "ns/unit")
		})
	}
}
