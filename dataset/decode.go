package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// A batch is consecutive rows of the input: an array for each of the selection's columns, all of the same length.
type batch struct {
	file    string // for messages; may be ""
	rows    int64
	columns []arrow.Array
}

// release lets go of the arrays.
func (b *batch) release() {
	if b == nil {
		return
	}
	for _, a := range b.columns {
		if a != nil {
			a.Release()
		}
	}
}

// decode reads one column of one row group: an array of exactly c.rows values of the column's type. It is where bytes
// of a file become Arrow arrays, and all that knows how Arrow's decoders go wrong: whatever the bytes are, it returns,
// and an error unless every value was there. The array's memory comes from mem.
//
// What Arrow's decoders leave open: they know no BYTE_STREAM_SPLIT, LZ4 or LZ4_RAW, take a compressed page of the second
// version without values for damaged, verify no checksums, and read zeros where such a page has more data than it says.
func decode(ctx context.Context, src io.ReaderAt, col leaf, c chunk, mem memory.Allocator) (arr arrow.Array, err error) {
	buf := chunkBuffers.Get().(*[]byte)
	defer chunkBuffers.Put(buf)
	*buf = slices.Grow((*buf)[:0], int(c.size))[:c.size]
	if n, err := src.ReadAt(*buf, c.offset); n < len(*buf) {
		return nil, fmt.Errorf("the file can't be read (%w): check the disk", err)
	}
	in := &stream{data: *buf, uncompressed: c.uncompressed}
	err = recovered(func() error {
		inner, err := newPageReader(in, c)
		if err != nil {
			return err
		}
		pages := &checkedPages{PageReader: inner, ctx: ctx, in: in, col: col, dictionary: -1}
		r := file.NewColumnReader(col.descr, pages, memory.DefaultAllocator, nil)
		if arr, err = readArray(r, col, c, mem); err == nil {
			pageReaders.Put(inner)
		}
		return err
	})
	switch {
	case err == nil:
		return arr, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, new(unsupported)):
		return nil, err
	}
	return nil, fmt.Errorf("can't be decoded (%s): write the file again, or leave the column out", oneLine(err.Error()))
}

// chunkBuffers holds the bytes of column chunks from one read to the next, pageReaders readers with the buffers that
// they decompress from. What is decoded from either is a copy.
var chunkBuffers, pageReaders = sync.Pool{New: func() any { return new([]byte) }}, sync.Pool{}

func newPageReader(in *stream, c chunk) (file.PageReader, error) {
	if used, ok := pageReaders.Get().(file.PageReader); ok {
		used.Reset(in, c.rows, c.codec, nil)
		return used, used.Err()
	}
	return file.NewPageReader(in, c.rows, c.codec, memory.DefaultAllocator, nil)
}

// readArray reads all values of r.
func readArray(r file.ColumnChunkReader, col leaf, c chunk, mem memory.Allocator) (arrow.Array, error) {
	id := col.typ.ID()
	switch r := r.(type) {
	case *file.Float32ColumnChunkReader:
		return readFixed(r, col, c, mem)
	case *file.Float64ColumnChunkReader:
		return readFixed(r, col, c, mem)
	case *file.Int32ColumnChunkReader:
		switch id {
		case arrow.INT8:
			return readConverted(r, col, c, mem, narrow[int8])
		case arrow.INT16:
			return readConverted(r, col, c, mem, narrow[int16])
		case arrow.UINT8:
			return readConverted(r, col, c, mem, narrow[uint8])
		case arrow.UINT16:
			return readConverted(r, col, c, mem, narrow[uint16])
		case arrow.DECIMAL128:
			return readConverted(r, col, c, mem, intDecimals[int32])
		}
		return readFixed(r, col, c, mem)
	case *file.Int64ColumnChunkReader:
		if id == arrow.DECIMAL128 {
			return readConverted(r, col, c, mem, intDecimals[int64])
		}
		return readFixed(r, col, c, mem)
	case *file.Int96ColumnChunkReader:
		return readConverted(r, col, c, mem, nanoseconds)
	case *file.BooleanColumnChunkReader:
		return readBooleans(r, col, c, mem)
	case *file.FixedLenByteArrayColumnChunkReader:
		switch id {
		case arrow.FLOAT16:
			return readConverted(r, col, c, mem, halves)
		case arrow.DECIMAL128:
			return readConverted(r, col, c, mem, byteDecimals[parquet.FixedLenByteArray])
		}
		return readFixedBytes(r, col, c, mem)
	case *file.ByteArrayColumnChunkReader:
		if id == arrow.DECIMAL128 {
			return readConverted(r, col, c, mem, byteDecimals[parquet.ByteArray])
		}
		return readBytes(r, col, c, mem)
	}
	return nil, fmt.Errorf("no reader for %T", r)
}

