package column

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// SizeOfRows returns the approximate number of bytes of the values of rows from lo up to, but not including, hi.
// There must be at least one row. The sizes of adjacent ranges add up.
type SizeOfRows func(lo, hi int) int64

func RowSizes(a arrow.Array) SizeOfRows {
	switch a := a.(type) {
	case array.BinaryLike:
		return func(lo, hi int) int64 {
			return 4*int64(hi-lo) + a.ValueOffset64(hi-1) + int64(a.ValueLen(hi-1)) - a.ValueOffset64(lo)
		}
	case array.ListLike:
		elements := RowSizes(a.ListValues())
		return func(lo, hi int) int64 {
			from, _ := a.ValueOffsets(lo)
			_, to := a.ValueOffsets(hi - 1)
			if from == to {
				return 4 * int64(hi-lo)
			}
			return 4*int64(hi-lo) + elements(int(from), int(to))
		}
	}
	width := int64(8)
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		width = int64(max(1, t.Bytes()))
	}
	return func(lo, hi int) int64 { return width * int64(hi-lo) }
}
