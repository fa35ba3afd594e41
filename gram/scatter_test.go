package gram_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/schema"
)

// source returns random rows in blocks of perBlock chunks, sparse if asked for.
func source(rng *rand.Rand, n, cols, perBlock int, sparse bool) *block.Data {
	var blocks []*block.Block
	for lo := 0; lo < n; lo += perBlock {
		b := block.New(int64(lo), min(perBlock, n-lo), cols)
		s := &kernel.SparseRows{Ptr: []int64{0}}
		for r := range b.Len() {
			for c := range cols {
				if sparse && rng.IntN(4) > 0 {
					continue
				}
				v := float32(rng.NormFloat64())
				b.X[r*b.Stride+c] = v
				s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		if sparse {
			b.X, b.Sparse = nil, s
		}
		blocks = append(blocks, b)
	}
	return block.NewData(&schema.Spec{Features: make([]string, cols)}, blocks)
}

// weights depend on the row's number alone. They are positive for 70 rows, and then 0 for some and negative for others.
func weights(chunk block.Chunk, s []float64) {
	for i := range s {
		n := (chunk.First + int64(i)) % 97
		if s[i] = 1 / (1 + float64(n)); n >= 70 && n%3 > 0 {
			s[i] = 0
		} else if n >= 70 && n%2 > 0 {
			s[i] *= -1
		}
	}
}

// scatter is X' diag(s) X in the documented order.
func scatter(x [][]float32, s []float64, i, j int) float64 {
	total := 0.0
	for lo := 0; lo < len(x); lo += block.ChunkRows {
		chunk := 0.0
		for _, sign := range []float64{1, -1} {
			sum, rows := 0.0, 0
			for r := lo; r < min(len(x), lo+block.ChunkRows); r++ {
				if s[r]*sign <= 0 {
					continue
				}
				root := math.Sqrt(s[r] * sign)
				sum = math.FMA(sign*float64(root*float64(x[r][i])), float64(root*float64(x[r][j])), sum)
				if rows++; rows%32 == 0 {
					chunk += sum
					sum = 0
				}
			}
			chunk += sum
		}
		total += chunk
	}
	return total
}

// longer returns extra element k of row r.
func longer(r int64, k int) float64 { return float64((r*7+int64(k)*3)%11-5) / 4 }

// rowsOf returns the rows, each with that many extra elements.
func rowsOf(t *testing.T, d *block.Data, more int) (x [][]float32) {
	for b, err := range d.Blocks(context.Background()) {
		require.NoError(t, err)
		for r := range b.Len() {
			row := make([]float32, b.Cols)
			if b.Sparse == nil {
				copy(row, b.X[r*b.Stride:])
			} else {
				columns, values := b.Sparse.Row(r)
				for k, c := range columns {
					row[c] = values[k]
				}
			}
			for k := range more {
				row = append(row, float32(longer(b.First+int64(r), k)))
			}
			x = append(x, row)
		}
	}
	return x
}

func TestScatter(t *testing.T) {
	kerneltest.OnLevels(t, testScatter)
}

// testScatter takes widths around those of vectors, tiles and blocks.
func testScatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n, cols, perBlock int
		sparse, weighted  bool
		more              int
	}{
		{1, 1, 4096, false, true, 1}, {63, 2, 4096, false, true, 0}, {64, 3, 4096, false, false, 0}, {65, 4, 4096, true, true, 30},
		{130, 5, 4096, false, true, 3}, {300, 28, 4096, false, true, 4}, {200, 31, 4096, true, false, 0}, {200, 32, 4096, false, true, 1},
		{100, 33, 4096, false, true, 32}, {70, 100, 4096, false, true, 70}, {9000, 4, 4096, false, true, 0}, {9000, 3, 8192, true, true, 2},
		{0, 3, 4096, false, true, 0}, {40000, 3, 8192, false, true, 2}, {9000, 28, 8192, true, true, 5},
	} {
		d := source(rng, c.n, c.cols, c.perBlock, c.sparse)
		s := make([]float64, c.n)
		setWeights := func(chunk block.Chunk, s, f []float64) {
			weights(chunk, s)
			for i := range f {
				f[i] = longer(chunk.First+int64(i/c.more), i%c.more)
			}
		}
		for i := range s {
			s[i] = 1
		}
		if c.weighted {
			weights(block.Chunk{Block: &block.Block{}}, s)
		} else {
			setWeights = nil
		}
		x := rowsOf(t, d, c.more)
		for _, workers := range []int{1, 2, 3, 8} {
			m, err := gram.NewTriangle(c.cols + c.more)
			require.NoError(t, err)
			require.NoError(t, gram.Scatter(context.Background(), m, d, setWeights, workers))
			for i := range c.cols + c.more {
				for j := range min(c.cols, i+1) {
					want := scatter(x, s, i, j)
					if m.At(i, j) != want || m.At(j, i) != want {
						t.Fatalf("%+v workers=%d: (%d, %d) is %v and %v, want %v", c, workers, i, j, m.At(i, j), m.At(j, i), want)
					}
				}
			}
			if require.Small() {
				break
			}
		}
	}
}
