// Package encode makes features, labels and sample weights of columns, and learns means and categories.
package encode

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// A Selection says which columns are read, each once, and for what purpose.
type Selection struct {
	*frame.Chosen
	Inputs  []schema.Column // how each of the features' columns becomes features of the block, in order
	Further [][]int         // of crosses, the further columns of each input; of others nil
	Bias    bool
	Sparse  bool // the blocks are
	// Elements is about how many elements the rows of sparse blocks have in all, the bias included; 0: unknown.
	Elements int64
	Counted  bool // Elements is no guess
	Nulls    schema.Nulls
	words    []string // that are nulls in text, see choices
	left     left
	passed   []string // columns, with their types, that a pattern of Keep matched and that can't be kept

	most        int // features of sparse rows
	lists       listCounts
	standardize bool     // learn how
	keepWide    bool     // but not of many features
	texts       bool     // keep some of hashed columns
	full        []string // hashed columns with more texts than have room
	wide        bool     // too many features to standardize them, as was asked
	Fixed       bool     // by a model: what features depend on isn't learned from the data
}

// Width returns the number of features.
func (s *Selection) Width() int {
	n := 0
	for i := range s.Inputs {
		n += s.Inputs[i].Width()
	}
	return n
}

// MostElements returns the most elements of a sparse row, the bias included. Of sparse lists it takes their mean.
func (s *Selection) MostElements() int64 {
	n, some := int64(0), false
	for i := range s.Inputs {
		switch c := &s.Inputs[i]; {
		case c.Categorical():
			n++
		case s.sparseLists(i) && !s.standardize && c.Center == nil:
			some = true
		default:
			n += int64(c.Width())
		}
	}
	if some {
		n += s.lists.mean()
	}
	if s.Bias {
		n++
	}
	return n
}

// mostCategories returns the most categories of a column.
func (s *Selection) mostCategories() int {
	if s.most > schema.MaxFeatures {
		return s.most
	}
	return schema.MaxCategories
}

// checkWidth returns an error if the features known so far are more than a row may have. So it does if their names have
// more bytes than those of a model may.
func (s *Selection) checkWidth() error {
	all, bytes, widest, most := int64(0), int64(0), 0, int64(max(schema.MaxFeatures, s.most))
	for i := range s.Inputs {
		switch {
		case s.Inputs[i].Kind == schema.ListColumn && !s.sparseLists(i):
			most = schema.MaxFeatures // all elements of a list have a value
		case isNumbered(s.Inputs[i]):
			most = schema.MaxNumbered
		}
		n := s.Inputs[i].Width()
		all, bytes = all+int64(n), bytes+s.Inputs[i].NameBytes()
		if n > s.Inputs[widest].Width() {
			widest = i
		}
	}
	switch {
	case all <= most && bytes <= schema.MaxNames:
		return nil
	case all <= most:
		return fmt.Errorf("the names of %d features, %d of them from column %q, have over %s: rename columns, or leave some out with --exclude",
			all, s.Inputs[widest].Width(), s.Inputs[widest].Name, frame.BytesText(schema.MaxNames))
	}
	advice := "leave columns out with --exclude"
	if s.Inputs[widest].Kind == schema.NumberedColumn {
		advice = "leave the larger indices out"
	}
	return fmt.Errorf("%d features, %d of them from column %q, and a row has at most %d features: %s", all, s.Inputs[widest].Width(), s.Inputs[widest].Name, most, advice)
}

// Spec says what the columns of blocks without labels mean.
func (s *Selection) Spec() (*schema.Spec, error) {
	spec := &schema.Spec{Bias: s.Bias, Preprocessing: s.preprocessing(), Weighted: s.Weight >= 0}
	if s.Width() > schema.MaxNamed {
		return spec, nil
	}
	of := map[string]string{}
	for i := range s.Inputs {
		for _, name := range s.Inputs[i].Names() {
			if other, ok := of[name]; ok {
				return nil, fmt.Errorf("columns %q and %q both have a feature %q: rename one", other, s.Inputs[i].Name, name)
			}
			of[name] = s.Inputs[i].Name
			spec.Features = append(spec.Features, name)
		}
	}
	return spec, nil
}

