package text

import (
	"bytes"
	"errors"
	"strings"
)

// blanks is the delimiter that means any number of spaces and tabs.
const blanks = ' '

// errStray is the error that a field has a quote, and doesn't begin with one.
var errStray = errors.New("a quote inside a field: put the field in quotes and double the quote")

// errOpen is the error that a field has no closing quotes.
var errOpen = errors.New("the quotes that begin here aren't closed: close them")

// A grammar is the form of delimited text.
type grammar struct {
	Comma       byte // the delimiter
	quote       byte // begins and ends a field that may contain delimiters, line breaks and doubled quotes
	comments    bool // each line that begins with # is a comment, until width is known
	remarks     bool // of one column of numbers: a line of # and a blank is a comment
	loose       bool // a quote inside a field that doesn't begin with one is part of its text
	trailing    bool // a delimiter may end each line, behind the last field
	skipsBroken bool // records that can't be read are left out
	width       int  // number of fields of a row: a line that begins with # and has another number is a comment; 0: unknown
}

// delimited returns the grammar of RFC 4180 with a delimiter.
func delimited(comma byte) grammar { return grammar{Comma: comma, quote: '"'} }

// A scanner splits delimited text into records and fields. Empty lines and comments aren't records, and spaces around
// a field aren't part of it.
type scanner struct {
	grammar
	text    []byte
	pos     int
	line    int64        // the line of pos
	more    bool         // the record has another field
	buf     []byte       // the current field in quotes, with doubled quotes replaced by single ones
	names   int          // 1 + the position of a header that begins with #; 0: none
	above   int          // the position of the first record: lines above that begin with # are comments
	skipped int64        // number of comments so far
	stray   bool         // a field that doesn't begin with a quote had one
	open    bool         // of the record, such a field had a quote in front of a word, and no quote behind it
	comment func(at int) // called at each comment; nil: not called
	header  []byte       // a line of this text repeats the header and is no record; nil: there is none
	repeats []int64      // these lines so far

	// The first line break from breakFrom on is at breakAt, which is the length of the text if there is none.
	breakFrom, breakAt int
}

// record begins the next record, and returns false if there is none. The caller must have read all fields of the
// current record.
func (s *scanner) record() bool {
	for s.pos < len(s.text) {
		i := s.pos
		if s.text[i] == '#' && s.isComment(i) {
			s.skipComment()
			continue
		}
		if s.Comma == blanks {
			i = s.skip(i)
		}
		if i < len(s.text) && s.text[i] == '\r' {
			i++
		}
		if s.header != nil && i < len(s.text) && s.repeatsHeader(i) {
			s.repeats = append(s.repeats, s.line)
			s.pos = i + lineLength(s.text[i:])
			s.line++
			continue
		}
		if i < len(s.text) && s.text[i] != '\n' {
			s.more, s.open = true, false
			return true
		}
		s.pos = i
		s.lineEnd()
	}
	return false
}

// repeatsHeader returns true if the line at a position has the text of the header, perhaps behind a byte order mark.
func (s *scanner) repeatsHeader(at int) bool {
	if first := s.text[at]; first != s.header[0] && first != ByteOrderMark[0] {
		return false
	}
	rest, is := bytes.CutPrefix(bytes.TrimPrefix(s.text[at:], ByteOrderMark), s.header)
	rest = bytes.TrimPrefix(rest, []byte{'\r'})
	return is && (len(rest) == 0 || rest[0] == '\n')
}

// isComment returns true if the line at a position, which begins with #, is a comment: it is no row, since it has another number of
// fields, or it is above the header.
func (s *scanner) isComment(at int) bool {
	switch {
	case at+1 == s.names:
		return false
	case s.comments || at < s.above:
		return true
	case s.width == 1:
		return s.remarks && at+1 < len(s.text) && strings.IndexByte(" \t\r\n", s.text[at+1]) >= 0
	}
	n := 0
	if s.width > 0 {
		n = s.fieldsAt(at)
	}
	return n != s.width && !(s.trailing && n == s.width+1)
}

// fieldsAt returns the number of fields of the record at a position. A malformed record has the expected number, so that reading it
// reports the error; a quote inside a field makes no record malformed here. Where rejects are left out, only the line at the position
// counts.
func (s *scanner) fieldsAt(at int) int {
	text := s.text
	if s.skipsBroken {
		text = text[:at+lineLength(text[at:])]
	}
	n, line := 0, scanner{text: text, pos: at, grammar: s.grammar, more: true}
	line.loose = true
	for ; line.more; n++ {
		if _, _, err := line.field(); err != nil {
			return s.width
		}
	}
	return n
}

func (s *scanner) skipComment() {
	if s.skipped++; s.comment != nil {
		s.comment(s.pos)
	}
	n := bytes.IndexByte(s.text[s.pos:], '\n')
	if n < 0 {
		n = len(s.text) - s.pos
	}
	s.pos += n
	s.lineEnd()
}

// field returns the next field of the record, which is valid until the next call. quoted is true if the field is in
// quotes.
func (s *scanner) field() (text []byte, quoted bool, err error) {
	i := s.skip(s.pos)
	if i < len(s.text) && s.text[i] == s.quote && s.quote != 0 {
		text, err = s.quoted(i + 1)
		return text, true, err
	}
	start := i
	i, quotes := s.unquoted(i)
	if s.stray = s.stray || quotes > 0; quotes > 0 && !s.loose {
		return nil, false, errStray
	}
	s.pos = i
	text = s.text[start:i]
	if (i == len(s.text) || s.text[i] == '\n') && bytes.HasSuffix(text, []byte{'\r'}) {
		text = text[:len(text)-1]
	}
	for len(text) > 0 && s.blank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if quotes%2 == 1 && s.encloses(text) {
		return nil, false, errStray
	}
	s.fieldEnd()
	return text, false, nil
}

