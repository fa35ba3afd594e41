package training

import (
	"context"
	"errors"
	"fmt"

	"halfspace/fit"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/rows"
	"halfspace/internal/say"
	"halfspace/kernel"
)

// openValidation opens the rows to judge on: those of paths, or the share that --validation holds out. Without either there are none.
func openValidation[T kernel.Float](ctx context.Context, a *console.App, o *trainOptions, paths []string, learned *rows.Rows[T],
	bar *console.Progress) (*rows.Rows[T], error) {
	switch {
	case o.share > 0:
		v := new(rows.Rows[T])
		return v, holdOut(ctx, o, learned, v, bar)
	case len(paths) == 0:
		return new(rows.Rows[T]), nil
	}
	return rows.OpenValidation(ctx, a, &o.Options, paths, learned, bar)
}

// holdOut takes a share of the rows out of those that are learned from.
func holdOut[T kernel.Float](ctx context.Context, o *trainOptions, learned, validation *rows.Rows[T], bar *console.Progress) error {
	opt := o.fitOptions(nil, bar)
	opt.HoldOut = o.share
	all := *learned
	parts, err := fit.HoldOut(ctx, all.Source, o.learner, opt)
	if errors.Is(err, fit.ErrEmptyShare) {
		return fmt.Errorf("%s of %s %w: take another share, or another --seed", o.validation, say.Plural(all.Rows(), "row"), err)
	}
	if err != nil {
		return err
	}
	density := learned.Density
	*learned, *validation = *rows.New(parts.Kept, nil), *rows.New(parts.Held, parts.Close)
	learned.Density = density
	return all.Close()
}
