package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	textfile "halfspace/dataset/internal/text"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestSvmlightLargerThanMemory: rows whose dense form is larger than the memory that is available are opened and their
// labels are read, so that they can be streamed.
func TestSvmlightLargerThanMemory(t *testing.T) {
	t.Parallel()
	rows := column.AvailableMemory()/(4*(schema.MaxFeatures-1)) + 1
	path := textFile(t, "a.svm", fmt.Sprintf("1 %d:1\n", schema.MaxFeatures-1)+strings.Repeat("0\n", int(rows)))
	s := mustStream(t, memory.DefaultAllocator, Options{Label: column.SvmlightLabel}, path)
	if s.Rows() != rows+1 || s.cols() != schema.MaxFeatures || len(s.Spec().Classes) != 2 {
		t.Errorf("%d rows of %d columns, classes %v", s.Rows(), s.cols(), s.Spec().Classes)
	}
}

// TestSvmlightSpare: a long file is read into memory that a short one before it has used.
func TestSvmlightSpare(t *testing.T) {
	t.Parallel()
	dir, line := t.TempDir(), "1 1:2 2:3.5 3:+4 4:5 5:6\n"
	for name, lines := range map[string]int{"a.svm": 1, "b.svm": 100, "c.svm": 1, "d.svm": 3000} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("0 1:1\n"+strings.Repeat(line, lines)), 0o600))
	}
	m := require.Value(Load(t.Context(), dir, Options{Label: column.SvmlightLabel, Workers: 1}))(t)
	if m.Rows() != 3106 {
		t.Errorf("%d rows", m.Rows())
	}
}

// TestSvmlightPairs: the blocks, warnings and errors are the same whether rows are made of pairs or of columns.
func TestSvmlightPairs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 1))
	var lines []string
	for range block.ChunkRows + 100 {
		line := fmt.Sprint(rng.IntN(3))
		for i := 1; i < 60; i += 1 + rng.IntN(20) {
			line += fmt.Sprintf(" %d:%v", i, []any{rng.IntN(12), 0.0, rng.NormFloat64(), "-0", "1e-50", "+2"}[rng.IntN(6)])
		}
		lines = append(lines, line+[]string{"", " # 1:2", "\r"}[rng.IntN(3)])
	}
	text := "\ufeff" + strings.Join(lines, "\n")
	replaced := func(line int, by string) string {
		changed := slices.Clone(lines)
		changed[line] = by
		return strings.Join(changed, "\n")
	}
	model := &schema.Spec{Features: []string{"f7", "f2", "f500"}, Bias: true, Label: column.SvmlightLabel,
		Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1), schema.IntClass(2)}}
	for name, c := range map[string]struct {
		text string
		opt  Options
	}{
		"all":         {text, Options{Label: column.SvmlightLabel}},
		"a few":       {text, Options{Label: column.SvmlightLabel, Features: []string{"f20", "f3", "f59"}, NoBias: true}},
		"a model":     {text, Options{Label: column.SvmlightLabel, Spec: model}},
		"from 0":      {text, Options{Label: column.SvmlightLabel, Text: TextOptions{IndexBase: "0"}}},
		"NaN":         {replaced(4000, "1 3:1 7:nan 9:1e60"), Options{Label: column.SvmlightLabel, Features: []string{"f9", "f7", "f3"}}},
		"too large":   {replaced(30, "1 9:-1e60"), Options{Label: column.SvmlightLabel}},
		"not wanted":  {replaced(30, "1 9:inf"), Options{Label: column.SvmlightLabel, Features: []string{"f8"}}},
		"a model's":   {replaced(30, "1 7:inf"), Options{Label: column.SvmlightLabel, Spec: model}},
		"wrong label": {replaced(30, "9 7:inf"), Options{Label: column.SvmlightLabel, Spec: model}},
		"NaN label":   {replaced(30, "nan 7:1"), Options{Label: column.SvmlightLabel}},
	} {
		path := textFile(t, "a.svm", c.text)
		var want []*block.Block
		var wantHeard string
		for _, way := range []string{"columns", "pairs", "streamed", "sparse", "sparse, streamed"} {
			heard := ""
			if c.opt.Storage = ""; strings.HasPrefix(way, "sparse") {
				c.opt.Storage = Sparse
			}
			c.opt.Warn, c.opt.Workers = func(text string) { heard += text + "\n" }, 2
			opt := c.opt
			if way == "columns" && opt.Features == nil && opt.Spec == nil {
				opt.Features = []string{"f*"} // each feature has a column of its own
			}
			in, err := planOf(context.Background(), []string{path}, opt, memory.DefaultAllocator)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			svm := in.in.(*textfile.Svmlight)
			if !svm.Plain {
				t.Fatalf("%s: not plain", name)
			}
			svm.Plain = way != "columns"
			var d *block.Data
			if !strings.HasSuffix(way, "streamed") {
				d, err = in.Load(context.Background())
			} else if s, errStream := in.Stream(context.Background()); errStream != nil {
				err = errStream
			} else if d, err = block.Collect(context.Background(), s); err == nil {
				heard = wantHeard // of a pass for the labels too
			}
			if err != nil {
				heard = err.Error()
			}
			if way == "columns" {
				if wantHeard = heard; err == nil {
					want = blocksOf(t, d)
				}
				continue
			}
			if heard != wantHeard {
				t.Errorf("%s, %s: heard\n%s\nwant\n%s", name, way, heard, wantHeard)
			}
			if err == nil {
				got := blocksOf(t, d)
				if c.opt.Storage == Sparse {
					got = denseOf(t, got)
				}
				if err := sameBlocks(got, want); err != nil {
					t.Errorf("%s, %s: %v", name, way, err)
				}
			}
		}
	}
}

