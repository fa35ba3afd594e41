package dataset

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/require"
	"halfspace/schema"
)

type sparseRow map[int]float64 // the elements of a sparse list, nil of one that is null

// pairType is the type of lists of structures.
func pairType(index, value arrow.DataType) arrow.DataType {
	return arrow.ListOf(arrow.StructOf(arrow.Field{Name: "index", Type: index, Nullable: true}, arrow.Field{Name: "value", Type: value, Nullable: true}))
}

// vectorType is the type of Spark's vectors.
func vectorType() arrow.DataType {
	p := arrow.PrimitiveTypes
	return arrow.StructOf(arrow.Field{Name: "type", Type: p.Int8}, arrow.Field{Name: "size", Type: p.Int32, Nullable: true},
		arrow.Field{Name: "indices", Type: arrow.ListOf(p.Int32), Nullable: true}, arrow.Field{Name: "values", Type: arrow.ListOf(p.Float64), Nullable: true})
}

// sparseForms are sparse lists in each type, written as JSON by a function.
var sparseForms = map[string]struct {
	typ  arrow.DataType
	json func(row sparseRow, width int) string
}{
	"lists of structures": {pairType(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64), pairsJSON},
	"small structures": {arrow.ListOf(arrow.StructOf(arrow.Field{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		arrow.Field{Name: "index", Type: arrow.PrimitiveTypes.Uint16})), pairsJSON},
	"maps": {arrow.MapOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64), func(row sparseRow, _ int) string {
		return elements(row, func(i int, v string) string { return fmt.Sprintf(`{"key": %d, "value": %s}`, i, v) })
	}},
	"two lists": {arrow.StructOf(arrow.Field{Name: "indices", Type: arrow.ListOf(arrow.PrimitiveTypes.Uint64), Nullable: true},
		arrow.Field{Name: "values", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true}), listsJSON},
	"vectors": {vectorType(), func(row sparseRow, width int) string {
		switch {
		case row == nil:
			return "null"
		case len(row)%2 == 1 && len(row) < 100: // a dense vector
			values := make([]string, width)
			for i := range values {
				values[i] = number(row[i])
			}
			return fmt.Sprintf(`{"type": 1, "size": null, "indices": null, "values": [%s]}`, strings.Join(values, ","))
		}
		return strings.Replace(listsJSON(row, width), "{", fmt.Sprintf(`{"type": 0, "size": %d,`, width), 1)
	}},
}

func number(v float64) string {
	if v != v {
		return "null"
	}
	if v == 0 && math.Signbit(v) {
		return "-0.0"
	}
	return fmt.Sprint(v)
}

// elements writes the elements of a row in no order.
func elements(row sparseRow, text func(i int, v string) string) string {
	if row == nil {
		return "null"
	}
	var all []string
	for i, v := range row {
		all = append(all, text(i, number(v)))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func pairsJSON(row sparseRow, _ int) string {
	return elements(row, func(i int, v string) string { return fmt.Sprintf(`{"index": %d, "value": %s}`, i, v) })
}

func listsJSON(row sparseRow, _ int) string {
	if row == nil {
		return `{"indices": null, "values": null}`
	}
	var indices, values []string
	for i, v := range row {
		indices, values = append(indices, fmt.Sprint(i)), append(values, number(v))
	}
	return fmt.Sprintf(`{"indices": [%s], "values": [%s]}`, strings.Join(indices, ","), strings.Join(values, ","))
}

// sparseRows draws rows of up to width features. The last feature has a value in one row. A share of the values are missing, and
// some are 0 or -0.
func sparseRows(rows, width int, missing float64) (all []sparseRow) {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(width)))
	for r := range rows {
		if r%7 == 3 {
			all = append(all, map[bool]sparseRow{true: {}}[r%2 == 0])
			continue
		}
		row := sparseRow{}
		for range rng.IntN(6) {
			v := []float64{0, math.Copysign(0, -1), 1, -2.5, 0.125, float64(rng.IntN(100))}[rng.IntN(6)]
			if rng.Float64() < missing {
				v = math.NaN()
			}
			row[rng.IntN(width)] = v
		}
		if r == rows-1 {
			row[width-1] = 3
		}
		all = append(all, row)
	}
	return all
}

