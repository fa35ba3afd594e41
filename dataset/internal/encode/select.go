package encode

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/frame"
	"halfspace/internal/nearest"
	"halfspace/schema"
)

// A Selection says which columns are read, each once, and what for.
type Selection struct {
	*frame.Chosen
	Inputs []schema.Column // how each of the features' columns becomes features of the block, in order
	Bias   bool
	Nulls  schema.Nulls
	words  []string // that are nulls in text, see choices
	left   []string // columns, with their types, that were left out because they can't be features
	passed []string // columns, with their types, that a pattern of Keep matched and that can't be kept
	texts  bool     // some of left could be as categories

	standardize bool // learn how
	Fixed       bool // by a model: what features depend on isn't learned from the data
}

// Width returns the number of features.
func (s *Selection) Width() int {
	n := 0
	for i := range s.Inputs {
		n += s.Inputs[i].Width()
	}
	return n
}

// checkWidth returns an error if the features, as far as they are known, are more than a row may have.
func (s *Selection) checkWidth() error {
	all, widest := int64(0), 0
	for i := range s.Inputs {
		n := s.Inputs[i].Width()
		all += int64(n)
		if n > s.Inputs[widest].Width() {
			widest = i
		}
	}
	if all <= schema.MaxFeatures {
		return nil
	}
	return fmt.Errorf("%d features, %d of them from column %q, and a row has at most %d features: leave columns out with --exclude",
		all, s.Inputs[widest].Width(), s.Inputs[widest].Name, schema.MaxFeatures)
}

