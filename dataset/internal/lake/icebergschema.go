package lake

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/parquet"
	"halfspace/dataset/internal/source"
)

// schema sets the columns of the table, by its current schema.
func (t *iceberg) schema() error {
	t.table = &source.LakeTable{Kind: source.Iceberg, Name: t.pin.Path, Version: "Iceberg without a snapshot", ByID: true,
		Log: "the metadata in " + t.pin.Path, Expires: "expiring snapshots"}
	current := t.meta.Schema
	for i := range t.meta.Schemas {
		if t.meta.Schemas[i].ID == t.meta.CurrentSchema {
			current = &t.meta.Schemas[i]
		}
	}
	if current == nil {
		return t.damaged(t.pin.Path, fmt.Errorf("it lacks its current schema, %d", t.meta.CurrentSchema))
	}
	seen := map[string]bool{}
	for _, f := range current.Fields {
		if _, twice := t.fields[f.ID]; twice || seen[f.Name] {
			return t.damaged(t.pin.Path, fmt.Errorf("its schema has the column %q twice", f.Name))
		}
		seen[f.Name], t.fields[f.ID] = true, f
		c := source.LakeColumn{Name: f.Name, InFile: f.Name, ID: f.ID}
		c.Type, c.Desc, c.Unread = icebergType(f.Type)
		t.table.Columns = append(t.table.Columns, c)
	}
	return t.names()
}

// names sets the ids of the columns of files without ids, by the name mapping of the table.
func (t *iceberg) names() error {
	text := t.meta.Properties["schema.name-mapping.default"]
	if text == "" {
		return nil
	}
	var all []struct {
		ID    *int32 `json:"field-id"`
		Names []string
	}
	if json.Unmarshal([]byte(text), &all) != nil {
		return t.damaged(t.pin.Path, errors.New("its property schema.name-mapping.default is no JSON"))
	}
	t.table.IDs = map[string]int32{}
	for _, f := range all {
		for _, name := range f.Names {
			if _, twice := t.table.IDs[name]; twice {
				return t.damaged(t.pin.Path, fmt.Errorf("its property schema.name-mapping.default has %q twice", name))
			}
			if f.ID != nil {
				t.table.IDs[name] = *f.ID
			}
		}
	}
	return nil
}

// icebergTypes are the types without parameters.
var icebergTypes = map[string]arrow.DataType{
	"boolean": arrow.FixedWidthTypes.Boolean, "int": arrow.PrimitiveTypes.Int32, "long": arrow.PrimitiveTypes.Int64,
	"float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64, "string": arrow.BinaryTypes.String,
	"binary": arrow.BinaryTypes.Binary, "date": arrow.FixedWidthTypes.Date32, "time": arrow.FixedWidthTypes.Time64us,
	"timestamp": timestampNTZ, "timestamptz": timestampUTC, "uuid": &arrow.FixedSizeBinaryType{ByteWidth: 16},
	"timestamp_ns":   &arrow.TimestampType{Unit: arrow.Nanosecond},
	"timestamptz_ns": &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
}

var fixedType = regexp.MustCompile(`^fixed\[(\d{1,5})\]$`)

// icebergType returns a type of a schema, and its name in messages. The type is nil for maps, and for lists that aren't lists of
// numbers. The fields of structures have ids too, so that structures aren't read.
func icebergType(text json.RawMessage) (t arrow.DataType, desc string, unread bool) {
	var name string
	if json.Unmarshal(text, &name) == nil {
		if t = icebergTypes[name]; t == nil {
			t = decimalOf(name)
		}
		if found := fixedType.FindStringSubmatch(name); found != nil {
			if n, _ := strconv.Atoi(found[1]); n > 0 && n <= 64<<10 {
				t = &arrow.FixedSizeBinaryType{ByteWidth: n}
			}
		}
		return t, name, t == nil
	}
	var nested struct {
		Type       string
		Element    json.RawMessage
		Key, Value json.RawMessage
	}
	if json.Unmarshal(text, &nested) != nil {
		return nil, "an unknown type", true
	}
	switch nested.Type {
	case "list":
		element, _, _ := icebergType(nested.Element)
		if element != nil && column.Number(element) {
			return arrow.ListOf(element), "list", false
		}
		return nil, "list", true
	case "map":
		key, _, _ := icebergType(nested.Key)
		value, _, _ := icebergType(nested.Value)
		return nil, "map", key == nil || value == nil
	}
	return nil, cmp.Or(nested.Type, "an unknown type"), true
}

