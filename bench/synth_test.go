package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// rows returns the features of all rows, without the bias, and the labels.
func rows(t *testing.T, d *block.Data) (x [][]float32, y []float32) {
	t.Helper()
	for b, err := range d.Blocks(context.Background()) {
		require.NoError(t, err)
		for r := range b.Len() {
			row := b.X[r*b.Stride : (r+1)*b.Stride]
			if row[b.Cols-1] != 1 {
				t.Fatalf("row %d has the bias %v", int(b.First)+r, row[b.Cols-1])
			}
			x = append(x, row[:b.Cols-1])
		}
		y = append(y, b.Y...)
	}
	return x, y
}

func same(a, b [][]float32) bool { return slices.EqualFunc(a, b, slices.Equal[[]float32]) }

func truth(t *testing.T, opt Synthetic) Truth {
	t.Helper()
	truth, err := opt.Truth()
	require.NoError(t, err)
	return truth
}

// sums returns w.x in float64, summed forwards, backwards, and with fused multiply-adds.
func sums(w []float64, x []float32) [3]float64 {
	var s [3]float64
	for i := range w {
		j := len(w) - 1 - i
		s[0] += float64(w[i] * float64(x[i]))
		s[1] += float64(w[j] * float64(x[j]))
		s[2] = math.FMA(w[i], float64(x[i]), s[2])
	}
	return s
}

func TestMargin(t *testing.T) {
	for _, opt := range []Synthetic{
		{Features: 1, Margin: 0.5}, {Features: 2, Margin: 1e-6}, {Features: 2, Margin: 0.1}, {Features: 28, Margin: 3},
		{Features: 28, Margin: 1e6}, {Features: 300, Margin: 1e-6}, {Features: 1000, Margin: 0.01},
	} {
		t.Run(fmt.Sprintf("d=%d/margin=%v", opt.Features, opt.Margin), func(t *testing.T) {
			opt.Rows, opt.Seed = 10_000, 7
			if opt.Features >= 300 {
				opt.Rows = 1000
			}
			testMargin(t, opt)
		})
	}
}

func testMargin(t *testing.T, opt Synthetic) {
	w := truth(t, opt).Weights
	norm := 0.0
	for _, v := range w {
		norm = math.Hypot(norm, v)
	}
	if math.Abs(norm-1) > 1e-14*float64(len(w)) {
		t.Errorf("the length of w is %v", norm)
	}
	x, y := rows(t, SyntheticRows(opt))
	nearest, positive := math.Inf(1), 0
	for r := range x {
		for _, s := range sums(w, x[r]) {
			if m := float64(y[r]) * s; !(m >= opt.Margin) {
				t.Fatalf("row %d has the label %v and lies at %v, less than %v away", r, y[r], s, opt.Margin)
			}
		}
		nearest = min(nearest, math.Abs(sums(w, x[r])[0]))
		if y[r] > 0 {
			positive++
		}
	}
	// No row of n lies within h beyond the margin with probability (1-0.8h)^n. h = 60/n makes that 1e-20.
	if limit := opt.Margin + 60/float64(len(x)) + opt.Margin*1e-6; nearest > limit {
		t.Errorf("the nearest row is %v away: the margin isn't tight", nearest)
	}
	within(t, "positive rows", float64(positive), float64(len(x))/2, math.Sqrt(float64(len(x)))/2)
}

// TestPush has rows far out, where float32 is coarser than the margin. They are pushed until their rounded values are
// beyond it.
func TestPush(t *testing.T) {
	w := []float64{0.6, 0.8}
	rng := rand.New(rand.NewPCG(1, 1))
	short := 0
	for range 1000 {
		far := 1e8 * rng.Float64()
		x := []float32{float32(0.8 * far), float32(-0.6 * far)}
		side := float64(sign(dot(w, x) > 0))
		once := []float32{float32(float64(x[0]) + side*0.1*w[0]), float32(float64(x[1]) + side*0.1*w[1])}
		if side*dot(w, once) < 0.1 {
			short++
		}
		push(x, make([]float32, 2), w, side, 0.1)
		for _, s := range sums(w, x) {
			if side*s < 0.1 || side*s > 100 {
				t.Fatalf("pushed to side %v, %v lies at %v", side, x, s)
			}
		}
	}
	if short < 100 {
		t.Errorf("only %d of the rows needed more than one push", short)
	}
}

// within checks that a random count or mean is at most six standard deviations from its expectation.
func within(t *testing.T, what string, got, want, deviation float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 6*deviation) {
		t.Errorf("%s: %v, and %v +- %v was to be expected", what, got, want, deviation)
	}
}

func TestNoise(t *testing.T) {
	for _, p := range []float64{0.01, 0.1, 0.5, 1} {
		opt := Synthetic{Rows: 50_000, Features: 9, Noise: p, Seed: 3}
		w := truth(t, opt).Weights
		x, y := rows(t, SyntheticRows(opt))
		flipped, positive := 0.0, 0.0
		for r := range x {
			if s := sums(w, x[r])[0]; (s > 0) != (y[r] > 0) {
				flipped++
			}
			if y[r] > 0 {
				positive++
			}
		}
		n := float64(len(x))
		within(t, fmt.Sprintf("noise %v: flipped labels", p), flipped, n*p, math.Sqrt(n*p*(1-p)))
		within(t, fmt.Sprintf("noise %v: positive rows", p), positive, n/2, math.Sqrt(n)/2)
	}
}