// TestSvmlightNumbers: pairs of any form and length, with any blanks around them, have the values that strconv parses, up
// to the last byte of a file.
func TestSvmlightNumbers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	digits := func(n int) (s string) {
		for range rng.IntN(n) {
			s += string('0' + byte(rng.IntN(10)))
		}
		return s
	}
	for range 20 {
		var text strings.Builder
		var want [][]float64
		for range 40 {
			text.WriteString(one("1", "0", "1.5e0") + one(" ", " ", "\t", "  "))
			row, index := []float64{}, 0
			for range rng.IntN(30) {
				index += 1 + int(math.Exp(11*rng.Float64()))
				value := one("", "", "-", "+") + one("1", digits(9)+"1", "0."+digits(10)+"5", digits(6)+"."+digits(7)+"5", "."+digits(19)+"1", "7.", "2"+digits(4)+"."+digits(4)) + one("", "", "", "e3", "E-5", "e+12")
				fmt.Fprintf(&text, "%s%d:%s%s", one("", "", "", "0", "000"), index, value, one(" ", " ", " ", "  ", "\t", " \v "))
				row = append(row, float64(index), float64(float32(require.Value(strconv.ParseFloat(value, 64))(t))))
			}
			want = append(want, row)
			text.WriteString(one("", "", "", "#", "# 5:7") + one("\n", "\n", "\r\n", " \n", "\n\n"))
		}
		path := textFile(t, "a.svm", strings.TrimRight(text.String(), "\r\n"))
		d := require.Value(Load(t.Context(), path, Options{Label: "label", NoBias: true, Storage: Sparse}))(t)
		b := blocksOf(t, d)[0]
		for r, row := range want {
			columns, values := b.Sparse.Row(r)
			got := []float64{}
			for k, c := range columns {
				got = append(got, float64(c+1), float64(values[k]))
			}
			if !slices.Equal(got, row) {
				t.Fatalf("row %d is %v, want %v", r, got, row)
			}
		}
	}
}

