package text

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/source"
	"halfspace/schema"
)

// TestEnds: finding the dialect and the columns of a file, and reading its records, end with the context.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := Chunk{Text: []byte("a,b\n1,2\n"), line: 1, first: true}
	f := CsvFile{path: "x.csv", dialect: dialect{Comma: ',', Header: true, names: []string{"a", "b"}}, nulls: newNullWords(nil), place: []int{0, 1}}
	in := &CSV{Files: []CsvFile{f}, sel: &frame.Chosen{Columns: []frame.Column{{Type: arrow.PrimitiveTypes.Float64}, {Type: arrow.PrimitiveTypes.Float64}}}}
	for what, try := range map[string]func(ctx context.Context) error{
		"detect": func(ctx context.Context) error { _, err := detect(ctx, f.path, c, Options{}); return err },
		"infer":  func(ctx context.Context) error { _, err := f.infer(ctx, c); return err },
		"parse":  func(ctx context.Context) error { _, err := in.parse(ctx, &in.Files[0], c); return err },
	} {
		if err := try(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := try(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v after the end", what, err)
		}
	}
}

// TestWideLines: dense batches of svmlight lines have several rows, however many columns there are.
func TestWideLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svm")
	if err := os.WriteFile(path, bytes.Repeat([]byte("1 1:2\n"), 2*leastDense), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.NewSource(t.Context(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	in := &Svmlight{sources: []*source.Source{src}}
	chosen := &frame.Chosen{Columns: make([]frame.Column, schema.MaxFeatures), Label: -1, Weight: -1}
	for i := range chosen.Columns {
		chosen.Columns[i].Index = i
	}
	in.read(chosen, len(chosen.Columns)-1)
	batches := 0
	for b, err := range in.Batches(t.Context(), frame.NewPool(1), memory.DefaultAllocator) {
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
		batches++
	}
	if batches != 2 {
		t.Errorf("%d batches of %d lines, want 2", batches, 2*leastDense)
	}
}
