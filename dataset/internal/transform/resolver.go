package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/where"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A resolver finds columns for the options. It identifies a column by its number in the schema.
type resolver struct {
	*fileColumns
	draft    plan.Draft
	codings  []Coding // of each column
	where    *where.Condition
	leftOut  leftOut
	remedies []string // as column.Roles.Remedies
	passed   []string // as Binding.passed
}

// Label returns the number of the label column, or -1 if the options name no label.
func (c *resolver) Label() (int, error) {
	if c.draft.Label == "" {
		return -1, nil
	}
	i, err := c.lookUp(c.draft.Label)
	if err != nil {
		return 0, err
	}
	if _, ok := column.LabelKind(c.texts(i).Type); !ok {
		return 0, c.errorf("column %q is %s, and a label is a number, a boolean, a string or a date: choose another one with "+
			"--label", c.draft.Label, c.cols[i].Desc)
	}
	return i, nil
}

// texts returns a column as it is read for a label or a category. The classes and categories of a model match texts.
func (c *resolver) texts(i int) column.Column {
	col := c.cols[i].Texts()
	if c.draft.Spec != nil && col.KeepsTexts {
		col.Type = arrow.BinaryTypes.String
	}
	return col
}

// absent returns an error if the file lacks two or more of the columns that the options or the model name. A single one is reported where
// it is looked up.
func (c *resolver) absent(named []namedCoding) error {
	const most = 10
	var all []string
	absent, seen := 0, map[string]bool{"": true}
	add := func(option string, names ...string) {
		for _, name := range names {
			if c.index[name] != nil || seen[name] || c.isPattern(name) {
				continue
			}
			seen[name] = true
			if absent++; absent > most {
				continue
			}
			what := fmt.Sprintf("%q", name)
			if option != "" {
				what += " (" + option + c.hint(name) + ")"
			}
			all = append(all, what)
		}
	}
	add(message.Option("label"), c.draft.Label)
	if c.draft.Spec == nil {
		add(message.Option("features"), c.draft.Features...)
		add(message.Sprintf("--group or --order-by"), c.draft.RankBy)
		add(message.Option("exclude"), c.draft.Exclude...)
		for _, n := range named {
			add(message.Sprintf("--categorical or --type"), n.pattern)
		}
		for _, text := range c.draft.Cross {
			if x, err := parseCross(text); err == nil {
				add(message.Option("cross"), x.names...)
			}
		}
	} else if c.draft.Spec.Width() > 0 {
		for _, in := range c.modelColumns() {
			if in.Kind != schema.CrossColumn {
				add("", in.Name)
			}
			for _, part := range in.Of {
				add("", part.Name)
			}
		}
	}
	add(message.Option("sample-weight"), c.draft.Weight)
	add(message.Option("keep"), c.draft.Keep...)
	if cond, err := where.Parse(c.draft.Where); err == nil {
		add(message.Option("where"), cond.Columns()...)
	}
	if absent < 2 {
		return nil
	}
	if absent > most {
		all = append(all, fmt.Sprintf("and %d more", absent-most))
	}
	return c.errorf("no columns %s (columns: %s)", strings.Join(all, ", "), c.list(column.Column.Label))
}

// weight returns the number of the column of sample weights, or -1 if the options name none.
func (c *resolver) weight(label int) (int, error) {
	if c.draft.Weight == "" {
		return -1, nil
	}
	i, err := c.lookUp(c.draft.Weight)
	switch {
	case err != nil:
		return 0, err
	case i == label:
		return 0, c.errorf("column %q is the label: choose another one with --sample-weight", c.cols[i].Name)
	case !isWeight(c.cols[i]):
		return 0, c.errorf("column %q is %s, and a weight is a number: choose another one with --sample-weight", c.cols[i].Name,
			c.cols[i].Desc)
	}
	return i, nil
}

