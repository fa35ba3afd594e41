package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/zeebo/xxh3"

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// A textTable has columns of text of several types around one of numbers, and a label.
type textTable struct {
	rec   arrow.Record
	texts map[string][]string // of each column; "\x00" where missing
	x     []float64
}

const gone = "\x00"

func newTextTable(tb testing.TB, rows int, rate float64, more ...testField) *textTable {
	rng := rand.New(rand.NewPCG(31, 32))
	m := &textTable{texts: map[string][]string{}}
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	words := strings.Split("red green blue= ü <a> 10 9 yellow", " ")
	labels := make([]int8, rows)
	for r := range rows {
		m.x, labels[r] = append(m.x, math.Round(rng.NormFloat64()*100)/4), int8(r%2)
	}
	cols := []testField{datatest.Column("x", m.x, nil), datatest.Column("label", labels, nil)}
	for i, typ := range []arrow.DataType{arrow.BinaryTypes.String, dict, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary} {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		name := fmt.Sprint("t", i)
		for range rows {
			word := words[min(rng.IntN(len(words)), rng.IntN(len(words)))]
			if rng.Float64() < rate {
				m.texts[name] = append(m.texts[name], gone)
				b.AppendNull()
				continue
			}
			text := word
			if i == 3 {
				word, text = "red", "cmVk" // base64
			}
			m.texts[name] = append(m.texts[name], word)
			require.NoError(tb, b.AppendValueFromString(text))
		}
		cols = append(cols, built(name, b, rate > 0))
	}
	m.rec = record(tb, append(cols, more...)...)
	return m
}

// TestCategories: one-hot and hashed features equal those written out by hand.
func TestCategories(t *testing.T) {
	t.Parallel()
	for _, nulls := range schema.AllNulls {
		for _, categorical := range []string{"onehot", "hash:3"} {
			rate := 0.05
			if nulls == schema.NullsError {
				rate = 0
			}
			m := newTextTable(t, 5001, rate)
			names, features := []string{"x"}, [][]string{{}} // of the columns
			feature := func(column, text string) string { return column + "=" + text }
			if categorical == "hash:3" {
				feature = func(column, text string) string {
					return fmt.Sprintf("%s#hash:3[%d]", column, xxh3.Hash([]byte(text))%8)
				}
			}
			columns := []string{"t0", "t1", "t2", "t3"}
			for _, c := range columns {
				var all []string
				for _, text := range slices.Compact(slices.Sorted(slices.Values(m.texts[c]))) {
					if categorical == "onehot" && text != gone {
						all = append(all, feature(c, text))
					}
				}
				for i := range 8 {
					if categorical != "onehot" {
						all = append(all, fmt.Sprintf("%s#hash:3[%d]", c, i))
					}
				}
				names, features = append(names, all...), append(features, all)
			}
			var kept []int
			for r := range m.x {
				if nulls != schema.NullsDrop || !slices.ContainsFunc(columns, func(c string) bool { return m.texts[c][r] == gone }) {
					kept = append(kept, r)
				}
			}
			want := block.New(0, len(kept), len(names)+1)
			for i, r := range kept {
				row := want.X[i*want.Stride:][:len(names)+1]
				row[0], row[len(names)], want.Y[i] = float32(m.x[r]), 1, float32(2*(r%2)-1)
				for _, c := range columns {
					if text := m.texts[c][r]; text != gone {
						row[slices.Index(names, feature(c, text))] = 1
					}
				}
			}
			d := everyWay(t, m.rec, Options{Label: "label", Nulls: nulls, Categorical: categorical}, []*block.Block{want})
			if !slices.Equal(d.Spec().Features, names) {
				t.Errorf("features %q, want %q", d.Spec().Features, names)
			}
		}
	}
}

