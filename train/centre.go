package train

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/schema"
)

const (
	pivotRows = 257 // rows of the first run that Pivots looks at
	farOff    = 1e3 // a column is far from zero if its median is more than this times its spread
	farStill  = 1e4 // a column that is constant in those rows is far from zero from here on
)

// Pivots returns a number for each column of src: the median of the column if it is far from zero, as that of Unix
// seconds is, and else 0. It returns nil if no column is far from zero, or if there is no bias, whose weight would make
// up for the difference. It reads the first rows of src.
func Pivots[T kernel.Float](ctx context.Context, src block.Source[T]) (found []float64, err error) {
	if !src.Spec().Bias {
		return nil, nil
	}
	if cluster, _ := block.RemoteOf(src); cluster != nil && src.Rows() > 0 {
		err = passes.Each(ctx, src, passes.Choose[T, struct{}, []float64](pivotsTask32, pivotsTask64), struct{}{}, [][]int64{{0}}, func(p []float64) error {
			found = p
			return nil
		})
		return found, err
	}
	return firstPivots(ctx, src)
}

// firstPivots returns the pivots of the first run of src.
func firstPivots[T kernel.Float](ctx context.Context, src block.Source[T]) ([]float64, error) {
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		return pivots(b.Slice(0, min(b.Len(), block.RunRows)), b.Cols), nil
	}
	return nil, nil
}

// pivotsTask32 and pivotsTask64 are Pivots on a cluster. The piece is the first run.
var (
	pivotsTask32 = passes.New("train.pivots", pivotsOf[float32])
	pivotsTask64 = passes.New("train.pivots", pivotsOf[float64])
)

func pivotsOf[T kernel.Float](ctx context.Context, first passes.Piece[T], _ struct{}) ([]float64, error) {
	return firstPivots(ctx, first.Source)
}

