package model

import (
	"errors"
	"fmt"
	"math"

	"halfspace/internal/block"
	"halfspace/kernel"
)

// Voters are the weight vectors of a voted perceptron. Each vector has as many votes as its count. It votes for the
// positive class if its score is above 0, otherwise for the other class.
type Voters struct {
	Counts []int64 `json:"counts"` // the number of visits that each vector survived

	// Sizes are, for more than two classes, the number of vectors of each class. The vectors of the first class come
	// first. Each vector votes on whether a row is of its class.
	Sizes []int `json:"sizes,omitempty"`

	// Weights are the vectors, one after the other, in little-endian float32. A vector has a weight for each feature,
	// and then the bias if there is one. In JSON the vectors are base64.
	Weights []byte `json:"weights"`
}

// NewVoters returns the voters w, each of len(w)/len(counts) elements, of which the first cols count.
func NewVoters(w []float32, counts []int64, cols int) *Voters {
	v := &Voters{Counts: counts}
	stride := len(w) / len(counts)
	for i := range counts {
		v.Weights = append(v.Weights, Pack(w[i*stride:i*stride+cols])...)
	}
	return v
}

// VoterVectors returns the vectors of the voters in the layout of Vector.
func VoterVectors(m *Model) []float32 {
	cols := m.cols()
	stride := kernel.Stride(cols)
	w := block.Alloc[float32](stride * len(m.Voters.Counts))
	for i, x := range Unpack[float32](m.Voters.Weights) {
		w[i/cols*stride+i%cols] = x
	}
	return w
}

func (m *Model) cols() int {
	if m.FitBias {
		return m.Width() + 1
	}
	return m.Width()
}

func (m *Model) checkVoters() error {
	v := m.Voters
	if v == nil {
		return nil
	}
	size := numberBytes
	if len(v.Counts) == 0 || len(v.Weights)%(m.cols()*size) != 0 || len(v.Weights)/(m.cols()*size) != len(v.Counts) {
		return fmt.Errorf("voters have %d counts and %d bytes of weights for %d classes and %d features", len(v.Counts), len(v.Weights),
			len(m.Classes), m.Width())
	}
	if err := m.checkSizes(); err != nil {
		return err
	}
	total := int64(0)
	for _, n := range v.Counts {
		if n < 1 || n > math.MaxInt64-total {
			return fmt.Errorf("%d is among the voters' counts", n)
		}
		total += n
	}
	if !allFinite(Unpack[float32](v.Weights)) {
		return errors.New("a number that isn't finite is among the voters' weights")
	}
	return nil
}

// checkSizes checks that, with more than two classes, each class has voters.
func (m *Model) checkSizes() error {
	left, want := len(m.Voters.Counts), 0
	if len(m.Classes) > 2 {
		want = len(m.Classes)
	}
	for _, n := range m.Voters.Sizes {
		if n < 1 || n > left {
			return fmt.Errorf("%d is among the sizes of %d voters", n, len(m.Voters.Counts))
		}
		left -= n
	}
	if len(m.Voters.Sizes) != want || want > 0 && left > 0 {
		return fmt.Errorf("voters have %d sizes for %d classes, which leave %d of them over", len(m.Voters.Sizes), len(m.Classes), left)
	}
	return nil
}