// sparseRecord has rows beside numbers and texts. The lists have the values of rows, in a form or, if that is "", as dense lists.
func sparseRecord(t *testing.T, form string, rows []sparseRow, width int) arrow.Record {
	t.Helper()
	var lists, numbers, texts, labels []string
	for i, row := range rows {
		if form != "" {
			lists = append(lists, sparseForms[form].json(row, width))
		} else {
			values := make([]string, width)
			for k := range values {
				values[k] = number(row[k])
			}
			lists = append(lists, "["+strings.Join(values, ",")+"]")
		}
		numbers, texts, labels = append(numbers, fmt.Sprint(i%5)), append(texts, fmt.Sprintf("%q", []string{"a", "b", "c"}[i%3])), append(labels, fmt.Sprint(i*i%7%2))
	}
	all := func(values []string) string { return "[" + strings.Join(values, ",") + "]" }
	typ := arrow.DataType(arrow.ListOf(arrow.PrimitiveTypes.Float64))
	if form != "" {
		typ = sparseForms[form].typ
	}
	return record(t, field("x", arrow.PrimitiveTypes.Float32, all(numbers)), field("v", typ, all(lists)), field("c", arrow.BinaryTypes.String, all(texts)),
		field("y", arrow.PrimitiveTypes.Int8, all(labels)))
}

// TestSparseLists: sparse lists of every type are the rows, the Spec and the notes of dense lists with the same values, bit for bit.
func TestSparseLists(t *testing.T) {
	t.Parallel()
	const width = 50
	rows := 4200
	if require.Small() {
		rows = 500
	}
	for _, nulls := range schema.AllNulls {
		missing := 0.02
		if nulls == schema.NullsError {
			missing = 0
		}
		sparse := sparseRows(rows, width, missing)
		dense := slices.Clone(sparse)
		for r, row := range dense { // a dense list says no other way that it is 0
			if row == nil {
				dense[r] = sparseRow{}
			}
		}
		for k, form := range slices.Sorted(maps.Keys(sparseForms)) {
			var notes [2]string
			opt := Options{Label: "y", Nulls: nulls, Categorical: "onehot", Standardize: k%3 == 1, Warn: func(s string) { notes[0] += s }}
			want := require.Value(fromRecord(t, sparseRecord(t, "", dense, width), 1000, opt))(t)
			got := everyWay(t, sparseRecord(t, form, sparse, width), opt, blocksOf(t, want))
			opt.Warn = func(s string) { notes[1] += s }
			require.Value(fromRecord(t, sparseRecord(t, form, sparse, width), 1000, opt))(t)
			if !reflect.DeepEqual(got.Spec(), want.Spec()) || notes[0] != notes[1] {
				t.Errorf("%s, %s: columns %v, want %v; notes %q, want %q", form, nulls, got.Spec().Columns(), want.Spec().Columns(), notes[1], notes[0])
			}
		}
	}
}

// TestWideLists: sparse lists of more features than a dense row may have make sparse rows by themselves. Features of new rows that the
// training had not are ignored, with a note. They aren't standardized, which is an error if somebody asked for it.
func TestWideLists(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), context.Background()
	const form = "vectors"
	rows := []sparseRow{{0: 1, schema.MaxNamed - 4: 2}, nil, {5: 1, 6: 0}, {1000: -1, 2: 0}, {}} // no dense vectors
	path := filepath.Join(dir, "wide.parquet")
	writeNested(t, path, sparseRecord(t, form, rows, schema.MaxNamed-3), 2)
	var notes []string
	opt := Options{Label: "y", Storage: Auto, Standardize: true, KeepWide: true, Warn: func(note string) { notes = append(notes, note) }}
	in := require.Value(planOf(ctx, []string{path}, opt, memory.DefaultAllocator))(t)
	data := require.Value(in.Load(ctx))(t)
	spec, b := data.Spec(), blocksOf(t, data)[0]
	if !in.isSparse() || len(spec.Features) != schema.MaxNamed-2 || spec.Features[6] != "v[5]" || !strings.Contains(fmt.Sprint(notes), "not standardized") ||
		spec.Preprocessing.Check(spec.Features) != nil || schema.CheckFeatures(spec.Features, spec.Label, spec.Preprocessing) != nil { // as a model is
		t.Errorf("%s: sparse %t, %d features, notes %v", form, in.isSparse(), len(spec.Features), notes)
	}
	if columns, values := b.Sparse.Row(0); !slices.Equal(columns, []uint32{1, schema.MaxNamed - 3, schema.MaxNamed - 2}) || values[1] != 2 {
		t.Errorf("%s: row 0 has %v in the columns %v", form, values, columns)
	}
	if info, err := inspectParquet(path); err != nil || len(info.Columns) < 5 || slices.ContainsFunc(info.Columns, func(c ColumnInfo) bool { return !c.Feature }) {
		t.Errorf("%s: %+v, error %v", form, info.Columns, err)
	}
	_, err := planOf(ctx, []string{path}, Options{Label: "y", Storage: Auto, Standardize: true}, memory.DefaultAllocator)
	if want := fmt.Sprintf("%s: %d features, and standardized rows are dense, with at most %d: use Standardize=false", path, schema.MaxNamed-3, mostStandardized); err == nil || err.Error() != want {
		t.Errorf("%s: error %v, want %s", form, err, want)
	}
	if _, err = planOf(ctx, []string{path}, Options{Label: "y", Storage: Dense}, memory.DefaultAllocator); err == nil || !strings.Contains(err.Error(), "a row has at most 262144 features") {
		t.Errorf("%s: dense rows: error %v", form, err)
	}
	for i, form := range slices.Sorted(maps.Keys(sparseForms)) {
		if require.Small() && i > 1 {
			break
		}
		narrow := filepath.Join(dir, "narrow.arrow")
		writeNested(t, narrow, sparseRecord(t, form, []sparseRow{{0: 1, 8: 2}, {7: 1, 9: 1}, {1: 1, 2: 1}}, 10), 2)
		learned := require.Value(Load(ctx, narrow, Options{Label: "y"}))(t)
		_, info, err := Inspect(ctx, narrow, Options{})
		if err != nil || len(info.Columns) != 4 || !info.Columns[1].Feature || info.Rows != 3 {
			t.Errorf("%s: %+v, error %v", form, info, err)
		}
		notes = nil
		data, err = Load(ctx, path, Options{Spec: learned.Spec(), Warn: func(note string) { notes = append(notes, note) }})
		if err != nil || fmt.Sprint(notes) != `[column "v": 2 of 5 rows have indices that the training rows didn't have; they are ignored]` {
			t.Errorf("%s: notes %v, error %v", form, notes, err)
		} else if rows, _ := rowsOf(t, data); rows[0][1] != 1 || rows[2][6] != 1 || len(rows[0]) != 12 {
			t.Errorf("%s: rows %v", form, rows)
		}
	}
}

