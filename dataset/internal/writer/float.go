package writer

import (
	"math"
	"math/bits"
	"strconv"
)

// appendFloat appends the shortest text that parses back to v, a float of size bits: whole numbers below 1e15 without an
// exponent.
func appendFloat(buf []byte, v float64, size int) []byte {
	format := byte('g')
	if v == math.Trunc(v) && math.Abs(v) < 1e15 { // 20000000 as it was written, not 2e+07
		if v != 0 && math.Abs(v) < 1<<24 { // strconv gives all digits too, for either size
			return strconv.AppendInt(buf, int64(v), 10)
		}
		format = 'f'
	}
	return strconv.AppendFloat(buf, v, format, -1, size)
}

// appendFloat32 is appendFloat for float32.
func appendFloat32(buf []byte, v float32) []byte {
	b := math.Float32bits(v)
	exponent := int(b>>23&0xff) - 127
	digits, places := shortestDecimal(b&(1<<23-1)|1<<23, 23-exponent)
	if places == 0 {
		return appendFloat(buf, float64(v), 32)
	}
	if v < 0 {
		buf = append(buf, '-')
	}
	return appendFixed(buf, digits, places)
}

var powersOfTen = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

// shortestDecimal returns the decimal with the fewest digits that rounds to the float32 c / 2^q, where c has 24 bits, and
// of several the nearest one. It is digits / 10^places, and its last digit isn't 0. places is 0 if the number is whole, or
// outside 2^-10 to 2^19.
//
// With as many places as make their unit 2^-q or less, one of the two decimals around the number rounds to it. At most one
// decimal with a place less does, and it is shorter then (Giulietti, The Schubfach way to render doubles, 2020). Where c is
// 2^23, fewer numbers round to it, but these powers of two are such decimals themselves. The products are exact, since they
// have at most 60 bits.
func shortestDecimal(c uint32, q int) (digits uint32, places int) {
	if q < 5 || q > 33 || bits.TrailingZeros32(c) >= q {
		return 0, 0
	}
	places = (q*1262611 + 1<<22 - 1) >> 22 // log10(2) q, rounded up
	power := powersOfTen[places]
	number := 4 * uint64(c) * power // by 2^shift
	shift := q + 2
	low, high := number-2*power, number+2*power
	if c == 1<<23 { // the float32 below is nearer
		low += power
	}
	if c%2 == 1 { // the ends of the interval round to other numbers
		low, high = low+1, high-1
	}
	whole := number >> shift // less than 2^28: 10^places is at most 10 * 2^q
	tenth := whole / 10
	switch down, up := low <= whole<<shift, (whole+1)<<shift <= high; {
	case low <= 10*tenth<<shift:
		digits, places = uint32(tenth), places-1
	case 10*(tenth+1)<<shift <= high:
		digits, places = uint32(tenth+1), places-1
	default:
		digits = uint32(whole)
		rest, half := number-whole<<shift, uint64(1)<<(shift-1)
		if up && (!down || rest > half || rest == half && digits%2 == 1) {
			digits++
		}
	}
	for digits%10 == 0 {
		digits, places = digits/10, places-1
	}
	return digits, places
}

// pairs has the texts of 00 to 99.
var pairs = func() (all [100][2]byte) {
	for i := range all {
		all[i] = [2]byte{byte('0' + i/10), byte('0' + i%10)}
	}
	return all
}()

// appendFixed appends digits / 10^places.
func appendFixed(buf []byte, digits uint32, places int) []byte {
	var text [32]byte
	at := len(text)
	for ; places > 1; places -= 2 {
		at -= 2
		*(*[2]byte)(text[at:]) = pairs[digits%100]
		digits /= 100
	}
	if places == 1 {
		at--
		text[at] = byte('0' + digits%10)
		digits /= 10
	}
	at--
	text[at] = '.'
	for ; digits >= 100; digits /= 100 {
		at -= 2
		*(*[2]byte)(text[at:]) = pairs[digits%100]
	}
	at -= 2
	if *(*[2]byte)(text[at:]) = pairs[digits]; digits < 10 {
		at++
	}
	return append(buf, text[at:]...)
}
