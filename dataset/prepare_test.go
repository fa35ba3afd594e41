package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// A newcomer is a table with columns of every kind that Prepare knows.
type newcomer struct {
	schema *arrow.Schema
	rec    arrow.Record
}

// newNewcomer returns a table of n rows.
func newNewcomer(n int, seed uint64) newcomer {
	r := rand.New(rand.NewPCG(seed, 1))
	s, p, d := arrow.BinaryTypes.String, arrow.PrimitiveTypes, arrow.FixedWidthTypes
	fields := []arrow.Field{{Name: "id", Type: p.Int64}, {Name: "age", Type: p.Float64}, {Name: "rooms", Type: p.Int64}, {Name: "sex", Type: s}, {Name: "city", Type: s}, {Name: "price", Type: s},
		{Name: "weight", Type: s}, {Name: "smoker", Type: s}, {Name: "member", Type: d.Boolean}, {Name: "born", Type: d.Date32}, {Name: "seen", Type: d.Timestamp_s}, {Name: "german", Type: s},
		{Name: "name", Type: s}, {Name: "same", Type: p.Int64}, {Name: "none", Type: s}, {Name: "y", Type: s}}
	for i := range fields {
		fields[i].Nullable = true
	}
	t := newcomer{schema: arrow.NewSchema(fields, nil)}
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.schema)
	defer b.Release()
	text := func(k int, v string) { b.Field(k).(*array.StringBuilder).Append(v) }
	for i := range n {
		missing := func(k int, share float64) bool {
			if r.Float64() < share {
				b.Field(k).AppendNull()
				return true
			}
			return false
		}
		b.Field(0).(*array.Int64Builder).Append(int64(1000 + i))
		if !missing(1, 0.1) {
			b.Field(1).(*array.Float64Builder).Append(math.Round(100*r.Float64()) / 2)
		}
		if !missing(2, 0.001) {
			b.Field(2).(*array.Int64Builder).Append(r.Int64N(9))
		}
		if !missing(3, 0.05) {
			text(3, []string{"female", "male", "it's \"other\""}[r.IntN(3)])
		}
		text(4, fmt.Sprint("city ", r.IntN(200)))
		text(5, fmt.Sprintf("$%d,%03d.%02d", 1+r.IntN(9), r.IntN(1000), r.IntN(100)))
		text(6, fmt.Sprintf("%d,%d kg", r.IntN(90), r.IntN(10))[:len(fmt.Sprintf("%d,%d", 10, 1))])
		text(7, []string{"yes", "No"}[r.IntN(2)])
		b.Field(8).(*array.BooleanBuilder).Append(r.IntN(2) == 1)
		if !missing(9, 0.02) {
			b.Field(9).(*array.Date32Builder).Append(arrow.Date32(r.IntN(20000) - 5000))
		}
		b.Field(10).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000 + r.IntN(90_000_000)))
		text(11, fmt.Sprintf("%02d.%02d.%04d", 1+r.IntN(28), 1+r.IntN(12), 1990+r.IntN(30)))
		text(12, fmt.Sprintf("person %d", r.Uint64()))
		b.Field(13).(*array.Int64Builder).Append(7)
		b.Field(14).AppendNull()
		if !missing(15, 0.01) {
			text(15, []string{"a", "b"}[r.IntN(2)])
		}
	}
	t.rec = b.NewRecord()
	return t
}

// write writes the table to a file in the format of its extension.
func (t newcomer) write(tb testing.TB, path string) string {
	tb.Helper()
	w := require.Value(Create(tb.Context(), path, t.schema, WriterOptions{}))(tb)
	require.NoError(tb, w.Write(t.rec))
	require.NoError(tb, w.Close())
	return path
}

// preparedRows loads a file with Prepare, in memory or as a stream.
func preparedRows(tb testing.TB, path string, stream bool, opt Options) *block.Data {
	tb.Helper()
	opt.Label, opt.Prepare = "y", true
	in := require.Value(planOf(tb.Context(), []string{path}, opt, memory.DefaultAllocator))(tb)
	if !stream {
		return require.Value(in.Load(tb.Context()))(tb)
	}
	return require.Value(block.Collect(tb.Context(), require.Value(in.Stream(tb.Context()))(tb)))(tb)
}

