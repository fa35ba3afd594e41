package dataset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A partTable is the rows of a file: a JSON value for each column that the file has.
type partTable struct {
	names []string
	rows  [][]string
	k     string // of the folder k=...; "": the file is in no such folder
}

// randomParts returns tables with some of the columns each, in any order; all have y.
func randomParts(rng *rand.Rand, constants bool) (parts []partTable) {
	for p := range 2 + rng.IntN(4) {
		part := partTable{names: []string{"y", "a"}}
		for _, name := range []string{"b", "c", "d"} {
			if rng.IntN(3) > 0 {
				part.names = append(part.names, name)
			}
		}
		rng.Shuffle(len(part.names), func(i, j int) { part.names[i], part.names[j] = part.names[j], part.names[i] })
		if constants && p > 0 {
			part.k = fmt.Sprint(rng.IntN(3))
		}
		for r := range rng.IntN(40) {
			var row []string
			for _, name := range part.names {
				v := map[string]string{"y": fmt.Sprint((r + p) % 2), "a": fmt.Sprint(rng.IntN(9)), "b": fmt.Sprintf("%.2f", rng.Float64()), "c": fmt.Sprintf(`"t%d"`, rng.IntN(3)), "d": fmt.Sprint(rng.IntN(2) == 0)}[name]
				if name != "y" && rng.IntN(8) == 0 {
					v = "null"
				}
				row = append(row, v)
			}
			part.rows = append(part.rows, row)
		}
		for i := range 2 { // each has a row, with a value in each column
			row := make([]string, len(part.names))
			for k, name := range part.names {
				row[k] = map[string]string{"y": fmt.Sprint(i), "a": "1", "b": "0.5", "c": `"t0"`, "d": "true"}[name]
			}
			part.rows = append([][]string{row}, part.rows...)
		}
		parts = append(parts, part)
	}
	return parts
}

