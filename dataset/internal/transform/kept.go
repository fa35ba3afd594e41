package transform

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
)

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

// End returns the number of input rows that contain the first rows that the options where and sample choose. It makes a pass over the
// batches if necessary.
func (s *Binding) End(ctx context.Context, rows int64, p column.Pool, batches iter.Seq2[*column.Batch, error]) (end int64, err error) {
	if s.where == nil && s.Plan.Sample == 0 {
		return rows, nil
	}
	err = Each(ctx, batches, -1, nil, func(bt *column.Batch, first int64) error {
		if _, err := s.Kept(ctx, p, bt); err != nil {
			return err
		}
		gone := make([]bool, bt.Rows)
		if err := s.leaveOut(bt, gone); err != nil {
			return err
		}
		for i, g := range gone {
			if end = first + int64(i) + 1; g {
				continue
			}
			if rows--; rows == 0 {
				return ErrEnough
			}
		}
		return nil
	})
	return max(1, end), err
}
