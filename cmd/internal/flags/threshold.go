package flags

import "halfspace/predict"

// A Threshold is the value of a flag that takes a threshold.
type Threshold struct{ predict.Threshold }

// Type names the type for pflag.
func (t *Threshold) Type() string { return "threshold" }

// Set reads a threshold.
func (t *Threshold) Set(text string) (err error) {
	t.Threshold, err = predict.ParseThreshold(text)
	return err
}
