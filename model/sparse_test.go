package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"halfspace/schema"
)

// wide returns a model of two or more classes with that many features, of which each step-th has a weight.
func wide(features, classes, step int) *Model {
	m := textbook()
	m.Features, m.Weights, m.Bias = make([]string, features), nil, make([]float64, max(1, classes-classes%2))
	for i := range m.Features {
		m.Features[i] = fmt.Sprint("f", i+1)
	}
	m.Bias = m.Bias[:1]
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
	for _, c := range []struct {
		features, classes, step int
		sparse                  bool
	}{{wideModel, 2, 50, false}, {wideModel + 1, 2, 50, true}, {wideModel + 1, 3, 50, true}, {wideModel + 1, 2, 1, false}, {schema.MaxFeatures + 5, 2, 9, true}} {
		m := wide(c.features, c.classes, c.step)
		var file bytes.Buffer
		if _, err := m.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		if is := strings.Contains(file.String(), "\"sparse_weights\""); is != c.sparse {
			t.Errorf("%v: sparse weights %t", c, is)
		}
		back, err := Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back.Weights, m.Weights) || !math.Signbit(back.Weights[0][1]) || back.SparseWeights != nil {
			t.Errorf("%v: other weights came back", c)
		}
	}
	m := wide(schema.MaxNamed+1, 2, 9)
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "1048577 features, and a row has at most 1048576") {
		t.Errorf("error %v", err)
	}
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
	back, err := Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Weights, m.Weights) || back.Spec().Cols() != schema.MaxNamed+2 || back.FeatureName(7) != "f8" {
		t.Errorf("%d columns, feature %s", back.Spec().Cols(), back.FeatureName(7))
	}
	if again := encode(t, back); !bytes.Equal(again, file) {
		t.Error("another file of the model that was read")
	}
	m.Preprocessing.Columns[0].Elements--
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "no features") {
		t.Errorf("error %v", err)
	}
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
		m := wide(wideModel+1, 2, 50).Compact()
		spoil(m)
		err := m.expand(0)
		if err == nil {
			err = m.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrNoModel) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestLittleMemory: a small file that asks for many weights is refused, before they are allocated, where they take more than half of the
// memory.
func TestLittleMemory(t *testing.T) {
	const features = schema.MaxNumbered
	m := textbook()
	m.Features, m.Weights = nil, [][]float64{make([]float64, features)}
	m.Preprocessing = &schema.Preprocessing{Nulls: schema.NullsError, Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: features}}}
	m.Weights[0][7] = 3
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path, encode(t, m), 0o600); err != nil {
		t.Fatal(err)
	}
	m = nil
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := LoadWithin(path, 2*8*features-1)
	runtime.ReadMemStats(&after)
	const want = ": too little memory for 16,777,216 weights, 128 MiB: they may take half of 256 MiB, so give it more, or train on fewer features"
	if !errors.Is(err, ErrMemory) || errors.Is(err, ErrDamaged) || err.Error() != path+want {
		t.Errorf("error %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("it allocated %d bytes before", took)
	}
	if _, err := LoadWithin(path, 2*8*features); err != nil {
		t.Error(err)
	}
}
