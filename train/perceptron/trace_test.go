package perceptron

import (
	"fmt"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestTrace: a trace changes no result, and the updates that it tells of, made again one by one from the weights at the
// beginning, give the traced scores and weights.
func TestTrace(t *testing.T) {
	x, y := noisyPlane(4200, 4, 0.1, false, 3)
	plain := testproblems.Dense(x, y, true)
	weighted := testproblems.Weighted(plain, quarterWeight)
	classes := testproblems.RandomClasses(1500, 4, 3, 0.1)
	var traced int64
	for name, src := range map[string]*block.Data{"dense": plain, "sparse": testproblems.Sparse(plain), "weighted": weighted, "classes": classes} {
		for _, order := range learner.Orders {
			for k, form := range []Settings{{}, {Options: Options{Form: learner.Averaged, Margin: 0.5}}, {Options: Options{L2: 0.001}}, {Options: Options{MaxUpdates: 40, Pocket: "exact"}}} {
				if form.Pocket != "" && name == "classes" {
					continue
				}
				opt := form
				opt.Order, opt.Epochs, opt.Eta, opt.Seed = order, 1, 0.5, 5
				if opt.L2 > 0 {
					opt.Epochs = 2 // the second begins with the penalty of the first
				}
				where := fmt.Sprintf("%s, %s, form %d", name, order, k)
				want := mustTrain(t, src, opt)
				for n, rows := range []block.Source{src, require.OpenFile(cache.Temporary(t.Context(), src, nil))(t)} {
					for _, every := range []int64{1, 7} {
						if require.Small() && (every == 7) != ((n+k)%2 == 0) {
							continue
						}
						var all []learner.Update
						opt.TraceEvery, opt.Trace = every, func(u learner.Update) {
							u.Vector = slices.Clone(u.Vector)
							all = append(all, u)
						}
						got := mustTrain(t, rows, opt)
						got.Seconds, want.Seconds = 0, 0
						if !slices.Equal(got.Weights, want.Weights) || got.Updates != want.Updates || got.Visits != want.Visits {
							t.Errorf("%s: the trace changes the result", where)
						}
						traced += int64(len(all))
						if every == 1 && opt.L2 == 0 {
							repeatTrace(t, where, src, opt, all, got)
						} else if len(all) > 0 && (int64(len(all)) < got.Updates/every || all[0].Number != every) {
							t.Errorf("%s: %d of %d updates, the first is %d", where, len(all), got.Updates, all[0].Number)
						}
						if every == 1 && opt.L2 > 0 {
							endsAt(t, where, all, got, 1/(1+0.5*opt.L2))
						}
					}
				}
			}
		}
	}
	if traced < 5000 {
		t.Errorf("only %d updates were traced", traced)
	}
}

// repeatTrace makes the updates of a trace again.
func repeatTrace(t *testing.T, where string, src *block.Data, opt Settings, all []learner.Update, r *learner.Result) {
	t.Helper()
	if int64(len(all)) < r.Updates {
		t.Errorf("%s: %d of %d updates", where, len(all), r.Updates)
	}
	rule, vectors, err := newRule(src.Spec(), &opt)
	require.NoError(t, err)
	index := require.Value(src.Index())(t)
	again := tracer{w: make([]float32, vectors*rule.stride), cols: src.Spec().Cols()}
	visit := int64(0)
	for i, u := range all {
		b, row := index.At(uint32(u.Row))
		rival := 0
		score := 0.0
		if rule.scores != nil {
			var wrong bool
			if rival, wrong = rule.isWrong(b, row, again.w); !wrong {
				t.Fatalf("%s: row %d needs no update", where, u.Row)
			}
			rule.rivals[0] = uint32(rival)
			score = float64(rule.scores[int(b.Y[row])]) - float64(rule.scores[rival])
		} else {
			score = float64(b.Dot(row, again.w))
			if float64(b.Y[row])*score > opt.Margin {
				t.Fatalf("%s: row %d of score %v needs no update", where, u.Row, score)
			}
		}
		rule.add(again.w, rule.eta, b, row, rival)
		if u.Number != int64(i)+1 || u.Visit <= visit || u.Score != score || !slices.Equal(u.Vector, again.unpaddedWeights(rule.stride)) {
			t.Fatalf("%s: update %+v, after visit %d, isn't number %d with score %v", where, u, visit, i+1, score)
		}
		visit = u.Visit
	}
	if opt.Pocket == "" && opt.Form == learner.Last {
		endsAt(t, where, all, r, 1)
	}
}

// endsAt compares the result with the weights of the last update, which the penalty of the last epoch multiplies by a factor. Each vector
// has four weights and the bias, which has no penalty.
func endsAt(t *testing.T, where string, all []learner.Update, r *learner.Result, factor float64) {
	t.Helper()
	last := all[len(all)-1].Vector
	for i, v := range last {
		w := float32(v)
		if i%5 != 4 {
			w *= float32(factor)
		}
		if r.Weights[i] != w {
			t.Errorf("%s: weight %d is %v after the last update, and %v in the result", where, i, w, r.Weights[i])
			return
		}
	}
	if len(last) != len(r.Weights) {
		t.Errorf("%s: %d weights, and the result has %d", where, len(last), len(r.Weights))
	}
}