// features returns the feature columns, and how each becomes features. first has the number of each feature column;
// for a cross, further has the numbers of its other columns. The feature columns are the columns of the model's Spec
// if there is one, otherwise the columns that the options name and don't exclude. The columns in others can't be
// features: they are the numbers of the label and the weight, or -1.
func (c *resolver) features(others ...int) (first []int, further [][]int, inputs []schema.Column, err error) {
	if c.draft.Spec != nil || c.draft.Inputs != nil {
		return c.given(others)
	}
	wanted, err := c.wanted(others)
	if err != nil {
		return nil, nil, nil, err
	}
	excluded, err := c.excluded()
	if err != nil {
		return nil, nil, nil, err
	}
	crossed, crosses, err := c.crosses(c.draft.Cross, others)
	if err != nil {
		return nil, nil, nil, err
	}
	wanted = slices.DeleteFunc(wanted, func(i int) bool { return excluded[i] })
	all := slices.Concat(crossed...)
	for i, col := range c.cols {
		if len(c.draft.Features) == 0 && !slices.Contains(others, i) && !slices.Contains(all, i) && !excluded[i] && !c.usable(i) {
			if col.Advice != "" {
				c.remedies = append(c.remedies, col.Advice+", so it is left out: "+col.Remedy)
			} else {
				c.leftOut.add(col)
			}
		}
	}
	if len(wanted)+len(crosses) == 0 {
		return nil, nil, nil, c.noneLeft()
	}
	inputs = make([]schema.Column, 0, len(wanted)+len(crosses)) // growing it to 100,000 would take tens of megabytes
	for _, i := range wanted {
		input, _ := ToInput(c.cols[i], c.codings[i])
		inputs = append(inputs, input)
	}
	for _, x := range crosses {
		if slices.ContainsFunc(inputs, func(in schema.Column) bool { return in.Name == x.Name }) {
			return nil, nil, nil, c.errorf("column %q has the name of a cross: rename it, or leave it out with --exclude", x.Name)
		}
	}
	further = make([][]int, len(wanted))
	for _, columns := range crossed {
		wanted, further = append(wanted, columns[0]), append(further, columns[1:])
	}
	return wanted, further, append(inputs, crosses...), c.unique(wanted)
}

func (c *resolver) noneLeft() error {
	advice := c.comment()
	switch {
	case advice != "":
	case len(c.remedies) > 0:
		advice = "; " + c.remedies[0]
	case c.leftOut.texts:
		advice = message.Sprintf(" (use --categorical onehot for text)")
	case len(c.leftOut.of) > 0:
		advice = "; " + strings.Join(c.leftOut.notes(), "; ")
	}
	return c.errorf("no feature is left, and a feature is %s (columns: %s)%s", column.FeatureTypes,
		c.list(func(col column.Column) string { return col.Label() + " " + col.Desc }), advice)
}

// excluded returns, for each column, whether Exclude names it.
func (c *resolver) excluded() ([]bool, error) {
	excluded := make([]bool, len(c.cols))
	for _, pattern := range c.draft.Exclude {
		matches, err := c.matches(message.Option("exclude"), pattern)
		if err != nil {
			return nil, err
		}
		for _, i := range matches {
			excluded[i] = true
		}
	}
	return excluded, nil
}

// modelColumns returns the columns of the model's Spec. If the file has the same features in one numbered column, see
// Binder.Unnamed, it returns this column.
func (c *resolver) modelColumns() []schema.Column {
	i := slices.IndexFunc(c.cols, func(col column.Column) bool { return col.NumberedFeatures > 0 })
	if i < 0 || c.draft.Spec.Preprocessing != nil {
		return c.draft.Spec.Columns()
	}
	input, _ := ToInput(c.cols[i], Coding{})
	return []schema.Column{input}
}

