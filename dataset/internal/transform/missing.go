package transform

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
)

// A Cut is rows of a batch, in ascending order.
type Cut struct {
	Lo, Hi int
	Rows   []int32 // the rows; nil: all rows from Lo up to, but not including, Hi
}

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

// Of returns a batch of the rows of the cut. The caller must release it.
func (c Cut) Of(bt *column.Batch) (*column.Batch, error) {
	part := &column.Batch{File: bt.File, First: bt.First, Rows: int64(c.Len())}
	if bt.Line != nil {
		part.Line = func(row int64) int64 { return bt.Line(int64(c.slice(int(row), 1).First())) }
	}
	err := column.Recovered(func() error { // Arrow panics if an array contradicts its type
		for _, a := range bt.Columns {
			pieces := []arrow.Array{array.NewSlice(a, 0, 0)}
			for _, span := range c.Spans() {
				pieces = append(pieces, array.NewSlice(a, int64(span.Lo), int64(span.Hi)))
			}
			joined, err := array.Concatenate(pieces, memory.DefaultAllocator)
			for _, p := range pieces {
				p.Release()
			}
			if err != nil {
				return err
			}
			part.Columns = append(part.Columns, joined)
		}
		return nil
	})
	if err != nil {
		part.Release()
		return nil, err
	}
	return part, nil
}

// findInfinite records the columns of features with an infinite date.
func (s *Binding) findInfinite(bt *column.Batch) {
	if s.infinite == nil || bt.Unread {
		return
	}
	for _, i := range s.Features {
		_, dated := column.PerDay(s.Columns[i].Type)
		if dated && !s.infinite[i].Load() && column.HasInfiniteDate(bt.Columns[i]) {
			s.infinite[i].Store(true)
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

// complete returns the arrays of a batch in which kept rows have no missing value.
func (s *Binding) complete(bt *column.Batch) (columns []arrow.Array) {
	if s.dropsNulls() {
		for k := range s.Plan.Inputs {
			columns = append(columns, s.array(bt, k))
		}
		for _, i := range slices.Concat(s.Further...) {
			columns = append(columns, bt.Columns[i])
		}
		if s.Weight >= 0 {
			columns = append(columns, bt.Columns[s.Weight])
		}
	}
	if s.Label >= 0 && (s.dropsNulls() || s.Plan.DropUnlabelled) {
		columns = append(columns, bt.Label(s.Label))
	}
	return columns
}

// Kept returns the rows of a batch that are kept. After Kept, goroutines can share the batch.
func (s *Binding) Kept(ctx context.Context, p column.Pool, bt *column.Batch) (Cut, error) {
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
	s.findInfinite(bt)
	if !s.Drops() {
		return all, nil
	}
	gone := make([]bool, all.Hi)
	if err := s.leaveOut(bt, gone); err != nil {
		return all, Unfit(column.ErrorIn(bt.File, "%w", err))
	}
	columns := s.complete(bt)
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
