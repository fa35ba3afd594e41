package text

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

// cells are the values of a column of text: integers, numbers, booleans or strings.
type cells struct {
	typ             arrow.Type
	most            int             // maximum number of values
	booleans        bool            // true and false are read as the numbers 1 and 0, because a model accepts both
	keepsTexts      bool            // a text that the column can't keep is an error
	widensToNumbers bool            // of a probe: the column has integers without leading zeros alone
	refusesTexts    bool            // of a probe: a text in a column of integers to keep is a broken line
	skipsTexts      bool            // a text that is no number is missing
	refusesCodes    bool            // an integer with leading zeros is an error
	isNumberLabel   bool            // as column.Column.IsNumberLabel
	readsMarks      bool            // as column.Column.ReadsMarks
	semicolons      bool            // the fields of the file are apart by semicolons
	countsForms     bool            // as column.Column.CountsForms
	odd, marked     column.OddTexts // the skipped or counted texts, and the numbers with marks; Line is the row
	nullIs          *nullWords
	slab            *column.Slab // the memory of numbers; nil: none
	whole           []int64
	numbers         []float64
	rounded         bool    // a whole number was rounded to another number
	keepsDigits     bool    // digits are made when integers become numbers
	exactDigits     bool    // digits have each number as it is written
	digits          *digits // the texts of the numbers; nil: none
	truths          []byte  // a bit for each boolean
	ends            []int32 // end of each string in chars, after a 0
	chars           []byte
	rows            int    // number of booleans
	valid           []byte // a bit for each value; nil if no value is null
	nulls           int
}

func newCells(col column.Column, most int, nulls *nullWords) cells {
	c := cells{typ: col.Type.ID(), most: most, nullIs: nulls, keepsTexts: col.KeepsTexts, skipsTexts: col.SkipsTexts,
		readsMarks: col.ReadsMarks, refusesCodes: col.RefusesCodes && !col.KeepsTexts, isNumberLabel: col.IsNumberLabel,
		countsForms: col.CountsForms}
	switch c.typ {
	case arrow.INT64, arrow.FLOAT64: // see allot
	case arrow.BOOL:
		c.truths = make([]byte, bitutil.BytesForBits(int64(most)))
	default:
		c.ends = append(make([]int32, 0, most+1), 0)
	}
	return c
}

// allot gives the columns of numbers memory for their values, at different cache lines. The caller must call Done when it has made
// the arrays.
func allot(columns []cells, most int) *column.Slab {
	step := int64(most+7)/8*8 | 8 // numbers, an odd number of lines
	n := int64(0)
	for _, c := range columns {
		if c.ofNumbers() {
			n++
		}
	}
	s := column.NewSlab(8 * step * n)
	free := s.Bytes(8 * step * n)
	for k := range columns {
		c := &columns[k]
		if !c.ofNumbers() {
			continue
		}
		c.slab = s
		if part := free[: 8*most : 8*most]; c.typ == arrow.INT64 {
			c.whole = arrow.Int64Traits.CastFromBytes(part)[:0]
		} else {
			c.numbers = arrow.Float64Traits.CastFromBytes(part)[:0]
		}
		free = free[8*step:]
	}
	return s
}

// ofNumbers returns true for a column of integers or numbers. allot gives it memory.
func (c *cells) ofNumbers() bool { return c.typ == arrow.INT64 || c.typ == arrow.FLOAT64 }

// buffer returns numbers as a buffer of Arrow.
func (c *cells) buffer(numbers []byte) *memory.Buffer {
	if c.slab == nil {
		return memory.NewBufferBytes(numbers)
	}
	return c.slab.Buffer(numbers)
}

func (c *cells) Len() int {
	switch c.typ {
	case arrow.INT64:
		return len(c.whole)
	case arrow.FLOAT64:
		return len(c.numbers)
	case arrow.BOOL:
		return c.rows
	}
	return len(c.ends) - 1
}