// A batchReader is one of Arrow's readers of column chunks.
type batchReader[V any] interface {
	HasNext() bool
	Err() error
	ReadBatch(n int64, values []V, defs, reps []int16) (levels int64, read int, err error)
}

// startRows is how many values there is room for at first, besides one for each byte of the chunk: what the metadata
// claims is believed no further, room for more comes as values do.
const startRows = 1 << 16

// readAll reads all values that aren't null, one after the other, into the slice that grow returns: it keeps what was
// there when it grows. Of a nullable column it returns the definition level of each row, 0 for a null.
func readAll[V any](r batchReader[V], col leaf, c chunk, grow func(n int) []V) (values []V, defs []int16, err error) {
	rows, room := int(c.rows), 0
	n, have := 0, 0
	for n < rows {
		if n == room {
			room = min(rows, max(2*room, startRows+int(c.size)))
			values = grow(room)
			if col.nullable {
				defs = append(make([]int16, 0, room), defs...)[:room]
			}
		}
		levels, read, err := r.ReadBatch(int64(room-n), values[have:], defs[min(n, len(defs)):], nil)
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			return nil, nil, err
		}
		if levels == 0 {
			break
		}
		n, have = n+int(levels), have+read
	}
	if more := r.HasNext(); r.Err() != nil {
		return nil, nil, r.Err()
	} else if more {
		return nil, nil, fmt.Errorf("more than %d values", rows)
	}
	want := n
	if col.nullable {
		want = 0
		for _, d := range defs {
			want += int(d)
		}
	}
	if n != rows || have != want {
		return nil, nil, fmt.Errorf("%d of %d values", n-want+have, rows)
	}
	return values[:have], defs, nil
}

// readFixed reads a column whose values in memory are those in the file, into the array's memory.
func readFixed[V any](r batchReader[V], col leaf, c chunk, mem memory.Allocator) (arrow.Array, error) {
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	values, defs, err := readAll(r, col, c, func(n int) []V { return resize[V](buf, n) })
	if err != nil {
		return nil, err
	}
	spread(unsafe.Slice(unsafe.SliceData(values), c.rows), len(values), defs)
	return newArray(col.typ, c, buf, len(values), defs, mem), nil
}

// readConverted is readFixed with a conversion of values as they are in the file to those of the array.
func readConverted[V, N any](r batchReader[V], col leaf, c chunk, mem memory.Allocator,
	convert func(dst []N, src []V) error) (arrow.Array, error) {
	src, defs, err := readAll(r, col, c, grown[V]())
	if err != nil {
		return nil, err
	}
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	dst := resize[N](buf, int(c.rows))
	if err := convert(dst[:len(src)], src); err != nil {
		return nil, err
	}
	spread(dst, len(src), defs)
	return newArray(col.typ, c, buf, len(src), defs, mem), nil
}

func readBooleans(r batchReader[bool], col leaf, c chunk, mem memory.Allocator) (arrow.Array, error) {
	src, defs, err := readAll(r, col, c, grown[bool]())
	if err != nil {
		return nil, err
	}
	all := unsafe.Slice(unsafe.SliceData(src), c.rows)
	spread(all, len(src), defs)
	buf := bitmap(int(c.rows), func(i int) bool { return all[i] }, mem)
	defer buf.Release()
	return newArray(col.typ, c, buf, len(src), defs, mem), nil
}

func readFixedBytes(r batchReader[parquet.FixedLenByteArray], col leaf, c chunk, mem memory.Allocator) (arrow.Array, error) {
	src, defs, err := readAll(r, col, c, grown[parquet.FixedLenByteArray]())
	if err != nil {
		return nil, err
	}
	all := unsafe.Slice(unsafe.SliceData(src), c.rows)
	spread(all, len(src), defs)
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	width := col.typ.(*arrow.FixedSizeBinaryType).ByteWidth
	buf.Resize(int(c.rows) * width)
	for i, v := range all {
		clear(buf.Bytes()[i*width+copy(buf.Bytes()[i*width:(i+1)*width], v) : (i+1)*width])
	}
	return newArray(col.typ, c, buf, len(src), defs, mem), nil
}

