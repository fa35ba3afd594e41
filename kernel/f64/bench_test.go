package f64_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/microkernel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/kernel/limits"
)

// levels runs a benchmark of a function of package asm on every level of this machine. A name has the instruction set of
// the code that runs: a function without a form for a level is not run again.
func levels(b *testing.B, function string, run func(b *testing.B)) {
	best := kernel.Active()
	defer kernel.Use(best)
	ran := map[kernel.Level]bool{}
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		if form := microkernel.Form(function); !ran[form] {
			ran[form] = true
			b.Run("isa="+form.String(), run)
		}
	}
}

var sink float64

// BenchmarkDot reports the share of the bandwidth of the smallest cache that holds both vectors, or else of memory.
func BenchmarkDot(b *testing.B) {
	bandwidths := limits.One() // before a lower level is active
	levels(b, "Dot", func(b *testing.B) {
		for _, n := range []int{8, 16, 31, 32, 100, 256, 512, 1024, 2048, 4096, 8192, 1 << 20, 1 << 25} {
			rng := rand.New(rand.NewPCG(1, 1))
			x, y := normals(rng, n), normals(rng, n)
			b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
				bytes := 2 * n * 8
				b.SetBytes(int64(bytes))
				for b.Loop() {
					sink = f64.Dot(x, y)
				}
				if most := bandwidths.Bandwidth(limits.Detected().Level(bytes)); most > 0 {
					b.ReportMetric(100*float64(bytes)*float64(b.N)/b.Elapsed().Seconds()/most, "%limit")
				}
			})
		}
	})
}

func BenchmarkExp(b *testing.B) { benchElementary(b, "Exp", f64.Exp, math.Exp) }

func BenchmarkSigmoid(b *testing.B) { benchElementary(b, "Sigmoid", f64.Sigmoid, sigmoid) }

func BenchmarkLog1p(b *testing.B) { benchElementary(b, "Log1p", f64.Log1p, math.Log1p) }

// benchElementary runs a function on every level, and that of package math.
func benchElementary(b *testing.B, name string, f func(y, x []float64), std func(float64) float64) {
	levels(b, name, func(b *testing.B) { benchElementwise(b, f) })
	b.Run("isa=math", func(b *testing.B) {
		benchElementwise(b, func(y, x []float64) {
			for i, v := range x {
				y[i] = std(v)
			}
		})
	})
}

func benchElementwise(b *testing.B, f func(y, x []float64)) {
	for _, n := range []int{3, 20, 256, 4096} {
		rng := rand.New(rand.NewPCG(1, 1))
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = 4 * rng.Float64()
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.SetBytes(int64(2 * n * 8))
			for b.Loop() {
				f(y, x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}
