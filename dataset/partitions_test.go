package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/require"
)

// TestPartitions: the folders of files name columns, which become the same features as columns of a file with all rows, in each format.
func TestPartitions(t *testing.T) {
	dir := t.TempDir()
	for _, ext := range []string{"parquet", "csv", "arrow"} {
		flat := []string{"x,day,country,n,y"}
		root := filepath.Join(dir, ext)
		for i, country := range []string{"de", "fr", "it's a%2Fb", ""} {
			text := []string{"x,y"}
			for r := range 40 {
				text = append(text, fmt.Sprintf("%d,%d", r*r%17, (r+i)%2))
				flat = append(flat, fmt.Sprintf("%d,2026-01-%02d,%s,%d,%d", r*r%17, 1+i, strings.ReplaceAll(country, "%2F", "/"), 10*i, (r+i)%2))
			}
			name := country
			if country == "" {
				name = source.Null
			}
			folder := filepath.Join(root, fmt.Sprintf("day=2026-01-%02d", 1+i), "country="+name, fmt.Sprint("n=", 10*i))
			require.NoError(t, os.MkdirAll(folder, 0o700))
			source := filepath.Join(dir, "part.csv")
			put(t, source, []byte(strings.Join(text, "\n")+"\n"))
			_, err := Convert(t.Context(), []string{source}, filepath.Join(folder, "a."+ext), Options{}, WriterOptions{})
			require.NoError(t, err)
		}
		whole := filepath.Join(dir, "whole.csv")
		put(t, whole, []byte(strings.Join(flat, "\n")+"\n"))
		for _, opt := range []Options{{Prepare: true}, {Prepare: true, Standardize: true, Where: "day > '2026-01-01' and country is not null"}, {Prepare: true, Label: "country"}} {
			if opt.Label == "" {
				opt.Label = "y"
			}
			got := require.Value(Load(t.Context(), root, opt))(t)
			want := require.Value(Load(t.Context(), whole, opt))(t)
			features := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
			if a, b := features(got.Spec().Features), features(want.Spec().Features); !slices.Equal(a, b) || got.Rows() != want.Rows() {
				t.Errorf("%s: %d rows of %q, want %d of %q", ext, got.Rows(), a, want.Rows(), b)
				continue
			}
			a, _ := rowsOf(t, got)
			b, _ := rowsOf(t, want)
			for i := range a {
				for k, name := range got.Spec().Features {
					if at := slices.Index(want.Spec().Features, name); a[i][k] != b[i][at] {
						t.Fatalf("%s, row %d: %s is %v, want %v", ext, i, name, a[i][k], b[i][at])
					}
				}
			}
			again := require.Value(planOf(t.Context(), []string{root}, Options{Label: opt.Label, Spec: got.Spec(), Where: opt.Where, Prepare: true}, memory.DefaultAllocator))(t)
			if err := sameBlocks(blocksOf(t, require.Value(again.Load(t.Context()))(t)), blocksOf(t, got)); err != nil {
				t.Errorf("%s: with the model's Spec: %v", ext, err)
			}
		}
		rows := int64(0)
		rows, err := Convert(t.Context(), []string{root}, filepath.Join(dir, "all.csv"), Options{Where: "n >= 20"}, WriterOptions{})
		require.NoError(t, err)
		if head, _, _ := strings.Cut(string(contents(t, filepath.Join(dir, "all.csv"))), "\n"); rows != 80 || head != "x,y,day,country,n" {
			t.Errorf("%s: %d rows, columns %s", ext, rows, head)
		}
	}
}

// TestFolderAndFile: a column that the file and its folder have is one column of the file's type if each value is the
// folder's, and an error otherwise.
func TestFolderAndFile(t *testing.T) {
	p := arrow.PrimitiveTypes
	dictionary := &arrow.DictionaryType{IndexType: p.Int8, ValueType: arrow.BinaryTypes.String}
	ms := &arrow.TimestampType{Unit: arrow.Millisecond}
	for _, c := range []struct {
		folder, values string
		typ            arrow.DataType
		bad            string // the value that differs
	}{
		{"1", "[1, 1]", p.Int64, ""}, {"1", "[1, 2]", p.Int64, `"2"`}, {"01", "[1, 1]", p.Int8, ""}, {"1.0", "[1, 1]", p.Uint16, ""},
		{"9007199254740993", "[9007199254740993, 9007199254740993]", p.Int64, ""}, {"9007199254740993", "[9007199254740993, 9007199254740992]", p.Int64, `"9007199254740992"`},
		{"0.1", "[0.1, 0.1]", p.Float64, ""}, {"0.1", "[0.1, 0.1]", p.Float32, ""}, {"0.1", "[0.1, 0.2]", p.Float32, `"0.2"`}, {"x", "[0.1, 0.1]", p.Float64, `"0.1"`},
		{"a%20b", `["a b", "a b"]`, arrow.BinaryTypes.String, ""}, {"a", `["a", "A"]`, arrow.BinaryTypes.String, `"A"`}, {"01", `["01", "1"]`, arrow.BinaryTypes.String, `"1"`},
		{"a", `["a", "b"]`, dictionary, `"b"`}, {"a", `["a", "a"]`, dictionary, ""},
		{"true", "[true, true]", arrow.FixedWidthTypes.Boolean, ""}, {"true", "[true, false]", arrow.FixedWidthTypes.Boolean, `"false"`},
		{"2026-01-31", `["2026-01-31", "2026-01-31"]`, p.Date32, ""}, {"2026-01-31", `["2026-01-31", "2026-02-01"]`, p.Date32, `"2026-02-01"`},
		{"2026-01-31 10%3A00%3A00", `["2026-01-31 10:00:00", "2026-01-31 10:00:00"]`, ms, ""},
		{source.Null, "[null, null]", p.Int64, ""}, {source.Null, "[null, 1]", p.Int64, `"1"`}, {"1", "[1, null]", p.Int64, "null"},
	} {
		for _, name := range []string{"a.parquet", "a.arrow"} {
			folder := filepath.Join(t.TempDir(), "k="+c.folder)
			require.NoError(t, os.Mkdir(folder, 0o700))
			path := filepath.Join(folder, name)
			writeNested(t, path, record(t, field("k", c.typ, c.values), field("x", p.Int64, "[1, 2]")), 10)
			all, err := table(t, Options{}, path)
			switch want := fmt.Sprintf(`%s: column "k" is %s in the file, and `, path, c.bad); {
			case c.bad != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
				t.Errorf("k=%s, %s %s: %v, want %s", c.folder, c.typ, c.values, err, want)
			case c.bad == "" && (err != nil || all.NumCols() != 2 || all.Schema().Field(0).Name != "k" || column.Describe(all.Schema().Field(0).Type) != column.Describe(c.typ)):
				t.Errorf("k=%s, %s %s: %v, %v", c.folder, c.typ, c.values, all, err)
			}
		}
	}
}
