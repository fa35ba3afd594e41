package column

import (
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// isInfinite returns true for the dates and times by which DuckDB means infinity and minus infinity, and for the least
// integer, by which NumPy means no time.
func isInfinite[S int32 | int64](v S) bool {
	most := S(1)<<(8*unsafe.Sizeof(v)-2) - 1 + S(1)<<(8*unsafe.Sizeof(v)-2)
	return v == most || v <= -most
}

// infiniteDate returns true if value i of an array is an infinite date or time.
func infiniteDate(a arrow.Array, i int) bool {
	switch a.DataType().ID() {
	case arrow.DATE32:
		return isInfinite(arrow.GetValues[int32](a.Data(), 1)[i])
	case arrow.TIMESTAMP:
		return isInfinite(arrow.GetValues[int64](a.Data(), 1)[i])
	}
	return false
}

// HasInfiniteDate returns true if a value of an array is an infinite date or time.
func HasInfiniteDate(a arrow.Array) bool {
	some := false
	switch a.DataType().ID() {
	case arrow.DATE32:
		some = slices.ContainsFunc(arrow.GetValues[int32](a.Data(), 1)[:a.Len()], isInfinite)
	case arrow.TIMESTAMP:
		some = slices.ContainsFunc(arrow.GetValues[int64](a.Data(), 1)[:a.Len()], isInfinite)
	}
	for i := 0; some && i < a.Len(); i++ {
		if a.IsValid(i) && infiniteDate(a, i) {
			return true
		}
	}
	return false
}

// Missing returns the rows from lo up to, but not including, hi that are missing: null, NaN or infinite, or lists
// with a missing element. A sparse list that is null has no values, so it isn't missing.
func Missing(a arrow.Array, lo, hi int) (rows []int) {
	if l := NewLists(a); l != nil {
		for i := lo; i < hi; i++ {
			if l.missing(i) {
				rows = append(rows, i)
			}
		}
		return rows
	}
	if complete(a, lo, hi) {
		return nil
	}
	for i := lo; i < hi; i++ {
		if IsMissing(a, i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// complete returns true if no value from lo up to, but not including, hi is missing. It is fast, and may return false
// although no value is missing.
func complete(a arrow.Array, lo, hi int) bool {
	if a.NullN() > 0 || lo == hi {
		return lo == hi
	}
	switch a := a.(type) {
	case *array.Float32:
		return Finite(a.Float32Values()[lo:hi])
	case *array.Float64:
		return Finite(a.Float64Values()[lo:hi])
	case *array.Float16, *array.Dictionary:
		return false
	case *array.Date32:
		return !slices.ContainsFunc(arrow.GetValues[int32](a.Data(), 1)[lo:hi], isInfinite)
	case *array.Timestamp:
		return !slices.ContainsFunc(arrow.GetValues[int64](a.Data(), 1)[lo:hi], isInfinite)
	case array.ListLike:
		from, _ := a.ValueOffsets(lo)
		_, to := a.ValueOffsets(hi - 1)
		return complete(a.ListValues(), int(from), int(to))
	}
	return true
}

// IsMissing returns true if value i is null, NaN or infinite, as dates may be too, or a list with a missing element.
func IsMissing(a arrow.Array, i int) bool {
	if l := NewLists(a); l != nil {
		return l.missing(i)
	}
	if a.IsNull(i) {
		return true
	}
	v := 0.0
	switch a := a.(type) {
	case *array.Float16:
		v = float64(HalfFloat(a.Value(i)))
	case *array.Float32:
		v = float64(a.Value(i))
	case *array.Float64:
		v = a.Value(i)
	case *array.Date32, *array.Timestamp:
		return infiniteDate(a, i)
	case *array.Dictionary:
		return IsMissing(a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		for k := int(from); k < int(to); k++ {
			if IsMissing(a.ListValues(), k) {
				return true
			}
		}
	}
	return math.IsNaN(v) || math.IsInf(v, 0)
}
