package text

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// skipped are the texts that columns of numbers skipped in a pass, by the number of the column among the read columns,
// and the headers that the pass skipped.
type skipped struct {
	mu      sync.Mutex
	of      oddTexts
	marked  oddTexts // the numbers with marks
	headers repeatedHeaders
}

type oddTexts map[int]oddText

// An oddText is the texts of a column, and the file of the first.
type oddText struct {
	file string
	column.OddTexts
}

// set stores the texts and the headers of a pass, unless a pass had more: it may have been the only one that read all rows.
func (o *skipped) set(of, marked oddTexts, headers repeatedHeaders) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if headers.lines > o.headers.lines {
		o.headers = headers
	}
	if o.of == nil {
		o.of, o.marked = oddTexts{}, oddTexts{}
	}
	o.of.keepLarger(of)
	o.marked.keepLarger(marked)
}

// add counts the texts of a batch of a file.
func (o oddTexts) add(file string, batch map[int]column.OddTexts) {
	for k, of := range batch {
		if seen := o[k]; seen.Rows > 0 {
			seen.Rows += of.Rows
			o[k] = seen
			continue
		}
		o[k] = oddText{file, of}
	}
}

// keepLarger takes the texts of columns for which a pass counted more.
func (o oddTexts) keepLarger(of oddTexts) {
	for k, odd := range of {
		if odd.Rows > o[k].Rows {
			o[k] = odd
		}
	}
}

// withOdd returns the texts of columns, and the texts of column k, whose Line is a row, if there are any.
func withOdd(all map[int]column.OddTexts, k int, odd column.OddTexts, line func(int64) int64) map[int]column.OddTexts {
	if odd.Rows == 0 {
		return all
	}
	if all == nil {
		all = map[int]column.OddTexts{}
	}
	odd.Line = line(odd.Line)
	all[k] = odd
	return all
}

// repeatedHeaders are the lines of files that repeat the header and are no rows.
type repeatedHeaders struct {
	lines int64
	file  string // of the first
	first int64
}

// add adds the lines of a batch.
func (r *repeatedHeaders) add(b *column.Batch) {
	if r.lines == 0 && len(b.Headers) > 0 {
		r.file, r.first = b.File, b.Headers[0]
	}
	r.lines += int64(len(b.Headers))
}

// note returns the note about the lines of the files name, "" if there are none.
func (r *repeatedHeaders) note(severalFiles bool, name string) string {
	first := fmt.Sprintf("line %d", r.first)
	if severalFiles {
		first = fmt.Sprintf("%s: %s", r.file, first)
	}
	switch {
	case r.lines == 0:
		return ""
	case r.lines > 1:
		return message.Sprintf("%s: %s (the first is %s) repeat the header and are left out (use --header yes if they are rows)", name,
			humanize.Plural(r.lines, "line"), first)
	}
	return message.Sprintf("%s: %s repeats the header and is left out (use --header yes if it is a row)", name, first)
}

// readAsModel makes the columns of numbers that a model takes read numbers with marks, and, if skips is set, skip other texts.
func (in *CSV) readAsModel(skips bool) {
	for _, k := range in.Roles.Features {
		c := &in.Roles.Columns[k]
		if c.Type.ID() != arrow.FLOAT64 && c.Type.ID() != arrow.INT64 || c.KeepsTexts {
			continue
		}
		c.SkipsTexts, c.ReadsMarks = skips, true
	}
}

// skippedNotes returns notes about headers that a pass skipped, and about the columns of numbers that skipped texts.
func (in *CSV) skippedNotes() (notes []string) {
	in.skipped.mu.Lock()
	defer in.skipped.mu.Unlock()
	if note := in.skipped.headers.note(len(in.CsvFiles) > 1, in.Name()); note != "" {
		notes = append(notes, note)
	}
	return slices.Concat(notes, in.oddNotes(in.skipped.of, "a text that is no number", "texts that are no numbers", true),
		in.oddNotes(in.skipped.marked, "a number with marks", "numbers with marks", false))
}

// oddNotes returns a note about columns of numbers with texts, or nil. missing: the texts count as missing.
func (in *CSV) oddNotes(texts oddTexts, what, several string, missing bool) []string {
	var each []string
	for _, k := range slices.Sorted(maps.Keys(texts)) {
		odd := texts[k]
		if in.Roles.Columns[k].CountsForms {
			return []string{in.formsNote(k, odd)}
		}
		place := fmt.Sprintf("line %d", odd.Line)
		if len(in.CsvFiles) > 1 {
			place = fmt.Sprintf("%s: %s", odd.file, place)
		}
		name := in.Roles.Columns[k].Name
		if !missing {
			place += ", " + odd.ReadingWords()
		}
		if len(texts) > 1 {
			each = append(each, fmt.Sprintf("%q (%s, %s, %s)", name, humanize.Plural(odd.Rows, "row"), odd.Text, place))
			continue
		}
		has, they := "rows have", ": they count as missing"
		if odd.Rows == 1 {
			has, they = "row has", ": it counts as missing"
		}
		if !missing {
			they = ""
		}
		return []string{fmt.Sprintf("column %q: %s %s %s (%s, %s)%s", name, humanize.Count(odd.Rows), has, what, odd.Text, place, they)}
	}
	if len(each) == 0 {
		return nil
	}
	note := fmt.Sprintf("columns %s have %s", column.Listed(each, "column"), several)
	if missing {
		note += ": they count as missing"
	}
	return []string{note}
}

// formsNote returns the note about column k, the first in which some texts aren't written as their numbers.
func (in *CSV) formsNote(k int, odd oddText) string {
	others := ""
	if n := len(in.skipped.of); n > 1 {
		others = fmt.Sprintf(" (and %s)", humanize.Plural(int64(n-1), "more column"))
	}
	return fmt.Sprintf("%s: column %q%s has %s in another form (the first is %s, line %d), written as plain numbers: convert to a "+
		".csv file without --rejects keeps the texts", odd.file, in.Roles.Columns[k].Name, others, humanize.Plural(odd.Rows, "number"),
		odd.Text, odd.Line)
}

// adviceNotes returns a note about the columns of text that have mostly numbers.
func (in *CSV) adviceNotes() []string {
	var all []column.Column
	var each []string
	for _, c := range in.Roles.Columns {
		if c.Advice != "" {
			all, each = append(all, c), append(each, fmt.Sprintf("%q (%s)", c.Name, c.Desc))
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return []string{all[0].Advice + ": " + all[0].Remedy}
	}
	remedy := all[0].Remedy
	if slices.ContainsFunc(all, func(c column.Column) bool { return c.Remedy != remedy }) {
		remedy = message.Sprintf("use --null-values WORD,... if these texts stand for no " +
			"value, or correct them")
	}
	return []string{fmt.Sprintf("%s: most values of columns %s are numbers: %s", in.Name(), column.Listed(each, "column"), remedy)}
}
