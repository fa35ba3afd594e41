package column

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/schema"
)

// FeatureTypes names, for messages, the types from which features can be made.
const FeatureTypes = "a number, a boolean or a list of numbers"

// ClassKind returns the kind of the classes of a label with type t. ok is false if a label can't have this type.
func ClassKind(t arrow.DataType) (kind schema.ClassKind, ok bool) {
	if t == nil {
		return 0, false
	}
	switch id := t.ID(); {
	case id == arrow.BOOL:
		return schema.Bool, true
	case arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id):
		return schema.Number, true
	case id == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.BINARY || id == arrow.LARGE_BINARY:
		return schema.String, true
	case id == arrow.DICTIONARY:
		return ClassKind(t.(*arrow.DictionaryType).ValueType)
	}
	return 0, false
}

// LabelKind is ClassKind for labels, which may be dates too: the class of a date is its text, such as 2024-01-05.
func LabelKind(t arrow.DataType) (kind schema.ClassKind, ok bool) {
	if t != nil && (t.ID() == arrow.DATE32 || t.ID() == arrow.DATE64) {
		return schema.String, true
	}
	return ClassKind(t)
}

// SvmlightLabel is the name of the label column of svmlight files. The feature with index 7 has the name f7:
// SvmlightFeature, then the index.
const (
	SvmlightLabel   = "label"
	SvmlightFeature = "f"
)

// Describe returns a type's name in messages.
func Describe(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.LargeStringType:
		return "string"
	case *arrow.DictionaryType:
		return Describe(t.ValueType)
	case arrow.NestedType:
		return t.Name()
	}
	return t.String()
}

// Number returns true if values of the type are numbers that a feature can be; booleans count as 0 and 1.
func Number(t arrow.DataType) bool {
	if t == nil {
		return false
	}
	id := t.ID()
	return id == arrow.BOOL || arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id) || Unit(t) != ""
}

// Unit returns the unit of the numbers of a date or time type, "" for other types. Types with the same unit have the
// same number for the same instant.
func Unit(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return "days since 1970"
	case *arrow.Date64Type:
		return "ms since 1970"
	case *arrow.TimestampType:
		return t.Unit.String() + " since 1970"
	case *arrow.Time32Type:
		return t.Unit.String() + " since midnight"
	case *arrow.Time64Type:
		return t.Unit.String() + " since midnight"
	case *arrow.DurationType:
		return t.Unit.String()
	}
	return ""
}

// SameClock returns true if both types are dates and times since 1970, or both are times since midnight: PerDay makes their numbers
// days, of any unit.
func SameClock(a, b arrow.DataType) bool {
	_, dated := PerDay(a)
	_, also := PerDay(b)
	return dated && also && IsClock(a) == IsClock(b)
}

// IsClock returns true if values of the type are times of day without a date.
func IsClock(t arrow.DataType) bool { return strings.HasSuffix(Unit(t), "midnight") }

// PerDay returns the units of a date or time type in a day, or false if the type is none.
func PerDay(t arrow.DataType) (perDay float64, ok bool) {
	unit := arrow.Millisecond
	switch t := t.(type) {
	case *arrow.Date32Type:
		return 1, true
	case *arrow.Date64Type:
	case *arrow.TimestampType:
		unit = t.Unit
	case *arrow.Time32Type:
		unit = t.Unit
	case *arrow.Time64Type:
		unit = t.Unit
	default:
		return 0, false
	}
	perSecond := [...]float64{arrow.Second: 1, arrow.Millisecond: 1e3, arrow.Microsecond: 1e6, arrow.Nanosecond: 1e9}
	return 86400 * perSecond[unit], true
}

// ListOf returns the type of the elements of lists of numbers, and the length of each list, or 0 if the type doesn't
// state it.
func ListOf(t arrow.DataType) (elements arrow.DataType, n int, ok bool) {
	elements = elementOf(t)
	if fixed, is := t.(*arrow.FixedSizeListType); is {
		elements, n = fixed.Elem(), int(fixed.Len())
	}
	return elements, n, Number(elements) && Unit(elements) == ""
}

// Textual returns true if values of the type can be categories: text, and the values of a dictionary.
func Textual(t arrow.DataType) bool {
	kind, ok := ClassKind(t)
	return ok && (kind == schema.String || t.ID() == arrow.DICTIONARY)
}