// defaults returns the values that columns have in files that lack them.
func (t *iceberg) defaults() (map[string]*column.Constant, error) {
	all := map[string]*column.Constant{}
	for _, f := range t.fields {
		if len(f.Initial) == 0 || string(f.Initial) == "null" {
			continue
		}
		typ, desc, unread := icebergType(f.Type)
		if typ == nil || unread {
			return nil, t.refuse(
				"column %q is %s with a default value, which is not read: write its rows as Parquet first",
				f.Name,
				desc,
			)
		}
		c, err := defaultValue(f.Initial, typ)
		if err != nil {
			return nil, t.damaged(t.pin.Path, fmt.Errorf("the default value of column %q: %w", f.Name, err))
		}
		all[f.Name] = c
	}
	return all, nil
}

// defaultValue returns a value in JSON, by Iceberg's appendix about single values.
func defaultValue(text json.RawMessage, typ arrow.DataType) (*column.Constant, error) {
	value := string(text)
	if json.Unmarshal(text, &value) != nil {
		value = string(text) // a number or a boolean
	}
	switch typ := typ.(type) {
	case *arrow.BinaryType, *arrow.FixedSizeBinaryType:
		if len(value) == 36 { // a UUID
			value = strings.ReplaceAll(value, "-", "")
		}
		b, err := hex.DecodeString(value)
		if err != nil {
			return nil, err
		}
		value = string(b)
	case *arrow.TimestampType:
		if typ.TimeZone == "" {
			value += "Z"
		}
	}
	return checked(value, typ)
}

// checked returns the constant with a text, or an error if it is no value of a type.
func checked(text string, typ arrow.DataType) (*column.Constant, error) {
	c := &column.Constant{Text: text, Fallback: true}
	made, err := c.Values(typ, 1)
	if made != nil {
		made.Release()
	}
	return c, err
}

// partitionValue returns the value of a column in all rows of a file, by the value in its manifest.
func partitionValue(of icebergField, v any) (*column.Constant, error) {
	typ, desc, _ := icebergType(of.Type)
	if v == nil {
		return &column.Constant{Null: true, Fallback: true}, nil
	}
	if typ == nil {
		return nil, fmt.Errorf("it is %s", desc)
	}
	epoch := time.Unix(0, 0).UTC()
	switch v := v.(type) {
	case int64:
		switch t := typ.(type) {
		case *arrow.Date32Type:
			return checked(epoch.AddDate(0, 0, int(v)).Format(time.DateOnly), typ)
		case *arrow.TimestampType:
			return checked(arrow.Timestamp(v).ToTime(t.Unit).Format(time.RFC3339Nano), typ)
		case *arrow.Time64Type:
			return checked(epoch.Add(time.Duration(v)*time.Microsecond).Format("15:04:05.999999"), typ)
		}
		return checked(strconv.FormatInt(v, 10), typ)
	case float32:
		return checked(strconv.FormatFloat(float64(v), 'g', -1, 64), typ)
	case float64:
		return checked(strconv.FormatFloat(v, 'g', -1, 64), typ)
	case bool:
		return checked(strconv.FormatBool(v), typ)
	case string:
		return checked(v, typ)
	case []byte:
		if t, is := typ.(*arrow.Decimal128Type); is {
			return checked(decimalText(v, int(t.Scale)), typ)
		}
		return checked(string(v), typ)
	}
	return nil, fmt.Errorf("it is %T", v)
}

// decimalText returns the text of a number in two's complement, the highest byte first.
func decimalText(b []byte, scale int) string {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	digits, sign := n.String(), ""
	if n.Sign() < 0 {
		digits, sign = digits[1:], "-"
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// positionLeaves are the columns of a file that removes rows.
var positionLeaves = []parquet.Leaf{{Path: "file_path", Type: parquet.LeafText, Essential: true},
	{Path: "pos", Type: parquet.LeafWhole}}

// positions calls remove with each row that a file removes: the URI of the row's file, and its number in that file.
func (t *iceberg) positions(d *icebergFile, remove func(uri string, row int64)) error {
	rows := int64(0)
	err := parquet.Leaves(t.ctx, d.path, positionLeaves, func(b *column.Batch) error {
		uris, isText := b.Columns[0].(*array.String)
		numbers, isWhole := b.Columns[1].(*array.Int64)
		if !isText || !isWhole || uris.NullN()+numbers.NullN() > 0 {
			return t.damaged(d.path, errors.New("it has no column file_path or pos"))
		}
		rows += b.Rows
		for i := range int(b.Rows) {
			if numbers.Value(i) < 0 {
				return t.damaged(d.path, fmt.Errorf("it removes row %d", numbers.Value(i)))
			}
			remove(uris.Value(i), numbers.Value(i))
		}
		return nil
	})
	if err == nil && rows != d.rows {
		err = t.damaged(d.path, fmt.Errorf("%d rows, but %d in its manifest", rows, d.rows))
	}
	return err
}
