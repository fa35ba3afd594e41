package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/message"
)

// longestRecord is the largest length in bytes of a record with line breaks, where rejects are left out: quotes that stay open for
// longer aren't closed.
const longestRecord = 1 << 20

// resume goes from the record that begins at a position behind its first line, because the record can't be read. It returns the
// reason, which is in the first line. n is the number of fields before it.
func (s *scanner) resume(start int, line int64) (n int, err error) {
	end := start + lineLength(s.text[start:])
	alone := scanner{text: s.text[start:end], grammar: s.grammar, more: true}
	for ; alone.more && err == nil; n++ {
		_, _, err = alone.field()
	}
	s.pos, s.line, s.more = end, line+1, false
	return max(0, n-1), err
}

// skim reads the fields of a record and returns their number. If they can't be read, it goes to the next line.
func (s *scanner) skim() (n int, err error) {
	start, line := s.pos, s.line
	for ; s.more; n++ {
		if _, _, err := s.field(); err != nil {
			return s.resume(start, line)
		}
	}
	if s.tooLong(start) {
		return s.resume(start, line)
	}
	return n, nil
}

// cut returns the end of the last whole record in text, which begins with a record. A record that can't be read is its first line.
func (g *grammar) cut(text []byte) int {
	i := bytes.LastIndexByte(text, '\n')
	if i < 0 || bytes.IndexByte(text[:i], g.quote) < 0 {
		return i + 1
	}
	s := scanner{text: text, grammar: *g}
	for s.record() {
		start := s.pos
		line := bytes.IndexByte(text[start:], '\n')
		if line < 0 {
			return start
		}
		var err error
		for s.more && err == nil {
			_, _, err = s.field()
		}
		switch {
		case err == errOpen && len(text)-start <= longestRecord: // the quotes may be closed later
			return start
		case err != nil || s.tooLong(start):
			s.pos, s.more = start+line+1, false
		case s.pos == len(text) && text[len(text)-1] != '\n':
			return start
		}
	}
	return i + 1
}

// tooLong returns true if the record from a position up to here has line breaks and is too long for that.
func (s *scanner) tooLong(start int) bool {
	return s.pos-start > longestRecord && bytes.IndexByte(s.text[start:s.pos-1], '\n') >= 0
}

// next begins the next record that is a row, and returns false if there is none. rejects are the lines from here on that are no rows.
func (s *scanner) next(rejects *[]column.Lines) bool {
	for s.record() {
		if len(*rejects) == 0 || (*rejects)[0].First != s.line {
			return true
		}
		for last := (*rejects)[0].Last; s.line <= last && s.pos < len(s.text); s.line++ {
			s.pos += lineLength(s.text[s.pos:])
		}
		s.more, *rejects = false, (*rejects)[1:]
	}
	return false
}

// skipRejects goes behind the next objects if their lines are rejects. rejects are the lines from here on that are no rows.
func (o *objects) skipRejects(rejects *[]column.Lines) {
	for len(*rejects) > 0 {
		n := lineLength(o.text[o.next:])
		switch first := (*rejects)[0].First; {
		case n == 0:
			return
		case o.line+1 == first:
			*rejects = (*rejects)[1:]
		case len(bytes.TrimSpace(o.text[o.next:o.next+n])) > 0:
			return
		}
		o.next += n
		o.line++
	}
}

// wellFormed returns an error if the next object can't be read, and goes behind it then.
func (o *objects) wellFormed() error {
	whole := *o
	more, err := whole.object()
	if more && err == nil {
		err = whole.skim()
	}
	if err != nil {
		*o = whole
	}
	return err
}

// A check finds the rejects in a chunk, and the number of its rows.
type check func(file int, c Chunk) (rows int64, rejects []column.Reject, err error)

