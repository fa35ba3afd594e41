package learner

import (
	"fmt"
	"slices"
)

// Form says which weights of a perceptron's training are its result.
type Form string

const (
	Last     Form = "last"     // the last weights, the default
	Averaged Form = "averaged" // the mean of the weights after each visit
	Voted    Form = "voted"    // all weight vectors, each with one vote for every visit that it survived
)

// Forms lists every form, the default first.
var Forms = []Form{Last, Averaged, Voted}

// WithDefault returns the form, or Last if the form is empty. It returns an error if the form is unknown.
func (f Form) WithDefault() (Form, error) {
	if f == "" {
		return Last, nil
	}
	if !slices.Contains(Forms, f) {
		return f, fmt.Errorf("unknown form %q: use one of %v", f, Forms)
	}
	return f, nil
}
