package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/schema"
)

// wholeFile returns the text of v as encoding/json indents it, with the checksum as the last key.
func wholeFile(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	text := strings.TrimSuffix(b.String(), "\n}\n") + ",\n"
	return text + fmt.Sprintf("  \"checksum\": \"sha256:%x\"\n}\n", sha256.Sum256([]byte(text)))
}

// numbered returns n different numbers.
func numbered(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(i) / 4
	}
	return all
}

// TestDocument: a file written piece by piece has the bytes that encoding/json makes of the whole value.
func TestDocument(t *testing.T) {
	texts := slices.Repeat([]string{"<a> & \"b\"", "", "ü\n", "\xff", "\u2028"}, pieceLength)
	long := &schema.Preprocessing{Nulls: schema.NullsMean, NullValues: []string{}}
	for i := range 2*pieceLength + 1 {
		long.Columns = append(long.Columns, schema.Column{Name: fmt.Sprint("c", i), Kind: schema.NumberColumn, Means: numbered(i % 3)})
	}
	nested := &schema.Preprocessing{Columns: []schema.Column{
		{Name: "x", Kind: schema.NumberColumn},
		{Name: "t", Kind: schema.OneHotColumn, Categories: texts, Dictionary: &schema.Dictionary{Features: []int{1}, Texts: texts}},
		{Name: "l", Kind: schema.ListColumn, Elements: 1, Of: []schema.Part{}, Center: []float64{}, Scale: numbered(pieceLength + 1)},
	}}
	threshold, seed := 0.5, uint64(7)
	for name, m := range map[string]*Model{
		"empty":      {},
		"short":      {Features: []string{"x", "y"}, Weights: [][]float64{{1, -2}}, Bias: []float64{}, Threshold: &threshold},
		"piece":      {Features: texts[:pieceLength], Weights: [][]float64{numbered(pieceLength), {}}, Bias: []float64{0}},
		"piece+1":    {Features: texts[:pieceLength+1], Weights: [][]float64{numbered(pieceLength + 1), nil}},
		"vectors":    {Weights: slices.Repeat([][]float64{{1}, {}}, pieceLength), StdErrors: numbered(3*pieceLength + 5)},
		"sparse":     {Weights: [][]float64{}, SparseWeights: []SparseVector{{}, {Features: make([]int, 5000), Weights: numbered(5000)}}},
		"columns":    {Preprocessing: long, Options: Options{Seed: &seed, Others: map[string]any{"a": []int{1}}}},
		"categories": {Preprocessing: nested, Classes: slices.Repeat([]schema.Class{schema.IntClass(1)}, 3000)},
		"state": {State: State{"z": make([]byte, pieceBytes+1), "a<\"": []byte{1, 2}, "n": make([]byte, pieceBytes)},
			Expansion: &Expansion{Support: bytes.Repeat([]byte{1, 2, 3}, pieceBytes), Coefficients: [][]byte{make([]byte, pieceBytes+2), {}}}},
	} {
		m.Positive = schema.IntClass(1)
		var b strings.Builder
		sum, err := writeWithChecksum(&b, m)
		if want := wholeFile(t, m); err != nil || b.String() != want || sum != SumBytes([]byte(want)) {
			t.Errorf("%s: error %v, %d bytes, %d from encoding/json, or another sum", name, err, b.Len(), len(want))
		}
	}
	long.Columns[0].Means = []float64{0, math.NaN()}
	if _, err := writeWithChecksum(io.Discard, &Model{Positive: schema.IntClass(1), Preprocessing: long}); err == nil {
		t.Error("a number that JSON can't hold gives no error")
	}
}

// TestDocumentMemory: writing a wide model allocates less than its file has bytes.
func TestDocumentMemory(t *testing.T) {
	m := &Model{Positive: schema.IntClass(1), Features: slices.Repeat([]string{"feature"}, 200_000), Weights: [][]float64{numbered(200_000)}}
	file := counter{w: io.Discard}
	require.Value(writeWithChecksum(&file, m))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Value(writeWithChecksum(io.Discard, m))(t)
	runtime.ReadMemStats(&after)
	if got := int64(after.TotalAlloc - before.TotalAlloc); got > file.n/4 {
		t.Errorf("writing %d bytes allocates %d", file.n, got)
	}
}

// TestTooLarge: a file of more than MaxFileBytes is an error.
func TestTooLarge(t *testing.T) {
	m := &Model{Positive: schema.IntClass(1), Features: slices.Repeat([]string{strings.Repeat("x", 1<<10)}, 257<<10)}
	if _, err := writeWithChecksum(io.Discard, m); err != errTooLarge {
		t.Errorf("a file of 257 MiB: error %v", err)
	}
}
