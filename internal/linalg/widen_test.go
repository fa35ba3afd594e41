package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/kernel"
	"halfspace/schema"
)

// A pair is rows with a centring, and the same rows widened and centred beforehand.
type pair struct {
	name    string
	rows    *block.Block
	centred [][]float64 // every element of each row
	columns [][]uint32  // of each row, those that a WideReader yields
	plain   *block.Data // the centred rows, where float32 holds them
}

// pairs returns random rows, dense and sparse, less multiples of the last column, which is a bias, or of another one. Their
// numbers of columns are those about the borders of blocks of columns. If exact, float32 holds the centred rows.
func pairs(rng *rand.Rand, n int, exact bool) (all []pair) {
	number := func() float64 {
		if exact {
			return float64(rng.IntN(1<<21)-1<<20) / 1024
		}
		return 100 * rng.NormFloat64()
	}
	for _, cols := range []int{3, 32, 33, 70} {
		for _, of := range []int{cols - 1, cols / 2} {
			multiple := make([]float64, cols)
			for c := range multiple {
				if c == of || rng.IntN(3) > 0 {
					continue
				}
				if multiple[c] = 1e6 * rng.NormFloat64(); exact {
					multiple[c] = float64(rng.IntN(1 << 12))
				}
			}
			multiple[(of+1)%cols] = 3
			for _, sparse := range []bool{false, true} {
				p := pair{fmt.Sprintf("%d columns, of column %d, sparse %t", cols, of, sparse), block.New(0, n, cols), nil, nil, nil}
				stored, plain := &kernel.SparseRows{Ptr: []int64{0}}, block.New(0, n, cols)
				for r := range n {
					x := p.rows.X[r*p.rows.Stride:][:cols]
					for c := range x {
						switch {
						case c == cols-1 && of == c:
							x[c] = 1
						case exact && c == of:
							x[c] = float32(rng.IntN(3))
						case rng.IntN(4) == 0: // often what the centring makes 0
							x[c] = float32(multiple[c])
						case rng.IntN(3) > 0:
							x[c] = float32(multiple[c] + number())
						}
						if x[c] != 0 || rng.IntN(9) == 0 {
							stored.Idx, stored.Val = append(stored.Idx, uint32(c)), append(stored.Val, x[c])
						}
					}
					stored.Ptr = append(stored.Ptr, int64(len(stored.Idx)))
					row, columns := make([]float64, cols), []uint32{}
					for c, v := range x {
						row[c] = math.FMA(-float64(x[of]), multiple[c], float64(v))
						plain.X[r*plain.Stride+c] = float32(row[c])
						if there, _ := stored.Row(r); !sparse || multiple[c] != 0 || slices.Contains(there, uint32(c)) {
							columns = append(columns, uint32(c))
						}
					}
					p.centred, p.columns = append(p.centred, row), append(p.columns, columns)
				}
				if sparse {
					p.rows.X, p.rows.Sparse = nil, stored
				}
				p.rows.Centring = block.NewCentring(of, multiple)
				p.plain = data(plain)
				all = append(all, p)
			}
		}
	}
	return all
}

// data returns rows as a source.
func data(b *block.Block) *block.Data {
	return block.NewData(&schema.Spec{Features: make([]string, b.Cols)}, []*block.Block{b})
}

// same tells whether numbers are the same, but for the signs of zeros.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y })
}

// of returns the values of columns of a row.
func of(row []float64, columns []uint32) (values []float64) {
	for _, c := range columns {
		values = append(values, row[c])
	}
	return values
}

// nonzero returns the columns of a row's elements that aren't 0.
func nonzero(row []float64) (columns []uint32) {
	for c, v := range row {
		if v != 0 {
			columns = append(columns, uint32(c))
		}
	}
	return columns
}