// TestSvmlightUnnamed: features that no option names, in one column, make the same spec, rows and notes as features in
// columns of their own, of a file and of a model. Labels that aren't asked for are no feature, unless one asks for that.
func TestSvmlightUnnamed(t *testing.T) {
	path := textFile(t, "a.svm", "7 2:0.5 9:16777217 # c\n8 qid:1 1:4 2:7 11:-6\n\n8\n7 3:123456789 11:987654321\n")
	other := textFile(t, "b.svm", "8 0:1 2:5 40:1\n7 12:3\n")
	open := func(path string, opt Options) (*schema.Spec, []*block.Block, string) {
		notes := ""
		opt.Warn = func(note string) { notes += note + "\n" }
		d := require.Value(Load(t.Context(), path, opt))(t)
		return d.Spec(), denseOf(t, blocksOf(t, d)), notes
	}
	for name, opt := range map[string]Options{"unlabelled": {}, "no bias": {NoBias: true, Label: "label"}, "from 0": {Text: TextOptions{IndexBase: "0"}, Label: "label"}} {
		opt.Storage = Sparse
		named := opt
		named.Features = []string{"f*"}
		spec, rows, notes := open(path, opt)
		wantSpec, want, wantNotes := open(path, named)
		if !reflect.DeepEqual(spec, wantSpec) || notes != wantNotes || !strings.Contains(notes, `"f9"`) {
			t.Errorf("%s: spec %+v, want %+v; notes %q, want %q", name, spec, wantSpec, notes, wantNotes)
		}
		if err := sameBlocks(rows, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		first, _ := schema.Consecutive(spec.Features)
		model := *spec
		model.Features = spec.Features[2-first:] // from f2 on
		modelOpt, columns := Options{Label: opt.Label, Spec: &model, Storage: Sparse}, Options{Label: opt.Label, Spec: &model, Storage: Sparse, Text: TextOptions{NullValues: []string{}}}
		_, rows, notes = open(other, modelOpt)
		_, want, wantNotes = open(other, columns)
		if err := sameBlocks(rows, want); err != nil || "NullValues is ignored: it is for CSV, and the data is svmlight\n"+notes != wantNotes {
			t.Errorf("%s, a model: %v; notes %q, want %q", name, err, notes, wantNotes)
		}
	}
	if _, rows, _ := open(path, Options{Features: []string{"label", "f2"}, NoBias: true, Storage: Sparse}); rows[0].X[0] != 7 || rows[0].X[1] != 0.5 {
		t.Errorf("a label as a feature: row %v", rows[0].X[:2])
	}
}

// TestSvmlightIndices: sparse rows may have larger indices than dense ones. What is larger still, isn't in order or is no index is
// an error that says so, up to indices that no integer holds.
func TestSvmlightIndices(t *testing.T) {
	t.Parallel()
	const most, sparse = schema.MaxFeatures, schema.MaxNumbered
	for pair, want := range map[string][2]string{ // of dense and of sparse rows
		fmt.Sprint(most+1, ":1"):     {"index 262145: a row has at most 262144 features", ""},
		fmt.Sprint(sparse+1, ":1"):   {"at most 262144 features", "index 16777217: a row has at most 16777216 features"},
		fmt.Sprint(sparse, ":1"):     {"at most 262144 features", ""},
		"2147483647:1":               {"index 2147483647: a row", "index 2147483647: a row"},
		"2147483648:1":               {"index 2147483648: a row", "index 2147483648: a row"},
		"9223372036854775807:1":      {"index 9223372036854775807: a row", "index 9223372036854775807: a row"},
		"9223372036854775808:1":      {"index 9223372036854775808: a row", "index 9223372036854775808: a row"},
		"9223372036854775808:1 3:1":  {"index 9223372036854775808: a row", "index 9223372036854775808: a row"},
		"36893488147419103232:1 3:1": {"index 36893488147419103232: a row", "index 36893488147419103232: a row"},
		"4294967299:1 3:1":           {"index 3 follows 4294967299: sort", "index 3 follows 4294967299: sort"},
		"3:1 3:2":                    {"index 3 follows 3: sort", "index 3 follows 3: sort"},
		"7:1 3:2":                    {"index 3 follows 7: sort", "index 3 follows 7: sort"},
		"-3:1":                       {"\"-3:1\" is no pair", "\"-3:1\" is no pair"},
	} {
		path := textFile(t, "a.svm", "1 2:1\n0 "+pair+"\n")
		for i, storage := range []Storage{Dense, Sparse} {
			in, err := planOf(context.Background(), []string{path}, Options{Label: column.SvmlightLabel, Storage: storage}, memory.DefaultAllocator)
			if err == nil && (want[i] != "" || storage == Sparse) { // the dense block takes gigabytes
				_, err = in.Load(context.Background())
			}
			if want[i] == "" && err != nil || want[i] != "" && (err == nil || !strings.Contains(err.Error(), "a.svm: line 2: ") || !strings.Contains(err.Error(), want[i])) {
				t.Errorf("%s, %s: error %v, want %q", pair, storage, err, want[i])
			}
		}
	}
}

// TestSvmlightDefaults: without options, wide rows are sparse, and dense rows that take more memory than there is are an
// error before they take any.
func TestSvmlightDefaults(t *testing.T) {
	t.Parallel()
	path := textFile(t, "a.svm", strings.Repeat("1 3:2 200000:1\n", 1_000_000))
	d := require.Value(Load(t.Context(), path, Options{Label: "label"}))(t)
	if b := blocksOf(t, d)[0]; b.Sparse == nil || d.Rows() != 1_000_000 {
		t.Errorf("%d rows, sparse: %t", d.Rows(), b.Sparse != nil)
	}
	bytes := allocated(func() {
		_, err := Load(t.Context(), path, Options{Label: "label", Storage: Dense})
		if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "holding 1,000,000 rows with 200,000 features takes 745.1 GiB of memory, and the limit is ") {
			t.Errorf("dense: error %v", err)
		}
	})
	if bytes > 1<<30 {
		t.Errorf("dense rows that are refused take %d MiB", bytes>>20)
	}
}

