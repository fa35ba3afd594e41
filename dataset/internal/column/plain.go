package column

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/message"
)

// PlainType returns the type as which arrays of views, of list views and of run ends are read: each of its arrays has
// its own value for each row. PlainType returns other types unchanged.
func PlainType(t arrow.DataType) arrow.DataType {
	lists := func(element arrow.DataType) arrow.DataType {
		if Number(element) && element.ID() != arrow.BOOL {
			return arrow.LargeListOf(element)
		}
		return t
	}
	switch t := t.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.LargeString
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.LargeBinary
	case *arrow.DictionaryType:
		if of := PlainType(t.ValueType); of != t.ValueType {
			return &arrow.DictionaryType{IndexType: t.IndexType, ValueType: of, Ordered: t.Ordered}
		}
	case *arrow.RunEndEncodedType:
		if of := PlainType(t.Encoded()); Number(of) || Textual(of) {
			return of
		}
	case *arrow.ListViewType:
		return lists(t.Elem())
	case *arrow.LargeListViewType:
		return lists(t.Elem())
	}
	return t
}

// toPlain returns an array of PlainType with the values of an array, or the array itself. It returns an error if the
// values take more than most bytes: a file of a few bytes may repeat a long text in each row.
func toPlain(a arrow.Array, most int64) (arrow.Array, error) {
	if PlainType(a.DataType()) == a.DataType() {
		a.Retain()
		return a, nil
	}
	switch a := a.(type) {
	case array.ViewLike:
		return plainTexts(a, most)
	case *array.Dictionary:
		values, err := toPlain(a.Dictionary(), most)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return array.NewDictionaryArray(PlainType(a.DataType()), a.Indices(), values), nil
	case *array.RunEndEncoded:
		values, err := toPlain(a.Values(), most)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return Gather(values, runsOf(a), most)
	case array.VarLenListLike:
		return plainLists(a, most)
	}
	return nil, fmt.Errorf("%s can't be read", a.DataType())
}

// runsOf returns the number of the run of each row.
func runsOf(a *array.RunEndEncoded) []int {
	ends, runs := Whole(a.RunEndsArr()), make([]int, a.Len())
	run := a.GetPhysicalOffset()
	for i := range runs {
		for ends(run) <= int64(a.Offset()+i) {
			run++
		}
		runs[i] = run
	}
	return runs
}

// errTooLong is the error of values that take too many bytes.
func errTooLong(bytes, most int64) error {
	return Mark(message.Errorf("its values take %s of memory, and the limit is %s: give more with --memory, or write "+
		"smaller records", BytesText(bytes), BytesText(most)), ErrMemory)
}

// plainTexts returns the texts or bytes of views.
func plainTexts(a array.ViewLike, most int64) (arrow.Array, error) {
	bytes := int64(0)
	for i := range a.Len() {
		if a.IsValid(i) {
			bytes += int64(a.ValueHeader(i).Len())
		}
	}
	if bytes > most {
		return nil, errTooLong(bytes, most)
	}
	b := array.NewBuilder(memory.DefaultAllocator, PlainType(a.DataType()))
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
			continue
		}
		switch a := a.(type) {
		case *array.StringView:
			b.(*array.LargeStringBuilder).Append(a.Value(i))
		case *array.BinaryView:
			b.(*array.BinaryBuilder).Append(a.Value(i))
		}
	}
	return b.NewArray(), nil
}