// TestSparseListErrors: an index that is null, negative, too large or there twice is an error that names the file, the column, the
// row and what to do. So are lists of unequal lengths, missing values, and sizes beyond what a row may have.
func TestSparseListErrors(t *testing.T) {
	t.Parallel()
	p := arrow.PrimitiveTypes
	two := func(index arrow.DataType) arrow.DataType {
		return arrow.StructOf(arrow.Field{Name: "indices", Type: arrow.ListOf(index), Nullable: true}, arrow.Field{Name: "values", Type: arrow.ListOf(p.Float64), Nullable: true})
	}
	pairs := pairType(p.Int64, p.Float64)
	const range1 = "write a number from 0 on"
	for _, c := range []struct {
		typ    arrow.DataType
		values string
		want   string
	}{
		{pairs, `[[], [{"index": -1, "value": 1}]]`, `row 1: index -1: ` + range1},
		{pairs, `[[], [{"index": null, "value": 1}]]`, `row 1: a null in place of an index: ` + range1},
		{pairs, `[[], [null]]`, `row 1: a null in place of an index: ` + range1},
		{pairs, `[[], [{"index": 7, "value": 1}, {"index": 3, "value": 1}, {"index": 7, "value": 2}]]`, `row 1: index 7 is there twice: write each index of a row once`},
		{pairs, `[[], [{"index": 2147483648, "value": 1}]]`, `row 1: index 2147483648, and a row has at most 1048576 features: leave larger indices out`},
		{pairs, `[[], [{"index": 1048576, "value": 1}]]`, `row 1: index 1048576, and a row has at most 1048576 features: leave larger indices out`},
		{pairs, `[[], [{"index": 7, "value": null}]]`, `row 1: index 7: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{pairs, `[[], [{"index": 7, "value": 1e60}]]`, `row 1: index 7: 1e+60 is too large for float32 (divide the column, or train with Standardize)`},
		{pairs, `[[], null]`, `no list has an element: leave it out with Exclude`},
		{two(p.Uint64), `[null, {"indices": [1, 2], "values": [1]}]`, `row 1: a list of 2 indices and one of 1 values: write an index for each value`},
		{two(p.Uint64), `[null, {"indices": null, "values": [1]}]`, `row 1: a list of 0 indices and one of 1 values: write an index for each value`},
		{two(p.Int8), `[null, {"indices": [1, null], "values": [1, 2]}]`, `row 1: a null in place of an index: ` + range1},
		{arrow.MapOf(p.Int32, p.Float64), `[[], [{"key": 2147483647, "value": 1}]]`, `row 1: index 2147483647, and a row has at most 1048576 features: leave larger indices out`},
		{vectorType(), `[null, {"type": 0, "size": 1048577, "indices": [1], "values": [2]}]`, `row 1: a vector of size 1048577, and a row has at most 1048576 features: write a smaller one`},
		{vectorType(), `[{"type": 1, "values": [1, 2, 3]}, {"type": 1, "values": [1, 2]}]`, `row 1: a vector of 2, where others have 3 (exclude the column with Exclude, or make them equally long)`},
		{vectorType(), `[{"type": 1, "values": [1]}, {"type": 0, "size": 3, "indices": [2], "values": [1]}]`, `row 0: a vector of 1, where others have 3 (exclude the column with Exclude, or make them equally long)`},
	} {
		dir := t.TempDir()
		for _, name := range []string{"a.parquet", "a.arrow"} {
			if c.typ.ID() == arrow.LIST && strings.Contains(c.values, "[null]") && name == "a.parquet" {
				continue // Arrow writes the structure as one of nulls
			}
			writeNested(t, filepath.Join(dir, name), record(t, field("v", c.typ, c.values), field("y", p.Int8, "[0, 1]")), 10)
			for _, storage := range []Storage{Dense, Sparse} {
				_, err := Load(context.Background(), filepath.Join(dir, name), Options{Label: "y", Storage: storage})
				want := fmt.Sprintf("DIR/%s: column \"v\", %s", name, c.want)
				if strings.HasPrefix(c.want, "no list") {
					want = fmt.Sprintf("DIR/%s: column \"v\": %s", name, c.want)
				}
				wantError(t, err, dir, want)
			}
		}
	}
	large := array.NewStructBuilder(memory.DefaultAllocator, two(p.Uint64).(*arrow.StructType))
	for _, index := range []uint64{1, math.MaxInt64, math.MaxUint64} {
		large.Append(true)
		for k := range 2 {
			large.FieldBuilder(k).(*array.ListBuilder).Append(true)
		}
		large.FieldBuilder(0).(*array.ListBuilder).ValueBuilder().(*array.Uint64Builder).Append(index)
		large.FieldBuilder(1).(*array.ListBuilder).ValueBuilder().(*array.Float64Builder).Append(1)
	}
	column := large.NewArray()
	for row, index := range map[int64]string{1: "9223372036854775807", 2: "18446744073709551615"} {
		dir := t.TempDir()
		rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "v", Type: column.DataType()}}, nil), []arrow.Array{array.NewSlice(column, row, row+1)}, 1)
		writeNested(t, filepath.Join(dir, "a.parquet"), rec, 10)
		_, err := Load(context.Background(), filepath.Join(dir, "a.parquet"), Options{Storage: Auto})
		wantError(t, err, dir, `DIR/a.parquet: column "v", row 0: index `+index+`, and a row has at most 1048576 features: leave larger indices out`)
	}
}

// TestOtherStructures: structures of other fields, and lists of them, are no features, and a note says so.
func TestOtherStructures(t *testing.T) {
	p := arrow.PrimitiveTypes
	pair := func(a, b string, x, y arrow.DataType) arrow.DataType {
		return arrow.StructOf(arrow.Field{Name: a, Type: x}, arrow.Field{Name: b, Type: y})
	}
	for _, c := range []struct {
		typ    arrow.DataType
		values string
	}{
		{pair("index", "value", p.Int32, p.Float64), `[{"index": 1, "value": 2}, {"index": 1, "value": 2}]`},
		{arrow.ListOf(pair("lat", "lon", p.Int32, p.Float64)), `[[{"lat": 1, "lon": 2}], []]`},
		{arrow.ListOf(pair("index", "value", p.Float64, p.Float64)), `[[{"index": 1, "value": 2}], []]`},
		{arrow.ListOf(pair("index", "value", p.Int32, arrow.BinaryTypes.String)), `[[{"index": 1, "value": "2"}], []]`},
		{arrow.MapOf(arrow.BinaryTypes.String, p.Float64), `[[{"key": "a", "value": 1}], []]`},
		{pair("indices", "values", arrow.ListOf(arrow.ListOf(p.Int32)), arrow.ListOf(p.Float64)), `[{"indices": [[1]], "values": [1]}, {"indices": [], "values": []}]`},
		{pair("indices", "size", arrow.ListOf(p.Int32), p.Int32), `[{"indices": [1], "size": 1}, {"indices": [], "size": 2}]`},
	} {
		for _, name := range []string{"a.parquet", "a.arrow"} {
			path := filepath.Join(t.TempDir(), name)
			writeNested(t, path, record(t, field("v", c.typ, c.values), field("x", p.Float32, "[1, 2]")), 10)
			var notes []string
			data, err := Load(context.Background(), path, Options{Warn: func(note string) { notes = append(notes, note) }})
			if err != nil || len(data.Spec().Features) != 1 || !strings.Contains(fmt.Sprint(notes), `column "v" (`) {
				t.Errorf("%s, %s: notes %v, error %v", name, c.typ, notes, err)
			}
		}
	}
}
