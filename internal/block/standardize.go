package block

import (
	"cmp"
	"context"
	"fmt"

	"halfspace/internal/stats"
	"halfspace/schema"
)

// Refit is the type of the method Data.Refit, and of the same method of other sources.
type Refit = func(ctx context.Context, choices []func(class int) bool) ([]func(context.Context) (Source, error), error)

// Refit returns, for each choice of rows, a function that makes all rows again, standardized by the means and
// deviations of the chosen rows. It returns nil unless the rows come from FromRows or FromFlat with
// RowOptions.Standardize. Refit calls each choice for every row, in row order, with the number of the row's class;
// the choice returns true to choose the row.
//
// Refit reads the x and y of FromRows again. The program must not have changed them.
func (d *Data) Refit(ctx context.Context, choices []func(class int) bool) ([]func(context.Context) (Source, error), error) {
	if d.refit == nil {
		return nil, nil
	}
	return d.refit(ctx, choices)
}

// refittableSource is a trusted source that has a method Refit.
type refittableSource struct {
	*checkedSource
	refit Refit
}

func (r refittableSource) Unwrap() Source { return r.checkedSource }

func (r refittableSource) Refit(ctx context.Context, choices []func(class int) bool) ([]func(context.Context) (Source, error), error) {
	return r.refit(ctx, choices)
}

// everyRow chooses all rows.
func everyRow(int) bool { return true }

// standardizedSpecs returns, for each choice of rows, the spec with the means and deviations of the features in the
// chosen rows. It reads the rows once. A sum is computed within each chunk of chosen rows, then over the chunks.
func standardizedSpecs[F float32 | float64, L Label](ctx context.Context, spec *schema.Spec, l *labels[L], rows generator[F, L],
	choices []func(class int) bool) ([]*schema.Spec, error) {
	learned, counts := make([][]stats.Moments, len(choices)), make([]int64, len(choices))
	for i := range learned {
		learned[i] = make([]stats.Moments, spec.Width())
	}
	read := int64(0)
	var wrong error
	err := rows(func(x []F, label L) bool {
		if read++; read%ChunkRows == 0 {
			wrong = ctx.Err()
		}
		number, ok := l.numbers[label]
		if !ok && wrong == nil {
			wrong = rowErrorf(read-1, "", "%w", errChanged)
		}
		if wrong != nil {
			return false
		}
		for i, chosen := range choices {
			if chosen(l.order[number]) {
				addRow(learned[i], x)
				if counts[i]++; counts[i]%ChunkRows == 0 {
					stats.EndChunk(learned[i])
				}
			}
		}
		return true
	})
	if wrong != nil {
		err = wrong
	}
	specs := make([]*schema.Spec, len(choices))
	for i := 0; i < len(choices) && err == nil; i++ {
		specs[i], err = withMoments(spec, learned[i], counts[i])
	}
	return specs, err
}

// addRow adds the features of a row to the moments. It ignores numbers that aren't finite and rows of another length:
// both cause an error when the rows are put into blocks.
func addRow[F float32 | float64](to []stats.Moments, x []F) {
	if len(x) != len(to) {
		return
	}
	for i, v := range x {
		if v-v == 0 {
			to[i].Add(float64(v))
		}
	}
}

// withMoments returns the spec with the means and deviations of the features in rows rows.
func withMoments(spec *schema.Spec, learned []stats.Moments, rows int64) (*schema.Spec, error) {
	stats.EndChunk(learned)
	p := &schema.Preprocessing{Nulls: schema.NullsError}
	for i := range learned {
		mean, what := learned[i].Mean()
		scale, more := learned[i].Scale(rows)
		if what = cmp.Or(what, more); what != "" {
			return nil, fmt.Errorf("column %d (%q): %s: leave it out", i, spec.FeatureName(i), what)
		}
		p.Columns = append(p.Columns, schema.Column{Name: spec.FeatureName(i), Kind: schema.NumberColumn,
			Center: []float64{mean}, Scale: []float64{scale}})
	}
	s := *spec
	s.Preprocessing = p
	return &s, nil
}
