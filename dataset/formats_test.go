package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
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

	"halfspace/block"
	"halfspace/dataset/internal/encode"
	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/writer"
	"halfspace/schema"
)

// table reads all columns of files.
func table(tb testing.TB, opt Options, paths ...string) (arrow.Table, error) {
	tb.Helper()
	opt.Spec, opt.Keep = &schema.Spec{Bias: true}, []string{"*"}
	in, err := openInput(context.Background(), paths, opt, frame.NewPool(2))
	if err != nil {
		return nil, err
	}
	schema := keptSchema(in.selection())
	var recs []arrow.Record
	for b, err := range in.Batches(context.Background(), frame.NewPool(2), memory.DefaultAllocator) {
		if err != nil {
			return nil, err
		}
		recs = append(recs, array.NewRecord(schema, b.Columns, b.Rows))
	}
	return array.NewTableFromRecords(schema, recs), nil
}

// TestPublishedData reads real files and counts rows, features and classes as their publishers do.
func TestPublishedData(t *testing.T) {
	if testing.Short() {
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
		var cols []frame.Column
		for i, f := range all.Schema().Fields() {
			cols = append(cols, frame.Column{Name: f.Name, Type: f.Type, Index: i})
		}
		label := encode.NamedLabel(encode.Choices{Label: c.label}, cols).Label
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
				class, what := encode.ClassOf(a, i)
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

// mixed is a record of columns that every format but svmlight can hold.
func mixed(tb testing.TB) arrow.Record {
	p := arrow.PrimitiveTypes
	return record(tb, field("x", p.Float64, "[1.5, -0.0, 3e300, 0.1]"), field("n", p.Float64, "[1.5, null, 3, 4]"),
		field("s", arrow.BinaryTypes.String, `["a", "NA", "", null]`), field("b", arrow.FixedWidthTypes.Boolean,
			"[true, false, null, true]"), field("y", p.Int64, "[0, 1, 0, 1]"))
}

// TestConvert writes a table from every format to every other that can hold it.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	start := filepath.Join(dir, "start.parquet")
	writeFile(t, start, mixed(t), 2)
	want, err := table(t, Options{}, start)
	if err != nil {
		t.Fatal(err)
	}
	formats := []string{".parquet", ".csv", ".arrow"}
	for _, from := range formats {
		source := filepath.Join(dir, "source"+from)
		convertFile(t, 4, start, source, WriterOptions{})
		for _, to := range formats {
			target := filepath.Join(dir, "target"+to)
			convertFile(t, 4, source, target, WriterOptions{RowGroupRows: 3})
			got, err := table(t, Options{}, target)
			if err != nil {
				t.Errorf("%s to %s: %v", from, to, err)
			} else if show(got) != show(want) {
				t.Errorf("%s to %s:\n%s\nwant\n%s", from, to, show(got), show(want))
			}
		}
	}
}

func convertFile(t *testing.T, rows int64, from, to string, opt WriterOptions) {
	t.Helper()
	got, err := Convert(context.Background(), []string{from}, to, Options{Workers: 2}, opt)
	if err != nil || got != rows {
		t.Fatalf("%s to %s: %d rows, want %d (%v)", from, to, got, rows, err)
	}
}

// TestSvmlightRoundTrip: what is written as svmlight is read as it was, but for zeros without a sign.
func TestSvmlightRoundTrip(t *testing.T) {
	dir := t.TempDir()
	p := arrow.PrimitiveTypes
	named := record(t, field("f3", p.Float32, "[0.1, 0, 3]"), field("label", p.Int8, "[-1, 1, 1]"),
		field("f0", p.Uint64, "[0, 7, 8]"))
	numbered := record(t, field("a", arrow.FixedWidthTypes.Boolean, "[true, false, true]"), field("b", p.Float64, "[1e-300, 0, -2.5]"),
		field("y", p.Float64, "[1.5, 2, 1.5]"))
	for _, c := range []struct {
		rec         arrow.Record
		label, want string
	}{
		{named, "", "-1 3:0.1\n1 0:7\n1 0:8 3:3\n"},
		{numbered, "y", "1.5 1:1 2:1e-300\n2\n1.5 1:1 2:-2.5\n"},
	} {
		source, target := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "a.svm")
		writeFile(t, source, c.rec, 2)
		convertFile(t, 3, source, target, WriterOptions{Label: c.label})
		text, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != c.want {
			t.Errorf("%q, want %q", text, c.want)
		}
		again := filepath.Join(dir, "b.svm")
		convertFile(t, 3, target, again, WriterOptions{})
		if same, err := os.ReadFile(again); err != nil || string(same) != c.want {
			t.Errorf("written again: %q, want %q (%v)", same, c.want, err)
		}
	}
}

