package train

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
	"halfspace/train/learner"
)

// errFolds is the error of rows that can't be dealt into the number of folds.
var errFolds = errors.New("too few rows for the folds")

// A deal is the assignment of rows to folds: for each fold, the rows to judge on and the rows to learn from.
type deal struct {
	judgedRows, learnedRows []Chooser
}

// CheckFolds returns an error unless rows can be dealt into that number of folds.
func CheckFolds(folds int) error {
	if folds >= 2 {
		return nil
	}
	return message.WrongValue("cv", folds, "2 or more folds")
}

// newDeal deals the rows of all into folds, and notes classes that have fewer rows than there are folds. It returns an
// error if a fold would have no rows.
func newDeal(ctx context.Context, all block.Source, folds int, seed uint64, workers int, opt *Options) (*deal, error) {
	if err := cmp.Or(CheckFolds(folds), opt.Split.check(all.Rows())); err != nil {
		return nil, err
	}
	switch {
	case opt.Split.Groups != nil:
		return dealGroups(ctx, all, opt.Split.Groups, folds, seed, opt)
	case opt.Split.isByTime():
		return dealTimes(all.Rows(), &opt.Split, folds)
	}
	counts, err := learner.ClassCounts(ctx, all, workers)
	if err != nil {
		return nil, err
	}
	switch most := slices.Max(counts); {
	case most == 1:
		return nil, message.Errorf("%w: each of the %s has a class of its own: choose another column with --label",
			errFolds, humanize.Plural(all.Rows(), "row"))
	case int64(folds) > most:
		return nil, message.Errorf("%w: --cv is %d, but no class has more than %s: use as many folds at most", errFolds,
			folds, humanize.Plural(most, "row"))
	}
	for i, n := range counts {
		switch name := schema.NameClass(all.Spec().Classes[i]); {
		case n == 1:
			opt.note(message.Sprintf("class %s has 1 row: every fold learns from it, and none is judged on it", name))
		case n < int64(folds):
			opt.note(message.Sprintf("class %s has %s, fewer than the %d folds: some folds are judged on none of them", name,
				humanize.Plural(n, "row"), folds))
		}
	}
	d := new(deal)
	for f := range folds {
		has := Fold(seed, folds, counts, f)
		d.judgedRows, d.learnedRows = append(d.judgedRows, has), append(d.learnedRows, has.Others)
	}
	return d, nil
}

// dealGroups deals whole groups. It takes the groups by falling size, equal ones in random order, and adds each to the
// fold with the fewest rows. If only one fold has rows of a class, all folds learn from the groups with that class.
func dealGroups(ctx context.Context, all block.Source, groups []int64, folds int, seed uint64, opt *Options) (*deal, error) {
	sizes := groupSizes(groups)
	if len(sizes) < folds {
		return nil, message.Errorf("%w: --cv is %d, but there are only %s: use as many folds at most", errFolds, folds,
			humanize.Plural(int64(len(sizes)), "group"))
	}
	order := shuffledGroups(seed, sizes)
	slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(sizes[b], sizes[a]) })
	of, rows := make(map[int64]int, len(order)), make([]int64, folds)
	for _, g := range order {
		least := slices.Index(rows, slices.Min(rows))
		of[g], rows[least] = least, rows[least]+sizes[g]
	}
	if err := keepRareClasses(ctx, all, groups, of, opt); err != nil {
		return nil, err
	}
	judged := make([]int, folds)
	for _, f := range of {
		if f >= 0 {
			judged[f]++
		}
	}
	if slices.Min(judged) == 0 {
		return nil, message.Errorf("%w: --cv is %d, and a fold would have no group to be judged on: use fewer folds",
			errFolds, folds)
	}
	d := new(deal)
	for f := range folds {
		has := chooseByRow(func(row int64) bool { return of[groups[row]] == f })
		d.judgedRows, d.learnedRows = append(d.judgedRows, has), append(d.learnedRows, has.Others)
	}
	return d, nil
}

// keepRareClasses takes groups out of the only fold that has rows of a class: it sets their fold to -1.
func keepRareClasses(ctx context.Context, all block.Source, groups []int64, of map[int64]int, opt *Options) error {
	spec := all.Spec()
	// only has for each class the only fold with its rows, plus 1; 0 if no rows were seen; -1 for several folds.
	only := make([]int, max(2, len(spec.Classes)))
	visit := func(see func(class int, group int64)) error {
		row := 0
		return eachClass(ctx, all, func(class int) {
			see(class, groups[row])
			row++
		})
	}
	err := visit(func(class int, group int64) {
		switch f := of[group] + 1; only[class] {
		case f:
		case 0:
			only[class] = f
		default:
			only[class] = -1
		}
	})
	if err != nil || slices.Max(only) <= 0 {
		return err
	}
	for class, f := range only {
		if f > 0 {
			opt.note(message.Sprintf("class %s is in the groups of one fold: every fold learns from these groups, and none is "+
				"judged on them", schema.NameClass(spec.Classes[class])))
		}
	}
	return visit(func(class int, group int64) {
		if only[class] > 0 {
			of[group] = -1
		}
	})
}

// dealTimes cuts the rows in order of time into folds+1 pieces. Each fold is judged on one piece by a model of all
// pieces before it, as with scikit-learn's TimeSeriesSplit. Rows with equal times are in one piece.
func dealTimes(rows int64, s *Split, folds int) (*deal, error) {
	pieces, earlier := int64(folds+1), s.earlierRows()
	if rows < pieces {
		return nil, message.Errorf("%w: --cv is %d, and in order of time they take %s or more: use fewer folds", errFolds,
			folds, humanize.Plural(pieces, "row"))
	}
	var of func(row int64) int64
	if s.Times == nil {
		of = func(row int64) int64 { return row * pieces / rows }
	} else {
		numbers, has := make([]int32, rows), make([]bool, pieces)
		for row := range numbers {
			numbers[row] = int32(earlier(int64(row)) * pieces / rows)
			has[numbers[row]] = true
		}
		if slices.Contains(has, false) {
			return nil, message.Errorf("%w: --cv is %d, and so many rows have equal times that a fold would have none: use "+
				"fewer folds", errFolds, folds)
		}
		of = func(row int64) int64 { return int64(numbers[row]) }
	}
	d := new(deal)
	for f := range int64(folds) {
		d.judgedRows = append(d.judgedRows, chooseByRow(func(row int64) bool { return of(row) == f+1 }))
		d.learnedRows = append(d.learnedRows, chooseByRow(func(row int64) bool { return of(row) <= f }))
	}
	return d, nil
}
