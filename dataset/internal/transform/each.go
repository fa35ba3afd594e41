package transform

import (
	"context"
	"errors"
	"iter"

	"halfspace/dataset/internal/column"
)

// ErrEnough is the error of a function that needs no further batches. Each returns nil for it.
var ErrEnough = errors.New("enough")

// Each calls f with each batch and the number of its first row. It releases the batch, and calls progress unless that is
// nil. It returns an error of f that Unfit has marked unchanged. Any other error means that the rows are damaged, and
// Each names them.
func Each(ctx context.Context, batches iter.Seq2[*column.Batch, error], total int64, progress func(rows, total int64),
	f func(bt *column.Batch, first int64) error) error {
	first := int64(0)
	for bt, err := range batches {
		if err != nil {
			return err
		}
		bt.First = first
		err := column.Recovered(func() error { return f(bt, first) })
		bt.Release()
		switch {
		case err == nil || err == ErrEnough:
		case ctx.Err() != nil || IsUnfit(err):
			return err
		default:
			return bt.Damaged(first, first+bt.Rows-1, err)
		}
		if first += bt.Rows; progress != nil {
			progress(first, total)
		}
		if err == ErrEnough {
			return nil
		}
	}
	return nil
}

// unfit is an error about a whole column.
type unfit struct{ error }

func (e unfit) Unwrap() error { return e.error }

// Unfit marks an error as an error about a whole column.
func Unfit(err error) error { return unfit{err} }

// IsUnfit returns true if an error is about a whole column.
func IsUnfit(err error) bool { return errors.As(err, new(unfit)) }
