package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/kernel"
)

// TestCandidates compares the counts with the definition, row by row with Dot, on every level.
func TestCandidates(t *testing.T) {
	kerneltest.OnLevels(t, testCandidates)
}

func testCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for name, fill := range map[string]func(rng *rand.Rand, x, w []float32, cols int){
		"normal": fillWith(rng.NormFloat64),
		"ties":   fillWith(func() float64 { return float64(rng.IntN(5) - 2) }),
		"wide": fillWith(func() float64 {
			return math.Ldexp(rng.NormFloat64(), []int{-1, 1}[rng.IntN(2)]*rng.IntN(maxExponent))
		}),
		"special": fillWith(func() float64 {
			return []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32, 1e-45}[rng.IntN(9)]
		}),
		"cancelling": cancelling,
		"grid":       grid(func() float64 { return float64(rng.IntN(5)-2) / 4 }),
		"large grid": grid(func() float64 { return float64(rng.IntN(3)-1) * math.Ldexp(1, rng.IntN(maxExponent/4)) }),
	} {
		t.Run(name, func(t *testing.T) {
			for _, cols := range []int{1, 2, 7, 8, 29, 33, 100} {
				for _, rows := range []int{0, 1, 23, 24, 100, 600} {
					for _, n := range []int{0, 1, 5, 64, 130} {
						if require.Small() && rows*n*cols > 100*64*4 { // with few columns, also many tiles
							continue
						}
						if rows*n*cols <= 64*600*29 || rows <= 24 {
							compareCounts(t, rng, fill, rows, n, cols)
						}
					}
				}
			}
		})
	}
}

// maxExponent is the exponent of numbers beyond the largest float32.
const maxExponent = 130

// fillWith returns a function that fills rows and candidates with numbers.
func fillWith(number func() float64) func(rng *rand.Rand, x, w []float32, cols int) {
	return func(_ *rand.Rand, x, w []float32, cols int) {
		stride := kernel.Stride(cols)
		for _, v := range [][]float32{x, w} {
			for i := range v {
				if i%stride < cols {
					v[i] = float32(number())
				}
			}
		}
	}
}

// grid returns fillWith with a last column of 1 in the rows.
func grid(number func() float64) func(rng *rand.Rand, x, w []float32, cols int) {
	fill := fillWith(number)
	return func(rng *rand.Rand, x, w []float32, cols int) {
		fill(rng, x, w, cols)
		stride := kernel.Stride(cols)
		for lo := 0; lo < len(x); lo += stride {
			x[lo+cols-1] = 1
		}
	}
}

// cancelling makes products that nearly cancel, so that rounding decides a score. The second half of each row and
// candidate repeats the first with opposite products, and another order of magnitude in one place.
func cancelling(rng *rand.Rand, x, w []float32, cols int) {
	stride := kernel.Stride(cols)
	for k, v := range [][]float32{x, w} {
		for lo := 0; lo < len(v); lo += stride {
			row := v[lo : lo+cols]
			for i := range row {
				row[i] = float32(rng.Float64() + 0.5)
				if i >= cols/2 && i < cols/2*2 {
					row[i] = []float32{-1, 1}[k] * row[i-cols/2]
				}
			}
			if cols%2 == 1 {
				row[cols-1] = 0
			}
		}
	}
	if len(w) > 0 { // the rows' own half as a candidate: equal products with opposite signs
		for lo := 0; lo < len(x); lo += stride {
			for i := range cols / 2 {
				x[lo+cols/2+i] = -x[lo+i]
			}
		}
		for lo := 0; lo < len(w); lo += stride {
			copy(w[lo+cols/2:lo+cols/2*2], w[lo:lo+cols/2])
		}
	}
}

func compareCounts(t *testing.T, rng *rand.Rand, fill func(*rand.Rand, []float32, []float32, int), rows, n, cols int) {
	t.Helper()
	stride := kernel.Stride(cols)
	x, y, w := make([]float32, rows*stride), make([]float32, rows), make([]float32, n*stride)
	for r := range y {
		y[r] = float32(2*rng.IntN(2) - 1)
	}
	fill(rng, x, w, cols)
	got, want := make([]int64, n), make([]int64, n)
	for i := range n {
		got[i], want[i] = int64(i), int64(i)
		for r := range rows {
			if (kernel.Dot(x[r*stride:(r+1)*stride], w[i*stride:(i+1)*stride]) > 0) != (y[r] > 0) {
				want[i]++
			}
		}
	}
	c := kernel.NewErrorCounter(w, cols)
	if quantumKnown(x, stride, cols) {
		c.SetQuantum(kernel.FixedPointScale(x, 1.0/256))
		c.Reset(w)
	}
	c.Errors(got, x, y)
	if !slices.Equal(got, want) {
		t.Fatalf("%d rows of %d columns: %v, want %v", rows, cols, got, want)
	}
	for _, first := range []int{n - n/3, 0} { // fewer, and more again
		for i := range n {
			got[i] = int64(i)
		}
		c.Reset(w[first*stride:])
		if c.Errors(got[first:], x, y); !slices.Equal(got[first:], want[first:]) {
			t.Fatalf("%d rows of %d columns, reset to %d of %d candidates: %v, want %v", rows, cols, n-first, n, got[first:], want[first:])
		}
	}
}

