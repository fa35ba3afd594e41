package dataset

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestSuspects: columns that number the rows or tell the time are named, others aren't.
func TestSuspects(t *testing.T) {
	t.Parallel()
	const n = 300
	rng := rand.New(rand.NewPCG(1, 2))
	perm := rng.Perm(n)
	for name, c := range map[string]struct {
		value func(i int) any
		want  string // in the note; "": there is none
	}{
		"ascending":       {func(i int) any { return 17 + 3*i }, "like an id"},
		"permuted":        {func(i int) any { return perm[i] }, "like an id"},
		"float":           {func(i int) any { return fmt.Sprintf("%d.0", i) }, "like an id"},
		"seconds":         {func(i int) any { return 1.6e9 + math.Floor(rng.Float64()*1e8) }, "like a time"},
		"milliseconds":    {func(i int) any { return 1.6e12 + math.Floor(rng.Float64()*1e11) }, "like a time"},
		"ascending time":  {func(i int) any { return 1600000000 + i }, "like a time"},
		"yyyymmdd":        {func(i int) any { return 20200100 + 100*(i%12) + 1 + i%28 }, "like a time"},
		"count":           {func(i int) any { return rng.IntN(50) }, ""},
		"wide":            {func(i int) any { return rng.IntN(1e6) }, ""}, // 300 of a million differ by chance
		"real":            {func(i int) any { return float64(i) + 0.25 }, ""},
		"constant second": {func(i int) any { return 1600000000 }, ""},
		"number":          {func(i int) any { return 20200000 + rng.IntN(100) }, ""}, // months beyond 12
		"double":          {func(i int) any { return fmt.Sprintf("%d.0", perm[i]) }, ""},
		"a repeat":        {func(i int) any { return i - i/299 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lines := []string{"x,y\n"}
			for i := range n {
				v := c.value(i)
				if f, ok := v.(float64); ok {
					v = strconv.FormatFloat(f, 'f', -1, 64)
				}
				lines = append(lines, fmt.Sprintf("%v,%d\n", v, i%2))
			}
			path := filepath.Join(t.TempDir(), "x.csv")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
			for _, standardize := range []bool{false, true} {
				notes := slices.DeleteFunc(notesOf(t, path, Options{Label: "y", Standardize: standardize}), isRounding)
				found := slices.ContainsFunc(notes, func(s string) bool { return c.want != "" && strings.Contains(s, c.want) })
				if found != (c.want != "") || c.want == "" && len(notes) > 0 {
					t.Errorf("standardize %v: notes %q, want %q", standardize, notes, c.want)
				}
				if found && !strings.Contains(strings.Join(notes, "\n"), "Exclude x") {
					t.Errorf("notes %q don't say what to type", notes)
				}
			}
		})
	}
}

// TestSuspectedPrices: many whole numbers that all differ are ids where their last digits are random, and prices where they aren't.
func TestSuspectedPrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("price,id,y\n")
	for i, v := range rng.Perm(600) {
		fmt.Fprintf(&text, "%d,%d,%d\n", 1000*v+900+95*(i%2), 1000*v+rng.IntN(1000), i%2)
	}
	want := []string{`column "id" looks like an id: whole numbers that all differ (use Exclude id)`}
	if notes := notesOf(t, textFile(t, "x.csv", text.String()), Options{Label: "y"}); !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// TestSuspectedTexts: texts of categories that name the rows are named, others aren't.
func TestSuspectedTexts(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]func(i int) int{
		`column "x" looks like an id: nearly all texts differ (use Exclude x)`: func(i int) int { return i - i%20/19 },
		"": func(i int) int { return i * 8 / 10 },
	} {
		var text strings.Builder
		text.WriteString("x,z,y\n")
		for i := range 5000 {
			fmt.Fprintf(&text, "u%d,%d,%d\n", value(i), i%7, i%2)
		}
		for _, categorical := range []string{"hash:8", "hash:18"} {
			notes := notesOf(t, textFile(t, "x.csv", text.String()), Options{Label: "y", Categorical: categorical})
			if strings.Join(notes, "") != want {
				t.Errorf("%s: notes %q, want %q", categorical, notes, want)
			}
		}
	}
}

