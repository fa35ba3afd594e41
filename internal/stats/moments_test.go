package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// exactMoments returns the mean and the population's standard deviation, rounded once.
func exactMoments(values []float64) (mean, deviation float64) {
	const bits = 2200 // enough for sums of squares of any float64
	sum, n := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits).SetInt64(int64(len(values)))
	for _, v := range values {
		sum.Add(sum, new(big.Float).SetPrec(bits).SetFloat64(v))
	}
	sum.Quo(sum, n)
	squares := new(big.Float).SetPrec(bits)
	for _, v := range values {
		d := new(big.Float).SetPrec(bits).SetFloat64(v)
		d.Sub(d, sum)
		squares.Add(squares, d.Mul(d, d))
	}
	squares.Quo(squares, n)
	mean, _ = sum.Float64()
	deviation, _ = squares.Sqrt(squares).Float64()
	return mean, deviation
}

// TestMoments holds the moments of chunks put together against exact arithmetic. Within a chunk of m rows Welford's
// mean is off by at most about m eps max|x|, and typically far less; a relative error of the deviation is that of its
// squares.
func TestMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, c := range []struct {
		name     string
		n        int
		draw     func(i int) float64
		relative float64 // error of the deviation
	}{
		{"normal", 10_000, func(int) float64 { return rng.NormFloat64() }, 1e-14},
		{"shifted far", 10_000, func(int) float64 { return 1e8 + rng.NormFloat64() }, 1e-7},
		{"dates", 9_000, func(int) float64 { return float64(1.7e18 + rng.Int64N(1e17)) }, 1e-12},
		{"trend", 50_000, func(i int) float64 { return float64(i) }, 1e-13},
		{"skewed", 10_000, func(int) float64 { return math.Exp(5 * rng.NormFloat64()) }, 1e-13},
		{"one outlier first", 5_000, func(i int) float64 { return map[bool]float64{true: 1e12, false: rng.Float64()}[i == 0] }, 1e-13},
		{"tiny", 4_097, func(int) float64 { return 1e-150 * rng.NormFloat64() }, 1e-13},
	} {
		var m [1]Moments
		values := make([]float64, c.n)
		for i := range values {
			values[i] = c.draw(i)
			if m[0].Add(values[i]); (i+1)%4096 == 0 {
				EndChunk(m[:])
			}
		}
		EndChunk(m[:])
		all := m[0].all
		mean, deviation := exactMoments(values)
		if got := math.Sqrt(all.squares / all.n); math.Abs(got-deviation) > c.relative*deviation {
			t.Errorf("%s: deviation %v, want %v", c.name, got, deviation)
		}
		if scale := math.Abs(mean) + deviation; math.Abs(all.mean-mean) > 1e-14*scale || all.n != float64(c.n) {
			t.Errorf("%s: mean %v of %v, want %v of %d", c.name, all.mean, all.n, mean, c.n)
		}
	}
}

// TestFourChunks: four chunks at once have the bits of one chunk after the other.
func TestFourChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for chunks := 1; chunks <= 4; chunks++ {
		const rows = 4096
		values := make([]float64, chunks*rows)
		for i := range values {
			values[i] = rng.NormFloat64()*math.Exp(10*rng.NormFloat64()) + 1000
		}
		var want []Sums
		for k := range chunks {
			var m Moments
			for _, v := range values[k*rows:][:rows] {
				m.Add(v)
			}
			want = append(want, m.chunk)
		}
		if got := FourChunks(values, rows); !slices.Equal(got, want) {
			t.Errorf("%d chunks: %v, want %v", chunks, got, want)
		}
	}
}

func BenchmarkChunks(b *testing.B) {
	values := make([]float64, 1<<14)
	for i := range values {
		values[i] = float64(i % 97)
	}
	b.Run("four", func(b *testing.B) {
		for b.Loop() {
			FourChunks(values, len(values)/4)
		}
	})
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			var m Moments
			for _, v := range values {
				m.Add(v)
			}
		}
	})
}
