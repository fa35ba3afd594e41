package writer

import (
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/internal/parallel"
)

// lines writes lines of text.
type lines struct {
	out     io.Writer
	workers int
	buf     []byte // lines that aren't written yet
}

const (
	flushBytes = 64 << 10
	rangeCells = 8 << 10 // values that a goroutine formats at a time
)

// Finish writes the lines that are still in memory. More lines may follow.
func (l *lines) Finish() error {
	_, err := l.out.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// A rowsAppender is a function that appends the lines of the rows from lo up to, but not including, hi to buf.
type rowsAppender func(buf []byte, lo, hi int) []byte

// rowByRow returns the rowsAppender of a function that appends the text of a row.
func rowByRow(text func(buf []byte, row int) []byte) rowsAppender {
	return func(buf []byte, lo, hi int) []byte {
		for r := lo; r < hi; r++ {
			buf = append(text(buf, r), '\n')
		}
		return buf
	}
}

// write formats the rows of a record in ranges, and writes the ranges in order. begin is called for each range.
func (l *lines) write(rec arrow.Record, begin func() rowsAppender) error {
	const rowsPerFlush = 64 // rows may be long
	rows := int(rec.NumRows())
	step := max(1, rangeCells/max(1, int(rec.NumCols())))
	if rows <= step {
		text := begin()
		for r := 0; r < rows; r += rowsPerFlush {
			if l.buf = text(l.buf, r, min(rows, r+rowsPerFlush)); len(l.buf) >= flushBytes {
				if err := l.Finish(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := l.Finish(); err != nil {
		return err
	}
	var failed error
	spare := make(chan []byte, 2*parallel.Workers(l.workers)) // results that exist at a time
	err := parallel.InOrder(context.Background(), l.workers, (rows+step-1)/step, func(task int) func() {
		var buf []byte
		select {
		case buf = <-spare:
		default:
		}
		err := column.Recovered(func() error {
			buf = begin()(buf, task*step, min(rows, (task+1)*step))
			return nil
		})
		return func() {
			if failed == nil {
				failed = err
			}
			if failed == nil {
				_, failed = l.out.Write(buf)
			}
			select {
			case spare <- buf[:0]:
			default:
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// rows writes a line for each row: the text before each value, the value, and the text after the last one.
func (l *lines) rows(rec arrow.Record, of func(arrow.Array) cell, before []string, null, after string) error {
	if rec.NumCols() == 1 && rec.Column(0).NullN() == 0 && before[0] == "" && after == "" { // predictions alone
		if text := keyedRows(rec.Column(0), of); text != nil {
			return l.write(rec, func() rowsAppender { return text })
		}
	}
	cells, nulls := make([]cell, rec.NumCols()), make([]arrow.Array, rec.NumCols())
	for i, col := range rec.Columns() {
		if cells[i] = of(col); col.NullN() > 0 {
			nulls[i] = col
		}
	}
	text := rowByRow(func(buf []byte, r int) []byte {
		for i, cell := range cells {
			buf = append(buf, before[i]...)
			if nulls[i] != nil && nulls[i].IsNull(r) {
				buf = append(buf, null...)
			} else {
				buf = cell(buf, r)
			}
		}
		return append(buf, after...)
	})
	return l.write(rec, func() rowsAppender { return text })
}

// keyedRows returns a function for a column with a dictionary and keys of a byte, if no line has more than 8 bytes, and nil
// otherwise. It stores 8 bytes for each row and goes on behind the line, so that the next row overwrites the others.
func keyedRows(col arrow.Array, of func(arrow.Array) cell) rowsAppender {
	const lineBytes = 8
	d, is := col.(*array.Dictionary)
	if !is || d.Dictionary().Len() > d.Len() {
		return nil
	}
	indices, is := d.Indices().(*array.Uint8)
	if !is {
		return nil
	}
	words, lengths := make([]uint64, d.Dictionary().Len()), make([]int, d.Dictionary().Len())
	for k, text := 0, of(d.Dictionary()); k < len(words); k++ {
		line := append(text(nil, k), '\n')
		if len(line) > lineBytes {
			return nil
		}
		words[k], lengths[k] = binary.LittleEndian.Uint64(append(line, make([]byte, lineBytes)...)), len(line)
	}
	keys := indices.Uint8Values()
	return func(buf []byte, lo, hi int) []byte {
		at := len(buf)
		buf = slices.Grow(buf, lineBytes*(hi-lo))[:at+lineBytes*(hi-lo)]
		for _, k := range keys[lo:hi] {
			binary.LittleEndian.PutUint64(buf[at:], words[k])
			at += lengths[k]
		}
		return buf[:at]
	}
}