// TestPrepareFormats: a table becomes the same features from every format, for any number of workers, in memory and streamed.
func TestPrepareFormats(t *testing.T) {
	n := 1000
	if !require.Small() {
		n = 5000 // more than a chunk
	}
	table, dir := newNewcomer(n, 1), t.TempDir()
	var want *block.Data
	names := []string{"a.parquet", "a.csv", "a.arrow", "a.jsonl", "a.ndjson.zst", "a.json"}
	for _, ext := range datatest.Compressions() {
		names = append(names, "a.csv"+ext)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		switch _, rest, _ := strings.Cut(name, ".csv"); {
		case strings.Contains(name, "json"):
			put(t, path, datatest.Compressed(t, name, datatest.JSONLines(t, string(contents(t, filepath.Join(dir, "a.csv"))))))
		case rest != "":
			put(t, path, datatest.Compressed(t, name, string(contents(t, filepath.Join(dir, "a.csv")))))
		default:
			table.write(t, path)
		}
		for _, workers := range []int{1, 3} {
			for _, stream := range []bool{false, true} {
				if require.Small() && stream == (workers == 1) {
					continue
				}
				got := preparedRows(t, path, stream, Options{Workers: workers, Standardize: true})
				if want == nil {
					want = got
					continue
				}
				if err := sameBlocks(blocksOf(t, got), blocksOf(t, want)); err != nil {
					t.Errorf("%s, %d workers, streamed %t: %v", name, workers, stream, err)
				}
				a, b := require.Value(json.Marshal(got.Spec()))(t), require.Value(json.Marshal(want.Spec()))(t)
				if string(a) != string(b) {
					t.Errorf("%s, %d workers, streamed %t: spec\n%s\nwant\n%s", name, workers, stream, a, b)
				}
			}
		}
	}
	for _, kind := range []schema.Kind{schema.OneHotColumn, schema.HashColumn} {
		if !slices.ContainsFunc(want.Spec().Preprocessing.Columns, func(c schema.Column) bool { return c.Kind == kind }) {
			t.Errorf("no column of the kind %s", kind)
		}
	}
	for _, derive := range schema.Derivations {
		if !slices.ContainsFunc(want.Spec().Preprocessing.Columns, func(c schema.Column) bool { return c.Derive == derive }) {
			t.Errorf("no feature derives by %q", derive)
		}
	}
	if missing := int(table.rec.NumRows()) - int(want.Rows()); missing != table.rec.Column(15).NullN() {
		t.Errorf("%d rows were left out, and %d have no label", missing, table.rec.Column(15).NullN())
	}
}

// TestPrepareModel: a model's Spec makes the features of training rows again, and rows with new texts and gaps in any column have
// features too.
func TestPrepareModel(t *testing.T) {
	dir := t.TempDir()
	path := newNewcomer(1000, 2).write(t, filepath.Join(dir, "a.csv"))
	want := preparedRows(t, path, false, Options{Standardize: true})
	again := require.Value(Load(t.Context(), path, Options{Label: "y", Prepare: true, Spec: want.Spec()}))(t)
	if err := sameBlocks(blocksOf(t, again), blocksOf(t, want)); err != nil {
		t.Error(err)
	}
	lines := strings.Split(string(require.Value(os.ReadFile(path))(t)), "\n")
	columns := strings.Count(lines[0], ",") + 1
	for k := range columns - 1 {
		for _, text := range []string{"", "strange text"} {
			typ := newNewcomer(1, 1).schema.Field(k).Type.ID()
			if text != "" && typ != arrow.STRING && typ != arrow.DATE32 && typ != arrow.TIMESTAMP {
				continue // a text in a column of numbers is an error
			}
			row := slices.Repeat([]string{""}, columns)
			row[k] = text
			odd := filepath.Join(dir, "odd.csv")
			require.NoError(t, os.WriteFile(odd, []byte(lines[0]+"\n"+strings.Join(row, ",")+"\n"), 0o600))
			rows := int64(0)
			err := Scan(t.Context(), []string{odd}, Options{Spec: want.Spec()}, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
				rows += int64(b.Len())
				for _, x := range b.X {
					if x-x != 0 {
						return fmt.Errorf("a feature is %v", x)
					}
				}
				return nil
			})
			if err != nil || rows != 1 {
				t.Errorf("%q in column %d: %d rows, error %v", text, k, rows, err)
			}
		}
	}
}

