// Package transform converts columns to the features, labels or sample weights of rows.
package transform

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/where"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Binding is the columns that are read, each once, and their purposes.
type Binding struct {
	*column.Roles
	Plan    plan.Plan // its Inputs are for the feature columns, in order
	Further [][]int   // for each input that is a cross, its columns except the first; nil for other inputs
	Sparse  bool      // blocks are sparse
	// Elements is the approximate number of elements of all rows of sparse blocks, the bias included; 0: unknown.
	Elements int64
	Counted  bool // Elements is exact
	leftOut  leftOut
	passed   []string // columns, with their types, that match a pattern of Keep and can't be kept

	lists   listCounts
	full    []string         // hashed columns with more texts than there is room for
	wide    bool             // there are too many features to standardize them, although the options asked for it
	where   *where.Condition // chooses rows; nil: all
	tested  []int            // numbers in Columns of the columns of where
	Gaps    bool             // some number is missing in the rows from which features were learned
	derives bool             // some input derives its number from the value of its column
	// for each input, the texts from which no number derives, and those that are numbers with marks; nil unless derives
	strange, marked []inputTexts
	booleansTold    *atomic.Bool // there was a note about booleans for numbers
	// infinite is, for each column, whether a pass saw an infinite date; nil if no feature has dates
	infinite    []atomic.Bool
	classNote   string // see the function classNote
	makesBlocks bool   // otherwise rows are counted: dates of any unit have the same features
	Fixed       bool   // a model determines the features: nothing is computed from the data
}

func (s *Binding) Width() int {
	n := 0
	for i := range s.Plan.Inputs {
		n += s.Plan.Inputs[i].Width()
	}
	return n
}

// MostElements returns the maximum number of elements of a sparse row, the bias included. For sparse lists, it uses
// their mean number of elements.
func (s *Binding) MostElements() int64 {
	n, some := int64(0), false
	for i := range s.Plan.Inputs {
		switch c := &s.Plan.Inputs[i]; {
		case c.Words != nil:
			n += c.Words.MeanFeatures()
		case c.Categorical():
			n++
		case s.sparseLists(i) && !s.Plan.Standardize && c.Center == nil:
			some = true
		default:
			n += int64(c.Width())
		}
	}
	if some {
		n += s.lists.mean()
	}
	if s.Plan.Bias {
		n++
	}
	return n
}

// mostCategories returns the maximum number of categories of a column.
func (s *Binding) mostCategories() int {
	if s.Plan.Storage.Widest() > schema.MaxFeatures {
		return s.Plan.Storage.Widest()
	}
	return schema.MaxCategories
}

// checkWidth returns an error if the features known so far are more than a row may have, or if their names have more
// bytes than a model may have.
func (s *Binding) checkWidth() error {
	all, bytes, widest, most := int64(0), int64(0), 0, int64(max(schema.MaxFeatures, s.Plan.Storage.Widest()))
	for i := range s.Plan.Inputs {
		switch {
		case s.Plan.Inputs[i].Kind == schema.ListColumn && !s.sparseLists(i):
			most = schema.MaxFeatures // every element of a list is stored
		case isNumbered(s.Plan.Inputs[i]):
			most = schema.MaxNumbered
		}
		n := s.Plan.Inputs[i].Width()
		all, bytes = all+int64(n), bytes+s.Plan.Inputs[i].NameBytes()
		if n > s.Plan.Inputs[widest].Width() {
			widest = i
		}
	}
	switch {
	case all <= most && bytes <= schema.MaxNames:
		return nil
	case all <= most:
		return message.Errorf("the names of %d features, %d of them from column %q, have over %s: rename columns, or "+
			"leave some out with --exclude",
			all, s.Plan.Inputs[widest].Width(), s.Plan.Inputs[widest].Name, column.BytesText(schema.MaxNames))
	}
	advice := message.Sprintf("leave columns out with --exclude")
	if s.Plan.Inputs[widest].Kind == schema.NumberedColumn {
		advice = "leave the larger indices out"
	}
	return fmt.Errorf("%d features, %d of them from column %q, and a row has at most %d features: %s", all,
		s.Plan.Inputs[widest].Width(), s.Plan.Inputs[widest].Name, most, advice)
}

