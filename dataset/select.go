package dataset

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/parquet/page"
	"halfspace/internal/nearest"
	"halfspace/schema"
)

// A column is a column of a file or of a record reader, as its schema has it.
type column struct {
	name     string
	typ      arrow.DataType // of the arrays it is read into; nil if it can't be read
	desc     string         // the type as messages name it
	advice   string         // what to do about a column of text that is mostly numbers; "" for others
	nullable bool
	empty    bool           // the first rows have no value that tells the type
	listDef  int            // of a Parquet file's lists: definition level from which on one has an element; else 0
	maxList  int            // elements that a list may have; 0: any number
	float    arrow.DataType // of arrays that may be read in place of those of typ; nil: none
	physical page.Type      // of a Parquet file's values; then the bytes of one, if they are fixed, and the greatest definition level
	width    int
	maxDef   int
	index    int // among a Parquet file's leaf columns, or a record's fields
}

// A selection says which columns are read, each once, and what for.
type selection struct {
	*chosen
	inputs []schema.Column // how each of the features' columns becomes features of the block, in order
	bias   bool
	nulls  schema.Nulls
	words  []string // that are nulls in text, see choices
	left   []string // columns, with their types, that were left out because they can't be features
	passed []string // columns, with their types, that a pattern of Keep matched and that can't be kept
	texts  bool     // some of left could be as categories

	standardize bool // learn how
	fixed       bool // by a model: what features depend on isn't learned from the data
}

// width returns the number of features.
func (s *selection) width() int {
	n := 0
	for i := range s.inputs {
		n += s.inputs[i].Width()
	}
	return n
}

// checkWidth returns an error if the features, as far as they are known, are more than a row may have.
func (s *selection) checkWidth() error {
	all, widest := int64(0), 0
	for i := range s.inputs {
		n := s.inputs[i].Width()
		all += int64(n)
		if n > s.inputs[widest].Width() {
			widest = i
		}
	}
	if all <= schema.MaxFeatures {
		return nil
	}
	return fmt.Errorf("%d features, %d of them from column %q, and a row has at most %d features: leave columns out with --exclude",
		all, s.inputs[widest].Width(), s.inputs[widest].Name, schema.MaxFeatures)
}

// spec says what the columns of blocks without labels mean.
func (s *selection) spec() (*schema.Spec, error) {
	spec := &schema.Spec{Bias: s.bias, Preprocessing: s.preprocessing(), Weighted: s.weight >= 0}
	of := map[string]string{}
	for i := range s.inputs {
		for _, name := range s.inputs[i].Names() {
			if other, ok := of[name]; ok {
				return nil, fmt.Errorf("columns %q and %q both have a feature %q: rename one", other, s.inputs[i].Name, name)
			}
			of[name] = s.inputs[i].Name
			spec.Features = append(spec.Features, name)
		}
	}
	return spec, nil
}

// preprocessing returns what a model must know to make the features again, nil where they are the columns' numbers.
func (s *selection) preprocessing() *schema.Preprocessing {
	plain := s.nulls == schema.NullsError && !s.standardize && s.words == nil
	for i := range s.inputs {
		plain = plain && s.inputs[i].Kind == schema.NumberColumn && s.inputs[i].Unit == ""
	}
	if plain {
		return nil
	}
	return &schema.Preprocessing{Nulls: s.nulls, NullValues: s.words, Columns: s.inputs}
}

// drops tells whether rows with a missing value aren't kept. Where a model predicts, they are: each row gets an answer.
func (s *selection) drops() bool { return s.nulls == schema.NullsDrop && (!s.fixed || s.label >= 0) }

// choose resolves what opt asks for among the columns of the first file.
func choose(in *fileColumns, opt choices) (*selection, error) {
	text, named, err := parseCodings(opt.categorical)
	if err != nil {
		return nil, fmt.Errorf("categorical is %q: %w", opt.categorical, err)
	}
	c := &chooser{fileColumns: in, opt: opt, codings: slices.Repeat([]coding{text}, len(in.cols))}
	label, err := c.label()
	if err != nil {
		return nil, err
	}
	weight, err := c.weight(label)
	if err != nil {
		return nil, err
	}
	if err := c.name(named, label, weight); err != nil {
		return nil, err
	}
	features, inputs, err := c.features(label, weight)
	if err == nil && opt.spec == nil {
		err = c.checkNamed(named, features)
	}
	if err != nil {
		return nil, err
	}
	keep, err := c.kept()
	if err != nil {
		return nil, err
	}
	sel := &selection{chosen: &chosen{label: -1, weight: -1, odd: c.odd}, inputs: inputs, bias: !opt.noBias, nulls: opt.nulls,
		standardize: opt.standardize, words: opt.words, left: c.left, passed: c.passed, texts: c.texts}
	if opt.spec != nil {
		sel.bias, sel.nulls, sel.standardize, sel.fixed = opt.spec.Bias, schema.NullsError, false, true
		if opt.spec.Preprocessing != nil {
			sel.nulls = opt.spec.Preprocessing.Nulls
		}
	}
	if sel.nulls == "" {
		sel.nulls = schema.NullsError
	}
	if !slices.Contains(schema.AllNulls, sel.nulls) {
		return nil, fmt.Errorf("nulls is %q: use one of %v", sel.nulls, schema.AllNulls)
	}
	if err := sel.checkWidth(); err != nil {
		return nil, in.errorf("%w", err)
	}
	place := map[int]int{} // numbers in the schema to numbers in the selection
	use := func(i int) int {
		if _, ok := place[i]; !ok {
			place[i] = len(sel.columns)
			sel.columns = append(sel.columns, in.cols[i])
		}
		return place[i]
	}
	for _, i := range features {
		sel.features = append(sel.features, use(i))
	}
	if label >= 0 {
		sel.label = use(label)
	}
	if weight >= 0 {
		sel.weight = use(weight)
	}
	for _, i := range keep {
		sel.keep = append(sel.keep, use(i))
	}
	for k, i := range sel.features {
		sel.columns[i].maxList = schema.MaxFeatures
		if c := &sel.columns[i]; inputs[k].Kind == schema.NumberColumn && i != sel.label && !slices.Contains(sel.keep, i) {
			c.float = opt.float
		}
	}
	sel.plain = opt.float != nil && sel.preprocessing() == nil && (opt.spec == nil || opt.spec.Preprocessing == nil)
	return sel, nil
}

// bind returns the selection's columns as a further file has them: elsewhere in it, or of another numeric type.
func (s *selection) bind(in *fileColumns) ([]column, error) {
	bound := make([]column, len(s.columns))
	for k, first := range s.columns {
		i, err := in.lookUp(first.name)
		if err != nil {
			return nil, err
		}
		bound[k] = in.cols[i]
		bound[k].float, bound[k].maxList = first.float, first.maxList
	}
	for i, k := range s.features {
		input, ok := toInput(bound[k], codingOf(s.inputs[i]))
		if !ok {
			return nil, in.noFeature(bound[k])
		}
		if !fits(input, s.inputs[i]) {
			return nil, in.differs(bound[k], s.columns[k])
		}
	}
	if s.label >= 0 {
		first, _ := classKind(s.columns[s.label].typ)
		if kind, ok := classKind(bound[s.label].typ); !ok || kind != first {
			return nil, in.differs(bound[s.label], s.columns[s.label])
		}
	}
	if s.weight >= 0 && !weighs(bound[s.weight]) {
		return nil, in.differs(bound[s.weight], s.columns[s.weight])
	}
	for _, k := range s.keep {
		if bound[k].typ == nil || !arrow.TypeEqual(bound[k].typ, s.columns[k].typ) {
			return nil, in.differs(bound[k], s.columns[k])
		}
	}
	return bound, nil
}

// A chooser finds columns, by their numbers in the schema.
type chooser struct {
	*fileColumns
	opt     choices
	codings []coding // of each column
	left    []string // as in selection
	odd     []string // as in selection
	passed  []string // as in selection
	texts   bool     // as in selection
}

func (c *chooser) label() (int, error) {
	if c.opt.label == "" {
		return -1, nil
	}
	i, err := c.lookUp(c.opt.label)
	if err != nil {
		return 0, err
	}
	if _, ok := classKind(c.cols[i].typ); !ok {
		return 0, c.errorf("column %q is %s, and a label is a number, a boolean or a string: choose another one with "+
			"--label", c.opt.label, c.cols[i].desc)
	}
	return i, nil
}

// weight returns the column of the rows' weights, or -1.
func (c *chooser) weight(label int) (int, error) {
	if c.opt.sampleWeight == "" {
		return -1, nil
	}
	i, err := c.lookUp(c.opt.sampleWeight)
	switch {
	case err != nil:
		return 0, err
	case i == label:
		return 0, c.errorf("column %q is the label: choose another one with --sample-weight", c.cols[i].name)
	case !weighs(c.cols[i]):
		return 0, c.errorf("column %q is %s, and a weight is a number: choose another one with --sample-weight", c.cols[i].name,
			c.cols[i].desc)
	}
	return i, nil
}

// weighs tells whether a column may hold weights of rows.
func weighs(c column) bool { return number(c.typ) && unit(c.typ) == "" && c.typ.ID() != arrow.BOOL }

// features returns the feature columns and what becomes of them: the Spec's, or those asked for without those excluded. The
// others, the label and the weight or -1, can't be features.
func (c *chooser) features(others ...int) ([]int, []schema.Column, error) {
	if c.opt.spec != nil {
		return c.modelColumns(c.opt.spec)
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
		if len(c.opt.features) == 0 && !slices.Contains(others, i) && !excluded[i] && !c.usable(i) {
			c.left = append(c.left, fmt.Sprintf("%q (%s)", col.name, col.desc))
			if col.advice != "" {
				c.odd = append(c.odd, col.advice)
			}
			c.texts = c.texts || textual(col.typ)
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
		return nil, nil, c.errorf("no feature is left, and a feature is %s (columns: %s)%s", featureTypes,
			c.list(func(col column) string { return col.label() + " " + col.desc }), advice)
	}
	inputs := make([]schema.Column, len(wanted))
	for k, i := range wanted {
		inputs[k], _ = toInput(c.cols[i], c.codings[i])
	}
	return wanted, inputs, c.unique(wanted)
}

// excluded tells of each column whether Exclude names it.
func (c *chooser) excluded() ([]bool, error) {
	excluded := make([]bool, len(c.cols))
	for _, pattern := range c.opt.exclude {
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
		if input, ok := toInput(c.cols[i], codingOf(want)); !ok || !fits(input, want) {
			return nil, nil, c.errorf("column %q is %s, and the model takes %s: convert it", want.Name, c.cols[i].desc,
				nameInput(want))
		}
		found[k] = i
	}
	return found, inputs, nil
}

// featureTypes are what a feature can be made from.
const featureTypes = "a number, a boolean or a list of numbers"

// toInput says how a column becomes features, if it can.
func toInput(c column, text coding) (schema.Column, bool) {
	if kind, ok := classKind(c.typ); ok && text.named {
		return schema.Column{Name: c.name, Kind: text.kind, HashBits: text.bits, Values: text.valuesOf(c.typ, kind)}, true
	}
	if number(c.typ) {
		return schema.Column{Name: c.name, Kind: schema.NumberColumn, Unit: unit(c.typ)}, true
	}
	if textual(c.typ) {
		return schema.Column{Name: c.name, Kind: text.kind, HashBits: text.bits},
			text.kind == schema.OneHotColumn || text.kind == schema.HashColumn
	}
	_, n, ok := listOf(c.typ)
	return schema.Column{Name: c.name, Kind: schema.ListColumn, Elements: n}, ok
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
	patterns := c.opt.features
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
		return nil, c.errorf("no feature matches %q (column %q is %s): change it in --features", pattern, first.name,
			first.desc)
	}
	return matches, nil
}