func TestConvertErrors(t *testing.T) {
	dir := t.TempDir()
	nested, start := filepath.Join(dir, "nested.parquet"), filepath.Join(dir, "a.parquet")
	writeFile(t, nested, record(t, field("x", arrow.PrimitiveTypes.Int8, "[1]"),
		field("l", arrow.ListOf(arrow.PrimitiveTypes.Int32), "[[1]]")), 10)
	writeFile(t, start, mixed(t), 10)
	for _, c := range []struct {
		from, to string
		keep     []string
		label    string
		want     string
	}{
		{nested, "b.csv", nil, "", `DIR/b.csv can't be written: column "l" is list, and CSV has none: leave it out, or write .parquet or .arrow`},
		{nested, "b.svm", nil, "x", `DIR/b.svm can't be written: column "l" is list, and svmlight holds numbers: leave it out`},
		{start, "b.svm", nil, "y", `DIR/b.svm can't be written: column "s" is string, and svmlight holds numbers: leave it out`},
		{start, "b.svm", []string{"x", "y"}, "", `DIR/b.svm can't be written: no column "label" for the labels: name it with --label`},
		{start, "b.svm", []string{"n", "y"}, "y",
			`DIR/b.svm can't be written: column "n", row 1: null, which svmlight can't hold: fill the value in, or leave the column out`},
		{start, "b.xlsx", nil, "", `DIR/b.xlsx: files with the extension ".xlsx" can't be written: use .parquet, .csv, .arrow or ` +
			`.svm, or - for CSV on standard output`},
	} {
		_, err := Convert(context.Background(), []string{c.from}, filepath.Join(dir, c.to), Options{Keep: c.keep},
			WriterOptions{Label: c.label})
		wantError(t, err, dir, c.want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// TestFormatsGiveSameBlocks: the rows alone decide about the blocks, not their format, nor the number of workers.
func TestFormatsGiveSameBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const rows, features = 30_000, 7
	builders := make([]*array.Float64Builder, features+1)
	var fields []arrow.Field
	for k := range builders {
		name := fmt.Sprint("f", k+1)
		if k == features {
			name = frame.SvmlightLabel
		}
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
		builders[k] = array.NewFloat64Builder(memory.DefaultAllocator)
		for r := range rows {
			switch {
			case k == features:
				builders[k].Append(float64(rng.IntN(2)))
			case rng.IntN(3) == 0 && r > 0:
				builders[k].Append(0)
			default:
				builders[k].Append(rng.NormFloat64())
			}
		}
	}
	var cols []arrow.Array
	for _, b := range builders {
		cols = append(cols, b.NewArray())
	}
	dir := t.TempDir()
	start := filepath.Join(dir, "a.parquet")
	writeFile(t, start, array.NewRecord(arrow.NewSchema(fields, nil), cols, rows), 7000)
	var want []*block.Block[float32]
	for _, ext := range []string{".parquet", ".csv", ".arrow", ".svm"} {
		path := filepath.Join(dir, "b"+ext)
		convertFile(t, rows, start, path, WriterOptions{})
		for _, workers := range []int{1, 3} {
			d, err := Load[float32](context.Background(), []string{path}, Options{Label: frame.SvmlightLabel, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = blocksOf(t, d)
			}
			if err := sameBlocks(blocksOf(t, d), want); err != nil {
				t.Errorf("%s, %d workers: %v", ext, workers, err)
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
			Warn: func(s string) { notes = append(notes, s) }}, func(_ *schema.Spec, b *block.Block[float32], _ arrow.Record) error {
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
		{parquet, TextOptions{Header: "no", IndexBase: "1", Delimiter: "tab"}, "[--header is ignored: it is for CSV, and the data is Parquet " +
			"--delimiter is ignored: it is for CSV, and the data is Parquet --index-base is ignored: it is for svmlight, and the data is Parquet]"},
		{csv, TextOptions{Header: "yes", Delimiter: "comma"}, "[]"},
		{csv, TextOptions{IndexBase: "0"}, "[--index-base is ignored: it is for svmlight, and the data is CSV]"},
		{svm, TextOptions{IndexBase: "0", Header: "yes"}, "[--header is ignored: it is for CSV, and the data is svmlight]"},
	} {
		var notes []string
		err := Scan(context.Background(), []string{c.path}, Options{Text: c.opt, Exclude: []string{"*"}, Spec: &schema.Spec{Bias: true},
			Warn: func(s string) { notes = append(notes, s) }}, func(*schema.Spec, *block.Block[float32], arrow.Record) error { return nil })
		if err != nil || fmt.Sprint(notes) != c.want {
			t.Errorf("%s, %+v: notes %s, want %s (%v)", c.path, c.opt, notes, c.want, err)
		}
	}
}

// TestPanickingJob: what panics while text is parsed is an error that says where.
func TestPanickingJob(t *testing.T) {
	s, err := source.NewSource(context.Background(), textFile(t, "a.csv", "x\n1\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	jobs := textfile.Chunks([]*source.Source{s}, true, textfile.ChunkBytes, nil, func(int, textfile.Chunk) iter.Seq[frame.Job] {
		return textfile.One(textfile.Chunk{}, func() (*frame.Batch, error) { panic("no more") })
	})
	for _, err := range frame.InOrder(context.Background(), frame.NewPool(2), 0, jobs) {
		wantError(t, err, filepath.Dir(s.Path), "DIR/a.csv: from line 1 on: can't be parsed (no more): check the file")
	}
}

// TestStandardInput reads - as a file, more than once.
func TestStandardInput(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	feed := func(path string) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		os.Stdin = f
	}
	dir := t.TempDir()
	start := filepath.Join(dir, "start.parquet")
	writeFile(t, start, mixed(t), 2)
	want, err := table(t, Options{}, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.csv", "a.arrow"} {
		path := filepath.Join(dir, name)
		convertFile(t, 4, start, path, WriterOptions{})
		feed(path)
		if got, err := table(t, Options{}, "-"); err != nil || show(got) != show(want) {
			t.Errorf("%s: %v (%v)", name, got, err)
		}
	}
	feed(textFile(t, "a.svm.gz", "1 1:2\n0 2:3\n"))
	if got, err := table(t, Options{}, "-"); err != nil || show(got) != "label float64 1 0; f1 float64 2 0; f2 float64 0 3" {
		t.Errorf("svmlight: %v (%v)", got, err)
	}
	feed(start)
	_, err = table(t, Options{}, "-")
	wantError(t, err, dir, "-: a Parquet file can't come from standard input, since it is read from its end: save it and name the file")
	feed(start)
	_, err = table(t, Options{}, "-", start)
	wantError(t, err, dir, "-: a Parquet file can't come from standard input, since it is read from its end: save it and name the file")
	feed(textFile(t, "a.csv", "x\n1\n"))
	_, err = table(t, Options{}, textFile(t, "a.csv", "x\n1\n"), "-")
	wantError(t, err, dir, "-: standard input can't be read beside other files: save it and name the file")
	few := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), R: strings.NewReader("12345"), Most: 4}}
	if _, err := few.Open(); err == nil ||
		err.Error() != "-: more than 4 bytes on standard input, half of the memory that is available: save it and name the file" {
		t.Errorf("too much: %v", err)
	}
	open, w := io.Pipe() // of which nothing comes
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (&source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: ctx, R: open, Most: 4}}).Open(); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
	failing := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), R: iotest.ErrReader(errors.New("gone")), Most: 4}}
	if _, err := failing.Open(); err == nil || err.Error() != "-: standard input can't be read (gone)" {
		t.Errorf("failing: %v", err)
	}
}

