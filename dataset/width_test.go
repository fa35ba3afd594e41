package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// numbered returns prefix0, prefix1 and so on, n of them, with commas between.
func numbered(prefix string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(prefix, i)
	}
	return strings.Join(names, ",")
}

// listRecord returns two rows: a list of n numbers each, of that type, and a label.
func listRecord(typ arrow.DataType, n int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	lists, _ := b.Field(0).(array.ListLikeBuilder)
	for y := range 2 {
		lists.Append(true)
		lists.ValueBuilder().(*array.Float32Builder).AppendValues(make([]float32, n), nil)
		b.Field(1).(*array.Float64Builder).Append(float64(y))
	}
	return b.NewRecord()
}

// TestWidth: every reader takes rows of schema.MaxFeatures features, and no wider ones.
func TestWidth(t *testing.T) {
	const most = schema.MaxFeatures
	dir := t.TempDir()
	csv := func(features int) string {
		return textFile(t, "a.csv", numbered("x", features)+",y\n"+strings.Repeat("1,", features)+"0\n"+strings.Repeat("2,", features)+"1\n")
	}
	svmlight := func(last int) string { return textFile(t, "a.svm", fmt.Sprintf("0 1:1 %d:1\n1 1:2\n", last)) }
	texts := func(columns, rows int) string {
		var text strings.Builder
		text.WriteString(numbered("x", columns) + ",y\n")
		for r := range rows {
			fmt.Fprintf(&text, "%s%d\n", strings.Repeat(fmt.Sprintf("a%d,", r), columns), r%2)
		}
		return textFile(t, "text.csv", text.String())
	}
	list, fixed := arrow.ListOf(arrow.PrimitiveTypes.Float32), func(n int) arrow.DataType {
		return arrow.FixedSizeListOf(int32(n), arrow.PrimitiveTypes.Float32)
	}
	written := func(name string, typ arrow.DataType, n int) string {
		rec := listRecord(typ, n)
		defer rec.Release()
		path := filepath.Join(dir, name)
		w, err := Create(path, rec.Schema(), WriterOptions{})
		if err == nil {
			err = w.Write(rec)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path, categorical string
		features          int // where they fit
	}{
		"CSV":                   {csv(most), "", most},
		"wide CSV":              {csv(most + 1), "", 0},
		"wider CSV":             {csv(most + 9), "", 0},
		"svmlight":              {svmlight(most), "", most},
		"wide svmlight":         {svmlight(most + 1), "", 0},
		"svmlight from 0":       {textFile(t, "zero.svm", fmt.Sprintf("0 0:1\n1 %d:1\n", most-1)), "", most},
		"wide svmlight from 0":  {textFile(t, "zero.svm", fmt.Sprintf("0 0:1\n1 %d:1\n", most)), "", 0},
		"hashed text":           {texts(most>>schema.MaxAllBuckets, 2), fmt.Sprint("hash:", schema.MaxAllBuckets), most},
		"wide hashed text":      {texts(most>>schema.MaxAllBuckets+1, 2), fmt.Sprint("hash:", schema.MaxAllBuckets), 0},
		"one-hot text":          {texts(200, 900), "onehot", 180_000},
		"wide one-hot text":     {texts(300, 900), "onehot", 0},
		"Arrow lists":           {written("l.arrow", list, most), "", most},
		"wide Arrow lists":      {written("wl.arrow", list, most+1), "", 0},
		"Arrow fixed lists":     {written("f.arrow", fixed(most), most), "", most},
		"wide Arrow fixed list": {written("wf.arrow", fixed(most+1), most+1), "", 0},
		"Parquet lists":         {written("l.parquet", list, most), "", most},
		"wide Parquet lists":    {written("wl.parquet", list, most+1), "", 0},
	} {
		label := "y"
		if strings.HasSuffix(c.path, ".svm") {
			label = frame.SvmlightLabel
		}
		in, err := Open(context.Background(), []string{c.path}, Options{Label: label, Categorical: c.categorical, Workers: 1})
		switch {
		case c.features > 0 && err != nil:
			t.Errorf("%s: error %v", name, err)
		case c.features > 0 && in.Cols() != c.features+1:
			t.Errorf("%s: %d columns, not %d", name, in.Cols(), c.features+1)
		case c.features == 0 && (err == nil || !strings.HasPrefix(err.Error(), c.path) || !strings.Contains(err.Error(), "at most 262144 features")):
			t.Errorf("%s: error %v", name, err)
		}
	}
}
