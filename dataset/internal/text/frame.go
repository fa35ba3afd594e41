package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// A frame is the parts of a file that are no rows of its table, and the fields that its header doesn't name.
type frame struct {
	start    int      // the position of the first record in the first chunk
	leading  int64    // number of lines above it
	titles   []string // the lines of a title above the header
	rowNames bool     // the first field of each row has no name in the header
	units    []string // the line of units below the header, by its fields; nil: there is none
	repeated int      // number of records below the header that repeat it
	titleAt  int64    // the line of the first title
	unitsAt  int64    // the line of units
	namesAt  int64    // the line of a record that has a needed name, which no column has; 0: there is none
	unread   int64    // the first line whose quotes enclose no field, if quotes are part of the text; 0: they aren't
}

// body returns the first chunk of a file from its first record on.
func (d *dialect) body(c Chunk) Chunk {
	c.Text, c.line = c.Text[d.start:], c.line+d.leading
	return c
}

// A sampledRecord is one of the first records of a file.
type sampledRecord struct {
	fields []csvField
	at     int   // its position
	line   int64 // its line
}

// sampledFields is the number of fields of the first records behind which no record is sampled.
const sampledFields = 1 << 16

// sample returns the first records of a file, up to the first that can't be read.
func (d *dialect) sample(c Chunk) (all []sampledRecord) {
	s := d.scan(c)
	s.loose = true
	for fields := 0; len(all) < oddRows && fields < sampledFields && s.record(); fields += len(all[len(all)-1].fields) {
		one := sampledRecord{at: s.pos, line: s.line}
		for s.more {
			text, quoted, err := s.field()
			if err != nil {
				return all
			}
			one.fields = append(one.fields, csvField{string(text), quoted})
		}
		all = append(all, one)
	}
	return all
}

// framedComma returns the delimiter of a table below a title, or of a header without a name for the first or the last field of a row, or
// of lines with quotes that are part of the text. It returns 0 if there is none.
func framedComma(c Chunk, g grammar) (best byte) {
	most := 1
	for _, comma := range []byte{',', '\t', ';', '|', blanks} {
		if comma == blanks && best != 0 {
			break
		}
		d := dialect{grammar: g}
		d.Comma = comma
		d.narrowComments(c)
		records := d.sample(c)
		width, n := widths(records)
		if n == 0 || width <= most || len(records)-n < 2 || comma == blanks &&
			!(n == 1 && len(records[0].fields) == width-1 && hasRowNames(records, nil)) {
			continue
		}
		best, most = comma, width
	}
	for _, comma := range []byte{',', '\t', ';', '|'} {
		if best != 0 || bytes.IndexByte(c.Text, '"') < 0 {
			break
		}
		plain := g
		plain.quote, plain.Comma = 0, comma
		if n, same, _ := fieldsOfFirst(c, plain); same && n > most {
			best = comma
		}
	}
	return best
}

// mostTitles is the largest number of records above the header.
const mostTitles = 10

// widths returns the number of fields of nearly all records, or 0 if there is no such number, and the number of records before the first
// of these.
func widths(records []sampledRecord) (width, before int) {
	const most = 1000
	var counts [most]int
	for _, r := range records {
		counts[min(len(r.fields), most-1)]++
	}
	for n, count := range counts {
		if count >= counts[width] {
			width = n
		}
	}
	for before < len(records) && len(records[before].fields) != width {
		before++
	}
	rest := records[before:]
	others := 0
	for _, r := range rest {
		if len(r.fields) != width {
			others++
		}
	}
	if before > mostTitles || 10*others > len(rest) || width == most-1 {
		return 0, 0
	}
	return width, before
}

// isNamed returns true if the first of the records can have the names of columns: a column has numbers or booleans alone below, or known
// names a column of it.
func isNamed(records []sampledRecord, known []string) bool {
	first := records[0].fields
	if !isHeader(first) {
		return false
	}
	if slices.ContainsFunc(first, func(f csvField) bool { return slices.Contains(known, f.text) }) {
		return true
	}
	for i := range first {
		if numbers, others := columnOf(records[1:], i); numbers > 0 && others == 0 {
			return true
		}
	}
	return false
}

