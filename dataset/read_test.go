package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/dataset/internal/datatest"
	pages "halfspace/dataset/internal/parquet"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/schema"
)

// TestSpec checks names, order, bias and classes.
func TestSpec(t *testing.T) {
	dir, f := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("b", f.Int32, "[1, 2]"), field("a", f.Float64, "[3, 4]"),
		field("name", arrow.BinaryTypes.String, `["u", "v"]`), field("a[0]", arrow.FixedWidthTypes.Boolean, "[true, false]"),
		field("day", arrow.FixedWidthTypes.Date32, "[1, 2]"), field("y", f.Int8, "[1, 0]"), field("km/h", f.Uint8, "[5, 6]"))
	for _, c := range []struct {
		name     string
		opt      Options
		features []string
		first    []float64
	}{
		{"default", Options{Label: "y"}, []string{"b", "a", "a[0]", "day", "km/h"}, []float64{1, 3, 1, 1, 5, 1}},
		{"no label", Options{}, []string{"b", "a", "a[0]", "day", "y", "km/h"}, []float64{1, 3, 1, 1, 1, 5, 1}},
		{"named", Options{Label: "y", Features: []string{"a[0]", "b"}}, []string{"a[0]", "b"}, []float64{1, 1, 1}},
		{"pattern", Options{Label: "y", Features: []string{"a*"}, NoBias: true}, []string{"a", "a[0]"}, []float64{3, 1}},
		{"slash", Options{Label: "y", Features: []string{"k*"}}, []string{"km/h"}, []float64{5, 1}},
		{"name, then all", Options{Label: "y", Features: []string{"a", "*"}}, []string{"a", "b", "a[0]", "day", "km/h"},
			[]float64{3, 1, 1, 1, 5, 1}},
		{"pattern, then name", Options{Label: "y", Features: []string{"a*", "a"}}, []string{"a", "a[0]"}, []float64{3, 1, 1}},
		{"exclude", Options{Label: "y", Exclude: []string{"a*", "name"}}, []string{"b", "day", "km/h"}, []float64{1, 1, 5, 1}},
		{"exclude a name like a pattern", Options{Label: "y", Exclude: []string{"a[0]"}}, []string{"b", "a", "day", "km/h"},
			[]float64{1, 3, 1, 5, 1}},
		{"model", Options{Features: []string{"nothing"}, Spec: &schema.Spec{Features: []string{"a", "b"}, Bias: true}},
			[]string{"a", "b"}, []float64{3, 1, 1}},
		{"model without features", Options{Spec: &schema.Spec{Bias: true}}, nil, []float64{1}},
	} {
		d, err := Load(context.Background(), path, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		rows, y := rowsOf(t, d)
		if !slices.Equal(d.Spec().Features, c.features) || !slices.Equal(testproblems.Float64s(rows[0]), c.first) || len(rows) != 2 {
			t.Errorf("%s: features %v, first row %v", c.name, d.Spec().Features, rows[0])
		}
		if d.Spec().Bias == c.opt.NoBias || d.Spec().Label != c.opt.Label || (y == nil) != (c.opt.Label == "") {
			t.Errorf("%s: spec %+v, labels %v", c.name, d.Spec(), y)
		}
	}
}

// endingReader ends with an error after its record.
type endingReader struct {
	array.RecordReader
	end error
}

func (r endingReader) Err() error { return r.end }

