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
	var packed kernel.SparseRows[T]
	t, err := csr.Transpose(cols, func(do func(r uint32, columns []uint32, values []T)) error {
		for runs, err := range block.Runs(ctx, src, 1) {
			if err != nil {
				return err
			}
			for _, run := range runs {
				rows := csr.Rows(run, csr.Clean(run), &packed)
				for r := range run.Len() {
					columns, values := rows.Row(r)
					do(uint32(run.First)+uint32(r), columns, values)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := &columns[T]{ptr: t.Ptr, row: t.Idx, val: t.Val}
	last := int64(0)
	for j := range cols {
		if c.ptr[j+1]-last >= taskElements || j+1 == cols {
			c.tasks, last = append(c.tasks, j+1), c.ptr[j+1]
		}
	}
	return c, nil
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
