package model

import (
	"cmp"
	"fmt"
	"math"

	"halfspace/internal/humanize"
	"halfspace/internal/memory"
)

// A SparseVector holds the weights of a vector that aren't 0.
type SparseVector struct {
	Features []int     `json:"features"` // feature numbers, from 0, ascending
	Weights  []float64 `json:"weights"`  // the weight of each of these features
}

// mostDenseFeatures is the largest number of features of a model whose file always has all weights.
const mostDenseFeatures = 1 << 12

// maxWeights is the largest number of weights of a model. They take 1 GiB.
const maxWeights = 1 << 27

// leastLimit is the smallest memory limit of reading a model, in bytes.
const leastLimit = 16 << 20

// mostUnlimitedWeights is the number of weights that a file of SparseWeights may ask for even if the memory is smaller.
const mostUnlimitedWeights = leastLimit / 8

// Compact returns the model in the form of its file. A model of more than mostDenseFeatures features has SparseWeights
// in place of Weights if at most half of its weights aren't 0.
func (m *Model) Compact() *Model {
	if m.Width() <= mostDenseFeatures || len(m.Weights) == 0 || m.Width() > maxWeights/len(m.Weights) {
		return m
	}
	weights := 0
	for _, row := range m.Weights {
		weights += savedWeights(row)
	}
	if 2*weights > m.Width()*len(m.Weights) {
		return m
	}
	c := *m
	c.Weights = [][]float64{}
	for _, row := range m.Weights {
		n := savedWeights(row)
		v := SparseVector{Features: make([]int, 0, n), Weights: make([]float64, 0, n)}
		for i, w := range row {
			if isSaved(w) {
				v.Features, v.Weights = append(v.Features, i), append(v.Weights, w)
			}
		}
		c.SparseWeights = append(c.SparseWeights, v)
	}
	return &c
}

// isSaved returns true if a sparse vector has the weight w.
func isSaved(w float64) bool { return w != 0 || math.Signbit(w) }

// savedWeights returns the number of weights of a row that a sparse vector has.
func savedWeights(row []float64) (n int) {
	for _, w := range row {
		if isSaved(w) {
			n++
		}
	}
	return n
}

// expand sets Weights from SparseWeights, if there are any. Since a few bytes of a file may ask for a gigabyte, the
// weights may take at most half of memory.Limit(most), or 16 MiB if that is more. Otherwise the error is ErrMemory.
func (m *Model) expand(most int64) error {
	if m.SparseWeights == nil {
		return nil
	}
	if err := cmp.Or(m.checkClasses(), m.checkFeatures()); err != nil {
		return err
	}
	n := int64(m.Width()) * int64(m.vectors())
	if n > maxWeights {
		return fmt.Errorf("sparse_weights stands for %d weights: a model has at most %d", n, maxWeights)
	}
	if n > mostUnlimitedWeights && 8*n > memory.Limit(most)/2 {
		return fmt.Errorf("%w for %s weights, %s: they may take half of %s, so give it more, or train on "+
			"fewer features", ErrMemory, humanize.Count(n), humanize.Size(8*n), humanize.Size(memory.Limit(most)))
	}
	if len(m.Weights) > 0 || len(m.SparseWeights) != m.vectors() {
		return fmt.Errorf("it has %d vectors in weights and %d in sparse_weights: %d classes have %d", len(m.Weights), len(m.SparseWeights),
			len(m.Classes), m.vectors())
	}
	for _, v := range m.SparseWeights {
		if len(v.Features) != len(v.Weights) {
			return fmt.Errorf("sparse_weights has %d weights for %d features", len(v.Weights), len(v.Features))
		}
		row, last := make([]float64, m.Width()), -1
		for k, i := range v.Features {
			if i <= last || i >= len(row) {
				return fmt.Errorf("sparse_weights has feature %d after %d, of %d features: they ascend from 0", i, last, len(row))
			}
			row[i], last = v.Weights[k], i
		}
		m.Weights = append(m.Weights, row)
	}
	m.SparseWeights = nil
	return nil
}
