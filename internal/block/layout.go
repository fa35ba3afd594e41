package block

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"halfspace/kernel"
	"halfspace/schema"
)

// A layout checks that blocks follow each other, and that their slices have the lengths that the number of rows and
// columns requires. After that check, code that indexes by row and column stays within the slices of a block.
type layout struct {
	spec         *schema.Spec
	cols, stride int
	rows         int64 // number of rows of all blocks
	rowsSoFar    int64 // number of rows of the blocks so far
	isSparse     bool  // the block checked last is sparse
}

func newLayout(src Source) (*layout, error) {
	if v := reflect.ValueOf(src); src == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("the source of rows is nil")
	}
	l := &layout{spec: src.Spec(), rows: src.Rows()}
	switch {
	case l.spec == nil:
		return nil, errors.New("the source of rows has no Spec, which says what its columns are")
	case l.spec.Cols() == 0:
		return nil, errors.New("Spec has no columns: name the features")
	case l.spec.Positive < schema.FirstClass || l.spec.Positive > max(1, len(l.spec.Classes)-1):
		return nil, fmt.Errorf("Spec.Positive is %d, and there are %d classes: leave it 0 for the last one",
			l.spec.Positive, len(l.spec.Classes))
	}
	l.cols, l.stride = l.spec.Cols(), kernel.Stride(l.spec.Cols())
	return l, nil
}

// SpecOf returns the Spec of src. It returns an error if src is nil, or if Validate would reject the Spec.
func SpecOf(src Source) (*schema.Spec, error) {
	l, err := newLayout(src)
	if err != nil {
		return nil, err
	}
	return l.spec, nil
}

// next checks block n, which follows the blocks checked so far.
func (l *layout) next(n int, b *Block) error {
	var err error
	switch {
	case b == nil:
		err = b.CheckShape(l.cols)
	case l.rowsSoFar%ChunkRows != 0:
		return fmt.Errorf("block %d ends at row %d, and another one follows: each block but the last has a multiple of %d rows",
			n-1, l.rowsSoFar, ChunkRows)
	case b.First != l.rowsSoFar:
		err = fmt.Errorf("its First is %d, and the blocks before it have %d rows: set First to that", b.First, l.rowsSoFar)
	case n > 0 && l.isSparse != (b.Sparse != nil):
		err = errors.New("it is sparse and those before it are dense, or the reverse: all blocks must have one form")
	default:
		err = b.CheckShape(l.cols)
	}
	if err == nil && int64(b.Len()) > l.rows-l.rowsSoFar {
		err = fmt.Errorf("it has %d rows, where the source has only %d more: Rows returns the number of all", b.Len(), l.rows-l.rowsSoFar)
	}
	if err != nil {
		return fmt.Errorf("block %d: %w", n, err)
	}
	l.isSparse = b.Sparse != nil
	l.rowsSoFar += int64(b.Len())
	return nil
}

// end returns an error unless all rows came, or the context's error if it was cancelled.
func (l *layout) end(ctx context.Context) error {
	if l.rowsSoFar == l.rows || ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the source ended after %d of %d rows: Rows returns the number of all", l.rowsSoFar, l.rows)
}

// CheckShape returns an error unless the block has cols columns and its slices have the lengths that its columns and
// rows require. Code that works on a block without an error stays within its slices. In a dense block, CheckShape
// reads no row.
func (b *Block) CheckShape(cols int) error {
	rows, stride := b.Len(), kernel.Stride(cols)
	switch {
	case b == nil:
		return errors.New("it is nil")
	case b.Cols != cols:
		return fmt.Errorf("it has %d columns, and %d are described, the bias included: make it by block.NewFor", b.Cols, cols)
	case b.Stride != stride:
		return fmt.Errorf("its stride is %d, and that of %d columns is %d: make it by block.NewFor", b.Stride, cols, stride)
	case b.Sparse != nil && b.X != nil:
		return errors.New("it has dense rows and sparse ones: leave out one of them")
	case stride == 0 && len(b.X) > 0, stride > 0 && len(b.X)%stride != 0:
		return fmt.Errorf("it has %d elements, which aren't whole rows of the stride %d", len(b.X), stride)
	case b.Y != nil && len(b.Y) != rows:
		return fmt.Errorf("it has %d labels for %d rows", len(b.Y), rows)
	case b.W != nil && len(b.W) != rows:
		return fmt.Errorf("it has %d weights for %d rows", len(b.W), rows)
	case b.Sparse != nil:
		return checkSparse(b.Sparse, cols)
	}
	return nil
}

// checkSparse returns an error unless the elements of each row lie within Idx and Val, and the columns ascend and are
// less than cols.
func checkSparse(s *kernel.SparseRows, cols int) error {
	if len(s.Idx) != len(s.Val) {
		return fmt.Errorf("it names %d columns for %d elements", len(s.Idx), len(s.Val))
	}
	for r := range len(s.Ptr) - 1 {
		lo, hi := s.Ptr[r], s.Ptr[r+1]
		if lo < 0 || hi < lo || hi > int64(len(s.Idx)) {
			return fmt.Errorf("its row %d has elements %d to %d of %d", r, lo, hi, len(s.Idx))
		}
		last := -1
		for _, c := range s.Idx[lo:hi] {
			if int(c) <= last || int(c) >= cols {
				return fmt.Errorf("its row %d has column %d after column %d: columns ascend from 0 to %d", r, c, last, cols-1)
			}
			last = int(c)
		}
	}
	return nil
}
