package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/kernel"
	"halfspace/kernel/limits"
	"halfspace/pocket"
	"halfspace/train"
	"halfspace/train/lda"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

// A batch is work over all rows that any number of cores share.
type batch struct {
	name string
	run  func(rows *block.Data, workers int) error
}

// batches are the work of batch learners, of the pocket's counts and of Gram.
func batches() []batch {
	ctx, opt := context.Background(), func(workers int) train.Options { return train.Options{Workers: workers} }
	count := func(candidates int) func(*block.Data, int) error {
		return func(rows *block.Data, workers int) error {
			rng, stride := rand.New(rand.NewPCG(3, 3)), kernel.Stride(rows.Spec().Cols())
			w := make([]float32, candidates*stride)
			for i := range w {
				if i%stride < rows.Spec().Cols() {
					w[i] = float32(rng.NormFloat64())
				}
			}
			_, err := pocket.Errors(ctx, rows, w, workers)
			return err
		}
	}
	return []batch{
		{"errors of 1 candidate", count(1)},
		{"errors of 64 candidates", count(64)},
		{"`lda`", func(rows *block.Data, workers int) error {
			_, err := lda.Train(ctx, rows, lda.Options{Options: opt(workers)})
			return err
		}},
		{"`logistic`, Newton", func(rows *block.Data, workers int) error {
			_, err := logistic.Train(ctx, rows, logistic.Options{Options: opt(workers), L2: 1, Solver: logistic.Newton})
			return err
		}},
		{"`svm`, squared hinge", func(rows *block.Data, workers int) error {
			_, err := svm.Train(ctx, rows, svm.Options{Options: opt(workers), L2: 1})
			return err
		}},
		{"`svm`, hinge", func(rows *block.Data, workers int) error {
			_, err := svm.Train(ctx, rows, svm.Options{Options: opt(workers), L2: 1, Loss: svm.Hinge})
			return err
		}},
		{"Gram matrix of the first 8,192 rows", func(rows *block.Data, workers int) error {
			const n = 8192
			var first []float32
			for b := range rows.Blocks(ctx) {
				first = append(first, b.X[:min(len(b.X), n*b.Stride-len(first))]...)
				if len(first) == n*b.Stride {
					break
				}
			}
			m, err := gram.NewSymmetric(n, gram.Packed)
			if err != nil {
				return err
			}
			return gram.Gram(ctx, m, gram.Dense(first, n, rows.Spec().Cols(), len(first)/n), gram.Mercer{}, workers)
		}},
	}
}

// batchTable returns the times of batch work on one core and on two, beside bandwidths that are measured by turns with them.
func batchTable(t *testing.T) string {
	const rounds = 15
	var out strings.Builder
	fmt.Fprintf(&out, "Milliseconds of work over all rows, the fastest of %d rounds by turns. The last column is 0.9 times the ratio of the bandwidths that\n"+
		"these rows were read with, or 1.8 if that is less: the least gain where memory binds.\n\n"+
		"| rows | MiB | work | one core | two cores | gain | GB/s of one core | of two | 0.9 × ratio |\n|---|---|---|---|---|---|---|---|---|\n", rounds)
	for _, shape := range [][2]int{{2_097_152, 28}, {262_144, 252}} {
		rows := planted(shape[0], shape[1], 0.05).all(t)
		arrays := arraysOf(rows)
		for _, work := range batches() {
			var ms [3][]float64
			var rates [3][]float64
			for round := range rounds {
				for workers := 1; workers <= 2; workers++ {
					start := time.Now()
					if err := work.run(rows, workers); err != nil {
						t.Fatalf("%s: %v", work.name, err)
					}
					ms[workers] = append(ms[workers], 1000*time.Since(start).Seconds())
					if round%bandwidthEvery == 0 {
						rates[workers] = append(rates[workers], limits.Read(arrays, workers)/1e9)
					}
				}
			}
			one, two, from, to := slices.Min(ms[1]), slices.Min(ms[2]), slices.Max(rates[1]), slices.Max(rates[2])
			fmt.Fprintf(&out, "| %d × %d | %.0f | %s | %.2f | %.2f | %.2f | %.1f | %.1f | %.2f |\n", shape[0], shape[1], float64(bytesOf(rows))/(1<<20), work.name,
				one, two, one/two, from, to, 0.9*min(2, to/from))
		}
	}
	return out.String()
}
