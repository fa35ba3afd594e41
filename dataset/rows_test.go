package dataset

import (
	"fmt"
	"math"
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
		fits, err := b.fits(c.rows, c.cols, pageBytes*int64(c.cols), func(rows int64) int64 { return rows * c.each })
		if least := c.rows*c.each + 400*int64(c.cols); !fits || err != nil || got < least {
			t.Errorf("%+v: fits %t, error %v, limit %d, want %d or more", c, fits, err, got, least)
		}
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
