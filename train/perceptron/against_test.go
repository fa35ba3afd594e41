package perceptron

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/pocket"
	"halfspace/train/learner"
)

// TestLiteral compares every order, with and without the pocket, with the literal algorithm, on rows in memory and in one other form.
// TestInvariance of package train compares all forms, instruction sets and numbers of workers.
func TestLiteral(t *testing.T) {
	for i, c := range []struct {
		rows, d    int
		flips      float64
		whole      bool
		epochs     int
		eta        float64
		maxUpdates int64
		pocket     bool
		margin     float64
		weighted   bool
		l2         float64
	}{
		{rows: 60, d: 3, epochs: 40, eta: 1, l2: 0.25},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 0.5, l2: 1},
		{rows: 5000, d: 12, flips: 0.02, epochs: 3, eta: 1, l2: 0.1, weighted: true, margin: 1},
		{rows: 60, d: 3, epochs: 40, eta: 1, weighted: true},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 0.5, pocket: true, weighted: true},
		{rows: 5000, d: 5, flips: 0.1, epochs: 2, eta: 1, maxUpdates: 150, pocket: true, weighted: true},
		{rows: 9000, d: 3, whole: true, epochs: 3, eta: 1, maxUpdates: 777, margin: 2, weighted: true},
		{rows: 60, d: 3, epochs: 40, eta: 1, whole: true, margin: 3},
		{rows: 60, d: 3, epochs: 10, eta: 0.5, margin: 0.1, pocket: true},
		{rows: 900, d: 40, flips: 0.1, epochs: 3, eta: 1, maxUpdates: 400, margin: 30},
		{rows: 60, d: 3, epochs: 40, eta: 1},
		{rows: 60, d: 3, epochs: 40, eta: 1, pocket: true},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 0.3},
		{rows: 100, d: 9, flips: 0.1, epochs: 5, eta: 1, pocket: true},
		{rows: 300, d: 40, flips: 0.05, epochs: 3, eta: 1, maxUpdates: 97, pocket: true},
		{rows: 5000, d: 5, flips: 0.1, epochs: 2, eta: 1, maxUpdates: 150, pocket: true},
		{rows: 5000, d: 12, flips: 0.02, epochs: 3, eta: 1},
		{rows: 9000, d: 2, whole: true, epochs: 4, eta: 1, maxUpdates: 777},
		{rows: 700, d: 6, flips: 0.1, epochs: 3, eta: 1, maxUpdates: 61},
		{rows: 5000, d: 6, flips: 0.1, epochs: 3, eta: 1, maxUpdates: 900},
		{rows: 1, d: 1, epochs: 2, eta: 1}, // converges on the last visit
		{rows: 4097, d: 70, whole: true, epochs: 6, eta: 1},
		{rows: 9000, d: 300, flips: 0.1, epochs: 2, eta: 1, maxUpdates: 1200}, // in three blocks
		{rows: 20000, d: 2, epochs: 2, eta: 1, whole: true},                   // in five windows
	} {
		if require.Small() && c.rows > 1000 && (c.maxUpdates == 0 || c.d > 100 || c.pocket) {
			continue
		}
		x, y := noisyPlane(c.rows, c.d, c.flips, c.whole, uint64(i))
		data := testproblems.Dense(x, y, true)
		if c.weighted {
			data = testproblems.Weighted(data, quarterWeight)
		}
		modes := []pocket.Mode{""}
		if c.pocket {
			modes = pocket.Modes
		}
		for k := range len(modes) * len(learner.Orders) {
			mode, order := modes[k/len(learner.Orders)], learner.Orders[k%len(learner.Orders)]
			opt := Settings{Options: Options{Order: order, Epochs: int64(c.epochs), Eta: c.eta, MaxUpdates: c.maxUpdates, Pocket: mode, Margin: c.margin, L2: c.l2}, Run: learner.Run{Seed: 5}}
			want := newLiteral(data)
			want.margin, want.l2, want.features = float32(c.margin), c.l2, c.d
			want.start(mode, nil)
			converged := want.train(order, 5, c.epochs, float32(c.eta), c.maxUpdates)
			if c.maxUpdates > 0 && c.flips > 0 && want.updates != c.maxUpdates {
				t.Fatalf("problem %d, order %s: %d updates never reach the limit of %d", i, order, want.updates, c.maxUpdates)
			}
			if !c.pocket {
				want.best = want.w
			}
			vote := mode == "" && c.l2 == 0 && c.rows*len(want.counts) <= 1_000_000 // it takes long
			outvoted := int64(-1)
			if vote && c.rows*len(want.counts) < 100_000 {
				outvoted = want.outvotedRows()
			}
			what := fmt.Sprintf("problem %d, order %s, pocket %s", i, order, mode)
			sources := map[string]block.Source{"memory": data}
			switch n := (i + k) % 4; {
			case n == 0 && order == learner.Cyclic:
				sources["stream"] = testproblems.Stream{Data: data}
			case n < 2:
				sources["sparse"] = testproblems.Sparse(data)
			case c.rows > 1000 && order == learner.Random: // each row takes a call of the system
			case n == 2:
				sources["cache"] = require.OpenFile(cache.Temporary(t.Context(), data, nil))(t)
			default:
				sources["sparse cache"] = require.OpenFile(cache.Temporary(t.Context(), testproblems.Sparse(data), nil))(t)
			}
			opt.Workers = 1 + (i+k)%3
			testSources(t, what, sources, opt, want, converged)
			if vote {
				testVotes(t, what, sources, opt, want, converged, outvoted)
			}
			if mode == "" {
				opt.Form = learner.Averaged
				testAverage(t, what+", averaged", sources, opt, want, converged)
			}
		}
	}
}

