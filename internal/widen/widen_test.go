package widen_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/csr"
	"halfspace/internal/dense"
	"halfspace/internal/widen"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/schema"
)

// A pair is rows with a centring, and the same rows widened and centred beforehand.
type pair struct {
	name    string
	rows    *block.Block
	centred [][]float64 // every element of each row
	columns [][]uint32  // of each row, those that a widen.Reader yields
}

// pairs returns random rows, dense and sparse, less multiples of the last column, which is a bias, or of another one. Their
// numbers of columns are those about the borders of blocks of columns.
func pairs(rng *rand.Rand, n int) (all []pair) {
	for _, cols := range []int{3, 32, 33, 70} {
		for _, of := range []int{cols - 1, cols / 2} {
			multiple := make([]float64, cols)
			for c := range multiple {
				if c != of && rng.IntN(3) == 0 {
					multiple[c] = 1e6 * rng.NormFloat64()
				}
			}
			multiple[(of+1)%cols] = 3
			for _, sparse := range []bool{false, true} {
				p := pair{fmt.Sprintf("%d columns, of column %d, sparse %t", cols, of, sparse), block.New(0, n, cols), nil, nil}
				stored := &kernel.SparseRows{Ptr: []int64{0}}
				for r := range n {
					x := p.rows.X[r*p.rows.Stride:][:cols]
					for c := range x {
						switch {
						case c == cols-1 && of == c:
							x[c] = 1
						case rng.IntN(4) == 0: // often what the centring makes 0
							x[c] = float32(multiple[c])
						case rng.IntN(3) > 0:
							x[c] = float32(multiple[c] + 100*rng.NormFloat64())
						}
						if x[c] != 0 || rng.IntN(9) == 0 {
							stored.Idx, stored.Val = append(stored.Idx, uint32(c)), append(stored.Val, x[c])
						}
					}
					stored.Ptr = append(stored.Ptr, int64(len(stored.Idx)))
					row, columns := make([]float64, cols), []uint32{}
					for c, v := range x {
						row[c] = math.FMA(-float64(x[of]), multiple[c], float64(v))
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
				all = append(all, p)
			}
		}
	}
	return all
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

// TestRows: a row and its elements are those of rows that were centred beforehand. So are the elements that aren't 0, the
// scores, the norms and the numbers of elements that a csr.Reader returns.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 1))
	zeros := 0
	var wide widen.Reader
	for _, p := range pairs(rng, 90) {
		plain := *p.rows
		plain.Centring = nil
		var reader csr.Reader
		run, elements := block.Run{Block: p.rows}, 0
		reader.Begin(run)
		row, w := make([]float64, p.rows.Cols), make([]float64, p.rows.Cols)
		for c := range w {
			w[c] = rng.NormFloat64()
		}
		for r, expected := range p.centred {
			widen.Row(p.rows, r, row)
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
			if n, score := csr.Norm(stored, values, p.rows.Cols-1), csr.Score(stored, values, w); n != norm || count != len(stored) || reader.Score(r, w) != score {
				t.Fatalf("%s: row %d has the norm %v of %d, want %v of %d, and the score %v, want %v", p.name, r, norm, count, n, len(stored), reader.Score(r, w), score)
			}
		}
		if n := csr.Elements(run); !reader.Centred() || n != elements {
			t.Errorf("%s: centred %t, %d elements, want %d", p.name, reader.Centred(), n, elements)
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
	for _, p := range pairs(rng, 70) {
		panel, w := dense.NewPanel(p.rows.Cols, sums), make([]float64, dense.Pad(p.rows.Cols))
		for c := range p.rows.Cols {
			w[c] = rng.NormFloat64()
		}
		var want [sums][]float64
		for k := range want {
			want[k] = make([]float64, p.rows.Cols)
		}
		for lo := 0; lo < p.rows.Len(); lo += dense.PanelRows {
			rows := p.centred[lo:min(len(p.centred), lo+dense.PanelRows)]
			panel.Load(p.rows.Slice(lo, lo+len(rows)))
			scores := make([]float64, len(rows))
			panel.Scores(w, scores)
			for r, row := range rows {
				if score := panelScore(row, w); scores[r] != score {
					t.Fatalf("%s: row %d has the score %v, want %v", p.name, lo+r, scores[r], score)
				}
			}
			for i := range panel.Factors() {
				if i%dense.PanelCols < sums {
					panel.Factors()[i] = rng.NormFloat64()
				}
			}
			panel.Add()
			for k, sum := range want {
				for c := range sum {
					part := 0.0
					for r, row := range rows {
						part = math.FMA(panel.Factors()[r*dense.PanelCols+k], row[c], part)
					}
					sum[c] += part
				}
			}
		}
		for k, expected := range want {
			if sum := panel.Take(k, nil); !slices.Equal(sum, expected) {
				t.Errorf("%s: sum %d is %v, want %v", p.name, k, sum, expected)
			}
		}
	}
}

// panelScore is the score of a row in the documented order of a dense.Panel.
func panelScore(row, w []float64) (score float64) {
	for first := 0; first < len(row); first += dense.PanelCols {
		x := make([]float64, dense.PanelCols)
		copy(x, row[first:])
		score += f64.Dot(x, w[first:first+dense.PanelCols])
	}
	return score
}

// TestScatter: gram.Scatter of centred rows is that of rows that were centred beforehand, to the last bit, with weights of
// any sign, with extra columns, and on several workers.
func TestScatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 3))
	for _, p := range pairs(rng, 300) {
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
				want := products(p.centred, s, f, more)
				for workers := range 4 {
					if got := scatter(t, p.rows, s, f, more, workers); !slices.Equal(got, want) {
						t.Errorf("%s, weights %s, %d extra columns, %d workers: %v, want %v", p.name, weights, more, workers, got, want)
					}
				}
			}
		}
	}
}