// TestEndOfRecords tells the end of a source, which some readers report as io.EOF, from an error about a cut file.
func TestEndOfRecords(t *testing.T) {
	rec := record(t, field("x", arrow.PrimitiveTypes.Float32, "[1, 2]"))
	for _, c := range []struct {
		end  error
		want string
	}{
		{io.EOF, ""},
		{fmt.Errorf("could not read a message: %w", io.EOF), "a record can't be read (could not read a message: EOF): check its source"},
		{io.ErrUnexpectedEOF, "a record can't be read (unexpected EOF): check its source"},
	} {
		r := require.Value(array.NewRecordReader(rec.Schema(), []arrow.Record{rec}))(t)
		_, err := fromRecords(context.Background(), endingReader{r, c.end}, Options{})
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("after %q: error %v, want %q", c.end, err, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	rec := record(t, field("x", arrow.PrimitiveTypes.Int32, "[1, 2, 3, 4, 5]"))
	writeFile(t, path, rec, 2)
	var got []string
	opt := Options{Progress: func(_ Pass, rows, total int64) { got = append(got, fmt.Sprint(rows, "/", total)) }}
	if _, err := Load(context.Background(), path, opt); err != nil || fmt.Sprint(got) != "[2/5 4/5 5/5]" {
		t.Errorf("files: %v, %v", err, got)
	}
	got = nil
	r := require.Value(array.NewRecordReader(rec.Schema(), []arrow.Record{rec}))(t)
	if _, err := fromRecords(context.Background(), r, opt); err != nil || fmt.Sprint(got) != "[5/-1]" {
		t.Errorf("records: %v, %v", err, got)
	}
	got, opt.Standardize = nil, true
	if _, err := Load(context.Background(), path, opt); err != nil || fmt.Sprint(got) != "[2/5 4/5 5/5 2/5 4/5 5/5]" {
		t.Errorf("two passes: %v, %v", err, got)
	}
}

// TestRanks: integers have their order, and stay apart beyond 2^53. Dates, texts and other numbers of CSV have the order of their texts. Rows that are dropped have
// no rank.
func TestRanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	lines := "id,n,day,text,x,y\n" +
		"9007199254740993,10,2024-10-01,b,1,0\n" +
		"9007199254740992,9.5,2024-09-30,a,2,1\n" +
		"-3,-1e9,2023-12-31,B,,0\n" +
		"9007199254740993,10,2024-10-01,b,4,1\n"
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	for column, want := range map[string][]int64{"id": {2, 1, 0, 2}, "n": {1, 2, 0, 1}, "day": {2, 1, 0, 2}, "text": {2, 1, 0, 2}} {
		for _, nulls := range []schema.Nulls{schema.NullsZero, schema.NullsMean, schema.NullsDrop} {
			want := slices.Clone(want)
			if nulls == schema.NullsDrop {
				want = []int64{want[0] - 1, want[1] - 1, want[3] - 1}
			}
			got, err := Options{Label: "y", Features: []string{"x"}, Nulls: nulls}.Ranks(t.Context(), []string{path}, column, column == "day")
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("column %s, nulls %s: ranks %v, error %v, want %v", column, nulls, got, err, want)
			}
		}
	}
	for column, want := range map[string]string{"text": `column "text", line 2, row 0: "b" is no date as the other texts are`,
		"none": `no column "none"`, "x": "no value: fill it in"} {
		_, err := Options{Label: "y", Features: []string{"n"}}.Ranks(t.Context(), []string{path}, column, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("column %s: error %v, want %q", column, err, want)
		}
	}
}