func readBytes(r batchReader[parquet.ByteArray], col leaf, c chunk, mem memory.Allocator) (arrow.Array, error) {
	src, defs, err := readAll(r, col, c, grown[parquet.ByteArray]())
	if err != nil {
		return nil, err
	}
	total := 0
	for _, v := range src {
		total += len(v)
	}
	if total > math.MaxInt32 {
		return nil, unsupported{errors.New("over 2 GiB of text in a row group: write smaller row groups")}
	}
	all := unsafe.Slice(unsafe.SliceData(src), c.rows)
	spread(all, len(src), defs)
	at, buf := memory.NewResizableBuffer(mem), memory.NewResizableBuffer(mem)
	defer at.Release()
	defer buf.Release()
	offsets := resize[int32](at, len(all)+1)
	buf.Resize(total)
	data := buf.Bytes()[:0]
	offsets[0] = 0
	for i, v := range all {
		data = append(data, v...)
		offsets[i+1] = int32(len(data))
	}
	return newArray(col.typ, c, at, len(src), defs, mem, buf), nil
}

// newArray returns the array of those buffers, which it retains. valid values aren't null.
func newArray(typ arrow.DataType, c chunk, buf *memory.Buffer, valid int, defs []int16, mem memory.Allocator,
	more ...*memory.Buffer) arrow.Array {
	rows := int(c.rows)
	var validity *memory.Buffer
	if valid < rows {
		validity = bitmap(rows, func(i int) bool { return defs[i] != 0 }, mem)
		defer validity.Release()
	}
	data := array.NewData(typ, rows, append([]*memory.Buffer{validity, buf}, more...), nil, rows-valid, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func bitmap(n int, bit func(i int) bool, mem memory.Allocator) *memory.Buffer {
	buf := memory.NewResizableBuffer(mem)
	buf.Resize((n + 7) / 8)
	b := buf.Bytes()
	clear(b)
	for i := range n {
		if bit(i) {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return buf
}

// spread moves the first n values of all to the rows with definition level 1; nulls become zero values.
func spread[V any](all []V, n int, defs []int16) {
	var zero V
	for i := len(all) - 1; n <= i; i-- {
		if defs[i] != 0 {
			n--
			all[i] = all[n]
		} else {
			all[i] = zero
		}
	}
}

// resize gives buf room for n values and returns them; the first keep their values.
func resize[V any](buf *memory.Buffer, n int) []V {
	buf.Resize(n * int(unsafe.Sizeof(*new(V))))
	return unsafe.Slice((*V)(unsafe.Pointer(unsafe.SliceData(buf.Bytes()))), n)
}

// grown returns a function that grows a slice of its own.
func grown[V any]() func(n int) []V {
	var s []V
	return func(n int) []V {
		s = append(make([]V, 0, n), s...)[:n]
		return s
	}
}

func narrow[N int8 | int16 | uint8 | uint16](dst []N, src []int32) error {
	for i, v := range src {
		if dst[i] = N(v); int32(dst[i]) != v {
			return fmt.Errorf("%d is no value of type %T", v, dst[i])
		}
	}
	return nil
}

func halves(dst []float16.Num, src []parquet.FixedLenByteArray) error {
	for i, v := range src {
		dst[i] = float16.FromLEBytes(v)
	}
	return nil
}

func intDecimals[V int32 | int64](dst []decimal128.Num, src []V) error {
	for i, v := range src {
		dst[i] = decimal128.FromI64(int64(v))
	}
	return nil
}

// byteDecimals reads big-endian numbers in two's complement.
func byteDecimals[V ~[]byte](dst []decimal128.Num, src []V) error {
	for i, v := range src {
		if len(v) > 16 {
			return fmt.Errorf("a decimal of %d bytes", len(v))
		}
		var b [16]byte
		if len(v) > 0 && int8(v[0]) < 0 {
			b = [16]byte(slices.Repeat([]byte{0xff}, 16))
		}
		copy(b[16-len(v):], v)
		dst[i] = decimal128.New(int64(binary.BigEndian.Uint64(b[:])), binary.BigEndian.Uint64(b[8:]))
	}
	return nil
}

// nanoseconds converts nanoseconds of a day and a Julian day to nanoseconds since 1970, which is day 2,440,588.
func nanoseconds(dst []int64, src []parquet.Int96) error {
	for i, v := range src {
		day := int64(binary.LittleEndian.Uint32(v[8:])) - 2440588
		dst[i] = day*86_400_000_000_000 + int64(binary.LittleEndian.Uint64(v[:]))
	}
	return nil
}