// TestStandardizedWide: many features can't be standardized, since that makes rows dense. The error says what to type. If
// nobody asked for it they stay as they are, with a note.
func TestStandardizedWide(t *testing.T) {
	t.Parallel()
	path := textFile(t, "a.svm", fmt.Sprintf("1 2:1\n0 %d:1\n", mostStandardized+1))
	opt := Options{Label: column.SvmlightLabel, Storage: Auto, Standardize: true}
	if _, err := planOf(context.Background(), []string{path}, opt, memory.DefaultAllocator); err == nil || !strings.Contains(err.Error(), "use Standardize=false") {
		t.Errorf("error %v", err)
	}
	var notes []string
	opt.KeepWide, opt.Warn = true, func(note string) { notes = append(notes, note) }
	kept, err := Load(context.Background(), path, opt)
	if err != nil || kept.Spec().Preprocessing != nil || blocksOf(t, kept)[0].Sparse == nil || len(notes) != 1 || !strings.Contains(notes[0], "the 16385 features are not standardized") {
		t.Errorf("wide rows by default: error %v, notes %q", err, notes)
	}
	narrow := textFile(t, "b.svm", fmt.Sprintf("1 2:1\n0 %d:1\n", mostStandardized))
	if in, err := planOf(context.Background(), []string{narrow}, opt, memory.DefaultAllocator); err != nil || !in.isLearned() {
		t.Errorf("narrower rows by default: error %v, or nothing is standardized", err)
	}
	opt.Standardize = false
	if _, err := planOf(context.Background(), []string{path}, opt, memory.DefaultAllocator); err != nil {
		t.Error(err)
	}
}

