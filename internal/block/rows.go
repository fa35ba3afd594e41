package block

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"halfspace/internal/message"
	"halfspace/internal/parallel"
	"halfspace/internal/stats"
	"halfspace/schema"
)

// RowOptions describe the rows of a program. The zero value suits most programs.
type RowOptions struct {
	Features []string  // names of the features; nil: "c1", "c2", ..., as in a CSV file without a header
	Label    string    // name of the label, which a model keeps; "": "label"
	Positive string    // text of the class +1; "": the last class in sorted order
	Weights  []float64 // sample weights, one for each row, finite and at least 0; nil: every row has the weight 1
	NoBias   bool      // no bias column of ones

	// Standardize replaces every number v by (v - mean) / deviation, computed in float64 and then rounded to float32.
	// The spec holds the means and deviations, so a model takes rows that aren't standardized. If package train holds
	// rows out or cross-validates, it computes means and deviations again from the rows it trains on, and reads x and
	// y again for that. The program must not change x and y before then.
	Standardize bool

	// Spec, if not nil, is the Spec of a model. Its preprocessing makes the features, and labels must be among its
	// classes. Of the other fields, only Weights is used then.
	Spec *schema.Spec
}

// FromRows is documented in package halfspace/block. Its result is checked: Validate returns it unchanged.
func FromRows[F float32 | float64, L Label](x [][]F, y []L, opt RowOptions) (*Data, error) {
	if len(x) == 0 {
		return nil, errNoRows
	}
	return fromRows(len(x), len(x[0]), func(r int) []F { return x[r] }, y, opt)
}

// FromFlat is documented in package halfspace/block.
func FromFlat[F float32 | float64, L Label](x []F, width int, y []L, opt RowOptions) (*Data, error) {
	if width < 1 || len(x)%width != 0 {
		return nil, fmt.Errorf("%d numbers don't make rows of %d features: width is the number of features", len(x), width)
	}
	return fromRows(len(x)/width, width, func(r int) []F { return x[r*width : (r+1)*width] }, y, opt)
}

var errNoRows = errors.New("there are no rows: give some")

// fromRows returns the data set of n rows of width features. row(r) returns the features of row r.
func fromRows[F float32 | float64, L Label](n, width int, row func(r int) []F, y []L, opt RowOptions) (*Data, error) {
	switch {
	case n == 0:
		return nil, errNoRows
	case len(y) != n:
		return nil, fmt.Errorf("%d labels for %d rows: give one for each", len(y), n)
	}
	spec, err := opt.spec(width, n)
	if err != nil {
		return nil, err
	}
	labels := newLabels[L](opt.Spec)
	all := NewFor(spec, 0, n)
	for r := range y {
		number, err := labels.number(y[r])
		if err != nil {
			return nil, rowErrorf(int64(r), "", "%w", err)
		}
		all.Y[r] = float32(number)
	}
	values, err := labels.finish(spec, opt.Positive)
	if err != nil {
		return nil, err
	}
	data := &Data{rows: int64(n), isChecked: true}
	if opt.Standardize && opt.Spec == nil {
		data.refit = refitRows(spec, labels, row, y, opt.Weights)
		specs, err := standardizedSpecs(context.Background(), spec, labels, generatorOf(row, y), []func(int) bool{everyRow})
		if err != nil {
			return nil, err
		}
		spec = specs[0]
	}
	data.spec = spec
	for r, number := range all.Y {
		all.Y[r] = float32(values[int(number)])
	}
	copy(all.W, opt.Weights)
	if err := fill(all, spec, row); err != nil {
		return nil, err
	}
	for lo, rows := 0, Rows(spec.Cols()); lo < n; lo += rows {
		data.blocks = append(data.blocks, all.Slice(lo, min(n, lo+rows)))
	}
	return data, nil
}

// generatorOf returns a generator of rows in memory.
func generatorOf[F float32 | float64, L Label](row func(r int) []F, y []L) generator[F, L] {
	return func(yield func(x []F, label L) bool) error {
		for r := range y {
			if !yield(row(r), y[r]) {
				break
			}
		}
		return nil
	}
}

// refitRows returns the function that standardizes rows in memory again; see Data.Refit.
func refitRows[F float32 | float64, L Label](spec *schema.Spec, l *labels[L], row func(r int) []F, y []L, weights []float64) Refit {
	return func(ctx context.Context, choices []func(class int) bool) (all []func(context.Context) (Source, error), err error) {
		specs, err := standardizedSpecs(ctx, spec, l, generatorOf(row, y), choices)
		for _, s := range specs {
			all = append(all, func(context.Context) (Source, error) {
				return fromRows(len(y), s.Width(), row, y, RowOptions{Spec: s, Weights: weights})
			})
		}
		return all, err
	}
}

