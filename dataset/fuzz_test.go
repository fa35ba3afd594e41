package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/gzip"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/dataset/internal/writer"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// table reads all columns of files.
func table(tb testing.TB, opt Options, paths ...string) (arrow.Table, error) {
	tb.Helper()
	opt.Spec, opt.Keep = &schema.Spec{Bias: true}, []string{"*"}
	in, err := inputOf(context.Background(), paths, opt)
	if err != nil {
		return nil, err
	}
	schema := keptSchema(in.bound)
	var recs []arrow.Record
	for b, err := range in.Batches(context.Background(), column.NewPool(2), memory.DefaultAllocator) {
		if err != nil {
			return nil, err
		}
		recs = append(recs, array.NewRecord(schema, b.Columns, b.Rows))
	}
	opt.ofTable().tell(in.Notes())
	return array.NewTableFromRecords(schema, recs), nil
}

// TestPublishedData reads real files and counts rows, features and classes as their publishers do.
func TestPublishedData(t *testing.T) {
	if require.Small() {
		t.Skip("all of the data sets")
	}
	root := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no data: %s is absent", root)
	}
	for _, c := range []struct {
		file, label    string
		rows, features int
		classes        map[string]int
	}{
		{"a9a.svm.gz", "label", 32561, 123, map[string]int{"1": 7841, "-1": 24720}},
		{"a9a.test.svm.gz", "label", 16281, 122, map[string]int{"1": 3846, "-1": 12435}},
		{"magic04.csv.gz", "last", 19020, 10, map[string]int{"g": 12332, "h": 6688}},
		{"htru2.csv.gz", "class", 17898, 8, map[string]int{"1": 1639, "0": 16259}},
		{"letter.csv.gz", "c17", 20000, 16, map[string]int{"A": 789, "Z": 734}},
		{"banknote.csv", "c5", 1372, 4, map[string]int{"1": 610, "0": 762}},
		{"sonar.csv", "61", 208, 60, map[string]int{"M": 111, "R": 97}},
		{"credit-default.csv.gz", "Y", 30000, 24, map[string]int{"1": 6636, "0": 23364}},
		{"bank-marketing.csv.gz", "y", 45211, 7, map[string]int{"Y": 5289, "N": 39922}},
		{"kddcup99-10percent.csv.gz", "last", 494021, 38, map[string]int{"normal.": 97278}},
	} {
		path := filepath.Join(root, c.file)
		all, err := table(t, Options{}, path)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		var cols []column.Column
		for i, f := range all.Schema().Fields() {
			cols = append(cols, column.Column{Name: f.Name, Type: f.Type, Index: i})
		}
		label := transform.NamedLabel(c.label, cols, len(cols))
		features := 0
		for _, col := range cols {
			if writer.Numeric(col.Type) && col.Name != label {
				features++
			}
		}
		if int(all.NumRows()) != c.rows || features != c.features {
			t.Errorf("%s: %d rows of %d features, want %d of %d", c.file, all.NumRows(), features, c.rows, c.features)
		}
		counts := map[string]int{}
		for _, a := range all.Column(all.Schema().FieldIndices(label)[0]).Data().Chunks() {
			for i := range a.Len() {
				class, what := transform.ClassOf(a, i)
				if what != "" {
					t.Fatalf("%s: %s", c.file, what)
				}
				counts[class.Text]++
			}
		}
		for class, n := range c.classes {
			if counts[class] != n {
				t.Errorf("%s: %d rows of class %s, want %d", c.file, counts[class], class, n)
			}
		}
	}
}

