package separability

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/bench"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// A stream overwrites each block when the next is asked for. It may fail in a pass.
type stream struct {
	*block.Data
	passes, fails int
}

var errStream = errors.New("the disk failed")

func (s *stream) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		if s.passes++; s.passes == s.fails {
			yield(nil, errStream)
			return
		}
		testproblems.Stream{Data: s.Data}.Blocks(ctx)(yield)
	}
}

// TestPasses bounds the passes of a verdict, as documented for a million rows, on fewer rows.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		opt  bench.Synthetic
		want Verdict
		most int64
	}{
		{bench.Synthetic{Noise: 0.1}, NotSeparable, 60},
		{bench.Synthetic{Margin: 0.01}, Separable, 400}, // of a radius of 9
	} {
		if c.opt.Rows, c.opt.Features = 50_000, 28; require.Small() {
			c.opt.Rows = 20_000
		}
		r := require.Value(Check(context.Background(), bench.SyntheticRows(c.opt), Options{}))(t)
		if r.Verdict != c.want || r.Passes > c.most {
			t.Errorf("%s after %d passes", r.Verdict, r.Passes)
		}
		t.Logf("%s after %d passes", r.Verdict, r.Passes)
	}
}

// TestErrorsAtLeast has many rows at 0 and 2 with label +1, and at 1 with label -1. Every plane errs on one of three.
// No more disjoint witnesses are found than exist.
func TestErrorsAtLeast(t *testing.T) {
	var x [][]float64
	var y []float64
	for range 5 {
		x, y = append(x, []float64{0}, []float64{1}, []float64{2}), append(y, 1, -1, 1)
	}
	e := check(t, testproblems.Dense(x, y, true), Options{}).Errors
	if e.AtLeast != 5 || !e.RestIsSeparable || e.FoundErrors != 5 {
		t.Errorf("%+v", e)
	}
	// Zero weights predict -1 for all, so that no row errs. But no plane through the origin separates these.
	e = check(t, testproblems.Dense([][]float64{{1}, {-1}}, []float64{-1, -1}, false), Options{}).Errors
	if e.AtLeast != 0 || !e.RestIsSeparable {
		t.Errorf("%+v", e)
	}
}

// TestErrorsProperty: no plane that the pocket finds errs on fewer rows than there are witnesses.
func TestErrorsProperty(t *testing.T) {
	for seed := range uint64(5) {
		r := check(t, bench.SyntheticRows(bench.Synthetic{Rows: 300, Features: 3, Noise: 0.1, Seed: seed}), Options{})
		if e := r.Errors; e.AtLeast < 5 || e.AtLeast > e.FoundErrors || !e.RestIsSeparable {
			t.Errorf("seed %d: %+v", seed, e)
		}
	}
}

// TestVerifySeparator: a row that is off by the last digit is found, wherever the others are.
func TestVerifySeparator(t *testing.T) {
	x, y := make([][]float64, 10_000), make([]float64, 10_000)
	for i := range x {
		x[i], y[i] = []float64{1, 1}, 1
	}
	data := func(v float64) *block.Data {
		x[7777] = []float64{1, v}
		return testproblems.Dense(x, y, false)
	}
	const last = 0x1p-52 // of float64, in which a score is computed when float32 doesn't tell
	for _, c := range []struct {
		w    []float64
		v    float64
		want int64
	}{{[]float64{1, -1 - last}, 1, 7777}, {[]float64{1, -1}, 1, 7777}, {[]float64{1 + last, -1}, 1, -1}, {[]float64{1, -1}, -5, -1}, {[]float64{1, -1}, 5, 7777}} {
		d := data(c.v)
		x[7777] = []float64{1, 0}
		for i := range x {
			if i != 7777 {
				d.Blocks(context.Background())(func(b *block.Block, _ error) bool {
					b.X[i*b.Stride+1] = 0.5
					return true
				})
			}
		}
		row, exact, err := verifySeparator(context.Background(), d, integers(c.w), 10, 2)
		if row != c.want || err != nil || c.v == 1 && exact != 1 {
			t.Errorf("%v, %v: row %d, %d rows exactly, %v", c.w, c.v, row, exact, err)
		}
	}
}

