package dataset

import (
	"context"
	"fmt"
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
	"github.com/zeebo/xxh3"

	"halfspace/block"
	"halfspace/schema"
)

// A textTable has columns of text of several types around one of numbers, and a label.
type textTable struct {
	rec   arrow.Record
	texts map[string][]string // of each column; "\x00" where missing
	x     []float64
	y     []float64
}

const gone = "\x00"

func newTextTable(tb testing.TB, rows int, rate float64) *textTable {
	rng := rand.New(rand.NewPCG(31, 32))
	m := &textTable{texts: map[string][]string{}}
	var fields []arrow.Field
	var cols []arrow.Array
	add := func(name string, b array.Builder) {
		fields = append(fields, arrow.Field{Name: name, Type: b.Type(), Nullable: rate > 0})
		cols = append(cols, b.NewArray())
	}
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	words := strings.Split("red green blue= ü <a> 10 9 yellow", " ")
	for i, typ := range []arrow.DataType{arrow.BinaryTypes.String, dict, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary} {
		if i == 2 {
			b := array.NewFloat64Builder(memory.DefaultAllocator)
			for range rows {
				m.x = append(m.x, math.Round(rng.NormFloat64()*100)/4)
				b.Append(m.x[len(m.x)-1])
			}
			add("x", b)
		}
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		name := fmt.Sprint("t", i)
		for range rows {
			word := words[min(rng.IntN(len(words)), rng.IntN(len(words)))]
			if rng.Float64() < rate {
				m.texts[name] = append(m.texts[name], gone)
				b.AppendNull()
				continue
			}
			m.texts[name] = append(m.texts[name], word)
			if err := b.AppendValueFromString(map[bool]string{true: "cmVk", false: word}[i == 3]); err != nil { // base64 of red
				tb.Fatal(err)
			}
			if i == 3 {
				m.texts[name][len(m.texts[name])-1] = "red"
			}
		}
		add(name, b)
	}
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	for r := range rows {
		m.y = append(m.y, float64(2*(r%2)-1))
		b.Append(r%2 == 1)
	}
	add("label", b)
	m.rec = array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
	return m
}

// expand writes the features out by hand: for each text column one for each of its features, by feature.
func (m *textTable) expand(columns []string, features map[string][]string, feature func(column, text string) string,
	drop bool) (rows [][]float64, y []float64) {
	for r := range m.x {
		var row []float64
		keep := true
		for _, c := range columns {
			if c == "x" {
				row = append(row, m.x[r])
				continue
			}
			text := m.texts[c][r]
			keep = keep && (text != gone || !drop)
			for _, f := range features[c] {
				v := 0.0
				if text != gone && feature(c, text) == f {
					v = 1
				}
				row = append(row, v)
			}
		}
		if keep {
			rows, y = append(rows, append(row, 1)), append(y, m.y[r])
		}
	}
	return rows, y
}

// TestCategories: one-hot and hashed features equal those written out by hand, however the rows are read.
func TestCategories(t *testing.T) {
	ways := []schema.Nulls{schema.NullsMean, schema.NullsDrop, schema.NullsZero, schema.NullsError}
	if testing.Short() {
		ways = ways[:2]
	}
	for _, nulls := range ways {
		for _, categorical := range []string{"onehot", "hash:3"} {
			rate := 0.05
			if nulls == schema.NullsError {
				rate = 0
			}
			m := newTextTable(t, 10_001, rate)
			columns := []string{"t0", "t1", "x", "t2", "t3"}
			features := map[string][]string{}
			feature := func(column, text string) string { return column + "=" + text }
			for c, texts := range m.texts {
				for _, text := range slices.Compact(slices.Sorted(slices.Values(texts))) {
					if text != gone {
						features[c] = append(features[c], c+"="+text)
					}
				}
			}
			if categorical == "hash:3" {
				feature = func(column, text string) string {
					return fmt.Sprintf("%s#hash:3[%d]", column, xxh3.Hash([]byte(text))%8)
				}
				for c := range m.texts {
					features[c] = nil
					for i := range 8 {
						features[c] = append(features[c], fmt.Sprintf("%s#hash:3[%d]", c, i))
					}
				}
			}
			rows, y := m.expand(columns, features, feature, nulls == schema.NullsDrop)
			var names []string
			for _, c := range columns {
				if features[c] == nil {
					features[c] = []string{c}
				}
				names = append(names, features[c]...)
			}
			checkCategories(t, m, Options{Label: "label", Nulls: nulls, Categorical: categorical}, names, rows, y)
		}
	}
}