func (c *cells) Add(text []byte, quoted bool) error {
	if m := c.nullIs.of(text, quoted); m == aNull || m == ambiguous && (c.typ != arrow.STRING || c.isNumberLabel) {
		c.addNull()
		return nil
	}
	if (c.keepsTexts || c.widensToNumbers) && c.typ != arrow.STRING {
		return c.addExact(text)
	}
	switch c.typ {
	case arrow.INT64, arrow.FLOAT64:
		if c.refusesCodes && isPadded(text) {
			return &Contradiction{quote(text), false, fmt.Errorf("%s has leading zeros, unlike the first rows: correct it", quote(text))}
		}
		if c.typ == arrow.INT64 {
			if v, ok := parseInteger(text); ok {
				c.countForm(text, float64(v))
				c.whole = append(c.whole, v)
				return nil
			}
		}
		v, err := c.parse(text)
		switch {
		case err != nil && c.skipsTexts:
			c.skip(text)
			return nil
		case err != nil:
			return c.unfit(text, err)
		case c.nullIs.number(v):
			c.addNull()
			return nil
		}
		if c.typ == arrow.INT64 {
			c.widen()
		}
		c.countForm(text, v)
		c.numbers = append(c.numbers, v)
		c.rounded = c.rounded || isRounded(text, v)
		if c.digits != nil {
			c.digits.add(text, v)
		}
	case arrow.BOOL:
		v, ok := truth(text)
		if !ok {
			return c.unfit(text, errors.New("is neither true nor false"))
		}
		c.addTruth(v == 1)
	default:
		if !utf8.Valid(text) {
			return fmt.Errorf("%s is not valid UTF-8: save it as UTF-8, or convert it: iconv -f cp1252 -t utf-8", quote(text))
		}
		c.chars = append(c.chars, text...)
		c.ends = append(c.ends, int32(len(c.chars)))
	}
	return nil
}

// skip adds a null in place of a text.
func (c *cells) skip(text []byte) {
	c.odd.Add(int64(c.Len()), string(text), 0)
	c.addNull()
}

// countForm counts the text of the number v, if the column counts forms and the text isn't written as the number.
func (c *cells) countForm(text []byte, v float64) {
	if c.countsForms && isOddForm(text, v) {
		c.odd.Add(int64(c.Len()), string(text), 0)
	}
}

// isOddForm returns true if the text of the number v has a plus, leading zeros, no digit before its point, or an exponent that
// makes an integer: two such texts may be one number. Zeros at the end of a fraction, and small or large numbers with exponents,
// are usual.
func isOddForm(text []byte, v float64) bool {
	whole := v == math.Trunc(v) && math.Abs(v) < 1<<53
	return hasOddStart(text) || whole && bytes.ContainsAny(text, "eE")
}

// hasOddStart returns true if the number at the beginning of text has a plus, leading zeros, or no digit before its point.
func hasOddStart(text []byte) bool {
	if startsWithOneDigit(text) {
		return false
	}
	if text[0] == '-' {
		text = text[1:]
	}
	return text[0]-'1' >= 9 && (text[0] == '+' || text[0] == '.' || isCode(text))
}

func (c *cells) addTruth(v bool) {
	bitutil.SetBitTo(c.truths, c.rows, v)
	c.rows++
}

// addExact adds a text to a column of canonical integers or of booleans, or returns an error if the column can't keep the text.
func (c *cells) addExact(text []byte) error {
	v, whole := parseInteger(text)
	switch {
	case c.typ == arrow.INT64 && whole && (isCanonical(text) || c.widensToNumbers && !isPadded(text)):
		c.addWhole(v)
	case c.typ == arrow.BOOL && isTruth(text):
		c.addTruth(text[0]|0x20 == 't')
	case c.isNullNumber(text):
		c.addNull()
	case c.refusesTexts && !isNumber(text):
		return c.unfit(text, errNoNumber)
	default:
		return &Contradiction{quote(text), true, fmt.Errorf("%s doesn't fit the type of the first rows: correct it", quote(text))}
	}
	return nil
}

// isNullNumber returns true if text is a number that means a null.
func (c *cells) isNullNumber(text []byte) bool {
	v, err := parseNumber(text)
	return err == nil && c.nullIs.number(v)
}

// parse returns the number in text. If c.booleans is set, it returns 1 or 0 for a boolean.
func (c *cells) parse(text []byte) (float64, error) {
	v, err := parseNumber(text)
	if err == nil {
		return v, nil
	}
	if b, ok := truth(text); c.booleans && ok {
		return b, nil
	}
	if c.readsMarks {
		if m, ok := column.MarkedNumber(string(text), c.semicolons); ok {
			c.marked.Add(int64(c.Len()), string(text), m)
			return m, nil
		}
	}
	return v, err
}

