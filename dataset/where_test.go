package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/transform"
	"halfspace/internal/require"
)

// A whereRow is a row of TestWhere; nil is null.
type whereRow map[string]any

// whereTable returns n rows, and their record. The column n numbers them.
func whereTable(n int) ([]whereRow, newcomer) {
	r := rand.New(rand.NewPCG(5, 6))
	p := arrow.PrimitiveTypes
	fields := []arrow.Field{{Name: "n", Type: p.Int32}, {Name: "i", Type: p.Int64}, {Name: "f", Type: p.Float64}, {Name: "the text", Type: arrow.BinaryTypes.String},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean}, {Name: "d", Type: p.Date32}, {Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "y", Type: p.Int8}}
	for k := range fields {
		fields[k].Nullable = true
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	rows := make([]whereRow, n)
	for i := range rows {
		row := whereRow{"n": float64(i), "y": float64(i % 2), "i": float64(r.IntN(7) - 3), "f": math.Round(10*r.NormFloat64()) / 4, "the text": []string{"a", "ab", "it's", "%_"}[r.IntN(4)],
			"b": r.IntN(2) == 0, "d": time.Unix(int64(r.IntN(10)-5)*86400, 0).UTC(), "t": time.Unix(int64(r.IntN(8)-4)*43200, int64(r.IntN(2))*1000).UTC()}
		for name := range row {
			if name != "n" && name != "y" && r.IntN(6) == 0 {
				row[name] = nil
			}
		}
		if r.IntN(9) == 0 {
			row["f"] = math.NaN()
		}
		for k, f := range fields {
			v := row[f.Name]
			if v == nil {
				b.Field(k).AppendNull()
				continue
			}
			switch b := b.Field(k).(type) {
			case *array.Int32Builder:
				b.Append(int32(v.(float64)))
			case *array.Int64Builder:
				b.Append(int64(v.(float64)))
			case *array.Int8Builder:
				b.Append(int8(v.(float64)))
			case *array.Float64Builder:
				b.Append(v.(float64))
			case *array.StringBuilder:
				b.Append(v.(string))
			case *array.BooleanBuilder:
				b.Append(v.(bool))
			case *array.Date32Builder:
				b.Append(arrow.Date32FromTime(v.(time.Time)))
			case *array.TimestampBuilder:
				b.Append(arrow.Timestamp(v.(time.Time).UnixMicro()))
			}
		}
		rows[i] = row
	}
	return rows, newcomer{arrow.NewSchema(fields, nil), b.NewRecord()}
}

// compareValues orders two values of one column; NaN is the greatest number.
func compareValues(a, b any) int {
	switch a := a.(type) {
	case float64:
		switch b := b.(float64); {
		case a == b || a != a && b != b:
			return 0
		case a < b || b != b:
			return -1
		}
		return 1
	case string:
		return strings.Compare(a, b.(string))
	case bool:
		return map[bool]int{true: 1}[a] - map[bool]int{true: 1}[b.(bool)]
	}
	return a.(time.Time).Compare(b.(time.Time))
}

// A whereExpr is a condition: its text, and its value in a row: 0 false, 1 unknown, 2 true.
type whereExpr struct {
	text string
	of   func(whereRow) int
}

func truthOf(b bool) int { return 2 * map[bool]int{true: 1}[b] }

// randomExpr returns a random condition of the given depth. Its value follows from SQL's rules, apart from the code of the package.
func randomExpr(r *rand.Rand, rows []whereRow, depth int) whereExpr {
	if depth > 0 && r.IntN(4) > 0 {
		a, b := randomExpr(r, rows, depth-1), randomExpr(r, rows, depth-1)
		switch r.IntN(3) {
		case 0:
			return whereExpr{"(" + a.text + " AND " + b.text + ")", func(row whereRow) int { return min(a.of(row), b.of(row)) }}
		case 1:
			return whereExpr{"(" + a.text + " or " + b.text + ")", func(row whereRow) int { return max(a.of(row), b.of(row)) }}
		}
		return whereExpr{"not " + a.text, func(row whereRow) int { return 2 - a.of(row) }}
	}
	name := []string{"i", "f", "the text", "b", "d", "t"}[r.IntN(6)]
	literal := func() (any, string) {
		for {
			switch v := rows[r.IntN(len(rows))][name].(type) {
			case float64:
				if v == v {
					return v, fmt.Sprint(v)
				}
			case string:
				return v, "'" + strings.ReplaceAll(v, "'", "''") + "'"
			case bool:
				return v, fmt.Sprint(v)
			case time.Time:
				if name == "d" {
					return v, v.Format("'2006-01-02'")
				}
				return v, v.Format("'2006-01-02 15:04:05.999999'")
			}
		}
	}
	quoted := name
	if name == "the text" || r.IntN(2) == 0 {
		quoted = `"` + name + `"`
	}
	known := func(f func(v any) bool) func(whereRow) int {
		return func(row whereRow) int {
			if row[name] == nil {
				return 1
			}
			return truthOf(f(row[name]))
		}
	}
	v, text := literal()
	switch kind := r.IntN(5); {
	case kind == 0:
		return whereExpr{quoted + " is null", func(row whereRow) int { return truthOf(row[name] == nil) }}
	case kind == 1:
		w, more := literal()
		return whereExpr{fmt.Sprintf("%s not in (%s, %s)", quoted, text, more), known(func(x any) bool { return compareValues(x, v) != 0 && compareValues(x, w) != 0 })}
	case kind == 2:
		w, more := literal()
		return whereExpr{fmt.Sprintf("%s between %s and %s", quoted, text, more), known(func(x any) bool { return compareValues(x, v) >= 0 && compareValues(x, w) <= 0 })}
	case kind == 3 && name == "the text":
		return whereExpr{quoted + " like 'a%'", known(func(x any) bool { return strings.HasPrefix(x.(string), "a") })}
	}
	ops := map[string]func(o int) bool{"=": func(o int) bool { return o == 0 }, "<>": func(o int) bool { return o != 0 }, "<": func(o int) bool { return o < 0 }, ">=": func(o int) bool { return o >= 0 }}
	op := slices.Sorted(func(yield func(string) bool) {
		for op := range ops {
			if !yield(op) {
				return
			}
		}
	})[r.IntN(4)]
	return whereExpr{quoted + op + text, known(func(x any) bool { return ops[op](compareValues(x, v)) })}
}

