package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/schema"
)

// wide returns a model of two or more classes with that many features, of which each step-th has a weight.
func wide(features, classes, step int) *Model {
	m := textbook()
	m.Features, m.Weights, m.Bias = make([]string, features), nil, make([]float64, 1)
	for i := range m.Features {
		m.Features[i] = fmt.Sprint("f", i+1)
	}
	if classes > 2 {
		m.Classes, m.Options.Multiclass, m.Bias = nil, OneVersusRest, make([]float64, classes)
		for c := range classes {
			m.Classes = append(m.Classes, schema.IntClass(int64(c)))
		}
		m.Positive = m.Classes[classes-1]
	}
	for range m.vectors() {
		row := make([]float64, features)
		for i := 0; i < features; i += step {
			row[i] = float64(i%7) - 2.5
		}
		row[1] = math.Copysign(0, -1)
		m.Weights = append(m.Weights, row)
	}
	return m
}

// TestSparseWeights: the file of a wide model has the weights that aren't 0, and gives them all back. Files of narrow models, and
// of models with many weights, have all of them.
func TestSparseWeights(t *testing.T) {
	for i, c := range []struct {
		features, classes, step int
		sparse                  bool
	}{{mostDenseFeatures, 2, 50, false}, {mostDenseFeatures + 1, 2, 50, true}, {mostDenseFeatures + 1, 3, 50, true}, {mostDenseFeatures + 1, 2, 1, false}, {schema.MaxFeatures + 5, 2, 9, true}} {
		if require.Small() && i == 4 {
			break // TestUnnamedFeatures has a wider model
		}
		m := wide(c.features, c.classes, c.step)
		file := encode(t, m)
		if is := bytes.Contains(file, []byte(`"sparse_weights"`)); is != c.sparse {
			t.Errorf("%v: sparse weights %t", c, is)
		}
		back, err := Read(bytes.NewReader(file))
		require.NoError(t, err)
		if !reflect.DeepEqual(back.Weights, m.Weights) || !math.Signbit(back.Weights[0][1]) || back.SparseWeights != nil {
			t.Errorf("%v: other weights came back", c)
		}
	}
	m := wide(schema.MaxNamed+1, 2, 9)
	require.Error(t, m.Check(), "1048577 features, and a row has at most 1048576")
}

// TestUnnamedFeatures: the file of a model of more features than are listed names none, and gives the model back. One of fewer features
// without their names is damage.
func TestUnnamedFeatures(t *testing.T) {
	m := textbook()
	m.Features, m.Weights = nil, [][]float64{make([]float64, schema.MaxNamed+1)}
	m.Preprocessing = &schema.Preprocessing{Nulls: schema.NullsError, Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: schema.MaxNamed + 1}}}
	m.Weights[0][7], m.Weights[0][schema.MaxNamed] = -0.25, 3
	file := encode(t, m)
	if len(file) > 4<<10 {
		t.Errorf("a file of %d bytes for 2 weights", len(file))
	}
	back := again(t, m)
	if !reflect.DeepEqual(back.Weights, m.Weights) || back.Spec().Cols() != schema.MaxNamed+2 || back.FeatureName(7) != "f8" {
		t.Errorf("%d columns, feature %s", back.Spec().Cols(), back.FeatureName(7))
	}
	if !bytes.Equal(encode(t, back), file) {
		t.Error("another file of the model that was read")
	}
	m.Preprocessing.Columns[0].Elements--
	require.Error(t, m.Check(), "no features")
}

