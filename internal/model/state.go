package model

import (
	"fmt"
	"slices"
)

// A State is the data that a learner keeps in addition to the weights, such as z and n of FTRL-Proximal. With it a
// training continues where it stopped. For each name it holds one number for each weight, the bias last, of one weight
// vector after the other: little-endian float64. In JSON the numbers are base64.
type State map[string][]byte

// NewState returns the state with these numbers, or nil if there are none.
func NewState(numbers map[string][]float64) State {
	if len(numbers) == 0 {
		return nil
	}
	s := State{}
	for name, v := range numbers {
		s[name] = Pack(v)
	}
	return s
}

// Append appends the state of the next class.
func (s State) Append(next State) State {
	if s == nil {
		s = State{}
	}
	for name, b := range next {
		s[name] = slices.Concat(s[name], b)
	}
	return s
}

// Numbers returns the numbers for one of vectors weight vectors. If vector is -1, it returns the numbers for all of
// them.
func (s State) Numbers(vector, vectors int) map[string][]float64 {
	if s == nil {
		return nil
	}
	all := map[string][]float64{}
	for name, b := range s {
		v := Unpack[float64](b)
		if vector >= 0 {
			n := len(v) / vectors
			v = v[vector*n:][:n]
		}
		all[name] = v
	}
	return all
}

// checkState checks that each name has a finite number for each weight.
func (m *Model) checkState() error {
	for name, b := range m.State {
		if len(b) != 8*m.cols()*len(m.Weights) {
			return fmt.Errorf("state %q has %d bytes for %d vectors of %d weights", name, len(b), len(m.Weights), m.cols())
		}
		if !allFinite(Unpack[float64](b)) {
			return fmt.Errorf("state %q holds a number that isn't finite", name)
		}
	}
	return nil
}
