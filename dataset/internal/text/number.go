package text

import (
	"bytes"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"halfspace/internal/humanize"
)

// tens are the powers of ten that float64 holds exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18, 1e19, 1e20, 1e21, 1e22}

// parseDecimal parses the decimal number at the beginning of text. It returns its value, which equals the result of
// strconv.ParseFloat, and its length. The length is 0 if there is no number, or if decimal doesn't return its value.
func parseDecimal(text []byte) (v float64, n int) {
	negative := false
	if n < len(text) && (text[n] == '-' || text[n] == '+') {
		negative = text[n] == '-'
		n++
	}
	digits, whole := uint64(0), n
	for ; n < len(text) && text[n]-'0' < 10; n++ {
		digits = digits*10 + uint64(text[n]-'0')
	}
	count, exponent := n-whole, 0
	if n < len(text) && text[n] == '.' {
		n++
		point := n
		for ; n < len(text) && text[n]-'0' < 10; n++ {
			digits = digits*10 + uint64(text[n]-'0')
		}
		exponent = point - n
		count += n - point
	}
	if count == 0 || count > 19 { // 19 digits can't overflow
		return 0, 0
	}
	if n < len(text) && text[n]|0x20 == 'e' {
		e, length := parseWhole(text[n+1:])
		if length == 0 || e < -99 || e > 99 {
			return 0, 0
		}
		n += 1 + length
		exponent += int(e)
	}
	v, ok := decimal(digits, exponent)
	if !ok {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, n
}

// decimal returns digits, which are below 10^19, times a power of ten, rounded once to float64. It returns false for some large
// exponents. It also returns false for digits above 2^53 that make a whole number: float64 may lack some of the digits, and callers tell
// of a whole number that was rounded.
//
// One rounding is enough for digits that float64 holds exactly, multiplied or divided by a power of ten that it holds exactly (Clinger,
// PLDI 1990).
func decimal(digits uint64, exponent int) (v float64, ok bool) {
	switch {
	case digits > 1<<53:
		return longDecimal(digits, exponent)
	case exponent < -22 || exponent > 22:
		return 0, false
	case exponent < 0:
		return float64(int64(digits)) / tens[-exponent], true
	}
	return float64(int64(digits)) * tens[exponent], true
}

// fives are the powers of five that uint64 holds.
var fives = func() (f [28]uint64) {
	for i, v := 0, uint64(1); i < len(f); i, v = i+1, 5*v {
		f[i] = v
	}
	return f
}()

// longDecimal is decimal for digits above 2^53. It divides them by a power of five to 62 bits or more, and sets the
// lowest bit if there is a remainder. Rounding these bits to float64 then rounds the exact quotient. Powers of two
// change no rounding, because the result is far from the ends of the range of float64.
func longDecimal(digits uint64, exponent int) (v float64, ok bool) {
	if exponent >= 0 || exponent <= -len(fives) {
		return 0, false
	}
	five := fives[-exponent]
	lead, shift := bits.LeadingZeros64(digits), bits.LeadingZeros64(five)
	m := digits << lead
	q, r := bits.Div64(m>>1, m<<63, five<<shift) // 2^63 * m / (five << shift), from 2^62 to 2^64
	odd := q & 1
	if r != 0 {
		odd = 1
	}
	v = float64(int64(q>>1|odd)) * math.Float64frombits(uint64(1023+shift-lead+exponent-62)<<52)
	return v, v < 1<<53 && v != float64(int64(v))
}

// parseWhole parses the integer of at most 18 digits at the beginning of text. It returns its value and its length,
// or length 0 if there is none. Minus zero isn't accepted, because int64 has no minus zero.
func parseWhole(text []byte) (v int64, n int) {
	negative := false
	if n < len(text) && (text[n] == '-' || text[n] == '+') {
		negative = text[n] == '-'
		n++
	}
	start := n
	for ; n < len(text) && text[n]-'0' < 10; n++ {
		v = v*10 + int64(text[n]-'0')
	}
	if n == start || n-start > 18 || negative && v == 0 {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, n
}

// parseInteger parses all of text as an integer. The result is false if int64 can't hold it.
func parseInteger(text []byte) (int64, bool) {
	if v, n := parseWhole(text); n > 0 && n == len(text) {
		return v, true
	}
	v, err := strconv.ParseInt(unsafe.String(unsafe.SliceData(text), len(text)), 10, 64)
	return v, err == nil && v != 0
}

// isRounded returns true if text is a whole number, and v, the value read from it, has other digits, both exactly and
// in its shortest form.
func isRounded(text []byte, v float64) bool {
	digits := bytes.TrimLeft(text, "+-0")
	if len(digits) < 16 || bytes.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return false
	}
	v = math.Abs(v)
	return string(digits) != strconv.FormatFloat(v, 'f', 0, 64) && string(digits) != strconv.FormatFloat(v, 'f', -1, 64)
}

var errNoNumber = errors.New("is not a number")

// parseNumber parses all of text as humanize.ParseNumber does.
func parseNumber(text []byte) (float64, error) {
	if v, n := parseDecimal(text); n > 0 && n == len(text) {
		return v, nil
	}
	v, err := humanize.ParseNumber(unsafe.String(unsafe.SliceData(text), len(text)))
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("is too large for float64")
	case err != nil:
		return 0, errNoNumber
	}
	return v, nil
}
