package column

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/internal/message"
	"halfspace/schema"
)

// A Batch is consecutive rows of the input: an array for each read column, all of the same length.
type Batch struct {
	File     string // file name for messages; may be ""
	Rows     int64
	Columns  []arrow.Array
	First    int64         // number of the batch's first row in the input; set by the pass
	Unchosen int64         // number of rows that the options where, sample and limit leave out
	absent   []bool        // for each column, whether the file lacks it; nil: the file has all
	Unread   bool          // NoRowMatches holds for the rows: they were not read, and each value is null
	Digits   []arrow.Array // for each column of a text file whose numbers are rounded: their texts, or nil
	Derived  []arrow.Array // for each read input that derives its numbers from a column: the numbers
	// the features, or nil; if not nil, Columns has only the label and the sample weights, if there are any, then the
	// kept columns
	Pairs *Pairs

	Comments int64    // number of lines between the rows that are comments
	Headers  []int64  // lines between the rows that repeat the header
	Rejects  []Reject // lines between the rows, in a pass that looks for them
	// OddTexts has, for each read column by its number, the texts that the column counts: in a column that skips texts, the texts
	// that are no numbers; in a column that counts forms, the texts that are not written as their numbers.
	OddTexts map[int]OddTexts
	// MarkedNumbers has, in the same way, the texts that are numbers with marks, such as $5.
	MarkedNumbers map[int]OddTexts

	Line      func(row int64) int64 // returns the line in which a row of the batch begins; nil if the file has no lines
	OnRelease func()                // called by Release, after which Line must not be called; nil: nothing
}

// OddTexts counts texts of one column, and has the first text.
type OddTexts struct {
	Rows  int64   // number of texts
	Line  int64   // line or row of the first text
	Text  string  // the first text, in quotes
	Value float64 // number that the first text is read as; 0 if it is missing
}

// Add counts a text in a line.
func (o *OddTexts) Add(line int64, text string, value float64) {
	if o.Rows++; o.Rows == 1 {
		o.Line, o.Text, o.Value = line, shortQuoted(text), value
	}
}

// ReadingWords returns the words for the number that the first text is read as.
func (o *OddTexts) ReadingWords() string {
	return "is read as " + strconv.FormatFloat(o.Value, 'f', -1, 64)
}

// shortQuoted returns a text in quotes, shortened to 40 bytes.
func shortQuoted(text string) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

// MarkedNumber returns the number that a model's column of numbers has for a text with marks, such as $1,234. It takes no text
// whose digits tell of a decimal comma. semicolons: the fields of its file are apart by semicolons; then it takes no text that
// may have a decimal comma, such as 1,234.
func MarkedNumber(text string, semicolons bool) (float64, bool) {
	w, ok := schema.ParseWritten(text, '.')
	mayBeDecimal := semicolons && strings.Count(text, ",") == 1 && !strings.Contains(text, ".")
	return w.Value, ok && !w.OtherMark && !mayBeDecimal
}

// Lacks returns true if the file of the batch lacks a read column.
func (b *Batch) Lacks(column int) bool { return b.absent != nil && b.absent[column] }

// Label returns the label column, which is column i of the selection.
func (b *Batch) Label(i int) arrow.Array {
	if b.Pairs != nil {
		return b.Columns[0]
	}
	return b.Columns[i]
}

func (b *Batch) SampleWeights(roles *Roles) arrow.Array {
	switch {
	case b.Pairs == nil:
		return b.Columns[roles.Weight]
	case roles.Label >= 0:
		return b.Columns[1]
	}
	return b.Columns[0]
}

func (b *Batch) Kept(roles *Roles, k int) arrow.Array {
	if b.Pairs != nil {
		return b.Columns[len(b.Columns)-len(roles.Keep)+k]
	}
	return b.Columns[roles.Keep[k]]
}

// RowError returns the error of a column in a row of the batch. first is the number of the batch's first row.
func (b *Batch) RowError(first int64, row int, column, what string) error {
	err := &message.RowError{File: b.File, Row: first + int64(row), Column: column, Err: errors.New(what)}
	if b.Line != nil {
		err.Line = b.Line(int64(row))
	}
	return err
}

// Damaged returns the error that the rows first to last of the input are damaged: they contradict their arrays.
func (b *Batch) Damaged(first, last int64, err error) error {
	return ErrorIn(b.File, "rows %d to %d: damaged data (%w): write it again", first, last, err)
}

func (b *Batch) Release() {
	if b == nil {
		return
	}
	for _, a := range slices.Concat(b.Columns, b.Digits, b.Derived) {
		if a != nil {
			a.Release()
		}
	}
	if b.Pairs != nil {
		b.Pairs.Home.Put(b.Pairs)
	}
	if b.OnRelease != nil {
		b.OnRelease()
	}
}

// A batch has about BatchBytes of values, so that its values stay in the processor's cache until they are rows of a
// block. It has at least MinBatchRows rows where possible, so that the work for a batch is small against the work for
// its rows.
const (
	BatchBytes   = 2 << 20
	MinBatchRows = 1 << 10
	MaxBatchRows = 1 << 16
)

// Split passes the rows to yield in batches of at most most rows, until yield returns false. It returns true if yield
// took all batches. A batch of at most most rows, or nil, is passed unchanged; a larger batch is released. yield must
// release the batches that it gets.
func (b *Batch) Split(most int64, yield func(*Batch) bool) bool {
	if b == nil || b.Rows <= most {
		return yield(b)
	}
	defer b.Release()
	for lo := int64(0); lo < b.Rows; lo += most {
		part := &Batch{File: b.File, Rows: min(most, b.Rows-lo), Columns: make([]arrow.Array, len(b.Columns)), Unread: b.Unread}
		for k, a := range b.Columns {
			if a != nil {
				part.Columns[k] = array.NewSlice(a, lo, lo+part.Rows)
			}
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

// A Pairs is the labels of rows, and an index and a value for each of their features that the file lists.
type Pairs struct {
	Labels []float64
	Ends   []int32 // the pairs of row r are Ends[r] up to, but not including, Ends[r+1]
	Index  []int32 // feature numbers
	Value  []float64

	Home *sync.Pool
}

// Dense returns, for each of a number of columns, the value in each row.
func (p *Pairs) Dense(columns int) [][]float64 {
	rows := len(p.Ends) - 1
	all, values := make([][]float64, columns), make([]float64, rows*columns)
	for k := range all {
		all[k] = values[k*rows : (k+1)*rows]
	}
	for r := range rows {
		for i := p.Ends[r]; i < p.Ends[r+1]; i++ {
			all[p.Index[i]][r] = p.Value[i]
		}
	}
	return all
}

// Places are the places of the features of sparse rows among the read columns.
type Places struct {
	of       []int32 // for each index, its number among the read columns, or -1; nil if features are numbered
	first    int     // index of the first numbered feature
	Numbered int     // number of numbered features, whose indices begin at first; 0: of has the features
}

// Set sets the place of column k of the selection. indices is the number of indices.
func (p *Places) Set(k int, c Column, indices int) {
	if c.NumberedFeatures > 0 {
		p.first, p.Numbered = c.Index, c.NumberedFeatures
		return
	}
	if p.of == nil {
		p.of = slices.Repeat([]int32{-1}, indices)
	}
	p.of[c.Index] = int32(k)
}

// At returns the number of the feature of an index among the read columns, or -1.
func (p *Places) At(index int) int32 {
	switch i := index - p.first; {
	case p.Numbered > 0 && uint(i) < uint(p.Numbered):
		return int32(i)
	case index < len(p.of):
		return p.of[index]
	}
	return -1
}
