package bench

import (
	"bufio"
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/testrows"
	"halfspace/train"
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
			data, err := testrows.MNIST(shared+"mnist", "train", 60_000)
			if err != nil {
				return err
			}
			return writeSvm(path, svmRows(train.Versus(data, 8).(*block.Data), nil))
		}},
		{"KDD Cup 1999, one-hot, normal against the rest", func(path string) error {
			opt := dataset.Options{Label: "last", Categorical: "onehot", NoBias: true}
			data, err := loadClasses(shared+"kddcup99-10percent.csv.gz", "normal.", opt)
			if err != nil {
				return err
			}
			return writeSvm(path, svmRows(data, scales(data)))
		}},
		{"generated, power law", func(path string) error { return writeSvm(path, powerLaw(500_000, 100_000, 80, 1)) }},
	}
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

// TestPowerLaw: generated rows have both labels and so many different columns, in order. Low columns are in many more rows
// than high ones. The same seed gives the same rows. Reading what writeSvm wrote gives them back.
func TestPowerLaw(t *testing.T) {
	const n, columns, elements = 2000, 1000, 20
	rows, labels, low, high := slices.Collect(powerLaw(n, columns, elements, 7)), 0, 0, 0
	for _, r := range rows {
		labels += r.label
		if len(r.columns) != elements || len(r.values) != elements || slices.Contains(r.values, 0) || r.columns[0] < 1 || r.columns[elements-1] > columns {
			t.Fatalf("row %+v", r)
		}
		for k, c := range r.columns {
			if k > 0 && c <= r.columns[k-1] {
				t.Fatalf("columns %v don't ascend", r.columns)
			}
			if c <= 10 {
				low++
			} else if c > columns-10 {
				high++
			}
		}
	}
	if len(rows) != n || max(labels, -labels) > n/4 || low < 100*high/4 || high == 0 {
		t.Errorf("%d rows, sum of labels %d, %d elements in the first 10 columns, %d in the last", len(rows), labels, low, high)
	}
	again := slices.Collect(powerLaw(n, columns, elements, 7))
	other := slices.Collect(powerLaw(n, columns, elements, 8))
	equal := func(a, b svmRow) bool {
		return a.label == b.label && slices.Equal(a.columns, b.columns) && slices.Equal(a.values, b.values)
	}
	if !slices.EqualFunc(rows, again, equal) || slices.EqualFunc(rows, other, equal) {
		t.Error("rows don't depend on the seed alone")
	}
	path := filepath.Join(t.TempDir(), "rows.svm")
	if err := writeSvm(path, slices.Values(rows)); err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Load(t.Context(), []string{path}, dataset.Options{Label: "label", NoBias: true})
	if err != nil {
		t.Fatal(err)
	}
	if back := slices.Collect(svmRows(data, nil)); !slices.EqualFunc(rows, back, equal) {
		t.Error("the rows of the file differ")
	}
}

// TestSparseObjective: the objective of sparse rows is that of dense ones. Its penalty with l1 is the sum of magnitudes.
func TestSparseObjective(t *testing.T) {
	rows := slices.Collect(powerLaw(200, 30, 5, 1))
	x, y := make([][]float64, len(rows)), make([]float64, len(rows))
	for r, row := range rows {
		x[r], y[r] = make([]float64, 30), float64(row.label)
		for k, c := range row.columns {
			x[r][c-1] = float64(row.values[k])
		}
	}
	data, w, sum := testrows.Dense(x, y, false), make([]float64, 31), 0.0
	for c := range 30 {
		w[c] = math.Cos(float64(c))
		sum += math.Abs(w[c])
	}
	for _, loss := range []string{"logistic", "squared_hinge", "hinge"} {
		want := objective(data, loss, 0.5, w[:30])
		got := sparseObjective(testrows.Sparse(data), loss, 0, 0.5, w)
		if bias := 0.5 / 2 * w[29] * w[29]; math.Abs(got-want-bias) > 1e-9*want { // the last weight is no bias here
			t.Errorf("%s: %v, want %v", loss, got, want+bias)
		}
		if with := sparseObjective(testrows.Sparse(data), loss, 2, 0.5, w); math.Abs(with-got-2*sum) > 1e-9*with {
			t.Errorf("%s: %v with l1, %v without, and magnitudes %v", loss, with, got, sum)
		}
	}
}

// sparseObjective is that of weights on sparse rows without a bias, in float64. Columns beyond the weights have none.
func sparseObjective(data *block.Data, loss string, l1, l2 float64, w []float64) float64 {
	sum := 0.0
	for _, v := range w {
		sum += l1*math.Abs(v) + l2/2*v*v
	}
	for b := range data.Blocks(context.Background()) {
		for r, y := range b.Y {
			columns, values := b.Sparse.Row(r)
			m := 0.0
			for k, c := range columns {
				if int(c) < len(w) {
					m += w[c] * float64(values[k])
				}
			}
			sum += lossOf(loss, float64(y)*m)
		}
	}
	return sum
}
