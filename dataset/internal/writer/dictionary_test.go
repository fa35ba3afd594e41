package writer

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/require"
)

// TestKeys: a column with a dictionary gives the values that its rows stand for, and their bounds, whatever dictionaries its
// records have: slices, other ones, values that repeat or that no row has, an empty text.
func TestKeys(t *testing.T) {
	numbers := func(values ...int64) arrow.Array { return datatest.Column("", values, nil).Array }
	texts := func(values ...string) arrow.Array { return datatest.Column("", values, nil).Array }
	for name, dictionaries := range map[string][]arrow.Array{
		"numbers":             {numbers(7, -1, 3)},
		"a slice of numbers":  {array.NewSlice(numbers(9, 7, -1, 3), 1, 4)},
		"numbers, others":     {numbers(7, -1, 3), numbers(-1, 7, 4), numbers(7, -1, 3)},
		"numbers that repeat": {numbers(7, 7, 3)},
		"texts":               {texts("bb", "", "c")},
		"a slice of texts":    {array.NewSlice(texts("x", "a", "bb", "ccc"), 1, 4)},
		"texts, others":       {texts("a", "bb", ""), texts("bb", "c", "d")},
	} {
		var records []arrow.Record
		var want []string
		for _, values := range dictionaries {
			keys := []int{0, 1, -1, 1, 0}
			typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: values.DataType()}
			d := column.NewDictionary(values, keys)
			schema := arrow.NewSchema([]arrow.Field{{Name: "prediction", Type: typ, Nullable: true}}, nil)
			records = append(records, array.NewRecord(schema, []arrow.Array{d}, int64(len(keys))))
			for _, k := range keys {
				text := "null"
				if k >= 0 {
					text = values.ValueStr(k)
				}
				want = append(want, text)
			}
		}
		data := written(t, inParquet(ParquetOptions{}), records...)
		var got []string
		for _, chunk := range readParquet(t, data).Column(0).Data().Chunks() {
			for i := range chunk.Len() {
				text := "null"
				if chunk.IsValid(i) {
					text = chunk.ValueStr(i)
				}
				got = append(got, text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows %q, want %q", name, got, want)
		}
		stats := require.Value(require.Value(openParquet(t, data).MetaData().RowGroup(0).ColumnChunk(0))(t).Statistics())(t)
		values := slices.DeleteFunc(slices.Clone(want), func(text string) bool { return text == "null" })
		var least, most string
		switch stats := stats.(type) {
		case *metadata.Int64Statistics:
			slices.SortFunc(values, func(a, b string) int {
				return cmp.Compare(require.Value(strconv.Atoi(a))(t), require.Value(strconv.Atoi(b))(t))
			})
			least, most = strconv.FormatInt(stats.Min(), 10), strconv.FormatInt(stats.Max(), 10)
		case *metadata.ByteArrayStatistics:
			slices.Sort(values)
			least, most = string(stats.Min()), string(stats.Max())
		}
		if least != values[0] || most != values[len(values)-1] {
			t.Errorf("%s: bounds %q and %q of %q", name, least, most, values)
		}
	}
}
