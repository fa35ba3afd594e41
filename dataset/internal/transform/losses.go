package transform

import (
	"sync"
	"sync/atomic"

	"halfspace/schema"
)

// losses records the losses of rounding in a column, and the range of the column's values.
type losses struct {
	merged  atomic.Bool
	of      bitset       // for a numbered column, the features with a merged value; nil: they aren't told apart
	beyond  atomic.Int64 // number of rows with an index that is no feature
	wide    atomic.Bool  // the range is so large against the numbers that the last digits don't matter
	mu      sync.Mutex
	rounded bool
	lo, hi  float64 // smallest and largest value
}

// A bitset is a set of numbers of features.
type bitset []atomic.Uint64

// newLosses returns the losses of the feature columns of a binding. A numbered column whose features a Spec names has
// losses for each feature.
func newLosses(bound *Binding) []losses {
	all := make([]losses, len(bound.Features))
	for k := range bound.Plan.Inputs {
		if c := &bound.Plan.Inputs[k]; isNumbered(*c) && c.Elements <= schema.MaxNamed {
			all[k].of = make(bitset, c.Elements/64+1)
		}
	}
	return all
}

// merge records that feature k, a feature of the column, has a merged value.
func (l *losses) merge(k int) {
	if l.merged.Store(true); l.of != nil {
		l.of[k/64].Or(1 << (k % 64))
	}
}

// wideEnough is the smallest range of a wide column, in units of the last digit of its greatest number.
const wideEnough = 1 << 12

// addValues adds values of a column to its range, after some of them were rounded. Once a column is wide, it stays
// wide.
func addValues(l *losses, values []float32) {
	if l.wide.Load() || len(values) == 0 {
		return
	}
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rounded {
		l.rounded, l.lo, l.hi = true, float64(lo), float64(hi)
	}
	l.lo, l.hi = min(l.lo, float64(lo)), max(l.hi, float64(hi))
	if l.hi-l.lo >= wideEnough*0x1p-24*max(-l.lo, l.hi) {
		l.wide.Store(true)
	}
}

// matter returns true if the losses may matter to a learner: whole numbers changed, or the lost digits are large
// against the column's range.
func (l *losses) matter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.merged.Load() || l.rounded && !l.wide.Load()
}
