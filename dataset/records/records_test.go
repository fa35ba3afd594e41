package records_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/dataset/records"
	"halfspace/fit"
	"halfspace/model"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
)

// table returns a record of so many rows: numbers with a null, text, and labels.
func table(rows int) arrow.Record {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "age", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "town", Type: arrow.BinaryTypes.String},
		{Name: "height", Type: arrow.PrimitiveTypes.Float64},
		{Name: "weight", Type: arrow.PrimitiveTypes.Float32},
		{Name: "label", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for r := range rows {
		if r%17 == 3 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int32Builder).Append(int32(r * 7 % 90))
		}
		b.Field(1).(*array.StringBuilder).Append([]string{"Bern", "Ulm", "Graz"}[r%3])
		b.Field(2).(*array.Float64Builder).Append(1.5 + float64(r*13%101)/150)
		b.Field(3).(*array.Float32Builder).Append(float32(r%4) + 0.5)
		b.Field(4).(*array.StringBuilder).Append([]string{"no", "yes", "maybe"}[(r*7%90/31+r%3)%3])
	}
	return b.NewRecord()
}

// reader returns a reader of the rows of rec, in records of up to size rows.
func reader(t *testing.T, rec arrow.Record, size int64) array.RecordReader {
	t.Helper()
	var all []arrow.Record
	for lo := int64(0); lo < rec.NumRows(); lo += size {
		all = append(all, rec.NewSlice(lo, min(rec.NumRows(), lo+size)))
	}
	r, err := array.NewRecordReader(rec.Schema(), all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// modelBytes returns the file of the model that a learner learns from rows.
func modelBytes(t *testing.T, l fit.Learner, data *block.Data, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Learn(t.Context(), data, l, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := f.Model.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestSameModel: the same rows give the same model as records and as a Parquet file, whatever the options.
func TestSameModel(t *testing.T) {
	rec := table(5000)
	path := filepath.Join(t.TempDir(), "rows.parquet")
	w, err := dataset.Create(path, rec.Schema(), dataset.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file   dataset.Options
		memory records.Options
		l      fit.Learner
	}{
		{dataset.Options{Label: "label", Exclude: []string{"age"}}, records.Options{Label: "label", Exclude: []string{"age"}, Workers: 3},
			fit.Perceptron(perceptron.Options{Options: train.Options{Epochs: 3}})},
		{dataset.Options{Label: "label", Nulls: schema.NullsMean, Categorical: "onehot", Standardize: true, SampleWeight: "weight"},
			records.Options{Label: "label", Nulls: schema.NullsMean, Categorical: "onehot", Standardize: true, SampleWeight: "weight"},
			fit.Logistic(logistic.Options{L2: 1})},
		{dataset.Options{Label: "label", Nulls: schema.NullsDrop, Categorical: "hash:3", HashTexts: true, Positive: "maybe", NoBias: true},
			records.Options{Label: "label", Nulls: schema.NullsDrop, Categorical: "hash:3", HashTexts: true, Positive: "maybe", NoBias: true},
			fit.Logistic(logistic.Options{L2: 1})},
	} {
		fromFile, err := dataset.Load(t.Context(), []string{path}, c.file)
		want := modelBytes(t, c.l, fromFile, err)
		data, err := records.Load(t.Context(), reader(t, rec, 777), c.memory)
		if got := modelBytes(t, c.l, data, err); !bytes.Equal(got, want) {
			t.Errorf("%+v: the model of the records is %s, that of the file %s", c.memory, got, want)
		}
	}
}

// learned returns a model of rows.
func learned(t *testing.T, rec arrow.Record, opt records.Options) *model.Model {
	t.Helper()
	data, err := records.Load(t.Context(), reader(t, rec, 1000), opt)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Learn(t.Context(), data, fit.Logistic(logistic.Options{L2: 1}), fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f.Model
}

// TestPredict: predictions are those of the evaluation of the same rows, in records of the same lengths. Rows that the
// training would have dropped get nulls.
func TestPredict(t *testing.T) {
	rec := table(3000)
	opt := records.Options{Label: "label", Nulls: schema.NullsDrop, Categorical: "onehot", Standardize: true}
	m := learned(t, rec, opt)
	row, right, nulls := 0, int64(0), 0
	for out, err := range records.Predict(t.Context(), m, reader(t, rec, 1100), 2) {
		if err != nil {
			t.Fatal(err)
		}
		if names := fmt.Sprint(out.Schema().Fields()); row == 0 && (out.NumCols() != 7 || out.ColumnName(0) != "prediction" ||
			out.ColumnName(3) != "score_yes" || out.ColumnName(4) != "probability_maybe") {
			t.Errorf("columns %s", names)
		}
		if want := min(1100, 3000-int64(row)); out.NumRows() != want {
			t.Errorf("from row %d on: %d rows, want %d", row, out.NumRows(), want)
		}
		for r := range int(out.NumRows()) {
			if out.Column(0).IsNull(r) {
				nulls++
			} else if out.Column(0).ValueStr(r) == rec.Column(4).ValueStr(row+r) {
				right++
			}
		}
		row += int(out.NumRows())
	}
	if kept := int64(row - nulls); row != 3000 || nulls != rec.Column(0).NullN() || kept-right != *m.Training.Errors {
		t.Errorf("%d rows, %d nulls, %d right of %d; the training had %d errors", row, nulls, right, kept, *m.Training.Errors)
	}
}

// hostile is a reader of one record, whatever that says of itself.
type hostile struct {
	array.RecordReader
	schema *arrow.Schema
	rec    arrow.Record
	read   bool
}

func (h *hostile) Schema() *arrow.Schema { return h.schema }
func (h *hostile) Record() arrow.Record  { return h.rec }
func (h *hostile) Err() error            { return nil }
func (h *hostile) Next() bool            { defer func() { h.read = true }(); return !h.read }

// odd is a record with other columns than it has.
type odd struct {
	arrow.Record
	columns []arrow.Array
}

func (o odd) Column(i int) arrow.Array { return o.columns[i] }

// TestHostileRecords: records that aren't what they say are errors, of Load and of Predict.
func TestHostileRecords(t *testing.T) {
	rec := table(100)
	opt := records.Options{Label: "label", Categorical: "onehot", Exclude: []string{"age"}}
	m := learned(t, rec, opt)
	with := func(i int, a arrow.Array) arrow.Record {
		columns := append([]arrow.Array{}, rec.Columns()...)
		columns[i] = a
		return odd{rec, columns}
	}
	buffers := func(typ arrow.DataType, rows, nulls int, b ...*memory.Buffer) arrow.Array {
		return array.MakeFromData(array.NewData(typ, rows, b, nil, nulls, 0))
	}
	offsets := make([]int32, 101)
	offsets[50], offsets[100] = 1<<30, 8
	texts := buffers(arrow.BinaryTypes.String, 100, 0, nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(make([]byte, 8)))
	index := array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, 100, []*memory.Buffer{nil, memory.NewBufferBytes(bytes.Repeat([]byte{77}, 400))}, nil, 0, 0))
	words := array.NewStringBuilder(memory.DefaultAllocator)
	words.Append("Bern")
	dictionary := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, index, words.NewArray())
	fields := rec.Schema().Fields()
	fields[1].Type = dictionary.DataType()
	worded := arrow.NewSchema(fields, nil)
	for name, c := range map[string]struct {
		schema *arrow.Schema
		rec    arrow.Record
		want   string
	}{
		"no schema":              {nil, rec, "the records have no schema"},
		"no record":              {rec.Schema(), nil, "a record can't be read"},
		"no column":              {rec.Schema(), with(2, nil), "a record can't be read"},
		"too few columns":        {rec.Schema(), odd{rec, rec.Columns()[:1]}, "a record can't be read"},
		"short column":           {rec.Schema(), with(2, array.NewSlice(rec.Column(2), 0, 99)), `column "height" has 99 of 100 rows`},
		"offsets out of range":   {rec.Schema(), with(1, texts), `column "town" has values that end before they begin`},
		"other type of feature":  {rec.Schema(), with(2, rec.Column(1)), `column "height" is utf8, and the schema says float64`},
		"other type of category": {rec.Schema(), with(1, rec.Column(2)), `column "town" is float64, and the schema says utf8`},
		"dictionary index":       {worded, with(1, dictionary), ""},
		"no values":              {rec.Schema(), with(2, buffers(arrow.PrimitiveTypes.Float64, 100, 0, nil, nil)), ""},
		"bitmap of nulls, short": {rec.Schema(), with(2, buffers(arrow.PrimitiveTypes.Float64, 100, 1, memory.NewBufferBytes(make([]byte, 1)), memory.NewBufferBytes(make([]byte, 800)))), ""},
		"a null that is nowhere": {rec.Schema(), with(2, buffers(arrow.PrimitiveTypes.Float64, 100, 1, nil, memory.NewBufferBytes(make([]byte, 800)))), "-"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := records.Load(t.Context(), &hostile{schema: c.schema, rec: c.rec}, opt)
			if (err == nil) != (c.want == "-") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("Load: error %v, want %s", err, c.want)
			}
			err = nil
			for _, e := range records.Predict(t.Context(), m, &hostile{schema: c.schema, rec: c.rec}, 1) {
				err = e
			}
			if (err == nil) != (c.want == "-") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("Predict: error %v, want %s", err, c.want)
			}
		})
	}
	if _, err := records.Load(context.Background(), nil, opt); err == nil {
		t.Error("no reader, and no error")
	}
}

