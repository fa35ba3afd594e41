package text

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/kernel"
)

// decimals reads numbers in their plainest form, several at a time.
type decimals struct {
	values []float64 // of ahead numbers, see kernel.Decimals; empty if the delimiter may be in a number
	forms  []uint32  // of a record
	runs   []*run    // for each field of a run its run, for others nil
	nulls  bool      // some numbers mean a null
	whole  *run      // the run that has all fields; nil: none
	wait   int       // number of records that are read one by one before several are read at once
	pause  int       // the last such number; 0 if several were read since
}

// ahead is the number of numbers that are read at a time, unless a whole run is expected: the numbers behind one that isn't added are read
// again.
const ahead = 64

// A run is neighbouring fields that are numbers or not selected. It keeps the numbers of some records, to add them to each column at once.
type run struct {
	first         int       // the first field
	columns       []*cells  // for each field its column, or nil if it isn't selected
	must          []uint32  // for each field, the bits of a form, of DecimalWhole and DecimalLong, that its column depends on
	keptTexts     []int     // fields whose column keeps texts: each number must be canonical
	integerFields []int     // fields whose column had integers at first
	seen          []int     // fields whose column refuses integers with leading zeros, or counts forms
	records       int       // number of kept records
	values        []float64 // of the kept records, and of the next one
}

func (f *CsvFile) newDecimals() (d decimals) {
	if f.Comma != blanks && !kernel.InDecimal(f.Comma) && strings.IndexByte("+eE", f.Comma) < 0 {
		d.values, d.forms = make([]float64, ahead), make([]uint32, max(ahead, len(f.names)))
	}
	return d
}

// into makes read add the numbers of the file to its columns. The caller must call flush after the last record.
func (d *decimals) into(f *CsvFile, to []cells) {
	d.nulls = len(f.nulls.numbers) > 0
	d.runs = make([]*run, len(f.place))
	var r *run
	for n, k := range f.place {
		var c *cells
		if k >= 0 {
			if c = &to[k]; !c.ofNumbers() || c.exactDigits || f.second != nil && f.second[n] >= 0 {
				r = nil
				continue
			}
		}
		if r == nil {
			r = &run{first: n}
		}
		if c != nil && c.keepsTexts {
			r.keptTexts = append(r.keptTexts, n-r.first)
		}
		if c != nil && (c.refusesCodes || c.countsForms) {
			r.seen = append(r.seen, n-r.first)
		}
		r.columns = append(r.columns, c)
		d.runs[n] = r
	}
	for n, r := range d.runs {
		if r != nil && r.first == n {
			r.must = make([]uint32, len(r.columns))
			for i, c := range r.columns {
				if r.expect(i); c != nil && c.typ == arrow.INT64 {
					r.integerFields = append(r.integerFields, i)
				}
			}
			r.values = make([]float64, keptRecords(len(r.columns))*len(r.columns))
		}
	}
	if len(d.values) > 0 && len(d.runs) > 0 && d.runs[0] != nil && len(d.runs[0].columns) == len(d.runs) && !d.nulls {
		d.whole = d.runs[0]
		d.forms = make([]uint32, max(len(d.forms), len(d.whole.values)))
	}
}

// keptRecords returns the number of records that a run keeps: numbers that fit the first-level cache, or a cache line for each column.
func keptRecords(columns int) int {
	return max(1<<10/columns, min(8, 1<<19/columns), 1)
}

// expect sets the form of the numbers of field i.
func (r *run) expect(i int) {
	switch c := r.columns[i]; {
	case c == nil:
	case c.typ == arrow.INT64:
		r.must[i] = kernel.DecimalWhole | kernel.DecimalLong
	default:
		r.must[i] = kernel.DecimalLong
	}
}

// fits returns true if all numbers of a record have the expected forms. It returns false for a minus zero, which a column of integers can't
// hold.
func (r *run) fits(values []float64, forms []uint32) bool {
	odd, all := uint32(0), uint32(0)
	must := r.must[:len(forms)]
	for i, form := range forms {
		odd |= (form ^ kernel.DecimalWhole) & must[i]
		all |= form
	}
	return odd == 0 && (all&kernel.DecimalMinus == 0 || !slices.ContainsFunc(values, isMinusZero))
}