// quantumKnown tells whether the last column of all rows is 1.
func quantumKnown(x []float32, stride, cols int) bool {
	for lo := 0; lo < len(x); lo += stride {
		if x[lo+cols-1] != 1 {
			return false
		}
	}
	return true
}

func TestQuantum(t *testing.T) {
	for _, test := range []struct {
		x    []float32
		want float64
	}{
		{nil, 1}, {[]float32{0, 3, -4}, 1}, {[]float32{2, 4}, 1}, {[]float32{2, -0.5}, 0.5}, {[]float32{0.75}, 0.25},
		{[]float32{1.0 / 256}, 1.0 / 256}, {[]float32{1.0 / 512}, 0}, {[]float32{1, 0.1}, 0},
		{[]float32{float32(math.NaN())}, 0}, {[]float32{1e30}, 1},
	} {
		if got := kernel.FixedPointScale(test.x, 1.0/256); got != test.want {
			t.Errorf("%v: %v, want %v", test.x, got, test.want)
		}
	}
}

// TestErrorWeights compares lower bounds of the weights of errors with their sums. They are the sums themselves where
// no score is near 0, and the same on every level.
func TestErrorWeights(t *testing.T) {
	first := map[string][]int64{}
	kerneltest.OnLevels(t, func(t *testing.T) { testErrorWeights(t, first) })
}

func testErrorWeights(t *testing.T, first map[string][]int64) {
	for name, number := range map[string]func(*rand.Rand) float64{
		"normal": (*rand.Rand).NormFloat64,
		"ties":   func(rng *rand.Rand) float64 { return float64(rng.IntN(3) - 1) },
		"outliers": func(rng *rand.Rand) float64 { // which raise the limits of their panel
			return rng.NormFloat64() * []float64{1, 1e6}[(rng.IntN(2000)+1)/2000]
		},
	} {
		for _, n := range []int{1, 3, 70} {
			got := errorWeights(t, rand.New(rand.NewPCG(9, uint64(n))), number, n, name == "normal", name != "normal")
			key := fmt.Sprint(name, n)
			if first[key] == nil {
				first[key] = got
			}
			if !slices.Equal(got, first[key]) {
				t.Errorf("%s: %v, want those of the first level, %v", name, got, first[key])
			}
		}
	}
}

// errorWeights returns the lower bounds of n candidates. It reports bounds above the sums, or other than them if exact. If
// some is set, it reports if all are the sums.
func errorWeights(t *testing.T, rng *rand.Rand, number func(*rand.Rand) float64, n int, exact, some bool) []int64 {
	const rows, cols = 3000, 7
	stride := kernel.Stride(cols)
	x, y, w, weights := make([]float32, rows*stride), make([]float32, rows), make([]float32, n*stride), make([]int32, rows)
	fillWith(func() float64 { return number(rng) })(rng, x, w, cols)
	for r := range y {
		y[r], weights[r] = float32(2*rng.IntN(2)-1), rng.Int32N(kernel.MaxErrorWeight+1)
	}
	got, less := make([]int64, n), 0
	kernel.NewErrorCounter(w, cols).ErrorWeights(got, x, y, weights)
	for i := range n {
		sum := int64(0)
		for r := range rows {
			if (kernel.Dot(x[r*stride:(r+1)*stride], w[i*stride:(i+1)*stride]) > 0) != (y[r] > 0) {
				sum += int64(weights[r])
			}
		}
		if got[i] > sum || exact && got[i] < sum {
			t.Errorf("candidate %d: %d, and the errors have the weight %d", i, got[i], sum)
		}
		if got[i] < sum {
			less++
		}
	}
	if some && less == 0 {
		t.Error("no score was near 0: nothing is shown")
	}
	return got
}

// TestCandidatesDisagree shows that TestCandidates can fail: if products cancel, a plain sum has another sign than Dot.
func TestCandidatesDisagree(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const rows, cols, stride = 1000, 29, 32
	x, w := make([]float32, rows*stride), make([]float32, stride)
	cancelling(rng, x, w, cols)
	differ := 0
	for r := range rows {
		row := x[r*stride : (r+1)*stride]
		sum := []float32{0}
		for c, v := range w[:cols] {
			kernel.Axpy(sum, v, row[c:c+1])
		}
		if (sum[0] > 0) != (kernel.Dot(row, w) > 0) {
			differ++
		}
	}
	if differ < rows/10 {
		t.Errorf("%d of %d signs differ", differ, rows)
	}
}

func ExampleErrorCounter() {
	x := make([]float32, 3*8)
	copy(x[0:], []float32{3, 3, 1})
	copy(x[8:], []float32{4, 3, 1})
	copy(x[16:], []float32{1, 1, 1})
	w := make([]float32, 2*8)
	copy(w[0:], []float32{1, 1, -3})
	copy(w[8:], []float32{1, 0, -4})
	counts := make([]int64, 2)
	kernel.NewErrorCounter(w, 3).Errors(counts, x, []float32{1, 1, -1})
	fmt.Println(counts)
	// Output: [0 2]
}
