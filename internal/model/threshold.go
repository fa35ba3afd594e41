package model

import "fmt"

// ScoreThreshold returns the score above which a model of two classes predicts Positive: Threshold, or 0 if that is
// nil.
func (m *Model) ScoreThreshold() float64 { return valueOf(m.Threshold) }

// SetThreshold makes the model predict Positive above the score at, which must be finite. With 0, the file has no
// threshold.
func (m *Model) SetThreshold(at float64) {
	m.Threshold, m.Options.ThresholdBy = nil, ""
	if at != 0 {
		m.Threshold = &at
	}
}

func (m *Model) checkThreshold() error {
	switch {
	case m.Threshold == nil:
		return nil
	case len(m.Classes) != 2:
		return fmt.Errorf("threshold of %d classes: only a model of two classes has a threshold", len(m.Classes))
	case !allFinite([]float64{*m.Threshold}):
		return fmt.Errorf("threshold is %v, not a finite number", *m.Threshold)
	}
	return nil
}
