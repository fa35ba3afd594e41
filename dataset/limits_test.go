package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestWidth: every reader takes rows of schema.MaxFeatures features, and no wider ones.
func TestWidth(t *testing.T) {
	t.Parallel()
	const most = schema.MaxFeatures
	numbered := func(n int) string {
		var names strings.Builder
		for i := range n {
			fmt.Fprintf(&names, "x%d,", i)
		}
		return names.String() + "y\n"
	}
	csv := func(n int) string {
		return textFile(t, "a.csv", numbered(n)+strings.Repeat("1,", n)+"0\n"+strings.Repeat("2,", n)+"1\n")
	}
	svmlight := func(first int) func(n int) string {
		return func(n int) string {
			return textFile(t, "a.svm", fmt.Sprintf("0 %d:1 %d:1\n1 %d:2\n", first, first+n-1, first))
		}
	}
	texts := func(rows, each int) func(n int) string {
		return func(n int) string {
			text := numbered(n / each)
			for r := range rows {
				text += fmt.Sprintf("%s%d\n", strings.Repeat(fmt.Sprintf("a%d,", r), n/each), r%2)
			}
			return textFile(t, "text.csv", text)
		}
	}
	lists := func(name string, fixed bool) func(n int) string {
		return func(n int) string {
			typ := arrow.DataType(arrow.ListOf(arrow.PrimitiveTypes.Float32))
			if fixed {
				typ = arrow.FixedSizeListOf(int32(n), arrow.PrimitiveTypes.Float32)
			}
			b := array.NewBuilder(memory.DefaultAllocator, typ).(array.ListLikeBuilder)
			for range 2 {
				b.Append(true)
				b.ValueBuilder().(*array.Float32Builder).AppendValues(make([]float32, n), nil)
			}
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, writeAll(path, WriterOptions{}, record(t, built("x", b, false), datatest.Column("y", []float64{0, 1}, nil))))
			return path
		}
	}
	const bucket = 1 << schema.MaxAllBuckets
	for name, c := range map[string]struct {
		file        func(n int) string // with n features
		fits, wide  int
		categorical string
	}{
		"CSV":               {csv, most, most + 1, ""},
		"wider CSV":         {csv, 9, most + 9, ""},
		"svmlight":          {svmlight(1), most, most + 1, ""},
		"svmlight from 0":   {svmlight(0), most, most + 1, ""},
		"hashed text":       {texts(2, bucket), most, most + bucket, fmt.Sprint("hash:", schema.MaxAllBuckets)},
		"one-hot text":      {texts(900, 900), 180_000, 270_000, "onehot"},
		"Arrow lists":       {lists("l.arrow", false), most, most + 1, ""},
		"Arrow fixed lists": {lists("f.arrow", true), most, most + 1, ""},
		"Parquet lists":     {lists("l.parquet", false), most, most + 1, ""},
	} {
		if require.Small() && (name == "Arrow fixed lists" || name == "hashed text" || name == "svmlight from 0") {
			continue
		}
		for _, n := range []int{c.fits, c.wide} {
			if require.Small() && n == c.fits && name == "one-hot text" {
				continue
			}
			path := c.file(n)
			label := "y"
			if strings.HasSuffix(path, ".svm") {
				label = column.SvmlightLabel
			}
			in, err := planOf(t.Context(), []string{path}, Options{Label: label, Categorical: c.categorical, Workers: 1, Storage: Dense}, memory.DefaultAllocator)
			if n == c.fits && (err != nil || in.cols() != n+1) {
				t.Errorf("%s: %d features: error %v", name, n, err)
			}
			if n == c.wide && (err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), "at most 262144 features")) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestFewWideRows: blocks of a few rows with many features take memory for these rows, and not for a chunk of them.