// TestWideRows: a row and its elements are those of rows that were centred beforehand. So are the elements that aren't 0, the
// scores, the norms and the numbers of elements that a SparseReader returns.
func TestWideRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 1))
	zeros := 0
	var wide linalg.WideReader
	for _, p := range pairs(rng, 90, false) {
		plain := *p.rows
		plain.Centring = nil
		var reader linalg.SparseReader
		chunk, elements := block.Chunk{Block: p.rows}, 0
		reader.Begin(chunk)
		row, w := make([]float64, p.rows.Cols), make([]float64, p.rows.Cols)
		for c := range w {
			w[c] = rng.NormFloat64()
		}
		for r, expected := range p.centred {
			linalg.Widen(p.rows, r, row)
			if !same(row, expected) {
				t.Fatalf("%s: row %d is %v, want %v", p.name, r, row, expected)
			}
			columns, values := wide.Row(&plain, r)
			plainRow(t, &plain, r, columns, values)
			columns, values = wide.Row(p.rows, r)
			if !slices.Equal(columns, p.columns[r]) || !same(values, of(expected, columns)) {
				t.Fatalf("%s: row %d has columns %v and values %v, want %v and %v", p.name, r, columns, values, p.columns[r], of(expected, p.columns[r]))
			}
			columns, values = reader.CentredRow(r)
			stored := nonzero(expected)
			if !slices.Equal(columns, stored) || !slices.Equal(values, of(expected, stored)) {
				t.Fatalf("%s: row %d has elements %v and %v, want %v and %v", p.name, r, columns, values, stored, of(expected, stored))
			}
			elements, zeros = elements+len(stored), zeros+p.rows.Cols-len(stored)
			values = of(expected, stored)
			norm, count := reader.Norm(r, p.rows.Cols-1)
			if n, score := linalg.NormSparse(stored, values, p.rows.Cols-1), linalg.ScoreSparse(stored, values, w); n != norm || count != len(stored) || reader.Score(r, w) != score {
				t.Fatalf("%s: row %d has the norm %v of %d, want %v of %d, and the score %v, want %v", p.name, r, norm, count, n, len(stored), reader.Score(r, w), score)
			}
		}
		if n := linalg.Elements(chunk); !reader.IsCentred() || n != elements {
			t.Errorf("%s: centred %t, %d elements, want %d", p.name, reader.IsCentred(), n, elements)
		}
	}
	if zeros == 0 {
		t.Error("no element is 0")
	}
}

// plainRow checks the columns and the values of row r of a block without a centring.
func plainRow(t *testing.T, b *block.Block, r int, columns []uint32, values []float64) {
	t.Helper()
	row := make([]float64, b.Cols)
	for k, c := range columns {
		row[c] = values[k]
	}
	for c, v := range row {
		w := make([]float32, b.Stride)
		if w[c] = 1; float64(b.Dot(r, w)) != v {
			t.Fatalf("row %d, column %d: %v, want %v", r, c, v, b.Dot(r, w))
		}
	}
}

// TestPanel: scores and sums of a panel are those of rows that were centred beforehand, to the last bit.
func TestPanel(t *testing.T) {
	const sums = 3
	rng := rand.New(rand.NewPCG(38, 2))
	for _, p := range pairs(rng, 70, true) {
		w, factors := make([]float64, linalg.Pad(p.rows.Cols)), make([]float64, sums*p.rows.Len())
		for c := range p.rows.Cols {
			w[c] = rng.NormFloat64()
		}
		for i := range factors {
			factors[i] = rng.NormFloat64()
		}
		var results [2][]float64 // scores, and then sums
		for plain := range p.plain.Blocks(t.Context()) {
			for i, rows := range []*block.Block{p.rows, plain} {
				panel := linalg.NewPanel(rows.Cols, sums)
				for lo := 0; lo < rows.Len(); lo += linalg.PanelRows {
					hi := min(rows.Len(), lo+linalg.PanelRows)
					scores := make([]float64, hi-lo)
					panel.Load(rows.Slice(lo, hi))
					panel.Scores(w, scores)
					results[i] = append(results[i], scores...)
					for r := lo; r < hi; r++ {
						copy(panel.Factors()[(r-lo)*linalg.PanelCols:], factors[r*sums:(r+1)*sums])
					}
					panel.Add()
				}
				for k := range sums {
					results[i] = append(results[i], panel.Take(k, nil)...)
				}
			}
		}
		if !slices.Equal(results[0], results[1]) {
			t.Errorf("%s: scores and sums %v, want %v", p.name, results[0], results[1])
		}
	}
}

