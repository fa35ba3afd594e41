// Package linalg is the linear algebra in float64 that trainings share. It has rows of blocks as float64, their scores and
// weighted sums, Cholesky factors, eigenvectors of small symmetric matrices. It uses the kernels, so its results are the same on
// every CPU.
//
// SparseRows, SparseReader and TransposeSparse yield the elements that aren't 0, the same for dense and for sparse rows.
// Widen, WideReader and WidenPanel yield float64 values after the centring of a block.
package linalg

import (
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
)

// CleanSparse tells whether a chunk has sparse rows without stored zeros.
func CleanSparse(chunk block.Chunk) bool {
	s := chunk.Sparse
	return s != nil && !slices.Contains(s.Val[s.Ptr[0]:s.Ptr[chunk.Len()]], 0)
}

// SparseRows returns the rows of a chunk in CSR form, without zeros. Values are as stored: a SparseReader centres rows, SparseRows doesn't.
// If clean says that the chunk's sparse rows have no zeros, Rows returns them unchanged; otherwise it writes the rows to
// packed.
func SparseRows(chunk block.Chunk, clean bool, packed *kernel.SparseRows) *kernel.SparseRows {
	s := chunk.Sparse
	if clean {
		return s
	}
	p := packed
	p.Ptr, p.Idx, p.Val = append(p.Ptr[:0], 0), p.Idx[:0], p.Val[:0]
	for r := range chunk.Len() {
		if s != nil {
			columns, values := s.Row(r)
			for k, v := range values {
				if v != 0 {
					p.Idx, p.Val = append(p.Idx, columns[k]), append(p.Val, v)
				}
			}
		} else {
			for i, v := range chunk.X[r*chunk.Stride:][:chunk.Cols] {
				if v != 0 {
					p.Idx, p.Val = append(p.Idx, uint32(i)), append(p.Val, v)
				}
			}
		}
		p.Ptr = append(p.Ptr, int64(len(p.Idx)))
	}
	return p
}

// ScoreSparse returns the dot product of a row with w. It keeps four sums, each over every fourth product, and then adds
// them.
func ScoreSparse[T float32 | float64](columns []uint32, values []T, w []float64) float64 {
	var a, b, c, d float64
	values = values[:len(columns)]
	k := 0
	for ; k+4 <= len(columns); k += 4 {
		i, v := columns[k:k+4:k+4], values[k:k+4:k+4]
		a += float64(float64(v[0]) * w[i[0]])
		b += float64(float64(v[1]) * w[i[1]])
		c += float64(float64(v[2]) * w[i[2]])
		d += float64(float64(v[3]) * w[i[3]])
	}
	for ; k < len(columns); k++ {
		a += float64(float64(values[k]) * w[columns[k]])
	}
	return (a + c) + (b + d)
}

// AddSparse adds f times a row to w.
func AddSparse[T float32 | float64](w []float64, columns []uint32, values []T, f float64) {
	values = values[:len(columns)]
	for k, i := range columns {
		w[i] += float64(f * float64(values[k]))
	}
}

// SquareSparse returns the sum of squares of a row's elements in the columns below first.
func SquareSparse[T float32 | float64](columns []uint32, values []T, first int) float64 {
	square := 0.0
	for k, i := range columns {
		if int(i) < first {
			square += float64(float64(values[k]) * float64(values[k]))
		}
	}
	return square
}

// NormSparse returns (1 + 2^-20) times the square root of SquareSparse, an upper bound of the norm.
func NormSparse[T float32 | float64](columns []uint32, values []T, first int) float64 {
	return math.Sqrt(SquareSparse(columns, values, first)) * (1 + 0x1p-20)
}

// TransposeSparse copies rows to column order. Column j has the values val[k] in the rows idx[k], for k from ptr[j] to
// ptr[j+1], in the order in which each yields the rows. Transpose calls each twice. Both times each must call do for
// the same rows. Transpose returns the error of each.
func TransposeSparse[T float32 | float64](cols int,
	each func(do func(r uint32, columns []uint32, values []T)) error) (ptr []int64, idx []uint32, val []T, err error) {
	next := make([]int64, cols+1) // first the number of elements of each column, then the place of the column's next element
	err = each(func(_ uint32, columns []uint32, _ []T) {
		for _, j := range columns {
			next[j]++
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	at := int64(0)
	for j, n := range next {
		next[j], at = at, at+n
	}
	idx, val = make([]uint32, at), block.Alloc[T](int(at))
	err = each(func(r uint32, columns []uint32, values []T) {
		for k, j := range columns {
			idx[next[j]], val[next[j]] = r, values[k]
			next[j]++
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	copy(next[1:], next) // each place has moved to the first element of the next column
	next[0] = 0
	return next, idx, val, nil
}