// preprocessing returns what a model must know to make the features again, or nil if they are the columns' numbers.
func (s *Selection) preprocessing() *schema.Preprocessing {
	if s.plain() && !slices.ContainsFunc(s.Inputs, isNumbered) {
		return nil
	}
	return &schema.Preprocessing{Nulls: s.Nulls, NullValues: s.words, Columns: s.Inputs}
}

// plain tells whether the features are the columns' numbers.
func (s *Selection) plain() bool {
	other := func(c schema.Column) bool { return c.Kind != schema.NumberColumn && !isNumbered(c) || c.Unit != "" }
	return s.Nulls == schema.NullsError && !s.standardize && s.words == nil && !slices.ContainsFunc(s.Inputs, other)
}

func isNumbered(c schema.Column) bool { return c.Kind == schema.NumberedColumn }

// Drops tells whether rows with a missing value are dropped. A model without labels keeps them: each row gets a prediction.
func (s *Selection) Drops() bool { return s.Nulls == schema.NullsDrop && (!s.Fixed || s.Label >= 0) }

// Choose returns the selection of the columns of the first file that opt asks for.
func Choose(in *fileColumns, opt Choices) (*Selection, error) {
	text, named, err := parseCodings(opt.Categorical)
	if err != nil {
		return nil, fmt.Errorf("categorical is %q: %w", opt.Categorical, err)
	}
	c := &chooser{fileColumns: in, opt: opt, codings: slices.Repeat([]Coding{text}, len(in.cols))}
	p, inputs, err := c.places(named)
	if err != nil {
		return nil, err
	}
	sel, err := newSelection(c, inputs)
	if err != nil {
		return nil, err
	}
	sel.place(in.cols, p)
	if err := sel.checkWidth(); err != nil {
		return nil, in.errorf("%w", err)
	}
	kept := make([]bool, len(sel.Columns))
	for _, i := range sel.Keep {
		kept[i] = true
	}
	for k := range sel.Features {
		if inputs[k].Kind == schema.CrossColumn {
			for _, i := range append(sel.further(k), sel.Features[k]) {
				kept[i] = true // as it is in the file
			}
		}
	}
	for k, i := range sel.Features {
		if c := &sel.Columns[i]; inputs[k].Kind == schema.NumberColumn && i != sel.Label && !kept[i] {
			c.Float = opt.Float
		}
	}
	sel.Plain = opt.Float != nil && sel.plain() && (opt.Spec == nil || opt.Spec.Preprocessing == nil || slices.ContainsFunc(sel.Inputs, isNumbered))
	return sel, nil
}

// places are the numbers of the chosen columns in the schema. The label or the weight is -1 if there is none.
type places struct {
	features, keep []int
	further        [][]int // of crosses, as in Selection
	label, weight  int
}

// places finds the columns that the options ask for, and how the feature columns become features. It takes the codings of
// columns that Categorical names.
func (c *chooser) places(named []namedCoding) (p places, inputs []schema.Column, err error) {
	if p.label, err = c.Label(); err != nil {
		return p, nil, err
	}
	if p.weight, err = c.weight(p.label); err != nil {
		return p, nil, err
	}
	if err := c.Name(named, p.label, p.weight); err != nil {
		return p, nil, err
	}
	p.features, p.further, inputs, err = c.features(p.label, p.weight)
	if err == nil && c.opt.Spec == nil {
		err = c.checkNamed(named, p.features)
	}
	if err != nil {
		return p, nil, err
	}
	p.keep, err = c.Kept()
	return p, inputs, err
}

// place selects the columns at p, each once.
func (s *Selection) place(cols []frame.Column, p places) {
	place := make([]int, len(cols)) // one more than the number in the selection; 0: not selected
	s.Columns = make([]frame.Column, 0, min(len(cols), len(p.features)+len(p.keep)+2))
	use := func(i int) int {
		if place[i] == 0 {
			s.Columns = append(s.Columns, cols[i])
			place[i] = len(s.Columns)
		}
		return place[i] - 1
	}
	for _, i := range p.features {
		s.Features = append(s.Features, use(i))
	}
	for _, columns := range p.further {
		var further []int
		for _, i := range columns {
			further = append(further, use(i))
		}
		s.Further = append(s.Further, further)
	}
	if p.label >= 0 {
		s.Label = use(p.label)
	}
	if p.weight >= 0 {
		s.Weight = use(p.weight)
	}
	for _, i := range p.keep {
		s.Keep = append(s.Keep, use(i))
	}
}

