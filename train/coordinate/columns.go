package coordinate

import (
	"context"
	"fmt"
	"math"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// columns are the elements that aren't 0 by column: column j has values val[k] in rows row[k] for k from ptr[j] to ptr[j+1].
type columns[T kernel.Float] struct {
	ptr   []int64
	row   []uint32
	val   []T
	tasks []int // ends of ranges of columns with about as many elements
}

const taskElements = 1 << 16 // about the elements of a task

// newColumns copies the elements of rows in two passes.
func newColumns[T kernel.Float](ctx context.Context, src block.Source[T]) (*columns[T], error) {
	if src.Rows() > math.MaxUint32 {
		return nil, fmt.Errorf("%d rows are too many for l1 and nonnegative with more than 16,384 columns: leave these out", src.Rows())
	}
	cols := src.Spec().Cols()
	c := &columns[T]{ptr: make([]int64, cols+1)}
	var packed kernel.SparseRows[T]
	each := func(do func(first int64, rows *kernel.SparseRows[T], n int)) error {
		for runs, err := range block.Runs(ctx, src, 1) {
			if err != nil {
				return err
			}
			for _, run := range runs {
				do(run.First, csr.Rows(run, csr.Clean(run), &packed), run.Len())
			}
		}
		return nil
	}
	err := each(func(_ int64, rows *kernel.SparseRows[T], n int) {
		for _, j := range rows.Idx[rows.Ptr[0]:rows.Ptr[n]] {
			c.ptr[j+1]++
		}
	})
	if err != nil {
		return nil, err
	}
	last := int64(0)
	for j := range cols {
		c.ptr[j+1] += c.ptr[j]
		if c.ptr[j+1]-last >= taskElements || j+1 == cols {
			c.tasks, last = append(c.tasks, j+1), c.ptr[j+1]
		}
	}
	c.row, c.val = make([]uint32, c.ptr[cols]), block.Alloc[T](int(c.ptr[cols]))
	at := append([]int64(nil), c.ptr...)
	return c, each(func(first int64, rows *kernel.SparseRows[T], n int) {
		for r := range n {
			columns, values := rows.Row(r)
			for k, j := range columns {
				c.row[at[j]], c.val[at[j]] = uint32(first)+uint32(r), values[k]
				at[j]++
			}
		}
	})
}

// column returns the rows and values of column j.
func (c *columns[T]) column(j int) ([]uint32, []T) {
	lo, hi := c.ptr[j], c.ptr[j+1]
	return c.row[lo:hi], c.val[lo:hi]
}

// each calls do once for each column on several goroutines.
func (c *columns[T]) each(ctx context.Context, workers int, do func(j int)) error {
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
