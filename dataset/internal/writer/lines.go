package writer

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

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

// write formats the rows of a record in ranges, and writes the ranges in order. begin is called for each range. It
// returns the function that appends the line of a row to buf.
func (l *lines) write(rec arrow.Record, begin func() func(buf []byte, row int) []byte) error {
	rows := int(rec.NumRows())
	step := max(1, rangeCells/max(1, int(rec.NumCols())))
	if rows <= step {
		line := begin()
		for r := range rows {
			if l.buf = append(line(l.buf, r), '\n'); len(l.buf) >= flushBytes {
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
			line := begin()
			for r := task * step; r < min(rows, (task+1)*step); r++ {
				buf = append(line(buf, r), '\n')
			}
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
	cells, nulls := make([]cell, rec.NumCols()), make([]arrow.Array, rec.NumCols())
	for i, col := range rec.Columns() {
		if cells[i] = of(col); col.NullN() > 0 {
			nulls[i] = col
		}
	}
	if len(cells) == 1 && nulls[0] == nil && before[0] == "" && after == "" { // predictions alone
		return l.write(rec, func() func(buf []byte, row int) []byte { return cells[0] })
	}
	line := func(buf []byte, r int) []byte {
		for i, cell := range cells {
			buf = append(buf, before[i]...)
			if nulls[i] != nil && nulls[i].IsNull(r) {
				buf = append(buf, null...)
			} else {
				buf = cell(buf, r)
			}
		}
		return append(buf, after...)
	}
	return l.write(rec, func() func(buf []byte, row int) []byte { return line })
}
