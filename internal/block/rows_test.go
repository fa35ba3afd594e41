package block_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/schema"
)

// rows returns random rows, flat and one by one, with weights.
func rows(n, width int) (x [][]float64, flat, weights []float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		row := make([]float64, width)
		for i := range row {
			row[i] = rng.NormFloat64() * 1e3
		}
		x, flat, weights = append(x, row), append(flat, row...), append(weights, float64(rng.IntN(3)))
	}
	return x, flat, weights
}

// generate returns a generator of rows that reuses the memory of a row.
func generate[L block.Label](x [][]float64, y []L) func(yield func(x []float64, label L) bool) error {
	return func(yield func([]float64, L) bool) error {
		row := make([]float64, len(x[0]))
		for r := range x {
			if !yield(row[:copy(row, x[r])], y[r]) {
				return nil
			}
		}
		return nil
	}
}

// labels returns n labels of those classes.
func labels[L block.Label](n int, classes ...L) []L {
	y := make([]L, n)
	for r := range y {
		y[r] = classes[r*r%7%len(classes)]
	}
	return y
}

// TestRowErrors: a wrong row of a program is an error that says where it is and what to do.
func TestRowErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good, y := [][]float64{{1, 2}, {3, 4}, {5, 6}}, []int{0, 1, 0}
	for _, c := range []struct {
		x    [][]float64
		y    []int
		opt  block.RowOptions
		want string
	}{
		{nil, nil, block.RowOptions{}, "there are no rows: give some"},
		{good, y[:2], block.RowOptions{}, "2 labels for 3 rows: give one for each"},
		{[][]float64{{1, 2}, {3, 4}, {5}}, y, block.RowOptions{}, "row 2: it has the length 1, and row 0 has 2: give all rows the same features"},
		{[][]float64{{}, {}, {}}, y, block.RowOptions{}, "no features: change the names"},
		{[][]float64{{1, 2}, {3, nan}, {nan, 6}}, y, block.RowOptions{},
			`column "c2", row 1: NaN is not a finite number: leave the row out, or fill in a number`},
		{[][]float64{{1, 2}, {3, 4}, {-inf, 6}}, y, block.RowOptions{Features: []string{"age", "size"}},
			`column "age", row 2: -Inf is not a finite number: leave the row out, or fill in a number`},
		{[][]float64{{1, 2}, {3, -1e39}, {5, 6}}, y, block.RowOptions{},
			`column "c2", row 1: -1e+39 is too large for float32: divide the column, or standardize it`},
		{good, []int{7, 7, 7}, block.RowOptions{}, "7 is the only class: add rows of another class"},
		{good, y, block.RowOptions{Positive: "2"}, `no class is "2": the classes are 0, 1`},
		{good, y, block.RowOptions{Features: []string{"a"}}, "1 names for 2 features: give one for each, or leave Features nil"},
		{good, y, block.RowOptions{Features: []string{"a", "a"}}, `feature "a" is there twice: change the names`},
		{good, y, block.RowOptions{Label: "c1"}, `feature "c1" is the label's column too: change the names`},
		{good, y, block.RowOptions{Weights: []float64{1}}, "1 weights for 3 rows: give one for each, or leave Weights nil"},
		{good, y, block.RowOptions{Weights: []float64{1, -2, 1}}, "row 1: the weight is -2: sample weights are finite numbers of 0 or more"},
		{good, y, block.RowOptions{Weights: []float64{1, 1, inf}}, "row 2: the weight is +Inf: sample weights are finite numbers of 0 or more"},
		{good, y, block.RowOptions{Weights: []float64{0, 0, 0}}, "every row has the weight 0: give some a greater one"},
	} {
		if _, err := block.FromRows(c.x, c.y, c.opt); err == nil || err.Error() != c.want {
			t.Errorf("%v: error %v, want %s", c.x, err, c.want)
		}
		if len(c.x) > 0 && len(c.x) == len(c.y) {
			if _, err := block.FromGenerator(context.Background(), generate(c.x, c.y), c.opt); err == nil || err.Error() != c.want {
				t.Errorf("%v from a generator: error %v, want %s", c.x, err, c.want)
			}
		}
	}
	row := (*block.RowError)(nil)
	if _, err := block.FromRows([][]float64{{1, 2}, {3, nan}}, y[:2], block.RowOptions{}); !errors.As(err, &row) || row.Row != 1 || row.Column != "c2" {
		t.Errorf("%v: %+v has not the place of the value", err, row)
	}
	many := make([][]float64, schema.MaxClasses+1)
	ids := make([]int, len(many))
	for r := range many {
		many[r], ids[r] = []float64{1}, r
	}
	failed := func(_ *block.Data, err error) error { return err }
	for want, err := range map[string]error{
		"3 numbers don't make rows of 2 features: width is the number of features":               failed(block.FromFlat([]float64{1, 2, 3}, 2, y, block.RowOptions{})),
		"row 1: the label is NaN: fill in a finite number, or leave the row out":                 failed(block.FromRows(good, []float64{1, nan, 1}, block.RowOptions{})),
		`row 2: the label "\xff" is not valid UTF-8`:                                             failed(block.FromRows(good, []string{"a", "b", "\xff"}, block.RowOptions{})),
		"row 2: a text of 16385 bytes, and a label has at most 16384: use a short text for each": failed(block.FromRows(good, []string{"a", "b", strings.Repeat("c", schema.MaxText+1)}, block.RowOptions{})),
		"row 1000: more than 1000 classes (0, 1, ":                                               failed(block.FromRows(many, ids, block.RowOptions{})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// changing makes rows as its fields say.
type changing struct {
	x   [][]float64
	y   []string
	n   int // rows; those beyond x begin again
	err error
}

func (c *changing) rows(yield func([]float64, string) bool) error {
	for r := range c.n {
		if i := r % len(c.x); !yield(c.x[i], c.y[i]) {
			return nil
		}
	}
	return c.err
}

// passed makes a pass over a source.
func passed(ctx context.Context, src block.Source) (rows int, err error) {
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return rows, err
		}
		rows += b.Len()
	}
	return rows, nil
}

