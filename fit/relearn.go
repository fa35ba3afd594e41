package fit

import (
	"context"

	"halfspace/block"
	"halfspace/kernel"
)

// Relearner is a source whose features are learned from its rows, such as standardized ones. A cross-validation learns
// them again for each fold, from the other folds alone. A hold-out learns them from the rows that are left. Both do so
// with a *block.Data of standardized rows too. Features of any other source depend on no rows.
type Relearner[T kernel.Float] interface {
	block.Source[T]

	// Unwrap returns the rows as the source that holds them, such as a *block.Data.
	Unwrap() block.Source[T]

	// Relearn returns for each choice of rows a function that opens all rows again, with features learned from the chosen ones. It
	// returns nil if features depend on no rows. A choice tells for one row after the other, by its class, whether it is taken.
	Relearn(ctx context.Context, choices []func(class int) bool) ([]func(context.Context) (block.Source[T], error), error)
}

// relearned is a source whose rows were checked and whose features can be learned again.
type relearned[T kernel.Float] struct {
	block.Source[T]
	again block.Relearn[T]
}

// relearner returns what learns the features of a source again, or nil if they depend on no rows.
func relearner[T kernel.Float](src block.Source[T]) block.Relearn[T] {
	switch r := src.(type) {
	case relearned[T]:
		return r.again
	case *block.Data[T]: // which is no Relearner: nor is a source that has it as a part
		return r.Relearn
	case Relearner[T]:
		return r.Relearn
	}
	return nil
}

// plain returns the rows of a source whose features can be learned again, and another source as it is.
func plain[T kernel.Float](src block.Source[T]) block.Source[T] {
	switch r := src.(type) {
	case relearned[T]:
		return r.Source
	case Relearner[T]:
		return r.Unwrap()
	}
	return src
}