// TestPreparePlain: a table of numbers without a gap is read as without Prepare, and a gap behind the first rows is found.
func TestPreparePlain(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "a.parquet"} {
		for _, gap := range []int{-1, 70_000} {
			f := []arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "z", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
				{Name: "y", Type: arrow.PrimitiveTypes.Int8, Nullable: true}}
			b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(f, nil))
			for i := range 80_000 {
				if i == gap {
					b.Field(0).AppendNull()
				} else {
					b.Field(0).(*array.Float64Builder).Append(float64(i * i % 1013))
				}
				b.Field(1).(*array.Int32Builder).Append(int32(i * 7 % 501))
				b.Field(2).(*array.Int8Builder).Append(int8(i % 2))
			}
			table := newcomer{arrow.NewSchema(f, nil), b.NewRecord()}
			path := table.write(t, filepath.Join(dir, fmt.Sprint(gap, name)))
			for _, standardize := range []bool{false, true} {
				for _, stream := range []bool{false, true} {
					got := preparedRows(t, path, stream, Options{Standardize: standardize})
					opt := Options{Label: "y", Standardize: standardize}
					if gap >= 0 {
						opt.Nulls = schema.NullsMean
					}
					want := require.Value(Load(context.Background(), path, opt))(t)
					if err := sameBlocks(blocksOf(t, got), blocksOf(t, want)); err != nil {
						t.Errorf("%s, gap %d, standardized %t, streamed %t: %v", name, gap, standardize, stream, err)
					}
				}
			}
		}
	}
}

// TestCounters: a column counts the rows if each number is 1 more than the number of the row before, also where an
// option chooses rows, and in later batches. A sorted column with gaps is a number.
func TestCounters(t *testing.T) {
	const rows, gap = 150_000, 149_000
	dir := t.TempDir()
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "sorted",
		Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y",
		Type: arrow.PrimitiveTypes.Int8}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(-7 + i))
		b.Field(1).(*array.Int64Builder).Append(int64(i + i/gap))
		b.Field(2).(*array.Float64Builder).Append(float64(i * i % 1013))
		b.Field(3).(*array.Int8Builder).Append(int8(i % 2))
	}
	table := newcomer{arrow.NewSchema(fields, nil), b.NewRecord()}
	for _, name := range []string{"a.parquet", "a.csv"} {
		path := table.write(t, filepath.Join(dir, name))
		for _, opt := range []Options{{}, {Where: "x < 500"}, {Sample: 0.3}, {Where: "sorted >= 100 and sorted < 200"}} {
			want := []string{"sorted", "x"}
			if strings.Contains(opt.Where, "200") {
				want = []string{"x"} // without the gap
			}
			if got := preparedRows(t, path, true, opt).Spec().Features; !slices.Equal(got, want) {
				t.Errorf("%s, where %q, sample %v: features %q, want %q", name, opt.Where, opt.Sample, got, want)
			}
		}
	}
}

// TestPrepareTypes: each type that the option names replaces the type that the values suggest, and a type that doesn't fit is an error.
func TestPrepareTypes(t *testing.T) {
	path := newNewcomer(500, 3).write(t, filepath.Join(t.TempDir(), "a.parquet"))
	features := func(types ...string) string {
		return strings.Join(preparedRows(t, path, false, Options{Features: []string{"rooms", "price", "sex", "id", "born"}, Types: types}).Spec().Features, "|")
	}
	for _, c := range []struct{ types, want string }{
		{"rooms=ignore", "price|sex=female|sex=it's \"other\"|sex=male|sex (missing)|id|born (days)|born (month sin)|born (month cos)|born (weekday sin)|born (weekday cos)|born (missing)"},
		{"sex=hash:1,price=ignore,rooms=ignore,born=ignore,id=number", "sex#hash:1[0]|sex#hash:1[1]|sex (missing)|id"},
		{"rooms=category,price=ignore,sex=ignore,born=ignore", "rooms=0|rooms=1|rooms=2|rooms=3|rooms=4|rooms=5|rooms=6|rooms=7|rooms=8"},
	} {
		if got := features(strings.Split(c.types, ",")...); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.types, got, c.want)
		}
	}
	for types, want := range map[string]string{
		"sex=number": `a.parquet: column "sex" is to be numbers by Types, and has the texts "`, "sex=date": `column "sex" is to be dates`, "rooms=date": "is to be dates by Types, and has numbers", "sex=boolean": "is to be yes or no by Types",
		"sex": "use COLUMN=TYPE", "sex=word": "use COLUMN=TYPE", "sex=hash:99": "use COLUMN=TYPE", "sax=text": `no column "sax"`,
	} {
		_, err := planOf(t.Context(), []string{path}, Options{Label: "y", Prepare: true, Types: []string{types}}, memory.DefaultAllocator)
		require.Error(t, err, want)
	}
}