// TestSvmlightKeepSparse: sparse rows stay sparse beside columns that are handed on, be these features, the label or others.
func TestSvmlightKeepSparse(t *testing.T) {
	path := textFile(t, "a.svm", "1 2:3 9:5\n-1 1:4 2:7 5:6\n1\n")
	spec := &schema.Spec{Features: []string{"f9", "f1", "f2"}}
	for _, storage := range []Storage{Dense, Sparse} {
		err := Scan(context.Background(), []string{path}, Options{Spec: spec, Keep: []string{"f2", "label", "f5"}, Storage: storage},
			func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
				if storage == Sparse {
					b = denseOf(t, []*block.Block{b})[0]
				}
				got := fmt.Sprint(b.X[:3], b.X[b.Stride:][:3], b.X[2*b.Stride:][:3], rec.Column(0), rec.Column(1), rec.Column(2))
				if want := "[5 0 3] [0 4 7] [0 0 0] [3 7 0] [1 -1 1] [0 6 0]"; got != want {
					t.Errorf("%s: rows and columns %s, want %s", storage, got, want)
				}
				return nil
			})
		if err != nil {
			t.Errorf("%s: %v", storage, err)
		}
	}
}

// TestSvmlightKeepMany: rows of many features stay sparse beside any number of columns that are handed on.
func TestSvmlightKeepMany(t *testing.T) {
	t.Parallel()
	const features, kept, rows = 2000, 40, 3000
	var text strings.Builder
	spec := &schema.Spec{Bias: true}
	for i := 1; i <= features; i++ {
		spec.Features = append(spec.Features, fmt.Sprint("f", i))
	}
	for r := range rows {
		fmt.Fprintf(&text, "%d %d:%d 1000:1\n", r%2, 1+r%kept, 1+r)
	}
	path := textFile(t, "a.svm", text.String())
	keep := append(slices.Clone(spec.Features[:kept]), "label")
	row := 0
	err := Scan(context.Background(), []string{path}, Options{Spec: spec, Keep: keep, Storage: Auto},
		func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
			for r := range b.Len() {
				if columns, values := b.Sparse.Row(r); len(columns) != 3 || int(columns[0]) != row%kept || values[0] != float32(1+row) {
					t.Errorf("row %d has %v in the columns %v", row, values, columns)
				}
				for k := range kept + 1 {
					want := map[bool]float64{k == row%kept: float64(1 + row), k == kept: float64(row % 2)}[true]
					if got := rec.Column(k).(*array.Float64).Value(r); got != want {
						t.Fatalf("row %d: %s is %v, want %v", row, rec.ColumnName(k), got, want)
					}
				}
				row++
			}
			return nil
		})
	if err != nil || row != rows {
		t.Errorf("%d rows, error %v", row, err)
	}
}

// FuzzSvmlight reads bytes as sparse rows: no panic, and rows or an error as of dense rows.
func FuzzSvmlight(f *testing.F) {
	for _, text := range []string{"1 1:2 3:4\n0 qid:1 2:5 # c\n", "1 0:-0 7:1e-50\n-1 3:16777217\n", "1 2147483648:1\n0 -1:2\n", "a 1:1", "1 12345678:1.2345678 3:nan\n", "1 2:+.5\t3:5.\r\n0 3:12345678.5\n"} {
		f.Add([]byte(text))
	}
	dir, many := f.TempDir(), regexp.MustCompile(`(^|[^0-9])0*[1-9][0-9]{4,6}:`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if many.Match(data) {
			t.Skip("so many columns that one input takes a second")
		}
		path := filepath.Join(dir, "a.svm")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		opt := Options{Label: column.SvmlightLabel, Workers: 2, Storage: Sparse}
		sparse, err := Load(context.Background(), path, opt)
		if err == nil && sparse.Spec().Cols() > 1000 { // dense rows would take much memory
			return
		}
		opt.Storage = Dense
		dense, wrong := Load(context.Background(), path, opt)
		switch {
		case err == nil && wrong == nil:
			if err := sameBlocks(denseOf(t, blocksOf(t, sparse)), blocksOf(t, dense)); err != nil {
				t.Error(err)
			}
		case (err == nil) != (wrong == nil):
			t.Errorf("sparse: error %v, dense: error %v", err, wrong)
		}
	})
}
