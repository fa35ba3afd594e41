package lake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
)

// A deltaField is a column of the schema in a log.
type deltaField struct {
	Name     string
	Type     json.RawMessage
	Metadata map[string]json.RawMessage
}

// A partitionKey is a column whose value for a file is in the log.
type partitionKey struct {
	key string // in the log
	typ arrow.DataType
}

// schema returns the table with its columns, and the columns whose values are in the log, by their names.
func (l *deltaLog) schema(pin *source.Pin) (*source.LakeTable, map[string]partitionKey, error) {
	broken := func(format string, args ...any) error {
		return damaged("%s: the schema in its log %w: restore the files of %s", pin.Folder, fmt.Errorf(format, args...),
			source.DeltaLog)
	}
	var schema struct{ Fields []deltaField }
	if err := json.Unmarshal([]byte(l.metadata.SchemaString), &schema); err != nil {
		return nil, nil, broken("is no JSON")
	}
	mode, err := l.mapping(pin.Folder)
	if err != nil {
		return nil, nil, err
	}
	t := &source.LakeTable{
		Kind:    source.Delta,
		Name:    pin.Path,
		Version: fmt.Sprintf("Delta version %d", pin.Version),
		ByID:    mode == "id",
		Log:     "the log of " + pin.Folder,
		Expires: "a vacuum",
	}
	keys, seen := map[string]partitionKey{}, map[string]bool{}
	for _, f := range schema.Fields {
		if seen[f.Name] {
			return nil, nil, broken("has the column %q twice", f.Name)
		}
		seen[f.Name] = true
		c := source.LakeColumn{Name: f.Name, InFile: f.Name}
		if c.Type, c.Desc, c.Unread = deltaType(f.Type); mode != "" {
			if json.Unmarshal(f.Metadata["delta.columnMapping.physicalName"], &c.InFile) != nil || c.InFile == "" ||
				mode == "id" && json.Unmarshal(f.Metadata["delta.columnMapping.id"], &c.ID) != nil {
				return nil, nil, broken("says of column %q neither how files name it", f.Name)
			}
		}
		if t.ByID {
			if t.IDs == nil {
				t.IDs = map[string]int32{}
			}
			t.IDs[c.InFile] = c.ID
		}
		if c.Constant = slices.Contains(l.metadata.PartitionColumns, f.Name); c.Constant {
			if c.Type == nil || c.Unread {
				return nil, nil, broken("partitions by column %q, which is %s", f.Name, c.Desc)
			}
			keys[f.Name] = partitionKey{c.InFile, c.Type}
		}
		t.Columns = append(t.Columns, c)
	}
	for _, name := range l.metadata.PartitionColumns {
		if !seen[name] {
			return nil, nil, broken("lacks the column %q, by which the table is partitioned", name)
		}
	}
	return t, keys, nil
}

// mapping returns how columns of files are found: "" by their names, "name" by other names, or "id".
func (l *deltaLog) mapping(dir string) (string, error) {
	mode := l.configured("delta.columnMapping.mode")
	switch {
	case mode == "" || mode == "none":
		mode = ""
	case mode != "name" && mode != "id":
		return "", refused("%s: the files of this Delta table have names of columns by %q, which is not known here: write "+
			"its rows as Parquet first", dir, mode)
	case l.protocol.MinReaderVersion != 2 && !l.protocol.has("columnMapping"):
		return "", refused("%s: its log sets delta.columnMapping.mode, and its protocol doesn't: write its rows as "+
			"Parquet first", dir)
	}
	if of := l.configured("delta.coordinatedCommits.commitCoordinator-preview"); of != "" {
		return "", refused("%s: the newest versions of this Delta table are known to %s only: write its rows as Parquet "+
			"first", dir, of)
	}
	return mode, nil
}

func (l *deltaLog) configured(key string) string {
	if text := l.metadata.Configuration[key]; text != nil {
		return *text
	}
	return ""
}

// deltaTypes are the types without parameters.
var deltaTypes = map[string]arrow.DataType{
	"string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary, "boolean": arrow.FixedWidthTypes.Boolean,
	"byte": arrow.PrimitiveTypes.Int8, "short": arrow.PrimitiveTypes.Int16, "integer": arrow.PrimitiveTypes.Int32,
	"long": arrow.PrimitiveTypes.Int64, "float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"date": arrow.FixedWidthTypes.Date32, "timestamp": timestampUTC, "timestamp_ntz": timestampNTZ,
}

var (
	timestampUTC = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	timestampNTZ = &arrow.TimestampType{Unit: arrow.Microsecond}
	decimalType  = regexp.MustCompile(`^decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)$`)
)

// deltaType returns a type of a schema, and its name in messages. The type is nil for structures and maps, and for lists of
// them, whose types are in the files; unread is true if the values of the type can't be read.
func deltaType(text json.RawMessage) (t arrow.DataType, desc string, unread bool) {
	var name string
	if json.Unmarshal(text, &name) == nil {
		if t = deltaTypes[name]; t == nil {
			t = decimalOf(name)
		}
		return t, name, t == nil
	}
	var nested struct {
		Type        string
		ElementType json.RawMessage
	}
	if json.Unmarshal(text, &nested) != nil {
		return nil, "an unknown type", true
	}
	switch nested.Type {
	case "array":
		if element, _, _ := deltaType(nested.ElementType); element != nil && column.Number(element) {
			return arrow.ListOf(element), "list", false
		}
		return nil, "list", false
	case "map", "struct":
		return nil, nested.Type, false
	}
	return nil, cmp.Or(nested.Type, "an unknown type"), true
}

// decimalOf returns the type of a text such as decimal(10,2), or nil.
func decimalOf(text string) arrow.DataType {
	found := decimalType.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	precision, _ := strconv.Atoi(found[1])
	scale, _ := strconv.Atoi(found[2])
	if precision < 1 || precision > 38 || scale > precision {
		return nil
	}
	return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}
}

// timeForms are the forms of times in the values of partitions. Without a zone they are UTC.
var timeForms = []string{
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999",
	time.DateOnly,
}

// value returns the value of a column for a file, whose values in the log are given.
func (k partitionKey) value(values map[string]*string) (*column.Constant, error) {
	text, is := values[k.key]
	if !is {
		return nil, errors.New("there is none")
	}
	if text == nil || *text == "" {
		return &column.Constant{Null: true, Fallback: true}, nil
	}
	switch k.typ.ID() {
	case arrow.TIMESTAMP:
		for _, form := range timeForms {
			if t, err := time.Parse(form, *text); err == nil {
				return checked(t.UTC().Format(time.RFC3339Nano), k.typ)
			}
		}
		return nil, fmt.Errorf("%q is no time", *text)
	case arrow.BOOL:
		return checked(strings.ToLower(*text), k.typ)
	}
	return checked(*text, k.typ)
}
