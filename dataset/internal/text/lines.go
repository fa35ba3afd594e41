package text

import (
	"bytes"
	"iter"
	"slices"

	"halfspace/dataset/internal/column"
)

// Lines returns the line in which each row of a chunk begins, up to the first row that can't be read.
func (f *CsvFile) Lines(c Chunk) (lines []int64) {
	out := column.From(f.out, c.line)
	if f.keys != nil {
		return linesOf(c.rows(out, false))
	}
	for s := f.rowsOf(c); s.next(&out); {
		lines = append(lines, s.line)
		for s.more {
			if _, _, err := s.field(); err != nil {
				return lines
			}
		}
	}
	return lines
}

// SvmlightLines is Lines for svmlight.
func SvmlightLines(c Chunk) []int64 { return linesOf(c.rows(nil, true)) }

// JSONLines is Lines for JSON Lines.
func JSONLines(c Chunk) []int64 { return linesOf(c.rows(nil, false)) }

func linesOf(rows iter.Seq2[int64, []byte]) (lines []int64) {
	for n := range rows {
		lines = append(lines, n)
	}
	return lines
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
