package source

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
)

// TestConstants: the values of a column in all paths decide on its type, and a file whose folders don't name it has
// nulls. A zero before a number makes text of all values.
func TestConstants(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		texts [2]string
		want  arrow.DataType
	}{
		{[2]string{"1", "-20"}, p.Int64}, {[2]string{"1", Null}, p.Int64}, {[2]string{"0", "9223372036854775807"}, p.Int64},
		{[2]string{"1.5", "2"}, p.Float64}, {[2]string{"-0.5", "9223372036854775808"}, p.Float64},
		{[2]string{"2026-01-02", "2026-12-31"}, p.Date32},
		{[2]string{"x", "y%20z"}, arrow.BinaryTypes.String}, {[2]string{"2026-01-02", "1"}, arrow.BinaryTypes.String},
		{[2]string{"01001", "10001"}, arrow.BinaryTypes.String}, {[2]string{"007", "8"}, arrow.BinaryTypes.String}, {[2]string{"01.5", "2"}, arrow.BinaryTypes.String},
		{[2]string{"1e5", "2"}, arrow.BinaryTypes.String}, {[2]string{"+1", "2"}, arrow.BinaryTypes.String}, {[2]string{"nan", "2"}, arrow.BinaryTypes.String},
		{[2]string{"", "2"}, arrow.BinaryTypes.String}, {[2]string{"2026-02-30", "2026-01-01"}, arrow.BinaryTypes.String},
	} {
		paths := []string{"/d/k=" + c.texts[0] + "/a=1/f.csv", "/d/k=" + c.texts[1] + "/f.csv"}
		files := ConstantsOf(paths).Columns()
		for i, cols := range files {
			if len(cols) != 2 || cols[0].Name != "k" || cols[1].Name != "a" || !arrow.TypeEqual(cols[0].Type, c.want) {
				t.Errorf("%q: columns %v, want %v", c.texts, cols, c.want)
				continue
			}
			b := &column.Batch{Rows: 3, Columns: make([]arrow.Array, 2)}
			if err := b.Complete(cols, cols); err != nil {
				t.Error(err)
			}
			want := map[string]string{Null: "(null)", "y%20z": "y z"}[c.texts[i]]
			if want == "" {
				want = c.texts[i]
			}
			if got, other := b.Columns[0], b.Columns[1]; got.Len() != 3 || got.ValueStr(2) != want && c.want != p.Float64 || other.ValueStr(2) != fmt.Sprint([]any{1, "(null)"}[i]) {
				t.Errorf("%q: file %d has %v and %v", c.texts, i, got, other)
			}
		}
	}
	if c := ConstantsOf([]string{"/a/b.parquet", "x=1.csv", "=1/c.csv"}); c.Columns() != nil || len(c.Names) > 0 {
		t.Errorf("columns %v of paths that name none", c)
	}
}