// TestLaterLabel: a label whose first rows have integers becomes one of texts if a later row has a text that no 64-bit integer is written as,
// with and without Options.Prepare, in memory and as a stream.
func TestLaterLabel(t *testing.T) {
	const rows = 700_000
	var body strings.Builder
	body.WriteString("x,y\n")
	for i := range rows {
		fmt.Fprintf(&body, "%d,%d\n", i%7, i%2)
	}
	path := textFile(t, "late.csv", body.String()+"3,01\n4,1\n")
	want := []schema.Class{schema.StringClass("0"), schema.StringClass("01"), schema.StringClass("1")}
	for _, opt := range []Options{{}, {Prepare: true}, {Rejects: NewRejects(filepath.Join(t.TempDir(), "bad.csv"))}} {
		opt.Label = "y"
		data := require.Value(Load(t.Context(), path, opt))(t)
		stream := require.Value(require.Value(planOf(t.Context(), []string{path}, opt, memory.DefaultAllocator))(t).Stream(t.Context()))(t)
		if !slices.Equal(data.Spec().Classes, want) || !slices.Equal(stream.Spec().Classes, want) || data.Rows() != rows+2 || stream.Rows() != rows+2 {
			t.Errorf("%+v: %d and %d rows of the classes %v and %v, want %v", opt, data.Rows(), stream.Rows(), data.Spec().Classes, stream.Spec().Classes, want)
		}
	}
}

// TestLaterText: a column whose first rows have numbers becomes a column of text if a later row has text, as if an early row had it. So
// does the label.
func TestLaterText(t *testing.T) {
	const rows = 250_000
	var body strings.Builder
	for i := range rows {
		fmt.Fprintf(&body, "%d,%d.00000000,%d\n", i%7, i*i%1000, i%2)
	}
	odd := "red,3,1\nred,4,other\n"
	early, late := textFile(t, "early.csv", "color,x,y\n"+odd+body.String()), textFile(t, "late.csv", "color,x,y\n"+body.String()+odd)
	for _, opt := range []Options{{}, {Where: "x >= 0"}} {
		opt.Label, opt.Prepare = "y", true
		var notes []string
		want := require.Value(Load(t.Context(), early, opt))(t)
		opt.Warn = func(text string) { notes = append(notes, text) }
		in := require.Value(planOf(t.Context(), []string{late}, opt, memory.DefaultAllocator))(t)
		stream := require.Value(in.Stream(t.Context()))(t)
		got := require.Value(Load(t.Context(), late, opt))(t)
		if !slices.Equal(got.Spec().Features, want.Spec().Features) || !slices.Equal(stream.Spec().Features, want.Spec().Features) || !slices.Equal(got.Spec().Classes, want.Spec().Classes) || got.Rows() != want.Rows() {
			t.Errorf("%+v: %d rows of %q, classes %v, want %d of %q, %v", opt, got.Rows(), got.Spec().Features, got.Spec().Classes, want.Rows(), want.Spec().Features, want.Spec().Classes)
		}
		if note := late + `: column "color" is read as text: line 250002 has "red", and the rows before have numbers`; !slices.Contains(notes, note) {
			t.Errorf("notes %q, want %q", notes, note)
		}
	}
	_, err := Load(t.Context(), late, Options{Label: "y"})
	require.Error(t, err, `line 250002, column "color": "red" is not a number`)
}