// TestMixedColumns reads texts, numbers of which many are 0 or -0, lists and weights together.
func TestMixedColumns(t *testing.T) {
	t.Parallel()
	const rows = 1001
	for _, nulls := range schema.AllNulls {
		rng := rand.New(rand.NewPCG(41, 42))
		lists := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float32)
		few, valid, weights := make([]float64, rows), make([]bool, rows), make([]float64, rows)
		for r := range rows {
			few[r], valid[r] = []float64{0, 0, 0, math.Copysign(0, -1), 0.5, -3}[rng.IntN(6)], nulls == schema.NullsError || rng.IntN(50) > 0
			lists.Append(true)
			for range 3 {
				lists.ValueBuilder().(*array.Float32Builder).Append(float32(rng.IntN(3)))
			}
			weights[r] = float64(1 + rng.IntN(3))
		}
		rate := 0.02
		if nulls == schema.NullsError {
			rate = 0
		}
		m := newTextTable(t, rows, rate, datatest.Column("n", few, valid), built("v", lists, false), datatest.Column("w", weights, nil))
		for i, categorical := range []string{"onehot", "hash:20", "hash:3,t0=onehot,n=hash:17"} {
			opt := Options{Label: "label", SampleWeight: "w", Nulls: nulls, Categorical: categorical, Standardize: i == 1}
			if i == 2 {
				opt.SampleWeight, opt.Exclude, opt.NoBias = "", []string{"w"}, true
			}
			everyWay(t, m.rec, opt, nil)
		}
	}
}

// TestUnknownCategories: a category that the training had not is all zeros, and is told of.
func TestUnknownCategories(t *testing.T) {
	s := arrow.BinaryTypes.String
	spec := &schema.Spec{Features: []string{"c=a", "c=b"}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsZero,
		Columns: []schema.Column{{Name: "c", Kind: schema.OneHotColumn, Categories: []string{"a", "b"}}}}}
	var notes []string
	d, err := fromRecord(t, record(t, field("c", s, `["b", "z", null, "a", "A", "z"]`)), 4, Options{Spec: spec,
		Warn: func(s string) { notes = append(notes, s) }})
	require.NoError(t, err)
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
	d := require.Value(fromRecord(t, rec, 2, Options{Categorical: "onehot", Standardize: true}))(t)
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
		require.NoError(t, b.Append(v))
	}
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dict}}, nil), []arrow.Array{b.NewArray()}, 4)
	d := require.Value(fromRecord(t, rec, 4, Options{Categorical: "onehot", Nulls: schema.NullsDrop}))(t)
	if rows, _ := rowsOf(t, d); fmt.Sprint(d.Spec().Features, rows) != "[c=1.5 c=2] [[0 1 1] [1 0 1] [0 1 1]]" {
		t.Errorf("features %q, rows %v", d.Spec().Features, rows)
	}
}