// TestRanksOfDates: texts of dates have the order of the times that features derive from them. Texts of one time have
// one rank.
func TestRanksOfDates(t *testing.T) {
	for _, c := range []struct {
		texts, want string // apart by bars
		types       []string
		note        string
	}{
		{"6/16/14|12/31/99|1/2/15|6/16/14", "1 0 2 1", nil, `column "day": years of two digits are 1969 to 2068`},
		{"16.06.2014|01.07.2014|02.05.2013", "1 2 0", nil, ""},
		{"2014-06-16|2014-06-16T00:00:00Z|2014-06", "1 1 0", nil, ""},
		{"16 Jun 2014 9:00 PM|16 Jun 2014 10:00 AM|1 Jan 2015", "1 0 2", nil, ""},
		{"Mon, 16 Jun 2014 12:00:00 EST|Mon, 16 Jun 2014 16:30:00 GMT|Mon, 16 Jun 2014 12:00:00 EDT", "2 1 0", nil, ""},
		{"02/11/2011|03/02/2011|01/12/2011", "1 2 0", nil,
			`column "day": "02/11/2011" is read as 2011-02-11; if it is 2011-11-02, use Types day=date:DMY`},
		{"02/11/2011|03/02/2011|01/12/2011", "1 0 2", []string{"day=date:DMY"}, ""},
		{"20140616|20130701|20150101", "1 0 2", []string{"day=date"}, ""},
	} {
		path := textFile(t, "a.csv", "day,x,y\n"+strings.ReplaceAll(`"`+c.texts+`"`, "|", "\",1,0\n\"")+",2,1\n")
		var notes []string
		opt := Options{Label: "y", Features: []string{"x"}, Prepare: true, Types: c.types,
			Warn: func(text string) { notes = append(notes, text) }}
		got, err := opt.Ranks(t.Context(), []string{path}, "day", true)
		if err != nil || fmt.Sprint(got) != "["+c.want+"]" {
			t.Errorf("%s: ranks %v, error %v, want %s", c.texts, got, err, c.want)
		}
		if c.note != "" && !slices.Contains(notes, c.note) || c.note == "" && strings.Contains(strings.Join(notes, ""),
			"is read as") {
			t.Errorf("%s: notes %q, want %q", c.texts, notes, c.note)
		}
	}
	for texts, want := range map[string]string{
		"2014-06-16|soon|2014-06-17": `column "day", line 3, row 1: "soon" is no date as the other texts are`,
		"2014-06-16|2014-13-01":      `row 1: "2014-13-01" is no date`,
		"2014-06-16|unknown":         `row 1: "unknown" is no date`, "6/16/14|16/6/14": "is no date",
		"2014-06-16|": "no value: fill it in",
	} {
		path := textFile(t, "a.csv", "day,x,y\n"+strings.ReplaceAll(texts, "|", ",1,0\n")+",2,1\n")
		_, err := Options{Label: "y", Features: []string{"x"}}.Ranks(t.Context(), []string{path}, "day", true)
		require.Error(t, err, want)
	}
}

// TestSharesOfDropped: only rows that are kept are counted and chosen.
func TestSharesOfDropped(t *testing.T) {
	path := textFile(t, "a.csv", "x,y\n1,0\n,0\n2,1\n4,1\n,1\n3,\n")
	in := require.Value(planOf(context.Background(), []string{path}, Options{Label: "y", Nulls: schema.NullsDrop, Standardize: true, Workers: 1}, memory.DefaultAllocator))(t)
	var classes []int
	shares, err := in.shares(context.Background(), func(counts []int64) []func(class int) bool {
		if want := []int64{1, 2}; !slices.Equal(counts, want) {
			t.Errorf("%d rows of the classes, want %d", counts, want)
		}
		return []func(class int) bool{func(class int) bool {
			classes = append(classes, class)
			return class == 1
		}}
	})
	require.NoError(t, err)
	if want := []int{0, 1, 1}; !slices.Equal(classes, want) {
		t.Errorf("classes of rows %d, want %d", classes, want)
	}
	if center := shares[0].bound.Plan.Inputs[0].Center; !slices.Equal(center, []float64{3}) {
		t.Errorf("mean %g, want 3", center)
	}
}

// partsCols are columns enough for blocks of a chunk.
const partsCols = 300

// partsTable makes columns of three kinds and a label, of which the last class appears late, with something wrong in some of the rows. The
// second kind has nulls.
func partsTable(t *testing.T, rows int, classes []string, wrong map[int]float32) arrow.Record {
	rng := rand.New(rand.NewPCG(1, 7))
	var cols []testField
	for c := range partsCols {
		floats, doubles, numbers, valid := make([]float32, rows), make([]float64, rows), make([]int32, rows), make([]bool, rows)
		for r := range rows {
			floats[r], doubles[r], numbers[r], valid[r] = float32(rng.Float64()), rng.Float64(), rng.Int32N(50), r != rows/3+c
			if v, bad := wrong[r]; bad && c == 6 {
				floats[r] = v
			}
		}
		name := fmt.Sprint("x", c)
		cols = append(cols, []testField{datatest.Column(name, floats, nil), datatest.Column(name, doubles, valid), datatest.Column(name, numbers, nil)}[c%3])
	}
	labels := make([]string, rows)
	for r := range labels {
		labels[r] = classes[min(r*len(classes)/rows, rng.IntN(len(classes)))]
	}
	return record(t, append(cols, datatest.Column("y", labels, nil))...)
}