func pivots[T kernel.Float](b *block.Block[T], cols int) (found []float64) {
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
func columnsOf[T kernel.Float](b *block.Block[T], n, cols int) iter.Seq2[int, []float64] {
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

// widen writes row r of a block to out, which has an element for each column.
func widen[T kernel.Float](b *block.Block[T], r int, out []float64) {
	if b.Sparse != nil {
		clear(out)
		columns, values := b.Sparse.Row(r)
		for k, c := range columns {
			out[c] = float64(values[k])
		}
		return
	}
	for c, v := range b.X[r*b.Stride:][:len(out)] {
		out[c] = float64(v)
	}
}

// Centre returns the rows of src as float64, with multiple[c] times the column of subtracted from each column c. The
// multiple of that column itself is 0. If it is the bias, a column of ones, the multiples are constants, as those of
// Pivots are. The difference of a float32 and a multiple near it is exact. Others are rounded once. Sparse rows stay
// sparse.
func Centre[T kernel.Float](src block.Source[T], of int, multiple []float64, workers int) block.Source[float64] {
	c := &centred[T]{src: src, of: of, multiple: multiple, workers: workers}
	for i, m := range multiple {
		if m != 0 {
			c.changed = append(c.changed, uint32(i))
		}
	}
	return c
}

// Uncentre turns weights for the rows of Centre, with pivots as multiples of the bias, into weights for the original
// rows. It subtracts from the bias, the last weight, the dot product of the pivots and the other weights.
func Uncentre(w, pivots []float64) {
	last := len(pivots) - 1
	w[last] -= kernel.Dot(w[:last], pivots[:last])
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

// RoundCentred rounds weights for the rows of Centre to those that weights of type T for the original rows stand for.
// pivots may be nil: then the rows are the original ones.
func RoundCentred[T kernel.Float](w, pivots []float64) {
	if pivots != nil {
		Uncentre(w, pivots)
	}
	for i, v := range w {
		w[i] = float64(T(v))
	}
	if pivots != nil {
		Recentre(w, pivots)
	}
}

// centred is the rows of another source, centred.
type centred[T kernel.Float] struct {
	src      block.Source[T]
	of       int
	multiple []float64
	changed  []uint32 // the columns whose multiple isn't 0
	workers  int
}

func (c *centred[T]) Spec() *schema.Spec { return c.src.Spec() }
func (c *centred[T]) Rows() int64        { return c.src.Rows() }

const centreView = "train.centre"

// centring is the arguments of Centre.
type centring struct {
	of       int
	multiple []float64
}

func init() {
	passes.NewView(centreView, centre[float32])
	passes.NewView(centreView, centre[float64])
}

func centre[T kernel.Float](src block.Source[T], by centring, workers int) block.Source[float64] {
	return Centre(src, by.of, by.multiple, workers)
}

// Remote returns the cluster of the rows; see block.Remote.
func (c *centred[T]) Remote() (block.Cluster, []block.View) {
	return passes.Changed(c.src, centreView, centring{c.of, c.multiple})
}

// Blocks yields the blocks of the other source. A block is valid until the next one is requested.
func (c *centred[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[float64], error] {
	return block.EachLoan(c.Lend(ctx))
}

// Lend is Blocks for users of several blocks at once. See block.Lender.
func (c *centred[T]) Lend(ctx context.Context) iter.Seq2[block.Loan[float64], error] {
	return block.Change(ctx, c.src, func(b *block.Block[T], spare *block.Block[float64]) (*block.Block[float64], error) {
		if b.Sparse != nil {
			return c.sparse(b, spare), nil
		}
		return c.dense(ctx, b, spare)
	})
}

// dense centres a block of dense rows. It may return the spare with other rows.
func (c *centred[T]) dense(ctx context.Context, b *block.Block[T], spare *block.Block[float64]) (*block.Block[float64], error) {
	rows := b.Len()
	to := &block.Block[float64]{First: b.First, Cols: b.Cols, Stride: kernel.Stride[float64](b.Cols), W: b.W}
	if spare != nil {
		to.X, to.Y = spare.X[:cap(spare.X)], spare.Y[:cap(spare.Y)]
	}
	if len(to.X) < rows*to.Stride {
		to.X = block.Alloc[float64](rows * to.Stride)
	}
	if len(to.Y) < len(b.Y) {
		to.Y = make([]float64, rows)
	}
	to.X, to.Y = to.X[:rows*to.Stride], to.Y[:len(b.Y)]
	if b.Y == nil {
		to.Y = nil
	}
	chunks := (rows + kernel.ChunkRows - 1) / kernel.ChunkRows
	return to, parallel.For(ctx, c.workers, chunks, func(_, n int) {
		for r := n * kernel.ChunkRows; r < min(rows, (n+1)*kernel.ChunkRows); r++ {
			if b.Y != nil {
				to.Y[r] = float64(b.Y[r])
			}
			row := to.X[r*to.Stride:][:b.Cols]
			widen(b, r, row)
			x := -row[c.of]
			for _, i := range c.changed {
				row[i] = math.FMA(x, c.multiple[i], row[i])
			}
		}
	})
}

// sparse centres a block of sparse rows. Each row stores each of the changed columns. It may return the spare with other
// rows.
func (c *centred[T]) sparse(b *block.Block[T], spare *block.Block[float64]) *block.Block[float64] {
	to := &kernel.SparseRows[float64]{}
	var y []float64
	if spare != nil {
		to.Ptr, to.Idx, to.Val = spare.Sparse.Ptr[:0], spare.Sparse.Idx[:0], spare.Sparse.Val[:0]
		y = spare.Y[:0]
	}
	to.Ptr = append(to.Ptr, 0)
	for _, v := range b.Y {
		y = append(y, float64(v))
	}
	for r := range b.Len() {
		columns, values := b.Sparse.Row(r)
		x := 0.0
		if k, there := slices.BinarySearch(columns, uint32(c.of)); there {
			x = -float64(values[k])
		}
		for rest := c.changed; len(columns)+len(rest) > 0; {
			v, at := 0.0, uint32(math.MaxUint32)
			if len(columns) > 0 {
				at = columns[0]
			}
			if len(rest) > 0 && rest[0] <= at {
				at = rest[0]
				rest = rest[1:]
			}
			if len(columns) > 0 && columns[0] == at {
				v = float64(values[0])
				columns, values = columns[1:], values[1:]
			}
			to.Idx, to.Val = append(to.Idx, at), append(to.Val, math.FMA(x, c.multiple[at], v))
		}
		to.Ptr = append(to.Ptr, int64(len(to.Idx)))
	}
	return &block.Block[float64]{First: b.First, Cols: b.Cols, Stride: kernel.Stride[float64](b.Cols), Sparse: to, Y: y, W: b.W}
}