// isRounding tells whether a note is about numbers that float32 rounds.
func isRounding(note string) bool { return strings.Contains(note, "float32 can't hold every value") }

// notesOf returns what Load warns of.
func notesOf(t *testing.T, path string, opt Options) (notes []string) {
	t.Helper()
	opt.Warn = func(s string) { notes = append(notes, s) }
	if _, err := Load(context.Background(), path, opt); err != nil {
		t.Fatal(err)
	}
	return notes
}

// TestSuspectsOfBatches: the note doesn't depend on workers, on dropped rows or on the way the rows are read.
func TestSuspectsOfBatches(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("id,v,my $id,hour,y\n")
	for i := range 3 * transform.SuspectRows {
		hour := 1600002000 + 3600*(i/6000) // the same in the first batches of Parquet
		if v := i % 7; v == 3 {
			fmt.Fprintf(&text, "%d,,%d,%d,%d\n", i, 2*i, hour, i%2)
		} else {
			fmt.Fprintf(&text, "%d,%d,%d,%d,%d\n", i, v, 2*i, hour, i%2)
		}
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	parquet := filepath.Join(t.TempDir(), "x.parquet")
	if _, err := Convert(context.Background(), []string{path}, parquet, Options{}, WriterOptions{RowGroupRows: 5000}); err != nil {
		t.Fatal(err)
	}
	want := []string{`columns "id", "my $id" look like an id: whole numbers that all differ (use Exclude 'id,my $id')`,
		`column "hour" looks like a time: new rows will have later ones (use Exclude hour)`}
	for _, path := range []string{path, parquet} {
		for _, workers := range []int{1, 4} {
			opt := Options{Label: "y", Workers: workers, Nulls: schema.NullsDrop}
			if notes := notesOf(t, path, opt); !hasAll(notes, want) {
				t.Errorf("%s, %d workers: notes %q", filepath.Ext(path), workers, notes)
			}
			opt.Nulls = schema.NullsZero
			opt.Warn = nil
			in := require.Value(planOf(context.Background(), []string{path}, opt, memory.DefaultAllocator))(t)
			s := require.Value(in.Stream(context.Background()))(t)
			for _, err := range s.Blocks(context.Background()) {
				require.NoError(t, err)
			}
			if !hasAll(s.Warnings(), want) {
				t.Errorf("%s, %d workers, streamed: notes %q", filepath.Ext(path), workers, s.Warnings())
			}
		}
	}
}

func hasAll(notes, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(notes, w) })
}

// TestSuspectedDates: a date is told by its type, whatever the rows are; a time of day isn't one.
func TestSuspectedDates(t *testing.T) {
	path := file1(t, t.TempDir(), "x.parquet",
		field("day", arrow.FixedWidthTypes.Date32, `["2024-01-01","2024-01-01","2024-01-02"]`),
		field("at", arrow.FixedWidthTypes.Timestamp_ms, `["2024-01-01 10:00:00","2024-01-01 10:00:00","2024-01-02 10:00:00"]`),
		field("clock", arrow.FixedWidthTypes.Time32s, `["10:00:00","11:00:00","10:00:00"]`),
		field("y", arrow.PrimitiveTypes.Int64, `[0,1,0]`))
	notes := slices.DeleteFunc(notesOf(t, path, Options{Label: "y"}), isRounding)
	if want := []string{`columns "day", "at" look like a time: new rows will have later ones (use Exclude day,at)`}; !slices.Equal(notes, want) {
		t.Errorf("notes are %q, want %q", notes, want)
	}
}