// TestLoadRows: the panel of rows with some numbers is the panel of a block of these rows. Sums are zeros before any row is added.
func TestLoadRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 4))
	for _, p := range pairs(rng, 70, true) {
		for plain := range p.plain.Blocks(t.Context()) {
			for _, rows := range []*block.Block{p.rows, plain} {
				var numbers []int32
				some := &block.Block{}
				for r := range rows.Len() {
					if rng.IntN(3) > 0 && len(numbers) < linalg.PanelRows {
						numbers = append(numbers, int32(r))
						some.AppendRow(rows, r)
					}
				}
				w := make([]float64, linalg.Pad(rows.Cols))
				for c := range rows.Cols {
					w[c] = rng.NormFloat64()
				}
				var results [2][]float64
				for i, panel := range []*linalg.Panel{linalg.NewPanel(rows.Cols, 1), linalg.NewPanel(rows.Cols, 1)} {
					scores := make([]float64, len(numbers))
					if i == 0 {
						panel.LoadRows(rows, numbers)
					} else {
						panel.Load(some)
					}
					panel.Scores(w, scores)
					results[i] = append(panel.Take(0, nil), scores...)
					if slices.ContainsFunc(results[i][:rows.Cols], func(v float64) bool { return v != 0 }) {
						t.Errorf("%s: sums over no rows are %v", p.name, results[i])
					}
					for r, z := range scores {
						panel.Factors()[r*linalg.PanelCols] = z
					}
					panel.Add()
					results[i] = panel.Take(0, results[i])
				}
				if !slices.Equal(results[0], results[1]) {
					t.Errorf("%s: scores and sums %v, want %v", p.name, results[0], results[1])
				}
			}
		}
	}
}

// TestScatter: gram.Scatter of centred rows is that of rows that were centred beforehand, to the last bit, with weights of
// any sign, with extra columns, and on several workers.
func TestScatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 3))
	for _, p := range pairs(rng, 300, true) {
		for _, weights := range []string{"1", "above 0", "of any sign"} {
			s, f := make([]float64, p.rows.Len()), make([]float64, 2*p.rows.Len())
			for i := range s {
				switch s[i] = 1; weights {
				case "above 0":
					s[i] = rng.ExpFloat64()
				case "of any sign":
					s[i] = float64(rng.IntN(3)-1) * rng.ExpFloat64()
				}
				f[2*i], f[2*i+1] = rng.NormFloat64(), rng.NormFloat64()
			}
			for more := range 3 {
				want := scatter(t, p.plain, s, f, more, 1)
				for workers := range 4 {
					if got := scatter(t, data(p.rows), s, f, more, workers); !slices.Equal(got, want) {
						t.Errorf("%s, weights %s, %d extra columns, %d workers: %v, want %v", p.name, weights, more, workers, got, want)
					}
				}
			}
		}
	}
}

// scatter returns the elements of gram.Scatter but the products of two extra columns.
func scatter(t *testing.T, src *block.Data, s, f []float64, more, workers int) (all []float64) {
	cols := src.Spec().Cols()
	m, err := gram.NewTriangle(cols + more)
	if err == nil {
		err = gram.Scatter(t.Context(), m, src, func(chunk block.Chunk, to, extra []float64) {
			copy(to, s[chunk.First:])
			for r := range to {
				copy(extra[r*more:(r+1)*more], f[2*(int(chunk.First)+r):])
			}
		}, workers)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.N {
		all = append(all, m.Data[i*(i+1)/2:][:min(i+1, cols)]...)
	}
	return all
}

// TestKept: slices and copies of a block have its centring.
func TestKept(t *testing.T) {
	for _, p := range pairs(rand.New(rand.NewPCG(38, 4)), 10, false) {
		for name, b := range map[string]*block.Block{"slice": p.rows.Slice(2, 5), "copy": p.rows.Clone().Slice(2, 5)} {
			got := make([]float64, b.Cols)
			linalg.Widen(b, 1, got)
			if !same(got, p.centred[3]) {
				t.Errorf("%s, %s: row %v, want %v", p.name, name, got, p.centred[3])
			}
		}
	}
}
