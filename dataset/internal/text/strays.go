package text

import (
	"bytes"
	"errors"
	"fmt"

	"halfspace/dataset/internal/column"
)

// The errors of lines that no text file should have.
var (
	errNUL  = errors.New("a NUL byte: save the file as UTF-8 if it is UTF-16 or UTF-32, otherwise mend the line")
	errMark = errors.New("a byte order mark, which belongs to the beginning of a file: remove its three bytes, EF BB BF")
)

// strayError returns the error of the first line of a chunk that has a NUL byte or begins with a byte order mark. out are the
// lines of the file that are left out. A mark may stand in front of a line that repeats the header; header is nil if such a line
// is a row.
func (c Chunk) strayError(path string, header []byte, out []column.Lines) error {
	for at := 0; ; {
		i, err := stray(c.Text[at:])
		if err == nil {
			return nil
		}
		own := c.Text[at+i:][:lineLength(c.Text[at+i:])]
		repeated, is := bytes.CutPrefix(bytes.TrimRight(own, "\r\n"), ByteOrderMark)
		if is && header != nil && bytes.Equal(repeated, header) {
			at += i + len(own)
			continue
		}
		line := c.line + int64(bytes.Count(c.Text[:at+i], []byte{'\n'}))
		if c.first && line == 1 { // where the names of the columns are, which can't be left out
			return fmt.Errorf("%s: line 1: %w", path, err)
		}
		before := out[:len(out)-len(column.From(out, line+1))]
		if len(before) == 0 || before[len(before)-1].Last < line {
			return column.LineError(path, line, err)
		}
		at += i + len(own)
	}
}

// stray returns the error of the first line of text, which begins with a line, that has a NUL byte or begins with a byte order mark, and
// a position in this line. Without such a line the error is nil.
func stray(text []byte) (at int, err error) {
	nul := bytes.IndexByte(text, 0)
	if nul >= 0 {
		text, err = text[:nul], errNUL
	}
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], ByteOrderMark)
		if i < 0 {
			return max(0, nul), err
		}
		if at += i; at == 0 || text[at-1] == '\n' {
			return at, errMark
		}
	}
}
