package transform

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Binder binds a draft to the columns of files, and stores the binding in Bound.
type Binder struct {
	plan.Draft
	HasPairs bool // rows of the table name the features that aren't 0
	Bound    *Binding
}

// BindAll chooses among the columns of all files. The label option may be the number of one of the first numbered columns.
func (p *Binder) BindAll(files string, cols []column.Column, numbered int) (*column.Roles, error) {
	d := p.Draft
	if numbered > 0 {
		d.Label = NamedLabel(d.Label, cols, numbered)
		if p.Label == column.SvmlightLabel && d.Label != p.Label {
			d.Notes = append(slices.Clip(d.Notes), message.Sprintf("%s: there is no header, and the first column is taken for the label "+
				"(use --label NUMBER or last for another)", files))
		}
	}
	var err error
	in := NewFileColumns(files, cols)
	in.hasPairs = p.HasPairs
	if p.Bound, err = Bind(in, d); err != nil {
		return nil, err
	}
	return p.Bound.Roles, nil
}

// BindFile returns the chosen columns as they are in a file.
func (p *Binder) BindFile(file string, cols []column.Column) ([]column.Column, error) {
	return p.Bound.bind(NewFileColumns(file, cols))
}

// Unnamed returns true if the choices name no column but the label of svmlight, and don't change the numbers of width
// features. Then a million features need no million descriptions.
func (p *Binder) Unnamed(width int) bool {
	other := func(name string) bool { return name != "" && name != column.SvmlightLabel }
	standardized := p.Standardize && !(p.HasPairs && tooWide(&p.Draft, width))
	switch {
	case !p.MakesBlocks, other(p.Label), p.Weight != "", len(p.Features)+len(p.Exclude)+len(p.Cross) > 0,
		slices.ContainsFunc(p.Keep, other), p.Categorical != "", p.Where != "", p.Inputs != nil, p.NullWords != nil:
		return false
	case p.Nulls != "" && p.Nulls != schema.NullsError && p.Spec == nil, standardized:
		return false
	}
	return p.Spec == nil || p.Spec.Preprocessing == nil
}

// tooWide returns true if rows of pairs with that many features aren't standardized, as the plan allows.
func tooWide(d *plan.Draft, width int) bool {
	return d.KeepWide && d.Spec == nil && width > MostStandardized
}

// NamedLabel returns the name of the label column. The option may be the number of one of the first numbered columns, or "last".
// Without a header, "label" is the first column, as in svmlight files.
func NamedLabel(label string, cols []column.Column, numbered int) string {
	if label == "" || slices.ContainsFunc(cols, func(c column.Column) bool { return c.Name == label }) {
		return label
	}
	n, err := strconv.Atoi(label)
	switch {
	case label == "last":
		n, err = numbered, nil
	case label == column.SvmlightLabel && numbered > 1 && cols[0].Name == "c1" && cols[numbered-1].Name == fmt.Sprint("c", numbered):
		n, err = 1, nil
	}
	if err == nil && 1 <= n && n <= numbered {
		return cols[n-1].Name
	}
	return label
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

// newBinding returns a binding without columns, whose features are made as inputs describe.
func newBinding(c *resolver, inputs []schema.Column) (*Binding, error) {
	p := c.draft.Plan
	derives := slices.ContainsFunc(inputs, func(in schema.Column) bool { return in.Derive != "" })
	bound := &Binding{Roles: &column.Roles{Label: -1, Weight: -1, Remedies: c.remedies}, Plan: p, leftOut: c.leftOut, passed: c.passed,
		booleansTold: new(atomic.Bool), where: c.where, derives: derives, makesBlocks: c.draft.MakesBlocks}
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
