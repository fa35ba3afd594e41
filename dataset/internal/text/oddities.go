package text

import (
	"fmt"
	"strings"

	"halfspace/dataset/internal/column"
)

// oddRows is the number of first rows that are examined for oddities.
const oddRows = 100

// oddities are unusual properties of the first rows of a file.
type oddities struct {
	recurs string // a field of the first line that another row has in the same text column; "": none
	column int    // the column of recurs, from 1
	quoted bool   // all values are in single quotes
}

// lookAt returns the oddities of the first rows. first is the first line, which isn't a row if it is a header.
func lookAt(c Chunk, d *dialect, first []csvField) (o oddities) {
	rows, values := 0, 0
	recurs, typed := make([]bool, len(first)), make([]bool, len(first)) // for each column, in the rows after the first line
	o.quoted = true
	for fields, err := range records(c, d.Comma) {
		if rows++; err != nil || rows > oddRows {
			break
		}
		for i, f := range fields {
			if rows > 1 && i < len(first) {
				recurs[i] = recurs[i] || f.text == first[i].text && !column.IsNull([]byte(f.text))
				typed[i] = typed[i] || f.typed()
			}
			if f.text == "" || rows == 1 && d.Header {
				continue
			}
			values++
			o.quoted = o.quoted && len(f.text) > 1 && strings.HasPrefix(f.text, "'") && strings.HasSuffix(f.text, "'")
		}
	}
	o.quoted = o.quoted && values > 0
	for i, f := range first {
		if recurs[i] && !typed[i] {
			o.recurs, o.column = f.text, i+1
			break
		}
	}
	return o
}

// notes returns lines about the oddities.
func (f *CsvFile) notes() (lines []string) {
	switch {
	case f.assumed && f.odd.recurs != "":
		lines = append(lines, fmt.Sprintf("%s: the first line is taken for the names of the columns, but a row below has its %q in column %d too (use --header no if it is data)", f.path, f.odd.recurs, f.odd.column))
	case f.guessed && f.Header:
		lines = append(lines, f.path+": all is text, and the first line is taken for the names of the columns (use --header no if it is data)")
	}
	if f.odd.quoted {
		lines = append(lines, f.path+": all values are in single quotes, which count as a part of them: write them without quotes, or with double ones")
	}
	return lines
}