// TestRounding: that numbers are narrowed is told where whole numbers become others, and where the last digits are much of a column's range; not
// of fractions, of which a part in 2^24 is lost.
func TestRounding(t *testing.T) {
	t.Parallel()
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	const n = 2_000
	values := map[string]func(i int) string{
		"fraction": func(i int) string { return fmt.Sprint(float64(i%97) / 10) },
		"price":    func(i int) string { return fmt.Sprint(100 + float64(i%89)/100) },
		"large":    func(i int) string { return fmt.Sprint(1e9 * (float64(i%83) + 0.123456789123)) },
		"sorted":   func(i int) string { return fmt.Sprint(float64(i) / n * 3) },
		"seconds":  func(i int) string { return fmt.Sprint(1700000000 + i) },
		"far":      func(i int) string { return fmt.Sprint(1e6 + float64(i%71)/1000) },
		"whole":    func(i int) string { return fmt.Sprint(16777216 + float64(i%61)) },
	}
	types := map[string]arrow.DataType{"seconds": p.Int64}
	var fields []testField
	var names []string
	text := make([]strings.Builder, n)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all := make([]string, n)
		for i := range all {
			all[i] = values[name](i)
			fmt.Fprintf(&text[i], "%s,", all[i])
		}
		typ := types[name]
		if typ == nil {
			typ = p.Float64
		}
		fields, names = append(fields, field(name, typ, "["+strings.Join(all, ",")+"]")), append(names, name)
	}
	lines := strings.Join(names, ",") + ",y\n"
	for i := range text {
		lines += text[i].String() + fmt.Sprintln(i%2)
	}
	csv := filepath.Join(dir, "a.csv")
	require.NoError(t, os.WriteFile(csv, []byte(lines), 0o600))
	want := `columns "far", "seconds", "whole": float32 can't hold every value exactly, they are rounded (use Standardize, which subtracts the mean before it rounds)`
	for _, path := range []string{file1(t, dir, "a.parquet", fields...), csv} {
		for _, standardize := range []bool{false, true} {
			var notes []string
			opt := Options{Exclude: []string{"[y]*"}, Standardize: standardize, Warn: func(s string) {
				if strings.Contains(s, "exactly") {
					notes = append(notes, s)
				}
			}}
			if path != csv {
				opt.Exclude = nil
			}
			if _, err := Load(context.Background(), path, opt); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(notes, "\n"); standardize && got != "" || !standardize && got != want {
				t.Errorf("%s, standardized: %v: %s", path, standardize, got)
			}
		}
	}
	svm := textFile(t, "a.svm", "1 1:0.1 2:16777217\n0 1:0.7 2:3\n")
	var notes []string
	if _, err := Load(context.Background(), svm, Options{Label: "label", Warn: func(s string) { notes = append(notes, s) }}); err != nil ||
		len(notes) != 1 || !strings.HasPrefix(notes[0], `column "f2": float32`) {
		t.Errorf("svmlight: %q, %v", notes, err)
	}
}