// given returns the columns of the model's Spec, or of the plan and the crosses.
func (c *resolver) given(others []int) (first []int, further [][]int, inputs []schema.Column, err error) {
	inputs = slices.Clone(c.draft.Inputs)
	if c.draft.Spec != nil {
		if inputs = c.fromTexts(c.modelColumns()); c.draft.Spec.Cols() == 0 {
			return nil, nil, nil, errors.New("the model has no features")
		}
	}
	first, further, err = c.placesOf(inputs)
	if err != nil || c.draft.Spec != nil {
		return first, further, inputs, err
	}
	crossed, crosses, err := c.crosses(c.draft.Cross, others)
	for _, columns := range crossed {
		first, further = append(first, columns[0]), append(further, columns[1:])
	}
	return first, further, append(inputs, crosses...), err
}

// placesOf returns the columns from which inputs make their features: the first column of each, and the further columns of crosses.
func (c *resolver) placesOf(inputs []schema.Column) (first []int, further [][]int, err error) {
	first, further = make([]int, len(inputs)), make([][]int, len(inputs))
	for k, want := range inputs {
		if want.Kind == schema.CrossColumn {
			columns, err := c.partsOf(want, c.draft.Spec != nil)
			if err != nil {
				return nil, nil, err
			}
			first[k], further[k] = columns[0], columns[1:]
			continue
		}
		i, err := c.lookUp(want.Name)
		if err != nil {
			return nil, nil, err
		}
		input, ok := ToInput(c.cols[i], codingOf(want))
		if ok = ok && fits(input, want, c.draft.Spec != nil); want.Derive != "" {
			ok = derivable(c.cols[i], want)
		}
		if !ok {
			return nil, nil, c.errorf("column %q is %s, and the model takes %s: convert it", want.Name, c.cols[i].Desc, nameInput(want))
		}
		first[k], c.cols[i].Advice = i, ""
	}
	return first, further, nil
}

// wanted returns the columns that Features names. If Features is empty, it returns all columns that can be features.
func (c *resolver) wanted(others []int) ([]int, error) {
	patterns := c.draft.Features
	if len(patterns) == 0 {
		return c.allUsable(others), nil
	}
	var wanted []int
	have, named := make([]bool, len(c.cols)), make([]bool, len(c.cols))
	for _, pattern := range patterns {
		matches, err := c.pick(pattern, others, named)
		if err != nil {
			return nil, err
		}
		for _, i := range matches {
			if !have[i] {
				wanted = append(wanted, i)
			}
			have[i] = true
		}
	}
	return wanted, nil
}

// pick returns the feature columns that match a name or a pattern. named records the columns that were named without
// a pattern before.
func (c *resolver) pick(pattern string, others []int, named []bool) ([]int, error) {
	if !c.isPattern(pattern) {
		i, err := c.lookUp(pattern)
		if err != nil {
			return nil, err
		}
		switch slices.Index(others, i) {
		case 0:
			return nil, c.errorf("feature %q is the label: leave it out of --features", pattern)
		case 1:
			return nil, c.errorf("feature %q is the weight of rows: leave it out of --features", pattern)
		}
		if !c.usable(i) {
			return nil, c.noFeature(c.cols[i])
		}
		if named[i] {
			return nil, c.errorf("feature %q is named twice: name it once in --features", pattern)
		}
		named[i] = true
		return []int{i}, nil
	}
	matches, err := c.matches(message.Option("features"), pattern)
	if err != nil {
		return nil, err
	}
	first := c.cols[matches[0]]
	matches = slices.DeleteFunc(matches, func(i int) bool { return slices.Contains(others, i) || !c.usable(i) })
	if len(matches) == 0 {
		return nil, c.errorf("no feature matches %q (column %q is %s): change it in --features", pattern, first.Name,
			first.Desc)
	}
	return matches, nil
}

// usable returns true if column i can be a feature.
func (c *resolver) usable(i int) bool {
	_, ok := ToInput(c.cols[i], c.codings[i])
	return ok
}

