package model

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
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
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	read, err := Read(&file)
	if err != nil || !reflect.DeepEqual(read.State.Numbers(-1, len(m.Weights)), map[string][]float64{"z": z}) {
		t.Errorf("%v, error %v", read, err)
	}
	two := State(nil).Append(m.State).Append(m.State)
	if !reflect.DeepEqual(two.Numbers(1, 2)["z"], z) || len(two.Numbers(-1, 2)["z"]) != 2*n {
		t.Errorf("%v", two)
	}
	for want, bad := range map[string][]float64{"bytes for": z[1:], "isn't finite": append([]float64{math.NaN()}, z[1:]...)} {
		m.State = NewState(map[string][]float64{"z": bad})
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
