package dualdescent

import (
	"math"

	"halfspace/train/internal/optimize"
)

// limitNoise is the distance of a variable from its limit below which the distance is rounding error, relative to the
// greatest variable of the row.
const limitNoise = 1e-14

// A problem is a loss, as a row sees it. A row has the label y and the dual variables a, one for each vector of
// weights. Dual variables and their bounds are divided by l2, so that the weights are the sum of a x over the rows. The
// bound of a row is its sample weight divided by l2.
type problem interface {
	vectors() int        // number of vectors of weights
	classes() int        // number of classes
	class(y float64) int // number of the class with the label y

	// slopes turns the scores of a row into slopes: the derivatives of the dual objective by a, times -1, without the
	// square.
	slopes(y float64, z []float64)
	// square returns the weight of the row's square in the dual objective, which loses square/2 a^2.
	square(bound float64) float64
	// loss returns the loss of a row with sample weight 1, given the slopes without the square.
	loss(y float64, slopes []float64) float64
	// best sets next to the best variables of a row for the given scores, which it turns into slopes with the square. It
	// returns the row's part of the duality gap, and the violation: how far the slopes are from those with which a is
	// the best. If a is the best and would stay so, the violation is minus the least change of a slope that moves a.
	best(r *row, a, scores, next []float64) (violation, gap float64)
	// project sets a to the nearest variables that a row may have.
	project(y, bound float64, a []float64)
	// linear returns the linear term of the dual objective: the sum of the parts of addFlow over the rows.
	linear(rows []row, a []float64) float64
	// addFlow adds the row's part of the linear term of the dual objective to the element of its class and of the class
	// that it flows to. Each class has a row of elements. A flow is 0 or more if the variables are allowed. With
	// biases, the variables meet the constraints if as much flows to each class as from it.
	addFlow(y float64, a, flow []float64)
}

// hinge is the loss max(0, 1 - y z) of a row with the score z and the label -1 or +1. The variable is from 0 to y times
// the bound.
type hinge struct{}

func (hinge) vectors() int { return 1 }

func (hinge) classes() int { return 2 }

func (hinge) class(y float64) int { return optimize.ClassOf(y) }

func (hinge) slopes(y float64, z []float64) { z[0] -= y }

func (hinge) square(float64) float64 { return 0 }

func (hinge) loss(y float64, slopes []float64) float64 { return max(0, -float64(y*slopes[0])) }

func (hinge) best(r *row, a, scores, next []float64) (violation, gap float64) {
	return bestHinge(r, r.bound, 0, a, scores, next)
}

// bestHinge is best for the hinge, with the square 0, and for its square. most is the greatest variable times y.
func bestHinge(r *row, most, square float64, a, scores, next []float64) (violation, gap float64) {
	slope, size := float64(r.y*scores[0])-1, float64(r.y*a[0])
	loss := max(0, -slope)
	if square > 0 {
		loss *= loss
	}
	gap = float64(r.bound*loss) + float64(size*(slope+float64(square/2*size)))
	slope += float64(square * size)
	next[0] = float64(r.y * max(0, min(most, size-slope/r.square)))
	switch {
	case size <= 0:
		return -slope, gap
	case size >= most:
		return slope, gap
	}
	return math.Abs(slope), gap
}

func (hinge) project(y, bound float64, a []float64) {
	a[0] = float64(y * max(0, min(bound, float64(y*a[0]))))
}

func (hinge) linear(rows []row, a []float64) (sum float64) {
	for i, v := range a {
		sum += float64(rows[i].y * v)
	}
	return sum
}

func (h hinge) addFlow(y float64, a, flow []float64) { flow[1+h.class(y)] += float64(y * a[0]) }

// squaredHinge is the square of the hinge. The variable is 0 or more times y.
type squaredHinge struct{ hinge }

func (squaredHinge) square(bound float64) float64 {
	if bound == 0 {
		return 0
	}
	return 1 / (2 * bound)
}