// TestWhere: random conditions choose the rows that SQL's rules choose, from each format, in memory and streamed.
func TestWhere(t *testing.T) {
	rows, table := whereTable(5000)
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var paths []string
	for _, name := range []string{"a.parquet", "a.arrow"} {
		paths = append(paths, table.write(t, filepath.Join(dir, name)))
	}
	for trial := range 60 {
		e := randomExpr(r, rows, 3)
		opt := Options{Label: "y", Features: []string{"n"}, Where: e.text, Workers: 1 + trial%3}
		var want []float32
		for _, row := range rows {
			if e.of(row) == 2 {
				want = append(want, float32(row["n"].(float64)))
			}
		}
		if len(want) == 0 {
			continue
		}
		limit := int64(0)
		if trial%3 == 0 {
			limit = 1 + r.Int64N(int64(len(want)))
			want = want[:limit]
		}
		opt.Limit = limit
		in, err := Open(t.Context(), paths[trial%2:trial%2+1], opt)
		if err != nil {
			t.Fatalf("%s: %v", e.text, err)
		}
		data, err := in.Load(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", e.text, err)
		}
		got, _ := rowsOf(t, data)
		if n := require.Value(in.Count(t.Context()))(t); n != int64(len(want)) || len(got) != len(want) {
			t.Fatalf("%s, limit %d: %d rows, counted %d, want %d", e.text, limit, len(got), n, len(want))
		}
		for i := range want {
			if got[i][0] != want[i] {
				t.Fatalf("%s: row %d is %v, want %v", e.text, i, got[i][0], want[i])
			}
		}
	}
}

// TestSample: a share of the rows is kept, the same from each format and for each number of workers.
func TestSample(t *testing.T) {
	_, table := whereTable(20_000)
	dir := t.TempDir()
	var want [][]float32
	for _, name := range []string{"a.parquet", "a.csv", "a.arrow"} {
		for _, workers := range []int{1, 3} {
			data := require.Value(Load(t.Context(), table.write(t, filepath.Join(dir, name)), Options{Label: "y", Features: []string{"n"}, Sample: 0.1, Workers: workers}))(t)
			got, _ := rowsOf(t, data)
			if want == nil {
				want = got
			}
			if len(got) != len(want) || len(got) < 1800 || len(got) > 2200 || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s, %d workers: %d rows, want %d", name, workers, len(got), len(want))
			}
		}
	}
}

// TestWhereErrors: a condition that can't be used is an error that names the place.
func TestWhereErrors(t *testing.T) {
	_, table := whereTable(10)
	path := table.write(t, filepath.Join(t.TempDir(), "a.parquet"))
	for where, want := range map[string]string{
		"i <": "the end stands where a number, true, false", "i < 3 x": "x stands where and, or, or the end", "(i < 3": "the end stands where ) is wanted", "'a": "a quote is not closed",
		"i": "the end stands behind i, where", "i ~ 3": "is not understood", "and": "and stands where the name of a column", "i in 3": "3 stands where ( is wanted",
		"i between 1 or 2": "or stands where and is wanted", "i is 3": "3 stands where null is wanted", "j = 3": `no column "j"`, `"the text" = 3`: "it is text: write '3'",
		"i = 'a'": "it is a number, and 'a' is a text", "b = 1": "it is a boolean, and 1 is a number", "d > 'soon'": "'soon' is no date or time", "i like 3": "3 stands where a text in single quotes",
		strings.Repeat("(", 200) + "i=1": "more than 100 parentheses", "i = 7 and f > 1e999": "no number that float64 can hold",
	} {
		_, err := Load(t.Context(), path, Options{Label: "y", Where: where})
		require.Error(t, err, want)
	}
}

// FuzzWhere: every text is a condition or an error.
func FuzzWhere(f *testing.F) {
	for _, text := range []string{"a < 3 and b in ('x', 'y')", `not ("a b" is not null or 3 >= c)`, "a between -1 and 1e3", "a like '%x_'", "((((", "'", `"`, "a=.5"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := transform.CheckWhere(text); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without a text")
		}
	})
}
