package parquet

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// arrowType returns the type of the arrays into which a flat column is read, or nil if it can't be read, and the
// type's name in messages.
func arrowType(c *pschema.Column) (arrow.DataType, string) {
	t, logical := logicalType(c), strings.ToLower(c.LogicalType().String())
	_, none := c.LogicalType().(pschema.NoLogicalType)
	switch _, bytes := t.(*arrow.FixedSizeBinaryType); {
	case t != nil && (none || !bytes):
		return t, column.Describe(t)
	case none:
		return nil, strings.ToLower(c.PhysicalType().String())
	}
	return t, logical
}

// isList returns true if a column is lists of values that aren't nested themselves. That is a repeated value, or a
// group with the logical type list around a repeated value or around a repeated group with one value.
func isList(root pschema.Node) bool {
	if root.Type() == pschema.Primitive {
		return root.RepetitionType() == parquet.Repetitions.Repeated
	}
	repeated := onlyField(root)
	if _, ok := root.LogicalType().(pschema.ListLogicalType); !ok || repeated == nil ||
		root.RepetitionType() == parquet.Repetitions.Repeated || repeated.RepetitionType() != parquet.Repetitions.Repeated {
		return false
	}
	if repeated.Type() == pschema.Primitive {
		return true
	}
	element := onlyField(repeated)
	return element != nil && element.Type() == pschema.Primitive && element.RepetitionType() != parquet.Repetitions.Repeated
}

// onlyField returns the field of a group with exactly one field, otherwise nil.
func onlyField(n pschema.Node) pschema.Node {
	if g, ok := n.(*pschema.GroupNode); ok && g.NumFields() == 1 {
		return g.Field(0)
	}
	return nil
}

// listType is arrowType for lists. The type is nil unless they are lists of numbers. listDef is the definition level
// from which on a list has an element.
func listType(root pschema.Node, leaf *pschema.Column) (t arrow.DataType, desc string, listDef int) {
	listDef = 1
	if root.RepetitionType() == parquet.Repetitions.Optional {
		listDef = 2
	}
	if element, _ := arrowType(leaf); element != nil && column.Number(element) {
		return arrow.ListOf(element), "list", listDef
	}
	return nil, "list", listDef
}

// A leafForm is the purpose of a leaf column of sparse lists: the name of its field, as in column.SparseLists, and the
// definition level from which on its lists have an element, or 0 if it has no lists.
type leafForm struct {
	name    string
	listDef int
}

// maxFields is the largest number of fields of sparse lists.
const maxFields = 4

// sparseForm returns a form for each leaf column of a column that may be sparse lists, or nil for other columns.
// addPart checks names and types.
func sparseForm(root pschema.Node) (forms []leafForm) {
	group, ok := root.(*pschema.GroupNode)
	if !ok || root.RepetitionType() == parquet.Repetitions.Repeated || group.NumFields() > maxFields {
		return nil
	}
	_, isMap := root.LogicalType().(pschema.MapLogicalType)
	_, ofList := root.LogicalType().(pschema.ListLogicalType)
	if !isMap && !ofList {
		return listsForm(group)
	}
	pair, ok := onlyField(root).(*pschema.GroupNode)
	if !ok || pair.RepetitionType() != parquet.Repetitions.Repeated {
		return nil
	}
	if ofList && pair.NumFields() == 1 { // the group around an element
		if pair, ok = pair.Field(0).(*pschema.GroupNode); !ok || pair.RepetitionType() == parquet.Repetitions.Repeated {
			return nil
		}
	}
	if pair.NumFields() != 2 {
		return nil
	}
	for i, name := range []string{"index", "value"} {
		f := pair.Field(i)
		if f.Type() != pschema.Primitive || f.RepetitionType() == parquet.Repetitions.Repeated {
			return nil
		}
		if !isMap {
			name = f.Name()
		}
		forms = append(forms, leafForm{name, 1 + optional(root)})
	}
	return forms
}

// listsForm returns the forms of a structure whose fields are values or lists of values.
func listsForm(root *pschema.GroupNode) (forms []leafForm) {
	for i := range root.NumFields() {
		switch f := root.Field(i); {
		case isList(f):
			forms = append(forms, leafForm{f.Name(), 1 + optional(root) + optional(f)})
		case f.Type() == pschema.Primitive:
			forms = append(forms, leafForm{f.Name(), 0})
		default:
			return nil
		}
	}
	return forms
}