// TestModelOnSvmlight: lines may have fewer and more indices than the model has features.
func TestModelOnSvmlight(t *testing.T) {
	spec := &schema.Spec{Features: []string{"f3", "f1"}}
	for _, c := range []struct {
		text, want string
		notes      int
	}{
		{"1 1:2\n0 2:5\n", "[[0 2] [0 0]]", 0},
		{"1 qid:3 1:2 3:4 9:1\n0 3:1 4:2\n", "[[4 2] [1 0]]", 2},
		{"1 0:7 1:2 2:1\n", "[[0 2]]", 1},
	} {
		var notes []string
		var got [][]float32
		err := Scan(context.Background(), []string{textFile(t, "a.svm", c.text)}, Options{Spec: spec,
			Warn: func(s string) { notes = append(notes, s) }}, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
			for r := range b.Len() {
				got = append(got, slices.Clone(b.X[r*b.Stride:r*b.Stride+b.Cols]))
			}
			return nil
		})
		if err != nil || fmt.Sprint(got) != c.want || len(notes) != c.notes {
			t.Errorf("%q: %v, want %s; notes %q (%v)", c.text, got, c.want, notes, err)
		}
	}
}

// TestUnusedTextOptions: options of other formats are told of, once.
func TestUnusedTextOptions(t *testing.T) {
	parquet := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, parquet, mixed(t), 10)
	csv, svm := textFile(t, "a.csv", "x,y\n1,2\n"), textFile(t, "a.svm", "1 1:1\n")
	for _, c := range []struct {
		path string
		opt  TextOptions
		want string
	}{
		{parquet, TextOptions{Header: "auto", IndexBase: "auto"}, "[]"},
		{parquet, TextOptions{Header: "no", IndexBase: "1", Delimiter: "tab"}, "[Header is ignored: it is for CSV, and the data is Parquet " +
			"Delimiter is ignored: it is for CSV, and the data is Parquet IndexBase is ignored: it is for svmlight, and the data is Parquet]"},
		{csv, TextOptions{Header: "yes", Delimiter: "comma"}, "[]"},
		{csv, TextOptions{IndexBase: "0"}, "[IndexBase is ignored: it is for svmlight, and the data is CSV]"},
		{svm, TextOptions{IndexBase: "0", Header: "yes"}, "[Header is ignored: it is for CSV, and the data is svmlight]"},
	} {
		var notes []string
		err := Scan(context.Background(), []string{c.path}, Options{Text: c.opt, Exclude: []string{"*"}, Spec: &schema.Spec{Bias: true},
			Warn: func(s string) { notes = append(notes, s) }}, func(*schema.Spec, *block.Block, arrow.Record) error { return nil })
		if err != nil || fmt.Sprint(notes) != c.want {
			t.Errorf("%s, %+v: notes %s, want %s (%v)", c.path, c.opt, notes, c.want, err)
		}
	}
}

func (w *waiting) Read(p []byte) (int, error) {
	if n, err := w.Reader.Read(p); err != io.EOF {
		return n, err
	}
	close(w.end)
	select {}
}

// FuzzFormats reads bytes in each format in every way: no panic, and errors of one line that name the file.
func FuzzFormats(f *testing.F) {
	dir := f.TempDir()
	for _, text := range []string{"x,y,s\n1,2,a\n3,,\"b\"\"\nc\"\n", "1 2 a\n3 4 b\n", "1 1:2 3:4\n0 qid:1 2:5 # c\n", "a;b\n\"", "\xff\xfe", "# c\n#x,y\n1,2\n#\n", "x,'y, z'\r1,'a'\r",
		"{\"x\":1,\"s\":\"a\\n\"}\n\n{\"s\":null,\"z\":[1]}\n"} {
		f.Add([]byte(text))
	}
	lists := record(f, field("p", pairType(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Float32), `[[{"index": 2, "value": 1}], null]`),
		field("m", arrow.MapOf(arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int8), `[[{"key": 1, "value": 2}], []]`),
		field("v", vectorType(), `[{"type": 0, "size": 4, "indices": [0, 3], "values": [1, 2]}, null]`), field("y", arrow.PrimitiveTypes.Int8, "[0, 1]"))
	for i, opts := range [][]ipc.Option{{}, {ipc.WithZstd()}, {}} {
		rec := mixed(f)
		if i == 2 {
			rec = lists
		}
		var stream, file bytes.Buffer
		w := ipc.NewWriter(&stream, append(opts, ipc.WithSchema(rec.Schema()))...)
		fw, err := ipc.NewFileWriter(&writer.Counted{Writer: &file}, append(opts, ipc.WithSchema(rec.Schema()))...)
		require.NoError(f, errors.Join(err, w.Write(rec), fw.Write(rec), w.Close(), fw.Close()))
		f.Add(stream.Bytes())
		f.Add(file.Bytes())
	}
	for _, ext := range datatest.Compressions() {
		f.Add(datatest.Compressed(f, "a.csv"+ext, "x,y\n1,2\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"a.csv", "a.svm", "a.arrow", "a.data", "a.jsonl"} {
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, data, 0o600))
			for _, err := range readInEveryWay(path) {
				if err != nil && (!strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s: %q", name, err)
				}
			}
		}
	})
}

