package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

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
				name = nullPartition
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
			again := require.Value(Open(t.Context(), []string{root}, Options{Label: opt.Label, Spec: got.Spec(), Where: opt.Where, Prepare: true}))(t)
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

// TestPartitionTypes: the values of a partition in all paths decide on its type, and a file whose folders don't name it has nulls.
func TestPartitionTypes(t *testing.T) {
	p := partitionsOf([]string{"/data/a=1/b=x/c=2026-01-02/d=1.5/e=007/f.parquet", "/data/a=-20/b=y%20z/d=2/e=8/f=no.parquet"})
	want := map[string]arrow.DataType{"a": arrow.PrimitiveTypes.Int64, "b": arrow.BinaryTypes.String, "c": arrow.PrimitiveTypes.Date32, "d": arrow.PrimitiveTypes.Float64, "e": arrow.BinaryTypes.String}
	for k, c := range p.columns {
		if !arrow.TypeEqual(c.Type, want[c.Name]) {
			t.Errorf("%s is %v, want %v", c.Name, c.Type, want[c.Name])
		}
		delete(want, c.Name)
		if a := p.array(k, "/data/a=-20/b=y%20z/d=2/e=8/f=no.parquet", 2); a.Len() != 2 || a.ValueStr(1) != map[string]string{"a": "-20", "b": "y z", "c": "(null)", "d": "2", "e": "8"}[c.Name] {
			t.Errorf("%s has the values %v", c.Name, a)
		}
	}
	if len(want) > 0 || partitionsOf([]string{"/a/b.parquet", "x=1.csv"}) != nil {
		t.Errorf("left out: %v", want)
	}
}
