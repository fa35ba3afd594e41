package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/transform"
	"halfspace/schema"
)

// A Row is the place of a row in the files, and the values of some of its columns.
type Row struct {
	File   string
	Row    int64    // number of the row in the file, from 0 on; rows that are left out count
	Values []string // of the columns as the file has them; a missing value is ""
}

// Values reads rows of files, and returns them by their numbers. numbers are the numbers of the rows among the rows that
// Open with the same options keeps. columns are names of columns, which need not be features; svmlight has none:
// there Values returns one text of the features that the file lists. Standard input can't be read again.
func (opt Options) Values(ctx context.Context, paths, columns []string, numbers []int64) (map[int64]Row, error) {
	if slices.Contains(paths, "-") {
		return nil, errors.New("standard input can't be read twice: save it and name the file")
	}
	opt.KeepTexts, opt.Warn = true, nil
	t, err := Examine(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	if t.format == formatSvmlight {
		columns, opt.Spec, opt.Text.NullValues = nil, nil, nil // these may make a column of each feature
	}
	p, err := t.reading(ctx, opt, append([]string{}, columns...), true)
	if err != nil {
		return nil, err
	}
	return withPlan(ctx, p, func(p *Plan) (map[int64]Row, error) { return p.values(ctx, numbers) })
}

// values returns the rows with some numbers, from 0 on.
func (p *Plan) values(ctx context.Context, numbers []int64) (map[int64]Row, error) {
	found, left := make(map[int64]Row, len(numbers)), slices.Sorted(slices.Values(numbers))
	if len(left) > 0 && left[0] < 0 {
		return nil, fmt.Errorf("there is no row %d: rows are numbered from 0 on", left[0])
	}
	file, begin, row := "", int64(0), int64(0)
	err := transform.Each(ctx, p.in.Batches(ctx, p.table.pool, p.table.mem), p.in.Total(), p.table.opt.progressOf(passColumns),
		func(bt *column.Batch, first int64) error {
			if bt.File != file {
				file, begin = bt.File, first
			}
			kept, err := p.bound.Kept(ctx, p.table.pool, bt)
			if err != nil {
				return err
			}
			for at, span := range kept.Spans() {
				for ; len(left) > 0 && left[0] < row+int64(at+span.Len()); left = left[1:] {
					i := span.Lo + int(left[0]-row) - at
					found[left[0]] = Row{file, first - begin + int64(i), textsOf(p.bound, bt, i)}
				}
			}
			if row += int64(kept.Len()); len(left) == 0 {
				return transform.ErrEnough
			}
			return nil
		})
	return found, err
}

// textsOf returns the values of the kept columns in row i of a batch.
func textsOf(bound *transform.Binding, bt *column.Batch, i int) (values []string) {
	if p := bt.Pairs; p != nil {
		const most = 12
		var pairs []string
		names := &schema.Preprocessing{Columns: bound.Plan.Inputs}
		for k := p.Ends[i]; k < p.Ends[i+1]; k++ {
			if len(pairs) == most {
				pairs = append(pairs, "...")
				break
			}
			pairs = append(pairs, fmt.Sprintf("%s:%v", names.FeatureName(int(p.Index[k])), p.Value[k]))
		}
		return []string{strings.Join(pairs, " ")}
	}
	for k := range bound.Keep {
		text := ""
		if a := bt.Kept(bound.Roles, k); !a.IsNull(i) {
			text = strings.Clone(a.ValueStr(i)) // the memory of the array is used again
		}
		values = append(values, text)
	}
	return values
}
