package ref

import "math"

func DecimalsF32(values []float64, forms []uint32, text []byte, at int, comma uint8) (n, end int) {
	const block = 64
	last := at + (len(text)-at)/block*block
	long := false
	for i := at; i < last && n < len(values); i++ {
		if text[i] != comma && text[i] != '\n' {
			continue
		}
		digits, form, ok := decimal(text[at:i])
		if !ok {
			break
		}
		v, exact := quotient(digits, divisors[form], long)
		if long = long || digits >= 1<<53; !exact {
			v, form = math.Float64frombits(digits), form|1<<7
		}
		values[n], forms[n] = v, form|uint32(i)<<8
		n, at = n+1, i+1
		if text[i] == '\n' {
			break
		}
	}
	return n, at
}

// mostDigits is the number of bytes of a number behind its sign.
const mostDigits = 23

// decimal reads a number. The form has a bit for a minus, and the number of digits behind the point, or 32 without a point.
func decimal(text []byte) (digits uint64, form uint32, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		text, form = text[1:], 1<<6
	}
	if len(text) > mostDigits {
		return 0, 0, false
	}
	point := len(text)
	for i, b := range text {
		switch {
		case b == '.' && point == len(text):
			point = i
		case b-'0' > 9 || digits >= 1e18:
			return 0, 0, false
		default:
			digits = digits*10 + uint64(b-'0')
		}
	}
	if ok = digits < 922e16; point == len(text) {
		return digits, form | 32, ok && point > 0
	}
	return digits, form | uint32(len(text)-1-point), ok && len(text) > 1
}

// quotient returns digits / divisor, rounded once. It returns false if the digits are 2^53 or more and the quotient is whole, and if the
// quotient is too near to the middle between two float64.
//
// The digits are their nearest float64 and a rest. q is that float64 divided by divisor, and r the remainder, which fma gives exactly. The
// exact quotient is q + (r+rest)/divisor. The last term has a relative error below 2^-50. If q and that term, times 1 + 2^-48 and
// 1 - 2^-48, round to the same number, so does the exact quotient.
func quotient(digits uint64, divisor float64, long bool) (v float64, ok bool) {
	near := float64(int64(digits))
	q := near / divisor
	if digits < 1<<53 && !long {
		return q, true
	}
	rest := float64(int64(digits) - int64(near))
	t := (math.FMA(-q, divisor, near) + rest) / divisor
	v = q + float64(t*(1+0x1p-48))
	return v, v == q+float64(t*(1-0x1p-48)) && (digits < 1<<53 || v != math.Trunc(v))
}

// divisors are powers of ten, which float64 holds exactly, and 1 at place 32; and from place 64 on their negatives, for numbers with a minus.
var divisors = func() (d [64 + 33]float64) {
	for i, power := 0, 1.0; i < mostDigits; i, power = i+1, 10*power {
		d[i], d[64+i] = power, -power
	}
	d[32], d[64+32] = 1, -1
	return d
}()
