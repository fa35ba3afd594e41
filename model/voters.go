package model

import (
	"encoding/binary"
	"fmt"
	"math"

	"halfspace/block"
	"halfspace/kernel"
)

// Voters are the vectors of weights of a voted perceptron. A row is put to the vote: each vector has as many votes as its count,
// for the positive class where its score is above 0, else for the other.
type Voters struct {
	Counts []int64 `json:"counts"` // rows in a row that each vector stood for

	// Weights are the vectors in little-endian numbers of the model's dtype, one vector behind the other, each with a weight for each
	// feature and then the bias if there is one. In JSON they are base64.
	Weights []byte `json:"weights"`
}

// NewVoters returns the voters w, each of len(w)/len(counts) elements, of which the first cols count.
func NewVoters[T kernel.Float](w []T, counts []int64, cols int) *Voters {
	v := &Voters{Counts: counts}
	stride := len(w) / len(counts)
	for i := range counts {
		for _, x := range w[i*stride : i*stride+cols] {
			if dtype[T]() == "float32" {
				v.Weights = binary.LittleEndian.AppendUint32(v.Weights, math.Float32bits(float32(x)))
			} else {
				v.Weights = binary.LittleEndian.AppendUint64(v.Weights, math.Float64bits(float64(x)))
			}
		}
	}
	return v
}

// VoterVectors returns the vectors of the voters for kernels, as Vector does.
func VoterVectors[T kernel.Float](m *Model) []T {
	cols := m.cols()
	stride := kernel.Stride[T](cols)
	w := block.Alloc[T](stride * len(m.Voters.Counts))
	for i := range m.Voters.Counts {
		for c := range cols {
			w[i*stride+c] = T(m.voterWeight(i*cols + c))
		}
	}
	return w
}

// voterWeight returns number i of the voters' weights.
func (m *Model) voterWeight(i int) float64 {
	if m.Dtype == "float32" {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(m.Voters.Weights[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(m.Voters.Weights[8*i:]))
}

func (m *Model) cols() int {
	if m.FitBias {
		return len(m.Features) + 1
	}
	return len(m.Features)
}

func (m *Model) checkVoters() error {
	v := m.Voters
	if v == nil {
		return nil
	}
	size := 8
	if m.Dtype == "float32" {
		size = 4
	}
	if len(m.Classes) != 2 || len(v.Counts) == 0 || len(v.Weights)%(m.cols()*size) != 0 || len(v.Weights)/(m.cols()*size) != len(v.Counts) {
		return fmt.Errorf("voters have %d counts and %d bytes of weights for %d classes and %d features", len(v.Counts), len(v.Weights),
			len(m.Classes), len(m.Features))
	}
	total := int64(0)
	for _, n := range v.Counts {
		if n < 1 || n > math.MaxInt64-total {
			return fmt.Errorf("%d is among the voters' counts", n)
		}
		total += n
	}
	for i := range len(v.Weights) / size {
		if w := m.voterWeight(i); math.IsNaN(w) || math.IsInf(w, 0) {
			return fmt.Errorf("%v is among the voters' weights", w)
		}
	}
	return nil
}