func TestFewWideRows(t *testing.T) {
	ctx := context.Background()
	opt := Options{Label: "label", Categorical: "hash:14", Memory: 256 << 20, Storage: Dense}
	csv := func(rows int) string {
		var text strings.Builder
		text.WriteString("a,b,label\n")
		for r := range rows {
			fmt.Fprintf(&text, "t%d,u%d,%d\n", r%60, r%7, r%2)
		}
		return textFile(t, fmt.Sprint(rows, ".csv"), text.String())
	}
	few, many := csv(60), csv(5000)
	const features, most = 2 << 14, 200 << 20
	var spec *schema.Spec
	for name, read := range map[string]func(path string) error{
		"load": func(path string) error {
			data, err := Load(ctx, path, opt)
			if err == nil && data.Rows() != 60 {
				t.Errorf("load: %d rows", data.Rows())
			}
			return err
		},
		"stream": func(path string) error {
			in, err := planOf(ctx, []string{path}, opt, memory.DefaultAllocator)
			if err != nil {
				return err
			}
			s, err := in.Stream(ctx)
			if err == nil {
				spec = s.Spec()
			}
			return err
		},
		"scan": func(path string) error {
			of := opt
			of.Label = ""
			of.Features = []string{"a", "b"}
			return Scan(ctx, []string{path}, of, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
				if b.Len() != 60 || b.Cols != features+1 {
					t.Errorf("scan: a block of %d rows and %d columns", b.Len(), b.Cols)
				}
				return nil
			})
		},
	} {
		if bytes := allocated(func() {
			if err := read(few); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}); bytes > most {
			t.Errorf("%s: 60 rows take %d MiB", name, bytes>>20)
		}
		if bytes := allocated(func() {
			if err := read(many); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "Memory") {
				t.Errorf("%s: 5,000 rows of 128 KiB: error %v", name, err)
			}
		}); bytes > 3*most {
			t.Errorf("%s: 5,000 rows that are refused take %d MiB", name, bytes>>20)
		}
	}
	if spec == nil || spec.Cols() != features+1 {
		t.Errorf("the stream has %v", spec)
	}
}

// TestLongTexts: a text of more than schema.MaxText bytes is neither a category nor a label, and the error says in which row it stands.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("a", schema.MaxText)
	for _, c := range []struct {
		label string
		opt   Options
		want  string
	}{
		{"y", Options{Label: "y", Categorical: "onehot"}, `DIR/a.csv: column "text", line 3, row 1: a text of 16385 bytes, and a category has at most 16384: ` +
			`leave it out with Exclude, or use Categorical hash:BITS`},
		{"text", Options{Label: "text"}, `DIR/a.csv: column "text", line 3, row 1: a text of 16385 bytes, and a label has at most 16384: choose another column with Label`},
		{"y", Options{Label: "y", Categorical: "hash:4"}, ""},
	} {
		for size, want := range map[string]string{longest + "b": c.want, longest[1:] + "b": ""} {
			path := textFile(t, "a.csv", fmt.Sprintf("x,text,y\n1,%s,0\n2,%s,1\n", longest, size))
			_, err := Load(context.Background(), path, c.opt)
			if want != "" {
				wantError(t, err, filepath.Dir(path), want)
			} else if err != nil {
				t.Errorf("%s as the label, %d bytes: %v", c.label, len(size), err)
			}
		}
	}
}

// TestLongNames: the names of all features have at most schema.MaxNames bytes, whether many columns have categories or one
// column has a long name. The names of the second table would take 256 MiB.
func TestLongNames(t *testing.T) {
	const columns, rows = 5, 500
	var fields []testField
	for c := range columns {
		texts := make([]string, rows)
		for r := range texts {
			texts[r] = fmt.Sprint(r, strings.Repeat("a", schema.MaxText-10))
		}
		fields = append(fields, datatest.Column(fmt.Sprint("t", c), texts, nil))
	}
	_, err := fromRecord(t, record(t, fields...), 100, Options{Categorical: "onehot"})
	wantError(t, err, "", `column "t0": the categories of all columns have over 32.0 MiB, those of this one the most: leave it out with Exclude, or use Categorical hash:BITS`)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	name := strings.Repeat("n", 4096)
	_, err = fromRecord(t, record(t, field(name, arrow.BinaryTypes.String, `["a"]`)), 1, Options{Categorical: "hash:16"})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.HasPrefix(err.Error(), "the names of 65536 features, 65536 of them from column ") || after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("error %.200v, %d bytes", err, after.TotalAlloc-before.TotalAlloc)
	}
}

