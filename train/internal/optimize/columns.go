package optimize

import (
	"context"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
)

// columns are the nonzero elements of a matrix by column: column j has the values val[k] in the rows row[k], for k from
// ptr[j] to ptr[j+1]-1.
type columns[V float32 | float64] struct {
	ptr   []int64
	row   []uint32
	val   []V
	tasks []int // ends of ranges of columns with about taskElements elements each
}

// elements are the columns of the rows: float32 values, or float64 values if the rows are centred.
type elements interface {
	count() int64     // number of elements
	size(j int) int64 // number of elements of column j
	eachColumn(ctx context.Context, workers int, do func(j int)) error

	score(j int, v []float64) float64    // dot product of column j and v
	add(j int, to []float64, by float64) // adds by times column j to a vector
	scale(j int) float64                 // the least power of two above the absolute values of column j

	// scaledColumn copies the elements of column j in rows whose root isn't 0, each times the root and divided by
	// scale. It returns their number and the sum of the squares of the copies.
	scaledColumn(j int, scale float64, roots []float32, row []uint32, val []float32) (n int, square float64)
}

const taskElements = 1 << 16 // approximate number of elements in a task

// newElements copies the nonzero elements of src by column. It makes two passes over the rows.
func newElements(ctx context.Context, src block.Source, centred bool) (elements, error) {
	if centred {
		return newColumns(ctx, src, (*linalg.SparseReader).CentredRow)
	}
	return newColumns(ctx, src, (*linalg.SparseReader).Row)
}

func newColumns[V float32 | float64](ctx context.Context, src block.Source,
	read func(*linalg.SparseReader, int) ([]uint32, []V)) (*columns[V], error) {
	if src.Rows() > math.MaxUint32 {
		return nil, message.Errorf("%d rows are too many for --l1 and --nonnegative with more than 16,384 columns: leave "+
			"these out", src.Rows())
	}
	cols := src.Spec().Cols()
	var rows linalg.SparseReader
	ptr, row, val, err := linalg.TransposeSparse(cols, func(do func(r uint32, columns []uint32, values []V)) error {
		for chunks, err := range block.Chunks(ctx, src, 1) {
			if err != nil {
				return err
			}
			for _, chunk := range chunks {
				rows.Begin(chunk)
				for r := range chunk.Len() {
					columns, values := read(&rows, r)
					do(uint32(chunk.First)+uint32(r), columns, values)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := &columns[V]{ptr: ptr, row: row, val: val}
	last := int64(0)
	for j := range cols {
		if c.ptr[j+1]-last >= taskElements || j+1 == cols {
			c.tasks, last = append(c.tasks, j+1), c.ptr[j+1]
		}
	}
	return c, nil
}

func (c *columns[V]) column(j int) ([]uint32, []V) {
	lo, hi := c.ptr[j], c.ptr[j+1]
	return c.row[lo:hi], c.val[lo:hi]
}

func (c *columns[V]) count() int64     { return int64(len(c.row)) }
func (c *columns[V]) size(j int) int64 { return c.ptr[j+1] - c.ptr[j] }

func (c *columns[V]) score(j int, v []float64) float64 {
	rows, values := c.column(j)
	return linalg.ScoreSparse(rows, values, v)
}

func (c *columns[V]) add(j int, to []float64, by float64) {
	rows, values := c.column(j)
	linalg.AddSparse(to, rows, values, by)
}

func (c *columns[V]) scale(j int) float64 {
	_, values := c.column(j)
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(float64(v)))
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, exponent)
}

func (c *columns[V]) scaledColumn(j int, scale float64, roots []float32, row []uint32, val []float32) (n int, square float64) {
	rows, values := c.column(j)
	values = values[:len(rows)]
	unit := 1 / scale // exact
	for k, r := range rows {
		if root := roots[r]; root != 0 {
			v := float32(float32(float64(values[k])*unit) * root)
			row[n], val[n] = r, v
			square += float64(float64(v) * float64(v))
			n++
		}
	}
	return n, square
}

// eachColumn calls do once for each column, on several goroutines.
func (c *columns[V]) eachColumn(ctx context.Context, workers int, do func(j int)) error {
	return parallel.For(ctx, workers, len(c.tasks), func(_, task int) {
		first := 0
		if task > 0 {
			first = c.tasks[task-1]
		}
		for j := first; j < c.tasks[task]; j++ {
			do(j)
		}
	})
}
