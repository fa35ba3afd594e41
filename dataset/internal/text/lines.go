package text

import (
	"bytes"
	"iter"
	"slices"

	"halfspace/dataset/internal/column"
)

// RowsOf skips after rows of a chunk. It returns the line in which the next row begins, or 0 and the number of rows
// still to skip.
func (f *CsvFile) RowsOf(c Chunk, after int64) (line, left int64) {
	out := column.From(f.out, c.line)
	if f.keys != nil {
		return skipped(c.rows(out, false), after)
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

// SvmlightRows is RowsOf for svmlight.
func SvmlightRows(c Chunk, after int64) (line, left int64) { return skipped(c.rows(nil, true), after) }

// JSONRows is RowsOf for JSON Lines.
func JSONRows(c Chunk, after int64) (line, left int64) { return skipped(c.rows(nil, false), after) }

func skipped(rows iter.Seq2[int64, []byte], after int64) (line, left int64) {
	for n := range rows {
		if after == 0 {
			return n, 0
		}
		after--
	}
	return 0, after
}

// rows yields the lines of a chunk that are neither blank nor in out, without blanks at their ends, and their numbers. If comments is
// true, it cuts a line before #. The capacity of a line is the text from its beginning on.
func (c Chunk) rows(out []column.Lines, comments bool) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		out, n := column.From(out, c.line), c.line
		comments = comments && bytes.IndexByte(c.Text, '#') >= 0
		for rest := slices.Clip(c.Text); len(rest) > 0; {
			line := rest[:lineLength(rest)]
			if rest = rest[len(line):]; comments {
				line, _, _ = bytes.Cut(line, []byte{'#'})
			}
			if len(out) > 0 && out[0].First == n {
				out = out[1:]
			} else if line = bytes.TrimSpace(line); len(line) > 0 && !yield(n, line) {
				return
			}
			n++
		}
	}
}

// lineLength returns the length of the first line of text, its line break included.
func lineLength(text []byte) int {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return n + 1
	}
	return len(text)
}