func (s squaredHinge) loss(y float64, slopes []float64) float64 {
	loss := s.hinge.loss(y, slopes)
	return loss * loss
}

func (s squaredHinge) best(r *row, a, scores, next []float64) (violation, gap float64) {
	return bestHinge(r, math.Inf(1), s.square(r.bound), a, scores, next)
}

func (s squaredHinge) project(y, _ float64, a []float64) { s.hinge.project(y, math.Inf(1), a) }

// crammerSinger is the loss of a row whose label is the number y of its class, for any number of classes: the maximum
// over the classes k of z_k - z_y + [k is not y], where z_k is the score of class k. a_y is at most the bound, the
// other variables are at most 0, and their sum is 0.
type crammerSinger int

func (n crammerSinger) vectors() int { return int(n) }

func (n crammerSinger) classes() int { return int(n) }

func (crammerSinger) class(y float64) int { return int(y) }

func (crammerSinger) slopes(y float64, z []float64) {
	for k := range z {
		z[k]++
	}
	z[int(y)]--
}

func (crammerSinger) square(float64) float64 { return 0 }

func (crammerSinger) loss(y float64, slopes []float64) float64 {
	most := slopes[0]
	for _, slope := range slopes {
		most = max(most, slope)
	}
	return most - slopes[int(y)]
}

func (n crammerSinger) best(r *row, a, scores, next []float64) (violation, gap float64) {
	n.slopes(r.y, scores)
	gap = float64(r.bound * n.loss(r.y, scores))
	for k, slope := range scores {
		gap += float64(a[k] * slope)
		next[k] = a[k] - slope/r.square
	}
	if violation = n.violation(r.y, r.bound, a, scores); violation > 0 {
		n.project(r.y, r.bound, next)
	}
	return violation, gap
}

// violation returns the greatest slope of another class minus the least slope of a class whose variable may increase.
func (crammerSinger) violation(y, bound float64, a, slopes []float64) float64 {
	own, lowest := int(y), -1
	for k, v := range a {
		if (v < 0 || k == own && v < bound) && (lowest < 0 || slopes[k] < slopes[lowest]) {
			lowest = k
		}
	}
	if lowest < 0 {
		return math.NaN() // as the variables are
	}
	most := math.Inf(-1)
	for k, slope := range slopes {
		if k != lowest {
			most = max(most, slope)
		}
	}
	return most - slopes[lowest]
}

// project finds the t with which min(limit_k, a_k - t) sum to 0, where limit_k is the upper bound of a_k. It first
// supposes that no variable is at its limit, and then that those are there that the last t takes there.
func (crammerSinger) project(y, bound float64, a []float64) {
	own, size := int(y), 0.0
	limit := func(k int) float64 {
		if k == own {
			return bound
		}
		return 0
	}
	for _, v := range a {
		size = max(size, math.Abs(v))
	}
	t, free := math.Inf(1), len(a)+1
	for {
		sum, n := 0.0, 0
		for k, v := range a {
			if v-t < limit(k) {
				sum, n = sum+v, n+1
			} else {
				sum += limit(k)
			}
		}
		if n >= free || n == 0 {
			break
		}
		t, free = sum/float64(n), n
	}
	for k, v := range a {
		if a[k] = v - t; a[k] > limit(k)-float64(limitNoise*size) {
			a[k] = limit(k)
		}
	}
}

// linear sums the variables of the classes of the rows: the other variables of a row sum to the negative.
func (n crammerSinger) linear(rows []row, a []float64) (sum float64) {
	for i, r := range rows {
		sum += a[i*int(n)+int(r.y)]
	}
	return sum
}

func (n crammerSinger) addFlow(y float64, a, flow []float64) {
	own := int(y)
	to := flow[own*int(n):][:n]
	for k, v := range a {
		if k != own {
			to[k] -= v
		}
	}
}
