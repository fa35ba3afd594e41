package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"
)

// A fixedDecoder decodes values of a fixed length. fixed writes the next n values of a page, which aren't null, to
// the beginning of dst.
type fixedDecoder interface {
	fixed(dst []byte, n int) error
}

// A bytesDecoder decodes values of different lengths. bytes appends the next len(ends) values of a page to t, and
// writes the end of each to ends. each returns the number of bytes of memory that a value may take beyond the bytes
// of the page.
type bytesDecoder interface {
	bytes(t *text, ends []int32) error
	each() int
}

// text collects values of different lengths.
type text struct {
	pool *Pool
	data *Buffer
	used int
}

// add appends a value and returns its end.
func (t *text) add(v []byte) (int32, error) {
	end := t.used + len(v)
	if end > math.MaxInt32 {
		return 0, Unsupported("a page of over 2 GiB of text can't be read: write smaller pages")
	}
	if t.data == nil || end > len(t.data.Bytes) {
		var err error
		if t.data, err = t.pool.extend(t.data, t.used, max(end, 512)); err != nil {
			return 0, err
		}
	}
	copy(t.data.Bytes[t.used:], v)
	t.used = end
	return int32(end), nil
}

// As converts bytes to values of another type. The result shares memory with b, which must be aligned for V.
func As[V any](b []byte) []V {
	return unsafe.Slice((*V)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(V))))
}

// plainFixed reads values that are stored one after the other in memory.
type plainFixed struct {
	data  *Buffer // bytes of the page
	at    int     // offset of the next value
	width int
}

func (p *plainFixed) fixed(dst []byte, n int) error {
	size := n * p.width
	if size > len(p.data.Bytes)-p.at {
		return errShort
	}
	copy(dst[:size], p.data.Bytes[p.at:])
	p.at += size
	return nil
}

// view returns the next n values in the memory of the page, or nil if that memory isn't aligned for values of this
// width. Buffers start at a multiple of 8.
func (p *plainFixed) view(n int) *Buffer {
	end := p.at + n*p.width
	align := min(8, p.width&-p.width)
	if end > len(p.data.Bytes) || p.at%align != 0 {
		return nil
	}
	v := p.data.Slice(p.at, end)
	p.at = end
	return v
}

// plainFile reads values that are stored one after the other in the file, in the same form as in memory.
type plainFile struct {
	src     io.ReaderAt
	at, end int64
	width   int
}

func (p *plainFile) fixed(dst []byte, n int) error {
	size := int64(n) * int64(p.width)
	if size > p.end-p.at {
		return errShort
	}
	if err := readAt(p.src, dst[:size], p.at); err != nil {
		return err
	}
	p.at += size
	return nil
}

// booleans reads runs of single bits. A value becomes a byte, 0 or 1.
type booleans struct {
	runs
	scratch [1024]uint32
}

func (b *booleans) fixed(dst []byte, n int) error {
	for n > 0 {
		k, repeated, err := b.take(b.scratch[:min(n, len(b.scratch))])
		if err != nil {
			return err
		}
		for i := range k {
			if repeated {
				dst[i] = byte(b.value)
			} else {
				dst[i] = byte(b.scratch[i])
			}
		}
		dst, n = dst[k:], n-k
	}
	return nil
}

// plainBytes reads values of different lengths, each after its length.
type plainBytes struct{ data []byte }

func (p *plainBytes) next() ([]byte, error) {
	if len(p.data) < 4 {
		return nil, errShort
	}
	n := int64(binary.LittleEndian.Uint32(p.data))
	if n > int64(len(p.data)-4) {
		return nil, errShort
	}
	v := p.data[4 : 4+n]
	p.data = p.data[4+n:]
	return v, nil
}

func (p *plainBytes) bytes(t *text, ends []int32) error {
	for i := range ends {
		v, err := p.next()
		if err == nil {
			ends[i], err = t.add(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (*plainBytes) each() int { return 0 }

// deltaLengths reads values of different lengths, which follow the lengths of all values.
type deltaLengths struct {
	lengths lengths
	data    []byte
}

func newDeltaLengths(data []byte, n int) (*deltaLengths, error) {
	l, rest, err := newLengths(data, n)
	return &deltaLengths{l, rest}, err
}

func (d *deltaLengths) bytes(t *text, ends []int32) error {
	for i := range ends {
		n, err := d.lengths.next(len(d.data))
		if err == nil {
			ends[i], err = t.add(d.data[:n])
		}
		if err != nil {
			return err
		}
		d.data = d.data[n:]
	}
	return nil
}

func (*deltaLengths) each() int { return 0 }

// deltaBytes reads values of different lengths. Each value begins with a number of bytes of the value before. The
// number of the first value of a page should be 0, but some writers refer to the last value of the page before
// (PARQUET-246).
type deltaBytes struct {
	prefixes lengths
	suffixes *deltaLengths
	value    []byte
}

func newDeltaBytes(data []byte, n int, last []byte) (*deltaBytes, error) {
	prefixes, rest, err := newLengths(data, n)
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLengths(rest, n)
	return &deltaBytes{prefixes, suffixes, last}, err
}

// next decodes the next value.
func (d *deltaBytes) next() error {
	s := d.suffixes
	keep, err := d.prefixes.next(len(d.value))
	if err != nil {
		return err
	}
	n, err := s.lengths.next(len(s.data))
	if err != nil {
		return err
	}
	d.value = append(d.value[:keep], s.data[:n]...)
	s.data = s.data[n:]
	return nil
}

func (d *deltaBytes) bytes(t *text, ends []int32) error {
	for i := range ends {
		err := d.next()
		if err == nil {
			ends[i], err = t.add(d.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *deltaBytes) each() int { return len(d.value) + len(d.suffixes.data) }

// fixedDeltaBytes is deltaBytes for values of equal length.
type fixedDeltaBytes struct {
	*deltaBytes
	width int
}

func (f *fixedDeltaBytes) fixed(dst []byte, n int) error {
	for range n {
		if err := f.next(); err != nil {
			return err
		}
		if len(f.value) != f.width {
			return fmt.Errorf("a value of %d bytes among those of %d", len(f.value), f.width)
		}
		dst = dst[copy(dst, f.value):]
	}
	return nil
}

// splitBytes reads values in BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes, and so on.
type splitBytes struct {
	data          []byte
	at, all, size int // number of values read, number of values, bytes of a value
}

func newSplitBytes(data []byte, size int) (*splitBytes, error) {
	if len(data)%size != 0 {
		return nil, errors.New("the bytes of its values aren't all there")
	}
	return &splitBytes{data: data, all: len(data) / size, size: size}, nil
}

func (s *splitBytes) fixed(dst []byte, n int) error {
	if n > s.all-s.at {
		return errShort
	}
	stream := func(k int) []byte { return s.data[k*s.all+s.at:][:n] }
	if s.size == 4 {
		b1, b2, b3, to := stream(1), stream(2), stream(3), As[uint32](dst)[:n]
		for i, b := range stream(0) {
			to[i] = uint32(b) | uint32(b1[i])<<8 | uint32(b2[i])<<16 | uint32(b3[i])<<24
		}
	} else {
		for k := range s.size {
			for i, b := range stream(k) {
				dst[i*s.size+k] = b
			}
		}
	}
	s.at += n
	return nil
}