// columnOf returns the numbers of values of a column that are numbers or booleans, and of other values.
func columnOf(records []sampledRecord, i int) (numbers, others int) {
	for _, r := range records {
		switch {
		case i >= len(r.fields) || r.fields[i].missing():
		case r.fields[i].isNumberOrBoolean():
			numbers++
		default:
			others++
		}
	}
	return numbers, others
}

// missing returns true if a field means a missing value in a column of numbers.
func (f csvField) missing() bool {
	return f.text == "-" || column.IsNull([]byte(f.text)) || column.SheetNull(f.text)
}

// detectTitle finds the lines of a title above the header: they have fewer fields than the other lines, or a text in the first field alone.
func (d *dialect) detectTitle(c Chunk, known []string) {
	records := d.sample(c)
	width, n := widths(records)
	if width < 2 || len(records) < 3 {
		return
	}
	fewer := func(r sampledRecord) bool { return len(r.fields) < width }
	if n > 0 && (slices.IndexFunc(records, func(r sampledRecord) bool { return !fewer(r) }) != n || len(records)-n < 2) {
		return
	}
	if n > 0 && !isNamed(records[n:], known) {
		last := records[n-1].fields
		if len(last) == width-1 && !isPhrase(last) && (width > 2 || hasRowNames(records[n-1:], known)) {
			n-- // a header without a name for the first field, or for the end of the line
		}
		if !isHeader(records[n].fields) || slices.ContainsFunc(records[:n], func(r sampledRecord) bool { return len(r.fields) > 1 }) {
			return
		}
	}
	if n == 0 {
		for n < min(mostTitles, len(records)-2) && !slices.ContainsFunc(records[n].fields[1:],
			func(f csvField) bool { return f.text != "" }) {
			n++
		}
		if n == 0 || records[0].fields[0].isNumberOrBoolean() || records[0].fields[0].text == "" || !isNamed(records[n:], known) {
			return
		}
	}
	for _, r := range records[:n] {
		line := c.Text[r.at:][:lineLength(c.Text[r.at:])]
		d.titles = append(d.titles, string(bytes.TrimRight(line, "\r\n"+string(d.Comma))))
	}
	d.titleAt = records[0].line
	d.start += records[n].at
	d.leading += records[n].line - c.line
}

// detectRowNames finds out whether the rows have a field more than the header: a name in front, as R writes, or nothing behind a delimiter
// at the end of the line.
func (d *dialect) detectRowNames(c Chunk, known []string) {
	records := d.sample(c)
	width, n := widths(records)
	if n != 1 || len(records[0].fields) != width-1 || !isHeader(records[0].fields) || isPhrase(records[0].fields) {
		return
	}
	d.trailing = !slices.ContainsFunc(records[1:], func(r sampledRecord) bool {
		return len(r.fields) == width && r.fields[width-1].text != ""
	})
	d.rowNames = !d.trailing && hasRowNames(records, known)
}

// isPhrase returns true if the fields of a record are a line of text rather than names of columns.
func isPhrase(fields []csvField) bool {
	return slices.ContainsFunc(fields, func(f csvField) bool {
		return strings.Contains(f.text, `"`) || !f.quoted && len(fields) == 1 && strings.Contains(f.text, " ")
	})
}

// hasRowNames returns true if the first record is a header without a name for the first field of a row.
func hasRowNames(records []sampledRecord, known []string) bool {
	header := records[0]
	header.fields = append([]csvField{{text: "\x00"}}, header.fields...)
	quoted := !slices.ContainsFunc(records[0].fields, func(f csvField) bool { return !f.quoted })
	return quoted || isNamed(append([]sampledRecord{header}, records[1:]...), known)
}