func checkCategories(t *testing.T, m *textTable, opt Options, names []string, rows [][]float64, y []float64) {
	t.Helper()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.parquet")
	writeFile(t, whole, m.rec, 3000)
	parts := []string{filepath.Join(dir, "0.parquet"), filepath.Join(dir, "1.parquet")}
	writeFile(t, parts[0], m.rec.NewSlice(0, 77), 1000)
	writeFile(t, parts[1], m.rec.NewSlice(77, m.rec.NumRows()), 100_000)
	var first *schema.Spec
	check := func(what string, d *block.Data, err error) {
		t.Helper()
		what = fmt.Sprintf("%s, nulls %s, %s", opt.Categorical, opt.Nulls, what)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if first == nil {
			first = d.Spec()
		}
		if !slices.Equal(d.Spec().Features, names) {
			t.Fatalf("%s: features %q, want %q", what, d.Spec().Features, names)
		}
		if !reflect.DeepEqual(d.Spec(), first) {
			t.Errorf("%s: Spec %+v, want %+v", what, d.Spec(), first)
		}
		got, labels := rowsOf(t, d)
		if len(got) != len(rows) {
			t.Fatalf("%s: %d rows, want %d", what, len(got), len(rows))
		}
		for r := range got {
			for c, v := range got[r] {
				if v != float32(rows[r][c]) {
					t.Fatalf("%s: row %d, feature %d is %v, want %v", what, r, c, v, rows[r][c])
				}
			}
			if labels[r] != float32(y[r]) {
				t.Fatalf("%s: label of row %d is %v, want %v", what, r, labels[r], y[r])
			}
		}
	}
	for _, opt.Workers = range []int{1, 2, 3, 8} {
		d, err := Load(context.Background(), []string{whole}, opt)
		check("one file", d, err)
	}
	d, err := Load(context.Background(), parts, opt)
	check("two files", d, err)
	d, err = fromRecord(t, m.rec, 700, opt)
	check("records", d, err)
	opt.Spec = first
	d, err = Load(context.Background(), parts, opt)
	check("with its own Spec", d, err)
}

// TestUnknownCategories: a category that the training had not is all zeros, and is told of.
func TestUnknownCategories(t *testing.T) {
	s := arrow.BinaryTypes.String
	spec := &schema.Spec{Features: []string{"c=a", "c=b"}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsZero,
		Columns: []schema.Column{{Name: "c", Kind: schema.OneHotColumn, Categories: []string{"a", "b"}}}}}
	var notes []string
	d, err := fromRecord(t, record(t, field("c", s, `["b", "z", null, "a", "A", "z"]`)), 4, Options{Spec: spec,
		Warn: func(s string) { notes = append(notes, s) }})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := rowsOf(t, d)
	if fmt.Sprint(rows) != "[[0 1] [0 0] [0 0] [1 0] [0 0] [0 0]]" {
		t.Errorf("rows %v", rows)
	}
	if want := `[column "c": 3 of 6 rows have a category that the training had not, it counts as none]`; fmt.Sprint(notes) != want {
		t.Errorf("notes %s, want %s", notes, want)
	}
}

// TestStandardizeCategories: categories stay zeros and ones.
func TestStandardizeCategories(t *testing.T) {
	rec := record(t, field("c", arrow.BinaryTypes.String, `["b", "a"]`), field("x", arrow.PrimitiveTypes.Int8, "[1, 3]"))
	d, err := fromRecord(t, rec, 2, Options{Categorical: "onehot", Standardize: true})
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := rowsOf(t, d); fmt.Sprint(rows) != "[[0 1 -1 1] [1 0 1 1]]" {
		t.Errorf("rows %v", rows)
	}
	if err := d.Spec().Preprocessing.Check(d.Spec().Features); err != nil {
		t.Error(err)
	}
}

