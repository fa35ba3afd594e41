package text

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// Delimiters maps the names of delimiters to their bytes.
var Delimiters = map[string]byte{"comma": ',', "tab": '\t', "semicolon": ';', "pipe": '|', "space": blanks}

// Options are the TextOptions that a reader of text needs.
type Options struct {
	Header, Delimiter, IndexBase string
}

// Comma returns the delimiter in the options, or 0 if there is none.
func (o Options) Comma() (byte, error) {
	if b, ok := Delimiters[o.Delimiter]; ok || o.Delimiter == "" {
		return b, nil
	}
	if o.Delimiter == `\t` {
		return '\t', nil
	}
	if b := o.Delimiter[0]; len(o.Delimiter) == 1 && b < 0x80 && !strings.ContainsRune("\"\r\n\x00", rune(b)) {
		return b, nil
	}
	return 0, fmt.Errorf("delimiter is %q: use one ASCII character, or comma, tab, semicolon, pipe or space", o.Delimiter)
}

// A dialect is the form of a CSV file: delimiter, header and column names.
type dialect struct {
	Comma  byte
	Header bool     // the first record has the names of the columns
	names  []string // of all columns

	guessed bool // the header is a guess, because all values are text
	assumed bool // there is a header, and no option said so
	odd     oddities
}

// A csvField is the result of a scanner for a field.
type csvField struct {
	text   string
	quoted bool
}

// records yields the fields of each record of a chunk. It ends with an error at the first malformed record.
func records(c Chunk, comma byte) iter.Seq2[[]csvField, error] {
	return func(yield func([]csvField, error) bool) {
		s := scanner{text: c.Text, line: c.line, comma: comma}
		var fields []csvField
		for s.record() {
			fields = fields[:0]
			for s.more {
				line := s.line
				text, quoted, err := s.field()
				if err == nil && len(fields) == maxTextColumns {
					err = fmt.Errorf("more than %d columns, and a row has at most %d features: choose another delimiter with --delimiter",
						maxTextColumns, schema.MaxFeatures)
				}
				if err != nil {
					yield(nil, fmt.Errorf("line %d: %w", line, err))
					return
				}
				fields = append(fields, csvField{string(text), quoted})
			}
			if !yield(fields, nil) {
				return
			}
		}
	}
}

// detect detects the dialect of a file from its first chunk.
func detect(ctx context.Context, path string, c Chunk, opt Options) (dialect, error) {
	var d dialect
	var err error
	if d.Comma, err = opt.Comma(); err != nil {
		return d, err
	}
	if d.Comma == 0 && column.Extension(path) == ".tsv" {
		d.Comma = '\t'
	}
	if d.Comma == 0 {
		d.Comma = detectComma(c)
	}
	var first []csvField
	typed := false // a later record has a number or a boolean
	rows := 0
	for fields, err := range records(c, d.Comma) {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		if err != nil {
			return d, column.ErrorIn(path, "%w", err)
		}
		if rows++; rows == 1 {
			first = slices.Clone(fields)
			continue
		}
		if typed = slices.ContainsFunc(fields, csvField.typed); typed || rows > 1000 {
			break
		}
	}
	switch opt.Header {
	case "yes":
		d.Header = true
	case "", "auto":
		plain := len(first) > 0 && !slices.ContainsFunc(first, csvField.typed)
		d.Header = plain && (typed || rows == 1 || areNames(first))
		d.guessed, d.assumed = plain && !typed, d.Header
	}
	d.odd = lookAt(c, &d, first)
	d.names = make([]string, len(first))
	for i, f := range first {
		if d.names[i] = fmt.Sprint("c", i+1); d.Header && f.text != "" {
			d.names[i] = f.text
		}
	}
	return d, nil
}

// areNames returns true if fields of text can be the names of columns: none is missing, and all differ.
func areNames(fields []csvField) bool {
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.text] || column.IsNull([]byte(f.text)) {
			return false
		}
		seen[f.text] = true
	}
	return true
}

// typed returns true if a field is a number, true or false.
func (f csvField) typed() bool { return f.number() || isTruth([]byte(f.text)) }

func (f csvField) number() bool {
	_, err := parseNumber([]byte(f.text))
	return err == nil
}

// detectComma returns the delimiter that cuts the first records into the same number of fields. If several delimiters
// do, it returns the one with the most fields. Blanks are only considered if no other delimiter does, because many
// texts contain blanks.
func detectComma(c Chunk) byte {
	best, most, ragged, raggedMost := byte(','), 1, byte(','), 1
	for _, comma := range []byte{',', '\t', ';', '|', blanks} {
		if comma == blanks && most > 1 {
			break
		}
		n, same, first := fieldsOfFirst(c, comma)
		if same && n > most {
			best, most = comma, n
		}
		if first > raggedMost && comma != blanks {
			ragged, raggedMost = comma, first
		}
	}
	if most == 1 { // reading a damaged file will report the line
		return ragged
	}
	return best
}

// fieldsOfFirst returns the number n of fields of the first records, whether it is the same in all of them, and the
// number of fields of the first record.
func fieldsOfFirst(c Chunk, comma byte) (n int, same bool, first int) {
	const most = 100
	rows := 0
	for fields, err := range records(c, comma) {
		if err != nil {
			return 0, false, first
		}
		if rows++; rows == 1 {
			n, first = len(fields), len(fields)
		}
		if len(fields) != n {
			return n, false, first
		}
		if rows == most {
			break
		}
	}
	return n, true, first
}