// write writes a table as JSON Lines to a folder, and converts it to the format of an extension.
func (p *partTable) write(t *testing.T, dir, name, ext string) string {
	t.Helper()
	var text strings.Builder
	for _, row := range p.rows {
		var fields []string
		for k, v := range row {
			fields = append(fields, fmt.Sprintf("%q:%s", p.names[k], v))
		}
		fmt.Fprintf(&text, "{%s}\n", strings.Join(fields, ","))
	}
	path := filepath.Join(t.TempDir(), name+".jsonl")
	put(t, path, []byte(text.String()))
	if p.k != "" {
		dir = filepath.Join(dir, "k="+p.k)
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	to := filepath.Join(dir, name+ext)
	_, err := Convert(t.Context(), []string{path}, to, Options{}, WriterOptions{RowGroupRows: 7})
	require.NoError(t, err)
	return to
}

// joined returns the rows of all parts with all columns, in the order in which the parts have them.
func joined(parts []partTable) (all partTable) {
	for _, p := range parts {
		for _, name := range p.names {
			if !slices.Contains(all.names, name) {
				all.names = append(all.names, name)
			}
		}
	}
	if slices.ContainsFunc(parts, func(p partTable) bool { return p.k != "" }) {
		all.names = append(all.names, "k")
	}
	for _, p := range parts {
		for _, row := range p.rows {
			whole := slices.Repeat([]string{"null"}, len(all.names))
			for k, name := range p.names {
				whole[slices.Index(all.names, name)] = row[k]
			}
			if at := slices.Index(all.names, "k"); at >= 0 && p.k != "" {
				whole[at] = p.k
			}
			all.rows = append(all.rows, whole)
		}
	}
	return all
}

// TestUnion: files that lack columns give the rows of one file with all columns, whose values are null there: loaded,
// streamed and in ranges, by any number of workers, and with a model.
func TestUnion(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		parts := randomParts(rng, seed%2 == 1)
		whole := joined(parts)
		for _, ext := range []string{".csv", ".jsonl", ".parquet", ".arrow"} {
			dir := t.TempDir()
			one := whole.write(t, dir, "whole", ext)
			var paths []string
			for i, p := range parts {
				paths = append(paths, p.write(t, dir, fmt.Sprint("part", i), ext))
			}
			for i, opt := range []Options{
				{Prepare: true}, {Prepare: true, Standardize: true, Where: "a > 2 or b is null"}, {Nulls: "drop", Categorical: "onehot"}, {Nulls: "mean", Exclude: []string{"c"}, Where: "c = 't1' or d is null"},
				{Nulls: "zero", Features: []string{"d", "a"}, Where: "c is null"}, {Nulls: "zero", Cross: []string{"c,d"}},
			} {
				if opt.Label = "y"; i == 1 && seed%2 == 1 {
					opt.Where = "k is null or k > 0"
				}
				opt.Workers = 1 + rng.IntN(3)
				want, bad := loadAll(t.Context(), []string{one}, opt)
				got, err := loadAll(t.Context(), paths, opt)
				if bad != nil || err != nil {
					if (bad == nil) != (err == nil) {
						t.Errorf("seed %d, %s, options %d: error %v, want %v", seed, ext, i, err, bad)
					}
					continue
				}
				if a, b := require.Value(json.Marshal(got.Spec()))(t), require.Value(json.Marshal(want.Spec()))(t); string(a) != string(b) {
					t.Errorf("seed %d, %s, options %d:\n%s, want\n%s", seed, ext, i, a, b)
					continue
				}
				wanted := blocksOf(t, want)
				if err := sameBlocks(blocksOf(t, got), wanted); err != nil {
					t.Errorf("seed %d, %s, options %d: %v", seed, ext, i, err)
				}
				opt.Spec = want.Spec()
				in := require.Value(planOf(t.Context(), paths, opt, memory.DefaultAllocator))(t)
				if err := sameBlocks(blocksOf(t, require.Value(in.Load(t.Context()))(t)), wanted); err != nil {
					t.Errorf("seed %d, %s, options %d, with the model: %v", seed, ext, i, err)
				}
				shared := in.Shared(want.Spec())
				t.Chdir(t.TempDir())
				in = require.Value(shared.Plan(t.Context(), 0))(t)
				if err := sameBlocks(require.Value(in.LoadRange(t.Context(), 0, want.Rows(), want.Rows()))(t), wanted); err != nil {
					t.Errorf("seed %d, %s, options %d, in another process: %v", seed, ext, i, err)
				}
			}
			got := require.Value(table(t, Options{}, paths...))(t)
			if want := require.Value(table(t, Options{}, one))(t); show(got) != show(want) {
				t.Errorf("seed %d, %s: %s\nwant %s", seed, ext, show(got), show(want))
			}
		}
	}
}

// TestTables: files with equal columns are read as one table, and a file without a column of the others is an error.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": "x,y\n1,0\n", "b.csv": "z,w\n1,2\n", "c.csv": "y,z\n1,2\n", "d.csv": "1,2\n3,4\n"} {
		put(t, filepath.Join(dir, name), []byte(text))
	}
	for _, c := range []struct{ names, want string }{
		{"a b", "DIR/a.csv: no column of the file is in another file: name files of one table (columns: x, y)"},
		{"a a b", "DIR/b.csv: no column of the file is in another file: name files of one table (columns: z, w)"},
		{"a c d", "DIR/d.csv: no column of the file is in another file: name files of one table (columns: c1, c2)"},
		{"a b c", ""}, {"c b a", ""},
	} {
		var paths []string
		for _, name := range strings.Fields(c.names) {
			paths = append(paths, filepath.Join(dir, name+".csv"))
		}
		_, err := loadAll(t.Context(), paths, Options{Nulls: "zero", Label: "y", Prepare: true})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.names, err)
			}
			continue
		}
		wantError(t, err, dir, c.want)
	}
}