// plainLists returns the lists of list views of numbers.
func plainLists(a array.VarLenListLike, most int64) (arrow.Array, error) {
	offsets, index := make([]int64, 1, a.Len()+1), []int{}
	width := int64(a.ListValues().DataType().(arrow.FixedWidthDataType).Bytes() + 8) // with the index
	for i := range a.Len() {
		if lo, hi := a.ValueOffsets(i); a.IsValid(i) {
			if hi < lo || hi > int64(a.ListValues().Len()) {
				return nil, fmt.Errorf("a list from element %d to %d of %d", lo, hi, a.ListValues().Len())
			}
			if bytes := width * (int64(len(index)) + hi - lo); bytes > most {
				return nil, errTooLong(bytes, most)
			}
			for k := lo; k < hi; k++ {
				index = append(index, int(k))
			}
		}
		offsets = append(offsets, int64(len(index)))
	}
	elements, err := Gather(a.ListValues(), index, most)
	if err != nil {
		return nil, err
	}
	defer elements.Release()
	buffers := []*memory.Buffer{validOf(a, nil), memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(offsets))}
	data := array.NewData(PlainType(a.DataType()), a.Len(), buffers, []arrow.ArrayData{elements.Data()}, a.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// validOf returns a bitmap of the elements that are not null, given by their numbers; -1 stands for a null. index is nil
// for all elements.
func validOf(a arrow.Array, index []int) *memory.Buffer {
	n, at := len(index), func(i int) int { return index[i] }
	if index == nil {
		n, at = a.Len(), func(i int) int { return i }
	}
	bits := make([]byte, bitutil.BytesForBits(int64(n)))
	for i := range n {
		bitutil.SetBitTo(bits, i, at(i) >= 0 && a.IsValid(at(i)))
	}
	return memory.NewBufferBytes(bits)
}

// NewDictionary returns a column of elements of values, given by their numbers; -1 stands for a null.
func NewDictionary(values arrow.Array, index []int) arrow.Array {
	if values.Len() <= 1<<8 {
		return newDictionary[uint8](arrow.PrimitiveTypes.Uint8, values, index)
	}
	return newDictionary[uint32](arrow.PrimitiveTypes.Uint32, values, index)
}

func newDictionary[N uint8 | uint32](typ arrow.DataType, values arrow.Array, index []int) arrow.Array {
	keys, nulls := make([]N, len(index)), 0
	for i, k := range index {
		keys[i] = N(k)
		if k < 0 {
			keys[i], nulls = 0, nulls+1
		}
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(keys))}
	if nulls > 0 {
		buffers[0] = validOf(values, index)
	}
	data := array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: typ, ValueType: values.DataType()}, len(index), buffers,
		nulls, 0, values.Data().(*array.Data))
	defer data.Release()
	return array.NewDictionaryData(data)
}

// FixedBytes returns the memory of values of a fixed width in whole bytes.
func FixedBytes(a arrow.Array) []byte {
	width := a.DataType().(arrow.FixedWidthDataType).Bytes()
	buffer := a.Data().Buffers()[1]
	if buffer == nil {
		return nil
	}
	return buffer.Bytes()[a.Data().Offset()*width:][:a.Len()*width]
}

// Gather returns the elements of an array, given by their numbers; -1 stands for a null. The elements may take most bytes.
func Gather(a arrow.Array, index []int, most int64) (arrow.Array, error) {
	if d, is := a.(*array.Dictionary); is {
		indices, err := Gather(d.Indices(), index, most)
		if err != nil {
			return nil, err
		}
		defer indices.Release()
		return array.NewDictionaryArray(d.DataType(), indices, d.Dictionary()), nil
	}
	if text := Texts(a); text != nil {
		return gatherTexts(a, text, index, most)
	}
	values := make([]byte, bitutil.BytesForBits(int64(len(index))))
	if b, is := a.(*array.Boolean); is {
		for i, k := range index {
			bitutil.SetBitTo(values, i, k >= 0 && b.Value(k))
		}
	} else {
		width := a.DataType().(arrow.FixedWidthDataType).Bytes()
		values = make([]byte, width*len(index))
		src := FixedBytes(a)
		for i, k := range index {
			if k >= 0 {
				copy(values[i*width:], src[k*width:][:width])
			}
		}
	}
	buffers := []*memory.Buffer{validOf(a, index), memory.NewBufferBytes(values)}
	data := array.NewData(a.DataType(), len(index), buffers, nil, array.UnknownNullCount, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

func gatherTexts(a arrow.Array, text func(int) string, index []int, most int64) (arrow.Array, error) {
	bytes := int64(0)
	for _, k := range index {
		if k >= 0 {
			bytes += int64(len(text(k)))
		}
	}
	if bytes > min(most, math.MaxInt32) {
		return nil, errTooLong(bytes, min(most, math.MaxInt32))
	}
	b := array.NewBuilder(memory.DefaultAllocator, a.DataType())
	defer b.Release()
	b.Reserve(len(index))
	texts, _ := b.(interface{ Append(string) })
	for _, k := range index {
		switch {
		case k < 0 || a.IsNull(k):
			b.AppendNull()
		case texts != nil:
			texts.Append(text(k))
		default:
			b.(*array.BinaryBuilder).Append([]byte(text(k)))
		}
	}
	return b.NewArray(), nil
}
