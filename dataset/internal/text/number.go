package text

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"unsafe"

	"halfspace/internal/humanize"
)

// tens are the powers of ten that float64 holds exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18, 1e19, 1e20, 1e21, 1e22}

// parseDecimal parses the decimal number at the beginning of text. It returns its value, which equals the result of
// strconv.ParseFloat, and its length. The length is 0 if there is no number, or if its value takes more than one
// rounding. One rounding is enough for digits that float64 holds exactly, multiplied or divided by a power of ten
// that it holds exactly (Clinger, PLDI 1990).
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
	if count == 0 || count > 19 || digits > 1<<53 { // 19 digits can't overflow
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
	if exponent < -22 || exponent > 22 {
		return 0, 0
	}
	v = float64(digits)
	if exponent < 0 {
		v /= tens[-exponent]
	} else {
		v *= tens[exponent]
	}
	if negative {
		v = -v
	}
	return v, n
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
