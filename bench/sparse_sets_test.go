package bench

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/train/learner"
)

// A sparseSet is rows of two classes, which write writes in svmlight. The error is fs.ErrNotExist if the data are not
// beside the repository.
type sparseSet struct {
	name  string
	write func(path string) error
}

func sparseSets() []sparseSet {
	const shared = "../../shared/data/"
	return []sparseSet{
		{"a9a", func(path string) error { return unzip(shared+"a9a.svm.gz", path) }},
		{"MNIST, 8 against the rest", func(path string) error {
			data, err := mnist(shared+"mnist", "train", 60_000)
			if err != nil {
				return err
			}
			return writeSvm(path, svmRows(learner.VersusRest(data, 8).(*block.Data), nil))
		}},
		{"KDD Cup 1999, one-hot, normal against the rest", func(path string) error {
			opt := dataset.Options{Label: "last", Categorical: "onehot", NoBias: true, Storage: dataset.Dense}
			data, err := loadClasses(shared+"kddcup99-10percent.csv.gz", "normal.", opt)
			if err != nil {
				return err
			}
			return writeSvm(path, svmRows(data, scales(data)))
		}},
		{"generated, power law", func(path string) error { return writeSvm(path, powerLaw(500_000, 100_000, 80, 1)) }},
	}
}

// unzip writes the contents of a compressed file.
func unzip(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, z)
	return cmp.Or(err, out.Close())
}

// writeVowpal writes svmlight's rows in Vowpal Wabbit's format. A feature's name is its number, which is also its place
// among the weights.
func writeVowpal(t testing.TB, from, to string) {
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	var rows strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		label, features, _ := strings.Cut(line, " ")
		fmt.Fprintf(&rows, "%s | %s\n", strings.TrimPrefix(label, "+"), features)
	}
	require.NoError(t, os.WriteFile(to, []byte(rows.String()), 0o600))
}

// An svmRow is a row in svmlight. Its columns ascend, and the first one is 1.
type svmRow struct {
	label   int
	columns []int
	values  []float32
}

// writeSvm writes rows to a file. Values are the shortest decimals that float32 reads back.
func writeSvm(path string, rows iter.Seq[svmRow]) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for r := range rows {
		line = strconv.AppendInt(line[:0], int64(r.label), 10)
		for k, c := range r.columns {
			line = strconv.AppendInt(append(line, ' '), int64(c), 10)
			line = strconv.AppendFloat(append(line, ':'), float64(r.values[k]), 'g', -1, 32)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			break // Flush returns it too
		}
	}
	return cmp.Or(w.Flush(), f.Close())
}

// svmRows yields dense rows, with columns divided by scales unless these are nil.
func svmRows(data *block.Data, scales []float32) iter.Seq[svmRow] {
	return func(yield func(svmRow) bool) {
		for b := range data.Blocks(context.Background()) {
			for r, y := range b.Y {
				row := svmRow{label: int(y)}
				for c, v := range b.X[r*b.Stride:][:b.Cols] {
					if scales != nil {
						v /= scales[c]
					}
					if v != 0 {
						row.columns, row.values = append(row.columns, c+1), append(row.values, v)
					}
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}

// scales returns for each column the least power of two that is above all its magnitudes, 1 for a column of zeros. Values
// divided by it stay exact, and zeros stay zeros.
func scales(data *block.Data) []float32 {
	largest := make([]float64, data.Spec().Cols())
	for b := range data.Blocks(context.Background()) {
		for r := range b.Len() {
			for c, v := range b.X[r*b.Stride:][:b.Cols] {
				largest[c] = max(largest[c], math.Abs(float64(v)))
			}
		}
	}
	powers := make([]float32, len(largest))
	for c, v := range largest {
		_, e := math.Frexp(v)
		powers[c] = float32(math.Ldexp(1, e))
	}
	return powers
}

// powerLaw yields rows of so many different columns each. Column c is drawn with a probability of about 1/c. Values are
// normal numbers, rounded to sixteenths. The label is the sign of a score with fixed weights and normal noise.
func powerLaw(rows, columns, elements int, seed uint64) iter.Seq[svmRow] {
	return func(yield func(svmRow) bool) {
		rng := rand.New(rand.NewPCG(seed, 0))
		drawn := make([]int, columns+1) // the last row, from 1 on, that has the column
		for r := range rows {
			row, score := svmRow{label: 1}, 2*rng.NormFloat64()
			for len(row.columns) < elements {
				c := min(columns, int(math.Pow(float64(columns+1), rng.Float64())))
				if drawn[c] != r+1 {
					drawn[c] = r + 1
					row.columns = append(row.columns, c)
				}
			}
			slices.Sort(row.columns)
			for _, c := range row.columns {
				v := math.Round(16*rng.NormFloat64()) / 16
				if v == 0 {
					v = 1.0 / 16
				}
				row.values = append(row.values, float32(v))
				score += math.Sin(float64(c)) * v
			}
			if score < 0 {
				row.label = -1
			}
			if !yield(row) {
				return
			}
		}
	}
}

// equalRows tells whether rows are the same.
func equalRows(a, b []svmRow) bool {
	return slices.EqualFunc(a, b, func(a, b svmRow) bool {
		return a.label == b.label && slices.Equal(a.columns, b.columns) && slices.Equal(a.values, b.values)
	})
}

// TestPowerLaw: generated rows have both labels, and each as many different columns as asked for, in order. Low columns are in many more
// rows than high ones. The seed alone decides. Reading what writeSvm wrote gives the rows back.
func TestPowerLaw(t *testing.T) {
	const n, columns, elements = 2000, 1000, 20
	rows, labels, in := slices.Collect(powerLaw(n, columns, elements, 7)), 0, make([]int, columns+1)
	for _, r := range rows {
		labels += r.label
		if len(slices.Compact(slices.Clone(r.columns))) != elements || !slices.IsSorted(r.columns) || r.columns[0] < 1 || len(r.values) != elements || slices.Contains(r.values, 0) {
			t.Fatalf("row %+v", r)
		}
		for _, c := range r.columns {
			in[c]++
		}
	}
	if len(rows) != n || max(labels, -labels) > n/4 || slices.Min(in[1:11]) < 20*slices.Max(in[columns-10:]) {
		t.Errorf("%d rows, sum of labels %d, columns are in %v rows", len(rows), labels, in)
	}
	if !equalRows(rows, slices.Collect(powerLaw(n, columns, elements, 7))) || equalRows(rows, slices.Collect(powerLaw(n, columns, elements, 8))) {
		t.Error("rows don't depend on the seed alone")
	}
	path := filepath.Join(t.TempDir(), "rows.svm")
	require.NoError(t, writeSvm(path, slices.Values(rows)))
	data, err := dataset.Load(t.Context(), path, dataset.Options{Label: "label", NoBias: true, Storage: dataset.Dense})
	if err != nil || !equalRows(rows, slices.Collect(svmRows(data, nil))) {
		t.Errorf("the rows of the file differ, error %v", err)
	}
}
