package dataset

import (
	"context"
	"fmt"
	"slices"

	"halfspace/schema"
)

// A Choice is called for each kept row in order, from row 0 on, with the number of its class. It returns whether the row is
// chosen.
type Choice = func(class int) bool

// Learned reports whether features depend on the values of the rows: on means, deviations or categories.
func (in *Input[T]) Learned() bool { return !in.sel.fixed && in.sel.wholly() }

// Shares returns inputs of the same rows, one for each choice. An input's means, deviations and categories are learned from
// the rows of its choice, as Open learns them from files of these rows alone. Shares calls choices with the number of kept
// rows of each class, in the order of the spec. It reads the labels, and then all rows once.
func (in *Input[T]) Shares(ctx context.Context, choices func(counts []int64) []Choice) ([]*Input[T], error) {
	found, counts, err := in.countClasses(ctx)
	if err != nil {
		return nil, err
	}
	chosen := choices(counts)
	lessons, inputs := make([]*lesson, len(chosen)), make([]*Input[T], len(chosen))
	for i := range chosen {
		sel := *in.sel
		sel.inputs = slices.Clone(sel.inputs)
		for k := range sel.inputs {
			c := &sel.inputs[k]
			c.Means, c.Center, c.Scale, c.Categories = nil, nil, nil, nil
		}
		lessons[i] = newLesson(&sel, in.pool)
		share := *in
		share.sel = &sel
		inputs[i] = &share
	}
	for bt, err := range in.in.batches(ctx, in.pool, in.mem) {
		if err != nil {
			return nil, err
		}
		err := recovered(func() error { return in.teach(ctx, bt, found, chosen, lessons) })
		bt.release()
		if err != nil {
			return nil, in.explain(ctx, bt, err)
		}
		if in.opt.Progress != nil {
			in.opt.Progress(lessons[0].input, in.Rows())
		}
	}
	for _, l := range lessons {
		if err := l.finish(in.in.name()); err != nil {
			return nil, fmt.Errorf("rows outside the hold-out: %w", err)
		}
	}
	return inputs, nil
}

// teach adds the rows of a batch to the lessons whose choices take them.
func (in *Input[T]) teach(ctx context.Context, bt *batch, found *labels, chosen []Choice, lessons []*lesson) error {
	kept, err := in.sel.kept(ctx, in.pool, bt)
	if err != nil {
		return err
	}
	classes, err := classNumbers(found, bt, in.sel.label, kept, lessons[0].input)
	if err != nil {
		return err
	}
	for i, l := range lessons {
		rows, k := make([]int32, 0, kept.len()), 0
		for _, span := range kept.spans() {
			for row := span.lo; row < span.hi; row++ {
				if chosen[i](int(classes[k])) {
					rows = append(rows, int32(row))
				}
				k++
			}
		}
		if err := l.addKept(ctx, bt, cut{rows: rows}); err != nil {
			return err
		}
	}
	return nil
}

// countClasses reads the labels. It returns the numbers of the classes in the order of the spec, and how many kept rows each has.
func (in *Input[T]) countClasses(ctx context.Context) (*labels, []int64, error) {
	only := in.in
	if !in.sel.drops() { // else other columns tell which rows are kept
		only = in.in.labelOnly()
	}
	sel := &selection{chosen: only.chosen()}
	found, first := newLabels(nil), int64(0)
	var counts []int64 // in the order of appearance
	for bt, err := range only.batches(ctx, in.pool, in.mem) {
		if err != nil {
			return nil, nil, err
		}
		err := recovered(func() error {
			kept, err := sel.kept(ctx, in.pool, bt)
			if err != nil {
				return err
			}
			classes, err := classNumbers(found, bt, sel.label, kept, first)
			for len(counts) < len(found.classes) {
				counts = append(counts, 0)
			}
			for _, c := range classes {
				counts[int(c)]++
			}
			return err
		})
		first += bt.rows
		bt.release()
		if err != nil {
			return nil, nil, in.explain(ctx, bt, err)
		}
	}
	sorted := newLabels(&schema.Spec{Classes: slices.SortedFunc(slices.Values(found.classes), schema.Class.Compare)})
	ordered := make([]int64, len(counts))
	for n, c := range found.classes {
		ordered[sorted.numbers[c]] = counts[n]
	}
	return sorted, ordered, nil
}

// classNumbers returns the class numbers of the kept rows of a batch, of which first is the number of its first row.
func classNumbers(l *labels, bt *batch, label int, kept cut, first int64) ([]float64, error) {
	classes := make([]float64, kept.len())
	for k, span := range kept.spans() {
		if row, what := encode(l, bt.columns[label], span.lo, classes[k:][:span.len()]); what != "" {
			return nil, unfit{errorIn(bt.file, "label, row %d: %s", first+int64(row), what)}
		}
	}
	return classes, nil
}

// explain makes an error about a batch one for the user.
func (in *Input[T]) explain(ctx context.Context, bt *batch, err error) error {
	if ctx.Err() != nil || isUnfit(err) {
		return err
	}
	return errorIn(bt.file, "damaged data (%w)", err)
}