// TestCross: a cross of columns has the bucket of their texts with a byte 0xFF between, in files of every format, dense and sparse,
// with few bits and with many. Missing values are those of its columns.
func TestCross(t *testing.T) {
	t.Parallel()
	ctx, p, dir := context.Background(), arrow.PrimitiveTypes, t.TempDir()
	texts, numbers := []string{"a", "b", "ab", "b", "a", "ü"}, []string{"10", "1", "0", "1", "10", "7"}
	path := file1(t, dir, "a.parquet", field("c", arrow.BinaryTypes.String, `["a", "b", "ab", "b", "a", "ü"]`), field("n", p.Int64, "[10, 1, 0, 1, 10, 7]"),
		field("x", p.Float32, "[1, 0, 2, 0, 3, 0]"), field("y", p.Int8, "[0, 1, 0, 1, 0, 1]"))
	files := []string{path, filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.arrow")}
	for _, out := range files[1:] {
		if _, err := Convert(ctx, []string{path}, out, Options{}, WriterOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for bits, cross := range map[int]string{5: "c,n=hash:5", 20: "c,n", 24: "c,n=hash:24"} {
		buckets := make([]int, len(texts))
		for i := range texts {
			buckets[i] = int(xxh3.HashString(texts[i]+"\xff"+numbers[i]) % (1 << bits))
		}
		for _, file := range files {
			var specs []*schema.Spec
			for _, storage := range []Storage{Dense, Sparse} {
				opt := Options{Label: "y", Cross: []string{cross}, Exclude: []string{"n"}, Storage: storage}
				for len(specs) < 3 { // the second time for a model
					data := require.Value(Load(ctx, file, opt))(t)
					spec, blocks := data.Spec(), blocksOf(t, data)
					require.NoError(t, spec.Preprocessing.Check(spec.Features))
					if storage == Sparse {
						blocks = denseOf(t, blocks)
					}
					for r := range texts {
						want := fmt.Sprintf("c*n#hash:%d[%d]", bits, buckets[r])
						row := blocks[0].X[r*blocks[0].Stride:][:len(spec.Features)]
						ones := 0
						for i, v := range row[1:] {
							if v != 0 {
								ones++
								if v != 1 || spec.Features[1+i] != want {
									t.Errorf("%s, %s, %s, row %d: %v of %s, want %s", file, cross, storage, r, v, spec.Features[1+i], want)
								}
							}
						}
						if ones != 1 || spec.Features[0] != "x" {
							t.Errorf("%s, %s, %s, row %d: %d ones", file, cross, storage, r, ones)
						}
					}
					specs = append(specs, spec)
					opt = Options{Label: "y", Spec: spec, Storage: storage}
					if len(specs)%2 == 0 {
						break
					}
				}
			}
			if !slices.Equal(specs[0].Features, specs[2].Features) {
				t.Errorf("%s, %s: features differ", file, cross)
			}
		}
	}
}

// TestCrossErrors: what can't be crossed is an error that names the column.
func TestCrossErrors(t *testing.T) {
	t.Parallel()
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	fields := []testField{field("c", s, `["a", "b", null]`), field("d", s, `["a", "b", "c"]`), field("v", arrow.ListOf(p.Int8), "[[1], [2], [3]]"), field("y", p.Int8, "[0, 1, 0]")}
	for cross, want := range map[string]string{
		"c":           `cross is "c": use COLUMN,COLUMN or COLUMN,COLUMN=hash:BITS, with BITS from 1 to 24`,
		"c,d=hash:25": `cross is "c,d=hash:25": use COLUMN,COLUMN or COLUMN,COLUMN=hash:BITS, with BITS from 1 to 24`,
		"c,":          `cross is "c,": use COLUMN,COLUMN or COLUMN,COLUMN=hash:BITS, with BITS from 1 to 24`,
		"d,y":         `column "y" is the label: leave it out of Cross`,
		"d,d":         `column "d" is crossed with itself: name it once in Cross`,
		"d,v":         `column "v" is list, but categories are text, numbers or booleans: leave it out of Cross`,
		"d,z":         `no column "z" (columns: c, d, v, y)`,
		"d,c":         `column "d*c", row 2: null (leave the pair out of Cross, or use Nulls drop, zero or mean)`,
		"d,c=hash:4":  `column "d*c", row 2: null (leave the pair out of Cross, or use Nulls drop, zero or mean)`,
		`"d,e",c`:     `no column "d,e" (columns: c, d, v, y)`,
	} {
		dir := t.TempDir()
		path := file1(t, dir, "a.parquet", fields...)
		_, err := Load(context.Background(), path, Options{Label: "y", Cross: []string{cross}, Features: []string{"v"}})
		wantError(t, err, dir, "DIR/a.parquet: "+want)
		if rows, err := Load(context.Background(), path, Options{Label: "y", Cross: []string{"d,c"}, Nulls: schema.NullsDrop}); err != nil || rows.Rows() != 2 {
			t.Errorf("rows with a missing part stay: error %v", err)
		}
	}
}

// TestCrossOfNumbered: the one column of svmlight features that have no names can't be crossed.
func TestCrossOfNumbered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "far.svm")
	require.NoError(t, os.WriteFile(path, []byte("1 2:1 2000000:1\n0 1:1\n"), 0o600))
	_, err := planOf(context.Background(), []string{path}, Options{Storage: Auto, Cross: []string{"f,label"}}, memory.DefaultAllocator)
	if err == nil || !strings.Contains(err.Error(), "leave it out of Cross") {
		t.Errorf("error %v", err)
	}
}
