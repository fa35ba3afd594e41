package dataset

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/dataset/internal/transform"
)

// Partitions returns the names of the columns that the folders of files name, as in country=de/day=2026-01-31/a.parquet.
func Partitions(paths []string) []string {
	names := []string{}
	if p := source.ConstantsOf(paths); p != nil {
		for _, c := range p.Columns {
			names = append(names, c.Name)
		}
	}
	return names
}

// A partitionPicker chooses among the columns of the files and of the partitions. A partition takes the place of a column of the
// same name. The reader of the files gets the chosen columns that the files have.
type partitionPicker struct {
	*transform.Picker
	*source.Constants
	place []int // for each chosen column, its number among the reader's columns, or -1-k for partition k
	inner *column.Chosen
}

func (p *partitionPicker) with(cols []column.Column) []column.Column {
	own := slices.DeleteFunc(slices.Clone(cols), func(c column.Column) bool {
		return slices.ContainsFunc(p.Columns, func(part column.Column) bool { return part.Name == c.Name })
	})
	return append(own, p.Columns...)
}

// First chooses among the columns of the first file; see transform.Picker.
func (p *partitionPicker) First(file string, cols []column.Column, numbered bool) (*column.Chosen, error) {
	all, err := p.Picker.First(file, p.with(cols), numbered)
	if err != nil {
		return nil, err
	}
	p.inner = &column.Chosen{Label: -1, Weight: -1, Odd: all.Odd}
	if all.Never != nil {
		p.inner.Never = func(file string, rows int64, bounds []column.Bounds) bool { return p.never(all, file, rows, bounds) }
	}
	for k := range all.Columns {
		if c := &all.Columns[k]; c.Index >= 0 {
			p.place = append(p.place, len(p.inner.Columns))
			p.inner.Columns = append(p.inner.Columns, *c)
		} else {
			c.Float = nil
			p.place = append(p.place, -1-slices.IndexFunc(p.Columns, func(part column.Column) bool { return part.Name == c.Name }))
		}
	}
	if all.Label >= 0 {
		p.inner.Label = max(-1, p.place[all.Label])
	}
	if all.Weight >= 0 {
		p.inner.Weight = max(-1, p.place[all.Weight])
	}
	for _, list := range []struct {
		from []int
		to   *[]int
	}{{all.Features, &p.inner.Features}, {all.Keep, &p.inner.Keep}} {
		for _, k := range list.from {
			if p.place[k] >= 0 {
				*list.to = append(*list.to, p.place[k])
			}
		}
	}
	return p.inner, nil
}

// never is column.Chosen.Never of all columns, for bounds of the reader's columns.
func (p *partitionPicker) never(all *column.Chosen, file string, rows int64, bounds []column.Bounds) bool {
	with := make([]column.Bounds, len(p.place))
	for k, at := range p.place {
		if at >= 0 {
			with[k] = bounds[at]
			continue
		}
		with[k] = column.Bounds{Nulls: 0, Ends: p.Array(-1-at, file, 2)}
		if with[k].Ends.NullN() > 0 {
			with[k] = column.Bounds{Nulls: rows}
		}
	}
	return all.Never(file, rows, with)
}

// Further returns the reader's columns as they are in another file.
func (p *partitionPicker) Further(file string, cols []column.Column) (bound []column.Column, err error) {
	all, err := p.Picker.Further(file, p.with(cols))
	for k, c := range all {
		if p.place[k] >= 0 {
			bound = append(bound, c)
		}
	}
	return bound, err
}

// input returns the input with the partitions. The reader has opened the files.
func (p *partitionPicker) input(in column.Input) column.Input {
	for k, at := range p.place {
		if at >= 0 {
			p.Sel.Columns[k] = p.inner.Columns[at] // the reader may have widened the type
		}
	}
	return &partitioned{in, p}
}

type partitioned struct {
	column.Input
	picker *partitionPicker
}

func (in *partitioned) Chosen() *column.Chosen { return in.picker.Sel.Chosen }

func (in *partitioned) LabelOnly() column.Input { return in }

func (in *partitioned) Batches(ctx context.Context, p column.Pool, mem memory.Allocator) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		for bt, err := range in.Input.Batches(ctx, p, mem) {
			if err == nil {
				own := bt.Columns
				bt.Columns = make([]arrow.Array, len(in.picker.place))
				for k, at := range in.picker.place {
					if at >= 0 {
						bt.Columns[k] = own[at]
					} else {
						bt.Columns[k] = in.picker.Array(-1-at, bt.File, bt.Rows)
					}
				}
				if digits := bt.Digits; digits != nil {
					bt.Digits = make([]arrow.Array, len(in.picker.place))
					for k, at := range in.picker.place {
						if at >= 0 {
							bt.Digits[k] = digits[at]
						}
					}
				}
			}
			if !yield(bt, err) {
				return
			}
		}
	}
}
