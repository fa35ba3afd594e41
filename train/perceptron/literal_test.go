package perceptron

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train/learner"
)

// literal is the algorithm of the papers, one row at a time in the given order. Its pocket judges weights on all rows,
// or on those of validation.
type literal struct {
	x               [][]float32
	y               []float32
	weights         []float64 // nil: all are 1
	validation      *literal
	mode            pocket.Mode
	margin          float32
	w, best         []float32
	fewest          float64
	updates         int64
	visits          int64
	kept, quiet     int64
	l2              float64
	features        int
	streak, longest int64 // rows in a row that were right: with w, and with best when it was judged (Gallant's ratchet)

	voters []float32 // w after each update
	counts []int64   // number of visits that each survived

	sum, change []float64 // sums over the visits: of w after each, and of the magnitudes of updates

	// These figures are best's; measure sets them.
	measured         bool
	errorsOf         int64
	lossOf, marginOf float64
}

func newLiteral(d *block.Data) *literal {
	l := &literal{}
	for b := range d.Blocks(context.Background()) {
		for r := range b.Len() {
			l.x = append(l.x, b.X[r*b.Stride:(r+1)*b.Stride])
		}
		l.y, l.weights = append(l.y, b.Y...), append(l.weights, b.W...)
	}
	l.w = make([]float32, len(l.x[0]))
	l.sum, l.change = make([]float64, len(l.w)), make([]float64, len(l.w))
	return l
}

// errors counts the errors of w on the rows.
func (l *literal) errors(w []float32) (n int64) {
	for i, x := range l.x {
		if (kernel.Dot(x, w) > 0) != (l.y[i] > 0) {
			n++
		}
	}
	return n
}

// measure measures best, once the training has ended.
func (l *literal) measure() {
	if !l.measured {
		l.measured, l.errorsOf = true, l.errors(l.best)
		l.lossOf, l.marginOf = l.loss(l.best)
	}
}

// weight returns the weight of row i.
func (l *literal) weight(i int) float64 {
	if l.weights == nil {
		return 1
	}
	return l.weights[i]
}

// wrong sums up the weights of the errors of w, chunk by chunk.
func (l *literal) wrong(w []float32) (sum float64) {
	for lo := 0; lo < len(l.x); lo += block.ChunkRows {
		part := 0.0
		for i := lo; i < min(len(l.x), lo+block.ChunkRows); i++ {
			if (kernel.Dot(l.x[i], w) > 0) != (l.y[i] > 0) {
				part += l.weight(i)
			}
		}
		sum += part
	}
	return sum
}

// start puts the initial zeros in the pocket.
func (l *literal) start(mode pocket.Mode, validation *literal) {
	if l.mode, l.validation = mode, validation; validation == nil {
		l.validation = l
	}
	l.best, l.fewest = slices.Clone(l.w), l.validation.wrong(l.w)
}

// judge keeps the weights if they are better.
func (l *literal) judge() {
	if n := l.validation.wrong(l.w); n < l.fewest {
		l.best, l.fewest, l.kept, l.longest = slices.Clone(l.w), n, l.updates, l.streak
	}
}

// isPerfect tells whether nothing can be better than the pocket's weights.
func (l *literal) isPerfect() bool { return l.mode != "" && l.fewest == 0 }

// outvotedRows counts the rows whose label has fewer votes than the other one, or as many if it is +1.
func (l *literal) outvotedRows() (n int64) {
	for i, x := range l.x {
		votes := int64(0)
		for k, count := range l.counts {
			if kernel.Dot(l.voters[k*len(x):(k+1)*len(x)], x) > 0 {
				votes += count
			} else {
				votes -= count
			}
		}
		if (votes > 0) != (l.y[i] > 0) {
			n++
		}
	}
	return n
}

// loss returns the perceptron's loss of w, and the margin of w, 0 if it doesn't separate the rows.
func (l *literal) loss(w []float32) (loss, margin float64) {
	margin, square := math.Inf(1), 0.0
	for i, x := range l.x {
		m := float64(l.y[i]) * float64(kernel.Dot(x, w))
		loss += max(0, -m) * l.weight(i)
		margin = min(margin, m)
	}
	for _, v := range w {
		square += float64(v) * float64(v)
	}
	return loss, max(0, margin) / max(math.Sqrt(square), math.SmallestNonzeroFloat64)
}

