package train

import (
	"context"

	"halfspace/internal/block"
)

// Refiter is a source whose features are learned from its rows, for example standardized features. A cross-validation
// learns the features again for each fold, only from the other folds. A hold-out learns them from the rows to learn
// from. Both also do so for a *block.Data of standardized rows. The features of any other source must not depend on its
// rows.
type Refiter interface {
	block.Source

	// Unwrap returns the rows as the source that holds them, for example a *block.Data.
	Unwrap() block.Source

	// Refit returns, for each choice of rows, a function that opens all rows again, with features learned from the
	// chosen rows. It returns nil if the features don't depend on rows. A choice is called for each row in order, with
	// the number of the row's class, and tells whether the row is chosen.
	Refit(ctx context.Context, choices []func(class int) bool) ([]func(context.Context) (block.Source, error), error)
}

// refitSource is a checked source whose features can be learned again.
type refitSource struct {
	block.Source
	refit block.Refit
}

// refitOf returns the function that learns the features of a source again, or nil if they don't depend on rows.
func refitOf(src block.Source) block.Refit {
	switch r := src.(type) {
	case refitSource:
		return r.refit
	case *block.Data: // isn't a Refiter, nor is a source that embeds it
		return r.Refit
	case Refiter:
		return r.Refit
	}
	return nil
}

// withoutRefit returns the rows of a source without the ability to learn features again. Other sources are returned as
// they are.
func withoutRefit(src block.Source) block.Source {
	switch r := src.(type) {
	case refitSource:
		return r.Source
	case Refiter:
		return r.Unwrap()
	}
	return src
}

// checkSource returns src, checked by block.Validate. A source that can learn its features again keeps this ability.
func checkSource(ctx context.Context, src block.Source, l Learner) (block.Source, error) {
	if r, ok := src.(refitSource); ok {
		return r, nil
	}
	again := refitOf(src)
	rows, err := block.Validate(ctx, withoutRefit(src), l.Workers())
	if again == nil || err != nil {
		return rows, err
	}
	return refitSource{rows, again}, nil
}
