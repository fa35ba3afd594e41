package train

import (
	"context"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/rows"
	"halfspace/train"
)

// splitOf reads the column of --group or --order-by.
func splitOf(ctx context.Context, o *rows.Options, paths []string, bar *console.Progress) (s train.Split, err error) {
	ranks, err := rows.Ranks(ctx, o, paths, bar)
	switch {
	case o.Split.Group != "":
		s.Groups, s.Column = ranks, o.Split.Group
	case o.Split.OrderBy != "":
		s.Times, s.Column = ranks, o.Split.OrderBy
	default:
		s.InOrder = o.Split.InOrder()
	}
	return s, err
}

// holdsBack tells whether rows are held back.
func (o *trainOptions) holdsBack() bool { return o.share > 0 || o.holdsFolds() }

// noteSplit notes that the options on splitting have no effect, if no rows are held back.
func (o *trainOptions) noteSplit(a *console.App) {
	if o.holdsBack() {
		return
	}
	for _, s := range [][2]string{{"group", o.Split.Group}, {"order-by", o.Split.OrderBy}} {
		if s[1] != "" {
			a.Note("--%s leaves out column %q, and has no other effect without --validation SHARE, --cv, --grid, --path, --calibrate or --threshold f1", s[0], s[1])
		}
	}
	if o.Split.InOrder() {
		a.Note("--split has no effect without --validation SHARE, --cv, --grid, --path, --calibrate or --threshold f1")
	}
}

// kept returns the choice of the rows that remain for the training after --validation held out its share.
func (o *trainOptions) kept(counts []int64) func(class int) bool {
	has, err := o.split.HoldOut(o.seed, o.share, counts)
	if err != nil { // the files changed: train.HoldOut reports it
		return func(int) bool { return true }
	}
	return has.Others()
}
