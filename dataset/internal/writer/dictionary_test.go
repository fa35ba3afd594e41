package writer

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
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

// TestKeyPages: dictionaries of every size a byte allows, rows around the groups of eight of packed keys, columns without nulls, with
// some and of nulls alone, and slices give the rows that were written.
func TestKeyPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 1))
	for range 400 {
		values := make([]int64, 1+rng.IntN(1<<(1+rng.IntN(8))))
		for i := range values {
			values[i] = int64(i*i) - 99
		}
		dictionary := datatest.Column("", values, nil).Array
		typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: dictionary.DataType()}
		nullable, nulls := rng.IntN(2) == 0, rng.IntN(3) // of two rows
		schema := arrow.NewSchema([]arrow.Field{{Name: "prediction", Type: typ, Nullable: nullable}}, nil)
		var records []arrow.Record
		var want []string
		for range 1 + rng.IntN(3) {
			keys := make([]int, 1+rng.IntN(40))
			used := 1 + rng.IntN(len(values))
			for i := range keys {
				keys[i] = rng.IntN(used)
				if nullable && rng.IntN(2) < nulls {
					keys[i] = -1
				}
			}
			from := rng.IntN(len(keys))
			d := array.NewSlice(column.NewDictionary(dictionary, keys), int64(from), int64(len(keys)))
			records = append(records, array.NewRecord(schema, []arrow.Array{d}, int64(d.Len())))
			for i := range d.Len() {
				want = append(want, d.ValueStr(i))
			}
		}
		codec := []string{"none", "snappy"}[rng.IntN(2)]
		read := readParquet(t, written(t, inParquet(ParquetOptions{Compression: codec, GroupRows: int64(1 + rng.IntN(60))}), records...))
		var got []string
		for _, chunk := range read.Column(0).Data().Chunks() {
			for i := range chunk.Len() {
				got = append(got, chunk.ValueStr(i))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d values, nullable %t, %s: rows %q, want %q", len(values), nullable, codec, got, want)
		}
	}
}

// TestKeyParts: a row group of several large parts has a page for each, and knows how many values are null; so does the row group after it.
func TestKeyParts(t *testing.T) {
	for _, size := range []int{1, 2, 200, 256, 300} {
		values := make([]int64, size)
		for i := range values {
			values[i] = int64(i)
		}
		dictionary := datatest.Column("", values, nil).Array
		typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: dictionary.DataType()}
		schema := arrow.NewSchema([]arrow.Field{{Name: "prediction", Type: typ, Nullable: true}}, nil)
		const rows, group = pageBytes + 3, 2*(pageBytes+3) + 5
		var records []arrow.Record
		for part := range 3 {
			keys := make([]uint8, rows)
			valid := slices.Repeat([]byte{0xff}, (rows+7)/8)
			nulls := 0
			if part < 2 {
				valid[part], nulls = 0x0f, 4
			}
			for i := range keys {
				keys[i] = uint8((i*7 + part) % min(size, 256))
			}
			data := array.NewDataWithDictionary(typ, rows, []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(keys)}, nulls, 0,
				dictionary.Data().(*array.Data))
			records = append(records, array.NewRecord(schema, []arrow.Array{array.NewDictionaryData(data)}, rows))
		}
		file := written(t, inParquet(ParquetOptions{GroupRows: group}), records...)
		for n, want := range []int64{8, 0} {
			chunk := require.Value(openParquet(t, file).MetaData().RowGroup(n).ColumnChunk(0))(t)
			if got := require.Value(chunk.Statistics())(t).NullCount(); got != want {
				t.Errorf("%d values, row group %d: %d nulls, want %d", size, n, got, want)
			}
			if got := openParquet(t, file).MetaData().RowGroups[n].GetOrdinal(); int(got) != n {
				t.Errorf("%d values, row group %d: ordinal %d", size, n, got)
			}
		}
		got := readParquet(t, file).Column(0).Data().Chunks()
		at := 0
		for _, chunk := range got {
			for i := range chunk.Len() {
				part, row := at/rows, at%rows
				null := part < 2 && row/8 == part && row%8 >= 4
				if chunk.IsNull(i) != null || !null && chunk.(*array.Int64).Value(i) != int64((row*7+part)%min(size, 256)) {
					t.Fatalf("%d values: row %d is %s", size, at, chunk.ValueStr(i))
				}
				at++
			}
		}
		if at != 3*rows {
			t.Errorf("%d rows of %d", at, 3*rows)
		}
	}
}
