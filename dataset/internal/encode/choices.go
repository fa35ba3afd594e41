package encode

import (
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// Choices are the options that say which columns are read and what they mean, as in Options.
type Choices struct {
	Label, SampleWeight string
	Positive            string
	Features, Exclude   []string
	Keep                []string
	NoBias, Standardize bool
	Narrow              int // most features that are standardized: more stay as they are; 0: no bound
	Nulls               schema.Nulls
	Words               []string // that are nulls in text
	Categorical         string
	Converts            bool           // keep is all if it is empty, and exclude takes from it
	Float               arrow.DataType // of the blocks' values; nil where there are none
	Most                int            // numbers of svmlight that a row may have
	Spec                *schema.Spec   // of a model, which says what the features are
}

// A Picker chooses columns by its choices, and keeps the selection in Sel.
type Picker struct {
	Choices
	Sel *Selection
}

// First chooses among the columns of the first file. If numbered is set, the label may be the number of a column.
func (p *Picker) First(file string, cols []frame.Column, numbered bool) (*frame.Chosen, error) {
	opt := p.Choices
	if numbered {
		opt = NamedLabel(opt, cols)
	}
	var err error
	if p.Sel, err = Choose(NewFileColumns(file, cols), opt); err != nil {
		return nil, err
	}
	return p.Sel.Chosen, nil
}

// Further returns the chosen columns as a further file has them.
func (p *Picker) Further(file string, cols []frame.Column) ([]frame.Column, error) {
	return p.Sel.bind(NewFileColumns(file, cols))
}

// NamedLabel replaces a label that is a column's number, or "last", by the column's name.
func NamedLabel(opt Choices, cols []frame.Column) Choices {
	if opt.Label == "" || slices.ContainsFunc(cols, func(c frame.Column) bool { return c.Name == opt.Label }) {
		return opt
	}
	n, err := strconv.Atoi(opt.Label)
	if opt.Label == "last" {
		n, err = len(cols), nil
	}
	if err == nil && 1 <= n && n <= len(cols) {
		opt.Label = cols[n-1].Name
	}
	return opt
}

// NewSpec returns the spec of a selection with those labels, and the label value of each class number.
func (c Choices) NewSpec(sel *Selection, l *Labels) (spec *schema.Spec, signs []float64, err error) {
	if c.Spec != nil {
		return asWeighted(c.Spec, sel), Signs(c.Spec), nil
	}
	if spec, err = sel.Spec(); err == nil && sel.Label >= 0 {
		spec.Label = sel.Columns[sel.Label].Name
		var positive int
		spec.Classes, positive, signs, err = l.Spec(spec.Label, c.Positive)
		spec.SetPositive(positive)
	}
	return spec, signs, err
}

// asWeighted returns a model's spec for rows that have weights or not.
func asWeighted(spec *schema.Spec, sel *Selection) *schema.Spec {
	if spec.Weighted == (sel.Weight >= 0) {
		return spec
	}
	s := *spec
	s.Weighted = sel.Weight >= 0
	return &s
}

// Signs returns the label value of each class of a model, or nil without a model.
func Signs(spec *schema.Spec) []float64 {
	if spec == nil {
		return nil
	}
	return spec.LabelValues()
}
