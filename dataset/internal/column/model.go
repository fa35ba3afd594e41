package column

import (
	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/schema"
)

// AsModel sets the types of the columns that a model uses to the types that the model takes, where the first rows
// permit it: a column of digits may be text, and a column without values may be numbers. A column of text may be numbers if the
// request skips the texts that are no numbers, or rejects their lines.
func AsModel(req OpenOptions, cols []Column) {
	if req.Spec == nil {
		return
	}
	types := map[string]arrow.DataType{}
	ofValues := map[string]arrow.DataType{"": arrow.BinaryTypes.String, schema.Number.String(): arrow.PrimitiveTypes.Float64,
		schema.Bool.String(): arrow.FixedWidthTypes.Boolean}
	for _, in := range req.Spec.Columns() {
		switch {
		case in.Derive == schema.Missing: // another input has the column, or any type will do
		case in.Derive != "":
			types[in.Name] = arrow.BinaryTypes.String
		case in.Kind == schema.NumberColumn:
			types[in.Name] = arrow.PrimitiveTypes.Float64
		case in.Kind == schema.OneHotColumn || in.Kind == schema.HashColumn || in.Kind == schema.WordsColumn:
			types[in.Name] = ofValues[in.Values]
		case in.Kind == schema.CrossColumn:
			for _, part := range in.Of {
				types[part.Name] = ofValues[part.Values]
			}
		}
	}
	for i := range cols {
		c := &cols[i]
		typ := types[c.Name]
		if typ == nil {
			continue
		}
		isText := c.Type.ID() == arrow.STRING || c.Type.ID() == arrow.BOOL && c.TextType != nil
		toNumbers := typ.ID() == arrow.FLOAT64 && isText && (req.SkipsTexts || req.Rejects != nil)
		if toNumbers && c.TextType == nil {
			c.TextType = arrow.BinaryTypes.String
		}
		c.ReadsTextAsNumbers = toNumbers
		if c.Empty || typ.ID() == arrow.STRING || toNumbers {
			c.Type, c.Desc, c.Advice = typ, Describe(typ), ""
		}
	}
}
