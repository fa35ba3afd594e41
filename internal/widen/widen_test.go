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
	"halfspace/schema"
)

// A pair is rows with a centring, and the same rows widened and centred beforehand.
type pair struct {
	name    string
	rows    *block.Block[float32]
	centred *block.Block[float64]
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
				p := pair{fmt.Sprintf("%d columns, of column %d, sparse %t", cols, of, sparse), block.New[float32](0, n, cols), block.New[float64](0, n, cols)}
				stored := &kernel.SparseRows[float32]{Ptr: []int64{0}}
				expected := &kernel.SparseRows[float64]{Ptr: []int64{0}}
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
					for c, v := range x {
						w := math.FMA(-float64(x[of]), multiple[c], float64(v))
						p.centred.X[r*p.centred.Stride+c] = w
						if columns, _ := stored.Row(r); multiple[c] != 0 || slices.Contains(columns, uint32(c)) {
							expected.Idx, expected.Val = append(expected.Idx, uint32(c)), append(expected.Val, w)
						}
					}
					expected.Ptr = append(expected.Ptr, int64(len(expected.Idx)))
				}
				if sparse {
					p.rows.X, p.rows.Sparse, p.centred.X, p.centred.Sparse = nil, stored, nil, expected
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

// TestRows: a row and its elements are those of rows that were centred beforehand. So are the elements that aren't 0, the
// scores, the norms and the numbers of elements that a csr.Reader returns.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 1))
	zeros := 0
	var wide widen.Reader[float32]
	for _, p := range pairs(rng, 90) {
		plain := *p.rows
		plain.Centring = nil
		var got csr.Reader[float32]
		var want csr.Reader[float64]
		run, other := block.Run[float32]{Block: p.rows}, block.Run[float64]{Block: p.centred}
		got.Begin(run)
		want.Begin(other)
		if !got.Centred() || csr.Elements(run) != csr.Elements(other) {
			t.Errorf("%s: centred %t, %d elements, want %d", p.name, got.Centred(), csr.Elements(run), csr.Elements(other))
		}
		row, expected, w := make([]float64, p.rows.Cols), make([]float64, p.rows.Cols), make([]float64, p.rows.Cols)
		for c := range w {
			w[c] = rng.NormFloat64()
		}
		for r := range p.rows.Len() {
			widen.Row(p.rows, r, row)
			if widen.Row(p.centred, r, expected); !same(row, expected) {
				t.Fatalf("%s: row %d is %v, want %v", p.name, r, row, expected)
			}
			columns, values := wide.Row(&plain, r)
			plainRow(t, &plain, r, columns, values)
			columns, values = wide.Row(p.rows, r)
			var stored []uint32
			elements := expected
			if p.centred.Sparse != nil {
				stored, elements = p.centred.Sparse.Row(r)
			} else {
				for c := range p.rows.Cols {
					stored = append(stored, uint32(c))
				}
			}
			if !slices.Equal(columns, stored) || !same(values, elements) {
				t.Fatalf("%s: row %d has columns %v and values %v, want %v and %v", p.name, r, columns, values, stored, elements)
			}
			columns, values = got.CentredRow(r)
			stored, nonzero := want.Row(r)
			if zeros += p.rows.Cols - len(columns); !slices.Equal(columns, stored) || !slices.Equal(values, nonzero) {
				t.Fatalf("%s: row %d has elements %v and %v, want %v and %v", p.name, r, columns, values, stored, nonzero)
			}
			norm, count := got.Norm(r, p.rows.Cols-1)
			if n, e := want.Norm(r, p.rows.Cols-1); n != norm || e != count || got.Score(r, w) != want.Score(r, w) {
				t.Fatalf("%s: row %d has the norm %v of %d, want %v of %d, and the score %v, want %v", p.name, r, norm, count, n, e, got.Score(r, w), want.Score(r, w))
			}
		}
	}
	if zeros == 0 {
		t.Error("no element is 0")
	}
}

// plainRow checks the columns and the values of row r of a block without a centring.
func plainRow(t *testing.T, b *block.Block[float32], r int, columns []uint32, values []float64) {
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
		got, want := dense.NewPanel[float32](p.rows.Cols, sums), dense.NewPanel[float64](p.rows.Cols, sums)
		w := make([]float64, dense.Pad(p.rows.Cols))
		for c := range p.rows.Cols {
			w[c] = rng.NormFloat64()
		}
		for lo := 0; lo < p.rows.Len(); lo += dense.PanelRows {
			n := min(dense.PanelRows, p.rows.Len()-lo)
			got.Load(p.rows.Slice(lo, lo+n))
			want.Load(p.centred.Slice(lo, lo+n))
			scores, expected := make([]float64, n), make([]float64, n)
			got.Scores(w, scores)
			if want.Scores(w, expected); !slices.Equal(scores, expected) {
				t.Fatalf("%s: scores %v, want %v", p.name, scores, expected)
			}
			for i := range got.Factors() {
				if i%dense.PanelCols < sums {
					got.Factors()[i] = rng.NormFloat64()
				}
			}
			copy(want.Factors(), got.Factors())
			got.Add()
			want.Add()
		}
		for k := range sums {
			if sum, expected := got.Take(k, nil), want.Take(k, nil); !slices.Equal(sum, expected) {
				t.Errorf("%s: sum %d is %v, want %v", p.name, k, sum, expected)
			}
		}
	}
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
				want := scatter(t, p.centred, s, f, more, 1)
				for workers := range 4 {
					if got := scatter(t, p.rows, s, f, more, workers); !slices.Equal(got, want) {
						t.Errorf("%s, weights %s, %d extra columns, %d workers: %v, want %v", p.name, weights, more, workers, got, want)
					}
				}
			}
		}
	}
}

// scatter returns the elements of gram.Scatter but the products of two extra columns.
func scatter[T kernel.Float](t *testing.T, b *block.Block[T], s, f []float64, more, workers int) (all []float64) {
	m, err := gram.NewTriangle(b.Cols + more)
	if err != nil {
		t.Fatal(err)
	}
	src := block.NewData(&schema.Spec{Features: make([]string, b.Cols)}, []*block.Block[T]{b})
	err = gram.Scatter(t.Context(), m, block.Source[T](src), func(run block.Run[T], to, extra []float64) {
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
		for name, b := range map[string]*block.Block[float32]{"slice": p.rows.Slice(2, 5), "copy": p.rows.Clone().Slice(2, 5)} {
			got, want := make([]float64, b.Cols), make([]float64, b.Cols)
			widen.Row(b, 1, got)
			if widen.Row(p.centred, 3, want); !same(got, want) {
				t.Errorf("%s, %s: row %v, want %v", p.name, name, got, want)
			}
		}
	}
}
