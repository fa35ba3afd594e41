package text

import (
	"bytes"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// digits are the texts of the numbers of a column, as column.Batch.Digits has them.
type digits struct {
	exact bool    // each number is as it is written
	ends  []int32 // end of each text in chars, after a 0
	chars []byte
}

func newDigits(most int, exact bool) *digits {
	return &digits{exact: exact, ends: append(make([]int32, 0, most+1), 0)}
}

// add adds a number as it is written if that is an integer, otherwise its value, unless d.exact is true.
func (d *digits) add(text []byte, v float64) {
	text = bytes.TrimSpace(text)
	other := func(r rune) bool { return r < '0' || r > '9' }
	switch digits := bytes.TrimLeft(text, "+-"); {
	case d.exact:
		d.end(append(d.chars, text...))
	case len(digits)+1 < len(text), len(digits) == 0, bytes.ContainsFunc(digits, other):
		d.addValue(v)
	default:
		d.end(append(d.chars, text...))
	}
}

// addValue adds a number. Only integers up to 2^53 are written as integers: a greater one may have been rounded.
func (d *digits) addValue(v float64) {
	form := byte('f')
	if math.Abs(v) > 1<<53 {
		form = 'e'
	}
	d.end(strconv.AppendFloat(d.chars, v, form, -1, 64))
}

// end ends a text, of which chars has the last characters.
func (d *digits) end(chars []byte) {
	d.chars = chars
	d.ends = append(d.ends, int32(len(chars)))
}

func (d *digits) array() arrow.Array {
	ends, chars := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(d.ends)), memory.NewBufferBytes(d.chars)
	data := array.NewData(arrow.BinaryTypes.String, len(d.ends)-1, []*memory.Buffer{nil, ends, chars}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
