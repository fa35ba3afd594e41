package winnow

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/internal/message"
)

// pairs are the weights of the literals: the features, then their negations, then for Balanced the bias. Weights of the
// columns give the same scores, because u x + v (1 - x) = (u - v) x + v. So scoring a row takes only the elements of
// the row, although as many literals are true as there are features.
type pairs struct {
	isSigned  []bool    // features of -1 and 1; the other features are 0 and 1
	u, v      []float32 // weights; v is subtracted from u, and is nil unless Balanced
	threshold float64
	row       []float32 // work memory: the features of a sparse row
}

// newLiterals returns the literals of the features, and sets w to weights of the columns.
func newLiterals(w []float32, signed []bool, opt Settings) *pairs {
	l := &pairs{isSigned: signed, threshold: opt.Threshold, row: make([]float32, len(w))}
	l.u = ones(2*len(signed) + 1)
	if opt.Variant == Balanced {
		l.v = ones(len(l.u))
	}
	l.setColumnWeights(w)
	return l
}

// learn changes the weights of the literals that are true in row r, and sets w to the new weights of the columns.
func (l *pairs) learn(w []float32, b *block.Block, r int, factor, against float32) {
	x, n := l.row, len(l.isSigned)
	if b.Sparse != nil {
		clear(x)
		b.Sparse.Add(x, 1, r)
	} else {
		x = b.X[r*b.Stride:][:b.Cols]
	}
	for c, v := range x[:n] {
		if !(v > 0) {
			c += n
		}
		l.multiply(c, factor, against)
	}
	if l.v != nil {
		l.multiply(2*n, factor, against)
	}
	l.setColumnWeights(w)
}

func (l *pairs) multiply(i int, factor, against float32) {
	if l.u[i] *= factor; l.v != nil {
		l.v[i] *= against
	}
}

// netWeight returns the weight of literal i.
func (l *pairs) netWeight(i int) float64 {
	if l.v == nil {
		return float64(l.u[i])
	}
	return float64(l.u[i]) - float64(l.v[i])
}

// setColumnWeights sets w to the weights of the columns that give the same scores as the literals.
func (l *pairs) setColumnWeights(w []float32) {
	n, bias := len(l.isSigned), -l.threshold
	for c, signed := range l.isSigned {
		is, not := l.netWeight(c), l.netWeight(n+c)
		weight := is - not
		if signed {
			weight = float64(weight / 2)
			not += weight
		}
		bias += not
		w[c] = float32(weight)
	}
	if l.v != nil {
		bias += l.netWeight(2 * n)
	}
	w[n] = float32(bias)
}

// findSigned tells for each feature whether its values are -1 and 1. The other features have the values 0 and 1. It
// returns an error if a feature has another value, or both -1 and 0.
func findSigned(ctx context.Context, src block.Source) ([]bool, error) {
	spec := src.Spec()
	signed, filled := make([]bool, spec.Width()), make([]int64, spec.Cols())
	rows := int64(0)
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for r := range b.Len() {
			for c, v := range b.Elements(r) {
				switch v {
				case 0:
					continue
				case -1:
					signed[c] = true
				case 1:
				default:
					err := fmt.Errorf("%v is not -1, 0 or 1: literals are of columns of 0 and 1, or of -1 and 1; leave others out", v)
					return nil, &message.RowError{Row: b.First + int64(r), Column: spec.FeatureName(c), Err: err}
				}
				filled[c]++
			}
		}
		rows += int64(b.Len())
	}
	for c, is := range signed {
		if is && filled[c] < rows {
			return nil, fmt.Errorf("column %q has -1 and 0: literals are of columns of 0 and 1, or of -1 and 1; "+
				"leave others out", spec.FeatureName(c))
		}
	}
	return signed, nil
}
