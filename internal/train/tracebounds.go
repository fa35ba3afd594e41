package train

import "math"

// traceBounds are the bounds of the perceptron's convergence theorem (Novikoff 1962), extended to weights that begin at w0
// and to a margin. Let all rows have norms of at most R, and let a unit vector u have y (u.x) >= rho for all rows. Let
// updates happen if y (w.x) <= m. After t updates with the learning rate eta,
//
//	w0.u + t eta rho  <=  w.u  <=  |w|  <=  sqrt(|w0|^2 + t (eta^2 R^2 + 2 eta m)).
//
// The two ends meet after the largest possible number of updates; see learner.UpdateBoundFrom. With w0 = 0 and m = 0 that
// number is R^2/rho^2. With more than two classes the update of a row has the norm eta |x| sqrt(2), and the margin is
// the margin of learner.Evaluate: both sides then have the factor sqrt(2).
type traceBounds struct {
	Radius       float64 // R
	Margin       float64 // rho; 0 if u doesn't separate the rows
	Eta          float64
	UpdateMargin float64 // m
	Norm         float64 // |w0|
	Dot          float64 // w0.u

	severalClasses bool // more than two classes are learned together
}

// factor returns sqrt(2) with more than two classes, and 1 with two.
func (b *traceBounds) factor() float64 {
	if b.severalClasses {
		return math.Sqrt2
	}
	return 1
}

// Lower returns the left end after a number of updates.
func (b *traceBounds) Lower(updates int64) float64 {
	return b.Dot + float64(updates)*b.Eta*b.factor()*b.Margin
}

// Upper returns the right end after a number of updates.
func (b *traceBounds) Upper(updates int64) float64 {
	return math.Sqrt(b.Norm*b.Norm + float64(updates)*b.mostGrowth())
}

// mostGrowth returns the largest amount that one update adds to the squared norm.
func (b *traceBounds) mostGrowth() float64 {
	f, reach := b.factor(), b.Eta*b.Radius
	return f * f * (reach*reach + 2*b.Eta*b.UpdateMargin)
}
