package column

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// SparseLists returns true if each value of the type is a list of indices with a number for each index. These types
// are:
//
//   - lists of structures with the fields index and value
//   - maps from integers to numbers
//   - structures of two lists, indices and values; they may have the fields size and type, as Spark's vectors do
func SparseLists(t arrow.DataType) bool {
	_, ok := placesOf(t)
	return ok
}

// places are the positions of the fields of sparse lists within their structure; -1: the structure doesn't have the
// field.
type places struct{ index, value, size, kind int }

func placesOf(t arrow.DataType) (places, bool) {
	switch t := t.(type) {
	case *arrow.MapType:
		return places{0, 1, -1, -1}, isInteger(t.KeyType()) && isValue(t.ItemType())
	case *arrow.StructType:
		return fieldPlaces(t, true, true)
	}
	s, ok := elementOf(t).(*arrow.StructType)
	return fieldPlaces(s, ok, false)
}

// fieldPlaces returns the positions of a structure's fields if ok is true. If lists is true, indices and values are
// lists. The result is false if the structure isn't a structure of sparse lists.
func fieldPlaces(s *arrow.StructType, ok, lists bool) (places, bool) {
	p := places{-1, -1, -1, -1}
	if !ok {
		return p, false
	}
	for i, f := range s.Fields() {
		t := f.Type
		if lists {
			t = elementOf(t)
		}
		switch {
		case slices.Contains([]string{"index", "indices"}, f.Name) && p.index < 0 && isInteger(t):
			p.index = i
		case slices.Contains([]string{"value", "values"}, f.Name) && p.value < 0 && isValue(t):
			p.value = i
		case lists && f.Name == "size" && p.size < 0 && isInteger(f.Type):
			p.size = i
		case lists && f.Name == "type" && p.kind < 0 && isInteger(f.Type):
			p.kind = i
		default:
			return p, false
		}
	}
	return p, p.index >= 0 && p.value >= 0
}

// elementOf returns the type of the elements of lists, or nil for another type.
func elementOf(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.ListType:
		return t.Elem()
	case *arrow.LargeListType:
		return t.Elem()
	}
	return nil
}

func isInteger(t arrow.DataType) bool { return t != nil && arrow.IsInteger(t.ID()) }

func isValue(t arrow.DataType) bool {
	return t != nil && (arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()))
}

// Lists reads an array of sparse lists.
type Lists struct {
	Values arrow.Array // of all rows

	rows            arrow.Array
	indices, values array.ListLike // equal if the lists have structures or are maps
	pairs           *array.Struct  // the structures of index and value, or nil
	index           arrow.Array    // of all rows
	number          func(i int) int64
	narrow          []int32 // the indices if they have this type and none is null; otherwise nil

	size, kind arrow.Array // fields of Spark's vectors; may be nil
}

// denseVector is the type of a vector of Spark that has all values and no indices.
const denseVector = 1

// NewLists returns a reader of an array of sparse lists, or nil for an array of another type.
func NewLists(a arrow.Array) *Lists {
	switch a.(type) {
	case *array.Struct, *array.List, *array.LargeList, *array.Map:
		if p, ok := placesOf(a.DataType()); ok {
			return listsOf(a, p)
		}
	}
	return nil
}

// listsOf returns a reader of an array whose fields have the positions p, or nil if the array contradicts its type.
func listsOf(a arrow.Array, p places) *Lists {
	l, ok := &Lists{rows: a}, true
	if s, is := a.(*array.Struct); is {
		var both bool
		l.indices, ok = s.Field(p.index).(array.ListLike)
		if l.values, both = s.Field(p.value).(array.ListLike); !ok || !both {
			return nil
		}
		l.index, l.Values = l.indices.ListValues(), l.values.ListValues()
		if p.size >= 0 {
			l.size = s.Field(p.size)
		}
		if p.kind >= 0 {
			l.kind = s.Field(p.kind)
		}
	} else {
		l.values = a.(array.ListLike)
		if l.pairs, ok = l.values.ListValues().(*array.Struct); !ok {
			return nil
		}
		l.indices, l.index, l.Values = l.values, l.pairs.Field(p.index), l.pairs.Field(p.value)
	}
	l.number = Whole(l.index)
	if narrow, is := l.index.(*array.Int32); is && narrow.NullN() == 0 && (l.pairs == nil || l.pairs.NullN() == 0) {
		l.narrow = narrow.Int32Values()
	}
	return l
}

// Row returns the range from lo up to, but not including, hi of a row's values in Values, and the position at of its
// first index. at is -1 for a vector without indices, whose values have the indices 0, 1, 2 and so on. A null has no
// values. If the row is wrong, Row returns an error text, otherwise "".
func (l *Lists) Row(i int) (lo, hi, at int, what string) {
	if l.rows.IsNull(i) {
		return 0, 0, 0, ""
	}
	lo, hi = spanOf(l.values, i)
	if l.pairs != nil {
		return lo, hi, lo, ""
	}
	if l.kind != nil && l.kind.IsValid(i) && Whole(l.kind)(i) == denseVector {
		return lo, hi, -1, ""
	}
	at, end := spanOf(l.indices, i)
	if end-at != hi-lo {
		return 0, 0, 0, fmt.Sprintf("a list of %d indices and one of %d values: write an index for each value", end-at, hi-lo)
	}
	return lo, hi, at, ""
}

// spanOf returns the range of the elements of list i. A null has no elements.
func spanOf(l array.ListLike, i int) (lo, hi int) {
	if l.IsNull(i) {
		return 0, 0
	}
	from, to := l.ValueOffsets(i)
	return int(from), int(to)
}

// Index returns the index at a position, or an error text.
func (l *Lists) Index(at int) (index int64, what string) {
	if l.narrow != nil && l.narrow[at] >= 0 {
		return int64(l.narrow[at]), ""
	}
	if l.index.IsNull(at) || l.pairs != nil && l.pairs.IsNull(at) {
		return 0, "a null in place of an index: write a number from 0 on"
	}
	if index = l.number(at); index < 0 {
		return index, fmt.Sprintf("index %d: write a number from 0 on", index)
	}
	return index, ""
}

func (l *Lists) IndexText(at int) string { return l.index.ValueStr(at) }

// Size returns the number of features that a row states, or 0 if it states none.
func (l *Lists) Size(i int) int64 {
	if l.size == nil || l.rows.IsNull(i) || l.size.IsNull(i) {
		return 0
	}
	return Whole(l.size)(i)
}

// missing returns true if some value of row i is null, NaN or infinite. A row without values has no missing value.
func (l *Lists) missing(i int) bool {
	lo, hi, _, _ := l.Row(i)
	if complete(l.Values, lo, hi) {
		return false
	}
	for k := lo; k < hi; k++ {
		if IsMissing(l.Values, k) {
			return true
		}
	}
	return false
}