// allUsable returns all columns that can be features, except the columns in others and the labels of svmlight.
func (c *resolver) allUsable(others []int) []int {
	var all []int
	for i := range c.cols {
		if !c.cols[i].Labels && !slices.Contains(others, i) && c.usable(i) {
			all = append(all, i)
		}
	}
	return all
}

// Kept returns the columns that Keep names, in this order. A pattern skips columns that can't be kept.
func (c *resolver) Kept() ([]int, error) {
	var found []int
	have := make([]bool, len(c.cols))
	if c.draft.ExcludesFromKeep {
		var err error
		if have, err = c.excluded(); err != nil {
			return nil, err
		}
		if len(c.draft.Keep) == 0 {
			return c.all(have)
		}
	}
	for _, pattern := range c.draft.Keep {
		matches, err := c.matches(message.Option("keep"), pattern)
		if err != nil {
			return nil, err
		}
		for _, i := range matches {
			switch {
			case have[i]:
			case keepable(c.cols[i].Type) || c.draft.KeepsSparseLists && column.SparseLists(c.cols[i].Type):
				found = append(found, i)
			case c.isPattern(pattern):
				c.passed = append(c.passed, fmt.Sprintf("%q (%s)", c.cols[i].Name, c.cols[i].Desc))
			default:
				return nil, c.errorf("column %q is %s, which can't be kept: leave it out of --keep", pattern, c.cols[i].Desc)
			}
			have[i] = true
		}
	}
	return found, c.unique(found)
}

// all returns the columns that aren't excluded. It returns an error if some of them can't be kept.
func (c *resolver) all(excluded []bool) ([]int, error) {
	var found []int
	var types, names []string // of the columns that can't be kept
	for i, col := range c.cols {
		switch {
		case excluded[i]:
		case keepable(col.Type):
			found = append(found, i)
		default:
			types, names = append(types, fmt.Sprintf("%q is %s", col.Name, col.Desc)), append(names, col.Name)
		}
	}
	const most = 20
	switch n := len(names); {
	case n > most:
		return nil, c.errorf("columns %s and %d more, which can't be written: name the columns to write with --keep",
			strings.Join(types[:most], ", "), n-most)
	case n > 1:
		return nil, c.errorf("columns %s, which can't be written: leave them out with --exclude %s",
			strings.Join(types, ", "), column.InShell(names))
	case n == 1:
		return nil, c.errorf("column %s, which can't be written: leave it out with --exclude", types[0])
	case len(found) == 0:
		return nil, c.errorf("no columns are left to write: name a file that has some, or exclude fewer")
	}
	return found, c.unique(found)
}

// unique returns an error if another column has the same name as a column in found. A model identifies features by
// name.
func (c *resolver) unique(found []int) error {
	for _, i := range found {
		if _, err := c.lookUp(c.cols[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// findWhere parses the option where, and returns the number of each column in it.
func (c *resolver) findWhere() (tested []int, err error) {
	if c.where, err = where.Parse(c.draft.Where); err != nil {
		return nil, message.Errorf("--where: %w", err)
	}
	for k, name := range c.where.Columns() {
		i, err := c.lookUp(name)
		if err != nil {
			return nil, err
		}
		if what := c.where.Unfit(k, c.tested(i)); what != "" {
			return nil, c.errorf("--where: column %q: %s", name, what)
		}
		c.cols[i].Advice, c.cols[i].Digits, c.cols[i].ExactDigits = "", true, c.where.BeyondFloat(k)
		tested = append(tested, i)
	}
	return tested, nil
}

// tested returns a column as the option where compares it: codes are texts, unless an option or the model makes them numbers.
func (c *resolver) tested(i int) column.Column {
	col := c.cols[i]
	isTyped := c.draft.Types[col.Name].OfValues()
	isNumber := func(in schema.Column) bool { return in.Name == col.Name && in.Kind == schema.NumberColumn }
	if !col.IsCode || isTyped || c.draft.Spec != nil && slices.ContainsFunc(c.modelColumns(), isNumber) {
		return col
	}
	return c.texts(i)
}
