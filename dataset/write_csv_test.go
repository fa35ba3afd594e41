package dataset

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// textRecord returns one column of text and one of floats, with a null each.
func textRecord(t *testing.T, texts []string, values []float64) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: `the "text", quoted`, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil))
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues(texts, nil)
	b.Field(1).(*array.Float64Builder).AppendValues(values, nil)
	b.Field(0).AppendNull()
	b.Field(1).AppendNull()
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

func TestWriteCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	texts := []string{"plain", "", "a,b", `"`, "two\nlines", " space", "über"}
	values := []float64{0.1, math.Copysign(0, -1), 1e21, 5e-324, math.Inf(-1), 3, 123456}
	if err := writeAll(path, WriterOptions{}, textRecord(t, texts, values)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	want := `"the ""text"", quoted",value
plain,0.1
"",-0
"a,b",1e+21
"""",5e-324
"two
lines",-Inf
" space",3
über,123456
,
`
	if err != nil || string(got) != want {
		t.Errorf("got (%v):\n%s\nwant:\n%s", err, got, want)
	}
	lines, err := csv.NewReader(strings.NewReader(string(got))).ReadAll()
	if err != nil || len(lines) != len(texts)+2 {
		t.Fatalf("encoding/csv reads %d lines (%v)", len(lines), err)
	}
	for i, text := range texts {
		if lines[i+1][0] != text {
			t.Errorf("encoding/csv reads %q, not %q", lines[i+1][0], text)
		}
	}
}

// Every column type comes out as text; a header stands over no rows; a null alone in its row isn't an empty line.
func TestWriteCSVTypes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	header := "x.0,y,small,large,yes,name,when\n"
	for _, test := range []struct {
		rec  arrow.Record
		want string
	}{
		{sampleRecord(t, 0, 0), header},
		{sampleRecord(t, 0, 2), header + "0,,0,0,true,,1970-01-01 00:00:00Z\n" +
			"0.33333334,1,1,1099511627776,false,ä,1970-01-01 00:00:00.000001Z\n"},
		{sampleRecord(t, 4, 1).NewSlice(0, 1), header + "1.3333334,2,4,4398046511104,false,\"\",1970-01-01 00:00:00.000004Z\n"},
	} {
		if err := writeAll(path, WriterOptions{}, test.rec); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != test.want {
			t.Errorf("got %q (%v), want %q", got, err, test.want)
		}
	}

	b := array.NewDictionaryBuilder(memory.DefaultAllocator,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String})
	defer b.Release()
	for _, s := range []string{"b", "a,", "b"} {
		if err := b.(*array.BinaryDictionaryBuilder).AppendString(s); err != nil {
			t.Fatal(err)
		}
	}
	b.AppendNull()
	col := b.NewArray()
	defer col.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "d", Type: col.DataType(), Nullable: true}}, nil),
		[]arrow.Array{col}, 4)
	defer rec.Release()
	if err := writeAll(path, WriterOptions{}, rec); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "d\nb\n\"a,\"\nb\n\"\"\n" {
		t.Errorf("got %q (%v)", got, err)
	}
}

// Floats of either size parse back to the same bits, in files of more than one flush.
func TestWriteCSVFloats(t *testing.T) {
	const n = 1 << 14
	rng := rand.New(rand.NewPCG(1, 2))
	narrow, wide := make([]float32, n), make([]float64, n)
	for i := range n {
		for narrow[i] = float32(math.NaN()); narrow[i] != narrow[i]; {
			narrow[i] = math.Float32frombits(rng.Uint32())
		}
		for wide[i] = math.NaN(); math.IsNaN(wide[i]); {
			wide[i] = math.Float64frombits(rng.Uint64())
		}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "narrow", Type: arrow.PrimitiveTypes.Float32}, {Name: "wide", Type: arrow.PrimitiveTypes.Float64}}, nil))
	defer b.Release()
	b.Field(0).(*array.Float32Builder).AppendValues(narrow, nil)
	b.Field(1).(*array.Float64Builder).AppendValues(wide, nil)
	rec := b.NewRecord()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := writeAll(path, WriterOptions{}, rec); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(lines) != n {
		t.Fatalf("%d lines, not %d", len(lines), n)
	}
	for i, line := range lines {
		a, b, _ := strings.Cut(line, ",")
		x, errX := strconv.ParseFloat(a, 32)
		y, errY := strconv.ParseFloat(b, 64)
		if errX != nil || errY != nil || math.Float32bits(float32(x)) != math.Float32bits(narrow[i]) ||
			math.Float64bits(y) != math.Float64bits(wide[i]) {
			t.Fatalf("%v and %v are written as %q (%v, %v)", narrow[i], wide[i], line, errX, errY)
		}
	}
}

// TestTimestampsInCSV: only a time that is in UTC is written as one.
func TestTimestampsInCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	rec := record(t, field("local", &arrow.TimestampType{Unit: arrow.Second}, `["2024-01-01 10:00:00"]`),
		field("utc", &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, `["2024-01-01 10:00:00"]`))
	w, err := Create(path, rec.Schema(), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "local,utc\n2024-01-01 10:00:00,2024-01-01 10:00:00Z\n"; err != nil || string(got) != want {
		t.Errorf("%q, error %v, want %q", got, err, want)
	}
}