// TestSparseRecords: records of sparse lists, of text and of crosses become sparse rows, and the model is that of a file of the same
// records. Predict takes models of more features than a dense row may have.
func TestSparseRecords(t *testing.T) {
	const wide = schema.MaxFeatures + 1000
	pairs := arrow.ListOf(arrow.StructOf(arrow.Field{Name: "index", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "value", Type: arrow.PrimitiveTypes.Float32}))
	b := array.NewListBuilder(memory.DefaultAllocator, pairs.Elem())
	rec := table(3000)
	for r := range 3000 {
		if b.Append(r%7 != 3); r%7 == 3 {
			continue
		}
		s := b.ValueBuilder().(*array.StructBuilder)
		for k := range 3 {
			s.Append(true)
			s.FieldBuilder(0).(*array.Int32Builder).Append(int32((r*7919 + k*(wide/3)) % wide))
			s.FieldBuilder(1).(*array.Float32Builder).Append(float32(r%5 - 2))
		}
	}
	rec = array.NewRecord(arrow.NewSchema(append(rec.Schema().Fields(), arrow.Field{Name: "v", Type: pairs, Nullable: true}), nil),
		append(rec.Columns(), b.NewArray()), 3000)
	path := filepath.Join(t.TempDir(), "rows.arrow")
	var text bytes.Buffer
	w := ipc.NewWriter(&text, ipc.WithSchema(rec.Schema()))
	if err := errors.Join(w.Write(rec), w.Close(), os.WriteFile(path, text.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	l := fit.Perceptron(perceptron.Options{Options: train.Options{Epochs: 2}})
	file := dataset.Options{Label: "label", Exclude: []string{"age"}, Categorical: "onehot", Cross: []string{"town,age"}, Nulls: schema.NullsZero, Storage: dataset.Auto}
	fromFile, err := dataset.Load(t.Context(), []string{path}, file)
	want := modelBytes(t, l, fromFile, err)
	opt := records.Options{Label: "label", Exclude: []string{"age"}, Categorical: "onehot", Cross: []string{"town,age"}, Nulls: schema.NullsZero, Storage: records.Auto}
	data, err := records.Load(t.Context(), reader(t, rec, 777), opt)
	if got := modelBytes(t, l, data, err); !bytes.Equal(got, want) {
		t.Errorf("another model of the records than of the file")
	}
	for blk := range data.Blocks(t.Context()) {
		if blk.Sparse == nil {
			t.Error("a block is dense")
		}
	}
	if opt.Storage = records.Dense; err == nil {
		if _, err := records.Load(t.Context(), reader(t, rec, 777), opt); err == nil || !strings.Contains(err.Error(), "at most 262144 features") {
			t.Errorf("dense rows: error %v", err)
		}
	}
	f, err := fit.Learn(t.Context(), data, l, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row, right := 0, int64(0)
	for out, err := range records.Predict(t.Context(), f.Model, reader(t, rec, 1100), 2) {
		if err != nil {
			t.Fatal(err)
		}
		for r := range int(out.NumRows()) {
			if out.Column(0).ValueStr(r) == rec.Column(4).ValueStr(row+r) {
				right++
			}
		}
		row += int(out.NumRows())
	}
	if row != 3000 || right != 3000-*f.Model.Training.Errors {
		t.Errorf("%d rows, %d right; the training had %d errors", row, right, *f.Model.Training.Errors)
	}
}
