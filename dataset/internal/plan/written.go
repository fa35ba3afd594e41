package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"halfspace/schema"
)

// The words for numbers in texts with a decimal point, and with a decimal comma.
const (
	NumberPoint Word = "number:point"
	NumberComma Word = "number:comma"
)

// pointNumbers takes texts of numbers with a decimal point, such as $1,234.5.
var pointNumbers = written('.', schema.Plain, "number")

// commaNumbers takes texts of numbers with a decimal comma, such as 1.234,5 €.
var commaNumbers = written(',', schema.Comma, "number with a decimal comma")

// written returns the treatment of texts of numbers. point is the decimal mark.
func written(point byte, form schema.Derivation, words string) treatment {
	return treatment{
		readings: func() []reading {
			return []reading{&numberReading{point: point, allAddresses: true, allBeyond: true, countsRows: true}}
		},
		reads: func(c *Counts) *fit {
			if c.decimalMark() != point {
				return nil
			}
			_, f := c.numbers(point)
			return f
		},
		inputs:  func(c *Counts) []schema.Column { return c.derived(form) },
		becomes: alwaysWords(words),
		notes:   func(c *Counts) []string { return c.numberNotes(point) },
	}
}

// decimalMark returns the decimal mark of texts that are numbers, or 0 if the texts of the column are none. Where
// both marks are possible, as in 1,234, the point is the decimal mark, unless the file separates fields by
// semicolons. A group that begins with 0 tells of the other mark: 0,431.
func (c *Counts) decimalMark() byte {
	p, point := c.numbers('.')
	q, comma := c.numbers(',')
	switch {
	case c.Word == NumberPoint:
		comma = nil
	case c.Word == NumberComma:
		point = nil
	}
	switch {
	case point == nil && comma == nil:
		return 0
	case comma == nil, point != nil && q.otherMark && !p.otherMark:
		return '.'
	case point == nil, p.otherMark && !q.otherMark, c.Semicolons && q.hasMark:
		return ','
	}
	return '.'
}

// numbers returns the reading of texts as numbers with a decimal mark, or nil. Codes such as 0123, integers of which
// each has more than 64 bits, IP addresses, and texts with letters for factors beside other texts, are no numbers,
// unless the option type says so.
func (c *Counts) numbers(point byte) (*numberReading, *fit) {
	r, f := best(c, func(r *numberReading) bool { return r.point == point })
	if f == nil || !c.accepts(f) {
		return r, nil
	}
	if c.Word == "" && (r.hasCode && !r.hasMark || r.allAddresses || r.allBeyond || r.letters != "" && len(f.odd) > 0) {
		return r, nil
	}
	return r, f
}

// numberNotes returns notes about other numbers that the texts could be.
func (c *Counts) numberNotes(point byte) (notes []string) {
	r, _ := c.numbers(point)
	other, word := byte('.'), NumberPoint
	if point == '.' {
		other, word = ',', NumberComma
	}
	if o, also := c.numbers(other); c.Word.kind() == c.Word && r.hasMark && (r.otherMark || also != nil && !o.otherMark) {
		taken, _ := schema.ParseWritten(r.example, point)
		note := fmt.Sprintf("%q is read as %s", r.example, plain(taken.Value))
		if c.Semicolons && point == ',' {
			note += ", since fields are apart by semicolons"
		}
		if could, ok := schema.ParseWritten(r.example, other); ok {
			note += c.otherReading(plain(could.Value), string(word))
		}
		notes = append(notes, note)
	}
	if r.letters != "" {
		var factors []string
		for _, letter := range r.letters {
			w, _ := schema.ParseWritten("1"+string(letter), '.')
			factors = append(factors, fmt.Sprintf("%c is %s", letter, plain(w.Value)))
		}
		notes = append(notes, "the letters in its numbers are factors: "+strings.Join(factors, ", "))
	}
	if r.percents > 0 && r.percents < r.texts {
		notes = append(notes, "some of its numbers have %, and others have none: 5% is read as 5")
	}
	if len(r.currencies) > 1 {
		signs := strings.Join(strings.Split(string(r.currencies), ""), " ")
		notes = append(notes, "its numbers have several currency signs, which are left out: "+signs)
	}
	return notes
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// A numberReading reads texts as numbers.
type numberReading struct {
	point        byte // the decimal mark
	texts        int
	countsRows   bool    // each number is whole, and above the number of its row by the same amount
	aboveRow     float64 // that amount
	percents     int     // number of texts with %
	currencies   []rune  // the currency signs
	letters      string  // the letters that multiply numbers
	hasCode      bool    // some text begins with 0 and another digit
	allAddresses bool    // each text is an IP address
	allBeyond    bool    // each text is digits of an integer of more than 64 bits
	hasMark      bool    // some text has a point or a comma
	otherMark    bool    // some text has groups of digits that tell of the other decimal mark
	example      string  // the first text with the other mark, or else with a mark
}

func (r *numberReading) noun() string { return "number" }

func (r *numberReading) read(text string, row int64) bool {
	trimmed := strings.TrimSpace(text)
	w, ok := schema.ParseWritten(text, r.point)
	if !ok {
		return false
	}
	if r.texts++; r.texts == 1 {
		r.aboveRow = w.Value - float64(row)
	}
	r.countsRows = r.countsRows && w.Value-float64(row) == r.aboveRow && w.Value == math.Trunc(w.Value)
	r.hasCode = r.hasCode || len(trimmed) > 1 && trimmed[0] == '0' && unicode.IsDigit(rune(trimmed[1]))
	r.allAddresses = r.allAddresses && isAddress(trimmed)
	r.allBeyond = r.allBeyond && w.Value >= 1<<64 && strings.Trim(trimmed, "0123456789") == ""
	if w.Mark && (!r.hasMark || w.OtherMark && !r.otherMark) {
		r.hasMark, r.example = true, strings.Clone(text)
	}
	r.otherMark = r.otherMark || w.OtherMark
	if w.Percent {
		r.percents++
	}
	if w.Currency != 0 && !slices.Contains(r.currencies, w.Currency) {
		r.currencies = append(r.currencies, w.Currency)
	}
	if w.Letter != 0 && strings.IndexByte(r.letters, w.Letter) < 0 {
		r.letters += string(w.Letter)
	}
	return true
}

// isAddress returns true if a text is an IP address of four bytes, such as 192.168.100.200.
func isAddress(text string) bool {
	parts := strings.Split(text, ".")
	return len(parts) == 4 && !slices.ContainsFunc(parts, func(part string) bool {
		_, err := strconv.ParseUint(part, 10, 8)
		return err != nil
	})
}
