package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
)

// TestBudgetLimit: the limit of the garbage collector leaves room for the descriptions of the columns. Of a few sparse
// rows with many columns these are most of the memory.
func TestBudgetLimit(t *testing.T) {
	for _, c := range []struct {
		rows, each int64
		cols       int
	}{{1000, 1000, 10}, {1000, 1000, 1 << 20}, {1 << 20, 1000, 1 << 10}} {
		got := int64(math.MaxInt64)
		b := Budget{Memory: 1 << 40, SetLimit: func(bytes int64) { got = bytes }}
		fits, err := b.fits(c.rows, c.cols, columnPageBytes*int64(c.cols), func(rows int64) int64 { return rows * c.each })
		if least := c.rows*c.each + 400*int64(c.cols); !fits || err != nil || got < least {
			t.Errorf("%+v: fits %t, error %v, limit %d, want %d or more", c, fits, err, got, least)
		}
	}
}

// TestPagesMemory: the memory of pages is that of the columns of the row groups that are read at the same time, also where rows
// are chosen. Other inputs have an amount for each column.
func TestPagesMemory(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	parquet, text := filepath.Join(dir, "x.parquet"), filepath.Join(dir, "x.csv")
	mixedFile(t, parquet, 10*block.ChunkRows, 1)
	require.NoError(t, os.WriteFile(text, []byte("a,b,none,class\n1,2,3,x\n3,5,4,y\n"), 0o600))
	memory := func(path string, opt Options) int64 {
		opt.Label, opt.Nulls, opt.Workers, opt.Exclude = "class", "mean", 1, []string{"none"}
		return require.Value(require.Value(Examine(ctx, []string{path}, opt))(t).Plan(ctx, opt))(t).pagesMemory()
	}
	whole, size := memory(parquet, Options{}), require.Value(os.Stat(parquet))(t).Size()
	if whole < size/20 || whole > 20*size { // the pages of a few columns, compressed and decompressed
		t.Errorf("%d bytes of pages of a file of %d", whole, size)
	}
	for name, opt := range map[string]Options{"limit": {Limit: 20}, "sample": {Sample: 0.5}} {
		if got := memory(parquet, opt); got != whole {
			t.Errorf("%s: %d bytes, not %d", name, got, whole)
		}
	}
	if got := memory(text, Options{}); got != 3*columnPageBytes { // with the bias
		t.Errorf("text: %d bytes", got)
	}
}

// TestOpen: the budget alone says whether rows are in memory, stream, or lie in a temporary or a named cache. They are the
// same rows, and a fold learns its features anew in each.
func TestOpen(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "x.parquet")
	opt := Options{Label: "class", Nulls: "mean", Standardize: true, Exclude: []string{"none"}, Memory: 64 << 20}
	mixedFile(t, path, 10*block.ChunkRows+9, 1)
	evenRows := func() []func(class int) bool {
		n := 0
		return []func(class int) bool{func(int) bool { n++; return n%2 == 0 }}
	}
	open := func(b Budget) (kind string, values []float32, mean float64) {
		rows := require.Value(Open(ctx, []string{path}, opt, b))(t)
		defer rows.Close()
		half := require.Value(require.Value(rows.Refit(ctx, evenRows()))(t)[0](ctx))(t)
		for b, err := range rows.Blocks(ctx) {
			require.NoError(t, err)
			for r := range b.Len() {
				row := make([]float32, b.Cols)
				b.Row(r, row)
				values = append(values, row...)
			}
		}
		return fmt.Sprintf("%T", rows.Source), values, half.Spec().Preprocessing.Columns[0].Center[0]
	}
	_, want, mean := open(Budget{})
	b := Budget{Memory: 5 << 28, Beside: func(int64, int, func(int64) int64) int64 { return 1 << 30 }}
	order, named := b, b
	order.InOrder, named.Cache = true, filepath.Join(t.TempDir(), "x.cache")
	kinds := ""
	for _, b := range []Budget{{Memory: 1 << 40}, b, order, named, named} {
		kind, values, half := open(b)
		if kinds += kind + " "; !slices.Equal(values, want) || half != mean {
			t.Errorf("%+v: other rows, or the mean of half of them is %v, want %v", b, half, mean)
		}
	}
	if want := "*block.Data *cache.File *dataset.Stream *cache.File *cache.File "; kinds != want {
		t.Errorf("rows are %s, want %s", kinds, want)
	}
	b.Passes = func(_, _, room int64, _ func(int64) int64) int64 { return room + 1 }
	if _, err := Open(ctx, []string{path}, opt, b); err == nil || !strings.Contains(err.Error(), "of memory is too little") {
		t.Errorf("with too little memory: error %v", err)
	}
}
