package column

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// InBounds returns true if the offsets of a column of text, binary data or lists ascend. It also checks dictionaries
// and fields. Arrow checks only the last offset.
func InBounds(a arrow.Array) bool {
	if a.Len() == 0 { // it may have no offsets
		return true
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return InBounds(a.Dictionary())
	case interface{ ValueOffsets() []int32 }:
		return ascend(a.ValueOffsets())
	case interface{ ValueOffsets() []int64 }:
		return ascend(a.ValueOffsets())
	case array.ListLike:
		return listsAscend(a)
	case *array.Struct:
		return fieldsInBounds(a)
	}
	return true
}

func ascend[I int32 | int64](offsets []I) bool { return offsets[0] >= 0 && slices.IsSorted(offsets) }

func listsAscend(a array.ListLike) bool {
	last := int64(0)
	for i := range a.Len() {
		lo, hi := a.ValueOffsets(i)
		if lo < last || hi < lo {
			return false
		}
		last = hi
	}
	return last <= int64(a.ListValues().Len()) && InBounds(a.ListValues())
}

// fieldsInBounds returns true if a structure has the fields of its type, each with a value for every row.
func fieldsInBounds(a *array.Struct) bool {
	if t, ok := a.DataType().(*arrow.StructType); !ok || t.NumFields() != a.NumField() {
		return false
	}
	for i := range a.NumField() {
		if f := a.Field(i); f.Len() < a.Len() || !InBounds(f) {
			return false
		}
	}
	return true
}
