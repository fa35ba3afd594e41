package text

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/frame"
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
