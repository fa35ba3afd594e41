package transform

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// ToInput returns how a column becomes features. The result is false if the column can't be a feature.
func ToInput(c column.Column, text Coding) (schema.Column, bool) {
	if c.NumberedFeatures > 0 {
		return schema.Column{Name: c.Name, Kind: schema.NumberedColumn, First: c.Index, Elements: c.NumberedFeatures}, true
	}
	if kind, ok := column.ClassKind(c.Texts().Type); ok && text.named {
		return schema.Column{Name: c.Name, Kind: text.kind, HashBits: text.bits, Values: text.valuesOf(c.Texts().Type, kind),
			Words: text.words.WithoutLearned()}, true
	}
	if column.Number(c.Type) {
		return schema.Column{Name: c.Name, Kind: schema.NumberColumn, Unit: column.Unit(c.Type)}, true
	}
	if column.Textual(c.Type) {
		return schema.Column{Name: c.Name, Kind: text.kind, HashBits: text.bits, Words: text.words.WithoutLearned()},
			text.kind == schema.OneHotColumn || text.kind == schema.HashColumn || text.words != nil
	}
	if column.SparseLists(c.Type) {
		return schema.Column{Name: c.Name, Kind: schema.ListColumn}, true
	}
	_, n, ok := column.ListOf(c.Type)
	return schema.Column{Name: c.Name, Kind: schema.ListColumn, Elements: n}, ok
}

// CanBeFeature returns true if features can be made of a column, as numbers or as categories.
func CanBeFeature(c column.Column) bool {
	_, ok := ToInput(c, Coding{kind: schema.OneHotColumn})
	return ok
}

// fits returns true if a column of another file, or of a model's data, can replace the wanted column. It doesn't
// compare the lengths of lists, which are checked for each row. Categories of a model match by their texts, whatever their type.
func fits(have, want schema.Column, model bool) bool {
	return have.Kind == want.Kind && have.Unit == want.Unit && (have.Values == want.Values || model && want.Categorical())
}

// isWeight returns true if a column may contain sample weights.
func isWeight(c column.Column) bool {
	return column.Number(c.Type) && column.Unit(c.Type) == "" && c.Type.ID() != arrow.BOOL
}

// keepable returns true if a column of type t can be kept: its values aren't nested, or they are lists of numbers.
func keepable(t arrow.DataType) bool {
	if t == nil || !arrow.IsNested(t.ID()) {
		return t != nil
	}
	_, _, ok := column.ListOf(t)
	return ok
}

// toPart returns a column as a part of a cross. The result is false if the column can't be a part of a cross.
func toPart(c column.Column) (schema.Part, bool) {
	t := c.Texts().Type
	kind, ok := column.ClassKind(t)
	if !ok { // t may be nil
		return schema.Part{}, false
	}
	return schema.Part{Name: c.Name, Values: Coding{}.valuesOf(t, kind)}, true
}

// derivable returns true if the number of a feature can derive from the values of a column.
func derivable(have column.Column, want schema.Column) bool {
	if d, is := have.Type.(*arrow.DictionaryType); is {
		have.Type = d.ValueType
	}
	_, dated := column.PerDay(have.Type)
	switch {
	case have.Type == nil || have.NumberedFeatures > 0:
		return false
	case want.Derive == schema.Missing:
		return column.Number(have.Type) || textual(have.Type)
	case want.Derive.Dated():
		return dated && clocksFit(have.Type, want) || textual(have.Type)
	}
	return textual(have.Type) || column.Number(have.Type) && column.Unit(have.Type) == ""
}

// clocksFit returns true if the column and the feature both have times of day, or both have dates. A model of an earlier version
// has no layout for times of day: its Layout is empty and its Origin is 0.
func clocksFit(t arrow.DataType, want schema.Column) bool {
	ofClock := []schema.Derivation{schema.Days, schema.HourSin, schema.HourCos}
	mayBeClock := want.Layout == "" && want.Origin == 0 && slices.Contains(ofClock, want.Derive)
	return column.IsClock(t) == want.IsClock() || column.IsClock(t) && mayBeClock
}

// textual returns true if values of the type are text, or a dictionary of texts.
func textual(t arrow.DataType) bool {
	kind, ok := column.ClassKind(t)
	return ok && kind == schema.String
}

// numberInText is the derivation of a model's column of numbers from a column that has them as texts, in a file whose
// types say so. No model has it.
const numberInText schema.Derivation = "number in a text"

// fromTexts returns the inputs of a model, with numberInText for columns of numbers that are texts in the file.
func (s *fileColumns) fromTexts(inputs []schema.Column) []schema.Column {
	isCloned := false
	for k, want := range inputs {
		if want.Kind != schema.NumberColumn || want.Derive != "" || want.Unit != "" {
			continue
		}
		i, err := s.lookUp(want.Name)
		if err != nil || s.cols[i].Type == nil || !textual(s.cols[i].Type) {
			continue
		}
		if !isCloned {
			inputs, isCloned = slices.Clone(inputs), true
		}
		inputs[k].Derive = numberInText
	}
	return inputs
}

// nameInput returns the words for the values that a model takes from a column.
func nameInput(c schema.Column) string {
	switch {
	case c.Derive.Dated() && c.IsClock():
		return "a time of day"
	case c.Derive.Dated():
		return "a date or time"
	case c.Derive == schema.Boolean:
		return "yes or no"
	case c.Kind == schema.ListColumn:
		return fmt.Sprintf("lists of %d numbers", c.Elements)
	case c.Kind == schema.NumberedColumn:
		return "the pairs of an svmlight file"
	case c.Categorical() && c.Values != "":
		return "a " + c.Values
	case c.Categorical():
		return "text"
	case c.Unit != "":
		return c.Unit
	}
	return "a number"
}
