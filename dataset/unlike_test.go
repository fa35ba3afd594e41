package dataset

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/require"
)

// repeated returns a JSON list of n values, in turn.
func repeated(n int, values ...string) string {
	var all []string
	for i := range n {
		all = append(all, values[i%len(values)])
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestNullColumn: a column of the type null, as pandas writes a column without values, has the type that another file
// gives it, in any order of the files.
func TestNullColumn(t *testing.T) {
	p, dir := arrow.PrimitiveTypes, t.TempDir()
	for _, extension := range []string{".parquet", ".arrow"} {
		one, other := filepath.Join(dir, "one"+extension), filepath.Join(dir, "other"+extension)
		y := field("y", arrow.BinaryTypes.String, repeated(30, `"a"`, `"b"`, `"b"`))
		writeNested(t, one, record(t, field("v", arrow.Null, repeated(30, "null")), field("x", p.Float64, repeated(30, "1", "2.5", "7", "3")), y), 30)
		writeNested(t, other, record(t, field("v", p.Int64, repeated(30, "4", "5", "9")), field("x", p.Float64, repeated(30, "2", "8.5")), y), 30)
		var first any
		for _, paths := range [][]string{{one, other}, {other, one}} {
			data := require.Value(load(t.Context(), paths, Options{Label: "y", Prepare: true}, memory.DefaultAllocator))(t)
			var names []string
			for _, c := range data.Spec().Preprocessing.Columns {
				names = append(names, c.Name+string(c.Derive))
			}
			if names[0] != "v" || len(names) != 3 {
				t.Errorf("%s: inputs %q", paths, names)
			}
			means := data.Spec().Preprocessing.Columns[0].Means
			if first == nil {
				first = means
			} else if !reflect.DeepEqual(first, any(means)) {
				t.Errorf("%s: means %v, want %v", paths, means, first)
			}
		}
		got, notes := map[string]string{}, 0
		alone := require.Value(Examine(t.Context(), []string{one}, Options{}))(t)
		profile := require.Value(alone.Profile(t.Context(), Options{Label: "y"}))(t)
		for _, c := range profile.Columns {
			got[c.Name], notes = c.Becomes, notes+len(c.Notes)
		}
		if got["v"] != "left out: no value" || got["x"] != "number" {
			t.Errorf("%s becomes %v", one, got)
		}
	}
}

// TestDigitsOfDecimals: decimals with more digits than float64 has make no classes, categories or groups that merge.
func TestDigitsOfDecimals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.parquet")
	typ := &arrow.Decimal128Type{Precision: 18, Scale: 2}
	writeNested(t, path, record(t, field("k", typ, repeated(30, `"1234567890123456.70"`, `"1234567890123456.71"`, `"1234567890123456.72"`)),
		field("c", typ, repeated(30, `"1.50"`, `"2.00"`)), field("x", arrow.PrimitiveTypes.Float64, repeated(30, "1", "2.5", "7", "3")),
		field("y", arrow.BinaryTypes.String, repeated(30, `"a"`, `"b"`))), 30)
	for _, opt := range []Options{{Label: "k", Prepare: true}, {Label: "y", Prepare: true, Types: []string{"k=category"}}} {
		_, err := Load(t.Context(), path, opt)
		if err == nil || !strings.Contains(err.Error(), `column "k"`) || !strings.Contains(err.Error(), "more digits") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	data := require.Value(Load(t.Context(), path, Options{Label: "c", Prepare: true, Exclude: []string{"k"}}))(t)
	if got := fmt.Sprint(data.Spec().Classes); got != "[1.5 2]" {
		t.Errorf("classes %s", got)
	}
	ranks := require.Value(Options{Label: "y", RankBy: "k"}.Ranks(t.Context(), []string{path}, "k", false))(t)
	if got := fmt.Sprint(ranks[:6]); got != "[0 1 2 0 1 2]" {
		t.Errorf("ranks %s", got)
	}
}

// TestLargeIntegers: integers that are one float64 are no column of one value.
func TestLargeIntegers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "i.parquet")
	writeNested(t, path, record(t, field("k", arrow.PrimitiveTypes.Int64, repeated(30, "4611686018427387905", "4611686018427387907", "4611686018427387906")),
		field("one", arrow.PrimitiveTypes.Int64, repeated(30, "4611686018427387905")), field("x", arrow.PrimitiveTypes.Float64, repeated(30, "1", "2.5", "7", "3")),
		field("y", arrow.BinaryTypes.String, repeated(30, `"a"`, `"b"`))), 30)
	table := require.Value(Examine(t.Context(), []string{path}, Options{}))(t)
	profile := require.Value(table.Profile(t.Context(), Options{Label: "y"}))(t)
	got := map[string]string{}
	for _, c := range profile.Columns {
		got[c.Name] = c.Becomes
	}
	if got["k"] != "number" || got["one"] != "left out: one value" {
		t.Errorf("becomes %v", got)
	}
}

// TestPreparedDictionary: a dictionary of numbers, as pandas writes categories of numbers, is a column of numbers.
func TestPreparedDictionary(t *testing.T) {
	dir := t.TempDir()
	numbers, dictionary := filepath.Join(dir, "n.arrow"), filepath.Join(dir, "d.arrow")
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}
	y := field("y", arrow.BinaryTypes.String, repeated(30, `"a"`, `"b"`))
	writeNested(t, numbers, record(t, field("v", arrow.PrimitiveTypes.Int64, repeated(30, "4", "5", "9")), y), 30)
	writeNested(t, dictionary, record(t, field("v", typ, repeated(30, "4", "5", "9")), y), 30)
	want := require.Value(Load(t.Context(), numbers, Options{Label: "y", Prepare: true}))(t)
	got := require.Value(Load(t.Context(), dictionary, Options{Label: "y", Prepare: true}))(t)
	for b, err := range got.Blocks(t.Context()) {
		require.NoError(t, err)
		for w, err := range want.Blocks(t.Context()) {
			require.NoError(t, err)
			if !reflect.DeepEqual(b.X, w.X) {
				t.Errorf("rows %v, want %v", b.X, w.X)
			}
		}
	}
}