// newSelection returns a selection of no columns yet, whose features are made as inputs say.
func newSelection(c *chooser, inputs []schema.Column) (*Selection, error) {
	opt := c.opt
	sel := &Selection{Chosen: &frame.Chosen{Label: -1, Weight: -1, Odd: c.odd}, Inputs: inputs, Bias: !opt.NoBias, Nulls: opt.Nulls,
		most: opt.Most, standardize: opt.Standardize, keepWide: opt.KeepWide, texts: opt.HashTexts, words: opt.Words, left: c.left, passed: c.passed}
	if opt.Narrow > 0 && sel.Width() > opt.Narrow {
		sel.standardize, sel.wide = false, opt.Standardize
	}
	if opt.Spec != nil {
		sel.Bias, sel.Nulls, sel.standardize, sel.Fixed = opt.Spec.Bias, schema.NullsError, false, true
		if opt.Spec.Preprocessing != nil {
			sel.Nulls = opt.Spec.Preprocessing.Nulls
		}
	}
	if sel.Nulls == "" {
		sel.Nulls = schema.NullsError
	}
	if !slices.Contains(schema.AllNulls, sel.Nulls) {
		return nil, fmt.Errorf("nulls is %q: use one of %v", sel.Nulls, schema.AllNulls)
	}
	return sel, nil
}

// bind returns the selection's columns of a further file. There they may have other places, or other numeric types.
func (s *Selection) bind(in *fileColumns) ([]frame.Column, error) {
	bound := make([]frame.Column, len(s.Columns))
	for k, first := range s.Columns {
		i, err := in.lookUp(first.Name)
		if err != nil {
			return nil, err
		}
		bound[k] = in.cols[i]
		bound[k].Float = first.Float
	}
	for i, k := range s.Features {
		if input := &s.Inputs[i]; input.Kind == schema.CrossColumn {
			for n, k := range append([]int{k}, s.further(i)...) {
				if err := in.checkPart(bound[k], input.Of[n]); err != nil {
					return nil, err
				}
			}
			continue
		}
		input, ok := ToInput(bound[k], codingOf(s.Inputs[i]))
		if !ok {
			return nil, in.noFeature(bound[k])
		}
		if !fits(input, s.Inputs[i]) || frame.SparseLists(bound[k].Type) != s.sparseLists(i) {
			return nil, in.differs(bound[k], s.Columns[k])
		}
	}
	if s.Label >= 0 {
		first, _ := frame.ClassKind(s.Columns[s.Label].Type)
		if kind, ok := frame.ClassKind(bound[s.Label].Type); !ok || kind != first {
			return nil, in.differs(bound[s.Label], s.Columns[s.Label])
		}
	}
	if s.Weight >= 0 && !isWeight(bound[s.Weight]) {
		return nil, in.differs(bound[s.Weight], s.Columns[s.Weight])
	}
	for _, k := range s.Keep {
		if bound[k].Type == nil || !arrow.TypeEqual(bound[k].Type, s.Columns[k].Type) {
			return nil, in.differs(bound[k], s.Columns[k])
		}
	}
	return bound, nil
}

// Notes returns a note about columns that match a pattern of Keep and can't be kept.
func (s *Selection) Notes() []string {
	if len(s.passed) == 0 {
		return nil
	}
	return []string{some(s.passed) + ": left out, values of such a type can't be handed on"}
}

// sparseLists tells whether input k is sparse lists in the data.
func (s *Selection) sparseLists(k int) bool {
	return s.Inputs[k].Kind == schema.ListColumn && frame.SparseLists(s.Columns[s.Features[k]].Type)
}

// listCounts are how many values the sparse lists of the training rows have, if rows isn't 0.
type listCounts struct{ rows, values int64 }

// mean returns how many values the sparse lists of a row have in the mean, rounded up, or a guess.
func (c listCounts) mean() int64 {
	const usual = 100
	if c.rows == 0 {
		return usual
	}
	return (c.values + c.rows - 1) / c.rows
}
