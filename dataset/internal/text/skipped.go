package text

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
)

// oddTexts are the texts that columns of numbers skipped in a pass, by the number of the column among the read columns.
type oddTexts struct {
	mu sync.Mutex
	of map[int]oddText
}

// An oddText is the texts of a column, and the file of the first.
type oddText struct {
	file string
	column.OddTexts
}

// set stores the texts of a pass, unless a pass had more: it may have been the only one that read all rows.
func (o *oddTexts) set(of map[int]oddText) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[int]oddText{}
	}
	for k, odd := range of {
		if odd.Rows > o.of[k].Rows {
			o.of[k] = odd
		}
	}
}

// skipTexts makes the columns of numbers that a model takes skip texts.
func (in *CSV) skipTexts() {
	for _, k := range in.Roles.Features {
		if c := &in.Roles.Columns[k]; c.Type.ID() == arrow.FLOAT64 || c.Type.ID() == arrow.INT64 {
			c.SkipsTexts = !c.KeepsTexts
		}
	}
}

// oddNotes returns a note about each column of numbers that skipped texts.
func (in *CSV) oddNotes() (notes []string) {
	in.odd.mu.Lock()
	defer in.odd.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(in.odd.of)) {
		odd, has, they := in.odd.of[k], "rows have a text that is", "they count as missing"
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
