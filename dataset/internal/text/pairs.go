package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/schema"
)

// row appends a line, which has no blanks at its ends, to rows. The bytes of the text behind the line, up to the capacity
// of the slice, let pairs read 8 bytes at once.
func (in *Svmlight) row(line []byte, rows *column.Pairs) error {
	label, rest := numberAt(line)
	if rest == nil {
		return fmt.Errorf("the label %s is not a number: write one label in front of each line", quote(word(line)))
	}
	last := -1
	for {
		for len(rest) > 0 && isBlank(rest[0]) {
			rest = rest[1:]
		}
		if rest, last = in.plainPairs(rest, last, rows); len(rest) == 0 {
			break
		}
		if isBlank(rest[0]) {
			continue
		}
		index, v, after, err := in.oddPair(rest, last)
		if err != nil {
			return err
		}
		if rest = after; index < 0 {
			continue
		}
		at := in.places.At(index)
		switch {
		case index <= last:
			return fmt.Errorf("index %d follows %d: sort the indices of each line, each once", index, last)
		case index < in.least:
			return message.Errorf("index %d, though the first is %d: choose another --index-base", index, in.least)
		case at >= 0:
			rows.Index, rows.Value = append(rows.Index, at), append(rows.Value, v)
		case index > in.last && in.fewer:
			in.sawMore.Store(true)
		case index == 0 && in.fewer:
			in.sawZero.Store(true)
		}
		last = index
	}
	rows.Labels, rows.Ends = append(rows.Labels, label), append(rows.Ends, int32(len(rows.Index)))
	return nil
}

// plainPairs appends the pairs at the beginning of line to rows, up to a pair that isn't plain. It returns the rest of
// the line, and the last index; last is the index before the line. A plain pair has an index of up to 7 digits above the
// last index, and one blank behind it or the end of the line.
//
// Where a pair begins depends only on the blank behind the pair before it, and nearly no branch on the digits, so that
// the processor parses several pairs at the same time. A value of up to 8 bytes behind a minus is parsed without its point.
func (in *Svmlight) plainPairs(line []byte, last int, rows *column.Pairs) (rest []byte, _ int) {
	const read = 40 // no byte after these is read for a pair
	text, at, of := unsafe.Pointer(unsafe.SliceData(line)), 0, in.places
	end, most := len(line), min(len(line)-1, cap(line)-read)
	n, places := len(rows.Index), rows.Index[:min(cap(rows.Index), cap(rows.Value))]
	values := rows.Value[:len(places)]
	for at <= most && n < len(places) {
		w := eightBytes(text, at)
		to := at + lengthOfWord(w, eightBytes(text, at+8))
		digits := firstByte(zeroBytes(w ^ ':'*ones))
		index, wrong := digitsIn(w^'0'*ones, digits)
		place := of.At(int(index))
		if wrong != 0 || uint(digits-1) >= 7 || int(index) <= last || place < 0 && (int(index) > in.last || index == 0) {
			break
		}
		from := at + digits + 1
		w = eightBytes(text, from)
		v := float64(w & 0xf)
		if to != from+1 || byte(w)-'0' >= 10 { // not a digit alone, as ones are
			minus := 0
			if byte(w) == '-' {
				minus = 1
			}
			w = eightBytes(text, from+minus)
			if length := to - from - minus; length > 8 && uint16(w) == '0'|'.'<<8 {
				v, to = fraction(text, from+minus+2)
			} else {
				w = (w ^ '0'*ones) << ((64 - 8*length) & 63) // zeros in front
				point, shift := zeroBytes(w^('.'^'0')*ones), 0
				if point != 0 {
					shift = 8
				}
				whole := uint64(1)<<(8*firstByte(point)) - 1
				all, wrong := digitsIn(w&whole<<shift|w&^(whole<<shift|whole|0xff), 8)
				v = float64(int64(all)) / pointTens[firstByte(point)&15]
				if wrong != 0 || uint(length-1-shift/8) >= 8-uint(shift/8) {
					to = math.MaxInt
				}
			}
			v = math.Float64frombits(math.Float64bits(v) | uint64(minus)<<63)
		}
		if to > end || !isBlank(byte(eightBytes(text, to))) {
			if v, to = longNumber(line[from:]); to == 0 {
				break
			}
			to += from
		}
		places[n], values[n] = place, v
		if place >= 0 {
			n++
		}
		last, at = int(index), to+1
	}
	rows.Index, rows.Value = places[:n], values[:n]
	return line[min(at, end):], last
}

