package predict

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/cmd/internal/report"
	"halfspace/gram"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/metrics"
	"halfspace/plot"
	"halfspace/schema"
)

// TestLoadAll: two models take no more than half of the memory together. One of them alone does.
func TestLoadAll(t *testing.T) {
	const features = 1<<21 + 1 // fewer are loaded whatever the memory is
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError,
		Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: features}}}}
	m := model.New(spec, make([]float32, features))
	m.Algorithm = "perceptron"
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, m.Save(path))
	for size, want := range map[string]error{"65MiB": nil, "63MiB": model.ErrMemory} {
		o := evalOptions{models: []string{path, path}}
		require.NoError(t, o.Memory.Set(size))
		if _, err := loadAll(context.Background(), &o); !errors.Is(err, want) {
			t.Errorf("two models in %s: error %v", size, err)
		}
		o.models = o.models[:1]
		if _, err := loadAll(context.Background(), &o); err != nil {
			t.Errorf("one model in %s: error %v", size, err)
		}
	}
}

// TestLoadAllKernels: the rows that kernels compare with count too. Two models with 16 MB of them take all of 64 MB, which is too much.
func TestLoadAllKernels(t *testing.T) {
	const features, rows = 1000, 4000
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	for i := range features {
		spec.Features = append(spec.Features, fmt.Sprint("f", i))
	}
	m := model.New(spec, make([]float32, features))
	m.Algorithm, m.Weights, m.Bias, m.FitBias = "kernel-perceptron", [][]float64{}, []float64{}, false
	numbers := make([]int64, rows)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	m.Expansion = &model.Expansion{Kernel: gram.Kernel{Kind: "rbf", Gamma: 1}, Rows: numbers, Support: model.Pack(make([]float32, rows*features)), Coefficients: [][]byte{model.Pack(make([]float32, rows))}}
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, m.Save(path))
	for _, c := range []struct {
		size   string
		models int
		want   error
	}{{"64MiB", 2, nil}, {"60MiB", 2, model.ErrMemory}, {"60MiB", 1, nil}} {
		o := evalOptions{models: []string{path, path}[:c.models]}
		require.NoError(t, o.Memory.Set(c.size))
		if _, err := loadAll(context.Background(), &o); !errors.Is(err, c.want) {
			t.Errorf("%d models in %s: error %v", c.models, c.size, err)
		}
	}
}

// TestCurveMemory: two curves of 600,000 corners don't fit in 48 MiB, and neither does a small one beside those of other
// models. Those of pictures do.
func TestCurveMemory(t *testing.T) {
	alternating := func(rows int) *metrics.Scores {
		s, scores, labels := new(metrics.Scores), make([]float32, rows), make([]float32, rows)
		for i := range scores {
			scores[i], labels[i] = float32(i), float32(i%2)
		}
		s.Add(scores, labels, nil)
		return s
	}
	for _, c := range []struct {
		memory string
		rows   int
		held   int64
		fits   bool
	}{{"64MiB", 600000, 0, false}, {"1GiB", 600000, 0, true}, {"64MiB", 600, 0, true}, {"64MiB", 600, 48 << 20, false}} {
		o, r := &evalOptions{roc: "roc.csv", pr: "pr.csv"}, &evalReport{Evaluation: new(report.Evaluation)}
		require.NoError(t, o.Memory.Set(c.memory))
		err := setCurves(o, r, alternating(c.rows), c.held)
		if fits := err == nil; fits != c.fits || fits != (len(r.roc) >= c.rows && len(r.pr) >= c.rows/2) || !fits && !strings.Contains(err.Error(), "--memory") {
			t.Errorf("%d rows in %s beside %d bytes: %d and %d points, error %v", c.rows, c.memory, c.held, len(r.roc), len(r.pr), err)
		}
	}
	e := &train.Evaluation{Confusion: metrics.NewConfusion(2), Scores: *alternating(600000)}
	m := model.New(&schema.Spec{Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}, nil)
	figures := report.CurveFigures([]*report.Evaluation{report.NewEvaluation(m, e, e.Confusion, true)})
	if n := len(figures[0].Series[1].X); n < 500 || n > plot.MostPoints {
		t.Errorf("a picture of %d points", n)
	}
}
