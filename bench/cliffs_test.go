package bench

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/internal/testproblems"
	"halfspace/pocket"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// BenchmarkCliffs compares trainings with their plain siblings: those with sample weights, a margin, integers or several
// classes. Both take turns. The metrics are medians of five rounds with -full, and of one without. ratio is the time over
// the sibling's.
func BenchmarkCliffs(b *testing.B) {
	const features = 28
	rows := size(300_000, 100_000)
	plain := SyntheticRows(Synthetic{Rows: int64(rows), Features: features, Noise: 0.03, Seed: 1})
	weighted := testproblems.Weighted(plain, func(row int) float64 { return 0.5 + float64(row%7)/4 })
	heavy := testproblems.Weighted(plain, func(row int) float64 {
		if row*7919%1000 == 999 {
			return 1001
		}
		return 1
	})
	classWeights := testproblems.Weighted(plain, func(row int) float64 { return []float64{1, 3}[(1+int(label(plain, row)))/2] })
	ints := integers(rows, features)
	classes := testproblems.RandomClasses(rows, features, 10, 0.03)

	epochs := func(order learner.Order) perceptron.Settings {
		return perceptron.Settings{Options: perceptron.Options{Order: order, Epochs: 5}}
	}
	margin := epochs(learner.Cyclic)
	margin.Margin = 1
	averaged := epochs(learner.Cyclic)
	averaged.Form = learner.Averaged
	judged := perceptron.Settings{Options: perceptron.Options{Order: learner.Shuffle, MaxUpdates: 8000, Pocket: pocket.Exact}, Run: learner.Run{Workers: 1}}
	ratchet := perceptron.Settings{Options: perceptron.Options{Order: learner.Cyclic, Epochs: 1, Pocket: pocket.Ratchet}, Run: learner.Run{Workers: 1}}
	for _, c := range []struct {
		name             string
		data, sibling    *block.Data
		opt, siblingOpt  perceptron.Settings
		times            float64 // of the sibling, that it is compared with
		updates, scoring bool
	}{
		{"epoch/weights", weighted, plain, epochs(learner.Cyclic), epochs(learner.Cyclic), 1, true, false},
		{"epoch/class-weights", classWeights, plain, epochs(learner.Cyclic), epochs(learner.Cyclic), 1, true, false},
		{"epoch/margin", plain, plain, margin, epochs(learner.Cyclic), 1, true, false},
		{"epoch/shuffle/weights", weighted, plain, epochs(learner.Shuffle), epochs(learner.Shuffle), 1, true, false},
		{"epoch/averaged/weights", weighted, plain, averaged, averaged, 1, true, false},
		{"epoch/classes=10", classes, plain, epochs(learner.Cyclic), epochs(learner.Cyclic), 10, true, false},
		{"epoch/shuffle/classes=10", classes, plain, epochs(learner.Shuffle), epochs(learner.Shuffle), 10, true, false},
		{"pocket/weights", weighted, plain, judged, judged, 1, false, true},
		{"pocket/heavy-weights", heavy, plain, judged, judged, 1, false, true},
		{"pocket/class-weights", classWeights, plain, judged, judged, 1, false, true},
		{"pocket/ratchet/weights", weighted, plain, ratchet, ratchet, 1, false, true},
		{"pocket/integers", ints, plain, judged, judged, 1, false, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			var times, siblings []float64
			var r, s *learner.Result
			for b.Loop() {
				times, siblings = times[:0], siblings[:0]
				for range peerRounds() {
					var t float64
					s, t = timed(b, c.sibling, c.siblingOpt)
					siblings = append(siblings, t)
					r, t = timed(b, c.data, c.opt)
					times = append(times, t)
				}
			}
			b.ReportMetric(median(times)/median(siblings)/c.times, "ratio")
			if c.scoring {
				b.ReportMetric(1e9*median(times)/float64(r.RowsScored), "ns/row-scored")
				b.ReportMetric(1e9*median(siblings)/float64(s.RowsScored), "sibling-ns/row-scored")
				return
			}
			b.ReportMetric(1e9*median(times)/float64(r.Visits), "ns/visit")
			b.ReportMetric(float64(r.Updates)/float64(r.Visits), "updates/visit")
			b.ReportMetric(float64(s.Updates)/float64(s.Visits), "sibling-updates/visit")
		})
	}
}

// timed trains, and returns the seconds that it took.
func timed(b *testing.B, d *block.Data, opt perceptron.Settings) (*learner.Result, float64) {
	start := time.Now()
	r, err := perceptron.Train(context.Background(), d, opt)
	if err != nil {
		b.Fatal(err)
	}
	return r, time.Since(start).Seconds()
}

func label(d *block.Data, row int) float32 {
	for b := range d.Blocks(context.Background()) {
		if row -= b.Len(); row < 0 {
			return b.Y[row+b.Len()]
		}
	}
	panic("no such row")
}

// integers returns rows of integers from -3 to 3, with labels of a random plane, of which some are flipped.
func integers(rows, features int) *block.Data {
	rng := rand.New(rand.NewPCG(4, 4))
	truth := make([]float64, features)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r] = make([]float64, features)
		s := 0.0
		for i := range x[r] {
			x[r][i] = float64(rng.IntN(7) - 3)
			s += x[r][i] * truth[i]
		}
		if y[r] = -1; (s > 0) != (rng.Float64() < 0.03) {
			y[r] = 1
		}
	}
	return testproblems.Dense(x, y, true)
}
