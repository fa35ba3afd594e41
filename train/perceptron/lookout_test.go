package perceptron

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"halfspace/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/pocket"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// TestLookouts compares trainings with lookouts at work all the time with trainings on one goroutine: rows in memory and in a
// file, dense and sparse, of two classes and three, with and without sample weights, frequent mistakes and rare ones.
func TestLookouts(t *testing.T) {
	forced = new(atomic.Int64)
	defer func() { forced = nil }()
	for _, flips := range []float64{0.2, 0.002} {
		if require.Small() && flips > 0.1 {
			continue
		}
		x, y := noisy(6000, 4, flips, false, 21)
		d := testproblems.Dense(x, y, true)
		few := testproblems.Weighted(d, quarters)
		three := testproblems.RandomClasses(6000, 3, 3, flips)
		for i, src := range []block.Source{d, testproblems.Sparse(d), require.Opened(cache.Temporary(t.Context(), d, nil))(t), few, require.Opened(cache.Temporary(t.Context(), testproblems.Sparse(few), nil))(t), testproblems.Stream{Data: d}, three, testproblems.Sparse(three)} {
			if require.Small() && i%3 > 0 {
				continue
			}
			for _, opt := range []Settings{{}, {Options: Options{Form: learner.Averaged, L2: 0.01}}, {Options: Options{Pocket: pocket.Ratchet}}, {Options: Options{MaxUpdates: 300, Form: learner.Voted}}, {Options: Options{Margin: 2}}} {
				if opt.Form == learner.Voted && flips > 0.1 {
					continue // slow
				}
				if len(src.Spec().Classes) > 2 && (opt.Pocket != "" || opt.Form == learner.Voted) {
					continue
				}
				for _, order := range learner.Orders {
					if require.Small() && (order == learner.FixedShuffle || order == learner.Random) {
						continue
					}
					if _, file := src.(block.Seekable); file && order == learner.Random {
						continue // slow, and read as the other orders are
					}
					if _, streams := src.(testproblems.Stream); streams && order != learner.Cyclic {
						continue
					}
					opt.Order, opt.Epochs, opt.Eta, opt.Workers = order, 2, 0.5, 1
					want := told(mustTrain(t, src, opt))
					opt.Workers = 2 + i%3
					before := forced.Load()
					r := mustTrain(t, src, opt)
					if got := told(r); got != want {
						t.Errorf("source %d, %s %s %s: %s, want %s", i, order, opt.Form, opt.Pocket, got, want)
					}
					if searches := forced.Load() - before; searches == 0 && opt.MaxUpdates == 0 {
						t.Errorf("source %d, %s %s %s: the lookouts searched for none of %d updates", i, order, opt.Form, opt.Pocket, r.Updates)
					}
				}
			}
		}
	}
}

// told returns what a training learned, in a line.
func told(r *learner.Result) string {
	return fmt.Sprint(r.Weights, r.Counts, r.Visits, r.Updates, r.Errors, r.Loss, r.Converged, r.Kept)
}

// TestTrial: the faster way is in use nearly all the time, and soon after it became the faster one. One span with a stall changes
// nothing.
func TestTrial(t *testing.T) {
	var x trial
	spans := func(n int, without, with float64) (share float64) {
		for range n {
			cost := without
			if x.with {
				cost = with
				share += 1 / float64(n)
			}
			x.ended(cost)
		}
		return share
	}
	if share := spans(1000, 1, 0.6); share < 0.97 {
		t.Errorf("lookouts that pay are used in %v of the spans", share)
	}
	for !x.with {
		spans(1, 1, 0.6)
	}
	if spans(1, 1, 20); spans(20, 1, 0.6) < 0.95 {
		t.Error("a stall switches lookouts off")
	}
	if spans(10, 1, 1.5); spans(1000, 1, 1.5) > 0.02 {
		t.Error("lookouts that don't pay any more stay on")
	}
	if spans(mostWaiting+1, 1, 0.6); spans(1000, 1, 0.6) < 0.97 {
		t.Error("lookouts that pay again stay off")
	}
}

// BenchmarkLookouts times epochs in file order at weights that one row of every so many updates, with one worker and with two.
func BenchmarkLookouts(b *testing.B) {
	for _, c := range []struct{ rows, d, every int }{{60_000, 28, 0}, {60_000, 28, 20_000}, {60_000, 28, 5000}, {60_000, 28, 1000}, {60_000, 28, 100}, {2_000_000, 28, 5000}, {5000, 784, 0}, {5000, 784, 2000}, {60_000, 784, 5000}} {
		x, y := make([][]float64, c.rows), make([]float64, c.rows)
		for r := range x {
			x[r] = make([]float64, c.d)
			y[r] = float64(1 - 2*(r%2))
			x[r][0] = y[r] * 1000
			for i := 1; i < c.d; i++ {
				x[r][i] = math.Sin(float64(r*i)) / 1000
			}
			if c.every > 0 && r%c.every == 1 { // the bias alone, which is wrong each time
				clear(x[r])
				y[r] = float64(1 - 2*(r/c.every%2))
			}
		}
		d := testproblems.Dense(x, y, true)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("rows=%d/d=%d/every=%d/workers=%d", c.rows, c.d, c.every, workers), func(b *testing.B) {
				opt := defaults(b, Settings{Options: Options{Epochs: 1 << 40}, Run: learner.Run{Workers: workers}})
				src := block.AssumeValid(block.Source(d))
				l := require.Value(newTraining(context.Background(), &online.Training{Learner: Learner, Task: &learner.Task{Settings: &opt}, Opt: learner.Shared(&opt), Src: src, Rows: d.Rows()}))(b)
				defer l.look.stop()
				pass := require.Value(online.NewPass(src, learner.Shared(&opt), 0, l.prepare))(b)
				l.w[0] = 1
				log, made, visited := make([]uint32, online.MostRows(l.rule.stride)), 0, 0
				b.SetBytes(int64(c.rows) * int64(l.rule.stride) * 4)
				for b.Loop() {
					if err := pass.Epoch(context.Background(), 0, 0, func(p *online.Panel, at int) (int, error) {
						visits, updates, err := l.Visit(context.Background(), p, at, log)
						visited, made = visited+visits, made+updates
						return visits, err
					}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(visited)/float64(max(1, made)), "visits/update")
				if l.look != nil {
					b.ReportMetric(l.look.pays.cost[0]/l.look.pays.cost[1], "gain")
				}
			})
		}
	}
}
