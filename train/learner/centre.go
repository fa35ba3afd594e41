package learner

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/schema"
)

const (
	pivotRows        = 257 // number of rows of the first chunk that Pivots samples
	farMedianSpreads = 64  // a column is far from zero if its median is more than this times its spread
	farConstant      = 1e4 // a constant column is far from zero if its absolute value is at least this
)

// Pivots returns one number for each column of src: the median of the column if it is far from zero (Unix seconds, for
// example), and 0 otherwise. It samples rows of the first chunk. It returns nil if no column is far from zero. It also
// returns nil if src has no bias, because only the weight of a bias can make up for subtracted constants.
func Pivots(ctx context.Context, src block.Source) (found []float64, err error) {
	if !src.Spec().Bias {
		return nil, nil
	}
	chunk := min(src.Rows(), block.ChunkRows)
	rows := make([]int64, min(chunk, pivotRows))
	for i := range rows {
		rows[i] = int64(i) * chunk / int64(len(rows))
	}
	sample, err := passes.Gather(ctx, src, rows)
	if err != nil || len(sample) == 0 {
		return nil, err
	}
	return pivots(sample[0]), nil
}

func pivots(b *block.Block) (found []float64) {
	for c, values := range columnsOf(b) {
		n := len(values)
		slices.Sort(values)
		median, spread := values[n/2], 0.0
		for _, v := range values {
			spread += math.Abs(v-median) / float64(n)
		}
		size := math.Abs(median)
		if far := size > farMedianSpreads*spread && (spread > 0 || size >= farConstant); far && !math.IsInf(size, 0) {
			if found == nil {
				found = make([]float64, b.Cols)
			}
			found[c] = median
		}
	}
	return found
}

// columnsOf yields each column but the last with its values. In sparse rows, it skips columns that are stored in fewer
// than half of the rows. It reuses the memory of the values for the next column.
func columnsOf(b *block.Block) iter.Seq2[int, []float64] {
	type element struct {
		column int
		value  float64
	}
	return func(yield func(int, []float64) bool) {
		n := b.Len()
		values := make([]float64, n)
		if b.Sparse == nil {
			for c := range b.Cols - 1 {
				for i := range values {
					values[i] = float64(b.X[i*b.Stride+c])
				}
				if !yield(c, values) {
					return
				}
			}
			return
		}
		var all []element
		for i := range n {
			columns, stored := b.Sparse.Row(i)
			for k, c := range columns {
				all = append(all, element{int(c), float64(stored[k])})
			}
		}
		slices.SortFunc(all, func(x, y element) int { return cmp.Compare(x.column, y.column) })
		for len(all) > 0 {
			c, k := all[0].column, 0
			clear(values)
			for ; k < len(all) && all[k].column == c; k++ {
				values[k] = all[k].value
			}
			if all = all[k:]; 2*k >= n && c < b.Cols-1 && !yield(c, values) {
				return
			}
		}
	}
}

// Centre returns the rows of src with multiple[c] times column of subtracted from each column c. multiple[of] is 0. If
// column of is the bias, a column of ones, the multiples are constants, as the numbers of Pivots are. The blocks share
// memory with the blocks of src. Their Centring makes the subtraction happen where rows are widened to float64; see
// block.Centring.
func Centre(src block.Source, of int, multiple []float64) block.Source {
	return centreView.Of(src, block.NewCentring(of, multiple))
}

// CentredRows returns the rows of src minus the pivots of Pivots. If there are none, it returns src.
func CentredRows(ctx context.Context, src block.Source) (rows block.Source, pivots []float64, err error) {
	if pivots, err = Pivots(ctx, src); pivots == nil {
		return src, nil, err
	}
	return Centre(src, len(pivots)-1, pivots), pivots, nil
}

// Uncentre turns weights for the rows of Centre into weights for the original rows. The pivots are the multiples of the
// bias that Centre subtracted. Uncentre subtracts the dot product of the pivots and the other weights from the bias,
// which is the last weight.
func Uncentre(w, pivots []float64) {
	last := len(pivots) - 1
	w[last] -= f64.Dot(w[:last], pivots[:last])
}

// Recentre is the inverse of Uncentre. It computes the sum with twice the digits of float64, because most digits cancel
// (Ogita, Rump and Oishi, "Accurate Sum and Dot Product", SIAM Journal on Scientific Computing 26, 2005).
func Recentre(w, pivots []float64) {
	last := len(pivots) - 1
	sum, rest := w[last], 0.0
	for i, p := range pivots[:last] {
		product := float64(w[i] * p)
		next := sum + product
		part := next - sum
		rest += (sum - (next - part)) + (product - part) + math.FMA(w[i], p, -product)
		sum = next
	}
	w[last] = sum + rest
}

// RoundCentred rounds weights for the rows of Centre so that the corresponding weights for the original rows are
// float32 numbers. If pivots is nil, the rows are the original rows.
func RoundCentred(w, pivots []float64) {
	if pivots != nil {
		Uncentre(w, pivots)
	}
	for i, v := range w {
		w[i] = float64(float32(v))
	}
	if pivots != nil {
		Recentre(w, pivots)
	}
}

var centreView = passes.NewView("train.centre", func(_ *schema.Spec, by *block.Centring) passes.Change {
	return passes.Change{Block: func(b, _ *block.Block) *block.Block {
		to := *b
		to.Centring = by
		return &to
	}}
})
