package lake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"halfspace/dataset/internal/source"
)

// Deletion vectors are roaring bitmaps of 64 bits in the portable format (roaringbitmap.org), after a
// magic number. Delta tables and Iceberg's Puffin files frame them alike: a big-endian length, the bitmap, and its CRC-32.

// errVector is the error if the bytes of a deletion vector contradict each other.
var errVector = errors.New("the deletion vector is damaged")

// errOldVector is the error if a deletion vector is in the native form of Spark, with its bytes the other way round.
var errOldVector = errors.New(
	"the deletion vector is in a form of older versions, which is not read: write the table's rows as Parquet first",
)

const (
	vectorMagic = 1681511377
	mostVector  = 1 << 30 // bytes
)

// framedVector returns the rows of a deletion vector with its length and its checksum. cardinality is the number of the rows.
func framedVector(b []byte, cardinality int64) (*source.Removed, error) {
	if len(b) < 12 || int64(binary.BigEndian.Uint32(b)) != int64(len(b)-8) {
		return nil, fmt.Errorf("%w: its length is wrong", errVector)
	}
	data, sum := b[4:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(data) != sum {
		return nil, fmt.Errorf("%w: its checksum is wrong", errVector)
	}
	return vectorOf(data, cardinality)
}

// vectorOf returns the rows of a deletion vector: the magic number, and the bitmap.
func vectorOf(data []byte, cardinality int64) (*source.Removed, error) {
	d := &vectorReader{data: data}
	switch {
	case len(data) >= 4 && binary.BigEndian.Uint32(data) == vectorMagic-1:
		return nil, fmt.Errorf("%w, such as in Spark: spark.read.format('delta').load(TABLE).write.parquet('rows')", errOldVector)
	case d.uint32() != vectorMagic:
		return nil, fmt.Errorf("%w: it is of an unknown format", errVector)
	}
	rows, err := new(source.Removed), error(nil)
	bitmaps := d.uint64()
	if bitmaps > uint64(len(data)) {
		return nil, errVector
	}
	for ; bitmaps > 0 && err == nil && !d.short; bitmaps-- {
		key := d.uint32()
		if key > 1<<30 { // more rows than any file has
			return nil, errVector
		}
		err = d.bitmap(rows, int64(key)<<16)
	}
	switch {
	case d.short || err != nil || len(d.data) > 0:
		return nil, errVector
	case rows.Len() != cardinality:
		return nil, fmt.Errorf("%w: it has %d rows, but %d in the log", errVector, rows.Len(), cardinality)
	}
	return rows, nil
}

// A vectorReader reads the numbers of a bitmap. If bytes are missing, it returns zeros and sets short.
type vectorReader struct {
	data  []byte
	short bool
}

func (d *vectorReader) take(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.short, d.data = true, nil
		return make([]byte, min(max(0, n), 8))
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *vectorReader) uint16() uint16 { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *vectorReader) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *vectorReader) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

// Cookies of a bitmap of 32 bits, without and with containers of runs.
const (
	noRuns   = 12346
	withRuns = 12347
)

// bitmap adds the rows of a bitmap of 32 bits, whose upper bits follow from key.
func (d *vectorReader) bitmap(rows *source.Removed, key int64) error {
	cookie := d.uint32()
	n, runs := 0, []byte(nil)
	switch {
	case cookie&0xffff == withRuns:
		n = int(cookie>>16) + 1
		runs = d.take((n + 7) / 8)
	case cookie == noRuns:
		n = int(min(d.uint32(), 1<<17))
	default:
		return errVector
	}
	if d.short || n > 1<<16 || 4*n > len(d.data) {
		return errVector
	}
	heads := d.take(4 * n)
	if runs == nil || n >= 4 {
		d.take(4 * n) // the offsets of the containers
	}
	for i := range n {
		head := heads[4*i:]
		at, count := key+int64(binary.LittleEndian.Uint16(head)), int(binary.LittleEndian.Uint16(head[2:]))+1
		if err := d.container(rows, at, count, runs != nil && runs[i/8]>>(i%8)&1 == 1); err != nil || d.short {
			return errVector
		}
	}
	return nil
}

// container adds the count rows of a container.
func (d *vectorReader) container(rows *source.Removed, key int64, count int, ofRuns bool) error {
	const most = 4096 // rows of a list
	if !ofRuns && count <= most {
		few := make([]uint16, count)
		for i := range few {
			few[i] = d.uint16()
		}
		if d.short {
			return errVector
		}
		return rows.AddFew(key, few)
	}
	many, before := new([1 << 10]uint64), rows.Len()
	if ofRuns {
		if err := d.runs(many); err != nil {
			return err
		}
	} else {
		for i, b := 0, d.take(len(many)*8); i < len(many) && !d.short; i++ {
			many[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	if err := rows.AddMany(key, many); err != nil || rows.Len()-before != int64(count) {
		return errVector
	}
	return nil
}

// runs sets the bits of the rows of a container of runs.
func (d *vectorReader) runs(many *[1 << 10]uint64) error {
	next := 0
	for n := int(d.uint16()); n > 0 && !d.short; n-- {
		first, last := int(d.uint16()), 0
		if last = first + int(d.uint16()); first < next || last >= 1<<16 {
			return errVector
		}
		for row := first; row <= last; row++ {
			many[row/64] |= 1 << (row % 64)
		}
		next = last + 1
	}
	return nil
}

// z85Digits are the digits of Z85 (rfc.zeromq.org/spec/32), by their values.
const z85Digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// z85 decodes a text in Z85.
func z85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("%w: its text is cut", errVector)
	}
	var b []byte
	for five := range slices.Chunk([]byte(text), 5) {
		v := uint64(0)
		for _, c := range five {
			digit := strings.IndexByte(z85Digits, c)
			if digit < 0 {
				return nil, fmt.Errorf("%w: its text has the character %q", errVector, c)
			}
			v = 85*v + uint64(digit)
		}
		if v > 1<<32-1 {
			return nil, errVector
		}
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b, nil
}