// TestVerifyOverflow: a sum that overflows on its way decides nothing. Here it is 3 - 4 times 3.3e38. The first lane of
// the kernel holds the 3, and two others hold the 4.
func TestVerifyOverflow(t *testing.T) {
	x, w := make([]float64, 96), make([]float64, 96)
	for i := range w {
		w[i] = 1
	}
	for _, i := range []int{0, 32, 64} {
		x[i] = 3.3e38
	}
	for _, i := range []int{1, 2, 33, 34} {
		x[i] = -3.3e38
	}
	data := testproblems.Dense([][]float64{x}, []float64{1}, false)
	row, _, err := verifySeparator(context.Background(), data, integers(w), 3.3e38*math.Sqrt(7), 1)
	if row != 0 || err != nil {
		t.Errorf("row %d, %v", row, err)
	}
}

// TestCombination: combination finds the weights with which the vectors were made to add up to zero, at any scale.
// Dependent vectors get weight zero. Vectors that don't add up to zero have no weights.
func TestCombination(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 5, 30, 70} {
		z, want := make([][]float64, n+1), make([]*big.Rat, n+1)
		total := int64(1)
		last := make([]float64, n)
		for i := range n {
			z[i] = make([]float64, n)
			weight := 1 + rng.Int64N(1000)
			total += weight
			want[i] = big.NewRat(weight, 1)
			for j := range z[i] {
				v := float64(rng.Int64N(1<<36) - 1<<35)
				z[i][j] = math.Ldexp(v, 10*(j%7)-30*(j%3))
				last[j] -= v * float64(weight) // less than 2^53
			}
		}
		for j := range last {
			last[j] = math.Ldexp(last[j], 10*(j%7)-30*(j%3))
		}
		z[n], want[n] = last, big.NewRat(1, 1)
		left := effort{context.Background(), maxEffort}
		got := combination(append(slices.Clone(z), z[0]), &left)
		if got == nil {
			t.Fatalf("%d: none", n)
		}
		for i, w := range want {
			if w.Quo(w, big.NewRat(total, 1)).Cmp(got[i]) != 0 {
				t.Errorf("%d: weight %d is %v, not %v", n, i, got[i], w)
			}
		}
		if got[n+1].Sign() != 0 {
			t.Errorf("%d: the vector that repeats another has weight %v", n, got[n+1])
		}
		if less := (effort{context.Background(), 100}); combination(z, &less) != nil && n > 5 {
			t.Errorf("%d: an effort of 100 is enough", n)
		}
		if got := combination(z[:n], &left); got != nil {
			t.Errorf("%d: independent vectors have weights %v", n, got)
		}
	}
	// These vectors are zeros modulo the prime. combination may find no weights, but no wrong ones.
	left := effort{context.Background(), maxEffort}
	for _, z := range [][][]float64{{{prime}, {-prime}, {-3 * prime}}, {{prime, 1}, {-prime, 1}, {1, -prime}}} {
		if lambda := combination(z, &left); lambda != nil && !sumsToZero(z, lambda) {
			t.Errorf("%v: %v", z, lambda)
		}
	}
}

