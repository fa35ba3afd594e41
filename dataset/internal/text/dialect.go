package text

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/message"
	"halfspace/schema"
)

var Delimiters = map[string]byte{"comma": ',', "tab": '\t', "semicolon": ';', "pipe": '|', "space": blanks}

// Options are the TextOptions that a reader of text needs.
type Options struct {
	Header, Delimiter, IndexBase string
	SkipsBroken                  bool     // records that can't be read are left out
	inferred                     bool     // the first file, not the user, has determined Header
	Names                        []string // columns that the reader needs
	Nulls                        []string // texts that mean a missing value, if the user named some
	Heads                        *Heads   // of the files, from earlier passes; nil: there are none
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
	return 0, message.WrongValue("delimiter", o.Delimiter, "one ASCII character, or comma, tab, semicolon, pipe or space")
}

// A dialect is the form of a CSV file: delimiter, header and column names.
type dialect struct {
	grammar
	frame
	Header bool     // the first record has the names of the columns
	names  []string // of all columns
	// headerLine is the line of the header, if the same line below is no row; nil: there is no such line
	headerLine []byte
	hash       int  // 1 + the position of a header that begins with #; 0: none
	above      int  // the position of the first record, if lines above that begin with # are comments
	hashes     bool // some of the first lines begin with #

	guessed bool // the header is a guess, because all values are text
	unsure  bool // no column has text in the first record and other values below
	assumed bool // there is a header, and no option said so
	// a field of the first record that recurs below: a reason against the header, though it was taken for one, or the
	// reason that there is none
	recurs  string
	column  int   // the column of recurs, from 1
	renamed []int // columns that have the name of an earlier one, from 1
}

func (d *dialect) Breaks() Breaks {
	if (d.skipsBroken || d.hashes || d.loose) && d.quote != 0 {
		return Breaks{records: &d.grammar}
	}
	return Breaks{Quote: d.quote}
}

func (d *dialect) scan(c Chunk) scanner {
	s := scanner{text: c.Text, line: c.line, grammar: d.grammar}
	if c.first {
		s.names, s.above = d.hash, d.above
	}
	return s
}

func (d *dialect) rowsOf(c Chunk) scanner {
	if !c.first {
		s := d.scan(c)
		s.header = d.headerLine
		return s
	}
	s := d.scan(d.body(c))
	if d.Header {
		s.skipRecord()
	}
	below := d.repeated
	if d.units != nil {
		below++
	}
	for range below {
		s.skipRecord()
	}
	s.header = d.headerLine
	return s
}

// A csvField is the result of a scanner for a field.
type csvField struct {
	text   string
	quoted bool
}

// records yields the fields of each record of a chunk. It ends with an error at the first malformed record.
func records(c Chunk, g grammar) iter.Seq2[[]csvField, error] {
	return (&dialect{grammar: g}).records(c)
}

// firstRecords is records for the first chunk of a file.
func firstRecords(c Chunk, g grammar) iter.Seq2[[]csvField, error] {
	d := dialect{grammar: g}
	d.narrowComments(c)
	return d.records(c)
}

