package model

import (
	"io"
	"math"
	"reflect"
	"testing"

	"halfspace/internal/require"
	"halfspace/schema"
)

// TestCalibration: a calibration comes back from the file as it was, and a wrong one is no model.
func TestCalibration(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a"}, Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	platt := func(a, b float64) Calibration {
		return Calibration{Method: Platt, Folds: 5, Classes: []Mapping{{A: a, B: b}}}
	}
	steps := func(scores, p []float64) Calibration {
		return Calibration{Method: Isotonic, Folds: 5, Classes: []Mapping{{Scores: scores, Probabilities: p}}}
	}
	for _, c := range []struct {
		calibration Calibration
		algorithm   string
		want        string // of the error; "" for none
	}{
		{platt(-1.5, 0), "svm", ""},
		{platt(0, 0.1), "svm", ""},
		{steps([]float64{-1, 2.5, 3}, []float64{0, 0.25, 1}), "averaged", ""},
		{steps([]float64{7}, []float64{0.5}), "averaged", ""},
		{platt(1, 2), "logistic", "logarithms of odds"},
		{platt(math.NaN(), 2), "svm", "isn't finite"},
		{platt(1, math.Inf(1)), "svm", "isn't finite"},
		{steps(nil, nil), "svm", "0 scores"},
		{steps([]float64{1, 2}, []float64{1}), "svm", "2 scores and 1 prob"},
		{steps([]float64{1, 1}, []float64{0, 1}), "svm", "don't ascend"},
		{steps([]float64{1, 2}, []float64{0.5, 0.25}), "svm", "don't ascend"},
		{steps([]float64{1}, []float64{1.5}), "svm", "the probability 1.5"},
		{Calibration{Method: "beta", Classes: []Mapping{{}}}, "svm", `the method "beta"`},
		{Calibration{Method: Platt}, "svm", "calibration of 0 scores"},
		{Calibration{Method: Platt, Classes: []Mapping{{Scores: []float64{1}}}}, "svm", "by platt has scores"},
	} {
		m := New(spec, []float32{1, 2})
		m.Algorithm, m.Calibration = c.algorithm, &c.calibration
		_, err := m.WriteTo(io.Discard)
		if require.Error(t, err, c.want); err != nil {
			continue
		}
		if back := again(t, m); !reflect.DeepEqual(back.Calibration, m.Calibration) || !back.HasProbabilities() || back.LogOdds() {
			t.Errorf("%+v came back as %+v", m.Calibration, back.Calibration)
		}
	}
}
