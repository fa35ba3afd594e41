package parquet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"halfspace/dataset/internal/column"
)

// A noRowMatches is column.Roles.NoRowMatches.
type noRowMatches = func(file string, rows int64, bounds []column.Bounds) bool

// unread returns true if the statistics of a row group exclude each of its rows. Without ordered, only the numbers of nulls count.
// Row groups with lists, or with values of a length that the footer claims, are always read.
func unread(path string, g *Group, columns []column.Column, ordered bool, noMatch noRowMatches) bool {
	bounds := make([]column.Bounds, len(columns))
	for k, c := range columns {
		if c.Index == column.Absent {
			bounds[k] = c.Ends(g.Rows)
			continue
		}
		if c.ListDef > 0 || c.Parts != nil || parquet.Type(c.Physical) == parquet.Types.FixedLenByteArray {
			return false
		}
		chunk := &g.Chunks[k]
		bounds[k] = column.Bounds{Nulls: -1}
		if chunk.Nulls >= 0 && chunk.Nulls <= g.Rows {
			bounds[k].Nulls = chunk.Nulls
		}
		if c.MaxDef == 0 {
			bounds[k].Nulls = 0
		}
		if ordered && chunk.Min != nil && chunk.Max != nil {
			bounds[k].Ends = ends(c, chunk.Min, chunk.Max)
		}
	}
	return noMatch(path, g.Rows, bounds)
}

// ends returns an array of two bounds, or nil if they are unusable: of another length, out of order, NaN, or of a type whose bounds
// are not used.
func ends(c column.Column, low, high []byte) arrow.Array {
	if c.Type == nil || c.Stored != nil {
		return nil
	}
	b := array.NewBuilder(memory.DefaultAllocator, c.Type)
	defer b.Release()
	if !appendEnds(b, parquet.Type(c.Physical), low, high) {
		return nil
	}
	return b.NewArray()
}

func appendEnds(b array.Builder, physical parquet.Type, low, high []byte) bool {
	switch b := b.(type) {
	case *array.StringBuilder:
		return physical == parquet.Types.ByteArray && bytes.Compare(low, high) <= 0 && appendBoth(b.Append, string(low), string(high))
	case *array.BinaryBuilder:
		return physical == parquet.Types.ByteArray && bytes.Compare(low, high) <= 0 && appendBoth(b.Append, low, high)
	}
	size := map[parquet.Type]int{parquet.Types.Boolean: 1, parquet.Types.Int32: 4, parquet.Types.Float: 4,
		parquet.Types.Int64: 8, parquet.Types.Double: 8}[physical]
	if size == 0 || len(low) != size || len(high) != size {
		return false
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return size == 1 && low[0] <= high[0] && high[0] <= 1 && appendBoth(b.Append, low[0] == 1, high[0] == 1)
	case *array.Float32Builder:
		return physical == parquet.Types.Float && appendOrdered(b.Append, math.Float32frombits(uint32(whole(low))),
			math.Float32frombits(uint32(whole(high))))
	case *array.Float64Builder:
		return physical == parquet.Types.Double && appendOrdered(b.Append, math.Float64frombits(uint64(whole(low))),
			math.Float64frombits(uint64(whole(high))))
	}
	if physical != parquet.Types.Int32 && physical != parquet.Types.Int64 {
		return false
	}
	lo, hi := whole(low), whole(high)
	switch b := b.(type) {
	case *array.Int8Builder:
		return lo == int64(int8(lo)) && hi == int64(int8(hi)) && appendOrdered(b.Append, int8(lo), int8(hi))
	case *array.Int16Builder:
		return lo == int64(int16(lo)) && hi == int64(int16(hi)) && appendOrdered(b.Append, int16(lo), int16(hi))
	case *array.Int32Builder:
		return size == 4 && appendOrdered(b.Append, int32(lo), int32(hi))
	case *array.Int64Builder:
		return appendOrdered(b.Append, lo, hi)
	case *array.Uint8Builder:
		return lo == int64(uint8(lo)) && hi == int64(uint8(hi)) && appendOrdered(b.Append, uint8(lo), uint8(hi))
	case *array.Uint16Builder:
		return lo == int64(uint16(lo)) && hi == int64(uint16(hi)) && appendOrdered(b.Append, uint16(lo), uint16(hi))
	case *array.Uint32Builder:
		return size == 4 && appendOrdered(b.Append, uint32(lo), uint32(hi))
	case *array.Uint64Builder:
		return size == 8 && appendOrdered(b.Append, uint64(lo), uint64(hi))
	case *array.Date32Builder:
		return size == 4 && appendOrdered(b.Append, arrow.Date32(lo), arrow.Date32(hi))
	case *array.TimestampBuilder:
		return size == 8 && appendOrdered(b.Append, arrow.Timestamp(lo), arrow.Timestamp(hi))
	}
	return false
}

// whole returns the number whose bytes are b, of which there are 1, 4 or 8; 4 bytes are signed.
func whole(b []byte) int64 {
	switch len(b) {
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		return int64(binary.LittleEndian.Uint64(b))
	}
	return int64(b[0])
}

func appendBoth[T any](add func(T), low, high T) bool {
	add(low)
	add(high)
	return true
}

// appendOrdered adds two bounds unless one is NaN or they are out of order.
func appendOrdered[T cmp.Ordered](add func(T), low, high T) bool {
	return low <= high && appendBoth(add, low, high)
}

// unreadValues is the number of values of a batch that is not read, unless its columns are more.
const unreadValues = 1 << 17

// nulls yields batches of rows that are not read. It returns true if yield took all batches.
func (f *File) nulls(ctx context.Context, rows int64, yield func(*column.Batch, error) bool) bool {
	empty := make([]arrow.Array, len(f.columns))
	most := int64(min(4<<10, max(1, unreadValues/max(1, len(f.columns)))))
	for k, c := range f.columns {
		empty[k] = array.MakeArrayOfNull(memory.DefaultAllocator, c.Type, int(min(rows, most)))
		defer empty[k].Release()
	}
	for ; rows > 0; rows -= most {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return false
		}
		b := &column.Batch{File: f.path, Rows: min(rows, most), Columns: make([]arrow.Array, len(empty)), Unread: true}
		for k, a := range empty {
			b.Columns[k] = array.NewSlice(a, 0, b.Rows)
		}
		if !yield(b, nil) {
			return false
		}
	}
	return true
}
