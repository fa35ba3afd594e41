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

// skipped are the texts that columns of numbers skipped in a pass, by the number of the column among the read columns, and the headers that the
// pass skipped.
type skipped struct {
	mu      sync.Mutex
	of      map[int]oddText
	headers repeatedHeaders
}

// An oddText is the texts of a column, and the file of the first.
type oddText struct {
	file string
	column.OddTexts
}

// set stores the texts and the headers of a pass, unless a pass had more: it may have been the only one that read all rows.
func (o *skipped) set(of map[int]oddText, headers repeatedHeaders) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if headers.lines > o.headers.lines {
		o.headers = headers
	}
	if o.of == nil {
		o.of = map[int]oddText{}
	}
	for k, odd := range of {
		if odd.Rows > o.of[k].Rows {
			o.of[k] = odd
		}
	}
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

// skipTexts makes the columns of numbers that a model takes skip texts.
func (in *CSV) skipTexts() {
	for _, k := range in.Roles.Features {
		if c := &in.Roles.Columns[k]; c.Type.ID() == arrow.FLOAT64 || c.Type.ID() == arrow.INT64 {
			c.SkipsTexts = !c.KeepsTexts
		}
	}
}

// skippedNotes returns notes about headers that a pass skipped, and about each column of numbers that skipped texts.
func (in *CSV) skippedNotes() (notes []string) {
	in.skipped.mu.Lock()
	defer in.skipped.mu.Unlock()
	if note := in.skipped.headers.note(len(in.CsvFiles) > 1, in.Name()); note != "" {
		notes = append(notes, note)
	}
	for _, k := range slices.Sorted(maps.Keys(in.skipped.of)) {
		odd, has, they := in.skipped.of[k], "rows have a text that is", "they count as missing"
		if odd.Rows == 1 {
			has, they = "row has a text that is", "it counts as missing"
		}
		place := fmt.Sprintf("line %d", odd.Line)
		if len(in.CsvFiles) > 1 {
			place = fmt.Sprintf("%s: %s", odd.file, place)
		}
		notes = append(notes, fmt.Sprintf("column %q: %s %s no number (%s, %s): %s", in.Roles.Columns[k].Name,
			humanize.Count(odd.Rows), has, odd.Text, place, they))
	}
	return notes
}
