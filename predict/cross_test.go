package predict

import (
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"halfspace/internal/model"
	"halfspace/schema"
)

// TestAppendCross: the value of a cross is a list of the values of its columns, hashed together.
func TestAppendCross(t *testing.T) {
	const bits = 20
	known, seven := schema.Cross("Oslo", "7"), int(xxh3.HashString("Oslo\xff7")%(1<<bits))
	cross := schema.Column{Name: "city*n", Kind: schema.CrossColumn, HashBits: bits, Of: []schema.Part{{Name: "city"}, {Name: "n", Values: "number"}},
		Buckets: []int{seven - 1, seven}}
	if got := cross.Feature(known); got != 1 {
		t.Fatalf("%q is feature %d", known, got)
	}
	spec := &schema.Spec{Features: cross.Names(), Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)},
		Preprocessing: &schema.Preprocessing{Nulls: schema.NullsZero, Columns: []schema.Column{cross}}}
	m := model.New(spec, []float32{1, 2})
	p, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value any
		want  []float64
		err   string
	}{
		{[]any{"Oslo", 7}, []float64{0, 1}, ""},
		{[]any{"Oslo", 7.0}, []float64{0, 1}, ""},
		{[]any{"Rome", 7}, []float64{0, 0}, ""},
		{[]any{"Oslo"}, nil, `column "city*n": a value of the type []interface {}, and the cross takes []any with a value for each of its 2 columns`},
		{[]any{7, 7}, nil, `column "city*n": "city": a value of the type int, and the column has categories of the type string`},
		{"Oslo", nil, `column "city*n": a value of the type string, and the cross takes []any`},
	} {
		row, err := p.AppendRow(nil, c.value)
		if c.err == "" && (err != nil || !slices.Equal(row, c.want)) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: %v, error %v", c.value, row, err)
		}
	}
	for _, missing := range []any{nil, []any{nil, 7}} {
		if row, err := p.AppendRow(nil, missing); err != nil || row[0] == row[0] || row[1] != 0 {
			t.Errorf("%v: %v, error %v", missing, row, err)
		}
	}
}
