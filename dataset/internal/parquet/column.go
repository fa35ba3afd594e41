package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/files"
	"halfspace/internal/message"
)

// A columnReader reads a column of a row group as Arrow arrays, several rows at a time.
type columnReader struct {
	col   column.Column
	pages *Reader // nil: the file lacks the column
	pool  *Pool
	rest  arrow.Array // rows that were read but not passed on; may be nil

	removed *source.Removed // rows of the file that are left out
	at, end int64           // numbers in the file of the next row to read, and of the row behind the row group
}

func newColumnReader(src io.ReaderAt, col column.Column, c Chunk, pool *Pool) *columnReader {
	if col.Index == column.Absent {
		return &columnReader{col: col}
	}
	r := &columnReader{col: col, pages: NewReader(src, c, pool), pool: pool}
	if col.Float != nil && col.Stored == nil && !arrow.TypeEqual(col.Float, col.Type) {
		r.pages.Convert = r.floats
	}
	return r
}

// smallDictionary is the number of bytes that a converted dictionary may always take.
const smallDictionary = 64 << 10

// floats returns the n values of a dictionary converted to float32, if the conversion is exact for all of them. Then
// no loss must be reported for any row. Otherwise floats returns nil, and each value is converted where it is used.
func (r *columnReader) floats(values *Buffer, n int) *Buffer {
	// The temporary memory is at most the memory for a batch. The result takes at most the bytes of the dictionary, or
	// smallDictionary.
	size := 4 * n
	if n > column.MaxBatchRows || size > max(len(values.Bytes), smallDictionary) {
		return nil
	}
	v := &Values{Rows: n, N: n, Data: values.Slice(0, len(values.Bytes))}
	defer v.Release()
	data, err := r.data(r.col.Type, v)
	if err != nil {
		return nil
	}
	defer data.Release()
	if v.Nulls > 0 { // nanoseconds made nulls
		return nil
	}
	a := array.MakeFromData(data)
	defer a.Release()
	view, err := column.NewView32(a)
	if err != nil {
		return nil
	}
	made := r.pool.Get(size)
	if _, lost := view.Read(0, n, As[float32](made.Bytes)); lost != column.None {
		made.Release()
		return nil
	}
	return made
}

// release releases all memory.
func (r *columnReader) release() {
	if r.pages != nil {
		r.pages.Close()
	}
	if r.rest != nil {
		r.rest.Release()
		r.rest = nil
	}
}

// fill reads at most n rows, unless some rows are left. An error names the problem and the remedy.
func (r *columnReader) fill(ctx context.Context, n int) error {
	if r.rest != nil || r.pages == nil {
		return nil
	}
	return advised(ctx, column.Recovered(func() error {
		for r.rest == nil {
			if err := r.read(ctx, n); err != nil {
				return err
			}
		}
		return nil
	}))
}

// read reads at most n rows of the file, and keeps those that aren't removed.
func (r *columnReader) read(ctx context.Context, n int) error {
	if r.removed.Len() > 0 {
		if n = int(min(int64(n), r.end-r.at)); n <= 0 {
			return errors.New("fewer rows than the table has")
		}
	}
	v, err := r.pages.Read(ctx, n)
	if err != nil {
		return err
	}
	defer v.Release()
	a, err := r.array(v)
	if err == nil {
		from := r.at
		r.at += int64(a.Len())
		r.rest = r.kept(a, from)
	}
	return err
}

// skip skips n rows; there must be more rows after them. It returns the same errors as fill.
func (r *columnReader) skip(ctx context.Context, n int64) error {
	if r.pages == nil {
		return nil
	}
	return advised(ctx, column.Recovered(func() error { return r.pages.Skip(ctx, n) }))
}

// advised adds the remedy to an error of a page reader.
func advised(ctx context.Context, err error) error {
	var unreadable Unsupported
	var file *FileError
	var long LongList
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &unreadable):
		return err
	case errors.As(err, &long):
		return message.Errorf("%w, and a row has at most %d features: leave columns out with --exclude", err, long.Most)
	case errors.As(err, &file):
		said := column.ReadError(file)
		if errors.As(said, new(*files.StoreError)) {
			return said
		}
		return fmt.Errorf("the file %w", said)
	}
	return column.Mark(fmt.Errorf("can't be decoded (%s): write the file again, or leave the column out", column.OneLine(err.Error())),
		column.ErrDamaged)
}

// take returns the first n of the rows that fill read.
func (r *columnReader) take(n int) arrow.Array {
	a := r.rest
	if a.Len() == n {
		r.rest = nil
		return a
	}
	defer a.Release()
	r.rest = array.NewSlice(a, int64(n), int64(a.Len()))
	return array.NewSlice(a, 0, int64(n))
}

