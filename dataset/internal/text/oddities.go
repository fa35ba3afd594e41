package text

import (
	"context"
	"fmt"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

// oddRows is the number of first records that are examined for recurrences, and for quotes.
const oddRows = 100

// look is the information in the first records of a file.
type look struct {
	first  []csvField
	rows   int    // number of examined records
	typed  bool   // a later record has a number or a boolean
	names  bool   // a column has text in the first record, and numbers or booleans alone below
	leads  bool   // the first column has numbers or booleans alone, apart from the first record if there are more
	row    bool   // most fields of the first record recur in their columns of text
	recurs string // a field of the first record that recurs in the same text column; "": none
	column int    // the column of recurs, from 1
}

// look examines the first records of a file.
func (d *dialect) look(ctx context.Context, c Chunk) (l look, err error) {
	var recurs, typed, texts []bool // for each column, in the first records after the first
	for fields, err := range d.records(c) {
		if err != nil && !l.typed {
			return l, err
		}
		if err != nil || ctx.Err() != nil {
			break
		}
		if l.rows++; l.rows == 1 {
			l.first = append(l.first, fields...)
			recurs, typed, texts = make([]bool, len(fields)), make([]bool, len(fields)), make([]bool, len(fields))
			continue
		}
		if d.sound && len(fields) != len(l.first) {
			continue
		}
		for i, f := range fields {
			is := f.typed()
			if l.typed = l.typed || is; i >= len(recurs) || l.rows > oddRows || column.IsNull([]byte(f.text)) {
				continue
			}
			recurs[i] = recurs[i] || f.text == l.first[i].text
			typed[i], texts[i] = typed[i] || is, texts[i] || !is
		}
		if l.typed && l.rows > oddRows || l.rows > 1000 {
			break
		}
	}
	recurring, all := 0, 0
	for i, f := range l.first {
		if !column.IsNull([]byte(f.text)) && !typed[i] {
			if all++; recurs[i] {
				recurring++
			}
		}
		l.names = l.names || typed[i] && !texts[i] && !f.typed() && !column.IsNull([]byte(f.text))
		if recurs[i] && !typed[i] && l.recurs == "" {
			l.recurs, l.column = f.text, i+1
		}
	}
	l.row = 2*recurring > all
	l.leads = l.rows > 1 && typed[0] && !texts[0] || l.rows == 1 && l.first[0].typed()
	return l, nil
}

// judgeComments decides which lines that begin with # are comments. l has the first records without these lines. All are comments if
// most have another number of fields, or if rows begin with a number. The last line before the first record is the header if it may be; then judgeComments returns true.
func (d *dialect) judgeComments(c Chunk, l look, header string) bool {
	matched, others, above := 0, 0, 0
	records := 0
	s := scanner{text: c.Text[:min(len(c.Text), HeadBytes)], line: c.line, grammar: d.grammar}
	s.comments = true
	s.comment = func(at int) {
		same := s.fieldsAt(at) == len(l.first)
		if same {
			matched++
		} else {
			others++
		}
		if records == 0 {
			above = 0
			if same {
				above = at + 1
			}
		}
	}
	for s.record() {
		records++
		for s.more {
			if _, _, err := s.field(); err != nil {
				s.pos, s.more = len(s.text), false
			}
		}
	}
	if above > 0 && !l.names && header != "no" && d.plainAt(c, above-1) {
		d.hash = above
		matched--
	}
	d.comments = above > 0 && l.names || others > matched || l.leads
	return d.hash > 0
}

// plainAt returns true if the record at a position has neither numbers nor booleans.
func (d *dialect) plainAt(c Chunk, at int) bool {
	s := scanner{text: c.Text, pos: at, grammar: d.grammar, more: true}
	for s.more {
		text, quoted, err := s.field()
		if err != nil || (csvField{string(text), quoted}).typed() {
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
	for fields, err := range records(c, g) {
		if rows++; rows > oddRows {
			break
		}
		if quoted == nil {
			quoted, plain = make([]bool, len(fields)), make([]bool, len(fields))
		}
		if err == nil && g.sound && len(fields) != len(quoted) {
			continue
		}
		if err != nil || len(fields) != len(quoted) {
			return false
		}
		for i, f := range fields {
			quoted[i] = quoted[i] || f.quoted
			plain[i] = plain[i] || rows > 1 && !f.quoted && !f.typed() && !column.IsNull([]byte(f.text))
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
		lines = append(lines, message.Sprintf("%s: the first line is taken for the names of the columns, but a row below has its %q in column %d too (use --header no if it is data)", f.path, f.recurs, f.column))
	case f.recurs != "":
		lines = append(lines, message.Sprintf("%s: the first line is taken for a row, since a row below has its %q in column %d too (use --header yes if it has the names of the columns)", f.path, f.recurs, f.column))
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
