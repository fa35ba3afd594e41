package train

import (
	"fmt"
	"slices"
)

// Form says which of a perceptron's weights are its result.
type Form string

const (
	Last     Form = "last"     // the last ones, the default
	Averaged Form = "averaged" // the mean of the weights after each visit
	Voted    Form = "voted"    // the weights after each update; each has a vote for every visit that it survived
)

// Forms lists every form, the default first.
var Forms = []Form{Last, Averaged, Voted}

// WithDefault returns the form, or Last if it is empty. It is an error if the form is unknown.
func (f Form) WithDefault() (Form, error) {
	if f == "" {
		return Last, nil
	}
	if !slices.Contains(Forms, f) {
		return f, fmt.Errorf("unknown form %q: use one of %v", f, Forms)
	}
	return f, nil
}