// examine finds the rejects of the sources that weren't examined before. It does nothing if r is nil.
func examine(ctx context.Context, p column.Pool, memory int64, r *column.Rejects, sources []*source.File,
	breaks func(file int) Breaks, size int, check check, progress func(rows, total int64)) error {
	if r == nil {
		return nil
	}
	var todo []int
	var names []string
	var left []*source.File
	for i, s := range sources {
		if _, known := r.Of(s.Path); !known {
			todo, names, left = append(todo, i), append(names, s.Path), append(left, s)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	jobs := Chunks(left, func(i int) Breaks { return breaks(todo[i]) }, size, nil, func(i int, c Chunk) iter.Seq[column.Job] {
		return One(c, func() (*column.Batch, error) {
			rows, rejects, err := check(todo[i], c)
			return &column.Batch{Rows: rows, Rejects: rejects}, err
		})
	})
	return r.Examine(ctx, names, func(add func(column.Reject) error) error {
		rows := int64(0)
		for b, err := range column.InOrder(ctx, p, memory, jobs) {
			if err != nil {
				return err
			}
			for _, one := range b.Rejects {
				if err := add(one); err != nil {
					return err
				}
			}
			if rows += b.Rows; progress != nil {
				progress(rows, -1)
			}
		}
		return ctx.Err()
	})
}

// rejectOf returns the reject of lines that begin at a line, without the last line break.
func rejectOf(path string, line int64, text []byte, reason error) column.Reject {
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\r'})
	last := line + int64(bytes.Count(text, []byte{'\n'}))
	return column.Reject{File: path, Lines: column.Lines{First: line, Last: last},
		Reason: strings.TrimSuffix(withoutAdvice(reason.Error()), ", unlike the first rows"), Text: string(text),
		Err: reason}
}

// withoutAdvice returns the text of an error up to the colon before its advice. Colons in quotes don't count, nor does the colon behind
// the name of a column, which is in quotes.
func withoutAdvice(text string) string {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && text[i] == ':' && i > 0 && text[i-1] != '"' && strings.HasPrefix(text[i:], ": "):
			return text[:i]
		}
	}
	return text
}

func (in *CSV) LeftOut() bool { return len(in.rejects.Notes(in.Paths())) > 0 }

// probes returns cells with room for a value of each column, to try values.
func (in *CSV) probes() []cells {
	probes := make([]cells, len(in.Roles.Columns))
	for k, c := range in.Roles.Columns {
		probes[k] = newCells(c, 1, in.CsvFiles[0].nulls)
		probes[k].widensToNumbers, probes[k].refusesTexts = c.WidensToNumbers, in.CsvFiles[0].lenient
		probes[k].booleans = in.model
	}
	return probes
}

// empty removes the values.
func (c *cells) empty() {
	c.whole, c.numbers, c.chars, c.rows, c.valid, c.nulls = c.whole[:0], c.numbers[:0], c.chars[:0], 0, nil, 0
	if c.ends != nil {
		c.ends = c.ends[:1]
	}
}

// check finds the rejects in a chunk. unfit gets the column of each value that doesn't fit.
func (in *CSV) check(ctx context.Context, f *CsvFile, c Chunk, unfit unfitText) (rows int64, rejects []column.Reject, err error) {
	probes := in.probes()
	if f.keys != nil {
		return in.checkJSON(ctx, f, c, probes, unfit)
	}
	s := f.rowsOf(c)
	for s.record() {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		start, line := s.pos, s.line
		if err := f.checkRow(&s, probes, unfit); err != nil {
			rejects = append(rejects, rejectOf(f.path, line, s.text[start:s.pos], err))
			continue
		}
		rows++
	}
	return rows, rejects, nil
}

// checkRow returns an error if a record is no row, and goes behind the record.
func (f *CsvFile) checkRow(s *scanner, probes []cells, unfit unfitText) error {
	whole := *s
	n, err := whole.skim()
	defer func() { *s = whole }()
	_, strayed := stray(s.text[s.pos:whole.pos])
	switch {
	case strayed != nil:
		return strayed
	case err != nil && n < len(f.names):
		return column.InColumn(f.names[n], err)
	case err != nil:
		return err
	case !f.fits(n):
		return errFields(n, len(f.names))
	}
	_, err = f.row(s, probes, new(decimals), unfit)
	for k := range probes {
		probes[k].empty()
	}
	return err
}

func (in *CSV) checkJSON(ctx context.Context, f *CsvFile, c Chunk, probes []cells, unfit unfitText) (rows int64,
	rejects []column.Reject, err error) {
	o, last := c.objects(), make([]int64, len(probes))
	for row := int64(1); ; row++ {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		more, err := o.object()
		if err == nil && !more {
			return rows, rejects, nil
		}
		if err == nil {
			_, err = f.object(&o, probes, last, row, unfit)
		}
		if _, strayed := stray(o.row); strayed != nil {
			err = strayed
		}
		for k := range probes {
			probes[k].empty()
		}
		if err != nil {
			rejects = append(rejects, rejectOf(f.path, o.line, o.row, err))
			continue
		}
		rows++
	}
}

// A Later is a column that has in a later row a text that its type can't hold.
type Later struct {
	Name  string
	Exact bool // the column must keep its texts
	file  string
	line  int64  // the first line with such a text
	text  string // the text, in quotes
}

