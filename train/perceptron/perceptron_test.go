package perceptron

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train/learner"
)

// TestTextbook is the example of the text books: three points in the plane, seven updates (Li Hang, "Statistical
// Learning Methods", 2012, example 2.1).
func TestTextbook(t *testing.T) {
	d := testproblems.Dense([][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}, true)
	r := mustTrain(t, d, Settings{})
	if !slices.Equal(r.Weights, []float32{1, 1, -3}) || r.Updates != 7 || !r.Converged || r.Errors != 0 || r.Loss != 0 {
		t.Errorf("got %+v, want weights 1, 1, bias -3 after 7 updates", r)
	}
	if r.Radius != math.Sqrt(26) || r.Norm != math.Sqrt(11) {
		t.Errorf("radius %v and norm %v, want the roots of 26 and 11", r.Radius, r.Norm)
	}
}

// TestPocketConverged: weights without errors have converged only if no row would update them. A row of class -1 and
// score 0 is right, but would.
func TestPocketConverged(t *testing.T) {
	found := map[bool]int{}
	for _, x := range [][][]float64{{{1}, {0}}, {{1}, {-1}}, {{2}, {1}}} {
		d := testproblems.Dense(x, []float64{1, -1}, true)
		for _, mode := range pocket.Modes {
			for _, order := range learner.Orders {
				r := mustTrain(t, d, Settings{Options: Options{Order: order, Pocket: mode}})
				w := append(slices.Clone(r.Weights), make([]float32, kernel.Stride(2)-2)...)
				quiet := newLiteral(d).verified(w)
				if found[quiet]++; r.Errors != 0 || r.Converged != quiet {
					t.Errorf("rows %v, %s, %s: weights %v, %d errors, converged %v", x, mode, order, r.Weights, r.Errors, r.Converged)
				}
			}
		}
	}
	if found[true] == 0 || found[false] == 0 {
		t.Errorf("%v: one of the two was never seen", found)
	}
}

// TestPocketSeeds compares every mode with the literal algorithm on thousands of small problems with many ties. Half of
// them are judged on other rows.
func TestPocketSeeds(t *testing.T) {
	seeds := uint64(4000)
	if require.Small() {
		seeds = 400
	}
	validated := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(21, seed))
		x, y := noisyPlane(2+rng.IntN(40), 1+rng.IntN(4), rng.Float64()/3, true, seed)
		data := testproblems.Dense(x, y, true)
		weighted := seed%4 == 0
		if weighted {
			data = testproblems.Weighted(data, quarterWeight)
		}
		opt := Settings{Options: Options{Order: learner.Orders[rng.IntN(4)], Epochs: int64(1 + rng.IntN(10)), Eta: 1, Pocket: pocket.Modes[rng.IntN(3)]}, Run: learner.Run{Seed: seed, ZeroSeed: true, Workers: 1 + rng.IntN(3)}}
		if rng.IntN(2) == 0 {
			opt.MaxUpdates = int64(1 + rng.IntN(100))
		}
		var validation block.Source
		var judges *literal
		if rng.IntN(2) == 0 {
			x, y := noisyPlane(1+rng.IntN(40), len(x[0]), rng.Float64()/3, true, seed)
			other := testproblems.Dense(x, y, true)
			if weighted {
				other = testproblems.Weighted(other, func(r int) float64 { return quarterWeight(r + 5) })
			}
			validation, judges = other, newLiteral(other)
		}
		want := newLiteral(data)
		want.start(opt.Pocket, judges)
		converged := want.train(opt.Order, seed, int(opt.Epochs), 1, opt.MaxUpdates)
		got := require.Value(TrainValidated(context.Background(), data, validation, opt))(t)
		compareLiteral(t, fmt.Sprintf("seed %d, %+v, validation %v", seed, opt, judges != nil), got, want, converged)
		if judges != nil && got.Errors != got.Curve[len(got.Curve)-1].Errors {
			validated++
		}
	}
	if validated < int(seeds)/8 {
		t.Errorf("only %d results tell the rows of the validation from the others", validated)
	}
}

// TestOptimum: on draws with replacement the pocket reaches the fewest errors of any plane, with ratchet and without
// (Muselli, "On convergence properties of pocket algorithm", 1997). Enumeration finds them: planes with small whole
// numbers divide the points -1, 0, 1 in the plane in every way that lines can.
func TestOptimum(t *testing.T) {
	separable, seeds := 0, 100
	if require.Small() {
		seeds = 30
	}
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(31, seed))
		var x [][]float64
		var y []float64
		for range 3 + rng.IntN(10) {
			x = append(x, []float64{float64(rng.IntN(3) - 1), float64(rng.IntN(3) - 1)})
			y = append(y, float64(2*rng.IntN(2)-1))
		}
		data := testproblems.Dense(x, y, true)
		fewest := newLiteral(data).fewestByEnumeration(6)
		if fewest == 0 {
			separable++
		}
		for _, mode := range []pocket.Mode{pocket.Exact, pocket.Ratchet} {
			r := mustTrain(t, data, Settings{Options: Options{Order: learner.Random, Epochs: 2000, Pocket: mode}, Run: learner.Run{Seed: seed}})
			if r.Errors != fewest {
				t.Errorf("problem %d, %s: %d errors after %d updates, the fewest are %d", seed, mode, r.Errors, r.Updates, fewest)
			}
		}
	}
	if separable > seeds/2 {
		t.Errorf("%d problems are separable, which the perceptron alone solves", separable)
	}
}