// fraction returns the number that the digits behind a point from text[at] on make, and their end. The end is after all texts if there are
// no digits, more than 16, or digits that float64 lacks.
func fraction(text unsafe.Pointer, at int) (v float64, end int) {
	low, high := eightBytes(text, at), eightBytes(text, at+8)
	length := lengthOfWord(low, high)
	low, high = low^'0'*ones, high^'0'*ones
	shift := uint(128 - 8*length) // zeros in front of 16 digits
	high = high<<shift | low>>(64-shift) | low<<(shift-64)
	first, wrong := digitsIn(low<<shift, 8)
	last, odd := digitsIn(high, 8)
	all := 1e8*first + last
	if wrong|odd != 0 || length == 0 || all > 1<<53 {
		return 0, math.MaxInt
	}
	return float64(int64(all)) / tens[length], at + length
}

// longNumber returns the number at the beginning of text, up to a blank or the end, and its length, or length 0.
func longNumber(text []byte) (v float64, n int) {
	if v, n = parseDecimal(text); n < len(text) && !isBlank(text[n]) {
		n = 0
	}
	return v, n
}

// eightBytes returns the 8 bytes from text[at] on.
func eightBytes(text unsafe.Pointer, at int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(text, at))[:])
}

// oddPair parses the pair at the beginning of text, whatever its form. The index of qid is -1. last is the index
// before it.
func (in *Svmlight) oddPair(text []byte, last int) (index int, v float64, rest []byte, err error) {
	if bytes.HasPrefix(text, []byte("qid:")) && last < 0 {
		in.sawQuery.Store(true)
		return -1, 0, text[len(word(text)):], nil
	}
	const most = 18 // number of digits that int64 holds
	digits := 0
	for ; digits < len(text) && text[digits]-'0' < 10; digits++ {
		if digits < most {
			index = index*10 + int(text[digits]-'0')
		}
	}
	if digits > 0 && digits < len(text) && text[digits] == ':' {
		if digits > most {
			return 0, 0, nil, fmt.Errorf("index %s: a row has at most %d features: leave the larger indices out",
				text[:digits], schema.MaxNumbered)
		}
		if v, rest = numberAt(text[digits+1:]); rest != nil {
			return index, v, rest, nil
		}
	}
	return 0, 0, nil, fmt.Errorf("%s is no pair of an index and a number, like 7:0.5: mend it", quote(word(text)))
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// zeroBytes returns a word with the high bit of the first byte of w that is 0, and perhaps of later bytes.
func zeroBytes(w uint64) uint64 { return (w - ones) &^ w & highs }

// firstByte returns the number of the first byte of a result of zeroBytes that isn't 0, or 8.
func firstByte(w uint64) int { return bits.TrailingZeros64(w) / 8 }

// notAboveBlank returns a word with the high bit of the first byte of w that isn't above a blank, and perhaps of later bytes.
func notAboveBlank(w uint64) uint64 { return (w - '!'*ones) &^ w & highs }

// lengthOfWord returns the number of bytes of w, then of next, in front of a byte that isn't above a blank, at most 16.
func lengthOfWord(w, next uint64) int {
	n := firstByte(notAboveBlank(w))
	if n == 8 {
		n += firstByte(notAboveBlank(next))
	}
	return n
}

// digitsIn returns the number with n digits, whose values are the first n bytes of w. wrong isn't 0 if one of them is
// no digit.
func digitsIn(w uint64, n int) (v, wrong uint64) {
	w <<= (64 - 8*n) & 63 // zeros in front
	wrong = (w + 0x76*ones | w) & highs
	w = w*10 + w>>8 // Lemire, "Number parsing at a gigabyte per second", 2021
	const low = 0x000000ff000000ff
	return ((w&low)*(1e6<<32+100) + (w>>16&low)*(1e4<<32+1)) >> 32, wrong
}

// pointTens has the powers of ten by which the digits are divided if the point is in byte i of 8; 8: there is none.
var pointTens = [16]float64{1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1, 1}

// numberAt parses the number at the beginning of text, up to a blank, and returns the text after it, or nil if it
// isn't a number.
func numberAt(text []byte) (v float64, rest []byte) {
	if len(text) > 1 && text[0]-'0' < 10 && isBlank(text[1]) { // the most frequent case
		return float64(text[0] - '0'), text[1:]
	}
	v, n := parseDecimal(text)
	if n > 0 && (n == len(text) || isBlank(text[n])) {
		return v, text[n:]
	}
	w := word(text)
	v, err := parseNumber(w)
	if err != nil {
		return 0, nil
	}
	return v, text[len(w):]
}

// word returns text up to the first blank.
func word(text []byte) []byte {
	if i := slices.IndexFunc(text, isBlank); i >= 0 {
		return text[:i]
	}
	return text
}

func isBlank(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }
