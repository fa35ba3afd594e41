package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/forecast"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/kernel/limits"
	"halfspace/train"
	"halfspace/train/perceptron"
)

// A work is a computation of one core that the model forecasts, bound by memory or by arithmetic.
type work struct {
	name  string
	stage forecast.Stage
	run   func() (seconds float64, err error)
}

func works() ([]work, error) {
	const rows, epochs = 1_000_000, 10
	data := testrows.Logistic(rows, 27)
	rowBytes := 4 * float64(kernel.Stride(28)+1) // and the label

	const n, columns = 2048, 512
	x := block.Alloc[float32](n * columns)
	for i := range x {
		x[i] = float32(i%97) / 97
	}
	m, err := gram.NewSymmetric(n, gram.Packed)
	return []work{
		{"perceptron, 10 epochs of 1,000,000 rows x 27 columns and the bias",
			forecast.Stage{Kernel: "EpochF32/28", Units: rows * epochs, Bytes: rows * epochs * rowBytes},
			func() (float64, error) {
				opt := perceptron.Options{Options: train.Options{Order: train.Cyclic, Epochs: epochs, Workers: 1}}
				result, err := perceptron.Train(context.Background(), data, opt)
				if err != nil {
					return 0, err
				}
				return result.Seconds, nil
			}},
		{"Gram matrix, 2048 rows x 512 columns",
			forecast.Stage{Kernel: "TileF32", Units: n * (n + 1) / 2 * columns, Bytes: 2 * n * n},
			func() (float64, error) {
				start := time.Now()
				err := gram.Gram(context.Background(), m, gram.Dense(x, n, columns, columns), gram.Mercer{}, 1)
				return time.Since(start).Seconds(), err
			}},
	}, err
}

// compareWorks prints forecast and measured times, the fastest of five runs, and the limit that binds.
func compareWorks(w io.Writer, t *forecast.Table, cpu string) error {
	all, err := works()
	if err != nil {
		return err
	}
	l, level := limits.Measure(1), kernel.Active().String()
	fmt.Fprintf(w, "\nOne core: %.3g GHz, %.3g GB/s from memory\n\n| work | bound by | forecast ms | measured ms | measured / forecast |\n|---|---|---|---|---|\n",
		l.Clock/1e9, l.DRAM/1e9)
	for _, work := range all {
		seconds, ok := t.Seconds(cpu, level, l, work.stage)
		if !ok {
			return fmt.Errorf("no forecast of %s", work.name)
		}
		fastest := math.Inf(1)
		for range 5 {
			s, err := work.run()
			if err != nil {
				return err
			}
			fastest = min(fastest, s)
		}
		bound := "arithmetic"
		if seconds == work.stage.Bytes/l.DRAM {
			bound = "memory"
		}
		fmt.Fprintf(w, "| %s | %s | %.3g | %.3g | %.2f |\n", work.name, bound, 1e3*seconds, 1e3*fastest, fastest/seconds)
	}
	return nil
}