// TestNormal: the features are standard normal and independent, within a row, between rows and between chunks.
func TestNormal(t *testing.T) {
	const chunks, d = 12, 4
	x, _ := rows(t, SyntheticRows(Synthetic{Rows: chunks * block.ChunkRows, Features: d, Noise: 0.1, Seed: 5}))
	n := float64(len(x) * d)
	var sum, square, fourth, tail, pair, next, chunk float64
	for r := range x {
		for j, f := range x[r] {
			v := float64(f)
			sum += v
			square += v * v
			fourth += v * v * v * v
			if v > 1 {
				tail++
			}
			pair += v * float64(x[r][(j+1)%d])
			next += v * float64(x[(r+1)%len(x)][j])
			chunk += v * float64(x[(r+block.ChunkRows)%len(x)][j])
		}
	}
	within(t, "mean", sum/n, 0, 1/math.Sqrt(n))
	within(t, "variance", square/n, 1, math.Sqrt(2/n))
	within(t, "fourth moment", fourth/n, 3-6.0/60, math.Sqrt(96/n)) // of the sum of 12 uniforms
	within(t, "beyond 1", tail/n, 0.16073, math.Sqrt(0.16*0.84/n))  // Irwin and Hall: 1 - F(7)
	within(t, "neighbours in a row", pair/n, 0, 1/math.Sqrt(n))
	within(t, "neighbours in a column", next/n, 0, 1/math.Sqrt(n))
	within(t, "the same place in the next chunk", chunk/n, 0, 1/math.Sqrt(n))
}

func TestConjunction(t *testing.T) {
	for _, test := range []struct{ d, k int }{{1, 1}, {20, 1}, {20, 2}, {20, 5}, {7, 7}, {200, 20}} {
		opt := Synthetic{Rows: 20_000, Features: test.d, Conjunction: test.k, Seed: 11}
		literals := truth(t, opt).Literals
		seen := map[int]bool{}
		for _, l := range literals {
			if l.Feature < 0 || l.Feature >= test.d || l.Value != 1 && l.Value != -1 {
				t.Errorf("%+v is no literal over %d variables", l, test.d)
			}
			seen[l.Feature] = true
		}
		if len(seen) != test.k {
			t.Errorf("%d variables in a conjunction of %d", len(seen), test.k)
		}
		x, y := rows(t, SyntheticRows(opt))
		positive, up := 0.0, make([]float64, test.d)
		for r := range x {
			all := true
			for j, v := range x[r] {
				if v != 1 && v != -1 {
					t.Fatalf("row %d holds %v", r, v)
				}
				up[j] += float64(v+1) / 2
			}
			for _, l := range literals {
				all = all && int8(x[r][l.Feature]) == l.Value
			}
			if y[r] != map[bool]float32{true: 1, false: -1}[all] {
				t.Fatalf("row %d: label %v, and the conjunction is %v", r, y[r], all)
			}
			if all {
				positive++
			}
		}
		n := float64(len(x))
		within(t, fmt.Sprintf("%+v: positive rows", test), positive, n/2, math.Sqrt(n)/2)
		for j := range up {
			if !seen[j] {
				within(t, fmt.Sprintf("%+v: x%d", test, j), up[j], n/2, math.Sqrt(n)/2)
			}
		}
	}
}

// kinds has one data set of each kind.
func kinds(rows int64) []Synthetic {
	return []Synthetic{
		{Rows: rows, Features: 5, Margin: 0.1, Seed: 1},
		{Rows: rows, Features: 30, Noise: 0.2, Seed: math.MaxUint64},
		{Rows: rows, Features: 70, Conjunction: 3, Seed: 1},
	}
}

// TestDeterministic: the rows don't depend on the number of goroutines or the number of rows.
func TestDeterministic(t *testing.T) {
	for _, opt := range kinds(20_001) {
		x, y := rows(t, SyntheticRows(opt))
		want, before := fingerprint(t, SyntheticRows(opt)), runtime.GOMAXPROCS(0)
		for _, n := range []int{1, 8} {
			runtime.GOMAXPROCS(n)
			if fingerprint(t, SyntheticRows(opt)) != want {
				t.Errorf("%+v: the rows depend on the number of goroutines", opt)
			}
		}
		runtime.GOMAXPROCS(before)
		opt.Rows = 5000
		if few, fewY := rows(t, SyntheticRows(opt)); !same(few, x[:5000]) || !slices.Equal(fewY, y[:5000]) {
			t.Errorf("%+v: the first rows depend on how many follow", opt)
		}
		opt.Seed++
		if other, _ := rows(t, SyntheticRows(opt)); same(other, x[:5000]) {
			t.Errorf("%+v: the rows don't depend on the seed", opt)
		}
	}
}

// TestSameEverywhere compares hashes that were taken on amd64. Every architecture and every later version must give the
// same rows.
func TestSameEverywhere(t *testing.T) {
	want := []string{"xxh3:db4d2d5f1e614c98", "xxh3:f8c39e4647bc16b0", "xxh3:2e17c6a731e57234"}
	for i, opt := range kinds(10_000) {
		if got := fingerprint(t, SyntheticRows(opt)); got != want[i] {
			t.Errorf("%+v: %s, not %s", opt, got, want[i])
		}
	}
}

func fingerprint(t *testing.T, d *block.Data) string {
	t.Helper()
	f, err := block.Fingerprint(t.Context(), d, 2)
	require.NoError(t, err)
	return f
}

func TestSpec(t *testing.T) {
	spec := SyntheticRows(Synthetic{Rows: 1, Features: 2, Noise: 0.1}).Spec()
	want := &schema.Spec{Features: []string{"x0", "x1"}, Bias: true, Label: "label",
		Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	if !reflect.DeepEqual(spec, want) {
		t.Errorf("got %+v, want %+v", spec, want)
	}
}