// visit visits a row, and tells whether the training goes on.
func (l *literal) visit(i int, eta float32, maxUpdates int64) bool {
	l.visits++
	l.quiet++
	wrong := l.y[i]*kernel.Dot(l.x[i], l.w) <= l.margin && l.weight(i) > 0
	if wrong {
		kernel.Axpy(l.w, float32(float64(eta*l.y[i])*l.weight(i)), l.x[i])
		l.voters, l.counts = append(l.voters, l.w...), append(l.counts, 0)
		l.updates++
		l.quiet, l.streak = 0, 0
		for c, v := range l.x[i] {
			l.change[c] += math.Abs(float64(eta) * float64(v) * l.weight(i))
		}
	} else {
		l.streak++
	}
	if len(l.counts) > 0 {
		l.counts[len(l.counts)-1]++
	}
	for c, v := range l.w {
		l.sum[c] += float64(v)
	}
	if wrong && l.mode == pocket.Exact || !wrong && l.mode == pocket.Ratchet && l.streak > l.longest {
		l.judge()
	}
	return (maxUpdates == 0 || l.updates != maxUpdates) && !l.isPerfect()
}

// documentedPermutation makes the permutation of an epoch as its documentation says, all at once.
func documentedPermutation(n int, seed, epoch uint64) []uint32 {
	rng := rand.NewPCG(seed, epoch)
	fisherYates := func(s []uint32) {
		for i := len(s) - 1; i > 0; i-- {
			j := learner.Draw(rng, uint64(i)+1)
			s[i], s[j] = s[j], s[i]
		}
	}
	var chunks []uint32
	for c := range (n + 511) / 512 {
		chunks = append(chunks, uint32(c))
	}
	if len(chunks) > 8 {
		fisherYates(chunks)
	}
	var order []uint32
	for window := range slices.Chunk(chunks, 8) {
		start := len(order)
		for _, c := range window {
			for r := 512 * c; r < min(uint32(n), 512*c+512); r++ {
				order = append(order, r)
			}
		}
		fisherYates(order[start:])
	}
	return order
}

// visitedRows returns the rows that an epoch visits.
func visitedRows(n int, order learner.Order, seed, epoch uint64) []uint32 {
	rows := documentedPermutation(n, seed, epoch)
	switch order {
	case learner.Cyclic:
		for i := range rows {
			rows[i] = uint32(i)
		}
	case learner.FixedShuffle:
		rows = documentedPermutation(n, seed, 0)
	case learner.Random:
		rng := rand.NewPCG(seed, epoch)
		for i := range rows {
			rows[i] = uint32(learner.Draw(rng, uint64(n)))
		}
	}
	return rows
}

// train makes epochs in an order, with its stopping rule. It judges the last weights of an epoch.
func (l *literal) train(order learner.Order, seed uint64, epochs int, eta float32, maxUpdates int64) (converged bool) {
	if !l.isPerfect() {
		converged = l.walk(order, seed, epochs, eta, maxUpdates)
		if l.mode == pocket.Epoch {
			l.judge()
		}
	}
	if l.isPerfect() {
		return l.validation == l && l.verified(l.best)
	}
	return converged
}

func (l *literal) walk(order learner.Order, seed uint64, epochs int, eta float32, maxUpdates int64) (converged bool) {
	n := len(l.x)
	for e := range epochs {
		rows := visitedRows(n, order, seed, uint64(e))
		before := l.updates
		for _, i := range rows {
			if !l.visit(int(i), eta, maxUpdates) {
				return false
			}
			if order == learner.Shuffle || l.quiet < int64(n) {
				continue
			}
			if order == learner.Random && !l.verified(l.w) {
				l.quiet = 0
				continue
			}
			return true
		}
		if order == learner.Shuffle && l.updates == before {
			if l.mode == pocket.Epoch {
				l.judge()
			}
			return true
		}
		if l.l2 > 0 {
			for c := range l.w[:l.features] {
				l.w[c] *= float32(1 / (1 + float64(float64(eta)*l.l2)))
			}
			l.quiet = 0
		}
		if l.mode == pocket.Epoch {
			l.judge()
		}
		if l.isPerfect() {
			return false
		}
	}
	return false
}

// verified tells whether no row would update the weights.
func (l *literal) verified(w []float32) bool {
	for i, x := range l.x {
		if l.y[i]*kernel.Dot(x, w) <= l.margin && l.weight(i) > 0 {
			return false
		}
	}
	return true
}

// pointWeight returns the sum of sample weights of wrong rows at a point of the curve.
func (l *literal) pointWeight(p pocket.Point) float64 {
	if l.validation.weights == nil && p.Weight == 0 {
		return float64(p.Errors)
	}
	return p.Weight
}

// fewestByEnumeration returns the fewest errors of all weights, two and a bias, that are whole numbers up to most.
func (l *literal) fewestByEnumeration(most int) int64 {
	fewest, w := int64(len(l.x)), make([]float32, len(l.w))
	for a := -most; a <= most; a++ {
		for b := -most; b <= most; b++ {
			for bias := -2*most - 1; bias <= 2*most+1; bias++ {
				w[0], w[1], w[2] = float32(a), float32(b), float32(bias)
				fewest = min(fewest, l.errors(w))
			}
		}
	}
	return fewest
}