func isMinusZero(v float64) bool { return math.Float64bits(v) == 1<<63 }

// flush adds the kept numbers to their columns.
func (r *run) flush() {
	if r.records == 0 {
		return
	}
	width := len(r.columns)
	for i, c := range r.columns {
		kept := r.values[i : (r.records-1)*width+i+1]
		switch {
		case c == nil:
		case c.typ == arrow.INT64:
			c.whole = addEach(c.whole, kept, width)
		default:
			c.numbers = addEach(c.numbers, kept, width)
			for j := 0; j < len(kept) && c.digits != nil; j += width {
				c.digits.addValue(kept[j])
			}
		}
	}
	r.records = 0
}

// addEach adds every step-th of the values, from the first one on.
func addEach[T int64 | float64](to []T, values []float64, step int) []T {
	n := (len(values) + step - 1) / step
	to = slices.Grow(to, n)[:len(to)+n]
	k, added := 0, to[len(to)-n:]
	for ; len(added) >= 4; added = added[4:] {
		added[0], added[1], added[2], added[3] = T(values[k]), T(values[k+step]), T(values[k+2*step]), T(values[k+3*step])
		k += 4 * step
	}
	for i := range added {
		added[i] = T(values[k])
		k += step
	}
	return to
}

// flush adds the kept numbers of all runs to their columns.
func (d *decimals) flush() {
	for n, r := range d.runs {
		if r != nil && r.first == n {
			r.flush()
		}
	}
}

// scan reads numbers of the record, up to as many as values has. It returns how many. A call of kernel.Decimals reads a
// part of a long record.
func (d *decimals) scan(s *scanner, values []float64) (count int) {
	if len(values) == 0 || s.pos < kernel.DecimalsBefore {
		return 0
	}
	text := s.text[s.pos-kernel.DecimalsBefore:]
	for at := kernel.DecimalsBefore; count < len(values); {
		n, end := kernel.Decimals(values[count:], d.forms[count:], text, at, s.Comma, false)
		count += n
		if end-at < partBytes || text[end-1] == '\n' || text[end-1] == '\r' || end > longestScan {
			break
		}
		at = end
	}
	return count
}

const (
	partBytes   = 64 << 10 // a shorter part ends before something else than a number
	longestScan = 15 << 20 // kernel.Decimals reads up to byte 2^24
)

// skip skips the first numbers that scan read.
func (d *decimals) skip(s *scanner, count int) {
	if count == 0 {
		return
	}
	end := d.end(s, count-1)
	if s.text[end] == '\r' {
		end++
	}
	s.pos = end + 1
	if s.text[end] == '\n' {
		s.line++
		s.more = false
	}
}

// read reads fields of the record from field n on, as long as they are numbers that kernel.Decimals reads and their columns can hold. It
// returns the number of fields.
func (d *decimals) read(s *scanner, n int) int {
	if len(d.values) == 0 || n >= len(d.runs) || d.runs[n] == nil {
		return 0
	}
	r := d.runs[n]
	i := n - r.first
	values := r.values[r.records*len(r.columns):][:len(r.columns)-i]
	if i > 0 {
		values = values[:min(len(values), ahead)]
	}
	count := d.scan(s, values)
	if count == len(r.columns) && !d.nulls && d.keeps(s, r, values) {
		if r.records++; len(r.values) == r.records*len(r.columns) {
			r.flush()
		}
	} else {
		r.flush()
		count = d.add(s, r, i, values[:count])
	}
	d.skip(s, count)
	return count
}

// records reads records of numbers that all columns can hold, from the beginning of a record on, and returns how many. Where it finds
// none, it tries again some records later, because a record that it tried is read again.
func (d *decimals) records(s *scanner) (n int) {
	r := d.whole
	if r == nil || s.pos < kernel.DecimalsBefore || s.header != nil && kernel.InDecimal(s.header[0]) { // a record may repeat the header
		return 0
	}
	if d.wait > 0 {
		d.wait--
		return 0
	}
	width := len(r.columns)
	values := r.values[r.records*width:]
	n = d.fullRecordCount(s, width, d.scanLines(s, r, values))
	n = d.keptRecordCount(s, r, values[:n*width])
	if n == 0 {
		d.wait, d.pause = d.pause, min(2*d.pause+1, 63)
		return 0
	}
	d.pause = 0
	d.skip(s, n*width)
	s.line += int64(n - 1)
	if r.records += n; len(r.values) == r.records*width {
		r.flush()
	}
	return n
}

