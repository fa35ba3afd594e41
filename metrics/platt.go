package metrics

import (
	"math"

	"halfspace/internal/block"
	"halfspace/kernel/f64"
)

// Rows are rows scored by a model of two classes.
type Rows struct {
	Scores   []float32 // finite
	Positive []bool
	Weights  []float64 // 0 or more; nil: all are 1
}

func (r *Rows) weight(i int) float64 {
	if r.Weights == nil {
		return 1
	}
	return r.Weights[i]
}

// Platt returns a and b such that 1/(1 + e^(a s + b)) is the probability that a row with the score s is positive. a and
// b minimise the sum over the rows of the cross-entropy -t log p - (1-t) log(1-p). The target t is (P+1)/(P+2) for a
// positive row and 1/(N+2) for another row, where P and N are the weights of all positive and all other rows (Platt
// 1999, "Probabilistic outputs for support vector machines"). Platt uses Newton's method with a line search (Lin, Lin
// and Weng 2007, "A note on Platt's probabilistic outputs for support vector machines", algorithm 1). It first scales
// scores by a power of two, so that their unit doesn't matter. It sums in chunks of block.ChunkRows rows, so that a and
// b are the same on every CPU.
func Platt(rows *Rows) (a, b float64) {
	p := newPlatt(rows)
	if p.scale == 0 { // all scores are 0
		p.scale = 1
	}
	at := point{0, p.prior()}
	value := p.value(at)
	for range maxSteps {
		g, h := p.slope(at)
		if max(math.Abs(g[0]), math.Abs(g[1])) <= tolerance*p.weight {
			break
		}
		// Newton's direction. The ridge keeps the determinant above 0.
		h[0], h[2] = h[0]+ridge*p.weight, h[2]+ridge*p.weight
		det := float64(h[0]*h[2]) - float64(h[1]*h[1])
		step := point{-(float64(h[2]*g[0]) - float64(h[1]*g[1])) / det, -(float64(h[0]*g[1]) - float64(h[1]*g[0])) / det}
		fall := float64(g[0]*step.a) + float64(g[1]*step.b)
		length := 1.0
		for ; length >= leastLength; length /= 2 {
			next := point{at.a + float64(length*step.a), at.b + float64(length*step.b)}
			if v := p.value(next); v < value+float64(1e-4*length)*fall {
				at, value = next, v
				break
			}
		}
		if length < leastLength { // no lower value, up to rounding
			break
		}
	}
	return at.a / p.scale, at.b
}

// Constants of the paper, relative to the weight of the rows. The tolerance is tighter than the paper's, because it
// costs Newton's method few more steps.
const (
	maxSteps    = 100
	leastLength = 1e-10
	ridge       = 1e-12
	tolerance   = 1e-13
)

// A point is a and b for scaled scores.
type point struct{ a, b float64 }

// A platt is the minimisation problem of Platt.
type platt struct {
	*Rows
	scale                float64 // power of two near the largest absolute score
	weight               float64 // weight of all rows
	positives, negatives float64 // weights of the positive and of the other rows
	high, low            float64 // targets of the positive and of the other rows
	terms, tails         []float64
}

func newPlatt(rows *Rows) *platt {
	p := &platt{Rows: rows, terms: make([]float64, block.ChunkRows), tails: make([]float64, block.ChunkRows)}
	largest := 0.0
	for i, s := range rows.Scores {
		largest = max(largest, math.Abs(float64(s)))
		if rows.Positive[i] {
			p.positives += rows.weight(i)
		} else {
			p.negatives += rows.weight(i)
		}
	}
	if largest > 0 {
		_, exponent := math.Frexp(largest)
		p.scale = math.Ldexp(1, exponent) // scores are float32, so a/scale is finite
	}
	p.weight = p.positives + p.negatives
	p.high, p.low = (p.positives+1)/(p.positives+2), 1/(p.negatives+2)
	return p
}

// prior returns b if all scores are 0: log((N+1)/(P+1)).
func (p *platt) prior() float64 {
	logs := []float64{p.negatives, p.positives}
	f64.Log1p(logs, logs)
	return logs[0] - logs[1]
}

func (p *platt) target(i int) float64 {
	if p.Positive[i] {
		return p.high
	}
	return p.low
}

// chunks calls f for each chunk in order, with the number of its first row and a s + b of its rows.
func (p *platt) chunks(at point, f func(first int, z []float64)) {
	for lo := 0; lo < len(p.Scores); lo += block.ChunkRows {
		z := p.terms[:min(block.ChunkRows, len(p.Scores)-lo)]
		for i := range z {
			z[i] = float64(at.a*(float64(p.Scores[lo+i])/p.scale)) + at.b
		}
		f(lo, z)
	}
}

// value returns the cross-entropy. A row with z = a s + b adds t z + log(1 + e^-z), computed so that nothing overflows.
func (p *platt) value(at point) (sum float64) {
	p.chunks(at, func(first int, z []float64) {
		tails, part := p.tails[:len(z)], 0.0
		for i, v := range z {
			tails[i] = -math.Abs(v)
		}
		f64.Exp(tails, tails)
		f64.Log1p(tails, tails)
		for i, v := range z {
			t := p.target(first + i)
			if v < 0 {
				t--
			}
			part += float64(p.Rows.weight(first+i) * (float64(t*v) + tails[i]))
		}
		sum += part
	})
	return sum
}

// slope returns the gradient by a and b, and the second derivatives: by a twice, by a and b, by b twice.
func (p *platt) slope(at point) (g [2]float64, h [3]float64) {
	p.chunks(at, func(first int, z []float64) {
		q := p.tails[:len(z)] // 1 - p
		f64.Sigmoid(q, z)
		var partG [2]float64
		var partH [3]float64
		for i, v := range q {
			s, w := float64(p.Scores[first+i])/p.scale, p.Rows.weight(first+i)
			d := float64(w * (p.target(first+i) - (1 - v)))
			curve := float64(float64(w*v) * (1 - v))
			partG[0] += float64(d * s)
			partG[1] += d
			partH[0] += float64(float64(curve*s) * s)
			partH[1] += float64(curve * s)
			partH[2] += curve
		}
		for k, v := range partG {
			g[k] += v
		}
		for k, v := range partH {
			h[k] += v
		}
	})
	return g, h
}