// TestDictionaryOfNumbers: what a dictionary holds are categories, in the form that classes have.
func TestDictionaryOfNumbers(t *testing.T) {
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Float64}
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, dict).(*array.Float64DictionaryBuilder)
	for _, v := range []float64{2, 1.5, nan, 2} {
		if err := b.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dict}}, nil), []arrow.Array{b.NewArray()}, 4)
	d, err := fromRecord(t, rec, 4, Options{Categorical: "onehot", Nulls: schema.NullsDrop})
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := rowsOf(t, d); fmt.Sprint(d.Spec().Features, rows) != "[c=1.5 c=2] [[0 1 1] [1 0 1] [0 1 1]]" {
		t.Errorf("features %q, rows %v", d.Spec().Features, rows)
	}
}

func TestCategoryErrors(t *testing.T) {
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	many := make([]string, 1500)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint("id", i%1200))
	}
	model := &schema.Spec{Features: []string{"c=a"}, Preprocessing: &schema.Preprocessing{
		Columns: []schema.Column{{Name: "c", Kind: schema.OneHotColumn, Categories: []string{"a"}}}}}
	for _, c := range []struct {
		fields []testField
		opt    Options
		want   string
	}{
		{[]testField{field("id", s, "["+strings.Join(many, ",")+"]")}, Options{Categorical: "onehot"},
			`column "id", row 1000: more than 1000 categories: leave it out with --exclude, or use --categorical hash:BITS`},
		{[]testField{field("c", s, `["a", null]`)}, Options{Categorical: "onehot"},
			`column "c", row 1: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{[]testField{field("c", s, `["a", null]`)}, Options{Categorical: "hash:4"},
			`column "c", row 1: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{[]testField{field("c", s, `[null, null]`)}, Options{Categorical: "onehot", Nulls: "zero"},
			`column "c": every value is missing, so that there is no category: leave it out with --exclude`},
		{[]testField{field("c", arrow.BinaryTypes.Binary, `["YQ==", "/2E="]`)}, Options{Categorical: "onehot"},
			`column "c", row 1: "\xffa" is not valid UTF-8: mend it, or leave the row out`},
		{[]testField{field("c", s, `["a"]`)}, Options{Categorical: "hash:0"},
			`categorical is "hash:0": use onehot or hash:BITS, with BITS from 1 to 24, for all columns of text, or COLUMN=onehot,COLUMN=hash:BITS for named columns`},
		{[]testField{field("c", s, `["a"]`)}, Options{Categorical: "hash:25"},
			`categorical is "hash:25": use onehot or hash:BITS, with BITS from 1 to 24, for all columns of text, or COLUMN=onehot,COLUMN=hash:BITS for named columns`},
		{[]testField{field("c", s, `["a"]`), field("c=a", p.Int8, "[1]")}, Options{Categorical: "onehot"},
			`columns "c" and "c=a" both have a feature "c=a": rename one`},
		{[]testField{field("c", p.Int8, `[1]`)}, Options{Spec: model}, `column "c" is int8, and the model takes text: convert it`},
		{[]testField{field("c", s, `["a"]`)}, Options{Spec: &schema.Spec{Features: []string{"c"}}},
			`column "c" is string, and the model takes a number: convert it`},
		{[]testField{field("c", s, `["a", null]`)}, Options{Spec: model},
			`column "c", row 1: null (fill the value in, or train the model with --nulls zero or mean)`},
	} {
		for _, size := range []int64{1, 2000} {
			_, err := fromRecord(t, record(t, c.fields...), size, c.opt)
			wantError(t, err, "", c.want)
		}
	}
	dir := t.TempDir()
	a := file1(t, dir, "a.parquet", field("c", s, `["a"]`))
	b := file1(t, dir, "b.parquet", field("c", p.Int8, `[1]`))
	_, err := Load(context.Background(), []string{a, b}, Options{Categorical: "onehot"})
	wantError(t, err, dir, `DIR/b.parquet: column "c" is int8, but string in the first file: convert one of them`)
}
