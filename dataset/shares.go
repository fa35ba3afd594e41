package dataset

import (
	"context"
	"fmt"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/transform"
	"halfspace/schema"
)

// isLearned returns true if features depend on the values of the rows: on means, deviations or categories.
func (p *Plan) isLearned() bool { return !p.bound.Fixed && p.bound.Wholly() }

// shares returns plans of the same rows, one for each choice. The means, deviations and categories of a plan are
// computed from the rows of its choice, as they are from files with only these rows. shares calls choices with the
// number of kept rows of each class, in the order of the spec. A choice is called for each kept row in row order, from
// row 0 on, with the number of the row's class; it returns true to choose the row. shares reads the labels, and then
// all rows once.
func (p *Plan) shares(ctx context.Context, choices func(counts []int64) []func(class int) bool) ([]*Plan, error) {
	if _, err := p.surveyed(ctx); err != nil { // it finds rows without a label
		return nil, err
	}
	found, counts, err := p.countClasses(ctx)
	if err != nil {
		return nil, err
	}
	chosen := choices(counts)
	learned, plans := make([]*transform.Statistics, len(chosen)), make([]*Plan, len(chosen))
	for i := range chosen {
		learned[i] = transform.NewStatistics(p.bound, p.table.pool)
		learned[i].OfShare = true
	}
	err = transform.Each(ctx, p.in.Batches(ctx, p.table.pool, p.table.mem), p.in.Total(), p.table.opt.progressOf(passColumns),
		func(bt *column.Batch, _ int64) error {
			return p.learnShares(ctx, bt, found, chosen, learned)
		})
	if err != nil {
		return nil, err
	}
	for i, l := range learned {
		share := *p
		if share.bound, err = l.Finish(p.in.Name()); err != nil {
			return nil, fmt.Errorf("rows outside the hold-out: %w", err)
		}
		plans[i] = &share
	}
	return plans, nil
}

// learnShares adds the rows of a batch to the statistics of the choices that choose them.
func (p *Plan) learnShares(ctx context.Context, bt *column.Batch, found *transform.Labels,
	chosen []func(class int) bool, learned []*transform.Statistics) error {
	classes, kept, err := found.Number(ctx, p.bound, p.table.pool, bt, learned[0].Input)
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
func (p *Plan) countClasses(ctx context.Context) (*transform.Labels, []int64, error) {
	found := transform.NewLabels(nil)
	var counts []int64 // in the order of appearance
	_, err := p.numberClasses(ctx, found, nil, func(classes []float32) bool {
		for len(counts) < len(found.Classes) {
			counts = append(counts, 0)
		}
		for _, c := range classes {
			counts[int(c)]++
		}
		return false
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