// fill writes the features and the bias of all rows of b. If several rows are wrong, it returns the error of the
// first.
func fill[F float32 | float64](b *Block, spec *schema.Spec, row func(r int) []F) error {
	errs := make([]error, (b.Len()+ChunkRows-1)/ChunkRows)
	maker := stats.NewMaker(spec)
	err := parallel.For(context.Background(), runtime.GOMAXPROCS(0), len(errs), func(_, chunk int) {
		for r := chunk * ChunkRows; r < min(b.Len(), (chunk+1)*ChunkRows) && errs[chunk] == nil; r++ {
			errs[chunk] = put(b, r, spec, maker, row(r))
		}
	})
	for _, wrong := range errs {
		if wrong != nil {
			return wrong
		}
	}
	return err
}

// put lets maker convert x to features, and writes these and the bias to row r of a dense block.
func put[F float32 | float64](b *Block, r int, spec *schema.Spec, maker *stats.Maker, x []F) error {
	row := b.First + int64(r)
	if err := checkWidth(row, spec, len(x)); err != nil {
		return err
	}
	to := b.X[r*b.Stride:][:b.Cols]
	if spec.Bias {
		to[len(x)] = 1
	}
	i := stats.Set(maker, to, x)
	if i < 0 {
		return nil
	}
	what := "is too large for float32: divide the column, or standardize it"
	switch v := x[i]; {
	case v-v != 0:
		what = notFinite
	case spec.Preprocessing != nil && spec.Preprocessing.Standardized():
		what = "is too far from the mean for float32: correct the value"
	}
	return rowErrorf(row, spec.FeatureName(i), "%v %s", x[i], what)
}

// RowError is an error about a row. Its fields are Row, the number of the row from 0 on; Column, the name of the feature,
// or "" if the error is about the whole row; and Err. File and Line are unknown. Get it by errors.As.
type RowError = message.RowError

// rowErrorf returns the RowError of a row. column is "" if the error is about the whole row.
func rowErrorf(row int64, column, format string, args ...any) error {
	return &RowError{Row: row, Column: column, Err: fmt.Errorf(format, args...)}
}

const notFinite = "is not a finite number: leave the row out, or fill in a number"

// checkFinite returns an error unless x has the width of spec and all its numbers are finite. Numbers that will be
// standardized need not fit in float32.
func checkFinite[F float32 | float64](row int64, spec *schema.Spec, x []F) error {
	if err := checkWidth(row, spec, len(x)); err != nil {
		return err
	}
	for i, v := range x {
		if v-v != 0 {
			return rowErrorf(row, spec.FeatureName(i), "%v %s", v, notFinite)
		}
	}
	return nil
}

func checkWidth(row int64, spec *schema.Spec, width int) error {
	if width != spec.Width() {
		return rowErrorf(row, "", "it has the length %d, and row 0 has %d: give all rows the same features", width, spec.Width())
	}
	return nil
}

// spec describes n rows of width features, except for their classes. n < 0 means that the number of rows is unknown.
func (o *RowOptions) spec(width, n int) (*schema.Spec, error) {
	if o.Spec != nil {
		if o.Spec.Width() != width {
			return nil, fmt.Errorf("rows of %d numbers, and the model has %d features: give the model's", width, o.Spec.Width())
		}
		if p := o.Spec.Preprocessing; p != nil {
			if err := p.Check(o.Spec.Features); err != nil {
				return nil, fmt.Errorf("the preprocessing of Spec doesn't suit its features: %w: give the model's", err)
			}
		}
		s := *o.Spec
		s.Weighted = o.Weights != nil
		return &s, o.checkWeights(n)
	}
	s := &schema.Spec{Features: slices.Clone(o.Features), Bias: !o.NoBias, Label: o.Label, Weighted: o.Weights != nil}
	if s.Label == "" {
		s.Label = "label"
	}
	if s.Features == nil {
		for i := range width {
			s.Features = append(s.Features, fmt.Sprint("c", i+1))
		}
	}
	if len(s.Features) != width {
		return nil, fmt.Errorf("%d names for %d features: give one for each, or leave Features nil", len(s.Features), width)
	}
	if err := schema.CheckFeatures(s.Features, s.Label, nil); err != nil {
		return nil, fmt.Errorf("%w: change the names", err)
	}
	return s, o.checkWeights(n)
}

// checkWeights returns an error if there are weights, and their number isn't n (n < 0: any number), or a weight is
// negative or not finite, or all weights are 0.
func (o *RowOptions) checkWeights(n int) error {
	if o.Weights == nil {
		return nil
	}
	if n >= 0 && len(o.Weights) != n {
		return fmt.Errorf("%d weights for %d rows: give one for each, or leave Weights nil", len(o.Weights), n)
	}
	positive := false
	for r, w := range o.Weights {
		if !(w >= 0) || w > math.MaxFloat64 {
			return rowErrorf(int64(r), "", "the weight is %v: sample weights are finite numbers of 0 or more", w)
		}
		positive = positive || w > 0
	}
	if !positive {
		return errors.New("every row has the weight 0: give some a greater one")
	}
	return nil
}