// A guess is the information about the values of a column so far.
type guess struct {
	values        int
	ambiguous     int    // number of texts that are values in a text column and nulls in other columns
	whole, truths bool   // all values are integers; all values are true, false, 1 or 0
	odd           int    // number of values that aren't numbers, counted while numbers may be the majority
	text          bool   // numbers can't be the majority any more
	cell          string // the first of the odd values
	line          int64  // the line of cell
	dates, commas int    // number of odd values that are dates, or numbers with commas; counted while all odd values are
	nulls         *nullWords
}

// infer returns the columns of the file's first chunk. A column has integers, numbers, or booleans if every value in
// the chunk is one; otherwise it has text.
func (f *CsvFile) infer(ctx context.Context, c Chunk) ([]column.Column, error) {
	guesses := slices.Repeat([]guess{{whole: true, truths: true, nulls: f.nulls}}, len(f.names))
	const maxSeen = 20
	seen := map[string]bool{} // texts that are nulls by default
	s := scanner{text: c.Text, line: c.line, comma: f.Comma}
	if f.Header {
		s.skipRecord()
	}
	for s.record() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line := s.line
		f.rows++
		for i := 0; s.more; i++ {
			if i < len(guesses) && guesses[i].plain(&s) {
				continue
			}
			at := s.line
			text, quoted, err := s.field()
			if err != nil {
				return nil, column.ErrorIn(f.path, "line %d: %w", line, err)
			}
			if i < len(guesses) {
				guesses[i].field(text, quoted, at)
				if len(text) > 0 && column.IsNull(text) && len(seen) < maxSeen {
					seen[string(text)] = true
				}
			}
		}
	}
	cols := make([]column.Column, len(f.names))
	for i, name := range f.names {
		typ := guesses[i].typ()
		cols[i] = column.Column{Name: name, Type: typ, Desc: column.Describe(typ), Nullable: true, Empty: guesses[i].values == 0, Index: i}
		switch g := guesses[i]; {
		case typ.ID() != arrow.STRING || g.odd == 0:
		case g.commas == g.odd:
			cols[i].Content = column.Commas
		case g.dates == g.odd && !g.mostlyNumbers():
			cols[i].Content = column.Dates
		case g.mostlyNumbers():
			cols[i].Desc += fmt.Sprintf(", since line %d has %s", g.line, quote([]byte(g.cell)))
			cols[i].Advice = fmt.Sprintf("%s: column %q is %s, and most of its values are numbers", f.path, name, cols[i].Desc)
			cols[i].Remedy = fmt.Sprintf("use %s with --nulls drop, zero or mean if that stands for no value, or correct it", f.nulls.advice(g.cell, slices.Sorted(maps.Keys(seen))))
		}
	}
	return cols, nil
}

// date matches a day, with or without a time. comma matches a number with a decimal comma, or with commas between
// thousands. Both are compiled at their first use, because most runs of the command don't use them.
var (
	date  = pattern(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[- ]\p{L}{3,9}[- ]\d{4})([T ]\d{1,2}:\d{2}.*)?$`)
	comma = pattern(`^[-+]?(\d+,\d+|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(,\d{3})+(\.\d+)?)$`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// content adds the next odd value to the counts of dates and of numbers with commas.
func (g *guess) content(text []byte) {
	if g.dates == g.odd && date().Match(text) {
		g.dates++
	}
	if g.commas == g.odd && comma().Match(text) {
		g.commas++
	}
}

// plain reads the next field of a scanner and adds it, if it is a number in its plainest form. Otherwise it reads
// nothing and returns false.
func (g *guess) plain(s *scanner) bool {
	if g.text {
		return false
	}
	if g.whole {
		if v, ok := s.integer(); ok {
			if !g.nulls.number(float64(v)) {
				g.truths = g.truths && (v == 0 || v == 1)
				g.values++
			}
			return true
		}
	}
	v, ok := s.number()
	if ok && !g.nulls.number(v) {
		g.truths, g.whole = g.truths && (v == 0 || v == 1), false
		g.values++
	}
	return ok
}

// field adds a field that begins in the given line.
func (g *guess) field(text []byte, quoted bool, line int64) {
	switch g.nulls.of(text, quoted) {
	case aValue:
		g.Add(text, line)
	case ambiguous:
		if len(text) > 0 {
			g.ambiguous++
		}
	}
}

// Add adds a value that begins in the given line.
func (g *guess) Add(text []byte, line int64) {
	g.values++
	if g.truths {
		_, g.truths = truth(text)
	}
	if g.whole {
		_, g.whole = parseInteger(text)
	}
	if g.whole || g.text {
		return
	}
	if _, err := parseNumber(text); err == errNoNumber {
		g.content(text)
		if g.odd++; g.odd == 1 {
			g.cell, g.line = string(text), line
		}
		g.text = g.odd > 100 && !g.mostlyNumbers()
	}
}

// mostlyNumbers returns true if some values aren't numbers, but fewer than half.
func (g *guess) mostlyNumbers() bool { return g.odd > 0 && !g.text && 2*g.odd < g.values }

func (g *guess) typ() arrow.DataType {
	switch {
	case g.odd > 0 && g.truths:
		return arrow.FixedWidthTypes.Boolean
	case g.values > 0 && g.whole:
		return arrow.PrimitiveTypes.Int64
	case g.odd == 0 && (g.values > 0 || g.ambiguous == 0):
		return arrow.PrimitiveTypes.Float64
	}
	return arrow.BinaryTypes.String
}

// skipRecord skips a record. A malformed record was reported before.
func (s *scanner) skipRecord() {
	for s.record(); s.more; {
		if _, _, err := s.field(); err != nil {
			return
		}
	}
}
