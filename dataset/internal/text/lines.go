package text

import (
	"bytes"

	"halfspace/dataset/internal/column"
)

// RowsOf skips after rows of a chunk. It returns the line in which the next row begins, or 0 and the number of rows
// still to skip.
func (f *CsvFile) RowsOf(c Chunk, after int64) (line, left int64) {
	out := column.From(f.out, c.line)
	if f.keys != nil {
		return jsonRows(c, after, out)
	}
	s := f.rowsOf(c)
	for ; s.next(&out); after-- {
		if after == 0 {
			return s.line, 0
		}
		for s.more {
			if _, _, err := s.field(); err != nil {
				return 0, after
			}
		}
	}
	return 0, after
}

// lineOf returns the line in which a row of a chunk begins.
func (f *CsvFile) lineOf(c Chunk, row int64) int64 {
	line, _ := f.RowsOf(c, row)
	return line
}

// SvmlightRows is RowsOf for svmlight.
func SvmlightRows(c Chunk, after int64) (line, left int64) {
	n := c.line
	for line := range bytes.Lines(c.Text) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if len(bytes.TrimSpace(line)) > 0 {
			if after == 0 {
				return n, 0
			}
			after--
		}
		n++
	}
	return 0, after
}
