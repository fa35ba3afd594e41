package model

import (
	"math"
	"reflect"
	"testing"

	"halfspace/internal/require"
)

// TestState: a state is the same after its file is read, and is cut by vectors. A wrong one is an error.
func TestState(t *testing.T) {
	m := textbook()
	n := m.cols() * len(m.Weights)
	z := make([]float64, n)
	for i := range z {
		z[i] = 1 / float64(i+3)
	}
	m.State = NewState(map[string][]float64{"z": z})
	if read := again(t, m); !reflect.DeepEqual(read.State.Numbers(-1, len(m.Weights)), map[string][]float64{"z": z}) {
		t.Errorf("%v", read)
	}
	two := State(nil).Append(m.State).Append(m.State)
	if !reflect.DeepEqual(two.Numbers(1, 2)["z"], z) || len(two.Numbers(-1, 2)["z"]) != 2*n {
		t.Errorf("%v", two)
	}
	for want, bad := range map[string][]float64{"bytes for": z[1:], "isn't finite": append([]float64{math.NaN()}, z[1:]...)} {
		m.State = NewState(map[string][]float64{"z": bad})
		require.Error(t, m.Check(), want)
	}
}