// TestWrongSparseWeights: weights of features that don't ascend, or aren't there, are damage.
func TestWrongSparseWeights(t *testing.T) {
	for want, spoil := range map[string]func(m *Model){
		"feature 3 after 3":        func(m *Model) { m.SparseWeights[0].Features[1] = 3; m.SparseWeights[0].Features[0] = 3 },
		"feature -1 after -1":      func(m *Model) { m.SparseWeights[0].Features[0] = -1 },
		"feature 4097 after":       func(m *Model) { m.SparseWeights[0].Features[80] = 4097 },
		"weights for":              func(m *Model) { m.SparseWeights[0].Weights = m.SparseWeights[0].Weights[1:] },
		"2 in sparse_weights":      func(m *Model) { m.SparseWeights = append(m.SparseWeights, m.SparseWeights[0]) },
		"1 vectors in weights and": func(m *Model) { m.Weights = [][]float64{{1}} },
		"which no float32 equals":  func(m *Model) { m.SparseWeights[0].Weights[5] = 0.1 },
	} {
		m := wide(mostDenseFeatures+1, 2, 50).Compact()
		spoil(m)
		err := m.expand(0)
		if err == nil {
			err = m.Check()
		}
		if require.Error(t, err, want); errors.Is(err, ErrNoModel) {
			t.Errorf("error %v", err)
		}
	}
}

// TestLittleMemory: a small file that asks for many weights is refused, before they are allocated, where they take more than half of the
// memory.
func TestLittleMemory(t *testing.T) {
	const features = 1 << 23
	m := textbook()
	m.Features, m.Weights = nil, [][]float64{make([]float64, features)}
	m.Preprocessing = &schema.Preprocessing{Nulls: schema.NullsError, Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: features}}}
	m.Weights[0][7] = 3
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, encode(t, m), 0o600))
	m = nil
	var err error
	took := allocated(func() { _, err = LoadWithin(path, 2*8*features-1) })
	const want = ": too little memory for 8,388,608 weights, 64 MiB: they may take half of 128 MiB, so give it more, or train on fewer features"
	if !errors.Is(err, ErrMemory) || errors.Is(err, ErrDamaged) || err.Error() != path+want {
		t.Errorf("error %v", err)
	}
	if took > 1<<20 {
		t.Errorf("it allocated %d bytes before", took)
	}
	if _, err := LoadWithin(path, 2*8*features); err != nil {
		t.Error(err)
	}
}

// TestReadMemory: a file is refused before it is read if its text takes more than the memory, and before it is decoded if the text and
// its values do. An ErrMemory says how much.
func TestReadMemory(t *testing.T) {
	weights := func(part string, times int) string {
		return sign(strings.Replace(small, "[[1, 2]]", "["+strings.Repeat(part, times)+"[1, 2]]", 1))
	}
	texts := `"others": {"x": [` + strings.Repeat(`"x",`, 100_000) + `1]}`
	path := filepath.Join(t.TempDir(), "m.json")
	for _, c := range []struct {
		name, text string
		memory     int64
		want       string
		most       int64 // bytes that may be allocated
	}{
		{"text", "{" + strings.Repeat(" ", 17<<20), 1, "its text has more than 16 MiB, the limit: give it more", 1 << 20},
		{"lists", weights("[],", 400_000), 16 << 20, "reading its 1.145 MiB of text takes ", 4 << 20},
		{"numbers", weights("[0.5,0.25,1.5,7],", 400_000), 32 << 20, "reading its 6.485 MiB of text takes ", 16 << 20},
		{"texts of any type", sign(strings.Replace(small, `"label"`, `"options": {`+texts+`}, "label"`, 1)), 16 << 20, "reading its 390.9 KiB of text takes ", 4 << 20},
		{"no model", "x" + strings.Repeat(" ", 17<<20), 1, "it doesn't start as a JSON object", 1 << 20},
		{"damaged", weights("[],", 400_000), 1 << 30, "weights has 400001 rows", 1 << 30},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		var err error
		took := allocated(func() { _, err = LoadWithin(path, c.memory) })
		if require.Error(t, err, c.want); errors.Is(err, ErrMemory) != (c.name != "no model" && c.name != "damaged") {
			t.Errorf("%s: error %v", c.name, err)
		}
		if int64(took) > c.most {
			t.Errorf("%s: it allocated %d bytes", c.name, took)
		}
	}
	require.Value(Read(strings.NewReader(sign(small))))(t)
}