// oddTable is a table of rows in which some texts of the column x are no numbers. odd are these texts, by their rows.
func oddTable(rows int, odd map[int]string) string {
	rng := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString("x,z,y\n")
	for i := range rows {
		text, is := odd[i]
		if !is {
			text = fmt.Sprintf("%.3f", rng.NormFloat64())
		}
		fmt.Fprintf(&b, "%s,%.3f,%s\n", text, rng.NormFloat64(), []string{"no", "yes"}[rng.IntN(2)])
	}
	return b.String()
}

// TestOddValues: a text among numbers is missing, with a note that has its line, and the rows are those of a table
// without a value there. The text may be far behind the first rows. It is the same in other formats.
func TestOddValues(t *testing.T) {
	for _, c := range []struct {
		rows  int
		odd   map[int]string
		note  string
		marks bool // 1 % of the rows or more
	}{
		{400, map[int]string{177: "err"}, `1 of 400 values is no number ("err", line 179): it counts as missing`, false},
		{400, map[int]string{399: "Total"}, `1 of 400 values is no number ("Total", line 401): it counts as missing`, false},
		{400, map[int]string{3: "a", 9: "b", 17: "c", 20: "d", 21: "a"},
			`5 of 400 values are no numbers ("a", line 5; "b"; "c"; 1 more): they count as missing`, true},
		{150_000, map[int]string{149_000: "err", 149_100: "err"},
			`2 of 150,000 values are no numbers ("err", line 149002): they count as missing`, false},
		{400, map[int]string{0: "#N/A", 5: "n.a.", 6: "<NA>", 7: "#DIV/0!"}, "", true},
		{400, map[int]string{0: "NaN"}, "", false},
	} {
		text, gaps := oddTable(c.rows, c.odd), maps.Clone(c.odd)
		for row := range gaps {
			gaps[row] = ""
		}
		dir := t.TempDir()
		put(t, filepath.Join(dir, "gaps.csv"), []byte(oddTable(c.rows, gaps)))
		put(t, filepath.Join(dir, "odd.csv"), []byte(text))
		put(t, filepath.Join(dir, "odd.jsonl"), []byte(datatest.JSONLines(t, text)))
		want := preparedRows(t, filepath.Join(dir, "gaps.csv"), false, Options{Nulls: schema.NullsMean})
		for _, name := range []string{"odd.csv", "odd.jsonl"} {
			var notes []string
			opt := Options{Nulls: schema.NullsMean, Warn: func(text string) { notes = append(notes, text) }}
			got := preparedRows(t, filepath.Join(dir, name), true, opt)
			if err := sameBlocks(blocksOf(t, got), blocksOf(t, want)); err != nil {
				t.Errorf("%s, %v: %v", name, c.odd, err)
			}
			note := fmt.Sprintf("column %q: %s", "x", c.note)
			if name == "odd.jsonl" { // it has no header
				note = regexp.MustCompile(`line \d+`).ReplaceAllStringFunc(note, func(line string) string {
					n, _ := strconv.Atoi(line[len("line "):])
					return fmt.Sprintf("line %d", n-1)
				})
			}
			if c.note != "" && !slices.Contains(notes, note) || c.note == "" && len(notes) > 0 {
				t.Errorf("%s, %v: notes %q, want %q", name, c.odd, notes, note)
			}
			marked := preparedRows(t, filepath.Join(dir, name), false, Options{}).Spec().Features
			if slices.Contains(marked, "x (missing)") != c.marks {
				t.Errorf("%s, %v: features %q", name, c.odd, marked)
			}
		}
	}
}

// TestStrangeOnce: texts that are no dates are counted once for each column, though several features derive from it.
func TestStrangeOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("d,p,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d/%d/14 %d:00,$%d,%d\n", 1+i%12, 1+i%28, i%24, i, i%2)
	}
	data := preparedRows(t, textFile(t, "a.csv", b.String()), false, Options{})
	if n := len(data.Spec().Features); n != 8 {
		t.Fatalf("%d features", n)
	}
	var notes []string
	path := textFile(t, "new.csv", "d,p\n25/12/2011,5\n,cheap\n13/13/14,\n1/2/14,-\n")
	opt := Options{Spec: data.Spec(), Warn: func(text string) { notes = append(notes, text) }}
	require.NoError(t, Scan(t.Context(), []string{path}, opt, func(*schema.Spec, *block.Block,
		arrow.Record) error {
		return nil
	}))
	want := []string{`column "d": 2 of 4 rows have a text that is not a date or time ("25/12/2011", line 2), it counts as missing`,
		`column "p": 1 of 4 rows have a text that is not a number ("cheap", line 3), it counts as missing`}
	if !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// TestProfileLate: the profile of a table with a text behind the sample, among numbers, is the profile of the column that
