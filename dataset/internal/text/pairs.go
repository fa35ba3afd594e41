package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

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
		if len(rest) == 0 {
			break
		}
		index, v, after := pairAt(rest)
		if after == nil {
			var err error
			if index, v, after, err = in.oddPair(rest, last); err != nil {
				return err
			}
			if index < 0 {
				rest = after
				continue
			}
		}
		rest = after
		at := in.places.At(index)
		switch {
		case index <= last:
			return fmt.Errorf("index %d follows %d: sort the indices of each line, each once", index, last)
		case index < in.least:
			return fmt.Errorf("index %d, though the first is %d: choose another --index-base", index, in.least)
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

// oddPair parses the pair at the beginning of text if pairAt doesn't. The index of qid is -1. last is the index
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
			return 0, 0, nil, fmt.Errorf("index %s: a row has at most %d features: leave the larger indices out", text[:digits], schema.MaxNumbered)
		}
		if v, rest = numberAt(text[digits+1:]); rest != nil {
			return index, v, rest, nil
		}
	}
	return 0, 0, nil, fmt.Errorf("%s is no pair of an index and a number, like 7:0.5: mend it", quote(word(text)))
}

// pairAt parses the pair at the beginning of text, and returns the text after it. It is fast and accepts only an
// index of up to 7 digits, and a number of up to 7 digits on each side of the point. For other pairs, rest is nil.
// The value equals the result of parseDecimal.
func pairAt(text []byte) (index int, v float64, rest []byte) {
	if len(text) < 8 {
		return 0, 0, nil
	}
	whole, n := leadingDigits(text)
	if n == 0 || n == 8 || text[n] != ':' {
		return 0, 0, nil
	}
	index, text = int(whole), text[n+1:]
	if len(text) > 1 && text[0]-'0' < 10 && isBlank(text[1]) { // the most frequent case
		return index, float64(text[0] - '0'), text[1:]
	}
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) < 8 {
		return 0, 0, nil
	}
	whole, n = leadingDigits(text)
	if n == 8 {
		return 0, 0, nil
	}
	point := text[n] == '.'
	digits := n
	if point {
		if text = text[n+1:]; len(text) < 8 {
			return 0, 0, nil
		}
		part, places := leadingDigits(text)
		if places == 8 {
			return 0, 0, nil
		}
		v = float64(whole*wholeTens[places]+part) / tens[places]
		n, digits = places, digits+places
	} else {
		v = float64(whole)
	}
	if digits == 0 || !isBlank(text[n]) {
		return 0, 0, nil
	}
	if negative {
		v = -v
	}
	return index, v, text[n:]
}

// wholeTens are the powers of ten from 10^0 to 10^7.
var wholeTens = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// leadingDigits parses the digits among the first 8 bytes of text that come before another character. It returns
// their value and their number. It examines all 8 bytes at once (Lemire, "Number parsing at a gigabyte per second",
// 2021).
func leadingDigits(text []byte) (v uint64, n int) {
	const ones = 0x0101010101010101
	w := binary.LittleEndian.Uint64(text) ^ '0'*ones // the byte of a digit is now its value
	other := ((w + 0x76*ones) | w) & (0x80 * ones)   // a byte of 10 or more has its high bit set; later bytes may have it too
	n = bits.TrailingZeros64(other) / 8
	w <<= 64 - 8*uint(n) // zeros in front
	w = w*10 + w>>8
	const low = 0x000000ff000000ff
	return ((w&low)*(1e6<<32+100) + (w>>16&low)*(1e4<<32+1)) >> 32, n
}

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

// blankBytes are the bytes for which isBlank is true, except the line break.
const blankBytes = " \t\v\f\r"

func isBlank(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }
