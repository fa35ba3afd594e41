package train

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
)

const (
	pivotRows = 257 // rows of the first run that Pivots looks at
	farOff    = 1e3 // a column is far from zero if its median is more than this times its spread
	farStill  = 1e4 // a column that is constant in those rows is far from zero from here on
)

// Pivots returns a number for each column of src: the median of the column if it is far from zero, as that of Unix
// seconds is, and else 0. It returns nil if no column is far from zero, or if there is no bias, whose weight would make
// up for the difference. It reads the first rows of src.
func Pivots(ctx context.Context, src block.Source) (found []float64, err error) {
	if !src.Spec().Bias {
		return nil, nil
	}
	if cluster, _ := block.RemoteOf(src); cluster != nil && src.Rows() > 0 {
		err = passes.Each(ctx, src, pivotsTask, struct{}{}, [][]int64{{0}}, func(p []float64) error {
			found = p
			return nil
		})
		return found, err
	}
	return firstPivots(ctx, src)
}

// firstPivots returns the pivots of the first run of src.
func firstPivots(ctx context.Context, src block.Source) ([]float64, error) {
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		return pivots(b.Slice(0, min(b.Len(), block.RunRows)), b.Cols), nil
	}
	return nil, nil
}

// pivotsTask is Pivots on a cluster. The piece is the first run.
var pivotsTask = passes.New("train.pivots", pivotsOf)

func pivotsOf(ctx context.Context, first passes.Piece, _ struct{}) ([]float64, error) {
	return firstPivots(ctx, first.Source)
}

func pivots(b *block.Block, cols int) (found []float64) {
	for c, values := range columnsOf(b, min(pivotRows, b.Len()), cols) {
		n := len(values)
		slices.Sort(values)
		median, spread := values[n/2], 0.0
		for _, v := range values {
			spread += math.Abs(v-median) / float64(n)
		}
		size := math.Abs(median)
		if far := size > farOff*spread && (spread > 0 || size >= farStill); far && !math.IsInf(size, 0) {
			if found == nil {
				found = make([]float64, cols)
			}
			found[c] = median
		}
	}
	return found
}

// columnsOf yields the values of each column but the last in n rows of a block, which are spread over it. It passes over
// columns of sparse rows that are 0 in most of these. The next column has the same memory.
func columnsOf(b *block.Block, n, cols int) iter.Seq2[int, []float64] {
	type element struct {
		column int
		value  float64
	}
	return func(yield func(int, []float64) bool) {
		values := make([]float64, n)
		if b.Sparse == nil {
			for c := range cols - 1 {
				for i := range values {
					values[i] = float64(b.X[i*b.Len()/n*b.Stride+c])
				}
				if !yield(c, values) {
					return
				}
			}
			return
		}
		var all []element
		for i := range n {
			columns, stored := b.Sparse.Row(i * b.Len() / n)
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
			if all = all[k:]; 2*k >= n && c < cols-1 && !yield(c, values) {
				return
			}
		}
	}
}

// Centre returns the rows of src with multiple[c] times the column of subtracted from each column c. The multiple of that column
// itself is 0. If it is the bias, a column of ones, the multiples are constants, as those of Pivots are. The blocks share the rows
// of src, and say what to subtract from them where they are widened to float64; see block.Centring.
func Centre(src block.Source, of int, multiple []float64) block.Source {
	return centred{src, block.NewCentring(of, multiple)}
}

// Uncentre turns weights for the rows of Centre, with pivots as multiples of the bias, into weights for the original
// rows. It subtracts from the bias, the last weight, the dot product of the pivots and the other weights.
func Uncentre(w, pivots []float64) {
	last := len(pivots) - 1
	w[last] -= f64.Dot(w[:last], pivots[:last])
}

// Recentre is the inverse of Uncentre. Its sum has twice the digits of float64, since most of them cancel (Ogita, Rump and
// Oishi, "Accurate Sum and Dot Product", SIAM Journal on Scientific Computing 26, 2005).
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

// RoundCentred rounds weights for the rows of Centre to those that weights of float32 for the original rows stand for.
// pivots may be nil: then the rows are the original ones.
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

// centred is the rows of another source, centred.
type centred struct {
	block.Source
	by *block.Centring
}

const centreView = "train.centre"

func init() { passes.NewView(centreView, centre) }

func centre(src block.Source, by *block.Centring, _ int) block.Source {
	return centred{src, by}
}

// Remote returns the cluster of the rows; see block.Remote.
func (c centred) Remote() (block.Cluster, []block.View) {
	return passes.Changed(c.Source, centreView, c.by)
}

// Blocks yields the blocks of the other source. A block is valid until the next one is requested.
func (c centred) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLoan(c.Lend(ctx))
}

// Lend is Blocks for users of several blocks at once. See block.Lender.
func (c centred) Lend(ctx context.Context) iter.Seq2[block.Loan, error] {
	return block.Change(ctx, c.Source, func(b, _ *block.Block) (*block.Block, error) {
		to := *b
		to.Centring = c.by
		return &to, nil
	})
}