func (c *cells) widen() {
	c.typ, c.numbers = arrow.FLOAT64, make([]float64, 0, c.most)
	if c.keepsDigits {
		c.digits = newDigits(c.most, c.exactDigits)
		for _, v := range c.whole {
			c.digits.end(strconv.AppendInt(c.digits.chars, v, 10))
		}
	}
	for _, v := range c.whole {
		f := float64(v)
		c.numbers = append(c.numbers, f)
		c.rounded = c.rounded || f == 1<<63 || int64(f) != v
	}
	c.whole = nil
}

// A Contradiction is the error that a text contradicts the type of its column, which the first rows determined.
type Contradiction struct {
	Text    string // in quotes, shortened
	IsExact bool   // the column must keep its texts, as labels, categories and kept values do: 01 contradicts integers
	Err     error
}

func (c *Contradiction) Error() string { return c.Err.Error() }

func (c *Contradiction) Unwrap() error { return c.Err }

// contradicts returns true if err is a Contradiction; with exact, only of a column that must keep its texts.
func contradicts(err error, exact bool) bool {
	c := (*Contradiction)(nil)
	return errors.As(err, &c) && (c.IsExact || !exact)
}

// unfit returns the error if text doesn't fit the column, whose type was determined by the first rows.
func (c *cells) unfit(text []byte, err error) error {
	if err == errNoNumber && comma().Match(text) {
		return &Contradiction{quote(text), false, fmt.Errorf("%s has a comma, unlike the first rows: write numbers with a decimal "+
			"point alone, such as 1234.5", quote(text))}
	}
	if err != errNoNumber && c.typ != arrow.BOOL {
		return &Contradiction{quote(text), false, message.Errorf("%s %w: correct it, or leave the column out with --exclude",
			quote(text), err)}
	}
	return &Contradiction{quote(text), false, message.Errorf("%s %w, unlike the first rows: correct it, leave the column out "+
		"with --exclude, or use %s if it stands for no value", quote(text), err, c.nullIs.advice(string(text), nil))}
}

// quote returns text in quotes, shortened to 40 bytes.
func quote(text []byte) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

func (c *cells) addNull() {
	if c.valid == nil {
		c.valid = bytes.Repeat([]byte{0xff}, int(bitutil.BytesForBits(int64(c.most))))
	}
	bitutil.ClearBit(c.valid, c.Len())
	c.nulls++
	switch c.typ {
	case arrow.INT64:
		c.whole = append(c.whole, 0)
	case arrow.FLOAT64:
		c.numbers = append(c.numbers, 0)
		if c.digits != nil {
			c.digits.end(c.digits.chars)
		}
	case arrow.BOOL:
		c.rows++
	default:
		c.ends = append(c.ends, int32(len(c.chars)))
	}
}

// array returns the values as an array that shares their memory.
func (c *cells) array() arrow.Array {
	buffers := []*memory.Buffer{nil}
	if c.valid != nil {
		buffers[0] = memory.NewBufferBytes(c.valid)
	}
	var typ arrow.DataType
	switch c.typ {
	case arrow.INT64:
		typ = arrow.PrimitiveTypes.Int64
		buffers = append(buffers, c.buffer(arrow.Int64Traits.CastToBytes(c.whole)))
	case arrow.FLOAT64:
		typ = arrow.PrimitiveTypes.Float64
		buffers = append(buffers, c.buffer(arrow.Float64Traits.CastToBytes(c.numbers)))
	case arrow.BOOL:
		typ = arrow.FixedWidthTypes.Boolean
		buffers = append(buffers, memory.NewBufferBytes(c.truths))
	default:
		typ = arrow.BinaryTypes.String
		buffers = append(buffers, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.ends)), memory.NewBufferBytes(c.chars))
	}
	data := array.NewData(typ, c.Len(), buffers, nil, c.nulls, 0)
	defer data.Release()
	defer buffers[1].Release()
	return array.MakeFromData(data)
}

// truth returns 1 for true or 1, and 0 for false or 0.
func truth(text []byte) (v float64, ok bool) {
	if isTruth(text) {
		return map[bool]float64{true: 1}[text[0]|0x20 == 't'], true
	}
	v, err := parseNumber(text)
	return v, err == nil && (v == 0 || v == 1)
}

func isTruth(text []byte) bool {
	return bytes.EqualFold(text, []byte("true")) || bytes.EqualFold(text, []byte("false"))
}