func opened(t *testing.T, s *source.Source) *source.SourceReader {
	t.Helper()
	r, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A waiting reader has something to read, and then tells so and waits forever.
type waiting struct {
	io.Reader
	end chan struct{}
}

func (w *waiting) Read(p []byte) (int, error) {
	if n, err := w.Reader.Read(p); err != io.EOF {
		return n, err
	}
	close(w.end)
	select {}
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
		s := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), End: end, Most: 1 << 20,
			R: &waiting{iotest.OneByteReader(strings.NewReader(in)), end}}}
		if f, err := sniff(s); err != nil || f != formatCSV {
			t.Errorf("%s: %q, %v", name, f, err)
		}
		for range 2 {
			text := ""
			for c, err := range textfile.ChunksOf(s, true, 8, nil) {
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

// TestLastPass: standard input is read from its beginning as often as one likes, and in the last pass it isn't held.
func TestLastPass(t *testing.T) {
	want := strings.Repeat("0123456789abcdef", 20000)
	s := &source.Source{Path: "-", Stdin: &source.StandardInput{Ctx: context.Background(), R: iotest.HalfReader(strings.NewReader(want)), Most: 100_000}}
	for _, n := range []int{10, 70_000, 3} {
		got := make([]byte, n)
		if _, err := io.ReadFull(opened(t, s), got); err != nil || string(got) != want[:n] {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	source.LastPass([]*source.Source{s})
	r, most := opened(t, s), 0
	var got strings.Builder
	for buf := make([]byte, 1000); ; {
		n, err := r.Read(buf)
		got.Write(buf[:n])
		if most = max(most, len(s.Stdin.Data)); got.Len() > 200_000 && len(s.Stdin.Data) > 64<<10 {
			t.Fatalf("%d bytes are held after %d", len(s.Stdin.Data), got.Len())
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != want || most < 70_000 {
		t.Errorf("%d bytes of %d, %d held at most", got.Len(), len(want), most)
	}
}

// TestArrowFiles reads files and streams, of dictionaries and compressed ones too, and finds every cut.
func TestArrowFiles(t *testing.T) {
	words := record(t, field("x", arrow.PrimitiveTypes.Int16, "[1, 2, 3]"),
		field("w", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["b", "a", "b"]`))
	path := filepath.Join(t.TempDir(), "a.arrow")
	for _, opts := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
		opts = append(opts, ipc.WithSchema(words.Schema()))
		var stream, file bytes.Buffer
		w := ipc.NewWriter(&stream, opts...)
		f, err := ipc.NewFileWriter(&writer.Counted{Writer: &file}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := errors.Join(w.Write(words), f.Write(words)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{stream.Bytes(), file.Bytes()} {
			for _, n := range append(cuts(len(data)), len(data)) {
				if err := os.WriteFile(path, data[:n], 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := table(t, Options{}, path)
				switch {
				case n < len(data) && (err == nil || !strings.HasPrefix(err.Error(), path+": ")):
					t.Errorf("%d of %d bytes: %v", n, len(data), err)
				case n == len(data) && (err != nil || show(got) != "x int16 1 2 3 1 2 3; w string b a b b a b"):
					t.Errorf("%v (%v)", got, err)
				}
			}
			to := filepath.Join(filepath.Dir(path), "a.csv")
			convertFile(t, 6, path, to, WriterOptions{})
			if text, err := os.ReadFile(to); err != nil || string(text) != "x,w\n1,b\n2,a\n3,b\n1,b\n2,a\n3,b\n" {
				t.Errorf("converted: %q (%v)", text, err)
			}
			convertFile(t, 6, path, filepath.Join(filepath.Dir(path), "b.arrow"), WriterOptions{})
		}
	}
}

// TestArrowOffsets: values that don't lie one behind the other are an error of the file, not of what is written from it.
func TestArrowOffsets(t *testing.T) {
	const texts, bytes64, lists = `["aa", "bb", "cc"]`, `["YWE=", "YmI=", "Y2M="]`, "[[1, 2], [3, 4], [5, 6]]"
	for _, f := range []testField{
		field("v", arrow.BinaryTypes.String, texts),
		field("v", arrow.BinaryTypes.LargeString, texts),
		field("v", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, texts),
		field("v", arrow.BinaryTypes.Binary, bytes64),
		field("v", arrow.BinaryTypes.LargeBinary, bytes64),
		field("v", arrow.ListOf(arrow.PrimitiveTypes.Int8), lists),
		field("v", arrow.LargeListOf(arrow.PrimitiveTypes.Int8), lists),
	} {
		rec := record(t, f)
		var file bytes.Buffer
		w := ipc.NewWriter(&file, ipc.WithSchema(rec.Schema()))
		if err := errors.Join(w.Write(rec), w.Close()); err != nil {
			t.Fatal(err)
		}
		offsets := []byte("\x02\x00\x00\x00\x04\x00\x00\x00\x06")
		if strings.HasPrefix(f.Type.Name(), "large") {
			offsets = []byte("\x02\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x06")
		}
		at := bytes.LastIndex(file.Bytes(), offsets)
		if at < 0 {
			t.Fatalf("%s: no offsets", f.Type)
		}
		file.Bytes()[at] = 5
		path := filepath.Join(t.TempDir(), "a.arrow")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Convert(context.Background(), []string{path}, filepath.Join(t.TempDir(), "b.arrow"), Options{}, WriterOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), path+": a record can't be read (column \"v\" has values that end before they begin)") {
			t.Errorf("%s: %v", f.Type, err)
		}
	}
}

// cuts are lengths of a file of n bytes that lack something.
func cuts(n int) (all []int) {
	for i := 0; i < n; i += 13 {
		all = append(all, i)
	}
	return append(all, n-1)
}

// FuzzFormats reads bytes in each format in every way: no panic, and errors of one line that name the file.
func FuzzFormats(f *testing.F) {
	dir := f.TempDir()
	for _, text := range []string{"x,y,s\n1,2,a\n3,,\"b\"\"\nc\"\n", "1 2 a\n3 4 b\n", "1 1:2 3:4\n0 qid:1 2:5 # c\n", "a;b\n\"", "\xff\xfe"} {
		f.Add([]byte(text))
	}
	for _, opts := range [][]ipc.Option{{}, {ipc.WithZstd()}} {
		rec := mixed(f)
		var stream, file bytes.Buffer
		w := ipc.NewWriter(&stream, append(opts, ipc.WithSchema(rec.Schema()))...)
		fw, err := ipc.NewFileWriter(&writer.Counted{Writer: &file}, append(opts, ipc.WithSchema(rec.Schema()))...)
		if err := errors.Join(err, w.Write(rec), fw.Write(rec), w.Close(), fw.Close()); err != nil {
			f.Fatal(err)
		}
		f.Add(stream.Bytes())
		f.Add(file.Bytes())
	}
	f.Add(compressed(f, "x,y\n1,2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"a.csv", "a.svm", "a.arrow", "a.data"} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
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
	_, load := Load[float32](ctx, []string{path}, Options{Label: "last", Workers: 2})
	var convert error
	if filepath.Ext(path) == ".arrow" { // whose arrays may not be what they say; it waits for the disk
		_, convert = Convert(ctx, []string{path}, filepath.Join(filepath.Dir(path), "out.csv"), Options{Workers: 2}, WriterOptions{})
	}
	_, inspect := InspectTable(ctx, path, Options{Workers: 2})
	scan := Scan(ctx, []string{path}, Options{Keep: []string{"*"}, Workers: 2},
		func(_ *schema.Spec, b *block.Block[float64], rec arrow.Record) error {
			if int64(b.Len()) != rec.NumRows() {
				return fmt.Errorf("%s: rows are missing", path)
			}
			return nil
		})
	return []error{load, convert, inspect, scan}
}
