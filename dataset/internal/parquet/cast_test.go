package parquet

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/require"
)

// TestCast: a value keeps what it is in a wider type, and one beyond the type is an error. The pairs of types are those of Delta's
// "Type Widening" and of Iceberg's "Schema Evolution"; others are not taken.
func TestCast(t *testing.T) {
	types := arrow.PrimitiveTypes
	decimal := func(precision, scale int32) arrow.DataType {
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}
	}
	timestamp := func(unit arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"} }
	us := timestamp(arrow.Microsecond)
	for _, c := range []struct {
		from, to    arrow.DataType
		value, want string // "": the types are not taken; "!": an error
	}{
		{types.Int8, types.Int64, "-128", "-128"}, {types.Int16, types.Int32, "-32768", "-32768"}, {types.Int32, types.Int64, "-2147483648", "-2147483648"},
		{types.Int32, types.Int16, "32767", "32767"}, {types.Int32, types.Int16, "32768", "!"}, {types.Int32, types.Int8, "-129", "!"}, {types.Int64, types.Int32, "1", ""}, {types.Uint32, types.Int64, "1", ""},
		{types.Int32, types.Float64, "2147483647", "2.147483647e+09"}, {types.Int64, types.Float64, "1", ""}, {types.Float32, types.Float64, "0.1", "0.10000000149011612"}, {types.Float64, types.Float32, "1", ""},
		{types.Int32, decimal(12, 2), "-7", "-7"}, {types.Int64, decimal(5, 2), "1000", "!"}, {decimal(6, 2), decimal(12, 4), "-12.34", "-12.34"}, {decimal(6, 2), decimal(7, 4), "1.00", ""}, {decimal(12, 4), decimal(6, 2), "1.00", ""},
		{types.Date32, us, "1969-12-31", "1969-12-31 00:00:00Z"}, {timestamp(arrow.Millisecond), us, "1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999Z"},
		{timestamp(arrow.Nanosecond), us, "1969-12-31 23:59:59.999999999", "1969-12-31 23:59:59.999999Z"}, {us, &arrow.TimestampType{Unit: arrow.Microsecond}, "2024-01-01 00:00:00", "2024-01-01 00:00:00Z"},
		{arrow.BinaryTypes.Binary, arrow.BinaryTypes.String, "YWI=", "ab"}, {arrow.BinaryTypes.String, types.Int64, "1", ""}, {types.Int64, arrow.BinaryTypes.String, "1", ""},
		{arrow.ListOf(types.Int32), arrow.ListOf(types.Int64), "[1,null,3]", "[1,null,3]"}, {arrow.ListOf(types.Float32), arrow.ListOf(types.Int64), "[1]", ""},
	} {
		if is := castable(c.from, c.to); is != (c.want != "") {
			t.Errorf("%s to %s: %v", c.from, c.to, is)
		}
		if c.want == "" {
			continue
		}
		b := array.NewBuilder(memory.DefaultAllocator, c.from)
		for _, text := range []string{c.value, "(null)", c.value} {
			if text == "(null)" {
				b.AppendNull()
			} else {
				require.NoError(t, b.AppendValueFromString(text))
			}
		}
		got, err := cast(b.NewArray(), c.to)
		switch {
		case c.want == "!":
			if err == nil || !strings.Contains(err.Error(), "out of the range of ") {
				t.Errorf("%s to %s: error %v", c.from, c.to, err)
			}
		case err != nil || !arrow.TypeEqual(got.DataType(), c.to) || got.ValueStr(0) != c.want || got.ValueStr(2) != c.want || got.NullN() != 1 || !got.IsNull(1):
			t.Errorf("%s to %s: error %v, %v, want %s", c.from, c.to, err, got, c.want)
		}
	}
}