// TestNotes: Load and Scan tell of numbers that are rounded, and of columns that can't be features unless one is the label or was excluded.
// Many columns aren't all named.
func TestNotes(t *testing.T) {
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	const rounded = ": float32 can't hold every value exactly, they are rounded (use Standardize, which subtracts the mean before it rounds)"
	const leftOut = ": left out, a feature is a number, a boolean or a list of numbers (use Categorical onehot or hash:BITS for text)"
	numbers := []testField{field("exact", p.Float64, "[0.5, 16777216]"), field("tenth", p.Float64, "[0.5, 0.1]"), field("even", p.Int32, "[16777218, -33554436]"),
		field("odd", p.Int64, "[1, 16777217]"), field("least", p.Int64, "[-9223372036854775808, 0]"), field("most", p.Uint64, "[18446744073709551615, 0]")}
	texts := []testField{field("x", p.Int8, "[1, 2]"), field("job", s, `["a", "b"]`), field("y", s, `["a", "b"]`), field("id", s, `["a", "b"]`)}
	var many []testField
	for i := range 7 {
		many = append(many, field(fmt.Sprint("x", i), p.Float64, "[0.1]"))
	}
	for _, c := range []struct {
		fields []testField
		opt    Options
		want   string
	}{
		{numbers, Options{}, `columns "odd", "most"` + rounded},
		{numbers, Options{Standardize: true}, `column "most": float64 can't hold every value exactly, they are rounded`},
		{numbers, Options{Exclude: []string{"tenth", "most"}}, `column "odd"` + rounded},
		{numbers, Options{Exclude: []string{"tenth", "most"}, Standardize: true}, ""},
		{numbers, Options{Exclude: []string{"tenth", "odd", "most"}}, ""},
		{many, Options{}, `columns "x0", "x1", "x2", "x3" and 3 more` + rounded},
		{texts, Options{Label: "y"}, `columns "job" (string), "id" (string)` + leftOut},
		{texts, Options{Label: "y", Exclude: []string{"id"}}, `column "job" (string)` + leftOut},
		{texts, Options{Label: "y", Features: []string{"x"}}, ""},
	} {
		path := file1(t, t.TempDir(), "a.parquet", c.fields...)
		if got := strings.Join(notesOf(t, path, c.opt), "\n"); got != c.want {
			t.Errorf("%+v: notes %q, want %q", c.opt, got, c.want)
		}
		got := ""
		c.opt.Warn = func(s string) { got += s }
		if c.opt.Label == "" {
			require.NoError(t, Scan(t.Context(), []string{path}, c.opt, func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
				if rec != nil || b.Y != nil {
					t.Errorf("record %v, labels %v", rec, b.Y)
				}
				return nil
			}))
			if got != c.want {
				t.Errorf("%+v, scanned: notes %q, want %q", c.opt, got, c.want)
			}
		}
	}
}

// TestPlaceOfOddText: a note names the line of a text that is no number, and the file if there are several; with
// options that choose rows, and with comments, blank lines and quoted line breaks above the row.
func TestPlaceOfOddText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := func(n, first int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d.5,\"a\nb\",%d\n", first+i, i%2)
		}
		return b.String()
	}
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
	require.NoError(t, os.WriteFile(a, []byte("x,t,y\n"+lines(200, 1000)), 0o600))
	require.NoError(t, os.WriteFile(b, []byte("x,t,y\n"+lines(200, 2000)+"err,\"a\nb\",1\n"+lines(3, 4000)), 0o600))
	for _, c := range []struct {
		paths []string
		opt   Options
		want  string
	}{
		{[]string{b}, Options{}, `("err", line 402)`},
		{[]string{a, b}, Options{}, fmt.Sprintf(`("err", %s: line 402)`, b)},
		{[]string{a, b}, Options{Where: "y = 1"}, fmt.Sprintf(`("err", %s: line 402)`, b)},
		{[]string{b}, Options{Where: "y = 1"}, `("err", line 402)`},
	} {
		var notes []string
		c.opt.Label, c.opt.Prepare, c.opt.Warn = "y", true, func(note string) { notes = append(notes, note) }
		r := require.Value(Open(context.Background(), c.paths, c.opt, Budget{}))(t)
		require.NoError(t, r.Close())
		if all := strings.Join(notes, "|"); !strings.Contains(all, c.want) {
			t.Errorf("%d files, where %q: the notes %q lack %q", len(c.paths), c.opt.Where, all, c.want)
		}
	}
}

// TestFoldWithoutValues: a column whose few values are all in the hold-out has the mean 0 there, in place of an error.
func TestFoldWithoutValues(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("1,,0\n2,,1\n", 50) + "3,5,0\n"
	r := require.Value(Open(t.Context(), []string{textFile(t, "x.csv", "a,b,y\n"+text)}, Options{Label: "y", Prepare: true}, Budget{}))(t)
	defer r.Close()
	n := 0
	all := require.Value(r.Refit(t.Context(), []func(int) bool{func(int) bool { n++; return n <= 100 }}))(t)
	src := require.Value(all[0](t.Context()))(t)
	if c := src.Spec().Preprocessing.Columns; c[1].Name != "b" || c[1].Means[0] != 0 {
		t.Errorf("the columns are %+v", c)
	}
}