// fullRecordCount returns how many of the records that scanLines read have a number in each field. count is the number of their numbers.
func (d *decimals) fullRecordCount(s *scanner, width, count int) (n int) {
	behind := s.pos
	for last := width - 1; last < count && s.text[d.end(s, last)] == '\n'; last += width {
		n, behind = n+1, d.end(s, last)+1
	}
	if bytes.Count(s.text[s.pos:behind], []byte{'\n'}) == n {
		return n
	}
	for i, at := 0, s.pos; ; i++ { // a record has fewer fields
		last := d.end(s, (i+1)*width-1)
		if at += bytes.IndexByte(s.text[at:], '\n'); at != last {
			return i
		}
		at++
	}
}

// keptRecordCount returns how many of the first records the columns of the run r, which has all fields, can hold. values are their numbers.
func (d *decimals) keptRecordCount(s *scanner, r *run, values []float64) (n int) {
	forms, width := d.forms[:len(values)], len(r.columns)
	odd, integerFields := oddities(forms), r.integerFields
	if odd&kernel.DecimalWhole == 0 {
		integerFields = nil
	}
	seen := r.seen
	if len(seen) > 0 && len(values) > 0 && !d.haveOddStart(s, len(values)) {
		seen = nil
	}
	plain := odd&kernel.DecimalLong == 0 && (odd&kernel.DecimalMinus == 0 || !slices.ContainsFunc(values, isMinusZero))
	for ; len(forms) > 0; n++ {
		fits := plain && areWhole(forms, integerFields) || !plain && r.fits(values[n*width:][:width], forms[:width])
		if !fits || !d.canonical(s, n*width, r.keptTexts) || d.oddStart(s, n*width, seen) {
			break
		}
		forms = forms[width:]
	}
	return n
}

// areWhole returns true if the chosen numbers have no point.
func areWhole(forms []uint32, chosen []int) bool {
	for _, k := range chosen {
		if forms[k]&kernel.DecimalWhole == 0 {
			return false
		}
	}
	return true
}

// oddities returns the bits that any of the forms has, and DecimalWhole only if any of them has it not.
func oddities(forms []uint32) uint32 {
	any, all := uint32(0), ^uint32(0)
	for ; len(forms) >= 4; forms = forms[4:] {
		any |= forms[0] | forms[1] | forms[2] | forms[3]
		all &= forms[0] & forms[1] & forms[2] & forms[3]
	}
	for _, form := range forms {
		any, all = any|form, all&form
	}
	return any&^kernel.DecimalWhole | ^all&kernel.DecimalWhole
}

// keeps returns true if the columns of a run can hold the values of a record.
func (d *decimals) keeps(s *scanner, r *run, values []float64) bool {
	return r.fits(values, d.forms[:len(values)]) && d.canonical(s, 0, r.keptTexts) && !d.oddStart(s, 0, r.seen)
}

// scanLines reads numbers of records, up to as many as values has. In columns of numbers, they may have an exponent. It returns how many.
func (d *decimals) scanLines(s *scanner, r *run, values []float64) (count int) {
	text := s.text[s.pos-kernel.DecimalsBefore:]
	for at := kernel.DecimalsBefore; ; {
		n, end := kernel.Decimals(values[count:], d.forms[count:], text, at, s.Comma, true)
		count, at = count+n, end
		if count == len(values) || at > longestScan || !r.columns[count%len(r.columns)].holdsAll() {
			return count
		}
		v, length := parseDecimal(text[at:])
		at += length
		if length == 0 || at == len(text) || text[at] != s.Comma && text[at] != '\n' {
			return count
		}
		values[count], d.forms[count] = v, uint32(at)<<kernel.DecimalEnd
		count, at = count+1, at+1
	}
}

// holdsAll returns true for a column that holds all numbers, however they are written.
func (c *cells) holdsAll() bool {
	return c != nil && c.typ == arrow.FLOAT64 && !c.refusesCodes && !c.countsForms && !c.keepsTexts
}