// TestKeptTexts: the texts that Scan hands on with a block have at most 32 MiB, however many come in a record.
func TestKeptTexts(t *testing.T) {
	t.Parallel()
	const rows, size, most = 1000, 40 << 10, 32 << 20
	numbers, texts := make([]float32, rows), make([]string, rows)
	for i := range rows {
		numbers[i], texts[i] = float32(i), strings.Repeat(string(rune('a'+i%26)), size)
	}
	path := filepath.Join(t.TempDir(), "a.arrow")
	require.NoError(t, writeAll(path, WriterOptions{}, record(t, datatest.Column("x", numbers, nil), datatest.Column("text", texts, nil))))
	seen := 0
	err := Scan(context.Background(), []string{path}, Options{Features: []string{"x"}, Keep: []string{"text"}},
		func(_ *schema.Spec, b *block.Block, kept arrow.Record) error {
			texts := kept.Column(0).(*array.String)
			if n := len(texts.ValueBytes()); n > most {
				t.Errorf("%d bytes of text in a block of %d rows", n, b.Len())
			}
			for i := range b.Len() {
				if v := texts.Value(i); b.X[i*b.Stride] != float32(seen) || len(v) != size || v[0] != byte('a'+seen%26) {
					t.Fatalf("row %d is wrong", seen)
				}
				seen++
			}
			return nil
		})
	if err != nil || seen != rows {
		t.Fatalf("%d rows, error %v", seen, err)
	}
}

// TestManyColumns: what columns take beside their values is within the memory, whoever reads them.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	const columns = 40_000
	var text strings.Builder
	for i := range columns {
		fmt.Fprintf(&text, "c%d,", i)
	}
	text.WriteString("label\n" + strings.Repeat("0,", columns) + "1\n" + strings.Repeat("1,", columns) + "0\n")
	path, ctx := textFile(t, "a.csv", text.String()), context.Background()
	opt := Options{Label: "label", Memory: 64 << 20}
	want := path + ": reading 40,001 columns takes 117.2 MiB of memory, and the limit is 64 MiB: give more with Memory, or leave columns out"
	_, err := planOf(ctx, []string{path}, opt, memory.DefaultAllocator)
	if err == nil || err.Error() != want || !errors.Is(err, ErrMemory) {
		t.Errorf("open: %v", err)
	}
	if _, err = Convert(ctx, []string{path}, filepath.Join(t.TempDir(), "b.csv"), opt, WriterOptions{}); err == nil || err.Error() != want {
		t.Errorf("convert: %v", err)
	}
	if opt.Exclude = []string{"c1*", "c2*"}; err != nil {
		if rows, err := Convert(ctx, []string{path}, filepath.Join(t.TempDir(), "b.csv"), opt, WriterOptions{}); err != nil || rows != 2 {
			t.Errorf("convert of fewer columns: %d rows, %v", rows, err)
		}
	}
}

// TestColumnsOfText: the columns of a text file that isn't read take memory too.
func TestColumnsOfText(t *testing.T) {
	t.Parallel()
	const columns = 70_000
	names := make([]string, columns)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i)
	}
	svmlight := fmt.Sprintf("1 1:1 %d:1\n0 1:2\n", columns)
	csv := strings.Join(names, ",") + "\n" + strings.Repeat(strings.Repeat("0,", columns-1)+"1\n", 2)
	for name, text := range map[string]string{"a.csv": csv, "a.svm": svmlight} {
		path := textFile(t, name, text)
		opt := Options{Memory: 64 << 20, Keep: []string{"c7"}}
		_, err := Convert(context.Background(), []string{path}, filepath.Join(t.TempDir(), "b.csv"), opt, WriterOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), path+": 70,00") || !errors.Is(err, ErrMemory) ||
			!strings.HasSuffix(err.Error(), " and the limit is 64 MiB: give more with Memory, or write fewer columns") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestValuesOfManyFeatures: a row of svmlight is found without a description of each feature, which would take gigabytes.
func TestValuesOfManyFeatures(t *testing.T) {
	path := textFile(t, "a.svm", "1 1:1\n0 2:0.5 1000000:2\n")
	var rows map[int64]Row
	var err error
	took := allocated(func() {
		rows, err = Options{Text: TextOptions{NullValues: []string{"NA"}}}.Values(context.Background(), []string{path}, nil, []int64{1})
	})
	if got := fmt.Sprint(rows[1].Values); err != nil || got != "[f2:0.5 f1000000:2]" {
		t.Errorf("values %s, error %v", got, err)
	}
	if took > 100<<20 {
		t.Errorf("it allocated %d bytes", took)
	}
}