// withoutEnd returns the fields of a header without a last one that is empty in all records.
func withoutEnd(header []csvField, records []sampledRecord) []csvField {
	last := len(header) - 1
	if last < 1 || slices.ContainsFunc(records, func(r sampledRecord) bool { return len(r.fields) > last && r.fields[last].text != "" }) {
		return header
	}
	return header[:last]
}

// findNames returns the line of the first record with a known name, or 0 if a column has the name or no record has it.
func (d *dialect) findNames(c Chunk, known []string) int64 {
	for _, name := range known {
		if slices.Contains(d.names, name) {
			continue
		}
		for _, r := range (&dialect{grammar: d.grammar}).sample(c) {
			if slices.ContainsFunc(r.fields, func(f csvField) bool { return f.text == name && !f.isNumberOrBoolean() }) {
				return r.line
			}
		}
	}
	return 0
}

// withoutRowNames returns the columns of a file without the column of the names of rows.
func (d *dialect) withoutRowNames(columns []column.Column) []column.Column {
	if !d.rowNames {
		return columns
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c column.Column) bool { return c.Index == 0 })
}

// fits returns true if a record of n fields can be a row. The reader of a row checks that a field behind the last column is empty.
func (d *dialect) fits(n int) bool { return n == len(d.names) || d.trailing && n == len(d.names)+1 }

// frameNotes returns lines about the parts of the file that are no rows.
func (d *dialect) frameNotes(path string) (lines []string) {
	if n := len(d.titles); n > 0 {
		what := fmt.Sprintf("line %d (%q) is a title above the header and is left out", d.titleAt, humanize.WithoutMiddle(d.titles[0], 60))
		if n > 1 {
			what = fmt.Sprintf("%d lines from line %d (%q) on are a title above the header and are left out", n,
				d.titleAt, humanize.WithoutMiddle(d.titles[0], 60))
		}
		lines = append(lines, message.Sprintf("%s: %s (use --header yes if the first line names the columns)", path, what))
	}
	if d.rowNames {
		lines = append(lines, path+": rows have a field more than the header, so that their first field is a name of "+
			"the row and is left out (write a name for it in front of the header to read it)")
	}
	if d.units != nil {
		is := "has the units of the columns"
		if strings.Trim(strings.Join(d.units, ""), "-=:") == "" {
			is = "is a line of dashes below the header"
		}
		lines = append(lines, message.Sprintf("%s: line %d (%s) %s and is left out (use --header yes if it is a row)", path,
			d.unitsAt, humanize.WithoutMiddle(strings.Join(d.units, ","), 60), is))
	}
	if d.repeated > 0 {
		lines = append(lines, message.Sprintf("%s: the header stands again below it (%s), which is left out (use --header yes if "+
			"it is a row)", path, humanize.Plural(int64(d.repeated), "line")))
	}
	if d.trailing {
		lines = append(lines, path+": lines end in a delimiter that the header lacks, and the empty field behind it is "+
			"left out (mend the header if one of its delimiters is missing)")
	}
	if d.unread > 0 {
		lines = append(lines, fmt.Sprintf("%s: quotes are part of the texts, since those from line %d on enclose no "+
			"field (enclose each such field in quotes, and double the quotes inside, if they aren't)", path, d.unread))
	}
	return lines
}

// detectSeparator skips a first line such as sep=; by which Excel is told the delimiter. It returns the delimiter, or 0.
func (d *dialect) detectSeparator(c Chunk) byte {
	line := c.Text[:lineLength(c.Text)]
	text := bytes.Trim(bytes.TrimRight(line, "\r\n"), `"`)
	if len(text) < len("sep=;") || !strings.EqualFold(string(text[:len("sep=")]), "sep=") {
		return 0
	}
	comma := text[len("sep=")]
	if rest := bytes.Trim(text[len("sep=")+1:], string(comma)+`"`); len(rest) > 0 || comma >= 0x80 {
		return 0
	}
	d.start, d.leading = len(line), 1
	return comma
}