// TestVerifyWitness: a witness with any change is refused.
func TestVerifyWitness(t *testing.T) {
	data := testproblems.Dense([][]float64{{0}, {1}, {2}}, []float64{1, -1, 1}, true)
	good := Witness{[]int64{0, 1, 2}, []int{1, -1, 1}, []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(1, 4)}}
	bad := map[string]Witness{
		"rows":     {[]int64{0, 1}, []int{1, -1}, good.Weights[:2]},
		"order":    {[]int64{1, 0, 2}, good.Labels, good.Weights},
		"labels":   {good.Rows, []int{1, 1, 1}, good.Weights},
		"weights":  {good.Rows, good.Labels, []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(1, 3)}},
		"signs":    {good.Rows, good.Labels, []*big.Rat{big.NewRat(-1, 4), big.NewRat(-1, 2), big.NewRat(-1, 4)}},
		"no rows":  {},
		"too many": {[]int64{0, 1, 2, 3}, []int{1, -1, 1, 1}, append(slices.Clone(good.Weights), big.NewRat(1, 9))},
	}
	if ok, err := verifyWitness(context.Background(), data, &good); !ok || err != nil {
		t.Errorf("a witness is refused: %v", err)
	}
	for name, w := range bad {
		if ok, err := verifyWitness(context.Background(), data, &w); ok || err != nil {
			t.Errorf("%s: accepted, %v", name, err)
		}
	}
}

// TestScaled multiplies all rows by a power of two, also so that a float32 can't hold their squares. The verdict stays
// the same, and the plane's figures are multiplied.
func TestScaled(t *testing.T) {
	x, y := [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []float64{-1, 1, 1, -1}
	and := []float64{-1, -1, -1, 1}
	for _, e := range []int{-140, -120, -80, -60, 0, 60, 80, 120, 126} {
		scaled := make([][]float64, len(x))
		for i := range x {
			for _, v := range append(x[i], 1) {
				scaled[i] = append(scaled[i], math.Ldexp(v, e))
			}
		}
		for _, labels := range [][]float64{y, and} {
			want := NotSeparable
			if labels[0] == labels[1] {
				want = Separable
			}
			r := check(t, testproblems.Dense(scaled, labels, false), Options{})
			if r.Verdict != want {
				t.Errorf("times 2^%d: %s (%s), want %s", e, r.Verdict, r.Reason, want)
				continue
			}
			if got := math.Ldexp(r.Radius, -e); math.Abs(got-math.Sqrt(3)) > 1e-4 {
				t.Errorf("times 2^%d: radius %v", e, r.Radius)
			}
			// The nearest rows are (1,1,1) and, with label -1, (0,1,1) and (1,0,1): weights 2, 2, -3.
			if want == Separable && math.Abs(math.Ldexp(r.OriginPlane.Margin, -e)-1/math.Sqrt(17)) > 1e-4 {
				t.Errorf("times 2^%d: margin %v", e, r.OriginPlane.Margin)
			}
		}
	}
}

// TestFails: errors of the source and of the context are returned, in whichever pass they occur.
func TestFails(t *testing.T) {
	for _, opt := range []bench.Synthetic{{Noise: 0.05}, {Margin: 0.5}} {
		opt.Rows, opt.Features = 100, 3
		data := bench.SyntheticRows(opt)
		whole := &stream{Data: data}
		if _, err := Check(context.Background(), whole, Options{}); err != nil {
			t.Fatal(err)
		}
		for fails := 1; fails <= whole.passes; fails += max(1, whole.passes/trials(40)) {
			if _, err := Check(context.Background(), &stream{Data: data, fails: fails}, Options{}); !errors.Is(err, errStream) {
				t.Errorf("failure in pass %d of %d: %v", fails, whole.passes, err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Check(ctx, data, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	numbers := testproblems.Dense([][]float64{{1}, {2}}, []float64{0, 2}, true)
	if _, err := Check(context.Background(), numbers, Options{}); err == nil {
		t.Error("labels 0 and 2 are taken")
	}
	if _, err := Check(context.Background(), block.NewData(numbers.Spec(), nil), Options{}); err == nil {
		t.Error("no rows are taken")
	}
}

// TestMaxPasses: a search that may make no passes says so.
func TestMaxPasses(t *testing.T) {
	data := bench.SyntheticRows(bench.Synthetic{Rows: 20_000, Features: 10, Margin: 0.001})
	r := require.Value(Check(context.Background(), data, Options{MaxPasses: 1}))(t)
	if r.Verdict == NotSeparable || r.Verdict == Undecided && r.Reason == "" {
		t.Errorf("%+v", r)
	}
}