// Spec returns the spec of blocks without labels.
func (s *Binding) Spec() (*schema.Spec, error) {
	spec := &schema.Spec{Bias: s.Plan.Bias, Preprocessing: s.preprocessing(), Weighted: s.Weight >= 0}
	if s.Width() > schema.MaxNamed {
		return spec, nil
	}
	if len(s.Plan.Inputs) == 1 { // its names differ
		spec.Features = s.Plan.Inputs[0].Names()
		return spec, nil
	}
	of := map[string]string{}
	for i := range s.Plan.Inputs {
		for _, name := range s.Plan.Inputs[i].Names() {
			if other, ok := of[name]; ok {
				return nil, fmt.Errorf("columns %q and %q both have a feature %q: rename one", other, s.Plan.Inputs[i].Name, name)
			}
			of[name] = s.Plan.Inputs[i].Name
			spec.Features = append(spec.Features, name)
		}
	}
	return spec, nil
}

// preprocessing returns the preprocessing with which a model makes the features again, or nil if the features are the
// columns' numbers and the Spec lists their names.
func (s *Binding) preprocessing() *schema.Preprocessing {
	if s.plain() && !(slices.ContainsFunc(s.Plan.Inputs, isNumbered) && s.Width() > schema.MaxNamed) {
		return nil
	}
	return &schema.Preprocessing{Nulls: s.Plan.Nulls, NullValues: s.Plan.NullWords, Columns: s.Plan.Inputs}
}

// plain returns true if the features are the columns' numbers.
func (s *Binding) plain() bool {
	other := func(c schema.Column) bool {
		return c.Kind != schema.NumberColumn && !isNumbered(c) || c.Unit != "" || c.Derive != ""
	}
	return s.Plan.Nulls == schema.NullsError && !s.Plan.Standardize && s.Plan.NullWords == nil && !slices.ContainsFunc(s.Plan.Inputs, other)
}

func isNumbered(c schema.Column) bool { return c.Kind == schema.NumberedColumn }

// Drops returns true if rows are dropped: with a missing value, without a label, or by the options where, sample and limit. If a
// model is given and there is no label, no row is dropped, because each row gets a prediction.
func (s *Binding) Drops() bool {
	return s.dropsNulls() || s.Plan.DropUnlabelled && s.Label >= 0 || s.where != nil || s.Plan.Sample > 0 || s.Plan.End > 0
}

// dropsNulls returns true if rows with a missing value are dropped.
func (s *Binding) dropsNulls() bool {
	return s.Plan.Nulls == schema.NullsDrop && (!s.Fixed || s.Label >= 0)
}

// Bind returns the binding of columns of the first file that a draft asks for.
func Bind(in *fileColumns, d plan.Draft) (*Binding, error) {
	text, named, err := parseCodings(d.Categorical)
	if err != nil {
		return nil, message.Errorf("--categorical is %q: %w", d.Categorical, err)
	}
	c := &resolver{fileColumns: in, draft: d, codings: slices.Repeat([]Coding{text}, len(in.cols))}
	if err := c.absent(named); err != nil {
		return nil, err
	}
	p, inputs, err := c.places(named)
	if err != nil {
		return nil, err
	}
	bound, err := newBinding(c, inputs)
	if err != nil {
		return nil, err
	}
	bound.place(c, p)
	if err := bound.checkWidth(); err != nil {
		return nil, in.errorf("%w", err)
	}
	kept := make([]bool, len(bound.Columns))
	for _, i := range bound.Keep {
		kept[i] = true
	}
	for _, i := range bound.tested {
		kept[i] = true
	}
	for k, i := range bound.Features {
		c := &bound.Columns[i]
		if inputs[k].Kind == schema.NumberColumn && c.Type.ID() == arrow.TIMESTAMP && !kept[i] && i != bound.Label {
			c.OutOfRange = new(atomic.Bool)
		}
	}
	for k := range bound.Features {
		if inputs[k].Kind == schema.CrossColumn || inputs[k].Derive != "" && inputs[k].Derive != schema.Missing {
			for _, i := range append(bound.further(k), bound.Features[k]) {
				kept[i] = true // the column is kept as it is in the file
			}
		}
	}
	for k, i := range bound.Features {
		c := &bound.Columns[i]
		number := inputs[k].Kind == schema.NumberColumn && inputs[k].Derive == ""
		if _, dated := column.PerDay(c.Type); dated {
			if bound.infinite == nil {
				bound.infinite = make([]atomic.Bool, len(bound.Columns))
			}
		} else if d.MakesBlocks && number && i != bound.Label && !kept[i] {
			c.Float = arrow.PrimitiveTypes.Float32
		}
	}
	// If a model derives numbers, the note about texts that are no numbers counts the rows that the option where leaves out too.
	if bound.where != nil && !(bound.Fixed && bound.derives) {
		bound.NoRowMatches = bound.noRowMatches
	}
	bound.Plain = d.MakesBlocks && bound.plain() && (d.Spec == nil || d.Spec.Preprocessing == nil ||
		slices.ContainsFunc(bound.Plan.Inputs, isNumbered))
	return bound, nil
}