// end returns the position of the delimiter behind number k of the numbers that were read.
func (d *decimals) end(s *scanner, k int) int {
	return s.pos - kernel.DecimalsBefore + int(d.forms[k]>>kernel.DecimalEnd)
}

// number returns the text from number k on of the numbers that were read.
func (d *decimals) number(s *scanner, k int) []byte {
	if k == 0 {
		return s.text[s.pos:]
	}
	return s.text[d.end(s, k-1)+1:]
}

// canonical returns true if the chosen numbers behind number first are written canonically.
func (d *decimals) canonical(s *scanner, first int, numbers []int) bool {
	for _, k := range numbers {
		if !isCanonical(d.number(s, first+k)) {
			return false
		}
	}
	return true
}

// haveOddStart returns true if any of the first numbers that were read may have an odd start.
func (d *decimals) haveOddStart(s *scanner, count int) bool {
	behind := d.end(s, count-1) + 3 // a delimiter is looked at if three bytes are behind it
	return hasOddStart(s.text[s.pos:]) || kernel.OddStart(s.text[s.pos:min(behind, len(s.text))], s.Comma)
}

// oddStart returns true if a chosen number behind number first has a plus, leading zeros, or no digit before its point.
func (d *decimals) oddStart(s *scanner, first int, numbers []int) bool {
	for _, k := range numbers {
		if hasOddStart(d.number(s, first+k)) {
			return true
		}
	}
	return false
}

// add adds the numbers of fields from field i of a run on, as long as their columns can hold them. It returns how many.
func (d *decimals) add(s *scanner, r *run, i int, values []float64) int {
	for k, v := range values {
		if c := r.columns[i+k]; c != nil {
			text := d.number(s, k)
			odd := c.keepsTexts && !isCanonical(text) || c.refusesCodes && isCode(text) || c.countsForms && hasOddStart(text)
			if odd || !c.addDecimal(v, d.forms[k]) {
				return k
			}
			r.expect(i + k)
		}
	}
	return len(values)
}

// infer adds the next fields of a record to the guesses about them, as long as they are numbers that guess.plain reads. It returns the
// number of fields.
func (d *decimals) infer(s *scanner, guesses []guess) int {
	most := 0
	for most < min(len(guesses), len(d.values)) && !guesses[most].text {
		most++
	}
	count, at := d.scan(s, d.values[:most]), s.pos
	for i, form := range d.forms[:count] {
		if form&kernel.DecimalLong != 0 {
			count = i
			break
		}
		g, v := &guesses[i], d.values[i]
		switch {
		case !g.whole || form&kernel.DecimalWhole == 0 || v == 0 && form&kernel.DecimalMinus != 0:
			g.number(v, s.text[at:])
		case !g.nulls.number(v):
			g.integer(int64(v), s.text[at:])
		}
		at = s.pos - kernel.DecimalsBefore + int(form>>kernel.DecimalEnd) + 1
	}
	d.skip(s, count)
	return count
}

// addDecimal adds a number that kernel.Decimals read. It returns false for numbers that Add treats in another way.
func (c *cells) addDecimal(v float64, form uint32) bool {
	minus := form&kernel.DecimalMinus != 0
	digits := math.Float64bits(v)
	switch {
	case c.typ == arrow.INT64:
		if form&kernel.DecimalLong == 0 {
			digits = uint64(math.Abs(v))
		}
		whole := int64(digits)
		if form&kernel.DecimalWhole == 0 || whole < 0 || minus && whole == 0 {
			return false
		}
		if minus {
			whole = -whole
		}
		c.addWhole(whole)
		return true
	case form&kernel.DecimalLong != 0:
		var ok bool
		if v, ok = longDecimal(digits, -int(form&kernel.DecimalPlaces)); !ok {
			return false
		}
		if minus {
			v = -v
		}
	}
	c.addNumber(v)
	return true
}

// addNumber adds a number to a column of numbers.
func (c *cells) addNumber(v float64) {
	if c.nullIs.number(v) {
		c.addNull()
		return
	}
	c.numbers = append(c.numbers, v)
	if c.digits != nil {
		c.digits.addValue(v)
	}
}

// addWhole is addNumber for integers.
func (c *cells) addWhole(v int64) {
	if c.nullIs.number(float64(v)) {
		c.addNull()
	} else {
		c.whole = append(c.whole, v)
	}
}