// testSources compares the training from every source with the literal one.
func testSources(t *testing.T, what string, sources map[string]block.Source, opt Settings, want *literal, converged bool) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
	for name, src := range sources {
		got := mustTrain(t, src, opt)
		compareLiteral(t, what+", "+name, got, want, converged)
		if !near(got.Loss, want.lossOf) || !near(got.Margin, want.marginOf) {
			t.Fatalf("%s, %s: loss %v and margin %v, want %v and %v", what, name, got.Loss, got.Margin, want.lossOf, want.marginOf)
		}
	}
}

// testVotes compares the voters from every source with the literal algorithm's weights. It also compares the number of
// rows that they outvote, unless outvoted is negative.
func testVotes(t *testing.T, what string, sources map[string]block.Source, opt Settings, want *literal, converged bool, outvoted int64) {
	t.Helper()
	opt.Form = learner.Voted
	for name, src := range sources {
		opt.Workers = opt.Workers%3 + 1
		got := mustTrain(t, src, opt)
		if !slices.Equal(got.Voters, want.voters) || !slices.Equal(got.VoterVisits, want.counts) || got.Converged != converged {
			t.Fatalf("%s, %s: the voters differ from the literal ones", what, name)
		}
		if outvoted >= 0 && got.Errors != outvoted {
			t.Fatalf("%s, %s: %d rows are outvoted, want %d", what, name, got.Errors, outvoted)
		}
	}
}

// testAverage compares the averaged perceptron from every source with the mean of the literal algorithm's weights. They
// are equal within rounding.
func testAverage(t *testing.T, what string, sources map[string]block.Source, opt Settings, want *literal, converged bool) {
	t.Helper()
	var first []float32
	errors := int64(0)
	for name, src := range sources {
		opt.Workers = opt.Workers%3 + 1
		got := mustTrain(t, src, opt)
		if first == nil {
			first = got.Weights
			errors = want.errors(append(slices.Clone(first), make([]float32, len(want.w)-len(first))...))
		}
		if got.Visits != want.visits || got.Updates != want.updates || got.Converged != converged || !slices.Equal(got.Weights, first) {
			t.Fatalf("%s, %s: got %+v, want %d visits, %d updates, converged %v, weights %v", what, name, got, want.visits, want.updates,
				converged, first)
		}
		if got.Errors != errors {
			t.Fatalf("%s, %s: %d errors, its weights make %d", what, name, got.Errors, errors)
		}
	}
	const eps = 0x1p-24
	for c, v := range first {
		// The sum of the last visits rounds once for each update. Each of these is counted at most leastVisits times.
		mean, visits := want.sum[c]/float64(want.visits), float64(want.visits)
		bound := eps*math.Abs(mean) + eps*float64(min(want.updates, 2*leastVisits)+3)*2*leastVisits*want.change[c]/visits
		if !(math.Abs(float64(v)-mean) <= bound) {
			t.Fatalf("%s: weight %d is %v, the running mean %v, further than %v", what, c, v, mean, bound)
		}
	}
}

// compareLiteral compares a result with the literal algorithm's.
func compareLiteral(t *testing.T, what string, got *learner.Result, want *literal, converged bool) {
	t.Helper()
	want.measure()
	if !slices.Equal(got.Weights, want.best[:len(got.Weights)]) || got.Updates != want.updates || got.Errors != want.errorsOf ||
		got.Visits != want.visits || got.Converged != converged || got.KeptUpdate != want.kept {
		t.Fatalf("%s: got %+v, want w=%v, %d updates, %d visits, %d errors, converged %v, kept %d",
			what, got, want.best, want.updates, want.visits, want.errorsOf, converged, want.kept)
	}
	if want.mode == "" {
		return
	}
	last := got.Curve[0]
	if last.Update != 0 || last.Visits != 0 {
		t.Fatalf("%s: the curve begins with %+v, not with the initial zeros", what, last)
	}
	for _, p := range got.Curve[1:] {
		if want.pointWeight(p) >= want.pointWeight(last) || p.Update <= last.Update || p.Visits <= last.Visits || p.Seconds < last.Seconds {
			t.Fatalf("%s: after %+v the curve has %+v", what, last, p)
		}
		last = p
	}
	if last.Update != want.kept || want.pointWeight(last) != want.fewest {
		t.Fatalf("%s: the curve ends with %+v, but %v errors are those of update %d", what, last, want.fewest, want.kept)
	}
}