// training makes of it.
func TestProfileLate(t *testing.T) {
	var rows strings.Builder
	for i := 0; rows.Len() < 5<<20; i++ {
		fmt.Fprintf(&rows, "%d.25,%d,%c\n", i%97, i%2, 'a'+i%2)
	}
	path := textFile(t, "a.csv", "x,z,y\n"+rows.String()+"n.a.x,1,a\n")
	table := require.Value(Examine(t.Context(), []string{path}, Options{}))(t)
	p := require.Value(table.Profile(t.Context(), Options{Label: "y"}))(t)
	if x := p.Columns[0]; x.Missing != 1 || x.Becomes != "number" {
		t.Errorf("%+v", x)
	}
}

// TestPreparedLists: lists with a missing element get the means of their elements, and columns of bytes are left out.
func TestPreparedLists(t *testing.T) {
	t.Parallel()
	p := arrow.PrimitiveTypes
	path := file1(t, t.TempDir(), "l.parquet", field("l", arrow.ListOf(p.Float64), "[[1, 2], [3, 6], null, [2, null], [6, 0]]"),
		field("b", arrow.BinaryTypes.Binary, `["YQ==", "YQ==", "YWI=", "YQ==", "/2E="]`), field("y", p.Int8, "[0, 1, 0, 1, 1]"))
	var notes []string
	data := require.Value(Load(t.Context(), path, Options{Label: "y", Prepare: true, Warn: func(n string) { notes = append(notes, n) }}))(t)
	want := []float32{1, 2, 3, 6, 3, 8. / 3, 2, 8. / 3, 6, 0}
	var got []float32
	for _, b := range blocksOf(t, data) {
		for i := range b.Len() {
			row := make([]float32, data.Spec().Cols())
			b.Row(i, row)
			got = append(got, row[:2]...)
		}
	}
	if !slices.Equal(got, want) || len(data.Spec().Features) != 2 {
		t.Errorf("%d features %v, want %v", len(data.Spec().Features), got, want)
	}
	for _, want := range []string{`the mean in column "l" (2)`, `column "b" (bytes that are no text): left out`} {
		if !strings.Contains(strings.Join(notes, "|"), want) {
			t.Errorf("notes %q lack %s", notes, want)
		}
	}
	table := require.Value(Examine(t.Context(), []string{path}, Options{}))(t)
	if info := require.Value(table.Profile(t.Context(), Options{Label: "y"}))(t); len(info.Notes) != 1 || info.Columns[0].Missing != 2 {
		t.Errorf("the profile is %+v", info)
	}
}

// TestMissingWords: words for missing values among numbers, dates, and yes and no, are marked as missing values are.
func TestMissingWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, word, becomes string }{
		{"%d.5", "unknown", "number"}, {"%d.5", "--", "number"}, {"$%d", "-", "number"}, {"%02d.03.2024", "n.a.", "date"},
		{"%[2]s", "unknown", "yes or no"}, {"%[2]s", "-", "yes or no"},
	} {
		text := "x,z,y\n"
		for i := range 27 {
			text += fmt.Sprintf(c.value+",%[3]d,%[3]d\n", i+1, []string{"yes", "no"}[i%2], i%2)
			if i%3 == 0 {
				text += fmt.Sprintf("%s,%d,1\n", c.word, i%5)
			}
		}
		table := require.Value(Examine(t.Context(), []string{textFile(t, "x.csv", text)}, Options{}))(t)
		info := require.Value(table.Profile(t.Context(), Options{Label: "y"}))(t)
		if x := info.Columns[0]; x.Missing != 9 || !strings.HasPrefix(x.Becomes, c.becomes) || !strings.HasSuffix(x.Becomes, "marked") {
			t.Errorf("%s beside %s: %d are missing, it becomes %s", c.word, c.value, x.Missing, x.Becomes)
		}
	}
}
