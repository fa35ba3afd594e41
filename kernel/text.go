package kernel

import (
	"halfspace/asm/ref"
	"halfspace/internal/parallel"
)

// DecimalsBefore is the number of bytes that text has before the first number of Decimals.
const DecimalsBefore = 32

// InDecimal tells whether numbers of Decimals may have a byte, so that it can't be the comma.
func InDecimal(b byte) bool { return b == '-' || b == '.' || b-'0' < 10 }

// Decimals reads numbers of delimited text, from the position at on, each up to a comma or a line break,
// while they are digits with at most one point among them, and perhaps a minus before them. It returns how many it read,
// and the position after the last delimiter. With lines it reads on behind a line break, which is "\n". Without lines it
// stops there, and a line break is "\n", or the "\r" of "\r\n".
//
// Decimals reads up to len(values) numbers, and leaves out numbers with a delimiter among the last 63 bytes of
// text, numbers of more than 23 bytes behind their sign, and digits of 922 * 10^16 or more. For each number, it sets
// values to the nearest float64, and forms to the sum of
//
//	position of the delimiter in text, which is below 2^24, << 8
//	minus << 6
//	number of digits behind the point, or 32 without a point
//
// If the digits, read without the point, are 2^53 or more and make an integer, or if their quotient is too near to the
// middle between two float64, it adds DecimalLong to the form, and the value has the digits in place of the bits of
// a float64.
func Decimals(values []float64, forms []uint32, text []byte, at int, comma byte, lines bool) (n, end int) {
	if len(forms) < len(values) {
		panic("kernel: short forms")
	}
	if at < DecimalsBefore || at > len(text) {
		panic("kernel: no room before the numbers")
	}
	if InDecimal(comma) {
		panic("kernel: the comma may be in a number")
	}
	if len(values) == 0 {
		return 0, at
	}
	text = text[:min(len(text), at+panelBytes, 1<<(32-DecimalEnd))]
	stop := ^uint64(0)
	if lines {
		stop = 0
	}
	n, end = decimalsF32(values, forms, text, at, comma, stop)
	parallel.RaceRead(text[:end])
	parallel.RaceWrite(values[:n])
	parallel.RaceWrite(forms[:n])
	return n, end
}

// OddStart tells whether a number of delimited text begins with a point, or with a zero and another digit, behind a minus or not. It
// looks behind each comma and line break that has three bytes behind it.
func OddStart(text []byte, comma byte) bool {
	const least = 35 // bytes of a call
	for len(text) >= least {
		part := text[:min(len(text), panelBytes)]
		text = text[len(part)-3:]
		parallel.RaceRead(part)
		if oddStartF32(part, comma) != 0 {
			return true
		}
	}
	return ref.OddStartF32(text, comma) != 0
}

// Bits of the form of a number that Decimals read.
const (
	DecimalPlaces = 1<<5 - 1 // number of digits behind the point; 0 without a point
	DecimalWhole  = 1 << 5   // there is no point
	DecimalMinus  = 1 << 6   // there is a minus
	DecimalLong   = 1 << 7   // the value has the digits
	DecimalEnd    = 8        // shift of the position of the delimiter
)