// TestPermutation compares the permutation, made a window at a time on this goroutine or another, with the documented
// one. Every row appears once.
func TestPermutation(t *testing.T) {
	for _, n := range []int{1, 2, 511, 512, 4095, 4096, 4097, 5000, 40960, 100001} {
		want := documentedPermutation(n, 3, 2)
		for _, ahead := range []bool{false, true} {
			var got []uint32
			err := learner.NewPermutation(n, 3, 2).EachWindow(context.Background(), ahead, func(k int, rows []uint32) error {
				got = append(got, rows...)
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("n=%d ahead=%v: not the documented permutation (error %v)", n, ahead, err)
			}
		}
		slices.Sort(want)
		for i, r := range want {
			if int(r) != i {
				t.Fatalf("n=%d: row %d is missing or repeated", n, i)
			}
		}
	}
}

// margin returns the data's margin from the plane that noisy drew for the seed.
func margin(d *block.Data, seed uint64) float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	u := make([]float64, d.Spec().Cols())
	norm := 0.3 * 0.3
	for i := range u[:len(u)-1] {
		u[i] = rng.NormFloat64()
		norm += u[i] * u[i]
	}
	u[len(u)-1] = 0.3
	rho := math.Inf(1)
	for b := range d.Blocks(context.Background()) {
		for r := range b.Len() {
			s := 0.0
			for i, v := range u {
				s += v * float64(b.X[r*b.Stride+i])
			}
			rho = min(rho, float64(b.Y[r])*s/math.Sqrt(norm))
		}
	}
	return rho
}

// TestMargin: on separable rows, there are at most (R^2 + 2 margin/eta)/rho^2 updates: without a margin R^2/rho^2, as in Novikoff's theorem
// (1962). The weights have at least the margin rho/(2 + eta R^2/margin). It approaches half of rho as the requested margin grows.
func TestMargin(t *testing.T) {
	for seed := range uint64(10) {
		var x [][]float64
		var y []float64
		all, labels := noisyPlane(100, 3, 0, false, seed)
		for i := range all {
			if margin(testproblems.Dense(all[i:i+1], labels[i:i+1], true), seed) > 0.3 {
				x, y = append(x, all[i]), append(y, labels[i])
			}
		}
		d := testproblems.Dense(x, y, true)
		rho := margin(d, seed)
		for _, m := range []float64{0, 0.01, 1, 20} {
			for _, order := range learner.Orders {
				r := mustTrain(t, d, Settings{Options: Options{Order: order, Epochs: 1e5, Eta: 0.5, Margin: m}, Run: learner.Run{Seed: seed}})
				square := r.Radius * r.Radius
				if bound := (square + 2*m/0.5) / (rho * rho); !r.Converged || float64(r.Updates) > bound {
					t.Errorf("seed %d, margin %v, %s: %d updates, at most %v are possible; converged %v", seed, m, order, r.Updates, bound, r.Converged)
				}
				if least := rho / (2 + 0.5*square/m); r.Margin < least || r.Margin*r.Norm <= m {
					t.Errorf("seed %d, margin %v, %s: the weights have %v with norm %v, %v is the least", seed, m, order, r.Margin, r.Norm, least)
				}
			}
		}
	}
}

// TestEarlyStop compares the last epoch, and the kept weights, with trainings of one epoch more each.
func TestEarlyStop(t *testing.T) {
	x, y := noisyPlane(600, 20, 0.1, false, 4)
	d, other := testproblems.Dense(x[:400], y[:400], true), testproblems.Dense(x[400:], y[400:], true)
	validated := func(opt Settings) *learner.Result {
		r := require.Value(TrainValidated(context.Background(), d, other, opt))(t)
		return r
	}
	stopped := 0
	for k := range 24 {
		opt := Settings{Options: Options{Order: learner.Orders[k%4], Epochs: 30, Form: learner.Forms[k/4%2]}, Run: learner.Run{Seed: uint64(k)}}
		if k%3 == 0 && opt.Form == learner.Last {
			opt.Pocket = pocket.Modes[k/3%3]
		}
		opt.EarlyStop = int64(1 + k/8)
		got := validated(opt)
		plain := opt
		plain.EarlyStop = 0
		stale, found, want := int64(0), 1, got
		for plain.Epochs = 1; plain.Epochs <= opt.Epochs && stale < opt.EarlyStop; plain.Epochs++ {
			want = validated(plain)
			stale++
			if n := len(want.Curve); n > found {
				found, stale = n, 0
			}
		}
		if stale == opt.EarlyStop {
			stopped++
		}
		if got.Epochs != want.Epochs || got.KeptUpdate != want.KeptUpdate || len(got.Curve) != len(want.Curve) || got.Converged ||
			opt.Form == learner.Last && !slices.Equal(got.Weights, want.Weights) {
			t.Errorf("case %d: ended after %d epochs with update %d, %d points; want %d, %d, %d", k, got.Epochs, got.KeptUpdate, len(got.Curve),
				want.Epochs, want.KeptUpdate, len(want.Curve))
		}
	}
	if stopped < 20 {
		t.Errorf("%d of 24 trainings stopped early", stopped)
	}
}

func TestProgress(t *testing.T) {
	x, y := noisyPlane(500, 4, 0.1, false, 1)
	var seen []learner.Progress
	opt := Settings{Options: Options{Epochs: 3, Pocket: pocket.Exact}, Run: learner.Run{Progress: func(p learner.Progress) { seen = append(seen, p) }}}
	r := mustTrain(t, testproblems.Dense(x, y, true), opt)
	epochs := map[int64]bool{}
	for _, p := range seen {
		epochs[p.Epoch] = true
	}
	last := seen[len(seen)-1]
	if len(epochs) != 4 || last.Epoch != 3 || last.Visits != r.Visits || last.Updates != r.Updates || last.BestErrors < r.Errors {
		t.Errorf("progress %+v, result %+v", seen, r)
	}
}
