//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// decimals tests records of numbers in which something else may stand at each place.
func (h *harness[T]) decimals(t *testing.T) {
	for n := range 2000 {
		text := h.record(n)
		at := 32 + h.rng.IntN(len(text)-31)
		room := 1 + h.rng.IntN(12)
		values, forms := make([]float64, room), make([]uint32, room)
		stop := -uint64(h.rng.IntN(2))
		count, end := h.want.Decimals(values, forms, text, at, ',', stop)
		h.try(t, fmt.Sprintf("%q from %d, stop %x", text, at, stop), h.edges(), func(what string, p Place) {
			d, f := Put(h.buffers[0], p, make([]float64, room)), Put(h.buffers[1], p, make([]uint32, room))
			got, to := h.got.Decimals(d, f, Put(h.buffers[2], p, text), at, ',', stop)
			if got != count || to != end || !sameBits(d, values) || !slices.Equal(f, forms) {
				t.Fatalf("%s: %d numbers to %d: %x %x, want %d to %d: %x %x", what, got, to, d, f, count, end, values, forms)
			}
		})
	}
}

// oddStart tests texts of few bytes, so that odd starts stand at every place, and texts without one.
func (h *harness[T]) oddStart(t *testing.T) {
	for n := range 2000 {
		text := make([]byte, 35+h.rng.IntN(100))
		rare := 1 + h.rng.IntN(40) // one of as many bytes is no digit from 1 to 8
		for i := range text {
			if text[i] = '1' + byte(h.rng.IntN(8)); h.rng.IntN(rare) == 0 {
				text[i] = ",\n-.09/:"[h.rng.IntN(8)]
			}
		}
		want := uint64(0)
		for i, b := range text[:len(text)-3] {
			start := strings.TrimPrefix(string(text[i+1:i+4]), "-")
			zeros := start[0] == '0' && start[1] >= '0' && start[1] <= '9'
			if (b == ',' || b == '\n') && (zeros || start[0] == '.') {
				want = 1
			}
		}
		h.try(t, fmt.Sprintf("text %d, %q", n, text), h.edges(), func(what string, p Place) {
			if got := h.got.OddStart(Put(h.buffers[0], p, text), ','); got != want || h.want.OddStart(text, ',') != want {
				t.Fatalf("%s: %d, the twin %d, want %d", what, got, h.want.OddStart(text, ','), want)
			}
		})
	}
}

// record returns at least 32 bytes of text.
func (h *harness[T]) record(n int) []byte {
	text := []byte(",0123456789.-,12345678901234567\n")
	for range h.rng.IntN(40) {
		if n%3 == 0 {
			text = append(h.short(text), h.delimiter()...)
			continue
		}
		kind := h.rng.IntN(14)
		if n%4 > 1 && kind > 1 {
			kind = 13 // few points
		}
		switch {
		case kind == 0 && n%2 == 0:
			text = append(text, byte(h.rng.IntN(256)))
		case kind == 1 && n%2 == 0:
			text = append(text, []string{"", ".", "-", "-.", "5.", ".5", "--1", "1.2.3", "1-", "\r", "/", ":", " 1",
				"1e5", "\x80", "99999999999999999999", "9999999999999999999",
				"10000000000000000000", "0000000000000000000000000000001", "0.00000000000000000000000000001",
				"00000000000000000000000000000001"}[h.rng.IntN(21)]...)
		case kind < 5:
			text = strconv.AppendFloat(text, h.rng.NormFloat64(), 'f', h.rng.IntN(25), 64)
		case kind < 9:
			text = strconv.AppendFloat(text, h.rng.NormFloat64(), 'f', -1, 64)
		default:
			text = strconv.AppendInt(text, h.rng.Int64()>>h.rng.IntN(64), 10)
		}
		text = append(text, h.delimiter()...)
	}
	return text
}

func (h *harness[T]) delimiter() string {
	return []string{",", ",", ",", ",", ",", ",", "\n", "\r\n"}[h.rng.IntN(8)]
}

// short appends up to nine digits, perhaps with a minus, a point and another byte.
func (h *harness[T]) short(text []byte) []byte {
	if h.rng.IntN(3) == 0 {
		text = append(text, '-')
	}
	from := len(text)
	for range h.rng.IntN(10) {
		text = append(text, '0'+byte(h.rng.IntN(10)))
	}
	if h.rng.IntN(2) == 0 {
		text = slices.Insert(text, from+h.rng.IntN(len(text)-from+1), '.')
	}
	if h.rng.IntN(40) == 0 {
		text = slices.Insert(text, from+h.rng.IntN(len(text)-from+1),
			[]byte{'.', '-', '/', ':', ' ', 0, '\r', byte(h.rng.IntN(256))}[h.rng.IntN(8)])
	}
	return text
}

// sameBits tells whether two slices hold the same bits.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