// usable tells whether a column can be a feature.
func (c *chooser) usable(i int) bool {
	_, ok := toInput(c.cols[i], c.codings[i])
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

// kept returns the columns that Keep asks for, in the order asked for. A pattern passes over what can't be kept.
func (c *chooser) kept() ([]int, error) {
	var found []int
	have := make([]bool, len(c.cols))
	if c.opt.converts {
		var err error
		if have, err = c.excluded(); err != nil {
			return nil, err
		}
		if len(c.opt.keep) == 0 {
			return c.all(have)
		}
	}
	for _, pattern := range c.opt.keep {
		matches, err := c.matches("--keep", pattern)
		if err != nil {
			return nil, err
		}
		for _, i := range matches {
			switch {
			case have[i]:
			case keepable(c.cols[i].typ):
				found = append(found, i)
			case c.isPattern(pattern):
				c.passed = append(c.passed, fmt.Sprintf("%q (%s)", c.cols[i].name, c.cols[i].desc))
			default:
				return nil, c.errorf("column %q is %s, which can't be kept: leave it out of --keep", pattern, c.cols[i].desc)
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
		if !keepable(col.typ) {
			return nil, c.errorf("column %q is %s, which can't be written: leave it out with --exclude", col.name, col.desc)
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
		if _, err := c.lookUp(c.cols[i].name); err != nil {
			return err
		}
	}
	return nil
}

// A fileColumns is the columns of a file or a record reader.
type fileColumns struct {
	where string // the file, for messages; may be ""
	cols  []column
	index map[string][]int // by name
}

func newFileColumns(where string, cols []column) *fileColumns {
	index := make(map[string][]int, len(cols))
	for i, c := range cols {
		index[c.name] = append(index[c.name], i)
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
		names[i] = c.name
	}
	hint := ""
	if near := nearest.Name(name, names); near != "" {
		hint = fmt.Sprintf(": did you mean %q?", near)
	}
	return 0, s.errorf("no column %q%s (columns: %s)", name, hint, s.list(column.label))
}

// matches returns the columns that a name or a pattern of an option stands for, at least one.
func (s *fileColumns) matches(option, pattern string) ([]int, error) {
	if !s.isPattern(pattern) {
		i, err := s.lookUp(pattern)
		return []int{i}, err
	}
	var found []int
	for i, col := range s.cols {
		ok, err := path.Match(slashless(pattern), slashless(col.name))
		if err != nil {
			return nil, s.errorf("%q is not a valid pattern: close every [ or put \\ before it in %s", pattern, option)
		}
		if ok {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil, s.errorf("no column matches %q: change it in %s (columns: %s)", pattern, option, s.list(column.label))
	}
	return found, nil
}

// isPattern tells a pattern from a name; the name of a column may look like a pattern.
func (s *fileColumns) isPattern(p string) bool {
	return strings.ContainsAny(p, `*?[\`) && s.index[p] == nil
}

// list names up to 20 columns.
func (s *fileColumns) list(text func(column) string) string {
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

func (s *fileColumns) noFeature(c column) error {
	advice := "leave it out or convert it"
	if textual(c.typ) {
		advice = "leave it out, or use --categorical onehot or hash:BITS"
	}
	return s.errorf("column %q is %s, and a feature is %s: %s", c.name, c.desc, featureTypes, advice)
}

func (s *fileColumns) differs(c, first column) error {
	return s.errorf("column %q is %s, but %s in the first file: convert one of them", c.name, c.desc, first.desc)
}

func (s *fileColumns) errorf(format string, args ...any) error {
	return errorIn(s.where, format, args...)
}

// errorIn returns an error that names a file, unless that is "".
func errorIn(where, format string, args ...any) error {
	if where != "" {
		format = strings.ReplaceAll(where, "%", "%%") + ": " + format
	}
	return fmt.Errorf(format, args...)
}

// label returns the name as a list of columns shows it: in quotes where it wouldn't stay on its line.
func (c column) label() string {
	if strconv.CanBackquote(c.name) {
		return c.name
	}
	return strconv.Quote(c.name)
}

// slashless makes path.Match take a slash, which means nothing in a column's name, for a letter like any other.
func slashless(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// keepable tells whether a column of that type can be handed on: values, and lists of numbers.
func keepable(t arrow.DataType) bool {
	if t == nil || !arrow.IsNested(t.ID()) {
		return t != nil
	}
	_, _, ok := listOf(t)
	return ok
}

// notes returns a note about columns that a pattern of Keep passed over.
func (s *selection) notes() []string {
	if len(s.passed) == 0 {
		return nil
	}
	return []string{some(s.passed) + ": left out, values of such a type can't be handed on"}
}

// classKind returns the kind of classes that a label of that type has.
func classKind(t arrow.DataType) (kind schema.ClassKind, ok bool) {
	if t == nil {
		return 0, false
	}
	switch id := t.ID(); {
	case id == arrow.BOOL:
		return schema.Bool, true
	case arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id):
		return schema.Number, true
	case id == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.BINARY || id == arrow.LARGE_BINARY:
		return schema.String, true
	case id == arrow.DICTIONARY:
		return classKind(t.(*arrow.DictionaryType).ValueType)
	}
	return 0, false
}
