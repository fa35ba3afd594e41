package dataset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/schema"
)

func TestWarnings(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("exact", p.Float64, "[0.5, 16777216]"), field("tenth", p.Float64, "[0.5, 0.1]"),
		field("even", p.Int32, "[16777218, -33554436]"), field("odd", p.Int64, "[1, 16777217]"),
		field("least", p.Int64, "[-9223372036854775808, 0]"), field("most", p.Uint64, "[18446744073709551615, 0]"))
	const rounded = ": float32 can't hold every value exactly, they are rounded (use --standardize, which subtracts the mean before it rounds)"
	for _, c := range []struct {
		exclude           []string
		want, standardize string
	}{
		{nil, `columns "odd", "most"` + rounded, `column "most": float64 can't hold every value exactly, they are rounded`},
		{[]string{"tenth", "most"}, `column "odd"` + rounded, ""},
		{[]string{"tenth", "odd", "most"}, "", ""},
	} {
		var got []string
		opt := Options{Exclude: c.exclude, Warn: func(s string) { got = append(got, s) }}
		_, err := Load(context.Background(), []string{path, path}, opt)
		if err != nil || strings.Join(got, "\n") != c.want {
			t.Errorf("%v, warnings %q, want %q", err, got, c.want)
		}
		got, opt.Standardize = nil, true
		err = Scan(context.Background(), []string{path}, opt, func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
			if rec != nil || b.Y != nil || b.Len() != 2 {
				t.Errorf("record %v, labels %v, %d rows", rec, b.Y, b.Len())
			}
			return nil
		})
		if err != nil || strings.Join(got, "\n") != c.standardize {
			t.Errorf("standardized: %v, warnings %q, want %q", err, got, c.standardize)
		}
	}
}

// TestWarnsBriefly: many inexact columns aren't all named.
func TestWarnsBriefly(t *testing.T) {
	var fields []testField
	for i := range 7 {
		fields = append(fields, field(fmt.Sprintf("x%d", i), arrow.PrimitiveTypes.Float64, "[0.1]"))
	}
	got := ""
	opt := Options{Warn: func(s string) { got += s }}
	if _, err := Load(context.Background(), []string{file1(t, t.TempDir(), "a.parquet", fields...)}, opt); err != nil {
		t.Fatal(err)
	}
	if want := `columns "x0", "x1", "x2", "x3" and 3 more: float32 can't`; !strings.HasPrefix(got, want) {
		t.Errorf("warning %q, want it to begin with %q", got, want)
	}
}

// TestWarnsOfColumnsLeftOut: a column that can't be a feature is mentioned, unless it is the label or was excluded.
func TestWarnsOfColumnsLeftOut(t *testing.T) {
	p := arrow.PrimitiveTypes
	path := file1(t, t.TempDir(), "a.parquet", field("x", p.Int8, "[1, 2]"), field("job", arrow.BinaryTypes.String, `["a", "b"]`),
		field("y", arrow.BinaryTypes.String, `["a", "b"]`), field("id", arrow.BinaryTypes.String, `["a", "b"]`))
	for want, opt := range map[string]Options{
		`columns "job" (string), "id" (string): left out, a feature is a number, a boolean or a list of numbers (use --categorical onehot or hash:BITS for text)`: {Label: "y"},
		`column "job" (string): left out, a feature is a number, a boolean or a list of numbers (use --categorical onehot or hash:BITS for text)`:                 {Label: "y", Exclude: []string{"id"}},
		"": {Label: "y", Features: []string{"x"}},
	} {
		got := ""
		opt.Warn = func(s string) { got += s }
		if _, err := Load(context.Background(), []string{path}, opt); err != nil || got != want {
			t.Errorf("error %v, warning %q, want %q", err, got, want)
		}
	}
}