func (d *dialect) records(c Chunk) iter.Seq2[[]csvField, error] {
	return func(yield func([]csvField, error) bool) {
		s := d.scan(c)
		var fields []csvField
		for first := true; s.record(); first = false {
			if whole := s; d.skipsBroken && !first {
				if _, err := whole.skim(); err != nil {
					s = whole
					continue
				}
			}
			fields = fields[:0]
			for s.more {
				line := s.line
				text, quoted, err := s.field()
				if err == nil && len(fields) == maxTextColumns {
					err = message.Errorf("more than %d columns, and a row has at most %d features: choose another "+
						"delimiter with --delimiter", maxTextColumns, schema.MaxFeatures)
				}
				if err != nil {
					yield(nil, column.LineError("", line, err))
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
	d := dialect{grammar: delimited(0)}
	d.skipsBroken = opt.SkipsBroken
	var err error
	if d.Comma, err = opt.Comma(); err != nil {
		return d, err
	}
	said := d.detectSeparator(c)
	switch {
	case d.Comma != 0:
	case said != 0:
		d.Comma = said
	case source.Extension(path) == ".tsv":
		d.Comma = '\t'
	}
	auto := opt.Header == "" || opt.Header == "auto" || opt.inferred
	d.detectGrammar(d.body(c))
	d.narrowComments(d.body(c))
	if auto {
		d.detectTitle(d.body(c), opt.Names)
	}
	if len(d.titles) > 0 { // the comments are found from the first record on
		d.comments, d.above = d.hashes, 0
	}
	body := d.body(c)
	d.narrowComments(body)
	look, err := d.look(ctx, body)
	if err == nil && d.hashes {
		d.judgeComments(body, look, opt.Header)
		look, err = d.look(ctx, body)
	}
	if err != nil {
		return d, column.ErrorIn(path, "%w", err)
	}
	if opt.Header != "no" {
		if d.detectRowNames(body, opt.Names); d.rowNames || d.trailing {
			look, err = d.look(ctx, body)
		}
	}
	if d.detectHeader(look, opt.Header, d.sample(body), opt.Names); auto && d.Header {
		d.detectUnits(body, opt.Nulls)
		d.headerLine = d.lineOfHeader(body)
	}
	known := func(name string) bool { return slices.Contains(d.names, name) }
	d.guessed = d.guessed && !slices.ContainsFunc(opt.Names, known) // the first line has the names that are looked for
	d.width, d.remarks = len(d.names), look.firstColumnIsTyped
	d.namesAt = d.findNames(c, opt.Names)
	return d, cmp.Or(err, ctx.Err())
}

// lineOfHeader returns the line of a header of several names, or nil. It stands in a file again where files were
// joined.
func (d *dialect) lineOfHeader(c Chunk) []byte {
	s := d.scan(c)
	if d.hash > 0 || len(d.names) < 2 || !s.record() {
		return nil
	}
	line := c.Text[s.pos:][:lineLength(c.Text[s.pos:])]
	first := s.line
	for s.more {
		if _, _, err := s.field(); err != nil {
			return nil
		}
	}
	if s.line > first+1 { // a name has a line break
		return nil
	}
	if line = bytes.TrimRight(line, "\r\n"); d.Comma == blanks {
		line = bytes.TrimLeft(line, " \t")
	}
	return bytes.Clone(line)
}

// detectGrammar detects the grammar of a file from its first chunk. If there is a delimiter, it stays.
func (d *dialect) detectGrammar(c Chunk) {
	given := d.Comma
	d.loose = true
	d.comments = len(c.Text) > 0 && c.Text[0] == '#' || bytes.Contains(c.Text, []byte("\n#"))
	d.hashes = d.comments
	if s := d.scan(c); !s.record() { // the lines that begin with # are the only ones
		d.comments = false
	}
	if given == 0 {
		d.Comma = detectComma(c, d.grammar)
	}
	d.detectQuotes(c)
	if bytes.IndexByte(c.Text, '\'') < 0 {
		return
	}
	single := d.grammar
	if single.quote = '\''; given == 0 {
		single.Comma = detectComma(c, single)
	}
	if singleQuoted(c, single) {
		d.grammar = single
	}
}

// detectHeader detects whether the first record is a header, unless an option says so, and names the columns. records are the first
// records, and known are the names of columns that the reader needs.
func (d *dialect) detectHeader(l look, header string, records []sampledRecord, known []string) {
	plain := len(l.first) > 0 && !slices.ContainsFunc(l.first, csvField.isNumberOrBoolean) && !column.SheetNull(l.first[0].text)
	switch header {
	case "yes":
		d.Header = true
	case "", "auto":
		header := plain && (l.hasNumberOrBoolean || l.rows == 1 || areNames(withoutEnd(l.first, records)))
		d.Header = header && (l.hasNames || !l.resemblesRow && !namesByPosition(l.first, known) && !l.lacksNames(known))
		if !d.Header && len(records) > 0 && hasNumberedNames(records, known) {
			d.Header, d.assumed = true, true
			break
		}
		d.guessed, d.unsure, d.assumed = plain && !l.hasNumberOrBoolean, plain && !l.hasNames, d.Header
		if header {
			d.recurs, d.column = l.recurring, l.recurringColumn
		}
	}
	d.names = make([]string, len(l.first))
	taken := map[string]bool{}
	for i, f := range l.first {
		if d.names[i] = fmt.Sprint("c", i+1); d.Header && f.text != "" {
			d.names[i] = f.text
		}
		taken[d.names[i]] = true
	}
	if d.rowNames { // no column has this name
		d.names[0] = ""
	}
	seen := map[string]bool{}
	for i, name := range d.names {
		for n := 2; seen[name] || name != d.names[i] && taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", d.names[i], n)
		}
		if name != d.names[i] {
			d.renamed = append(d.renamed, i+1)
		}
		d.names[i], seen[name] = name, true
	}
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

// isNumberOrBoolean returns true if a field is a number, true or false.
func (f csvField) isNumberOrBoolean() bool { return f.number() || isTruth([]byte(f.text)) }

func (f csvField) number() bool {
	_, err := parseNumber([]byte(f.text))
	return err == nil
}

// detectComma returns the delimiter that cuts the first records into the same number of fields. If several delimiters
// do, it returns the one with the most fields. Blanks are only considered if no other delimiter does, because many
// texts contain blanks.
func detectComma(c Chunk, g grammar) byte {
	best, most, ragged, raggedMost := byte(','), 1, byte(','), 1
	for _, comma := range []byte{',', '\t', ';', '|', blanks} {
		if comma == blanks && most > 1 {
			break
		}
		g.Comma = comma
		n, same, first := fieldsOfFirst(c, g)
		if same && n > most {
			best, most = comma, n
		}
		if first > raggedMost && comma != blanks {
			ragged, raggedMost = comma, first
		}
	}
	if most > 1 {
		return best
	}
	if comma := framedComma(c, g); comma != 0 {
		return comma
	}
	return ragged // reading a damaged file will report the line
}

// fieldsOfFirst returns the number n of fields of the first records, whether it is the same in all of them, and the
// number of fields of the first record.
func fieldsOfFirst(c Chunk, g grammar) (n int, same bool, first int) {
	const most = 100
	rows, others := 0, 0
	for fields, err := range firstRecords(c, g) {
		if err != nil {
			return 0, false, first
		}
		if rows++; rows == 1 {
			n, first = len(fields), len(fields)
		}
		if len(fields) != n && !g.skipsBroken {
			return n, false, first
		}
		if len(fields) != n {
			others++
		}
		if rows == most {
			break
		}
	}
	return n, 10*others <= rows, first
}

// A guess is the information about the values of a column so far.
type guess struct {
	values                       int
	ambiguous                    int    // number of texts that are values in a text column and nulls in other columns
	whole, truths                bool   // all values are integers; all values are true, false, 1 or 0
	allCanonical, allTrueOrFalse bool   // all integers are written as strconv.FormatInt does; all values are true or false
	hasLeadingZeros              bool   // some integer has leading zeros
	odd                          int    // number of values that aren't numbers, counted while numbers may be the majority
	text                         bool   // numbers can't be the majority any more
	fraction                     bool   // some number is no integer
	hasFractions                 bool   // some number has a fractional part
	beyondInt64                  bool   // some integer has more than 64 bits, and its float64 fewer digits
	within64Bits                 bool   // some number is no integer of more than 64 bits
	grouped, pointed             bool   // some number has a point as in 1.100, which may be between groups; some has another point
	cell                         string // the first of the odd values
	line                         int64  // the line of cell
	dates, commas                int    // number of odd values that are dates, or numbers with commas; counted while all odd values are
	nulls                        *nullWords
}

// newGuess returns the guess about a column without values.
func newGuess(nulls *nullWords) guess {
	return guess{whole: true, truths: true, allCanonical: true, allTrueOrFalse: true, nulls: nulls}
}

// guesses are the guesses about the columns of a file.
type guesses struct {
	columns []guess
	nulls   nullTexts // texts that may be nulls
	rows    int       // number of rows that the guesses rest on
}

// guesses returns the guesses that the values in the file's first chunk suggest.
func (f *CsvFile) guesses(ctx context.Context, c Chunk) (g guesses, err error) {
	g = guesses{columns: slices.Repeat([]guess{newGuess(f.nulls)}, len(f.names)), nulls: nullTexts{}}
	s, plain := f.rowsOf(c), f.newDecimals()
	for s.record() {
		if err := ctx.Err(); err != nil {
			return g, err
		}
		if whole := s; f.skipsBroken {
			if n, err := whole.skim(); err != nil || !f.fits(n) {
				s = whole
				continue
			}
		}
		g.rows++
		if err := f.guess(&s, &plain, g); err != nil {
			return g, err
		}
	}
	return g, nil
}

// guess adds the fields of a record to the guesses.
func (f *CsvFile) guess(s *scanner, plain *decimals, g guesses) error {
	guesses := g.columns
	line := s.line
	for i := 0; s.more; i++ {
		if i += plain.infer(s, guesses[min(i, len(guesses)):]); !s.more {
			return nil
		}
		if i < len(guesses) && guesses[i].plain(s) {
			continue
		}
		at := s.line
		text, quoted, err := s.field()
		if err != nil {
			return column.LineError(f.path, line, err)
		}
		if i < len(guesses) {
			guesses[i].field(text, quoted, at)
			g.nulls.add(text)
		}
	}
	return nil
}

// nullTexts are texts that are nulls by default.
type nullTexts map[string]bool

func (n nullTexts) add(text []byte) {
	const most = 20
	if len(text) > 0 && column.IsNull(text) && len(n) < most {
		n[string(text)] = true
	}
}

// columns returns the columns that guesses suggest. A column has integers, numbers, or booleans if every value is one;
// otherwise it has text.
func (f *CsvFile) columns(of guesses) []column.Column {
	guesses := of.columns
	cols := make([]column.Column, len(f.names))
	mayGroup := f.keepsCodes && f.Comma == ';' && !slices.ContainsFunc(guesses, func(g guess) bool { return g.pointed })
	for i, name := range f.names {
		typ := f.typing.of(name, &guesses[i])
		if mayGroup && guesses[i].grouped && guesses[i].odd == 0 && !slices.Contains(f.named, name) {
			typ = arrow.BinaryTypes.String // the plan decides whether 1.100 is 1100
		}
		cols[i] = column.Column{Name: name, Type: typ, Desc: column.Describe(typ), Nullable: true, Empty: guesses[i].values == 0, Index: i,
			TextType: f.typing.textType(name, &guesses[i]), FirstText: guesses[i].cell,
			IsCode:      guesses[i].whole && guesses[i].hasLeadingZeros,
			LosesDigits: guesses[i].hasLeadingZeros || guesses[i].beyondInt64 && !guesses[i].hasFractions}
		isWhole := typ.ID() == arrow.INT64 || typ.ID() == arrow.FLOAT64 && guesses[i].values == 0
		cols[i].RefusesCodes = isWhole && f.keepsCodes && !f.skipsBroken && !slices.Contains(f.named, name)
		cols[i].Integers = typ.ID() == arrow.FLOAT64 && guesses[i].values > 0 && !guesses[i].hasFractions
		switch g := guesses[i]; {
		case typ.ID() != arrow.STRING || g.odd == 0:
		case g.commas == g.odd:
			cols[i].Content = column.Commas
		case g.dates == g.odd && !g.mostlyNumbers():
			cols[i].Content = column.Dates
		case g.mostlyNumbers():
			cols[i].Desc += fmt.Sprintf(", since line %d has %s", g.line, quote([]byte(g.cell)))
			cols[i].Advice = fmt.Sprintf("%s: column %q is %s, and most of its values are numbers", f.path, name, cols[i].Desc)
			cols[i].Remedy = message.Sprintf("use %s if that stands for no value, or "+
				"correct it", f.nulls.advice(g.cell, slices.Sorted(maps.Keys(of.nulls))))
		}
	}
	return cols
}

// date matches a day, with or without a time. comma matches a number with a decimal comma, or with commas between
// thousands. Both are compiled at their first use, because most runs of the command don't use them.
var (
	date = pattern(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|` +
		`\d{1,2}/\d{1,2}/\d{2}|\d{2}[-.]\d{2}[-.]\d{2}|\d{1,2}[- ]\p{L}{3,9}[- ](\d{4}|\d{2}))([T ]\d{1,2}:\d{2}.*)?$`)
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
		at := s.pos
		if v, ok := s.integer(); ok {
			if !g.nulls.number(float64(v)) {
				g.integer(v, s.text[at:])
			}
			return true
		}
	}
	at := s.pos
	v, ok := s.number()
	if ok {
		g.number(v, s.text[at:])
	}
	return ok
}

// integer adds an integer to a column of integers. text begins with it.
func (g *guess) integer(v int64, text []byte) {
	g.truths, g.allTrueOrFalse = g.truths && (v == 0 || v == 1), false
	if !isCanonical(text) {
		g.digits(text)
	}
	g.within64Bits = true
	g.values++
}

// digits looks how the number at the beginning of text is written.
func (g *guess) digits(text []byte) {
	_, n := parseWhole(text)
	if whole := n > 0 && (n == len(text) || strings.IndexByte(".eE", text[n]) < 0); whole && isCanonical(text) {
		return
	}
	g.allCanonical, g.hasLeadingZeros = false, g.hasLeadingZeros || n > 1 && text[0] == '0'
}

// isCanonical returns true if the integer at the beginning of text is written as strconv.FormatInt writes it: without a plus, and
// without leading zeros.
func isCanonical(text []byte) bool {
	if startsWithOneDigit(text) {
		return true
	}
	if text[0] == '-' {
		return len(text) > 1 && text[1] != '0'
	}
	return text[0] != '+' && (text[0] != '0' || len(text) == 1 || text[1]-'0' >= 10)
}

// startsWithOneDigit returns true if a digit begins text, and no other is behind it. Labels are often 0 and 1 by chance, so asking first
// whether it is 0 costs a wrongly predicted branch.
func startsWithOneDigit(text []byte) bool {
	return text[0]-'0' < 10 && (len(text) == 1 || text[1]-'0' >= 10)
}

// number adds a number, or an integer to a column with other numbers. text begins with it.
func (g *guess) number(v float64, text []byte) {
	if !g.nulls.number(v) {
		g.hasFractions = g.hasFractions || v != math.Trunc(v)
		g.fraction = g.fraction || g.hasFractions
		g.truths, g.allTrueOrFalse, g.whole = g.truths && (v == 0 || v == 1), false, false
		if g.allCanonical {
			g.digits(text)
		}
		g.size(v, text)
		g.values++
	}
}

// size looks whether the number at the beginning of text is an integer that no int64 holds.
func (g *guess) size(v float64, text []byte) {
	if !g.pointed {
		g.points(text)
	}
	is := math.Abs(v) >= 1<<63 && isBeyond(text)
	g.beyondInt64 = g.beyondInt64 || is
	g.within64Bits = g.within64Bits || !is || math.Abs(v) < 1<<64
}

// points looks at the point of the number at the beginning of text.
func (g *guess) points(text []byte) {
	text = bytes.TrimLeft(text, "+-")
	whole := digitsOf(text)
	if whole == len(text) || text[whole] != '.' {
		return
	}
	behind := digitsOf(text[whole+1:])
	end := whole + 1 + behind
	isGroup := whole >= 1 && whole <= 3 && text[0] != '0' && behind == 3 && (end == len(text) || text[end]|0x20 != 'e')
	g.grouped, g.pointed = g.grouped || isGroup, g.pointed || !isGroup
}

// digitsOf returns the number of digits at the beginning of text.
func digitsOf(text []byte) (n int) {
	for n < len(text) && text[n]-'0' < 10 {
		n++
	}
	return n
}

// isBeyond returns true if text begins with an integer, without a point or an exponent, that no int64 holds.
func isBeyond(text []byte) bool {
	digits := text
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits = text[1:]
	}
	n := 0
	for n < len(digits) && digits[n]-'0' < 10 {
		n++
	}
	if n < 19 || n < len(digits) && strings.IndexByte(".eE", digits[n]) >= 0 {
		return false
	}
	_, fits := parseInteger(text[:len(text)-len(digits)+n])
	return !fits
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
	g.allTrueOrFalse = g.allTrueOrFalse && isTruth(text)
	if g.whole {
		_, g.whole = parseInteger(text)
	}
	if g.whole {
		g.digits(text)
		g.within64Bits = true
	}
	if g.whole || g.text {
		return
	}
	v, err := parseNumber(text)
	g.hasFractions = g.hasFractions || v != math.Trunc(v)
	if err == errNoNumber {
		g.content(text)
		if g.odd++; g.odd == 1 {
			g.cell, g.line = string(text), line
		}
		g.text = g.odd > 100 && !g.mostlyNumbers()
	} else {
		g.digits(text)
		g.size(v, text)
		if _, ok := parseInteger(text); !ok {
			g.fraction = true
		}
	}
}

// mostlyNumbers returns true if some values aren't numbers, but fewer than half.
func (g *guess) mostlyNumbers() bool { return g.odd > 0 && !g.text && 2*g.odd < g.values }

// A typing is the names of columns whose type doesn't follow from the first rows alone.
type typing struct {
	texts, named []string
	lenient      bool // a text among many numbers is a broken line
	keepsCodes   bool // integers that are codes are text
}

func newTyping(req column.OpenOptions) typing {
	return typing{req.Texts, req.TypedColumns, req.Rejects.Lenient(), req.KeepsCodes}
}

// of returns the type of a column. If t is lenient, the column has numbers if nearly all values are
// numbers.
func (t typing) of(name string, g *guess) arrow.DataType {
	typ := g.typ()
	switch {
	case slices.Contains(t.texts, name):
		return arrow.BinaryTypes.String
	case t.keepsCodes && g.isCode() && !slices.Contains(t.named, name):
		return arrow.BinaryTypes.String
	case typ.ID() != arrow.STRING || slices.Contains(t.named, name) || !t.typos(g):
		return typ
	case g.fraction:
		return arrow.PrimitiveTypes.Float64
	}
	return arrow.PrimitiveTypes.Int64
}

// isCode returns true if the integers of a column are codes: some have leading zeros, or all have more than 64 bits.
func (g *guess) isCode() bool {
	return g.whole && g.hasLeadingZeros || g.beyondInt64 && !g.within64Bits && g.odd == 0
}

// typos returns true if so few texts stand among numbers that their lines are taken for broken ones.
func (t typing) typos(g *guess) bool {
	return t.lenient && g.mostlyNumbers() && g.commas < g.odd && few(g.odd, g.values)
}

// textType returns the type that keeps each text of a column; see column.Column. A column without values has integers until a row
// contradicts it.
func (t typing) textType(name string, g *guess) arrow.DataType {
	switch {
	case slices.Contains(t.texts, name):
	case g.allTrueOrFalse && g.values > 0:
		return arrow.FixedWidthTypes.Boolean
	case g.allCanonical && (g.whole || t.typos(g)):
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.BinaryTypes.String
}

// few returns true if so few of all values are odd that their lines are taken for broken ones.
func few(odd, all int) bool { return 10*odd <= all || odd <= 3 && 2*odd < all }

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
