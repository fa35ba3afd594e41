// Compiling Arrow with the race detector takes minutes, so make race leaves this file out.

//go:build !race

package fit_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/fit"
	"halfspace/train"
)

// TestSparseStorage: every learner makes the same model, byte for byte, of dense and of sparse rows of the same file, with any
// number of workers, in memory and streamed.
func TestSparseStorage(t *testing.T) {
	for _, l := range fit.Learners {
		rows := block.RunRows + 300
		if l.InMemory || l.Name == "pocket" || l.Name == "voted" { // whose work grows with the square of the rows
			rows = 300
		}
		for classes := 2; classes <= 3; classes++ {
			path := sparseFile(t, rows, classes)
			want, err := sparseModel(t, l, path, dataset.Dense, 2, false)
			if err != nil {
				if classes == 2 {
					t.Errorf("%s: %v", l.Name, err)
				}
				continue // it takes two classes alone
			}
			for _, workers := range []int{1, 2, 3} {
				for _, streamed := range []bool{false, true}[:1+workers%3/2] { // with two workers
					got, err := sparseModel(t, l, path, dataset.Sparse, workers, streamed)
					if err != nil && streamed && l.InMemory {
						continue
					}
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s, %d classes, %d workers, streamed %t: another model than of dense rows, error %v", l.Name, classes, workers, streamed, err)
					}
				}
			}
		}
		path := tableFile(t, min(rows, 900))
		want, err := sparseModel(t, l, path, dataset.Dense, 2, false)
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
		if got, err := sparseModel(t, l, path, dataset.Sparse, 2, !l.InMemory); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: another model of numbers beside categories than of dense rows, error %v", l.Name, err)
		}
	}
}

// tableFile writes rows of numbers, of which many are 0, and of categories.
func tableFile(t *testing.T, rows int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(rows), 7))
	text := []byte("x,city,z,zip,label\n")
	for range rows {
		x, city, z, zip := rng.IntN(2), rng.IntN(4), rng.IntN(8)/7, rng.IntN(40)
		class := x + city + zip + rng.IntN(12)/11
		text = fmt.Appendf(text, "%d,c%d,%d,z%d,%d\n", x, city, z, zip, class%2)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sparseFile writes rows of a few ones in 70 columns, with noisy labels.
func sparseFile(t *testing.T, rows, classes int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(classes)))
	var text strings.Builder
	for range rows {
		var line strings.Builder
		class := rng.IntN(12) / 11
		for i := 1; i <= 70; i += 1 + rng.IntN(20) {
			fmt.Fprintf(&line, " %d:%d", i, rng.IntN(8)/7^1)
			class += i % classes
		}
		fmt.Fprintf(&text, "%d%s\n", class%classes, line.String())
	}
	path := filepath.Join(t.TempDir(), "rows.svm")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sparseModel learns from a file, and returns the model's file.
func sparseModel(t *testing.T, l *train.Learner, path string, storage dataset.Storage, workers int, streamed bool) ([]byte, error) {
	t.Helper()
	ctx := context.Background()
	opt := dataset.Options{Label: "label", Storage: storage, Workers: workers}
	if filepath.Ext(path) == ".csv" {
		opt.Categorical, opt.Standardize = "onehot,zip=hash:20", l.Name != "winnow" // which takes zeros and ones
	}
	in, err := dataset.Open(ctx, []string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var src block.Source
	if streamed {
		src, err = in.Stream(ctx)
	} else {
		src, err = in.Load(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil || (b.Sparse != nil) != (storage == dataset.Sparse) {
			t.Fatalf("%s rows are sparse: %t, error %v", storage, b.Sparse != nil, err)
		}
	}
	settings := l.New()
	settings.Shared().Workers = workers
	if epochs := l.Option("epochs"); epochs != nil {
		if err := epochs.Set(settings, "3"); err != nil {
			t.Fatal(err)
		}
	}
	f, err := fit.Learn(ctx, src, fit.New(l, settings), fit.Options{})
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	_, err = f.Model.WriteTo(&file)
	return file.Bytes(), err
}