// TestGenerator: a generator's own error ends a pass, and so does the context.
func TestGenerator(t *testing.T) {
	x, _, _ := rows(10_000, 200)
	g := &changing{x: x, y: labels(len(x), "a", "b"), n: len(x)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src, err := block.FromGenerator(ctx, g.rows, block.RowOptions{})
	require.NoError(t, err)
	if n, err := passed(ctx, src); err != nil || n != len(x) {
		t.Fatalf("%d rows, error %v", n, err)
	}
	for range src.Blocks(ctx) {
		break // the generator is told to stop
	}
	g.n, g.err = len(x)/2, errors.New("broken")
	if _, err := passed(ctx, src); err != g.err {
		t.Errorf("error %v", err)
	}
	if _, err := block.FromGenerator(ctx, g.rows, block.RowOptions{}); err != g.err {
		t.Errorf("error %v in the first pass", err)
	}
	g.n, g.err = len(x), nil
	cancel()
	if _, err := passed(ctx, src); err != context.Canceled {
		t.Errorf("error %v after the context was cancelled", err)
	}
	if _, err := block.FromGenerator(ctx, g.rows, block.RowOptions{}); err != context.Canceled {
		t.Errorf("error %v in the first pass after the context was cancelled", err)
	}
}

// TestGeneratorChanges: a generator that makes other rows than in its first pass gives an error that names the first of
// them.
func TestGeneratorChanges(t *testing.T) {
	x, _, _ := rows(10_000, 20)
	g := &changing{x: x, y: labels(len(x), "a", "b"), n: len(x)}
	ctx := context.Background()
	src, err := block.FromGenerator(ctx, g.rows, block.RowOptions{})
	require.NoError(t, err)
	for want, change := range map[string]func(){
		"row 10000: the rows differ from those of the first pass: each pass must have the same":               func() { g.n++ },
		"row 9999: it is missing: the rows differ from those of the first pass: each pass must have the same": func() { g.n-- },
		"row 7: the rows differ from those of the first pass: each pass must have the same":                   func() { g.y[7] = "c" },
		"row 9: it has the length 1, and row 0 has 20: give all rows the same features":                       func() { g.x[9] = []float64{1} },
	} {
		before := changing{slices.Clone(g.x), slices.Clone(g.y), g.n, nil}
		change()
		if _, err := passed(ctx, src); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		*g = before
	}
}

// TestChunkSums: dense and sparse storage have the same sums, on any number of workers. A changed value, label or
// weight changes the sum of its chunk alone.
func TestChunkSums(t *testing.T) {
	const rows = 2*block.ChunkRows + 100
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r], y[r] = []float64{float64(rng.IntN(3)), 0, rng.NormFloat64()}, float64(2*rng.IntN(2)-1)
	}
	sums := func(src block.Source, workers int) [][sha256.Size]byte {
		s, err := block.ChunkSums(t.Context(), src, workers)
		if err != nil || len(s) != 3 {
			t.Fatalf("%d sums, error %v", len(s), err)
		}
		return s
	}
	data := testproblems.Dense(x, y, true)
	want := sums(data, 1)
	if got := sums(testproblems.Sparse(data), 2); !slices.Equal(got, want) {
		t.Error("sparse rows have other sums than dense ones")
	}
	const at = block.ChunkRows + 17
	for name, change := range map[string]func(b *block.Block, r int){
		"value":  func(b *block.Block, r int) { b.X[r*b.Stride+2]++ },
		"label":  func(b *block.Block, r int) { b.Y[r] = -b.Y[r] },
		"weight": func(b *block.Block, r int) { b.W = slices.Repeat([]float64{1}, b.Len()); b.W[r] = 2 },
	} {
		changed := testproblems.Dense(x, y, true)
		for b := range changed.Blocks(t.Context()) {
			if r := int(at - b.First); r >= 0 && r < b.Len() {
				change(b, r)
			}
		}
		for chunk, sum := range sums(changed, 2) {
			if (sum != want[chunk]) != (chunk == 1) {
				t.Errorf("another %s of row %d: chunk %d", name, at, chunk)
			}
		}
	}
}
