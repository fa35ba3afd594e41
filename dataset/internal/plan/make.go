package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// Decisions say how columns become features.
type Decisions struct {
	Inputs     []schema.Column // nil: each column becomes a feature as the options say, without Prepare
	Nulls      schema.Nulls
	Unlabelled bool // leave out the rows without a label
	Notes      []string
	TypesNote  string // about columns from whose types no feature can be made; "": there are none
	Columns    []Column
}

// Column describes a column, and the features that it becomes.
type Column struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Missing  int64    `json:"missing"`         // of texts among numbers or dates, too
	Distinct int      `json:"distinct"`        // number of different values; of numbers and dates only with Whole
	More     bool     `json:"more"`            // there are more different values than Distinct
	Range    string   `json:"range,omitempty"` // of numbers and dates: "least to greatest"
	Examples []string `json:"examples"`
	Becomes  string   `json:"becomes"`
	LeftOut  bool     `json:"left_out"`
	Notes    []string `json:"notes,omitempty"` // decisions that could have gone another way

	text  bool // the values are texts
	asked bool // an option other than type says how the column becomes features
}

// marked ends the words for features of which one marks missing values.
const marked = ", missing values marked"

// Make returns how columns become features. types are the types that the option type names. nulls is the treatment of
// missing values that the options ask for; "" lets the values decide.
func Make(columns []*Counts, types map[string]Word, nulls schema.Nulls) (*Decisions, error) {
	chosen, err := treatmentsOf(columns, types)
	if err != nil {
		return nil, err
	}
	last := keepLast(columns, chosen)
	p := &Decisions{Nulls: nulls, Inputs: make([]schema.Column, 0, len(columns)), Columns: make([]Column, 0, len(columns))}
	plain, gaps := true, false
	var decisions []string
	for i, c := range columns {
		col, inputs := c.prepare(chosen[i], nulls)
		plain = plain && len(inputs) == 1 && inputs[0].Kind == c.Input.Kind && !inputs[0].Categorical() &&
			inputs[0].Derive == ""
		gaps = gaps || col.Missing > 0 && len(inputs) > 0
		p.Inputs, p.Columns = append(p.Inputs, inputs...), append(p.Columns, col)
		for _, note := range col.Notes {
			decisions = append(decisions, fmt.Sprintf("column %q: %s", col.Name, note))
		}
	}
	if len(p.Inputs) == 0 {
		if p.emptied(columns) {
			return nil, p.nothing()
		}
		plain = true // a program that asks for numbers gets these
		for i := range p.Columns {
			if c := &p.Columns[i]; c.Becomes == oneValue && !c.text {
				c.Becomes, c.LeftOut = "number", false
			}
		}
	}
	if nulls == "" && (!plain || gaps) {
		p.Nulls = schema.NullsMean
	}
	if plain && !gaps {
		p.Inputs = nil
	}
	p.Notes = append(p.notes(nulls), capped(decisions)...)
	if last != nil {
		note := fmt.Sprintf("column %q counts the rows, and stays, since no other feature is left", last.Input.Name)
		p.Notes = append(p.Notes, note)
	}
	return p, nil
}

// treatmentsOf returns the treatment of each column, or an error about the columns that don't fit their types.
func treatmentsOf(columns []*Counts, types map[string]Word) (chosen []*treatment, err error) {
	var bad []error
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Input.Name
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if types[name] != Ignore && !slices.Contains(names, name) {
			err := message.Errorf("column %q of --type is no feature: leave it out of --type, or change the name", name)
			if near := humanize.Nearest(name, names); near != "" {
				err = message.Errorf("column %q of --type is no feature: did you mean %q?", name, near)
			}
			bad = append(bad, column.Mark(err, column.ErrColumn))
		}
	}
	for _, c := range columns {
		t := treatmentOf(c)
		if chosen = append(chosen, t); t == nil {
			bad = append(bad, c.unfit())
		}
	}
	return chosen, column.JoinErrors(bad...)
}

// keepLast makes the first column that counts the rows a number if all columns are left out. It returns that column, or
// nil.
func keepLast(columns []*Counts, chosen []*treatment) *Counts {
	first := -1
	for i, t := range chosen {
		switch {
		case t == &counter && first < 0:
			first = i
		case t != &counter && t.inputs(columns[i]) != nil:
			return nil
		}
	}
	if first < 0 {
		return nil
	}
	if chosen[first] = &numbers; columns[first].HasTexts {
		chosen[first] = &pointNumbers
	}
	return columns[first]
}

// prepare returns the features that the column becomes by a treatment, and their description.
func (c *Counts) prepare(t *treatment, nulls schema.Nulls) (
	col Column, inputs []schema.Column) {
	inputs = t.inputs(c)
	col = Column{Name: c.Input.Name, Type: c.Type, Missing: c.Missing, Distinct: c.Distinct, More: c.HasMore,
		Range: c.span(t), Examples: c.Examples, Becomes: t.becomes(c, inputs), LeftOut: len(inputs) == 0,
		text: c.HasTexts, asked: c.IsCategorical && c.Word == "" && c.HasTexts}
	if t.reads != nil {
		col.Missing += c.missingTexts()
		if f := t.reads(c); c.oddRows(f) > 0 {
			col.Missing += c.oddRows(f)
			col.Notes = append(col.Notes, c.oddNote(f))
		}
	}
	if t.notes != nil {
		col.Notes = append(col.Notes, t.notes(c)...)
	}
	marks := nulls == "" && !col.LeftOut && c.Input.Kind != schema.ListColumn
	if marks && col.Missing > 0 && (c.HasTexts && c.Missing > 0 || 100*col.Missing >= c.Rows) {
		inputs = append(inputs, c.derived(schema.Missing)...)
		col.Becomes += marked
	}
	return col, inputs
}

