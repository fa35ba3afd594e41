package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

var errShort = errors.New("it ends before its last value")

// runs decodes the format's hybrid of repeated and bit-packed values: levels, dictionary indices and booleans.
type runs struct {
	data  []byte // bytes of the remaining runs
	width int    // bits of a value, 0 to 32

	count  int    // number of values left in the run
	packed []byte // bytes of the run; nil if the run repeats value
	at     int    // number of values of packed that were read
	value  uint32
}

// next begins the next run if the current run is over.
func (r *runs) next() error {
	for r.count == 0 {
		head, size := binary.Uvarint(r.data)
		if size <= 0 {
			return errShort
		}
		r.data = r.data[size:]
		n := head >> 1
		if n == 0 || n > 1<<31-1 {
			return fmt.Errorf("a run of %d values", n)
		}
		if head&1 == 0 {
			if err := r.repeat(int(n)); err != nil {
				return err
			}
			continue
		}
		// The last run may end before the padding of its last 8 values.
		bytes := min(uint64(len(r.data)), n*uint64(r.width))
		r.packed, r.at, r.data = r.data[:bytes:bytes], 0, r.data[bytes:]
		r.count = int(min(n*8, 1<<31-1))
		if r.width > 0 {
			r.count = min(r.count, int(bytes)*8/r.width)
		}
		if r.count == 0 {
			return errShort
		}
	}
	return nil
}

func (r *runs) repeat(n int) error {
	bytes := (r.width + 7) / 8
	if bytes > len(r.data) {
		return errShort
	}
	r.value = 0
	for i, b := range r.data[:bytes] {
		r.value |= uint32(b) << (8 * i)
	}
	if bits.Len32(r.value) > r.width {
		return fmt.Errorf("a value of %d in %d bits", r.value, r.width)
	}
	r.packed, r.count, r.data = nil, n, r.data[bytes:]
	return nil
}

// take reads up to len(dst) values of one run. If the run repeats a value, take doesn't write to dst and returns
// true.
func (r *runs) take(dst []uint32) (n int, repeated bool, err error) {
	if err := r.next(); err != nil {
		return 0, false, err
	}
	n = min(len(dst), r.count)
	r.count -= n
	if r.packed == nil {
		return n, true, nil
	}
	unpack(dst[:n], r.packed, r.width, r.at)
	r.at += n
	return n, false, nil
}

// repeats returns true if each of the next n values is value.
func (r *runs) repeats(n int, value uint32) bool {
	return r.next() == nil && r.packed == nil && r.value == value && r.count >= n
}

// unpack reads values of width bits, the least significant bit first, from value number at on. src must contain all
// of them.
func unpack(dst []uint32, src []byte, width, at int) {
	mask := uint64(1)<<width - 1
	for len(dst) > 0 && at%8 != 0 {
		dst[0] = uint32(bitsAt(src, at*width, width) & mask)
		dst, at = dst[1:], at+1
	}
	src = src[min(len(src), at/8*width):]
	w := uint(width) & 63
	switch {
	case width <= 8: // 8 values fit in 8 bytes
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[width:] {
			v, d := binary.LittleEndian.Uint64(src), dst[:8:8]
			d[0] = uint32(v & mask)
			v >>= w
			d[1] = uint32(v & mask)
			v >>= w
			d[2] = uint32(v & mask)
			v >>= w
			d[3] = uint32(v & mask)
			v >>= w
			d[4] = uint32(v & mask)
			v >>= w
			d[5] = uint32(v & mask)
			v >>= w
			d[6] = uint32(v & mask)
			v >>= w
			d[7] = uint32(v & mask)
		}
	case width <= 16: // 4 values fit in 8 bytes; if width is odd, the second 4 begin in the middle of a byte
		half, odd := width/2, uint(width)%2*4
		for ; len(dst) >= 8 && len(src) >= half+8; dst, src = dst[8:], src[width:] {
			v, d := binary.LittleEndian.Uint64(src), dst[:8:8]
			d[0] = uint32(v & mask)
			v >>= w
			d[1] = uint32(v & mask)
			v >>= w
			d[2] = uint32(v & mask)
			v >>= w
			d[3] = uint32(v & mask)
			v = binary.LittleEndian.Uint64(src[half:]) >> (odd & 63)
			d[4] = uint32(v & mask)
			v >>= w
			d[5] = uint32(v & mask)
			v >>= w
			d[6] = uint32(v & mask)
			v >>= w
			d[7] = uint32(v & mask)
		}
	default: // a value of up to 32 bits fits in the 8 bytes from its first byte on
		for ; len(dst) >= 8 && len(src) >= width+8; dst, src = dst[8:], src[width:] {
			for i, at := 0, uint(0); i < 8; i, at = i+1, at+w {
				dst[i] = uint32(binary.LittleEndian.Uint64(src[at/8:]) >> (at % 8) & mask)
			}
		}
	}
	for i := range dst {
		dst[i] = uint32(bitsAt(src, i*width, width) & mask)
	}
}

// bitsAt returns at least width bits of src, from bit number at on.
func bitsAt(src []byte, at, width int) uint64 {
	src = src[at/8:]
	if len(src) >= 8 {
		v := binary.LittleEndian.Uint64(src) >> (at % 8)
		if width+at%8 > 64 {
			v |= uint64(src[8]) << (64 - at%8)
		}
		return v
	}
	var v uint64
	for i, b := range src {
		v |= uint64(b) << (8 * i)
	}
	return v >> (at % 8)
}

// msbRuns converts n levels in the deprecated encoding, which packs them with the most significant bit first, to one
// run. Only levels from 0 to 3 occur.
func msbRuns(data []byte, width, n int) runs {
	swapped := make([]byte, len(data))
	for i, b := range data {
		b = bits.Reverse8(b)
		if width == 2 {
			b = b>>1&0x55 | b<<1&0xaa
		}
		swapped[i] = b
	}
	return runs{width: width, packed: swapped, count: n}
}
