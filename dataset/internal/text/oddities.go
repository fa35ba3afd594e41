package text

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

// oddRows is the number of first records that are examined for recurrences, and for quotes.
const oddRows = 100

// look is the information in the first records of a file.
type look struct {
	first              []csvField
	rows               int    // number of examined records
	hasNumberOrBoolean bool   // a later record has a number or a boolean
	hasNames           bool   // a column has text in the first record, and numbers or booleans alone below
	firstColumnIsTyped bool   // the first column has numbers or booleans alone, apart from the first record if there are more
	resemblesRow       bool   // most fields of the first record recur in their columns of text
	recurring          string // a field of the first record that recurs in the same text column; "": none
	recurringColumn    int    // the column of recurring, from 1
}

// look examines the first records of a file.
func (d *dialect) look(ctx context.Context, c Chunk) (l look, err error) {
	var recurs, typed, texts []bool // for each column, in the first records after the first
	again := true                   // all records repeat the first
	repeats := false                // some later record does
	for fields, err := range d.records(c) {
		if err != nil && !l.hasNumberOrBoolean {
			return l, err
		}
		if err != nil || ctx.Err() != nil {
			break
		}
		if l.rows++; l.rows == 1 {
			if d.rowNames {
				l.first = append(l.first, csvField{})
			}
			l.first = append(l.first, fields...)
			n := len(l.first)
			recurs, typed, texts = make([]bool, n), make([]bool, n), make([]bool, n)
			continue
		}
		if d.skipsBroken && len(fields) != len(l.first) && !(d.trailing && len(fields) == len(l.first)+1) {
			continue
		}
		if same := sameTexts(fields, l.first); same && !again { // a header again, unless the first record is a row
			repeats = true
			continue
		} else if !same {
			again = false
		}
		for i, f := range fields {
			is := f.isNumberOrBoolean()
			l.hasNumberOrBoolean = l.hasNumberOrBoolean || is
			if i >= len(recurs) || l.rows > oddRows || column.IsNull([]byte(f.text)) || column.SheetNull(f.text) {
				continue
			}
			recurs[i] = recurs[i] || f.text == l.first[i].text
			typed[i], texts[i] = typed[i] || is, texts[i] || !is && !again
		}
		if l.hasNumberOrBoolean && l.rows > oddRows || l.rows > 1000 {
			break
		}
	}
	for i, f := range l.first {
		l.hasNames = l.hasNames || typed[i] && !texts[i] && !f.isNumberOrBoolean() && !column.IsNull([]byte(f.text))
	}
	recurring, all := 0, 0
	for i, f := range l.first {
		if recurs[i] = recurs[i] || repeats && !l.hasNames; !column.IsNull([]byte(f.text)) && !typed[i] {
			if all++; recurs[i] {
				recurring++
			}
		}
		if recurs[i] && !typed[i] && l.recurring == "" {
			l.recurring, l.recurringColumn = f.text, i+1
		}
	}
	l.resemblesRow = 2*recurring > all
	l.firstColumnIsTyped = l.rows > 1 && typed[0] && !texts[0] || l.rows == 1 && l.first[0].isNumberOrBoolean()
	return l, nil
}

// narrowComments leaves as comments the lines that begin with # above the first other record, and below it those that have another number
// of fields than this record.
func (d *dialect) narrowComments(c Chunk) {
	s := d.scan(c)
	if !d.comments || !s.record() {
		return
	}
	d.comments, d.remarks, d.above, d.width = false, true, s.pos, s.fieldsAt(s.pos)
}

// judgeComments finds the lines above the first other record that begin with # and are rows, and a header that begins with #: the last of
// these lines that has the number of fields of a row. l has the first records without these lines.
func (d *dialect) judgeComments(c Chunk, l look, header string) {
	last, rows, s := -1, 0, d.scan(c)
	s.comment = func(at int) {
		if s.fieldsAt(at) == s.width {
			last = at
			rows++
		}
	}
	s.record()
	d.remarks = l.firstColumnIsTyped
	switch {
	case last < 0 || l.hasNames || c.Text[last+1] == ' ' && isHeader(l.first):
	case !d.plainAt(c, last):
		d.above = 0
	case header != "no" && (l.hasNumberOrBoolean || rows == 1): // several such lines among texts are values, such as colors
		d.hash, d.above = last+1, last
	case !l.hasNumberOrBoolean && !slices.ContainsFunc(l.first, csvField.isNumberOrBoolean):
		d.above = 0
	}
}

// isHeader returns true if the fields of a first record can be the names of columns, and none is a number or a boolean.
func isHeader(first []csvField) bool {
	return !slices.ContainsFunc(first, csvField.isNumberOrBoolean) && areNames(first)
}

// plainAt returns true if the record at a position has neither numbers nor booleans, and doesn't begin with a missing value such as #N/A.
func (d *dialect) plainAt(c Chunk, at int) bool {
	s := scanner{text: c.Text, pos: at, grammar: d.grammar, more: true}
	for n := 0; s.more; n++ {
		text, quoted, err := s.field()
		if err != nil || (csvField{string(text), quoted}).isNumberOrBoolean() || n == 0 && column.SheetNull(string(text)) {
			return false
		}
	}
	return true
}

// singleQuoted returns true if the first records are well-formed in a grammar of single quotes, and each of their columns with text has
// all of it in quotes, or none.
func singleQuoted(c Chunk, g grammar) bool {
	var quoted, plain []bool // for each column
	rows := 0
	for fields, err := range firstRecords(c, g) {
		if rows++; rows > oddRows {
			break
		}
		if quoted == nil {
			quoted, plain = make([]bool, len(fields)), make([]bool, len(fields))
		}
		if err == nil && g.skipsBroken && len(fields) != len(quoted) {
			continue
		}
		if err != nil || len(fields) != len(quoted) {
			return false
		}
		for i, f := range fields {
			quoted[i] = quoted[i] || f.quoted
			plain[i] = plain[i] || rows > 1 && !f.quoted && !f.isNumberOrBoolean() && !column.IsNull([]byte(f.text))
			if !f.quoted && strings.HasPrefix(f.text, `"`) {
				return false
			}
		}
	}
	anyQuoted := false
	for i := range quoted {
		if quoted[i] && plain[i] {
			return false
		}
		anyQuoted = anyQuoted || quoted[i]
	}
	return anyQuoted
}

func (f *CsvFile) notes() (lines []string) {
	switch {
	case f.recurs != "" && f.Header:
		lines = append(lines, message.Sprintf("%s: the first line is taken for the names of the columns, but a row "+
			"below has its %q in column %d too (use --header no if it is data)", f.path, f.recurs, f.column))
	case f.recurs != "":
		lines = append(lines, message.Sprintf("%s: the first line is taken for a row, since a row below has its %q "+
			"in column %d too (use --header yes if it has the names of the columns)", f.path, f.recurs, f.column))
	case f.guessed && f.Header:
		lines = append(lines, f.path+message.Sprintf(": all is text, and the first line is taken for the names of the "+
			"columns (use --header no if it is data)"))
	}
	if f.quote == '\'' {
		lines = append(lines, f.path+": fields in single quotes are read without the quotes")
	}
	if len(f.renamed) > 0 {
		const most = 3
		var named []string
		for _, i := range f.renamed[:min(len(f.renamed), most)] {
			named = append(named, fmt.Sprintf("column %d is %q", i, f.names[i-1]))
		}
		if len(f.renamed) > most {
			named = append(named, "and so on")
		}
		lines = append(lines, fmt.Sprintf("%s: columns have the name of an earlier one: %s", f.path, strings.Join(named, ", ")))
	}
	return lines
}
