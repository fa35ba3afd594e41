package transform

import (
	"fmt"
	"sync"

	"halfspace/dataset/internal/column"
)

// An inputTexts is the texts of an input's column that a note is about.
type inputTexts struct {
	mu              sync.Mutex
	column.OddTexts        // Line is the row in the input
	place           string // of the first text
}

// add counts the texts of a batch, whose Line is the row in the batch.
func (o *inputTexts) add(bt *column.Batch, of column.OddTexts) {
	if of.Rows == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	row, rows := bt.First+of.Line, o.Rows+of.Rows
	if o.Rows == 0 || row < o.Line {
		o.place = fmt.Sprintf("row %d", row)
		if bt.Line != nil {
			o.place = fmt.Sprintf("line %d", bt.Line(of.Line))
		}
		of.Line = row
		o.OddTexts = of
	}
	o.Rows = rows
}

// takeAll returns the texts and sets them to none.
func (o *inputTexts) takeAll() (of column.OddTexts, place string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of, place = o.OddTexts, o.place
	o.OddTexts = column.OddTexts{}
	return of, place
}