// array converts values to an array of the column's type.
func (r *columnReader) array(v *Values) (arrow.Array, error) {
	if r.col.Stored == nil {
		return r.arrayOf(r.col.Type, v)
	}
	a, err := r.arrayOf(r.col.Stored, v)
	if err != nil {
		return nil, err
	}
	return cast(a, r.col.Type)
}

// arrayOf converts values to an array of the type that the file has.
func (r *columnReader) arrayOf(typ arrow.DataType, v *Values) (arrow.Array, error) {
	if v.Made {
		data := arrowData(r.col.Float, v.N, v.Nulls, nil, &v.Valid, &v.Data)
		defer data.Release()
		return array.MakeFromData(data), nil
	}
	list, isList := typ.(*arrow.ListType)
	if !isList {
		data, err := r.data(typ, v)
		if err != nil {
			return nil, err
		}
		defer data.Release()
		return array.MakeFromData(data), nil
	}
	elements, err := r.data(list.Elem(), v)
	if err != nil {
		return nil, err
	}
	defer elements.Release()
	data := arrowData(list, v.Rows, v.NullLists, []arrow.ArrayData{elements}, &v.ValidLists, &v.Lists)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// data converts values to Arrow data of a type.
func (r *columnReader) data(typ arrow.DataType, v *Values) (arrow.ArrayData, error) {
	var err error
	physical := Type(r.col.Physical)
	switch typ.ID() {
	case arrow.BOOL:
		r.replace(v, (v.N+7)/8, packBits)
	case arrow.INT8:
		err = convert(r, v, narrow[int8])
	case arrow.INT16:
		err = convert(r, v, narrow[int16])
	case arrow.UINT8:
		err = convert(r, v, narrow[uint8])
	case arrow.UINT16:
		err = convert(r, v, narrow[uint16])
	case arrow.DECIMAL128:
		switch physical {
		case Int32:
			err = convert(r, v, intDecimals[int32])
		case Int64:
			err = convert(r, v, intDecimals[int64])
		default:
			err = r.byteDecimals(v)
		}
	case arrow.TIMESTAMP:
		switch unit := typ.(*arrow.TimestampType).Unit; {
		case physical == Int96 && unit == arrow.Microsecond:
			err = r.microseconds(v)
		case physical == Int96:
			err = r.nanoseconds(v)
		}
	case arrow.STRING, arrow.BINARY:
		return arrowData(typ, v.N, v.Nulls, nil, &v.Valid, &v.Offsets, &v.Data), nil
	}
	if err != nil {
		return nil, err
	}
	return arrowData(typ, v.N, v.Nulls, nil, &v.Valid, &v.Data), nil
}

// arrowData returns Arrow data in the given buffers, and takes ownership of the buffers.
func arrowData(typ arrow.DataType, n, nulls int, children []arrow.ArrayData, buffers ...**Buffer) arrow.ArrayData {
	owned := make([]*memory.Buffer, len(buffers))
	for i, b := range buffers {
		if *b != nil {
			owned[i] = memory.NewBufferWithAllocator((*b).Bytes, owner{*b})
			defer owned[i].Release()
			*b = nil
		}
	}
	return array.NewData(typ, n, owned, children, nulls, 0)
}

// An owner releases a page buffer when Arrow frees it.
type owner struct{ *Buffer }

func (owner) Allocate(int) []byte { panic("parquet: an owner allocates nothing") }

func (owner) Reallocate(int, []byte) []byte { panic("parquet: an owner allocates nothing") }

func (o owner) Free([]byte) { o.Release() }

// replace replaces the data of values by size bytes that write fills.
func (r *columnReader) replace(v *Values, size int, write func(dst, src []byte)) {
	dst := r.pool.Get(size)
	write(dst.Bytes, v.Data.Bytes)
	v.Data.Release()
	v.Data = dst
}

// convert replaces the values of the file by the values of the array. It returns an error if a value can't be
// converted.
func convert[N, V any](r *columnReader, v *Values, f func(dst []N, src []V) error) (err error) {
	r.replace(v, v.N*sizeOf[N](), func(dst, src []byte) { err = f(As[N](dst), As[V](src)) })
	return err
}

func narrow[N int8 | int16 | uint8 | uint16](dst []N, src []int32) error {
	for i, v := range src {
		if dst[i] = N(v); int32(dst[i]) != v {
			return fmt.Errorf("%d is no value of type %T", v, dst[i])
		}
	}
	return nil
}

// packBits converts bytes of 0 and 1 to a bitmap.
func packBits(dst, src []byte) {
	clear(dst)
	for i, b := range src {
		dst[i/8] |= b << (i % 8)
	}
}

func intDecimals[V int32 | int64](dst []decimal128.Num, src []V) error {
	for i, v := range src {
		dst[i] = decimal128.FromI64(int64(v))
	}
	return nil
}

// byteDecimals converts big-endian numbers in two's complement.
func (r *columnReader) byteDecimals(v *Values) (err error) {
	value := func(src []byte, i int) []byte { return src[i*len(src)/v.N : (i+1)*len(src)/v.N] }
	if v.Offsets != nil {
		ends := As[int32](v.Offsets.Bytes)
		value = func(src []byte, i int) []byte { return src[ends[i]:ends[i+1]] }
	}
	r.replace(v, v.N*sizeOf[decimal128.Num](), func(dst, src []byte) {
		for i := range As[decimal128.Num](dst) {
			b := value(src, i)
			if len(b) > 16 {
				err = fmt.Errorf("a decimal of %d bytes", len(b))
				return
			}
			var wide [16]byte
			if len(b) > 0 && int8(b[0]) < 0 {
				wide = [16]byte(slices.Repeat([]byte{0xff}, 16))
			}
			copy(wide[16-len(b):], b)
			As[decimal128.Num](dst)[i] = decimal128.New(int64(binary.BigEndian.Uint64(wide[:])),
				binary.BigEndian.Uint64(wide[8:]))
		}
	})
	return err
}

// nanoseconds converts nanoseconds of a day and a Julian day to nanoseconds since 1970, which is day 2,440,588. A
// timestamp out of the range of nanoseconds is an error, or null if the column has OutOfRange.
func (r *columnReader) nanoseconds(v *Values) (err error) {
	const perDay, most = 86_400_000_000_000, math.MaxInt64 / 86_400_000_000_000
	var outside []int
	r.replace(v, v.N*8, func(to, from []byte) {
		dst := As[int64](to)
		for i, t := range As[[12]byte](from) {
			day, ns := int64(binary.LittleEndian.Uint32(t[8:]))-2440588, int64(binary.LittleEndian.Uint64(t[:]))
			switch {
			case v.Valid != nil && v.Valid.Bytes[i/8]>>(i%8)&1 == 0:
				dst[i] = 0
			case day > -most && day < most && ns > -perDay && ns < perDay:
				dst[i] = day*perDay + ns
			case r.col.OutOfRange != nil:
				dst[i] = 0
				outside = append(outside, i)
			default:
				err = Unsupported("a timestamp out of the range of nanoseconds, 1677 to 2262, can't be read: write the column " +
					"as INT64 in microseconds, or leave it out")
				return
			}
		}
	})
	if len(outside) > 0 {
		r.col.OutOfRange.Store(true)
		r.makeNull(v, outside)
	}
	return err
}

// microseconds is nanoseconds for microseconds, whose range holds every timestamp that a table may have.
func (r *columnReader) microseconds(v *Values) (err error) {
	const perDay, most = 86_400_000_000, math.MaxInt64/86_400_000_000 - 1
	r.replace(v, v.N*8, func(to, from []byte) {
		dst := As[int64](to)
		for i, t := range As[[12]byte](from) {
			day, ns := int64(binary.LittleEndian.Uint32(t[8:]))-2440588, int64(binary.LittleEndian.Uint64(t[:]))
			switch us := ns / 1000; {
			case v.Valid != nil && v.Valid.Bytes[i/8]>>(i%8)&1 == 0:
				dst[i] = 0
			case day > -most && day < most && us > -perDay && us < perDay:
				dst[i] = day*perDay + us
			default:
				err = Unsupported("a timestamp out of the range of microseconds can't be read: leave the column out")
				return
			}
		}
	})
	return err
}

// makeNull makes values null, given by their numbers.
func (r *columnReader) makeNull(v *Values, numbers []int) {
	valid := r.pool.Get((v.N + 7) / 8)
	for i := range valid.Bytes {
		valid.Bytes[i] = 0xff
	}
	if v.Valid != nil {
		copy(valid.Bytes, v.Valid.Bytes)
		v.Valid.Release()
	}
	for _, i := range numbers {
		valid.Bytes[i/8] &^= 1 << (i % 8)
	}
	v.Valid, v.Nulls = valid, v.Nulls+len(numbers)
}

func sizeOf[V any]() int { return int(unsafe.Sizeof(*new(V))) }
