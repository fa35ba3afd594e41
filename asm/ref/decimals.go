package ref

import "math"

func DecimalsF32(values []float64, forms []uint32, text []byte, at int, comma uint8, stop uint64) (n, end int) {
	last := len(text) - 63
	long := false
	for n < len(values) && at < last {
		digits, form, i := decimal(text, at)
		if form == notPlain || i >= last {
			break
		}
		feed, pair := text[i] == '\n', stop != 0 && text[i] == '\r' && text[i+1] == '\n'
		if !feed && !pair && text[i] != comma {
			break
		}
		v, exact := quotient(digits, divisors[form], long)
		if long = long || digits >= 1<<53; !exact {
			v, form = math.Float64frombits(digits), form|1<<7
		}
		values[n], forms[n] = v, form|uint32(i)<<8
		n, at = n+1, i+1
		if pair || feed && stop != 0 {
			break
		}
	}
	return n, at
}

// mostDigits is the number of bytes of a number behind its sign.
const mostDigits = 23

// notPlain is the form of a text that isn't a number.
const notPlain = ^uint32(0)

// decimal reads the number at a position, and returns the position behind it. The form has a bit for a minus, and the number of digits
// behind the point, or 32 without a point.
func decimal(text []byte, at int) (digits uint64, form uint32, end int) {
	form = 32
	if at < len(text) && text[at] == '-' {
		form, at = form|1<<6, at+1
	}
	point := -1
	for end = at; end < len(text); end++ {
		if b := text[end]; b-'0' < 10 {
			digits = digits*10 + uint64(b-'0')
		} else if b == '.' && point < 0 {
			point = end
		} else {
			break
		}
	}
	count := end - at
	if count > mostDigits {
		return 0, notPlain, end
	}
	if point >= 0 {
		count, form = count-1, form&^32|uint32(end-1-point)
	}
	if count == 0 || digits >= 922e16 || count > 19 && overflows(text[at:end]) { // 19 digits can't overflow
		return 0, notPlain, end
	}
	return digits, form, end
}

// overflows tells whether digits, with a point among them, are 10^19 or more.
func overflows(text []byte) bool {
	v := uint64(0)
	for _, b := range text {
		if b == '.' {
			continue
		}
		if v >= 1e18 {
			return true
		}
		v = v*10 + uint64(b-'0')
	}
	return false
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

// divisors are powers of ten, which float64 holds exactly, and 1 at place 32; and from place 64 on their negatives, for
// numbers with a minus.
var divisors = func() (d [64 + 33]float64) {
	for i, power := 0, 1.0; i < mostDigits; i, power = i+1, 10*power {
		d[i], d[64+i] = power, -power
	}
	d[32], d[64+32] = 1, -1
	return d
}()

func OddStartF32(text []byte, comma uint8) (odd uint64) {
	for i := 0; i+3 < len(text); i++ {
		if text[i] != comma && text[i] != '\n' {
			continue
		}
		first, second := text[i+1], text[i+2]
		if first == '-' {
			first, second = second, text[i+3]
		}
		if first == '.' || first == '0' && second-'0' < 10 {
			return 1
		}
	}
	return 0
}
