package bench

import (
	"testing"

	"halfspace/internal/kerneltest"
)

// TestLoops: every loop but those in memory runs on every level, and has a name of its own.
func TestLoops(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		names := map[string]bool{}
		for _, l := range new(loopData).Loops() {
			if names[l.Name] || l.Function() == "" {
				t.Errorf("loop %s is twice there, or runs no function", l.Name)
			}
			if names[l.Name] = true; !l.InMemory {
				l.Run()
			}
		}
	})
}

// BenchmarkLoops times the loops on the active level.
func BenchmarkLoops(b *testing.B) {
	for _, l := range new(loopData).Loops() {
		b.Run(l.Name, func(b *testing.B) {
			l.Run() // makes operands
			for b.Loop() {
				l.Run()
			}
		})
	}
}
