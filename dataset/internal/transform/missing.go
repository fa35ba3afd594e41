package transform

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
)

// A Cut is rows of a batch, in ascending order.
type Cut struct {
	Lo, Hi int
	Rows   []int32 // the rows; nil: all rows from Lo up to, but not including, Hi
}

// Len returns the number of rows.
func (c Cut) Len() int {
	if c.Rows != nil {
		return len(c.Rows)
	}
	return c.Hi - c.Lo
}

// First returns the first row of a cut that isn't empty.
func (c Cut) First() int {
	if c.Rows != nil {
		return int(c.Rows[0])
	}
	return c.Lo
}

// slice returns n rows of the cut, starting with its row i.
func (c Cut) slice(i, n int) Cut {
	if c.Rows != nil {
		return Cut{Rows: c.Rows[i : i+n]}
	}
	return Cut{Lo: c.Lo + i, Hi: c.Lo + i + n}
}

// Spans yields the rows as ranges of consecutive rows of the batch. It yields each range with the index of its first
// row within the cut.
func (c Cut) Spans() iter.Seq2[int, Cut] {
	return func(yield func(int, Cut) bool) {
		if c.Rows == nil {
			yield(0, c)
			return
		}
		for i := 0; i < len(c.Rows); {
			n := 1
			for i+n < len(c.Rows) && c.Rows[i+n] == c.Rows[i]+int32(n) {
				n++
			}
			if !yield(i, Cut{Lo: int(c.Rows[i]), Hi: int(c.Rows[i]) + n}) {
				return
			}
			i += n
		}
	}
}

// prepare makes an array compute its null count and its dictionary. The array would otherwise compute them without a
// lock at the first access. After prepare, goroutines can share the array.
func prepare(a arrow.Array) {
	a.NullN()
	switch a := a.(type) {
	case *array.Dictionary:
		prepare(a.Dictionary())
	case array.ListLike:
		prepare(a.ListValues())
	case *array.Struct:
		for i := range a.NumField() {
			prepare(a.Field(i))
		}
	}
}

// Kept returns the rows of a batch that are kept. After Kept, goroutines can share the batch.
func (s *Selection) Kept(ctx context.Context, p column.Pool, bt *column.Batch) (Cut, error) {
	all := Cut{Hi: int(bt.Rows)}
	err := column.Recovered(func() error {
		for _, a := range bt.Columns {
			if a != nil {
				prepare(a)
			}
		}
		return nil
	})
	if err != nil {
		return all, err
	}
	if err := s.derive(ctx, p, bt); err != nil {
		return all, err
	}
	if !s.Drops() {
		return all, nil
	}
	gone := make([]bool, all.Hi)
	if err := s.leaveOut(bt, gone); err != nil {
		return all, Unfit(column.ErrorIn(bt.File, "%w", err))
	}
	var columns []arrow.Array
	if s.dropsNulls() {
		for k := range s.Inputs {
			columns = append(columns, s.array(bt, k))
		}
		for _, i := range slices.Concat(s.Further...) {
			columns = append(columns, bt.Columns[i])
		}
		if s.Weight >= 0 {
			columns = append(columns, bt.Columns[s.Weight])
		}
	}
	if s.Label >= 0 && (s.dropsNulls() || s.unlabelled) {
		columns = append(columns, bt.Label(s.Label))
	}
	const step = 4096
	err = p.Each(ctx, (all.Hi+step-1)/step, func(i int) error {
		return column.Recovered(func() error {
			for _, c := range columns {
				for _, row := range column.Missing(c, i*step, min(all.Hi, (i+1)*step)) {
					gone[row] = true
				}
			}
			return nil
		})
	})
	if err != nil {
		return all, err
	}
	rows := make([]int32, 0, all.Hi)
	for i, g := range gone {
		if !g {
			rows = append(rows, int32(i))
		}
	}
	if len(rows) == all.Hi {
		return all, nil
	}
	return Cut{Rows: rows}, nil
}