// unquoted returns the end of a field that begins at a position, and the number of quotes in it if quotes enclose fields. Its own loop
// is the fastest for short fields, and searches by many bytes at a time for texts.
func (s *scanner) unquoted(start int) (end, quotes int) {
	const short = 16
	i := start
	for ; i < len(s.text); i++ {
		b := s.text[i]
		if b == s.Comma || b == '\n' || b == '\t' && s.Comma == blanks {
			return i, quotes
		}
		if b == '"' && s.quote == '"' {
			quotes++
		}
		if i-start == short && s.Comma != blanks {
			break
		}
	}
	if i == len(s.text) {
		return i, quotes
	}
	rest := s.text[i+1 : s.lineBreak(i)]
	if n := bytes.IndexByte(rest, s.Comma); n >= 0 {
		rest = rest[:n]
	}
	if s.quote == '"' {
		quotes += bytes.Count(rest, quoteMark)
	}
	return i + 1 + len(rest), quotes
}

var quoteMark = []byte{'"'}

// lineBreak returns the position of the first line break behind a position, which isn't one, or the end of the text. The long fields of
// a line search for it once.
func (s *scanner) lineBreak(at int) int {
	if at < s.breakFrom || at >= s.breakAt {
		s.breakFrom, s.breakAt = at, len(s.text)
		if n := bytes.IndexByte(s.text[at:], '\n'); n >= 0 {
			s.breakAt = at + n
		}
	}
	return s.breakAt
}

// encloses returns true if a quote ends the field, and a quote in an earlier field of the record begins a text, so that both enclose a
// delimiter.
func (s *scanner) encloses(text []byte) bool {
	if text[len(text)-1] == '"' {
		return s.open
	}
	s.open = text[bytes.IndexByte(text, '"')+1] > ' '
	return false
}

// quoted reads a field in quotes. The first byte after the opening quote is at i.
func (s *scanner) quoted(i int) ([]byte, error) {
	s.buf = s.buf[:0]
	for {
		n := bytes.IndexByte(s.text[i:], s.quote)
		if n < 0 {
			return nil, errOpen
		}
		part := s.text[i : i+n]
		s.line += int64(bytes.Count(part, []byte{'\n'}))
		i += n + 1
		if i < len(s.text) && s.text[i] == s.quote {
			s.buf = append(append(s.buf, part...), s.quote)
			i++
			continue
		}
		if len(s.buf) > 0 {
			s.buf = append(s.buf, part...)
			part = s.buf
		}
		s.pos = s.skip(i)
		if s.pos+1 < len(s.text) && s.text[s.pos] == '\r' && s.text[s.pos+1] == '\n' || s.pos+1 == len(s.text) &&
			s.text[s.pos] == '\r' {
			s.pos++
		}
		if s.pos < len(s.text) && s.text[s.pos] != s.Comma && s.text[s.pos] != '\n' && (s.Comma != blanks || s.pos == i) {
			return nil, errors.New("text after closing quotes: double the quotes inside the field")
		}
		s.fieldEnd()
		return part, nil
	}
}

// number returns the next field if it is a number in its plainest form, which is the most frequent case. Otherwise it
// reads nothing.
func (s *scanner) number() (v float64, ok bool) {
	v, n := parseDecimal(s.text[s.pos:])
	return v, s.plain(n)
}

// integer is number for integers.
func (s *scanner) integer() (v int64, ok bool) {
	v, n := parseWhole(s.text[s.pos:])
	return v, s.plain(n)
}

// plain skips a field of n bytes. If n is 0, or the field doesn't end there, it skips nothing and returns false.
func (s *scanner) plain(n int) bool {
	end := s.pos + n
	if n > 0 && end+1 < len(s.text) && s.text[end] == '\r' && s.text[end+1] == '\n' {
		end++
	}
	if n == 0 || end == len(s.text) || s.text[end] != s.Comma && s.text[end] != '\n' {
		return false
	}
	s.pos = end
	s.fieldEnd()
	return true
}

// fieldEnd skips the end of a field.
func (s *scanner) fieldEnd() {
	if s.Comma == blanks {
		s.pos = s.skip(s.pos)
		if s.pos+1 < len(s.text) && s.text[s.pos] == '\r' && s.text[s.pos+1] == '\n' {
			s.pos++
		}
		s.more = s.pos < len(s.text) && s.text[s.pos] != '\n'
		if s.more {
			return
		}
	}
	if s.more = s.pos < len(s.text) && s.text[s.pos] != '\n'; s.more {
		s.pos++ // the delimiter
		return
	}
	s.lineEnd()
}

// lineEnd skips a line break, or stays at the end of the text.
func (s *scanner) lineEnd() {
	if s.pos < len(s.text) {
		s.pos++
		s.line++
	}
}

// skip returns the first position from i on that isn't a blank.
func (s *scanner) skip(i int) int {
	for i < len(s.text) && s.blank(s.text[i]) {
		i++
	}
	return i
}

func (s *scanner) blank(b byte) bool { return b == ' ' || b == '\t' && s.Comma != '\t' }
