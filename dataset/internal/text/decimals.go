package text

import (
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/kernel"
)

// decimals reads numbers in their plainest form, several at a time.
type decimals struct {
	values  []float64 // see kernel.Decimals; empty if the delimiter may be in a number
	forms   []uint32
	columns []*cells // for each field, its column; nil if it isn't selected
	runs    []int    // for each field, the number of fields from it on that are numbers or not selected
	nulls   bool     // some numbers mean a null
}

func (f *CsvFile) newDecimals() (d decimals) {
	if f.Comma != blanks && !kernel.InDecimal(f.Comma) && strings.IndexByte("+eE", f.Comma) < 0 {
		d.values, d.forms = make([]float64, len(f.names)), make([]uint32, len(f.names))
	}
	return d
}

// into makes read add the numbers of the file to its columns.
func (d *decimals) into(f *CsvFile, to []cells) {
	d.nulls = len(f.nulls.numbers) > 0
	d.columns, d.runs = make([]*cells, len(f.place)), make([]int, len(f.place))
	run := 0
	for n := len(f.place) - 1; n >= 0; n-- {
		run++
		if k := f.place[n]; k >= 0 {
			if d.columns[n] = &to[k]; !to[k].ofNumbers() {
				run = 0
			}
		}
		d.runs[n] = run
	}
}

// scan reads up to most numbers of the record. It returns how many.
func (d *decimals) scan(s *scanner, most int) int {
	if most = min(most, len(d.values)); most == 0 || s.pos < kernel.DecimalsBefore {
		return 0
	}
	count, _ := kernel.Decimals(d.values[:most], d.forms, s.text, s.pos, s.Comma)
	return count
}

// skip skips the first numbers that scan read.
func (d *decimals) skip(s *scanner, count int) {
	if count == 0 {
		return
	}
	end := s.pos - kernel.DecimalsBefore + int(d.forms[count-1]>>kernel.DecimalEnd)
	s.pos = end + 1
	if s.text[end] == '\n' {
		s.line++
		s.more = false
	}
}

// read reads fields of the record from field n on, as long as they are numbers that kernel.Decimals reads and their columns can hold. It
// returns the number of fields.
func (d *decimals) read(s *scanner, n int) int {
	if n >= len(d.runs) {
		return 0
	}
	count := d.scan(s, d.runs[n])
	forms := d.forms[:count]
	values, columns := d.values[:len(forms)], d.columns[n:][:len(forms)]
fields:
	for i, form := range forms {
		c, v := columns[i], values[i]
		switch {
		case c == nil:
		case c.typ == arrow.FLOAT64 && form&kernel.DecimalLong == 0 && !d.nulls:
			c.numbers = append(c.numbers, v)
		case c.typ == arrow.INT64 && form&(kernel.DecimalLong|kernel.DecimalWhole) == kernel.DecimalWhole && (v != 0 || form&kernel.DecimalMinus == 0) && !d.nulls:
			c.whole = append(c.whole, int64(v))
		case !c.addDecimal(v, form):
			count = i
			break fields
		}
	}
	d.skip(s, count)
	return count
}

// infer adds the next fields of a record to the guesses about them, as long as they are numbers that guess.plain reads. It returns the
// number of fields.
func (d *decimals) infer(s *scanner, guesses []guess) int {
	run := 0
	for run < len(guesses) && !guesses[run].text {
		run++
	}
	count := d.scan(s, run)
	for i, form := range d.forms[:count] {
		if form&kernel.DecimalLong != 0 {
			count = i
			break
		}
		g, v := &guesses[i], d.values[i]
		switch {
		case !g.whole || form&kernel.DecimalWhole == 0 || v == 0 && form&kernel.DecimalMinus != 0:
			g.number(v)
		case !g.nulls.number(v):
			g.truths = g.truths && (v == 0 || v == 1)
			g.values++
		}
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
	} else {
		c.numbers = append(c.numbers, v)
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
