package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"halfspace/internal/message"
	"halfspace/schema"
)

// errFloat64Rows is the error of a model of float64 rows, as earlier versions could train.
var errFloat64Rows error = message.Constant("the model was trained on float64 rows, and rows are float32 now: train " +
	"it again, with --standardize if a column needs more than 24 bits")

// Check returns an error if the model can't be used. It reports the first fault that it finds. A model that was read
// from a file has passed Check.
func (m *Model) Check() error {
	switch m.Dtype {
	case Float32:
	case "float64":
		return errFloat64Rows
	default:
		return fmt.Errorf("dtype is %q, not %s", m.Dtype, Float32)
	}
	// Later checks rely on earlier ones.
	for _, check := range []func() error{m.checkClasses, m.checkFeatures, m.checkSize, m.checkProjection,
		m.checkExpansion, m.checkWeights, m.checkVoters, m.checkState,
		m.checkCalibration, m.checkThreshold, m.checkStdErrors, m.checkOptions, m.checkCounts, m.checkSums} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkWeights checks the numbers of weights and biases, and that they are finite float32.
func (m *Model) checkWeights() error {
	vectors := m.vectors()
	if m.Expansion == nil && len(m.Weights) != vectors {
		return fmt.Errorf("weights has %d rows: %d classes have %d", len(m.Weights), len(m.Classes), vectors)
	}
	for _, row := range m.Weights {
		if len(row) != m.Width() {
			return fmt.Errorf("%d weights for %d features", len(row), m.Width())
		}
		for i, w := range row {
			if err := m.checkNumber(w); err != nil {
				return fmt.Errorf("weight of feature %q %w", m.FeatureName(i), err)
			}
		}
	}
	if m.FitBias && len(m.Bias) != vectors || !m.FitBias && len(m.Bias) != 0 {
		return fmt.Errorf("bias has %d numbers where fit_bias is %t", len(m.Bias), m.FitBias)
	}
	for _, b := range m.Bias {
		if err := m.checkNumber(b); err != nil {
			return fmt.Errorf("bias %w", err)
		}
	}
	return nil
}

// checkOptions checks that the options about classes are possible in a training.
func (m *Model) checkOptions() error {
	if way := m.Options.Multiclass; way != "" && way != OneVersusRest && way != Joint {
		return fmt.Errorf("multiclass is %q, not %s or %s", way, OneVersusRest, Joint)
	}
	if n := len(m.Options.ClassWeight); n > 0 && n != len(m.Classes) {
		return fmt.Errorf("class_weight has %d numbers for %d classes", n, len(m.Classes))
	}
	for _, w := range m.Options.ClassWeight {
		if !(w > 0) || math.IsInf(w, 0) {
			return fmt.Errorf("%v is among class_weight", w)
		}
	}
	return nil
}

// valueOf returns the value that v points to, or zero if v is nil.
func valueOf[T any](v *T) (of T) {
	if v != nil {
		of = *v
	}
	return of
}

// checkCounts checks that no number of rows, epochs, visits, updates, errors or mistakes is negative.
func (m *Model) checkCounts() error {
	t := &m.Training
	counts := []struct {
		name  string
		value int64
	}{{"data.rows", m.Data.Rows}, {"training.rows", t.Rows}, {"training.epochs", t.Epochs},
		{"training.visits", t.Visits}, {"training.updates", t.Updates},
		{"training.errors", valueOf(t.Errors)}, {"training.mistakes", valueOf(t.Mistakes)},
		{"training.kept", valueOf(t.KeptUpdate)}}
	for _, c := range counts {
		if c.value < 0 {
			return fmt.Errorf("%s is %d, below 0", c.name, c.value)
		}
	}
	return nil
}

func (m *Model) checkStdErrors() error {
	if want := m.Width() + len(m.Bias); m.StdErrors != nil && (len(m.Weights) > 1 || len(m.StdErrors) != want) {
		return fmt.Errorf("std_errors has %d numbers for %d weights", len(m.StdErrors), want)
	}
	for i, v := range m.StdErrors {
		leftOut := v == 0 && i < m.Width() && m.Weights[0][i] == 0
		if !(v > 0 || leftOut) || math.IsInf(v, 0) {
			return fmt.Errorf("%v is among std_errors", v)
		}
	}
	return nil
}

// checkSums checks the figures of the training and of the options: JSON can't hold NaN and infinities.
func (m *Model) checkSums() error {
	t := &m.Training
	if t.Path != nil {
		if err := t.Path.check(); err != nil {
			return err
		}
	}
	optimum := valueOf(t.Optimum)
	for _, s := range []struct {
		name  string
		value float64
	}{{"eta", m.Options.Eta}, {"margin", m.Options.Margin}, {"loss", valueOf(t.Loss)}, {"radius", valueOf(t.Radius)},
		{"norm", valueOf(t.Norm)}, {"ridge", t.Ridge},
		{"objective", optimum.Objective}, {"duality_gap", optimum.Gap}} {
		if math.IsNaN(s.value) || math.IsInf(s.value, 0) {
			return fmt.Errorf("%s is %v: scale the features down", s.name, s.value)
		}
	}
	return nil
}

// checkNumber checks that v is finite and equals a float32.
func (m *Model) checkNumber(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("is %v, not a finite number", v)
	}
	if float64(float32(v)) != v {
		return fmt.Errorf("is %v, which no float32 equals", v)
	}
	return nil
}

func (m *Model) checkClasses() error {
	if len(m.Classes) < 2 {
		return fmt.Errorf("%d classes: a linear model has two or more", len(m.Classes))
	}
	if len(m.Classes) > schema.MaxClasses {
		return fmt.Errorf("%d classes: a model has at most %d", len(m.Classes), schema.MaxClasses)
	}
	for i, high := range m.Classes[1:] {
		low := m.Classes[i]
		if low.Kind != high.Kind {
			return fmt.Errorf("classes are a %s and a %s, not of one type", low.Kind, high.Kind)
		}
		if low.Compare(high) >= 0 {
			return fmt.Errorf("classes %s and %s are not in ascending order", low, high)
		}
	}
	if !slices.Contains(m.Classes, m.Positive) {
		return fmt.Errorf("positive class %q is not among the classes", m.Positive)
	}
	for _, c := range m.Classes {
		if !utf8.ValidString(c.Text) {
			return fmt.Errorf("class %q is not valid UTF-8 text", c.Text)
		}
		if what := schema.CheckText(c.Text, "class"); what != "" {
			return errors.New(what)
		}
	}
	return nil
}

func (m *Model) checkSize() error {
	if n := int64(m.Width()) * int64(m.vectors()); m.Expansion == nil && n > maxWeights {
		return fmt.Errorf("%d weights: a model has at most %d: train on fewer features or classes", n, maxWeights)
	}
	return nil
}

func (m *Model) checkFeatures() error {
	if err := schema.CheckFeatures(m.Features, m.Label, m.Preprocessing); err != nil {
		return err
	}
	if m.Preprocessing == nil {
		return nil
	}
	if err := m.Preprocessing.Check(m.Features); err != nil {
		return fmt.Errorf("preprocessing: %w", err)
	}
	return nil
}
