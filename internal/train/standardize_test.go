// Compiling Arrow with the race detector takes minutes, so make race leaves this file out.

//go:build !race

package train_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
)

// scaledRows returns rows whose features have different scales, and labels.
func scaledRows(n int) (x [][]float64, y []string) {
	for i := range n {
		sin, cos := math.Sincos(float64(i) * 1.1)
		x = append(x, []float64{1e6 + 0.1*sin, 1e-3 * cos, float64(i%7) * 1e4, 5})
		y = append(y, []string{"low", "high", "none"}[(i%7+int(2+2*sin))/2%3])
	}
	return x, y
}

// csvOf writes rows to a CSV file.
func csvOf(t *testing.T, x [][]float64, y []string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("c1,c2,c3,c4,label\n")
	for r, row := range x {
		for _, v := range row {
			fmt.Fprint(&text, v, ",")
		}
		fmt.Fprintln(&text, y[r])
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

// TestStandardizedRows: standardized rows from memory give the model of a file with the same values, byte for byte, with a
// hold-out, with a cross-validation and without.
func TestStandardizedRows(t *testing.T) {
	x, y := scaledRows(block.ChunkRows + 900)
	opened := dataset.Options{Label: "label", Standardize: true}
	fromFile := require.Value(dataset.Open(t.Context(), []string{csvOf(t, x, y)}, opened, dataset.Budget{}))(t)
	var flat []float64
	for _, row := range x {
		flat = append(flat, row...)
	}
	opt := block.RowOptions{Standardize: true}
	data := require.Value(block.FromRows(x, y, opt))(t)
	one := require.Value(block.FromFlat(flat, 4, y, opt))(t)
	generated, err := block.FromGenerator(t.Context(), func(yield func([]float64, string) bool) error {
		for r := range x {
			if !yield(x[r], y[r]) {
				break
			}
		}
		return nil
	}, opt)
	if err != nil {
		t.Fatal(err)
	}
	again := require.Value(block.FromRows(x, y, block.RowOptions{Spec: data.Spec()}))(t)
	l := logistic.New(logistic.Options{L2: 1})
	for name, c := range map[string]struct {
		l   train.Learner
		opt train.Options
	}{
		"all":        {l, train.Options{}},
		"hold-out":   {l, train.Options{HoldOut: 0.3}},
		"folds":      {l, train.Options{CV: train.CV{Folds: 3}}},
		"perceptron": {perceptron.New(perceptron.Options{Epochs: 3}), train.Options{HoldOut: 0.1}},
	} {
		want := fileOf(t, require.Value(train.Run(t.Context(), fromFile, c.l, c.opt))(t).Model)
		for from, src := range map[string]block.Source{"rows": data, "flat": one, "generator": generated, "a spec": again} {
			if from == "a spec" && name != "all" {
				continue // whose means are given
			}
			if got := fileOf(t, require.Value(train.Run(t.Context(), src, c.l, c.opt))(t).Model); !bytes.Equal(got, want) {
				t.Errorf("%s, from %s: the model differs from that of the file", name, from)
			}
		}
	}
}

// TestRowsOfModel: rows get the features and the classes of a model, and the model is evaluated on them.
func TestRowsOfModel(t *testing.T) {
	x, y := scaledRows(500)
	data := require.Value(block.FromRows(x, y, block.RowOptions{Standardize: true}))(t)
	f := require.Value(train.Run(t.Context(), data, logistic.New(logistic.Options{L2: 1}), train.Options{}))(t)
	rows := require.Value(block.FromRows(x, y, block.RowOptions{Spec: f.Model.Spec()}))(t)
	if e, err := train.Evaluate(t.Context(), f.Model, rows, 1); err != nil || e.Confusion.Errors() != *f.Model.Training.Errors {
		t.Errorf("error %v; %d errors, and the training had %d", err, e.Confusion.Errors(), *f.Model.Training.Errors)
	}
	if _, err := block.FromRows(x[:1], y[:1], block.RowOptions{Spec: f.Model.Spec()}); err != nil {
		t.Errorf("rows of one class: %v", err)
	}
	for want, give := range map[string]func(opt block.RowOptions) error{
		"row 1: the label \"huge\" is no class of the model": func(opt block.RowOptions) error {
			_, err := block.FromRows(x[:2], []string{"low", "huge"}, opt)
			return err
		},
		"rows of 2 numbers, and the model has 4 features": func(opt block.RowOptions) error {
			_, err := block.FromFlat(x[0], 2, y[:2], opt)
			return err
		},
		`column "c2", row 0: NaN is not a finite number`: func(opt block.RowOptions) error {
			_, err := block.FromRows([][]float64{{1, math.NaN(), 2, 3}}, y[:1], opt)
			return err
		},
		`column "c2", row 0: 1e+39 is too far from the mean for float32: correct the value`: func(opt block.RowOptions) error {
			_, err := block.FromGenerator(t.Context(), func(yield func([]float64, string) bool) error {
				yield([]float64{1, 1e39, 2, 3}, y[0])
				return nil
			}, opt)
			return err
		},
	} {
		if err := give(block.RowOptions{Spec: f.Model.Spec()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	cut := *f.Model.Spec()
	cut.Features = cut.Features[:3]
	if _, err := block.FromRows([][]float64{x[0][:3]}, y[:1], block.RowOptions{Spec: &cut}); err == nil || !strings.Contains(err.Error(), "the preprocessing of Spec doesn't suit its features") {
		t.Errorf("features that the preprocessing doesn't make: error %v", err)
	}
	large := [][]float64{{1e308, 1}, {-1e308, 2}, {1e308, 3}}
	if _, err := block.FromRows(large, y[:3], block.RowOptions{Standardize: true}); err == nil || !strings.Contains(err.Error(), `column 0 ("c1"): its numbers are too large for a mean: leave it out`) {
		t.Errorf("error %v", err)
	}
}

// TestOtherRows: rows with other features or classes than the model's are errors, not wrong counts.
func TestOtherRows(t *testing.T) {
	x, y := scaledRows(500)
	made := func(opt block.RowOptions, x [][]float64, y []string) *block.Data {
		data := require.Value(block.FromRows(x, y, opt))(t)
		return data
	}
	data, l := made(block.RowOptions{Standardize: true}, x, y), logistic.New(logistic.Options{L2: 1})
	f := require.Value(train.Run(t.Context(), data, l, train.Options{}))(t)
	other := slices.Clone(y)
	other[0] = "very high"
	narrow := slices.Clone(x)
	for r := range narrow {
		narrow[r] = narrow[r][:3]
	}
	for want, rows := range map[string]*block.Data{
		"features that aren't standardized as the model's are": made(block.RowOptions{}, x, y),
		"features that aren't standardized as the model's":     made(block.RowOptions{Standardize: true}, x[:400], y[:400]),
		"another positive class than the model":                made(block.RowOptions{Standardize: true, Positive: "low"}, x, y),
		"the classes ":                                         made(block.RowOptions{Standardize: true}, x, other),
		"4 columns, the bias included, where the model has 5":  made(block.RowOptions{Standardize: true}, narrow, y),
		"5": made(block.RowOptions{Standardize: true, NoBias: true}, x, y),
	} {
		_, err := train.Evaluate(t.Context(), f.Model, rows, 1)
		_, learn := train.Run(t.Context(), data, l, train.Options{Validation: rows})
		for _, err := range []error{err, learn} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
	if _, err := train.Run(t.Context(), data, l, train.Options{Validation: made(block.RowOptions{Spec: data.Spec()}, x[:9], y[:9])}); err != nil {
		t.Error(err)
	}
}
