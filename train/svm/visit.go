package svm

import (
	"cmp"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
)

// A jointVisit is the work memory of a visit of a row.
type jointVisit struct {
	reader       linalg.WideReader
	columns      []uint32  // columns of the features that aren't 0
	values       []float64 // values of these columns
	slope        []float64 // for each class: its score, plus 1 unless it is the row's class
	freeClasses  []int     // classes whose a may change
	sortedSlopes []float64
}

func newJointVisit(classes int) jointVisit {
	return jointVisit{slope: make([]float64, classes)}
}

// load stores the columns and values of the features of row r that aren't 0.
func (v *jointVisit) load(b *block.Block, r, features int) {
	v.columns, v.values = v.columns[:0], v.values[:0]
	columns, values := v.reader.Row(b, r)
	for k, c := range columns {
		if x := values[k]; x != 0 && int(c) < features {
			v.columns, v.values = append(v.columns, c), append(v.values, x)
		}
	}
}

// score computes the slopes of the loaded row, whose class is given.
func (v *jointVisit) score(w, bias []float64, class int) {
	copy(v.slope, bias)
	n := len(bias)
	for k, c := range v.columns {
		f64.Axpy(v.slope, v.values[k], w[int(c)*n:][:n])
	}
	for k := range v.slope {
		if k != class {
			v.slope[k]++
		}
	}
}

// visit finds the best a of row r, with the a of the other rows as they are. It returns the violation before that: the
// greatest slope of a class minus the least slope of a class whose a may increase.
//
// The best a minimises 1/2 A |a|^2 + B.a, where A is the row's square and B is the slopes minus A a. For every class k
// it is min(limit of k, (t - B_k)/A), with the t that makes the sum over the classes 0.
func (s *jointSearch) visit(b *block.Block, r int) (violation float64) {
	i := b.First + int64(r)
	one, a, v := &s.rows[i], s.a[int(i)*s.classes:][:s.classes], &s.scratch
	if one.bound == 0 {
		one.rests = true
		return 0
	}
	v.load(b, r, s.features)
	v.score(s.w, s.bias, int(one.class))
	least, most := math.Inf(1), math.Inf(-1)
	for k, slope := range v.slope {
		if most = max(most, slope); a[k] < one.limit(k) {
			least = min(least, slope)
		}
	}
	v.freeClasses = v.freeClasses[:0]
	for k, slope := range v.slope {
		if a[k] < one.limit(k) || slope >= least {
			v.freeClasses = append(v.freeClasses, k)
		}
	}
	if one.rests = len(v.freeClasses) <= 1; one.rests {
		return 0
	}
	if violation = most - least; violation <= noiseViolation {
		return violation
	}
	if !slices.Contains(v.freeClasses, int(one.class)) {
		v.freeClasses = append(v.freeClasses, int(one.class))
	}
	s.updateRow(one, a)
	return violation
}

// limit returns the upper bound of a_k.
func (r *jointRow) limit(k int) float64 {
	if k == int(r.class) {
		return r.bound
	}
	return 0
}

// updateRow sets a to the best values for the loaded row, and changes the weights and the biases accordingly.
func (s *jointSearch) updateRow(one *jointRow, a []float64) {
	v := &s.scratch
	v.sortedSlopes = v.sortedSlopes[:0]
	for _, k := range v.freeClasses {
		v.sortedSlopes = append(v.sortedSlopes, v.slope[k]-float64(one.square*a[k])+float64(one.square*one.limit(k)))
	}
	slices.SortFunc(v.sortedSlopes, func(x, y float64) int { return cmp.Compare(y, x) })
	t := v.sortedSlopes[0] - float64(one.square*one.bound)
	n := 1
	for ; n < len(v.sortedSlopes) && t < float64(float64(n)*v.sortedSlopes[n]); n++ {
		t += v.sortedSlopes[n]
	}
	t /= float64(n)
	changed := false
	for _, k := range v.freeClasses {
		next := min(one.limit(k), (t-(v.slope[k]-float64(one.square*a[k])))/one.square)
		by := next - a[k]
		if math.Abs(by) <= noiseViolation*max(math.Abs(a[k]), math.Abs(next)) {
			continue
		}
		a[k], changed = next, true
		s.sum[k] += by
		s.bias[k] += float64(s.inertia * by)
		for j, c := range v.columns {
			s.w[int(c)*s.classes+k] += float64(by * v.values[j])
		}
	}
	if changed {
		s.Steps++
	}
}