// Spec says what the columns of blocks without labels mean.
func (s *Selection) Spec() (*schema.Spec, error) {
	spec := &schema.Spec{Bias: s.Bias, Preprocessing: s.preprocessing(), Weighted: s.Weight >= 0}
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

// preprocessing returns what a model must know to make the features again, nil where they are the columns' numbers.
func (s *Selection) preprocessing() *schema.Preprocessing {
	plain := s.Nulls == schema.NullsError && !s.standardize && s.words == nil
	for i := range s.Inputs {
		plain = plain && s.Inputs[i].Kind == schema.NumberColumn && s.Inputs[i].Unit == ""
	}
	if plain {
		return nil
	}
	return &schema.Preprocessing{Nulls: s.Nulls, NullValues: s.words, Columns: s.Inputs}
}

// Drops tells whether rows with a missing value aren't kept. Where a model predicts, they are: each row gets an answer.
func (s *Selection) Drops() bool { return s.Nulls == schema.NullsDrop && (!s.Fixed || s.Label >= 0) }

// Choose resolves what opt asks for among the columns of the first file.
func Choose(in *fileColumns, opt Choices) (*Selection, error) {
	text, named, err := parseCodings(opt.Categorical)
	if err != nil {
		return nil, fmt.Errorf("categorical is %q: %w", opt.Categorical, err)
	}
	c := &chooser{fileColumns: in, opt: opt, codings: slices.Repeat([]Coding{text}, len(in.cols))}
	label, err := c.Label()
	if err != nil {
		return nil, err
	}
	weight, err := c.weight(label)
	if err != nil {
		return nil, err
	}
	if err := c.Name(named, label, weight); err != nil {
		return nil, err
	}
	features, inputs, err := c.features(label, weight)
	if err == nil && opt.Spec == nil {
		err = c.checkNamed(named, features)
	}
	if err != nil {
		return nil, err
	}
	keep, err := c.Kept()
	if err != nil {
		return nil, err
	}
	sel := &Selection{Chosen: &frame.Chosen{Label: -1, Weight: -1, Odd: c.odd}, Inputs: inputs, Bias: !opt.NoBias, Nulls: opt.Nulls,
		standardize: opt.Standardize, words: opt.Words, left: c.left, passed: c.passed, texts: c.texts}
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
	if err := sel.checkWidth(); err != nil {
		return nil, in.errorf("%w", err)
	}
	place := map[int]int{} // numbers in the schema to numbers in the selection
	use := func(i int) int {
		if _, ok := place[i]; !ok {
			place[i] = len(sel.Columns)
			sel.Columns = append(sel.Columns, in.cols[i])
		}
		return place[i]
	}
	for _, i := range features {
		sel.Features = append(sel.Features, use(i))
	}
	if label >= 0 {
		sel.Label = use(label)
	}
	if weight >= 0 {
		sel.Weight = use(weight)
	}
	for _, i := range keep {
		sel.Keep = append(sel.Keep, use(i))
	}
	for k, i := range sel.Features {
		sel.Columns[i].MaxList = schema.MaxFeatures
		if c := &sel.Columns[i]; inputs[k].Kind == schema.NumberColumn && i != sel.Label && !slices.Contains(sel.Keep, i) {
			c.Float = opt.Float
		}
	}
	sel.Plain = opt.Float != nil && sel.preprocessing() == nil && (opt.Spec == nil || opt.Spec.Preprocessing == nil)
	return sel, nil
}

// bind returns the selection's columns as a further file has them: elsewhere in it, or of another numeric type.
func (s *Selection) bind(in *fileColumns) ([]frame.Column, error) {
	bound := make([]frame.Column, len(s.Columns))
	for k, first := range s.Columns {
		i, err := in.lookUp(first.Name)
		if err != nil {
			return nil, err
		}
		bound[k] = in.cols[i]
		bound[k].Float, bound[k].MaxList = first.Float, first.MaxList
	}
	for i, k := range s.Features {
		input, ok := ToInput(bound[k], codingOf(s.Inputs[i]))
		if !ok {
			return nil, in.noFeature(bound[k])
		}
		if !fits(input, s.Inputs[i]) {
			return nil, in.differs(bound[k], s.Columns[k])
		}
	}
	if s.Label >= 0 {
		first, _ := frame.ClassKind(s.Columns[s.Label].Type)
		if kind, ok := frame.ClassKind(bound[s.Label].Type); !ok || kind != first {
			return nil, in.differs(bound[s.Label], s.Columns[s.Label])
		}
	}
	if s.Weight >= 0 && !weighs(bound[s.Weight]) {
		return nil, in.differs(bound[s.Weight], s.Columns[s.Weight])
	}
	for _, k := range s.Keep {
		if bound[k].Type == nil || !arrow.TypeEqual(bound[k].Type, s.Columns[k].Type) {
			return nil, in.differs(bound[k], s.Columns[k])
		}
	}
	return bound, nil
}

// A chooser finds columns, by their numbers in the schema.
type chooser struct {
	*fileColumns
	opt     Choices
	codings []Coding // of each column
	left    []string // as in selection
	odd     []string // as in selection
	passed  []string // as in selection
	texts   bool     // as in selection
}

func (c *chooser) Label() (int, error) {
	if c.opt.Label == "" {
		return -1, nil
	}
	i, err := c.lookUp(c.opt.Label)
	if err != nil {
		return 0, err
	}
	if _, ok := frame.ClassKind(c.cols[i].Type); !ok {
		return 0, c.errorf("column %q is %s, and a label is a number, a boolean or a string: choose another one with "+
			"--label", c.opt.Label, c.cols[i].Desc)
	}
	return i, nil
}

// weight returns the column of the rows' weights, or -1.
func (c *chooser) weight(label int) (int, error) {
	if c.opt.SampleWeight == "" {
		return -1, nil
	}
	i, err := c.lookUp(c.opt.SampleWeight)
	switch {
	case err != nil:
		return 0, err
	case i == label:
		return 0, c.errorf("column %q is the label: choose another one with --sample-weight", c.cols[i].Name)
	case !weighs(c.cols[i]):
		return 0, c.errorf("column %q is %s, and a weight is a number: choose another one with --sample-weight", c.cols[i].Name,
			c.cols[i].Desc)
	}
	return i, nil
}

// weighs tells whether a column may hold weights of rows.
func weighs(c frame.Column) bool {
	return frame.Number(c.Type) && frame.Unit(c.Type) == "" && c.Type.ID() != arrow.BOOL
}

// features returns the feature columns and what becomes of them: the Spec's, or those asked for without those excluded. The
// others, the label and the weight or -1, can't be features.
func (c *chooser) features(others ...int) ([]int, []schema.Column, error) {
	if c.opt.Spec != nil {
		return c.modelColumns(c.opt.Spec)
	}
	wanted, err := c.wanted(others)
	if err != nil {
		return nil, nil, err
	}
	excluded, err := c.excluded()
	if err != nil {
		return nil, nil, err
	}
	wanted = slices.DeleteFunc(wanted, func(i int) bool { return excluded[i] })
	for i, col := range c.cols {
		if len(c.opt.Features) == 0 && !slices.Contains(others, i) && !excluded[i] && !c.usable(i) {
			c.left = append(c.left, fmt.Sprintf("%q (%s)", col.Name, col.Desc))
			if col.Advice != "" {
				c.odd = append(c.odd, col.Advice)
			}
			c.texts = c.texts || frame.Textual(col.Type)
		}
	}
	if len(wanted) == 0 {
		advice := ""
		switch {
		case len(c.odd) > 0:
			advice = "; " + c.odd[0]
		case c.texts:
			advice = " (use --categorical onehot for text)"
		}
		return nil, nil, c.errorf("no feature is left, and a feature is %s (columns: %s)%s", frame.FeatureTypes,
			c.list(func(col frame.Column) string { return col.Label() + " " + col.Desc }), advice)
	}
	inputs := make([]schema.Column, len(wanted))
	for k, i := range wanted {
		inputs[k], _ = ToInput(c.cols[i], c.codings[i])
	}
	return wanted, inputs, c.unique(wanted)
}

// excluded tells of each column whether Exclude names it.
func (c *chooser) excluded() ([]bool, error) {
	excluded := make([]bool, len(c.cols))
	for _, pattern := range c.opt.Exclude {
		matches, err := c.matches("--exclude", pattern)
		if err != nil {
			return nil, err
		}
		for _, i := range matches {
			excluded[i] = true
		}
	}
	return excluded, nil
}

// modelColumns returns the columns that a model makes its features from.
func (c *chooser) modelColumns(spec *schema.Spec) ([]int, []schema.Column, error) {
	if spec.Cols() == 0 {
		return nil, nil, errors.New("the model has no features")
	}
	inputs := spec.Columns()
	found := make([]int, len(inputs))
	for k, want := range inputs {
		i, err := c.lookUp(want.Name)
		if err != nil {
			return nil, nil, err
		}
		if input, ok := ToInput(c.cols[i], codingOf(want)); !ok || !fits(input, want) {
			return nil, nil, c.errorf("column %q is %s, and the model takes %s: convert it", want.Name, c.cols[i].Desc,
				nameInput(want))
		}
		found[k] = i
	}
	return found, inputs, nil
}

// ToInput says how a column becomes features, if it can.
func ToInput(c frame.Column, text Coding) (schema.Column, bool) {
	if kind, ok := frame.ClassKind(c.Type); ok && text.named {
		return schema.Column{Name: c.Name, Kind: text.kind, HashBits: text.bits, Values: text.valuesOf(c.Type, kind)}, true
	}
	if frame.Number(c.Type) {
		return schema.Column{Name: c.Name, Kind: schema.NumberColumn, Unit: frame.Unit(c.Type)}, true
	}
	if frame.Textual(c.Type) {
		return schema.Column{Name: c.Name, Kind: text.kind, HashBits: text.bits},
			text.kind == schema.OneHotColumn || text.kind == schema.HashColumn
	}
	_, n, ok := frame.ListOf(c.Type)
	return schema.Column{Name: c.Name, Kind: schema.ListColumn, Elements: n}, ok
}

// fits tells whether a column of a further file, or of a model's data, can take the place of the one wanted. Whether its
// lists are as long is seen row by row.
func fits(have, want schema.Column) bool {
	return have.Kind == want.Kind && have.Unit == want.Unit && have.Values == want.Values
}

// nameInput names what a model takes from a column.
func nameInput(c schema.Column) string {
	switch {
	case c.Kind == schema.ListColumn:
		return fmt.Sprintf("lists of %d numbers", c.Elements)
	case (c.Kind == schema.OneHotColumn || c.Kind == schema.HashColumn) && c.Values != "":
		return "a " + c.Values
	case c.Kind == schema.OneHotColumn || c.Kind == schema.HashColumn:
		return "text"
	case c.Unit != "":
		return c.Unit
	}
	return "a number"
}

// wanted returns the columns that Features asks for, or by default all that can be features.
func (c *chooser) wanted(others []int) ([]int, error) {
	patterns := c.opt.Features
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

// pick returns the feature columns that one name or pattern stands for; named says which were named before.
func (c *chooser) pick(pattern string, others []int, named []bool) ([]int, error) {
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
	matches, err := c.matches("--features", pattern)
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

// usable tells whether a column can be a feature.
func (c *chooser) usable(i int) bool {
	_, ok := ToInput(c.cols[i], c.codings[i])
	return ok
}

// allUsable returns all columns that can be features.
func (c *chooser) allUsable(others []int) []int {
	var all []int
	for i := range c.cols {
		if !slices.Contains(others, i) && c.usable(i) {
			all = append(all, i)
		}
	}
	return all
}

// Kept returns the columns that Keep asks for, in the order asked for. A pattern passes over what can't be kept.
func (c *chooser) Kept() ([]int, error) {
	var found []int
	have := make([]bool, len(c.cols))
	if c.opt.Converts {
		var err error
		if have, err = c.excluded(); err != nil {
			return nil, err
		}
		if len(c.opt.Keep) == 0 {
			return c.all(have)
		}
	}
	for _, pattern := range c.opt.Keep {
		matches, err := c.matches("--keep", pattern)
		if err != nil {
			return nil, err
		}
		for _, i := range matches {
			switch {
			case have[i]:
			case keepable(c.cols[i].Type):
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

// all returns the columns that aren't excluded, each of which must be one that can be kept.
func (c *chooser) all(excluded []bool) ([]int, error) {
	var found []int
	for i, col := range c.cols {
		if excluded[i] {
			continue
		}
		if !keepable(col.Type) {
			return nil, c.errorf("column %q is %s, which can't be written: leave it out with --exclude", col.Name, col.Desc)
		}
		found = append(found, i)
	}
	if len(found) == 0 {
		return nil, c.errorf("no columns are left to write: name a file that has some, or exclude fewer")
	}
	return found, c.unique(found)
}

// unique makes sure that the columns' names stand for no other column, since a model knows features by name.
func (c *chooser) unique(found []int) error {
	for _, i := range found {
		if _, err := c.lookUp(c.cols[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// A fileColumns is the columns of a file or a record reader.
type fileColumns struct {
	where string // the file, for messages; may be ""
	cols  []frame.Column
	index map[string][]int // by name
}

func NewFileColumns(where string, cols []frame.Column) *fileColumns {
	index := make(map[string][]int, len(cols))
	for i, c := range cols {
		index[c.Name] = append(index[c.Name], i)
	}
	return &fileColumns{where, cols, index}
}

// lookUp returns the number of the column of that name.
func (s *fileColumns) lookUp(name string) (int, error) {
	switch at := s.index[name]; len(at) {
	case 1:
		return at[0], nil
	case 0:
	default:
		return 0, s.errorf("%d columns are named %q: rename them", len(at), name)
	}
	names := make([]string, len(s.cols))
	for i, c := range s.cols {
		names[i] = c.Name
	}
	hint := ""
	if near := nearest.Name(name, names); near != "" {
		hint = fmt.Sprintf(": did you mean %q?", near)
	}
	return 0, s.errorf("no column %q%s (columns: %s)", name, hint, s.list(frame.Column.Label))
}

// matches returns the columns that a name or a pattern of an option stands for, at least one.
func (s *fileColumns) matches(option, pattern string) ([]int, error) {
	if !s.isPattern(pattern) {
		i, err := s.lookUp(pattern)
		return []int{i}, err
	}
	var found []int
	for i, col := range s.cols {
		ok, err := path.Match(slashless(pattern), slashless(col.Name))
		if err != nil {
			return nil, s.errorf("%q is not a valid pattern: close every [ or put \\ before it in %s", pattern, option)
		}
		if ok {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil, s.errorf("no column matches %q: change it in %s (columns: %s)", pattern, option, s.list(frame.Column.Label))
	}
	return found, nil
}

// isPattern tells a pattern from a name; the name of a column may look like a pattern.
func (s *fileColumns) isPattern(p string) bool {
	return strings.ContainsAny(p, `*?[\`) && s.index[p] == nil
}

// list names up to 20 columns.
func (s *fileColumns) list(text func(frame.Column) string) string {
	const most = 20
	var all []string
	for _, c := range s.cols[:min(len(s.cols), most)] {
		all = append(all, text(c))
	}
	if len(s.cols) > most {
		all = append(all, fmt.Sprintf("and %d more", len(s.cols)-most))
	}
	return strings.Join(all, ", ")
}

func (s *fileColumns) noFeature(c frame.Column) error {
	advice := "leave it out or convert it"
	if frame.Textual(c.Type) {
		advice = "leave it out, or use --categorical onehot or hash:BITS"
	}
	return s.errorf("column %q is %s, and a feature is %s: %s", c.Name, c.Desc, frame.FeatureTypes, advice)
}

func (s *fileColumns) differs(c, first frame.Column) error {
	return s.errorf("column %q is %s, but %s in the first file: convert one of them", c.Name, c.Desc, first.Desc)
}

func (s *fileColumns) errorf(format string, args ...any) error {
	return frame.Mark(frame.ErrorIn(s.where, format, args...), frame.ErrColumn)
}

// slashless makes path.Match take a slash, which means nothing in a column's name, for a letter like any other.
func slashless(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// keepable tells whether a column of that type can be handed on: values, and lists of numbers.
func keepable(t arrow.DataType) bool {
	if t == nil || !arrow.IsNested(t.ID()) {
		return t != nil
	}
	_, _, ok := frame.ListOf(t)
	return ok
}

// Notes returns a note about columns that a pattern of Keep passed over.
func (s *Selection) Notes() []string {
	if len(s.passed) == 0 {
		return nil
	}
	return []string{some(s.passed) + ": left out, values of such a type can't be handed on"}
}
