package ipc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"halfspace/dataset"
	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/records"
	"halfspace/internal/require"
)

// storedAs returns the values as an array of a type that stores them in another way. Runs have up to four rows, of
// which some are equal.
func storedAs(t *testing.T, typ arrow.DataType, values []string) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	for i := 0; i < len(values); {
		n := 1
		for ; i+n < len(values) && n < 4 && values[i+n] == values[i]; n++ {
		}
		if runs, is := b.(*array.RunEndEncodedBuilder); is {
			runs.Append(uint64(n))
			b := runs.ValueBuilder()
			if values[i] == "" {
				b.AppendNull()
			} else {
				require.NoError(t, b.AppendValueFromString(values[i]))
			}
			i += n
			continue
		}
		switch b := b.(type) {
		case array.VarLenListLikeBuilder:
			b.AppendWithSize(values[i] != "", len(values[i]))
			for _, c := range []byte(values[i]) {
				b.ValueBuilder().(*array.Int32Builder).Append(int32(c))
			}
		case interface{ Append([]byte) }:
			if values[i] == "" {
				b.(array.Builder).AppendNull()
			} else {
				b.Append([]byte(values[i]))
			}
		default:
			if values[i] == "" {
				b.AppendNull()
			} else {
				require.NoError(t, b.AppendValueFromString(values[i]))
			}
		}
		i++
	}
	return b.NewArray()
}

// TestPlain: views, runs and list views are read as the plain types: the same rows from Arrow IPC, of which a batch is
// sliced, and from the records of a program.
func TestPlain(t *testing.T) {
	const rows = 70_000 // more than a batch has
	r := rand.New(rand.NewPCG(1, 2))
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		typ, plain arrow.DataType
		values     []string
	}{
		{arrow.BinaryTypes.StringView, arrow.BinaryTypes.String, []string{"a", "", "a text of more than twelve bytes", "ä"}},
		{arrow.BinaryTypes.BinaryView, arrow.BinaryTypes.Binary, []string{"a", "", "a text of more than twelve bytes"}},
		{arrow.RunEndEncodedOf(p.Int32, arrow.BinaryTypes.String), arrow.BinaryTypes.String, []string{"a", "", "bc"}},
		{arrow.RunEndEncodedOf(p.Int64, arrow.BinaryTypes.LargeString), arrow.BinaryTypes.String, []string{"a", "", "bc"}},
		{arrow.RunEndEncodedOf(p.Int32, p.Float64), p.Float64, []string{"1.5", "", "-3"}},
		{arrow.RunEndEncodedOf(p.Int32, p.Int8), p.Int8, []string{"1", "2", "-3"}},
		{arrow.RunEndEncodedOf(p.Int32, arrow.FixedWidthTypes.Boolean), arrow.FixedWidthTypes.Boolean, []string{"true", "",
			"false"}},
		{arrow.RunEndEncodedOf(p.Int32, arrow.FixedWidthTypes.Date32), arrow.FixedWidthTypes.Date32, []string{"2026-01-31",
			"", "1969-12-31"}},
		{arrow.RunEndEncodedOf(p.Int32, &arrow.Decimal128Type{Precision: 9, Scale: 2}), &arrow.Decimal128Type{Precision: 9,
			Scale: 2}, []string{"1.25", "", "-3"}},
		{arrow.ListViewOf(p.Int32), arrow.ListOf(p.Int32), []string{"ab", "", "xy"}},
		{arrow.LargeListViewOf(p.Int32), arrow.ListOf(p.Int32), []string{"ab", "", "xy"}},
	} {
		values := make([]string, rows)
		for i := range values {
			values[i] = c.values[r.IntN(len(c.values))]
		}
		numbers := make([]int32, rows)
		for i := range numbers {
			numbers[i] = int32(i)
		}
		var want string
		for _, typ := range []arrow.DataType{c.plain, c.typ} {
			rec := datatest.Record(t, datatest.Column("n", numbers, nil), datatest.Field{Field: arrow.Field{Name: "x", Type: typ,
				Nullable: true}, Array: storedAs(t, typ, values)})
			path := filepath.Join(t.TempDir(), "a.arrow")
			require.NoError(t, os.WriteFile(path, fileOf(t, rec, 1), 0o600))
			ext := ".csv"
			if strings.Contains(c.plain.String(), "list") {
				ext = ".parquet"
			}
			out := filepath.Join(filepath.Dir(path), "out"+ext)
			if _, err := dataset.Convert(t.Context(), []string{path}, out, dataset.Options{Where: "n >= 3", Workers: 2},
				dataset.WriterOptions{}); err != nil {
				t.Fatalf("%s: %v", typ, err)
			}
			if ext == ".parquet" { // the types may differ in width: compare the numbers
				data := require.Value(dataset.Load(t.Context(), out, dataset.Options{Nulls: "drop"}))(t)
				var all []float32
				for b, err := range data.Blocks(t.Context()) {
					require.NoError(t, err)
					for i := range b.Len() {
						all = append(all, b.X[i*b.Stride:i*b.Stride+b.Cols]...)
					}
				}
				if got := fmt.Sprint(all); want == "" {
					want = got
				} else if got != want {
					t.Errorf("%s: other numbers", typ)
				}
			} else if got := string(require.Value(os.ReadFile(out))(t)); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s: %.200s, want %.200s", typ, got, want)
			}
			reader := require.Value(array.NewRecordReader(rec.Schema(), []arrow.Record{rec.NewSlice(5, rows)}))(t)
			data, err := records.Load(t.Context(), reader, records.Options{Nulls: "drop", Categorical: "onehot"})
			if err != nil || data.Rows() < rows/2 {
				t.Errorf("%s: records: %v", typ, err)
			}
		}
	}
}

