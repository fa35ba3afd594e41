package transform

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// Warn passes warnings to warn: about features that aren't standardized, columns that aren't features by default,
// dropped rows, unknown categories and indices, and features that float32 or float64 rounds too coarsely.
func (b *Builder) Warn(warn func(string)) {
	if warn == nil {
		return
	}
	for _, note := range b.bound.Plan.Notes {
		warn(note)
	}
	b.warnLimits(warn)
	for _, note := range b.bound.leftOut.notes() {
		warn(note)
	}
	unchosen := b.unchosen.Load()
	if unchosen > 0 {
		looked := b.Input
		if b.bound.Plan.End > 0 { // the batch of the last row of --limit may have more rows
			looked = min(looked, b.bound.Plan.End)
		}
		warn(message.Sprintf("%s of %s rows chosen by --where, --sample and --limit",
			humanize.Count(b.Input-unchosen), humanize.Count(looked)))
	}
	if n := b.Input - b.Rows - unchosen; n > 0 {
		what := "a feature or the label"
		switch {
		case b.bound.Plan.Nulls != schema.NullsDrop:
			what = "the label"
		case b.bound.Weight >= 0:
			what = "a feature, the label or the weight"
		}
		warn(fmt.Sprintf("%d of %d rows left out: %s is null, NaN or infinite there", n, b.Input, what))
	}
	if b.bound.classNote != "" {
		warn(b.bound.classNote)
	}
	b.warnTexts(warn)
	for k := range b.losses {
		if n := b.losses[k].beyond.Load(); n > 0 {
			warn(fmt.Sprintf("column %q: %d of %d rows have indices that the training rows didn't have; they "+
				"are ignored", b.bound.Plan.Inputs[k].Name, n, b.Rows))
		}
	}
	if b.bound.Fixed {
		return // the training reported the rest
	}
	names := b.blurred()
	switch {
	case len(names) == 0:
	case !b.bound.Plan.Standardize:
		warn(message.Sprintf("%s: float32 can't hold every value exactly, they are rounded (use --standardize, which "+
			"subtracts the mean before it rounds)", humanize.Columns(names)))
	default:
		warn(humanize.Columns(names) + ": float64 can't hold every value exactly, they are rounded")
	}
	b.odd.Warn(b.bound, warn)
}

// warnLimits passes warnings about features and texts that are too many.
func (b *Builder) warnLimits(warn func(string)) {
	if b.bound.wide {
		warn(fmt.Sprintf("the %d features are not standardized: no value would stay 0, and rows of so many values "+
			"take too much memory", b.bound.Width()))
	}
	if len(b.bound.full) > 0 {
		warn(fmt.Sprintf("%s: the texts take more than the %d MiB that a model keeps: some are left out",
			humanize.Columns(b.bound.full), schema.MaxNames>>20))
	}
}

// blurred returns the quoted names of the columns whose losses may matter to a learner, and the names of the features
// of a numbered column.
func (b *Builder) blurred() (names []string) {
	for k, i := range b.bound.Features {
		switch l := &b.losses[k]; {
		case !l.matter():
		case l.of == nil:
			names = append(names, strconv.Quote(b.bound.Columns[i].Name))
		default:
			for f := range b.bound.Plan.Inputs[k].Elements {
				if l.of[f/64].Load()>>(f%64)&1 > 0 {
					names = append(names, strconv.Quote(b.bound.Plan.Inputs[k].FeatureName(f)))
				}
			}
		}
	}
	return names
}

// warnTexts passes warnings about unknown categories, about infinite dates, and about texts that are no numbers or dates.
func (b *Builder) warnTexts(warn func(string)) {
	var unknown, infinite []columnRows
	for k, c := range b.texts {
		if c != nil && c.unknown.Load() > 0 {
			unknown = append(unknown, columnRows{name: b.bound.Plan.Inputs[k].Name, rows: c.unknown.Load()})
		}
	}
	warnOf(warn, unknown, b.Rows, "have a category that the training had not", ", it counts as none")
	for i := range b.bound.infinite {
		if b.bound.infinite[i].Swap(false) {
			infinite = append(infinite, columnRows{name: b.bound.Columns[i].Name})
		}
	}
	warnOf(warn, infinite, 0, "infinite dates count as missing", "")
	warnOf(warn, b.booleans(), 0, "true is read as 1 and false as 0, and the training had other numbers", "")
	told := map[string]bool{} // several features derive from a column of dates
	strange, marked := map[string][]columnRows{}, []columnRows(nil)
	for k := range b.bound.strange {
		c := &b.bound.Plan.Inputs[k]
		if of, place := b.bound.strange[k].takeAll(); of.Rows > 0 && b.bound.Fixed && !told[c.Name] {
			told[c.Name] = true
			strange[nameInput(*c)] = append(strange[nameInput(*c)], columnRows{c.Name, of.Rows, of.Text + ", " + place})
		}
		if of, place := b.bound.marked[k].takeAll(); of.Rows > 0 {
			marked = append(marked, columnRows{c.Name, of.Rows, of.Text + ", " + place + ", " + of.ReadingWords()})
		}
	}
	for _, what := range slices.Sorted(maps.Keys(strange)) {
		warnOf(warn, strange[what], b.Input, "have a text that is not "+what, ", it counts as missing")
	}
	warnOf(warn, marked, b.Input, "have a number with marks", "")
}

// booleans returns the columns of booleans from which a model takes numbers that aren't only 0 and 1; nil at later calls.
func (b *Builder) booleans() (columns []columnRows) {
	if !b.bound.Fixed || b.bound.booleansTold.Swap(true) {
		return nil
	}
	for k := range b.bound.Plan.Inputs {
		c := &b.bound.Plan.Inputs[k]
		if c.Derive == "" && c.ExceedsBooleans() && b.bound.Columns[b.bound.Features[k]].HasBooleans() {
			columns = append(columns, columnRows{name: c.Name})
		}
	}
	return columns
}

// columnRows is the name of a column, and the number of its rows that a note is about; 0: the note has no number. example is the
// first of their texts, and its place; "": the note has none.
type columnRows struct {
	name    string
	rows    int64
	example string
}

// warnOf warns of columns that have something in some of all rows: what, an example in parentheses, and the consequence.
func warnOf(warn func(string), columns []columnRows, all int64, what, consequence string) {
	var each []string
	for _, c := range columns {
		text := strconv.Quote(c.name)
		switch {
		case c.rows > 0 && len(columns) > 1 && c.example != "":
			text += fmt.Sprintf(" (%d, %s)", c.rows, c.example)
		case c.rows > 0 && len(columns) > 1:
			text += fmt.Sprintf(" (%d)", c.rows)
		case c.example != "":
			what += " (" + c.example + ")"
		}
		each = append(each, text)
	}
	what += consequence
	switch {
	case len(columns) == 0:
	case len(columns) > 1 && columns[0].rows > 0:
		warn(fmt.Sprintf("columns %s: some of %d rows %s", column.Listed(each, "column"), all, what))
	case len(columns) > 1:
		warn(fmt.Sprintf("columns %s: %s", column.Listed(each, "column"), what))
	case columns[0].rows > 0:
		warn(fmt.Sprintf("column %s: %d of %d rows %s", each[0], columns[0].rows, all, what))
	default:
		warn(fmt.Sprintf("column %s: %s", each[0], what))
	}
}
