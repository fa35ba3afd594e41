package dataset_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/dataset"
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

// TestRowsLikeFiles: rows from memory and from a CSV file of the same values give equal blocks and fingerprints.
func TestRowsLikeFiles(t *testing.T) {
	for _, n := range []int{2, 5000, block.Rows(30) + 5} { // the last makes two blocks
		likeFile(t, n, labels(n, 2, -7), block.RowOptions{})
	}
	const n = 300
	likeFile(t, n, labels(n, "b", "a b", "c"), block.RowOptions{})
	likeFile(t, n, labels(n, true, false), block.RowOptions{NoBias: true})
	likeFile(t, n, labels(n, 0.5, 1e300, 3), block.RowOptions{Label: "kind"})
	likeFile(t, n, labels(n, "yes!", "no!"), block.RowOptions{Positive: "no!"})
	likeFile(t, n, labels[uint8](n, 3, 250), block.RowOptions{Features: strings.Split(strings.Repeat("x", 29), "")})
}

func likeFile[L block.Label](t *testing.T, n int, y []L, opt block.RowOptions) {
	t.Helper()
	const width = 29
	x, flat, weights := rows(n, width)
	for i := range opt.Features {
		opt.Features[i] += strconv.Itoa(i)
	}
	if n == 300 {
		opt.Weights = weights
	}
	ctx := context.Background()
	want := load(t, x, y, opt)
	fromRows, err := block.FromRows(x, y, opt)
	if err != nil {
		t.Fatal(err)
	}
	fromFlat, err := block.FromFlat(flat, width, y, opt)
	if err != nil {
		t.Fatal(err)
	}
	generated, err := block.FromGenerator(ctx, generate(x, y), opt)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // passes
		for _, got := range []block.Source{fromRows, fromFlat, generated} {
			same(t, got, want)
			if checked, err := block.Check(ctx, got, 1); err != nil || checked != got {
				t.Errorf("Check returns another source, error %v", err)
			}
		}
	}
}

// load writes rows to a CSV file, and loads it.
func load[L block.Label](t *testing.T, x [][]float64, y []L, opt block.RowOptions) *block.Data {
	t.Helper()
	label := "label"
	if opt.Label != "" {
		label = opt.Label
	}
	names := make([]string, len(x[0]))
	for i := range names {
		names[i] = fmt.Sprint("c", i+1)
	}
	if opt.Features != nil {
		names = opt.Features
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s,weight,%s\n", strings.Join(names, ","), label)
	for r, row := range x {
		for _, v := range row {
			text.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + ",")
		}
		weight := 1.0
		if opt.Weights != nil {
			weight = opt.Weights[r]
		}
		fmt.Fprintf(&text, "%v,%v\n", weight, y[r])
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	with := dataset.Options{Label: label, NoBias: opt.NoBias, Positive: opt.Positive, Exclude: []string{"weight"}}
	if opt.Weights != nil {
		with.SampleWeight, with.Exclude = "weight", nil
	}
	data, err := dataset.Load(context.Background(), []string{path}, with)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// same compares the specs, blocks and fingerprints of two sources.
func same(t *testing.T, got, want block.Source) {
	t.Helper()
	ctx := context.Background()
	if !reflect.DeepEqual(got.Spec(), want.Spec()) || got.Rows() != want.Rows() {
		t.Fatalf("%d rows of %+v, want %d of %+v", got.Rows(), got.Spec(), want.Rows(), want.Spec())
	}
	var blocks []*block.Block
	for b, err := range want.Blocks(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	n := 0
	for b, err := range got.Blocks(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(blocks) || b.First != blocks[n].First || b.Cols != blocks[n].Cols || b.Stride != blocks[n].Stride ||
			!slices.Equal(b.X, blocks[n].X) || !slices.Equal(b.Y, blocks[n].Y) || !slices.Equal(b.W, blocks[n].W) {
			t.Fatalf("block %d of %d differs", n, len(blocks))
		}
		n++
	}
	if n != len(blocks) {
		t.Errorf("%d blocks, want %d", n, len(blocks))
	}
	print, err := block.Fingerprint(ctx, got, 2)
	if file, fail := block.Fingerprint(ctx, want, 2); err != nil || fail != nil || print != file {
		t.Errorf("fingerprint %s, error %v; of the file %s, error %v", print, err, file, fail)
	}
}