// TestParts loads a file in parts of one worker each: blocks, classes and notes are those of one worker for all.
func TestParts(t *testing.T) {
	t.Parallel()
	rows, tables, counts := 6*block.ChunkRows+400, [][]string{{"yes", "no"}, {"c", "b", "a"}}, []int{1, 2, 3, 8}
	if require.Small() {
		rows, tables, counts = 3*block.ChunkRows+400, tables[1:], counts[:2] // four blocks
	}
	for _, classes := range tables {
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, partsTable(t, rows, classes, nil), 1900, parquet.WithDataPageSize(3000), parquet.WithCompression(compress.Codecs.Snappy))
		var want []*block.Block
		var spec *schema.Spec
		var notes []string
		for _, workers := range counts {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			var warnings []string
			last := int64(0)
			opt := Options{Label: "y", Workers: workers, Nulls: schema.NullsZero, Warn: func(s string) { warnings = append(warnings, s) }}
			opt.Progress = func(_ Pass, read, total int64) {
				if read < last || total != int64(rows) {
					t.Errorf("%d workers: %d of %d rows after %d", workers, read, total, last)
				}
				last = read
			}
			in := require.Value(planOf(t.Context(), []string{path}, opt, mem))(t)
			if parts, _ := in.parts(t.Context(), in.in.Total(), pages.NewPool(mem)); (workers == 2 || workers == 3) != (len(parts) > 1) {
				t.Fatalf("%d workers: %d parts", workers, len(parts))
			}
			d := require.Value(in.Load(t.Context()))(t)
			mem.AssertSize(t, 0)
			if last != int64(rows) {
				t.Errorf("%d workers: the progress ends at %d rows", workers, last)
			}
			if blocks := blocksOf(t, d); workers == 1 {
				want, spec, notes = blocks, d.Spec(), warnings
			} else if err := sameBlocks(blocks, want); err != nil {
				t.Errorf("%d workers: %v", workers, err)
			}
			if got := d.Spec(); !reflect.DeepEqual(got, spec) || !slices.Equal(warnings, notes) {
				t.Errorf("%d workers: classes %v, positive %d, want %v, %d, or columns differ; notes %q, want %q", workers, got.Classes, got.Positive,
					spec.Classes, spec.Positive, warnings, notes)
			}
		}
	}
}

// TestPartsErrors names the first wrong row, whichever part it is in.
func TestPartsErrors(t *testing.T) {
	t.Parallel()
	rows := 6*block.ChunkRows + 400
	if require.Small() {
		rows = 3*block.ChunkRows + 400
	}
	var features []string
	for c := 0; c < partsCols; c += 3 {
		features = append(features, fmt.Sprint("x", c), fmt.Sprint("x", c+2)) // the others have nulls
	}
	for first, wrong := range map[int]map[int]float32{5000: {5000: float32(nan), 8000: float32(inf)}, rows - 1: {rows - 1: float32(nan)},
		4095: {4096: float32(inf), 4095: float32(inf), 8192: float32(nan)}} {
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, partsTable(t, rows, []string{"no", "yes"}, wrong), 1900)
		for _, workers := range []int{1, 2, 3} {
			_, err := Load(t.Context(), path, Options{Label: "y", Features: features, Workers: workers})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`column "x6", row %d: `, first)) {
				t.Errorf("%d workers: %v, want row %d", workers, err, first)
			}
		}
		if require.Small() {
			break
		}
	}
}

// TestChangedRows: rows that a program changes after Load are checked again.
func TestChangedRows(t *testing.T) {
	m := require.Value(Load(t.Context(), textFile(t, "a.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n"), Options{Label: "y"}))(t)
	require.Value(block.Validate(t.Context(), m, 1))(t)
	for b := range m.Blocks(t.Context()) {
		b.X[0] = float32(math.NaN())
	}
	if _, err := block.Validate(t.Context(), m, 1); err == nil {
		t.Error("no error for a NaN")
	}
}
