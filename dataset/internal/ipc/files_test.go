package ipc_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/internal/writer"
	"halfspace/internal/require"
	"halfspace/schema"
)

// streamOf and fileOf return records as Arrow writes them.
func streamOf(t *testing.T, rec arrow.Record, times int, opts ...ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(opts, ipc.WithSchema(rec.Schema()))...)
	for range times {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func fileOf(t *testing.T, rec arrow.Record, times int, opts ...ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := require.Value(ipc.NewFileWriter(&writer.Counted{Writer: &out}, append(opts, ipc.WithSchema(rec.Schema()))...))(t)
	for range times {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// convert writes all columns of a file of those bytes to a file with that extension.
func convert(t *testing.T, path string, data []byte, ext string) (text string, err error) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, data, 0o600))
	out := filepath.Join(filepath.Dir(path), "out"+ext)
	if _, err := dataset.Convert(t.Context(), []string{path}, out, dataset.Options{Memory: 64 << 20}, dataset.WriterOptions{}); err != nil {
		return "", err
	}
	return string(require.Value(os.ReadFile(out))(t)), nil
}

// TestFiles reads files and streams, of dictionaries and compressed ones too, and finds every cut.
func TestFiles(t *testing.T) {
	words := datatest.Record(t, datatest.Values("x", arrow.PrimitiveTypes.Int16, "[1, 2, 3]"),
		datatest.Values("w", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["b", "a", "b"]`))
	path := filepath.Join(t.TempDir(), "a.arrow")
	for _, opts := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
		for _, data := range [][]byte{streamOf(t, words, 2, opts...), fileOf(t, words, 2, opts...)} {
			if text, err := convert(t, path, data, ".csv"); err != nil || text != "x,w\n1,b\n2,a\n3,b\n1,b\n2,a\n3,b\n" {
				t.Errorf("%q, error %v", text, err)
			}
			if at := bytes.LastIndex(data[:len(data)*3/4], []byte("\xff\xff\xff\xff")); data[0] == 0xff { // a stream
				bad := slices.Clone(data)
				bad[at] = 0
				if _, err := convert(t, path, bad, ".csv"); err == nil || !strings.Contains(err.Error(), "no message where one should begin") {
					t.Errorf("a message without a mark: error %v", err)
				}
			}
			for n := 0; n < len(data); n += min(23, max(1, len(data)-1-n)) {
				if _, err := convert(t, path, data[:n], ".csv"); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
					t.Errorf("%d of %d bytes: %v", n, len(data), err)
				}
			}
		}
	}
}

// TestOffsets: values that end before they begin are an error of the file that has them, not of the file written from it.
func TestOffsets(t *testing.T) {
	const texts, bytes64, lists = `["aa", "bb", "cc"]`, `["YWE=", "YmI=", "Y2M="]`, "[[1, 2], [3, 4], [5, 6]]"
	number, dict := arrow.PrimitiveTypes.Int8, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for typ, values := range map[arrow.DataType]string{arrow.BinaryTypes.String: texts, arrow.BinaryTypes.LargeString: texts, dict: texts,
		arrow.BinaryTypes.Binary: bytes64, arrow.BinaryTypes.LargeBinary: bytes64, arrow.ListOf(number): lists, arrow.LargeListOf(number): lists} {
		data := streamOf(t, datatest.Record(t, datatest.Values("v", typ, values)), 1)
		offsets := []byte("\x02\x00\x00\x00\x04\x00\x00\x00\x06")
		if strings.HasPrefix(typ.Name(), "large") {
			offsets = []byte("\x02\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x06")
		}
		data[bytes.LastIndex(data, offsets)] = 5
		path := filepath.Join(t.TempDir(), "a.arrow")
		if _, err := convert(t, path, data, ".arrow"); err == nil || !strings.HasPrefix(err.Error(), path+": a record can't be read (column \"v\" has values that end before they begin)") {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// TestLongLists: a list longer than a row may be is refused, also where nothing is made a feature: a few bytes can stand for any number
// of elements.
func TestLongLists(t *testing.T) {
	const long = schema.MaxFeatures + 1
	bit, numbers := arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8
	const list = `column "x" has a list of 262145 elements, and a row has at most 262144 features`
	for _, c := range []struct {
		typ  arrow.DataType
		want string
	}{
		{arrow.FixedSizeListOf(1<<28, numbers), `column "x" is lists of 268435456 elements (a row has at most 262144 features)`},
		{arrow.FixedSizeListOf(long, bit), `column "x" is lists of 262145 elements (a row has at most 262144 features)`},
		{arrow.FixedSizeListOf(long-1, bit), ""},
		{arrow.ListOf(numbers), list},
		{arrow.LargeListOf(numbers), list},
	} {
		b := array.NewBuilder(memory.DefaultAllocator, c.typ)
		switch b := b.(type) {
		case *array.FixedSizeListBuilder:
			if n := c.typ.(*arrow.FixedSizeListType).Len(); n <= long {
				b.Append(true)
				b.ValueBuilder().(*array.BooleanBuilder).AppendValues(make([]bool, n), nil)
			}
		case array.ListLikeBuilder:
			b.Append(true)
			b.ValueBuilder().(*array.Int8Builder).AppendValues(make([]int8, long), nil)
		}
		path := filepath.Join(t.TempDir(), "a.arrow")
		_, err := convert(t, path, streamOf(t, datatest.Record(t, datatest.Built("x", b, false)), 1), ".arrow")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.typ, err, c.want)
		}
		if c.want == list {
			_, err := dataset.Load(t.Context(), path, dataset.Options{})
			datatest.WantError(t, err, filepath.Dir(path), "DIR/a.arrow: "+list+": leave the column out")
		}
	}
}

// TestDamage changes bytes of a file. Nothing panics, and the error is one of the file that was read, in words.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.arrow")
	data := fileOf(t, datatest.Record(t, datatest.Values("s", arrow.BinaryTypes.String, `["a", null, "ccc"]`), datatest.Values("x", arrow.PrimitiveTypes.Float64, `[1, 2, null]`)), 1)
	const step = 2
	failed := 0
	for i := 1; i < len(data); i += step {
		bad := slices.Clone(data)
		bad[i] = 0xff - byte(i/2%2)*0x7f
		_, converted := convert(t, path, bad, ".csv")
		_, _, inspected := dataset.Inspect(t.Context(), path, dataset.Options{Memory: 64 << 20})
		for _, err := range []error{converted, inspected} {
			if err == nil {
				continue
			}
			failed++
			if text := err.Error(); !strings.Contains(text, path) && !strings.Contains(text, "column") || strings.Contains(text, "runtime error") ||
				strings.Contains(text, "can't be written") && !strings.Contains(text, "UTF-8") {
				t.Errorf("byte %d is %d: %v", i, bad[i], err)
			}
		}
	}
	if failed < 50/step {
		t.Errorf("%d errors", failed)
	}
}

// TestShortBitmap: a column whose bitmap of nulls is shorter than its rows is damaged data.
func TestShortBitmap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.arrow")
	data := fileOf(t, datatest.Record(t, datatest.Values("x", arrow.PrimitiveTypes.Float32, "[null"+strings.Repeat(", 1.5", 99)+"]")), 1)
	short := 0
	for i, b := range data {
		if b != 16 && b != 13 { // the bytes of the bitmap, among others
			continue
		}
		bad := slices.Clone(data)
		bad[i] = 1
		if _, err := convert(t, path, bad, ".csv"); err != nil && strings.Contains(err.Error(), path+": the data is damaged (its sizes are out of range)") {
			short++
		}
	}
	if short == 0 {
		t.Error("no short bitmap is an error")
	}
}

// TestClaims: a record that claims more or fewer rows than it has is an error of the file, however many of its numbers of rows are wrong.
func TestClaims(t *testing.T) {
	const rows = 1237
	path := filepath.Join(t.TempDir(), "a.arrow")
	values := datatest.Values("x", arrow.PrimitiveTypes.Float32, "[1"+strings.Repeat(", 1.5", rows-1)+"]")
	more := datatest.Values("z", arrow.PrimitiveTypes.Int16, "[1"+strings.Repeat(", 2", rows-1)+"]")
	number := func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	for _, data := range [][]byte{streamOf(t, datatest.Record(t, values, more), 2), fileOf(t, datatest.Record(t, values, more), 2)} {
		if n := bytes.Count(data, number(rows)); n != 2*3 { // of the records and of their columns
			t.Fatalf("%d numbers of rows", n)
		}
		for _, claim := range []int64{0, rows - 1, rows + 64, 20 * rows, 1 << 31, 1 << 40, math.MaxInt64} {
			for wrong := range 3 {
				bad := slices.Clone(data)
				for range wrong + 1 {
					bad = bytes.Replace(bad, number(rows), number(claim), 1)
				}
				require.NoError(t, os.WriteFile(path, bad, 0o600))
				_, err := dataset.Load(t.Context(), path, dataset.Options{Memory: 256 << 20})
				valid := wrong == 2 && claim < rows // the first values of each column
				if (err == nil) != valid || err != nil && !strings.Contains(err.Error(), path) {
					t.Errorf("%d of 3 numbers of rows are %d in place of %d: error %v", wrong+1, claim, rows, err)
				}
			}
		}
	}
}

// TestReadOnce: a pass over Arrow IPC comes before the rows only if its rows can't be counted by its messages.
func TestReadOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	rec := datatest.Record(t, datatest.Values("x", arrow.PrimitiveTypes.Float32, "[1, 2, 3]"), datatest.Values("y", arrow.PrimitiveTypes.Int8, "[0, 1, 0]"))
	file, stream := fileOf(t, rec, 2), streamOf(t, rec, 3)
	a, b, gz := write("a.arrow", file), write("b.arrow", stream), write("c.arrow.gz", datatest.Gzip(t, string(stream)))
	for _, c := range []struct {
		paths []string
		rows  int64
		once  bool
	}{{[]string{a}, 6, true}, {[]string{b}, 9, true}, {[]string{a, b}, 15, true}, {[]string{gz}, 9, false}, {[]string{a, gz}, 15, false}} {
		passes := map[dataset.Pass]int64{}
		rows, err := dataset.Open(t.Context(), c.paths, dataset.Options{Label: "y", Progress: func(pass dataset.Pass, _, total int64) {
			passes[pass] = total
		}}, dataset.Budget{})
		if err != nil || rows.Rows() != c.rows || len(passes) == 1 != c.once || c.once && passes[dataset.PassRows] != c.rows {
			t.Errorf("%s: passes over %v rows, error %v", c.paths, passes, err)
		}
	}
}

// TestOtherRows: data of the same size and time that has other rows than before is an error.
func TestOtherRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	records := func(texts ...string) (data []byte) {
		var out bytes.Buffer
		var w *ipc.Writer
		for _, text := range texts {
			rec := datatest.Record(t, datatest.Values("x", arrow.PrimitiveTypes.Int8, text))
			if w == nil {
				w = ipc.NewWriter(&out, ipc.WithSchema(rec.Schema()))
			}
			require.NoError(t, w.Write(rec))
		}
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	before := records("[1, 2, 3]", "[4, 5, 6]")
	for _, after := range [][]byte{before, records("[1, 2, 3]", "[4, 5]"), records("[1, 2, 3]", "[4, 5, 6, 7]")} {
		require.NoError(t, os.WriteFile(path, before, 0o600))
		info := require.Value(os.Stat(path))(t)
		table := require.Value(dataset.Examine(t.Context(), []string{path}, dataset.Options{}))(t)
		plan := require.Value(table.Plan(t.Context(), dataset.Options{}))(t)
		require.NoError(t, os.WriteFile(path, after, 0o600))
		require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		data, err := plan.Load(t.Context())
		if want := path + ": the data changed while it was read: try again"; len(after) != len(before) || bytes.Equal(before, after) != (err == nil) ||
			err != nil && err.Error() != want {
			t.Errorf("%d of %d bytes: %v, error %v, want %s", len(after), len(before), data, err, want)
		}
	}
}
