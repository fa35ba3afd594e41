package dataset

import (
	"context"
	"iter"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// missing returns which of the rows lo to hi are missing: null, NaN or infinite, or lists with such an element.
func missing(a arrow.Array, lo, hi int) (rows []int) {
	if complete(a, lo, hi) {
		return nil
	}
	for i := lo; i < hi; i++ {
		if isMissing(a, i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// complete tells quickly that none is missing, mostly.
func complete(a arrow.Array, lo, hi int) bool {
	if a.NullN() > 0 || lo == hi {
		return lo == hi
	}
	switch a := a.(type) {
	case *array.Float32:
		return finite(a.Float32Values()[lo:hi])
	case *array.Float64:
		return finite(a.Float64Values()[lo:hi])
	case *array.Float16, *array.Dictionary:
		return false
	case array.ListLike:
		from, _ := a.ValueOffsets(lo)
		_, to := a.ValueOffsets(hi - 1)
		return complete(a.ListValues(), int(from), int(to))
	}
	return true
}

func isMissing(a arrow.Array, i int) bool {
	if a.IsNull(i) {
		return true
	}
	v := 0.0
	switch a := a.(type) {
	case *array.Float16:
		v = float64(halfFloat(a.Value(i)))
	case *array.Float32:
		v = float64(a.Value(i))
	case *array.Float64:
		v = a.Value(i)
	case *array.Dictionary:
		return isMissing(a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		for k := int(from); k < int(to); k++ {
			if isMissing(a.ListValues(), k) {
				return true
			}
		}
	}
	return math.IsNaN(v) || math.IsInf(v, 0)
}

// A cut is rows of a batch, in order.
type cut struct {
	lo, hi int
	rows   []int32 // these; nil: all from lo to hi
}

func (c cut) len() int {
	if c.rows != nil {
		return len(c.rows)
	}
	return c.hi - c.lo
}

// first returns the first row of the cut, which has some.
func (c cut) first() int {
	if c.rows != nil {
		return int(c.rows[0])
	}
	return c.lo
}

// slice returns n rows of the cut, from its row i on.
func (c cut) slice(i, n int) cut {
	if c.rows != nil {
		return cut{rows: c.rows[i : i+n]}
	}
	return cut{lo: c.lo + i, hi: c.lo + i + n}
}

// spans yields the rows as stretches that lie together in the batch, each with the number of its first row in the cut.
func (c cut) spans() iter.Seq2[int, cut] {
	return func(yield func(int, cut) bool) {
		if c.rows == nil {
			yield(0, c)
			return
		}
		for i := 0; i < len(c.rows); {
			n := 1
			for i+n < len(c.rows) && c.rows[i+n] == c.rows[i]+int32(n) {
				n++
			}
			if !yield(i, cut{lo: int(c.rows[i]), hi: int(c.rows[i]) + n}) {
				return
			}
			i += n
		}
	}
}

// prepare makes an array compute what it otherwise would when first asked, without a lock: its null count, its dictionary.
// After that goroutines can share it.
func prepare(a arrow.Array) {
	a.NullN()
	switch a := a.(type) {
	case *array.Dictionary:
		prepare(a.Dictionary())
	case array.ListLike:
		prepare(a.ListValues())
	}
}

// kept returns the rows of a batch that are kept. After it, goroutines can share the batch.
func (s *selection) kept(ctx context.Context, p pool, bt *batch) (cut, error) {
	all := cut{hi: int(bt.rows)}
	err := recovered(func() error {
		for _, a := range bt.columns {
			if a != nil {
				prepare(a)
			}
		}
		return nil
	})
	if err != nil {
		return all, err
	}
	if !s.drops() {
		return all, nil
	}
	columns := s.features
	if s.label >= 0 {
		columns = append(columns[:len(columns):len(columns)], s.label)
	}
	if s.weight >= 0 {
		columns = append(columns[:len(columns):len(columns)], s.weight)
	}
	const step = 4096
	gone := make([]bool, all.hi)
	err = p.each(ctx, (all.hi+step-1)/step, func(i int) error {
		return recovered(func() error {
			for _, c := range columns {
				for _, row := range missing(bt.columns[c], i*step, min(all.hi, (i+1)*step)) {
					gone[row] = true
				}
			}
			return nil
		})
	})
	if err != nil {
		return all, err
	}
	rows := make([]int32, 0, all.hi)
	for i, g := range gone {
		if !g {
			rows = append(rows, int32(i))
		}
	}
	if len(rows) == all.hi {
		return all, nil
	}
	return cut{rows: rows}, nil
}