// optional returns the number of definition levels that a column adds if it is optional: 1 or 0.
func optional(n pschema.Node) int {
	if n.RepetitionType() == parquet.Repetitions.Optional {
		return 1
	}
	return 0
}

// addPart adds a leaf column to a column that may be sparse lists. When all leaf columns are there, the column gets
// its type if column.SparseLists accepts it.
func addPart(col *column.Column, i int, leaf *pschema.Column, forms []leafForm) {
	if len(col.Parts) == len(forms) {
		return
	}
	form := forms[len(col.Parts)]
	part := column.Column{Name: col.Name, Index: i, Physical: int32(leaf.PhysicalType()), Width: leaf.TypeLength(),
		MaxDef: int(leaf.MaxDefinitionLevel()), ListDef: form.listDef, MaxList: schema.MaxNamed}
	if part.Type, _ = arrowType(leaf); part.Type == nil {
		part.Type = arrow.Null
	}
	if form.listDef > 0 {
		part.Type = arrow.ListOf(part.Type)
	}
	if col.Parts = append(col.Parts, part); len(col.Parts) < len(forms) {
		return
	}
	fields := make([]arrow.Field, len(forms))
	for k, p := range col.Parts {
		fields[k] = arrow.Field{Name: forms[k].name, Type: p.Type, Nullable: true}
	}
	if t := arrow.StructOf(fields...); column.SparseLists(t) {
		col.Type = t
	} else {
		col.Parts = nil
	}
}

func logicalType(c *pschema.Column) arrow.DataType {
	if !c.LogicalType().IsApplicable(c.PhysicalType(), int32(c.TypeLength())) {
		return nil
	}
	switch lt := c.LogicalType().(type) {
	case *pschema.IntLogicalType:
		return intType(int(lt.BitWidth()), lt.IsSigned())
	case pschema.Float16LogicalType:
		return arrow.FixedWidthTypes.Float16
	case pschema.StringLogicalType, pschema.EnumLogicalType, pschema.JSONLogicalType:
		return arrow.BinaryTypes.String
	case pschema.DateLogicalType:
		return arrow.FixedWidthTypes.Date32
	case *pschema.TimeLogicalType:
		unit := timeUnit(lt.TimeUnit())
		if unit == arrow.Millisecond {
			return &arrow.Time32Type{Unit: unit}
		}
		return &arrow.Time64Type{Unit: unit}
	case *pschema.TimestampLogicalType:
		zone := ""
		if lt.IsAdjustedToUTC() {
			zone = "UTC"
		}
		return &arrow.TimestampType{Unit: timeUnit(lt.TimeUnit()), TimeZone: zone}
	case *pschema.DecimalLogicalType:
		if p := lt.Precision(); p < 1 || p > 38 {
			return nil
		}
		return &arrow.Decimal128Type{Precision: lt.Precision(), Scale: lt.Scale()}
	case pschema.NullLogicalType:
		return nil
	}
	return physicalType(c)
}

// maxWidth is the largest number of bytes of a value of fixed length. A file of a few bytes may claim gigabytes for
// each value.
const maxWidth = 64 << 10

// physicalType returns the type of a column whose logical type adds nothing about its values.
func physicalType(c *pschema.Column) arrow.DataType {
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Int32:
		return arrow.PrimitiveTypes.Int32
	case parquet.Types.Int64:
		return arrow.PrimitiveTypes.Int64
	case parquet.Types.Int96:
		return arrow.FixedWidthTypes.Timestamp_ns
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.ByteArray:
		return arrow.BinaryTypes.Binary
	case parquet.Types.FixedLenByteArray:
		if c.TypeLength() < 1 || c.TypeLength() > maxWidth {
			return nil
		}
		return &arrow.FixedSizeBinaryType{ByteWidth: c.TypeLength()}
	}
	return nil
}

func intType(bits int, signed bool) arrow.DataType {
	t := arrow.PrimitiveTypes
	types := map[int][2]arrow.DataType{8: {t.Uint8, t.Int8}, 16: {t.Uint16, t.Int16}, 32: {t.Uint32, t.Int32},
		64: {t.Uint64, t.Int64}}
	if signed {
		return types[bits][1]
	}
	return types[bits][0]
}

func timeUnit(u pschema.TimeUnitType) arrow.TimeUnit {
	switch u {
	case pschema.TimeUnitMillis:
		return arrow.Millisecond
	case pschema.TimeUnitMicros:
		return arrow.Microsecond
	}
	return arrow.Nanosecond
}