// TestPlainRoom: views of one long text in each row take more memory than the file has bytes, and end with an error
// that says so.
func TestPlainRoom(t *testing.T) {
	b := array.NewBuilder(memory.DefaultAllocator, arrow.BinaryTypes.StringView).(*array.StringViewBuilder)
	long := strings.Repeat("x", 10_000)
	b.Append(long)
	one := b.NewArray()
	const rows = 60_000
	header := one.Data().Buffers()[1].Bytes()[:16]
	var headers []byte
	for range rows {
		headers = append(headers, header...)
	}
	data := array.NewData(arrow.BinaryTypes.StringView, rows, append([]*memory.Buffer{nil, memory.NewBufferBytes(headers)},
		one.Data().Buffers()[2:]...), nil, 0, 0)
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.StringView}}, nil),
		[]arrow.Array{array.MakeFromData(data)}, rows)
	path := filepath.Join(t.TempDir(), "a.arrow")
	require.NoError(t, os.WriteFile(path, fileOf(t, rec, 1), 0o600))
	_, err := dataset.Convert(t.Context(), []string{path}, filepath.Join(filepath.Dir(path), "out.csv"),
		dataset.Options{Memory: 64 << 20}, dataset.WriterOptions{})
	if require.Error(t, err, `column "x": its values take 572`); !errors.Is(err, dataset.ErrMemory) {
		t.Errorf("%v is no ErrMemory", err)
	}
}

// A shortField is a column of a schema message.
type shortField struct {
	name   string
	bits   int // of decimals
	nested bool
	kind   byte // number of another type in Schema.fbs
}

// schemaOf returns a schema message with columns of decimals of precision 9 and scale 2.
func schemaOf(columns []shortField) []byte {
	b := flatbuffers.NewBuilder(1024)
	vector := func(tables []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartVector(4, len(tables), 4)
		for i := len(tables) - 1; i >= 0; i-- {
			b.PrependUOffsetT(tables[i])
		}
		return b.EndVector(len(tables))
	}
	field := func(name string, kind byte, typ, children flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		text := b.CreateString(name)
		b.StartObject(7)
		b.PrependUOffsetTSlot(0, text, 0)
		b.PrependBoolSlot(1, true, false)
		b.PrependByteSlot(2, kind, 0)
		b.PrependUOffsetTSlot(3, typ, 0)
		b.PrependUOffsetTSlot(5, children, 0)
		return b.EndObject()
	}
	var fields []flatbuffers.UOffsetT
	for _, c := range columns {
		kind := byte(7)
		if c.kind != 0 {
			kind = c.kind
		}
		b.StartObject(3)
		if c.kind == 0 {
			b.PrependInt32Slot(0, 9, 0)
			b.PrependInt32Slot(1, 2, 0)
			b.PrependInt32Slot(2, int32(c.bits), 128)
		}
		typ := b.EndObject()
		f := field(c.name, kind, typ, vector(nil))
		if c.nested {
			b.StartObject(0)
			typ := b.EndObject()
			f = field("list", 12, typ, vector([]flatbuffers.UOffsetT{f}))
		}
		fields = append(fields, f)
	}
	all := vector(fields)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, all, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0) // version 5
	b.PrependByteSlot(1, 1, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	for len(meta)%8 != 0 {
		meta = append(meta, 0)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("\xff\xff\xff\xff"), uint32(len(meta))), meta...)
}

// TestShortDecimals: decimals of 32 and 64 bits, which the Arrow library doesn't read, are decimals; where they are
// nested, and for types that came later, an error names the column and the type.
func TestShortDecimals(t *testing.T) {
	rec := datatest.Record(t, datatest.Values("a", arrow.PrimitiveTypes.Int32, "[125, null, -300]"), datatest.Values("b",
		arrow.PrimitiveTypes.Int64, "[999999999, 7, null]"))
	stream := streamOf(t, rec, 2)
	rest := stream[8+int(binary.LittleEndian.Uint32(stream[4:])):]
	dir := t.TempDir()
	text, err := convert(t, filepath.Join(dir, "a.arrow"), append(schemaOf([]shortField{{name: "a", bits: 32}, {name: "b",
		bits: 64}}), rest...), ".csv")
	require.NoError(t, err)
	if want := "a,b\n" + strings.Repeat("1.25,9999999.99\n,0.07\n-3,\n", 2); text != want {
		t.Errorf("%q, want %q", text, want)
	}
	nested := []shortField{{name: "a", bits: 32, nested: true}}
	late := []shortField{{name: "a", bits: 64}, {name: "b",
		kind: 27}}
	for want, columns := range map[string][]shortField{
		`column "list" is nested, with decimals of 9 digits, of 32 or 64 bits, which can't be read: cast it`: nested,
		`column "b" is of Arrow's type number 27, which can't be read`:                                       late,
	} {
		_, err := convert(t, filepath.Join(dir, "b.arrow"), append(schemaOf(columns), rest...), ".csv")
		require.Error(t, err, want)
	}
}
