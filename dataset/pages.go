package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// Arrow's decoders believe what pages say of themselves: they loop for ever where there are fewer levels, indices or
// deltas than values, return zeros past the end of the data, and allocate what a header asks for. The checks here are
// made before a decoder sees a page.

// unsupported is an error about data that is sound, but can't be read.
type unsupported struct{ error }

var errShort = errors.New("a page ends too early")

// A stream is the bytes of a column chunk for Arrow's page reader.
type stream struct {
	data         []byte
	pos          int
	uncompressed int64 // the chunk's size, uncompressed, as the metadata claims
	short        bool  // more was asked for than there is: the page reader doesn't always tell
}

// slack is how much longer a page may be than the metadata says of the whole chunk, which some writers get wrong.
const slack = 1 << 20

func (s *stream) Peek(n int) ([]byte, error) {
	if n > len(s.data)-s.pos {
		return s.data[s.pos:], io.EOF
	}
	return s.data[s.pos : s.pos+n], nil
}

func (s *stream) Read(p []byte) (int, error) {
	n := copy(p, s.data[s.pos:])
	s.pos += n
	if n < len(p) {
		s.short = true
		if n == 0 {
			return 0, io.EOF
		}
	}
	return n, nil
}

// Discard goes past a page's header. The sizes in it are allocated next, so it panics where they can't be true.
func (s *stream) Discard(n int) (int, error) {
	n = min(n, len(s.data)-s.pos)
	header := s.data[s.pos : s.pos+n]
	s.pos += n
	s.short = false
	uncompressed, compressed := pageSizes(header)
	if compressed > int64(len(s.data)-s.pos) || uncompressed > s.uncompressed+slack {
		panic(errShort)
	}
	return n, nil
}

// pageSizes returns the sizes in a page header: the second and third field, in Thrift's compact protocol. Where they
// aren't in the usual form it returns zeros.
func pageSizes(header []byte) (uncompressed, compressed int64) {
	var fields [3]int64
	for i := range fields {
		const nextInt32 = 1<<4 | 5
		if len(header) == 0 || header[0] != nextInt32 {
			return 0, 0
		}
		v, n := binary.Varint(header[1:])
		if n <= 0 {
			return 0, 0
		}
		fields[i], header = v, header[1+n:]
	}
	return fields[1], fields[2]
}

// checkedPages hands Arrow's pages on once they have been checked, and stops when the context is cancelled.
type checkedPages struct {
	file.PageReader
	ctx        context.Context
	in         *stream
	col        leaf
	dictionary int // values in the dictionary; -1 before there is one
	err        error
}

// Next goes on to the next page that has values.
func (p *checkedPages) Next() bool {
	for p.err == nil {
		if p.err = p.ctx.Err(); p.err != nil || !p.PageReader.Next() {
			return false
		}
		page := p.PageReader.Page()
		if p.err = p.check(page); p.err != nil {
			return false
		}
		if _, ok := page.(*file.DictionaryPage); ok || page.NumValues() > 0 {
			return true
		}
	}
	return false
}

func (p *checkedPages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

func (p *checkedPages) check(page file.Page) error {
	data, n := page.Data(), int(page.NumValues())
	if p.in.short {
		return errShort
	}
	encoding := parquet.Encoding(page.Encoding())
	valid := n
	var err error
	switch page := page.(type) {
	case *file.DictionaryPage:
		p.dictionary = n
		return p.checkPlain(data, n)
	case *file.DataPageV1:
		if p.col.nullable {
			valid, data, err = levelsV1(page.DefinitionLevelEncoding(), data, n)
		}
	case *file.DataPageV2:
		// Some writers put repetition levels even where there are none.
		skip, size := int(page.RepetitionLevelByteLen()), int(page.DefinitionLevelByteLen())
		if skip+size > len(data) {
			return errShort
		}
		if p.col.nullable {
			valid, err = checkRuns(data[skip:skip+size], 1, n, 2)
		}
		data = data[skip+size:]
	}
	if err != nil {
		return err
	}
	return p.checkValues(encoding, data, valid, n)
}

// levelsV1 returns how many of n definition levels are 1, and the data behind the levels.
func levelsV1(encoding parquet.Encoding, data []byte, n int) (valid int, rest []byte, err error) {
	if encoding == parquet.Encodings.BitPacked {
		size := (n + 7) / 8
		if size > len(data) {
			return 0, nil, errShort
		}
		for i := range n {
			valid += int(data[i/8] >> (7 - i%8) & 1)
		}
		return valid, data[size:], nil
	}
	levels, rest, err := prefixed(data)
	if err == nil {
		valid, err = checkRuns(levels, 1, n, 2)
	}
	return valid, rest, err
}

// prefixed splits data behind as many bytes as its first four say.
func prefixed(data []byte) (head, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errShort
	}
	size := int64(binary.LittleEndian.Uint32(data))
	if size > int64(len(data)-4) {
		return nil, nil, errShort
	}
	return data[4 : 4+size], data[4+size:], nil
}