func readInEveryWay(path string) []error {
	ctx := context.Background()
	_, load := Load(ctx, path, Options{Label: "last", Workers: 2})
	var convert error
	if filepath.Ext(path) == ".arrow" { // whose arrays may not be what they say; it waits for the disk
		_, convert = Convert(ctx, []string{path}, filepath.Join(filepath.Dir(path), "out.csv"), Options{Workers: 2}, WriterOptions{})
	}
	_, _, inspect := Inspect(ctx, path, Options{Workers: 2})
	scan := Scan(ctx, []string{path}, Options{Keep: []string{"*"}, Workers: 2},
		func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
			if int64(b.Len()) != rec.NumRows() {
				return fmt.Errorf("%s: rows are missing", path)
			}
			return nil
		})
	return []error{load, convert, inspect, scan}
}

// A waiting reader has something to read, and then tells so and waits forever.
type waiting struct {
	io.Reader
	end chan struct{}
}

// TestCutShort: where standard input is ended, it is as if it ended with its last whole record, in every pass.
func TestCutShort(t *testing.T) {
	const whole, part = "1,2\n3,\"a\nb\"\n", "5,\"c\nd"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, whole+part)
	z.Flush()
	for name, in := range map[string]string{"plain": whole + part, "gzip": zipped.String()} {
		end := make(chan struct{})
		s := &source.File{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), End: end, Most: 1 << 20,
			R: &waiting{iotest.OneByteReader(strings.NewReader(in)), end}}}
		if f, err := sniff(s); err != nil || f != formatCSV {
			t.Errorf("%s: %q, %v", name, f, err)
		}
		for range 2 {
			text := ""
			for c, err := range textfile.ChunksOf(s, textfile.Breaks{Quote: '"'}, 8, nil) {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				text += string(c.Text)
			}
			if text != whole {
				t.Errorf("%s: %q, want %q", name, text, whole)
			}
		}
	}
}

// TestStandardInputLines: an error in a row of standard input names the line, which can't be looked up later.
func TestStandardInputLines(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	for _, c := range []struct {
		text, want string
		opt        Options
	}{
		{"a,b,t,y\n\n1,2,\"u\nv\",0\n1,,w,1\n", `-: column "b", line 5, row 1: null`, Options{Label: "y"}},
		{"{\"a\":1,\"y\":0,\"b\":1}\n\n{\"a\":2,\"y\":1}\n", `-: column "b", line 3, row 1: null`, Options{Label: "y"}},
		{"a,b,y\n1,2,\n", `-: column "y", line 2, row 0: null`, Options{Label: "y"}},
		{"a,b,y\nu,2,0\n,1,1\n", `-: column "a", line 3, row 1: null`, Options{Label: "y", Categorical: "onehot"}},
		{"a,b,y\n" + strings.Repeat("1,2,0\n1,2,1\n", 250_000) + "1,,1\n", `-: column "b", line 500002, row 500000: null`, Options{Label: "y", Standardize: true}},
	} {
		f := require.Value(os.Open(textFile(t, "x.csv", c.text)))(t)
		os.Stdin = f
		_, err := Load(context.Background(), "-", c.opt)
		if f.Close(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.30q: error %v, want %s", c.text, err, c.want)
		}
	}
}
