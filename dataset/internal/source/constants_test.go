package source

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// TestConstants: the values of a partition in all paths decide on its type, and a file whose folders don't name it has nulls.
func TestConstants(t *testing.T) {
	p := ConstantsOf([]string{"/data/a=1/b=x/c=2026-01-02/d=1.5/e=007/f.parquet", "/data/a=-20/b=y%20z/d=2/e=8/f=no.parquet"})
	want := map[string]arrow.DataType{"a": arrow.PrimitiveTypes.Int64, "b": arrow.BinaryTypes.String, "c": arrow.PrimitiveTypes.Date32, "d": arrow.PrimitiveTypes.Float64, "e": arrow.BinaryTypes.String}
	for k, c := range p.Columns {
		if !arrow.TypeEqual(c.Type, want[c.Name]) {
			t.Errorf("%s is %v, want %v", c.Name, c.Type, want[c.Name])
		}
		delete(want, c.Name)
		if a := p.Array(k, "/data/a=-20/b=y%20z/d=2/e=8/f=no.parquet", 2); a.Len() != 2 || a.ValueStr(1) != map[string]string{"a": "-20", "b": "y z", "c": "(null)", "d": "2", "e": "8"}[c.Name] {
			t.Errorf("%s has the values %v", c.Name, a)
		}
	}
	if len(want) > 0 || ConstantsOf([]string{"/a/b.parquet", "x=1.csv"}) != nil {
		t.Errorf("left out: %v", want)
	}
}
