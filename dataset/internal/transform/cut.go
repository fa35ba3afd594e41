package transform

import (
	"iter"

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
