package dataset

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/schema"
)

// TestLongLists: a list longer than a row may be is refused in Arrow files, also where nothing is made a feature: a few bytes
// can stand for any number of elements.
func TestLongLists(t *testing.T) {
	const long = schema.MaxFeatures + 1
	bit, numbers := arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8
	for _, c := range []struct {
		typ  arrow.DataType
		want string
	}{
		{arrow.FixedSizeListOf(1<<28, numbers), `column "x" is lists of 268435456 elements (a row has at most 262144 features)`},
		{arrow.FixedSizeListOf(long, bit), `column "x" is lists of 262145 elements (a row has at most 262144 features)`},
		{arrow.FixedSizeListOf(long-1, bit), ""},
		{arrow.ListOf(numbers), `column "x" has a list of 262145 elements, and a row has at most 262144 features`},
		{arrow.LargeListOf(numbers), `column "x" has a list of 262145 elements, and a row has at most 262144 features`},
	} {
		b := array.NewBuilder(memory.DefaultAllocator, c.typ)
		defer b.Release()
		switch b := b.(type) {
		case *array.FixedSizeListBuilder:
			if n := c.typ.(*arrow.FixedSizeListType).Len(); n <= long {
				b.Append(true)
				b.ValueBuilder().(*array.BooleanBuilder).AppendValues(make([]bool, n), nil)
			}
		case array.ListLikeBuilder:
			b.Append(true)
			b.ValueBuilder().(*array.Int8Builder).AppendValues(make([]int8, long), nil)
		}
		x := b.NewArray()
		defer x.Release()
		rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.typ}}, nil), []arrow.Array{x}, int64(x.Len()))
		defer rec.Release()
		var file bytes.Buffer
		w := ipc.NewWriter(&file, ipc.WithSchema(rec.Schema()))
		if err := errors.Join(w.Write(rec), w.Close()); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "a.arrow")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Convert(context.Background(), []string{path}, filepath.Join(t.TempDir(), "b.arrow"), Options{}, WriterOptions{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.typ, err, c.want)
		}
	}
}

// TestLongListError: a list of a record that is too long has an error that says what to do.
func TestLongListError(t *testing.T) {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8)
	defer b.Release()
	b.Append(true)
	b.ValueBuilder().(*array.Int8Builder).AppendValues(make([]int8, schema.MaxFeatures+1), nil)
	list := b.NewArray()
	defer list.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: list.DataType()}}, nil), []arrow.Array{list}, 1)
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "a.arrow")
	if err := os.WriteFile(path, arrowBytes(t, rec), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(context.Background(), []string{path}, Options{})
	if want := path + `: column "x" has a list of 262145 elements, and a row has at most 262144 features: leave the column out`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
