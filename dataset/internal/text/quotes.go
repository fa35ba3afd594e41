package text

import "bytes"

// quoteBytes is the number of bytes at the beginning of a file in which quotes are examined.
const quoteBytes = 1 << 20

// detectQuotes finds the meaning of quotes. A quote inside a field that doesn't begin with one is part of its text (loose). If records
// can't be read with quotes, and each line has the same number of fields without, all quotes are part of the text.
func (d *dialect) detectQuotes(c Chunk) {
	if d.quote != '"' || bytes.IndexByte(c.Text, '"') < 0 {
		return
	}
	if len(c.Text) > quoteBytes {
		c.Text = c.Text[:bytes.LastIndexByte(c.Text[:quoteBytes], '\n')+1]
	}
	s := d.scan(c)
	s.loose = true
	var err error
	for err == nil && s.record() {
		for s.more && err == nil {
			_, _, err = s.field()
		}
	}
	if err != nil && err != errStray && d.hasLiteralQuotes(c) {
		d.quote, d.unread = 0, s.line
		return
	}
	d.loose = s.stray
}

// hasLiteralQuotes returns true if quotes are part of the text: each line has the same number of fields, and more fields have
// quotes that don't enclose them than have quotes that do. A comma without quotes around the field would be no text, therefore
// one such field isn't enough.
func (d *dialect) hasLiteralQuotes(c Chunk) bool {
	plain := d.grammar
	plain.quote = 0
	of := dialect{grammar: plain, hash: d.hash}
	width, enclosed, others := 0, 0, 0
	s := of.scan(c)
	for s.record() {
		n := 0
		for ; s.more; n++ {
			text, _, err := s.field()
			if err != nil {
				return false
			}
			switch quotes := bytes.Count(text, []byte{'"'}); {
			case quotes == 0:
			case quotes%2 == 0 && text[0] == '"' && text[len(text)-1] == '"':
				enclosed++
			default:
				others++
			}
		}
		if width == 0 {
			width = n
		}
		if n != width {
			return false
		}
	}
	return width > 1 && others > enclosed && (others > 1 || d.Comma != ',')
}
