package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorted: the order is the order of slices.Sort, for scores of all bit patterns.
func TestSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, draw := range []func() float32{
		func() float32 { return math.Float32frombits(rng.Uint32()) }, // NaN, infinities, subnormals
		func() float32 { return float32(rng.NormFloat64()) },
		func() float32 {
			return []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.NaN()), float32(math.Inf(-1)), math.SmallestNonzeroFloat32}[rng.IntN(7)]
		},
	} {
		for _, n := range []int{0, 1, 100, 1 << digitBits, 50_000} {
			got := make([]float32, n)
			for i := range got {
				got[i] = draw()
			}
			want := slices.Clone(got)
			slices.Sort(want)
			same := func(a, b float32) bool { return a == b || a != a && b != b }
			if got = sortScores(got); !slices.EqualFunc(got, want, same) {
				t.Errorf("%d scores: %v, want %v", n, got[:min(n, 10)], want[:min(n, 10)])
			}
		}
	}
}

func BenchmarkSorted(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		rng := rand.New(rand.NewPCG(1, 2))
		scores := make([]float32, n)
		for i := range scores {
			scores[i] = float32(rng.NormFloat64())
		}
		for name, sort := range map[string]func([]float32) []float32{"radix": sortScores, "slices": func(s []float32) []float32 { slices.Sort(s); return s }} {
			b.Run(fmt.Sprintf("scores=%d/sort=%s", n, name), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					fresh := slices.Clone(scores)
					b.StartTimer()
					sort(fresh)
				}
			})
		}
	}
}