// places are the numbers of the chosen columns in the schema. label and weight are -1 if there is none.
type places struct {
	features, keep []int
	where          []int   // for the columns of the option where
	further        [][]int // for crosses, as in Binding
	label, weight  int
}

// places finds the columns that the options ask for, and how the feature columns become features. named are the
// codings of the columns that Categorical names.
func (c *resolver) places(named []namedCoding) (p places, inputs []schema.Column, err error) {
	if p.label, err = c.Label(); err != nil {
		return p, nil, err
	}
	if p.weight, err = c.weight(p.label); err != nil {
		return p, nil, err
	}
	if err := c.setCodings(c.codings, named, p.label, p.weight); err != nil {
		return p, nil, err
	}
	p.features, p.further, inputs, err = c.features(p.label, p.weight)
	if err == nil && c.draft.Spec == nil {
		err = c.checkNamed(named, p.features)
	}
	if err != nil {
		return p, nil, err
	}
	if p.where, err = c.findWhere(); err != nil {
		return p, nil, err
	}
	p.keep, err = c.Kept()
	return p, inputs, err
}

// place selects the columns at p, each once for numbers and once for texts.
func (s *Binding) place(in *resolver, p places) {
	cols := in.cols
	place := make([]int, len(cols)) // number in the binding plus 1; 0: not selected
	s.Columns = make([]column.Column, 0, min(len(cols), len(p.features)+len(p.keep)+2))
	use := func(i int) int {
		if place[i] == 0 {
			s.Columns = append(s.Columns, cols[i])
			place[i] = len(s.Columns)
		}
		return place[i] - 1
	}
	texts := map[int]int{} // number in the binding of a column that is read as texts
	useAs := func(i int, col column.Column) int {
		if !col.KeepsTexts {
			return use(i)
		}
		if _, ok := texts[i]; !ok {
			texts[i] = len(s.Columns)
			s.Columns = append(s.Columns, col)
		}
		return texts[i]
	}
	useTexts := func(i int) int { return useAs(i, in.texts(i)) }
	for k, i := range p.features {
		if s.Plan.Inputs[k].Categorical() {
			s.Features = append(s.Features, useTexts(i))
		} else {
			s.Features = append(s.Features, use(i))
		}
	}
	for _, columns := range p.further {
		var further []int
		for _, i := range columns {
			further = append(further, useTexts(i))
		}
		s.Further = append(s.Further, further)
	}
	if p.label >= 0 {
		s.Label = useTexts(p.label)
	}
	if p.weight >= 0 {
		s.Weight = use(p.weight)
	}
	for _, i := range p.keep {
		col := in.kept(i)
		k := useAs(i, col)
		s.Keep = append(s.Keep, k)
		s.Columns[k].WidensToNumbers, s.Columns[k].CountsForms = col.WidensToNumbers, col.CountsForms
	}
	for _, i := range p.where {
		s.tested = append(s.tested, useAs(i, in.tested(i)))
	}
}

// kept returns a column as it is read to be kept: as texts if the options say so, otherwise as numbers where texts are
// numbers. Integers with leading zeros, and integers of more than 64 bits, stay texts.
func (c *resolver) kept(i int) column.Column {
	col := c.cols[i]
	if c.draft.KeepsTexts && !c.draft.KeepsTypes && col.TextType != nil { // True isn't true, and a dash is no null
		col.TextType = arrow.BinaryTypes.String
	}
	if c.draft.KeepsTexts || col.LosesDigits || col.ReadsTextAsNumbers {
		return col.Texts()
	}
	col.CountsForms = c.draft.ExcludesFromKeep
	col.WidensToNumbers = col.TextType != nil && col.Type.ID() == arrow.INT64
	return col
}

