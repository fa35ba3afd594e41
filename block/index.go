package block

import (
	"fmt"
	"math"

	"halfspace/kernel"
)

// Index reaches the rows of a data set in any order.
type Index[T kernel.Float] struct {
	dense    *kernel.Rows[T] // nil where rows are sparse
	chunks   []chunk[T]      // of kernel.ChunkRows rows each
	weighted bool            // rows have weights
}

// A chunk is the block that some rows are in, and the number of the first of them there.
type chunk[T kernel.Float] struct {
	block *Block[T]
	first int
}

// Index returns an index over the rows. It is an error to have more rows than a 32-bit
// number counts, or no labels, or blocks that Check doesn't take.
func (d *Data[T]) Index() (*Index[T], error) {
	if d.rows > math.MaxUint32 {
		return nil, fmt.Errorf("%d rows are more than an order other than cyclic can number (%d)", d.rows, uint32(math.MaxUint32))
	}
	if len(d.blocks) == 0 {
		return &Index[T]{}, nil
	}
	l, err := newLayout[T](d)
	if err != nil {
		return nil, err
	}
	index := &Index[T]{}
	var x, y [][]T
	for n, b := range d.blocks {
		if err := l.next(n, b); err != nil {
			return nil, err
		}
		if b.Y == nil && b.Len() > 0 {
			return nil, ErrNoLabels
		}
		index.weighted = index.weighted || b.W != nil
		for lo := 0; lo < b.Len(); lo += kernel.ChunkRows {
			hi := min(b.Len(), lo+kernel.ChunkRows)
			index.chunks = append(index.chunks, chunk[T]{b, lo})
			if b.Sparse == nil {
				x, y = append(x, b.X[lo*b.Stride:hi*b.Stride]), append(y, b.Y[lo:hi])
			}
		}
	}
	if !l.sparse {
		index.dense = kernel.NewRows(x, y, l.stride)
	}
	return index, nil
}

// At returns the block that the row of that number is in, and its number there.
func (x *Index[T]) At(id uint32) (b *Block[T], r int) {
	c := x.chunks[id/kernel.ChunkRows]
	return c.block, c.first + int(id%kernel.ChunkRows)
}

// Ahead returns the features of rows lo to hi of a chunk of kernel.ChunkRows rows, as Epoch takes them for its
// prefetches; nil where there is nothing to prefetch.
func (x *Index[T]) Ahead(chunk, lo, hi, stride int) []T {
	if x.dense == nil {
		return nil
	}
	rows := x.dense.Chunk(chunk)
	return rows[min(lo*stride, len(rows)):min(hi*stride, len(rows))]
}

// Epoch runs the perceptron, without a look at weights of rows, in the order of idx, which holds row numbers; see
// kernel.EpochIndexed. What it writes to log are positions in idx.
func (x *Index[T]) Epoch(idx []uint32, ahead []T, eta T, w []T, log []uint32) (visits, updates int) {
	if x.dense != nil {
		return kernel.EpochIndexed(w, log, x.dense, idx, ahead, eta)
	}
	for i, id := range idx {
		b, r := x.At(id)
		b.fits(w)
		if b.Sparse.Visit(w, r, b.Y[r], eta) {
			log[updates] = uint32(i)
			updates++
			if updates == len(log) {
				return i + 1, updates
			}
		}
	}
	return len(idx), updates
}

// EpochMargin is Epoch where a row calls for an update if the sign of its label times its score is at most margin, and does not
// weigh 0. The update is eta times the row's weight. It prefetches nothing.
func (x *Index[T]) EpochMargin(idx []uint32, eta, margin T, w []T, log []uint32) (visits, updates int) {
	for i, id := range idx {
		var y, s T
		if x.dense != nil {
			var row []T
			row, y = x.dense.Row(int(id))
			s = kernel.Dot(row, w)
		} else {
			b, r := x.At(id)
			y, s = b.Y[r], b.score(r, w)
		}
		if !within(y, s, margin) || x.weight(id) == 0 {
			continue
		}
		x.Add(id, eta, w)
		log[updates] = uint32(i)
		updates++
		if updates == len(log) {
			return i + 1, updates
		}
	}
	return len(idx), updates
}

// weight returns the weight of the row of that number.
func (x *Index[T]) weight(id uint32) float64 {
	if !x.weighted {
		return 1
	}
	b, r := x.At(id)
	return b.Weight(r)
}

// Add is Block.Add for the row of that number.
func (x *Index[T]) Add(id uint32, a T, w []T) {
	if x.dense == nil {
		b, r := x.At(id)
		b.Add(uint32(r), a, w)
		return
	}
	row, y := x.dense.Row(int(id))
	kernel.Axpy(w, times(a*y, x.weight(id)), row)
}

// AddAll is Add of rows idx[k] in turn for each k of at, with the a that stands where k does, in the way of Block.AddAll.
func (x *Index[T]) AddAll(idx, at []uint32, a, w []T) {
	k := 0
	if x.dense != nil && !x.weighted {
		var rows [4][]T
		var by [4]T
		for ; k+4 <= len(at); k += 4 {
			for j, p := range at[k : k+4] {
				row, y := x.dense.Row(int(idx[p]))
				rows[j], by[j] = row, a[k+j]*y
			}
			kernel.Axpy4(w, by[:], rows[:])
		}
	}
	for ; k < len(at); k++ {
		x.Add(idx[at[k]], a[k], w)
	}
}