// span returns the least and the greatest value of numbers or dates, or "". t is the treatment of the column.
func (c *Counts) span(t *treatment) string {
	dates := c.Range
	if r, f := c.layout(); f != nil && t == &textDates {
		dates = r.Range
	}
	switch {
	case dates.First <= dates.Last:
		return dates.String()
	case !c.HasTexts && c.Min <= c.Max:
		return fmt.Sprintf("%.6g to %.6g", c.Min, c.Max)
	}
	return ""
}

// mostDecisions is the largest number of notes about decisions that could have gone another way.
const mostDecisions = 8

// capped returns at most mostDecisions notes, and the number of further ones.
func capped(notes []string) []string {
	if more := len(notes) - mostDecisions; more > 0 {
		return append(notes[:mostDecisions:mostDecisions],
			message.Sprintf("%d more notes of this kind; inspect DATA --label COLUMN --json has all", more))
	}
	return notes
}

// emptied returns true if some column that is left out is no complete column of equal numbers.
func (p *Decisions) emptied(columns []*Counts) bool {
	return slices.ContainsFunc(columns, func(c *Counts) bool { return c.Missing > 0 }) ||
		!slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Becomes == oneValue && !c.text })
}

// nothing returns the error that no feature is left.
func (p *Decisions) nothing() error {
	var all []string
	for _, c := range p.Columns {
		all = append(all, fmt.Sprintf("%s (%s)", c.Name, c.reason()))
	}
	err := message.Errorf("no feature is left, all columns are left out: %s: use --type COLUMN=category or number for a "+
		"column that is to be one", strings.Join(all[:min(len(all), 20)], ", "))
	return column.Mark(err, column.ErrColumn)
}

// reason returns the words for the features, or the reason to leave the column out.
func (c *Column) reason() string {
	return strings.TrimPrefix(strings.TrimSuffix(c.Becomes, marked), "left out: ")
}

// NoteTypes sets the note about the columns from whose types no feature can be made, types among them. It is among the notes
// too, unless the options choose the columns again, and have it.
func (p *Decisions) NoteTypes(types []string) {
	for _, c := range p.Columns {
		if c.LeftOut && c.reason() == noText {
			types = append(types, fmt.Sprintf("%q (%s)", c.Name, noText))
		}
	}
	if len(types) == 0 {
		return
	}
	p.TypesNote = humanize.Columns(types) + ": left out, a feature is " + column.FeatureTypes
	if p.Inputs != nil {
		p.Notes = append(p.Notes, p.TypesNote)
	}
}

// notes returns up to three lines: about the features of columns, the treatment of missing values, and the columns left
// out.
func (p *Decisions) notes(nulls schema.Nulls) (lines []string) {
	var made, means, marks, out []string
	kept := false // an option can keep some column that is left out
	for _, c := range p.Columns {
		becomes := c.reason()
		switch {
		case c.LeftOut && becomes == noText: // see NoteTypes
		case c.LeftOut:
			out = append(out, fmt.Sprintf("%q (%s)", c.Name, becomes))
			kept = kept || c.Becomes != oneValue && c.Becomes != noValue && c.Becomes != ofTypeIgnore
		case c.asked:
		case becomes != "numbers" && (becomes != "number" || c.text):
			made = append(made, fmt.Sprintf("%q (%s)", c.Name, becomes))
		}
		switch {
		case c.Missing == 0 || c.LeftOut:
		case strings.HasPrefix(becomes, "category") || strings.HasPrefix(becomes, "hashed"), strings.Contains(becomes, "words"):
			marks = append(marks, fmt.Sprintf("%q (%d)", c.Name, c.Missing))
		case strings.HasSuffix(c.Becomes, marked):
			means = append(means, fmt.Sprintf("%q (%d, marked)", c.Name, c.Missing))
		default:
			means = append(means, fmt.Sprintf("%q (%d)", c.Name, c.Missing))
		}
	}
	if len(made) > 0 {
		lines = append(lines, "prepared "+humanize.Columns(made))
	}
	var missing []string
	if len(means) > 0 {
		missing = append(missing, "the mean in "+humanize.Columns(means))
	}
	if len(marks) > 0 {
		missing = append(missing, "a category in "+humanize.Columns(marks))
	}
	if len(missing) > 0 && nulls == "" {
		lines = append(lines, "missing values are "+strings.Join(missing, ", and "))
	}
	if len(out) > 0 {
		advice := ""
		if kept {
			advice = message.Sprintf(": use --type COLUMN=number, category or text to keep one")
		}
		lines = append(lines, "left out "+humanize.Columns(out)+advice)
	}
	return lines
}
