package dataset

import (
	"context"
	"fmt"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/transform"
	"halfspace/schema"
)

// Learned returns true if features depend on the values of the rows: on means, deviations or categories.
func (in *Input) Learned() bool { return !in.sel.Fixed && in.sel.Wholly() }

// Shares returns inputs of the same rows, one for each choice. The means, deviations and categories of an input are
// computed from the rows of its choice, as Open computes them from files with only these rows. Shares calls choices
// with the number of kept rows of each class, in the order of the spec. A choice is called for each kept row in row
// order, from row 0 on, with the number of the row's class; it returns true to choose the row. Shares reads the labels,
// and then all rows once.
func (in *Input) Shares(ctx context.Context, choices func(counts []int64) []func(class int) bool) ([]*Input, error) {
	if _, err := in.surveyed(ctx); err != nil { // it finds rows without a label
		return nil, err
	}
	found, counts, err := in.countClasses(ctx)
	if err != nil {
		return nil, err
	}
	chosen := choices(counts)
	learned, inputs := make([]*transform.Statistics, len(chosen)), make([]*Input, len(chosen))
	for i := range chosen {
		sel := *in.sel
		sel.Inputs = slices.Clone(sel.Inputs)
		for k := range sel.Inputs {
			c := &sel.Inputs[k]
			c.Means, c.Center, c.Scale, c.Categories, c.Buckets, c.Dictionary = nil, nil, nil, nil, nil, nil
		}
		learned[i] = transform.NewStatistics(&sel, in.pool)
		share := *in
		share.sel = &sel
		inputs[i] = &share
	}
	err = transform.Each(ctx, in.in.Batches(ctx, in.pool, in.mem), in.Rows(), in.opt.told(passColumns), func(bt *column.Batch, _ int64) error {
		return in.learn(ctx, bt, found, chosen, learned)
	})
	if err != nil {
		return nil, err
	}
	for _, l := range learned {
		if err := l.Finish(in.in.Name()); err != nil {
			return nil, fmt.Errorf("rows outside the hold-out: %w", err)
		}
	}
	return inputs, nil
}

// learn adds the rows of a batch to the statistics of the choices that choose them.
func (in *Input) learn(ctx context.Context, bt *column.Batch, found *transform.Labels, chosen []func(class int) bool, learned []*transform.Statistics) error {
	classes, kept, err := found.Number(ctx, in.sel, in.pool, bt, learned[0].Input)
	if err != nil {
		return err
	}
	for i, l := range learned {
		rows, k := make([]int32, 0, kept.Len()), 0
		for _, span := range kept.Spans() {
			for row := span.Lo; row < span.Hi; row++ {
				if chosen[i](int(classes[k])) {
					rows = append(rows, int32(row))
				}
				k++
			}
		}
		if err := l.AddKept(ctx, bt, transform.Cut{Rows: rows}); err != nil {
			return err
		}
	}
	return nil
}

// countClasses reads the labels. It returns the numbers of the classes in the order of the spec, and the number of
// kept rows of each class.
func (in *Input) countClasses(ctx context.Context) (*transform.Labels, []int64, error) {
	only, sel := in.in, in.sel
	if !sel.Drops() { // otherwise other columns determine which rows are kept
		only = in.in.LabelOnly()
		sel = &transform.Selection{Chosen: only.Chosen()}
	}
	found := transform.NewLabels(nil)
	var counts []int64 // in the order of appearance
	err := transform.Each(ctx, only.Batches(ctx, in.pool, in.mem), -1, nil, func(bt *column.Batch, first int64) error {
		classes, _, err := found.Number(ctx, sel, in.pool, bt, first)
		for len(counts) < len(found.Classes) {
			counts = append(counts, 0)
		}
		for _, c := range classes {
			counts[int(c)]++
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	sorted := transform.NewLabels(&schema.Spec{Classes: slices.SortedFunc(slices.Values(found.Classes), schema.Class.Compare)})
	sorted.Given = false
	ordered := make([]int64, len(counts))
	for n, c := range found.Classes {
		ordered[sorted.Numbers[c]] = counts[n]
	}
	return sorted, ordered, nil
}
