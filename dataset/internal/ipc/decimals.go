package ipc

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	flatbuffers "github.com/google/flatbuffers/go"

	"halfspace/dataset/internal/column"
)

// Arrow's Schema.fbs has decimals of 32 and 64 bits, which the Arrow library of this program doesn't read. Arrow
// stores such a decimal as an integer: the schema that the library gets has integers in place of the decimals, and the
// records that the library makes get decimals again.
const (
	typeInt, typeDecimal, lastType      = 2, 7, 26 // numbers of types
	slotDictionary                      = 12       // of Field
	slotPrecision, slotScale, slotWidth = 4, 6, 8  // of Decimal
)

// intType is a table of the type Int, behind its virtual table of 8 bytes; the number of bits is at byte 12.
var intType = [...]byte{8, 0, 12, 0, 4, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}

// adapt returns the bytes of a schema message with integers in place of short decimals, and sets the types of the
// decimals. It returns an error that names the first column whose type can't be read.
func (m *Messages) adapt(meta []byte) ([]byte, error) {
	_, header, _ := headerOf(meta)
	m.decimals = map[int]*arrow.Decimal128Type{}
	var places []flatbuffers.Table // fields with short decimals
	var bad error
	all := messageCheck{left: math.MaxInt}
	number := 0
	all.Each(header, slotFields, func(field flatbuffers.Table) {
		if d := shortDecimal(field); d != nil && field.Offset(slotDictionary) == 0 {
			m.decimals[number] = d
			places = append(places, field)
		} else if what := unreadable(field); what != "" && bad == nil {
			bad = column.ErrorIn(m.src.Path, "column %q is %s, which can't be read: cast it to another type, such as float64, "+
				"or leave it out of the table", nameOf(field), what)
		}
		number++
	})
	if bad != nil {
		return nil, column.Mark(bad, column.ErrColumn)
	}
	for _, field := range places {
		var decimal flatbuffers.Table
		field.Union(&decimal, flatbuffers.UOffsetT(field.Offset(slotType)))
		width := byte(decimal.GetInt32Slot(slotWidth, 128))
		at := field.Pos + flatbuffers.UOffsetT(field.Offset(slotType))
		meta[field.Pos+flatbuffers.UOffsetT(field.Offset(slotTypeType))] = typeInt
		binary.LittleEndian.PutUint32(meta[at:], uint32(len(meta)+8)-uint32(at))
		meta = append(meta, intType[:]...)
		meta[len(meta)-len(intType)+12] = width
	}
	return meta, nil
}

func nameOf(field flatbuffers.Table) string {
	if o := flatbuffers.UOffsetT(field.Offset(slotName)); o != 0 {
		return string(field.ByteVector(o + field.Pos))
	}
	return ""
}

// shortDecimal returns the type of a field of decimals of 32 or 64 bits, or nil.
func shortDecimal(field flatbuffers.Table) *arrow.Decimal128Type {
	o := flatbuffers.UOffsetT(field.Offset(slotType))
	if o == 0 || field.GetByteSlot(slotTypeType, 0) != typeDecimal {
		return nil
	}
	var t flatbuffers.Table
	field.Union(&t, o)
	if width := t.GetInt32Slot(slotWidth, 128); width != 32 && width != 64 {
		return nil
	}
	return &arrow.Decimal128Type{Precision: t.GetInt32Slot(slotPrecision, 0), Scale: t.GetInt32Slot(slotScale, 0)}
}

// unreadable returns the name of a type in a field, or nested in it, that the Arrow library doesn't read, or "".
func unreadable(field flatbuffers.Table) (what string) {
	if kind := field.GetByteSlot(slotTypeType, 0); kind > lastType {
		return fmt.Sprintf("of Arrow's type number %d", kind)
	}
	if d := shortDecimal(field); d != nil {
		what = fmt.Sprintf("decimals of %d digits, of 32 or 64 bits", d.Precision)
		if field.Offset(slotDictionary) != 0 {
			what = "a dictionary of " + what
		}
		return what
	}
	all := messageCheck{left: math.MaxInt}
	all.Each(field, slotChildren, func(child flatbuffers.Table) {
		if of := unreadable(child); of != "" && what == "" {
			what = "nested, with " + of
		}
	})
	return what
}

// Schema returns the schema of the records, with decimals where the schema of the Arrow library has integers.
func (r *recordReader) Schema() *arrow.Schema {
	s := r.Reader.Schema()
	fields := s.Fields()
	for i, t := range r.messages.decimals {
		fields[i].Type = t
	}
	metadata := s.Metadata()
	return arrow.NewSchema(fields, &metadata)
}

// Record returns the current record, with decimals where the record of the Arrow library has integers.
func (r *recordReader) Record() arrow.Record {
	rec := r.Reader.Record()
	if len(r.messages.decimals) == 0 {
		return rec
	}
	columns := append([]arrow.Array(nil), rec.Columns()...)
	for i, t := range r.messages.decimals {
		columns[i] = r.decimals(columns[i], t)
		defer columns[i].Release()
	}
	if r.record != nil {
		r.record.Release()
	}
	r.record = array.NewRecord(r.Schema(), columns, rec.NumRows())
	return r.record
}

func (r *recordReader) decimals(a arrow.Array, t *arrow.Decimal128Type) arrow.Array {
	b := array.NewDecimal128Builder(r.mem, t)
	defer b.Release()
	b.Reserve(a.Len())
	for i, value := 0, column.Whole(a); i < a.Len(); i++ {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(decimal128.FromI64(value(i)))
		}
	}
	return b.NewArray()
}