// LaterOf returns the column that an error of reading a row contradicts. ok is false if err is no contradiction, or if its
// column is unknown.
func LaterOf(err error) (c Later, ok bool) {
	at, row := (*Contradiction)(nil), (*message.RowError)(nil)
	if !errors.As(err, &at) || !errors.As(err, &row) || row.Column == "" {
		return Later{}, false
	}
	return newLater(row.Column, row.File, row.Line, at.Text, at.IsExact), true
}

func newLater(name, file string, line int64, text string, exact bool) Later {
	return Later{name, exact, file, line, text}
}

// NotesOfLater returns a note about columns that are read as text, nil if there are none.
func NotesOfLater(columns []Later) []string {
	var each []string
	for _, c := range columns {
		each = append(each, fmt.Sprintf("%q (%s: line %d has %s)", c.Name, c.file, c.line, c.text))
	}
	switch len(columns) {
	case 0:
		return nil
	case 1:
		c := columns[0]
		return []string{fmt.Sprintf("%s: column %q is read as text: line %d has %s, and the rows before have numbers",
			c.file, c.Name, c.line, c.text)}
	}
	return []string{fmt.Sprintf("columns %s are read as text: the rows before have numbers",
		column.Listed(each, "column"))}
}

// A laterText is the first text that the type of a column can't hold; the first that is no number if there is one.
type laterText struct {
	file    int
	line    int64
	text    string
	exact   bool // the column must keep its texts
	numbers bool // all texts that the type can't hold are numbers
	padded  bool // some of them is an integer with leading zeros, or of more than 64 bits
}

// later returns, for each column, the first text that the column's type can't hold, or nil.
func (in *CSV) later(ctx context.Context, p column.Pool) ([]*laterText, error) {
	var mu sync.Mutex
	found := make([]*laterText, len(in.Roles.Columns))
	// strict.parse refuses each text that check does
	strict := &CSV{Input: in.Input, rounded: in.rounded, tables: in.tables}
	strict.Roles = &column.Roles{Columns: slices.Clone(in.Roles.Columns)}
	for k := range strict.Roles.Columns {
		c := &strict.Roles.Columns[k]
		c.KeepsTexts = c.KeepsTexts || c.WidensToNumbers
	}
	err := eachChunk(ctx, p, in.Memory, in.Files, in.breaks, ChunkBytes, nil, func(file int, c Chunk) error {
		f := &in.CsvFiles[file]
		if !f.lenient { // parsing takes a fraction of the time of check
			if b, err := strict.parse(ctx, f, c); err == nil {
				b.Release()
				return nil
			}
		}
		_, _, err := in.check(ctx, f, c, func(k int, line int64, text []byte) {
			if f.lenient && !isNumber(text) { // the line is left out
				return
			}
			mu.Lock()
			defer mu.Unlock()
			was := found[k]
			if was == nil {
				was = &laterText{file: file, line: line, numbers: true, exact: in.Roles.Columns[k].KeepsTexts}
				found[k] = was
			}
			number := isNumber(text)
			before := file < was.file || file == was.file && line < was.line
			if was.text == "" || was.numbers && !number || was.numbers == number && before {
				was.file, was.line, was.text = file, line, quote(text)
			}
			was.numbers, was.padded = was.numbers && number, was.padded || isPadded(text) || isBeyond(text)
		})
		return err
	})
	return found, err
}

func isNumber(text []byte) bool {
	_, err := parseNumber(text)
	return err == nil
}

// isCode returns true if text begins with a 0 and another digit.
func isCode(text []byte) bool { return len(text) > 1 && text[0] == '0' && text[1]-'0' < 10 }

// isPadded returns true if text is an integer with leading zeros, as in codes and identifiers.
func isPadded(text []byte) bool {
	_, whole := parseInteger(text)
	return whole && text[0] == '0' && len(text) > 1
}

// Later returns the columns that must keep their texts and have a text that their type can't keep. If numbers is true, it also returns
// the columns of numbers or booleans that have another text.
func (in *CSV) Later(ctx context.Context, p column.Pool, numbers bool) (all []Later, err error) {
	found, err := in.later(ctx, p)
	for k, at := range found {
		if at != nil && (numbers || at.exact) {
			all = append(all, newLater(in.Roles.Columns[k].Name, in.CsvFiles[at.file].path, at.line, at.text, at.exact))
		}
	}
	return all, err
}
