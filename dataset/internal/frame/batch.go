package frame

import (
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A Batch is consecutive rows of the input: an array for each of the selection's columns, all of the same length.
type Batch struct {
	File    string // for messages; may be ""
	Rows    int64
	Columns []arrow.Array
	Pairs   *Pairs // the features, if not nil: then Columns has the label, if there is one, and the columns to hand on

	// Line returns the line in which a row of the batch begins, of text that can't be read again; else it is nil.
	Line func(row int64) int64
}

// Label returns the column of the label, whose number in the selection is i.
func (b *Batch) Label(i int) arrow.Array {
	if b.Pairs != nil {
		return b.Columns[0]
	}
	return b.Columns[i]
}

// Kept returns column k of those to hand on.
func (b *Batch) Kept(sel *Chosen, k int) arrow.Array {
	if b.Pairs != nil {
		return b.Columns[len(b.Columns)-len(sel.Keep)+k]
	}
	return b.Columns[sel.Keep[k]]
}

// Row names a row of the batch in messages. The first row of the batch has the number first.
func (b *Batch) Row(first int64, row int) string {
	text := fmt.Sprintf("row %d", first+int64(row))
	if b.Line != nil {
		text = fmt.Sprintf("line %d, %s", b.Line(int64(row)), text)
	}
	return text
}

// Damaged returns the error of rows first to last of the input: they aren't what their arrays say.
func (b *Batch) Damaged(first, last int64, err error) error {
	return ErrorIn(b.File, "rows %d to %d: damaged data (%w): write it again", first, last, err)
}

// Release lets go of the arrays.
func (b *Batch) Release() {
	if b == nil {
		return
	}
	for _, a := range b.Columns {
		if a != nil {
			a.Release()
		}
	}
	if b.Pairs != nil {
		b.Pairs.Home.Put(b.Pairs)
	}
}

// Batches have about BatchBytes of values, so that these are in the processor's cache until they are rows of a block.
// They have so many rows that work for each batch is small beside the work for its rows.
const (
	BatchBytes   = 2 << 20
	MinBatchRows = 1 << 10
	MaxBatchRows = 1 << 16
)

// Split calls yield with the rows in batches of at most that many rows, until yield returns false. It tells whether yield
// took all of them. A small batch, or nil, is passed on itself; a larger one is released. The taker releases what it gets.
func (b *Batch) Split(most int64, yield func(*Batch) bool) bool {
	if b == nil || b.Rows <= most {
		return yield(b)
	}
	defer b.Release()
	for lo := int64(0); lo < b.Rows; lo += most {
		part := &Batch{File: b.File, Rows: min(most, b.Rows-lo), Columns: make([]arrow.Array, len(b.Columns))}
		for k, a := range b.Columns {
			part.Columns[k] = array.NewSlice(a, lo, lo+part.Rows)
		}
		if b.Line != nil {
			part.Line = func(row int64) int64 { return b.Line(lo + row) }
		}
		if !yield(part) {
			return false
		}
	}
	return true
}

// A Pairs is the labels and the pairs of rows.
type Pairs struct {
	Labels []float64
	Ends   []int32 // of each row's pairs, after a 0
	Index  []int32 // numbers of features
	Value  []float64

	Home *sync.Pool
}