// newBinding returns a binding without columns, whose features are made as inputs describe.
func newBinding(c *resolver, inputs []schema.Column) (*Binding, error) {
	p := c.draft.Plan
	bound := &Binding{Roles: &column.Roles{Label: -1, Weight: -1, Remedies: c.remedies}, Plan: p, leftOut: c.leftOut, passed: c.passed,
		booleansTold: new(atomic.Bool), where: c.where, derives: derives(inputs), makesBlocks: c.draft.MakesBlocks}
	if bound.Plan.Inputs = inputs; bound.derives {
		bound.strange, bound.marked = make([]inputTexts, len(inputs)), make([]inputTexts, len(inputs))
	}
	bound.Plan.DropUnlabelled = p.DropUnlabelled || c.draft.Prepare && (p.Spec != nil || c.draft.HasUnlabelled)
	if c.hasPairs && tooWide(&c.draft, bound.Width()) {
		bound.Plan.Standardize, bound.wide = false, p.Standardize
	}
	if p.Spec != nil {
		bound.Plan.Bias, bound.Plan.Nulls, bound.Plan.Standardize, bound.Fixed = p.Spec.Bias, schema.NullsError, false, true
		if p.Spec.Preprocessing != nil {
			bound.Plan.Nulls = p.Spec.Preprocessing.Nulls
		}
		if bound.Plan.Nulls == schema.NullsError && p.Nulls == schema.NullsDrop && !slices.ContainsFunc(inputs, isNumbered) {
			bound.Plan.Nulls = schema.NullsDrop
		}
	}
	if bound.Plan.Nulls == "" {
		bound.Plan.Nulls = schema.NullsError
	}
	if !slices.Contains(schema.AllNulls, bound.Plan.Nulls) {
		return nil, fmt.Errorf("nulls is %q: use one of %v", bound.Plan.Nulls, schema.AllNulls)
	}
	return bound, nil
}

// bind returns the binding's columns in another file. There the columns may have another order, or other numeric
// types.
func (s *Binding) bind(in *fileColumns) ([]column.Column, error) {
	bound := make([]column.Column, len(s.Columns))
	for k, first := range s.Columns {
		i, err := in.lookUp(first.Name)
		if err != nil {
			return nil, err
		}
		bound[k] = in.cols[i].As(first)
	}
	for i, k := range s.Features {
		if input := &s.Plan.Inputs[i]; input.Kind == schema.CrossColumn {
			for n, k := range append([]int{k}, s.further(i)...) {
				if err := in.checkPart(bound[k], input.Of[n]); err != nil && !s.Fixed {
					return nil, err
				}
			}
			continue
		}
		if s.Plan.Inputs[i].Derive != "" {
			if !derivable(bound[k], s.Plan.Inputs[i]) {
				return nil, in.differs(bound[k], s.Columns[k])
			}
			continue
		}
		input, ok := ToInput(bound[k], codingOf(s.Plan.Inputs[i]))
		if !ok {
			return nil, in.noFeature(bound[k])
		}
		sameClock := !s.makesBlocks && column.SameClock(bound[k].Type, s.Columns[k].Type)
		if !fits(input, s.Plan.Inputs[i], s.Fixed) && !sameClock || column.SparseLists(bound[k].Type) != s.sparseLists(i) {
			return nil, in.differs(bound[k], s.Columns[k])
		}
	}
	if s.Label >= 0 {
		first, _ := column.LabelKind(s.Columns[s.Label].Type)
		if kind, ok := column.LabelKind(bound[s.Label].Type); !ok || kind != first {
			return nil, in.differs(bound[s.Label], s.Columns[s.Label])
		}
	}
	if s.Weight >= 0 && !isWeight(bound[s.Weight]) {
		return nil, in.differs(bound[s.Weight], s.Columns[s.Weight])
	}
	for k, i := range s.tested {
		if what := s.where.Unfit(k, bound[i]); what != "" {
			return nil, in.errorf("--where: column %q: %s", bound[i].Name, what)
		}
	}
	for _, k := range s.Keep {
		if bound[k].Type == nil || !arrow.TypeEqual(bound[k].Type, s.Columns[k].Type) {
			return nil, in.differs(bound[k], s.Columns[k])
		}
	}
	return bound, nil
}

// Notes returns a note about the columns that match a pattern of Keep and can't be kept.
func (s *Binding) Notes() []string {
	if len(s.passed) == 0 {
		return nil
	}
	return []string{humanize.Columns(s.passed) + ": left out, values of such a type can't be handed on"}
}

// sparseLists returns true if input k has sparse lists in the data.
func (s *Binding) sparseLists(k int) bool {
	return s.Plan.Inputs[k].Kind == schema.ListColumn && column.SparseLists(s.Columns[s.Features[k]].Type)
}

// listCounts are the numbers of training rows and of the values in their sparse lists. If rows is 0, they are
// unknown.
type listCounts struct{ rows, values int64 }

// mean returns the mean number of values in the sparse lists of a row, rounded up. If it is unknown, mean returns a
// guess.
func (c listCounts) mean() int64 {
	const usual = 100
	if c.rows == 0 {
		return usual
	}
	return (c.values + c.rows - 1) / c.rows
}
