package records_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
	"halfspace/dataset/records"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/schema"
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
	r := require.Value(array.NewRecordReader(rec.Schema(), all))(t)
	return r
}

// modelBytes returns the file of the model that a learner learns from rows.
func modelBytes(t *testing.T, l train.Learner, data block.Source, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	f := require.Value(train.Run(t.Context(), data, l, train.Options{}))(t)
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
	w := require.Value(dataset.Create(context.Background(), path, rec.Schema(), dataset.WriterOptions{}))(t)
	require.NoError(t, errors.Join(w.Write(rec), w.Close()))
	for _, c := range []struct {
		file   dataset.Options
		memory records.Options
		l      train.Learner
	}{
		{dataset.Options{Label: "label", Exclude: []string{"age"}}, records.Options{Label: "label", Exclude: []string{"age"}, Workers: 3},
			perceptron.New(perceptron.Options{Epochs: 3})},
		{dataset.Options{Label: "label", Nulls: schema.NullsMean, Categorical: "onehot", Standardize: true, SampleWeight: "weight"},
			records.Options{Label: "label", Nulls: schema.NullsMean, Categorical: "onehot", Standardize: true, SampleWeight: "weight"},
			logistic.New(logistic.Options{L2: 1})},
		{dataset.Options{Label: "label", Nulls: schema.NullsDrop, Categorical: "hash:3", HashTexts: true, Positive: "maybe", NoBias: true},
			records.Options{Label: "label", Nulls: schema.NullsDrop, Categorical: "hash:3", HashTexts: true, Positive: "maybe", NoBias: true},
			logistic.New(logistic.Options{L2: 1})},
		{dataset.Options{Label: "label", Nulls: schema.NullsZero, Categorical: "onehot", Cross: []string{"town,age"}, Storage: dataset.Sparse},
			records.Options{Label: "label", Nulls: schema.NullsZero, Categorical: "onehot", Cross: []string{"town,age"}, Storage: records.Sparse},
			perceptron.New(perceptron.Options{Epochs: 2})},
	} {
		fromFile, err := dataset.Load(t.Context(), path, c.file)
		want := modelBytes(t, c.l, fromFile, err)
		data, err := records.Load(t.Context(), reader(t, rec, 777), c.memory)
		if got := modelBytes(t, c.l, data, err); !bytes.Equal(got, want) {
			t.Errorf("%+v: the model of the records is %s, that of the file %s", c.memory, got, want)
		}
		source, err := records.Stream(t.Context(), func(context.Context) (array.RecordReader, error) { return reader(t, rec, 777), nil }, c.memory)
		if got := modelBytes(t, c.l, source, err); !bytes.Equal(got, want) {
			t.Errorf("%+v: the model of the stream is %s, that of the file %s", c.memory, got, want)
		}
	}
}

// TestStreamErrors: a pass that reads other records than the first pass is an error, and a reader that can't be opened too.
func TestStreamErrors(t *testing.T) {
	rec, gone := table(3000), errors.New("gone")
	for _, c := range []struct {
		name, want string
		then       func() (array.RecordReader, error)
	}{
		{"more rows", "the data changed while it was read", func() (array.RecordReader, error) { return reader(t, table(3001), 777), nil }},
		{"fewer rows", "the data changed while it was read", func() (array.RecordReader, error) { return reader(t, table(2999), 777), nil }},
		{"another schema", "another schema", func() (array.RecordReader, error) {
			few := array.NewRecord(arrow.NewSchema(rec.Schema().Fields()[:1], nil), rec.Columns()[:1], rec.NumRows())
			return reader(t, few, 777), nil
		}},
		{"gone", "can't be opened (gone)", func() (array.RecordReader, error) { return nil, gone }},
		{"nil", "the reader of records is nil", func() (array.RecordReader, error) { return nil, nil }},
	} {
		then := func() (array.RecordReader, error) { return reader(t, rec, 777), nil }
		source := require.Value(records.Stream(t.Context(), func(context.Context) (array.RecordReader, error) { return then() },
			records.Options{Label: "label", Nulls: schema.NullsZero}))(t)
		then = c.then
		var failed error
		for _, err := range source.Blocks(t.Context()) {
			failed = err
		}
		if failed == nil || !strings.Contains(failed.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, failed, c.want)
		}
	}
}

// learned returns a model of rows.
func learned(t *testing.T, rec arrow.Record, opt records.Options) *model.Model {
	t.Helper()
	data := require.Value(records.Load(t.Context(), reader(t, rec, 1000), opt))(t)
	f := require.Value(train.Run(t.Context(), data, logistic.New(logistic.Options{L2: 1}), train.Options{}))(t)
	return f.Model
}

// TestPredict: predictions are those of the evaluation of the same rows, in records of the same lengths. Rows that the
// training would have dropped get nulls. A model may have more features than a dense row.
func TestPredict(t *testing.T) {
	lists := "["
	for r := range 3000 {
		lists += fmt.Sprintf(`[{"index": %d, "value": %d}], `, r*7919%(schema.MaxFeatures+1000), r%5-2)
	}
	pairs := arrow.ListOf(arrow.StructOf(arrow.Field{Name: "index", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "value", Type: arrow.PrimitiveTypes.Float32}))
	v, _, err := array.FromJSON(memory.DefaultAllocator, pairs, strings.NewReader(lists[:len(lists)-2]+"]"))
	require.NoError(t, err)
	rec := table(3000)
	rec = array.NewRecord(arrow.NewSchema(append(rec.Schema().Fields(), arrow.Field{Name: "v", Type: pairs}), nil), append(rec.Columns(), v), 3000)
	wide := records.Options{Label: "label", Nulls: schema.NullsZero, Categorical: "onehot", Storage: records.Auto}
	for _, opt := range []records.Options{{Label: "label", Exclude: []string{"v"}, Nulls: schema.NullsDrop, Categorical: "onehot", Standardize: true}, wide} {
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
		dropped := 0
		if opt.Nulls == schema.NullsDrop {
			dropped = rec.Column(0).NullN()
		}
		if kept := int64(row - nulls); row != 3000 || nulls != dropped || kept-right != *m.Training.Errors {
			t.Errorf("%+v: %d rows, %d nulls, %d right of %d; the training had %d errors", opt, row, nulls, right, kept, *m.Training.Errors)
		}
	}
	wide.Storage = records.Dense
	if _, err := records.Load(t.Context(), reader(t, rec, 777), wide); err == nil || !strings.Contains(err.Error(), "at most 262144 features") {
		t.Errorf("dense rows: error %v", err)
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