// products returns what scatter returns for a run of rows, in the documented order of gram.Scatter: panels of 32 rows with a weight
// above 0, then of those with one below.
func products(rows [][]float64, s, f []float64, more int) []float64 {
	cols := len(rows[0])
	total := make([]float64, cols*(cols+1)/2+more*cols)
	for _, sign := range []float64{1, -1} {
		var panel, minus [][]float64
		add := func() {
			at := 0
			for i := range cols + more {
				for j := range min(i+1, cols) {
					sum := 0.0
					for r, row := range panel {
						sum = math.FMA(minus[r][i], row[j], sum)
					}
					total[at], at = total[at]+sum, at+1
				}
			}
			panel, minus = nil, nil
		}
		for r, row := range rows {
			if s[r]*sign <= 0 {
				continue
			}
			root := math.Sqrt(s[r] * sign)
			long, scaled := append(slices.Clone(row), f[2*r:2*r+more]...), make([]float64, cols+more)
			for c, v := range long {
				long[c] = float64(root * v)
				scaled[c] = sign * long[c]
			}
			if panel, minus = append(panel, long), append(minus, scaled); len(panel) == 32 {
				add()
			}
		}
		add()
	}
	return total
}

// scatter returns the elements of gram.Scatter but the products of two extra columns.
func scatter(t *testing.T, b *block.Block, s, f []float64, more, workers int) (all []float64) {
	m, err := gram.NewTriangle(b.Cols + more)
	if err != nil {
		t.Fatal(err)
	}
	src := block.NewData(&schema.Spec{Features: make([]string, b.Cols)}, []*block.Block{b})
	err = gram.Scatter(t.Context(), m, src, func(run block.Run, to, extra []float64) {
		copy(to, s[run.First:])
		for r := range to {
			copy(extra[r*more:(r+1)*more], f[2*(int(run.First)+r):])
		}
	}, workers)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.N {
		all = append(all, m.Data[i*(i+1)/2:][:min(i+1, b.Cols)]...)
	}
	return all
}

// TestKept: slices and copies of a block have its centring.
func TestKept(t *testing.T) {
	for _, p := range pairs(rand.New(rand.NewPCG(38, 4)), 10) {
		for name, b := range map[string]*block.Block{"slice": p.rows.Slice(2, 5), "copy": p.rows.Clone().Slice(2, 5)} {
			got := make([]float64, b.Cols)
			widen.Row(b, 1, got)
			if !same(got, p.centred[3]) {
				t.Errorf("%s, %s: row %v, want %v", p.name, name, got, p.centred[3])
			}
		}
	}
}