// checkValues makes sure that data holds valid values in that encoding. n are the page's values, nulls included.
func (p *checkedPages) checkValues(encoding parquet.Encoding, data []byte, valid, n int) error {
	e := parquet.Encodings
	switch encoding {
	case e.Plain:
		return p.checkPlain(data, valid)
	case e.PlainDict, e.RLEDict:
		if valid == 0 {
			return nil
		}
		if len(data) == 0 || data[0] > 32 {
			return errors.New("no width of dictionary indices")
		}
		if p.dictionary < 0 {
			return errors.New("no dictionary")
		}
		_, err := checkRuns(data[1:], int(data[0]), valid, uint64(p.dictionary))
		return err
	case e.RLE:
		if valid == 0 {
			return nil
		}
		head, _, err := prefixed(data)
		if err == nil {
			_, err = checkRuns(head, 1, valid, 2)
		}
		return err
	case e.DeltaBinaryPacked, e.DeltaLengthByteArray:
		_, err := checkDeltas(data, valid, n)
		return err
	case e.DeltaByteArray:
		rest, err := checkDeltas(data, valid, n)
		if err == nil {
			_, err = checkDeltas(rest, valid, n)
		}
		return err
	}
	return unsupported{fmt.Errorf("encoding %s can't be read: write the column with PLAIN or dictionary encoding", encoding)}
}

// checkPlain makes sure that data is long enough for n values.
func (p *checkedPages) checkPlain(data []byte, n int) error {
	width := 4 // of the length of a byte array too
	switch p.col.descr.PhysicalType() {
	case parquet.Types.Boolean:
		n, width = (n+7)/8, 1
	case parquet.Types.Int64, parquet.Types.Double:
		width = 8
	case parquet.Types.Int96:
		width = 12
	case parquet.Types.FixedLenByteArray:
		width = p.col.descr.TypeLength()
	}
	if int64(n)*int64(width) > int64(len(data)) {
		return errShort
	}
	return nil
}

// checkRuns makes sure that data, runs of repeated and of bit-packed values, holds n values of width bits below limit.
// It returns how many of them are 1, if width is.
func checkRuns(data []byte, width, n int, limit uint64) (ones int, err error) {
	for n > 0 {
		header, size := binary.Uvarint(data)
		if size <= 0 {
			return 0, errShort
		}
		data = data[size:]
		packed, count := header&1 != 0, header>>1
		if count == 0 || count > 1<<31-1 {
			return 0, fmt.Errorf("a run of %d values", count)
		}
		most, bytes := uint64(0), (width+7)/8
		take := int(min(uint64(n), count))
		if packed {
			take = int(min(uint64(n), count*8))
			bytes = (take*width + 7) / 8
		}
		if bytes > len(data) {
			return 0, errShort
		}
		switch {
		case !packed:
			for i, b := range data[:bytes] {
				most |= uint64(b) << (8 * i)
			}
			if most == 1 {
				ones += take
			}
		case width == 1:
			ones += countOnes(data, take)
		case limit < 1<<width:
			most = maxPacked(data[:bytes], width, take)
		}
		if most >= limit {
			return 0, fmt.Errorf("a value of %d where the most is %d", most, int64(limit)-1)
		}
		if packed {
			bytes = int(min(uint64(len(data)), count*uint64(width)))
		}
		data = data[bytes:]
		n -= take
	}
	return ones, nil
}

// countOnes returns how many of the first n bits are set.
func countOnes(data []byte, n int) (ones int) {
	for _, b := range data[:n/8] {
		ones += bits.OnesCount8(b)
	}
	if n%8 != 0 {
		ones += bits.OnesCount8(data[n/8] << (8 - n%8))
	}
	return ones
}

// maxPacked returns the greatest of n values of width bits, from 0 to 32.
func maxPacked(data []byte, width, n int) (most uint64) {
	mask := uint64(1)<<width - 1
	at := 0
	for ; n > 0 && at/8+8 <= len(data); n-- {
		most = max(most, binary.LittleEndian.Uint64(data[at/8:])>>(at%8)&mask)
		at += width
	}
	var last [16]byte
	copy(last[:], data[min(at/8, len(data)):])
	for at %= 8; n > 0; n-- {
		most = max(most, binary.LittleEndian.Uint64(last[at/8:])>>(at%8)&mask)
		at += width
	}
	return most
}

// maxDeltaBlock bounds the values in a block of deltas, for which Arrow allocates memory. Writers use 128 to 2,048.
const maxDeltaBlock = 1 << 20

// checkDeltas makes sure that data begins with at least valid and at most n values in DELTA_BINARY_PACKED encoding and
// returns what follows them.
func checkDeltas(data []byte, valid, n int) (rest []byte, err error) {
	if len(data) == 0 && valid == 0 {
		return nil, nil
	}
	var header [4]uint64 // values in a block, parts of a block, values, the first value
	for i := range header {
		if header[i], data, err = uvarint(data); err != nil {
			return nil, err
		}
	}
	block, parts, total := header[0], header[1], header[2]
	if block == 0 || block%128 != 0 || block > maxDeltaBlock || parts == 0 || block%parts != 0 || block/parts%32 != 0 {
		return nil, fmt.Errorf("blocks of %d deltas in %d parts", block, parts)
	}
	if total < uint64(valid) || total > uint64(n) {
		return nil, fmt.Errorf("%d deltas for %d values", total, valid)
	}
	per := int(block / parts)
	for left := int(total) - 1; left > 0; {
		if _, data, err = uvarint(data); err != nil {
			return nil, err
		}
		if len(data) < int(parts) {
			return nil, errShort
		}
		widths := data[:parts]
		data = data[parts:]
		for _, width := range widths {
			if left <= 0 {
				break
			}
			if width > 64 || (min(left, per)*int(width)+7)/8 > len(data) {
				return nil, errShort
			}
			data = data[min(len(data), per*int(width)/8):]
			left -= per
		}
	}
	return data, nil
}

func uvarint(data []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, data[n:], nil
}
