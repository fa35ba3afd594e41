package parquet

import (
	"encoding/binary"
	"fmt"
)

// deltas decodes DELTA_BINARY_PACKED. A block holds the differences of consecutive numbers, minus the smallest
// difference. Each part of a block packs them with as few bits as it needs. Numbers wrap around, so a number of 32
// bits is the lower half of the result.
type deltas struct {
	data  []byte
	left  int // number of values not read yet
	value uint64
	first bool // the next value is the first, which is in the header

	parts, per int    // number of parts of a block, and number of values in each part
	widths     []byte // widths of the block's remaining parts
	least      uint64
	width      int
	packed     []byte // bytes of the current part
	at         int    // number of values of the part that were read; per at the end of the part
}

// maxDeltaBlock is the largest number of values in a block. Writers use 128 to 2,048.
const maxDeltaBlock = 1 << 20

// newDeltas reads the header of at most n values.
func newDeltas(data []byte, n int) (*deltas, error) {
	t := thrift{data: data} // the header's numbers have the same encoding as in Thrift
	block, parts, total, value := t.uvarint(), t.uvarint(), t.uvarint(), t.varint()
	switch {
	case t.err != nil:
		return nil, errShort
	case block == 0 || block%128 != 0 || block > maxDeltaBlock || parts == 0 || block%parts != 0 || block/parts%32 != 0:
		return nil, fmt.Errorf("blocks of %d deltas in %d parts", block, parts)
	case total > uint64(n):
		return nil, fmt.Errorf("%d deltas for %d values", total, n)
	}
	per := int(block / parts)
	return &deltas{data: t.data, left: int(total), value: uint64(value), first: true, parts: int(parts), per: per,
		at: per}, nil
}

// read decodes the next len(dst) values.
func (d *deltas) read(dst []uint64) error {
	if len(dst) > d.left {
		return errShort
	}
	d.left -= len(dst)
	if d.first && len(dst) > 0 {
		d.first = false
		dst[0] = d.value
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.at == d.per {
			if err := d.next(len(dst)); err != nil {
				return err
			}
		}
		n := min(len(dst), d.per-d.at)
		value, least := d.value, d.least
		if d.width == 0 {
			for i := range dst[:n] {
				value += least
				dst[i] = value
			}
		} else {
			mask := ^uint64(0) >> (64 - d.width)
			for i := range dst[:n] {
				value += least + bitsAt(d.packed, (d.at+i)*d.width, d.width)&mask
				dst[i] = value
			}
		}
		d.value, d.at, dst = value, d.at+n, dst[n:]
	}
	return nil
}

// next begins the next part of a block. more values are read next. A writer may leave out unused values of the last
// part.
func (d *deltas) next(more int) error {
	if len(d.widths) == 0 {
		t := thrift{data: d.data}
		d.least = uint64(t.varint())
		if t.err != nil || d.parts > len(t.data) {
			return errShort
		}
		d.widths, d.data = t.data[:d.parts], t.data[d.parts:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	used := min(d.per, d.left+more)
	if d.width > 64 || (used*d.width+7)/8 > len(d.data) {
		return errShort
	}
	size := min(len(d.data), d.per*d.width/8)
	d.packed, d.data, d.at = d.data[:size], d.data[size:], 0
	return nil
}

// end returns the bytes after the values.
func (d deltas) end() ([]byte, error) {
	left := d.left - 1 // the first value is in the header
	for ; left > 0; left -= d.per {
		d.left = left
		if err := d.next(0); err != nil {
			return nil, err
		}
	}
	return d.data, nil
}

// fixedDeltas decodes numbers of 4 or 8 bytes.
type fixedDeltas struct {
	deltas
	width   int
	scratch [256]uint64
}

func (f *fixedDeltas) fixed(dst []byte, n int) error {
	for n > 0 {
		values := f.scratch[:min(n, len(f.scratch))]
		if err := f.deltas.read(values); err != nil {
			return err
		}
		if f.width == 4 {
			for i, v := range values {
				binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
			}
		} else {
			for i, v := range values {
				binary.LittleEndian.PutUint64(dst[8*i:], v)
			}
		}
		dst, n = dst[len(values)*f.width:], n-len(values)
	}
	return nil
}

// lengths decodes deltas that are lengths.
type lengths struct {
	*deltas
	scratch [256]uint64
	have    []uint64
}

// newLengths reads the header of at most n lengths. It returns the bytes after the lengths too.
func newLengths(data []byte, n int) (lengths, []byte, error) {
	d, err := newDeltas(data, n)
	if err != nil {
		return lengths{}, nil, err
	}
	rest, err := d.end()
	return lengths{deltas: d}, rest, err
}

// next returns the next length. It returns an error if the length is greater than most.
func (l *lengths) next(most int) (int, error) {
	if len(l.have) == 0 {
		l.have = l.scratch[:min(len(l.scratch), l.left)]
		if len(l.have) == 0 {
			return 0, errShort
		}
		if err := l.read(l.have); err != nil {
			return 0, err
		}
	}
	v := int32(l.have[0])
	l.have = l.have[1:]
	if v < 0 || int(v) > most {
		return 0, fmt.Errorf("a value of %d bytes where there are %d", v, most)
	}
	return int(v), nil
}
