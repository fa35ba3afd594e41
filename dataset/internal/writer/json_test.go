package writer

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/require"
)

// TestJSON: each line is an object of encoding/json with the values of its row.
func TestJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	schema := arrow.NewSchema([]arrow.Field{{Name: "a \"\\\n", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	var want []map[string]any
	for range 500 {
		text := make([]rune, r.IntN(6))
		for i := range text {
			text[i] = []rune("\"\\/\n\t\r\x00\x1f\x7fä€😀 xnull")[r.IntN(18)]
		}
		row := map[string]any{"a \"\\\n": string(text), "x": r.NormFloat64() * 1e10, "n": float64(r.IntN(1000)), "b": r.IntN(2) == 0}
		if r.IntN(5) == 0 {
			row["a \"\\\n"] = nil
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(string(text))
		}
		b.Field(1).(*array.Float64Builder).Append(row["x"].(float64))
		b.Field(2).(*array.Int64Builder).Append(int64(row["n"].(float64)))
		b.Field(3).(*array.BooleanBuilder).Append(row["b"].(bool))
		want = append(want, row)
	}
	var out bytes.Buffer
	e := require.Value(NewJSON(&out, schema, 2))(t)
	require.NoError(t, e.Write(b.NewRecord()))
	require.NoError(t, e.Finish())
	lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), []byte{'\n'})
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d", len(lines), len(want))
	}
	for i, line := range lines {
		var got map[string]any
		require.NoError(t, json.Unmarshal(line, &got))
		for name, v := range want[i] {
			if got[name] != v || len(got) != len(want[i]) {
				t.Fatalf("line %d: %s, want %v", i+1, line, want[i])
			}
		}
	}
}
