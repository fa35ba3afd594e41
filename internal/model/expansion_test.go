package model

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/require"
	"halfspace/schema"
)

// expanded is a model of the rows (3,3)+ and (1,1)- of textbook with coefficients 2 and -5, and their votes.
func expanded() *Model {
	m := New(textbook().Spec(), nil)
	m.Algorithm, m.Bias = "kernel-perceptron", []float64{-3}
	m.Expansion = &Expansion{
		Kernel: gram.Kernel{Kind: "poly", Degree: 2, Gamma: 0.5, Coef0: 1}, Rows: []int64{0, 2}, Support: Pack([]float32{3, 3, 1, 1}),
		Coefficients: [][]byte{Pack([]float32{2, -5})},
		Votes:        []Votes{{Pack([]uint32{0, 1, 1}), Pack([]int64{2, 1, 7})}},
	}
	m.Training.MisclassifiedRows = []MisclassifiedRow{{2, 5}, {0, 2}}
	return m
}

func TestExpansion(t *testing.T) {
	m := expanded()
	text := encode(t, m)
	for _, want := range []string{`"weights": []`, `"support": "AABAQAAAQEAAAIA/AACAPw=="`, `"kind": "poly"`, `"survived": "AgAAAAAAAAABAAAAAAAAAAcAAAAAAAAA"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	got := again(t, m)
	if !reflect.DeepEqual(got.Expansion, m.Expansion) || !reflect.DeepEqual(got.Training, m.Training) {
		t.Errorf("read %+v, wrote %+v", got.Expansion, m.Expansion)
	}
	if !slices.Equal(Unpack[float32](got.Expansion.Coefficients[0]), []float32{2, -5}) {
		t.Errorf("coefficients are %v", Unpack[float32](got.Expansion.Coefficients[0]))
	}
}

// TestExpansionRejects: whatever is wrong with an expansion is told, and nothing panics.
func TestExpansionRejects(t *testing.T) {
	for want, spoil := range map[string]func(*Model, *Expansion){
		"has weights and an expansion":    func(m *Model, _ *Expansion) { m.Voters = NewVoters([]float32{1, 1}, []int64{1}, 2) },
		"weights and an expansion":        func(m *Model, _ *Expansion) { m.Weights = [][]float64{{1, 1}} },
		`kernel is "spline"`:              func(_ *Model, e *Expansion) { e.Kernel.Kind = "spline" },
		"degree 0":                        func(_ *Model, e *Expansion) { e.Kernel.Degree = 0 },
		"gamma -1":                        func(_ *Model, e *Expansion) { e.Kernel.Gamma = -1 },
		"coef0 NaN":                       func(_ *Model, e *Expansion) { e.Kernel.Coef0 = math.NaN() },
		"no rows":                         func(_ *Model, e *Expansion) { e.Rows = nil },
		"row 0 of the expansion":          func(_ *Model, e *Expansion) { e.Rows[1] = 0 },
		"row -1 of the expansion":         func(_ *Model, e *Expansion) { e.Rows[0] = -1 },
		"support has 15 bytes":            func(_ *Model, e *Expansion) { e.Support = e.Support[:15] },
		"support has 8 bytes":             func(_ *Model, e *Expansion) { e.Support = e.Support[:8] },
		"coefficients are for 2 vectors":  func(_ *Model, e *Expansion) { e.Coefficients = append(e.Coefficients, e.Coefficients[0]) },
		"votes for 2":                     func(_ *Model, e *Expansion) { e.Votes = append(e.Votes, e.Votes[0]) },
		"coefficients have 4 bytes":       func(_ *Model, e *Expansion) { e.Coefficients[0] = e.Coefficients[0][:4] },
		"coefficients have 16 bytes":      func(_ *Model, e *Expansion) { e.Coefficients[0] = e.Support },
		"isn't finite":                    func(_ *Model, e *Expansion) { e.Support = Pack([]float32{1, 2, 3, float32(math.Inf(1))}) },
		"expansion holds a number":        func(_ *Model, e *Expansion) { e.Coefficients[0] = Pack([]float32{1, float32(math.NaN())}) },
		"votes have 0 bytes":              func(_ *Model, e *Expansion) { e.Votes[0] = Votes{} },
		"and 16 for the visits survived":  func(_ *Model, e *Expansion) { e.Votes[0].Survived = e.Votes[0].Survived[:16] },
		"row 2 of 2":                      func(_ *Model, e *Expansion) { e.Votes[0].Mistakes = Pack([]uint32{0, 1, 2}) },
		"0 visits survived":               func(_ *Model, e *Expansion) { e.Votes[0].Survived = Pack([]int64{2, 0, 7}) },
		"9223372036854775807 visits":      func(_ *Model, e *Expansion) { e.Votes[0].Survived = Pack([]int64{2, math.MaxInt64, 7}) },
		"steps have 4 bytes":              func(_ *Model, e *Expansion) { e.Steps = Pack([]float32{1}) },
		"for 2 rows and 0 votes":          func(_ *Model, e *Expansion) { e.Steps, e.Votes = Pack([]float32{1, 2}), nil },
		"isn't above 0":                   func(_ *Model, e *Expansion) { e.Steps = Pack([]float32{1, 0}) },
		"number that isn't finite":        func(_ *Model, e *Expansion) { e.Steps = Pack([]float32{1, float32(math.Inf(1))}) },
		"bias has 0 numbers":              func(m *Model, _ *Expansion) { m.Bias = nil },
		"1 vectors, votes for 1: 3 class": func(m *Model, _ *Expansion) { m.Classes = append(m.Classes, schema.IntClass(2)) },
	} {
		m := expanded()
		spoil(m, m.Expansion)
		require.Error(t, m.Check(), want)
	}
}
