package svm

import (
	"math"

	"halfspace/kernel/f64"
)

const (
	octaves     = 100 // octaves of the places of kinks on a line from 0 to 1; the last octave ends at 1
	octaveParts = 8   // parts of an octave
)

// kinks are the curvature of a smooth loss along a line: its value at the start, and its changes where dual variables
// reach a bound or leave one. Changes within 1/8 of an octave are summed.
type kinks struct {
	Curvature float64
	// For each part of an octave, Changes is the sum of the changes, and WeightedPlaces is the sum of the changes times
	// their places. They are nil if there is no line.
	Changes, WeightedPlaces []float64
}

func newKinks() kinks {
	return kinks{Changes: make([]float64, octaves*octaveParts), WeightedPlaces: make([]float64, octaves*octaveParts)}
}

func (k *kinks) add(other *kinks) {
	if other.Changes == nil {
		return
	}
	if k.Changes == nil {
		*k = newKinks()
	}
	k.Curvature += other.Curvature
	f64.Axpy(k.Changes, 1, other.Changes)
	f64.Axpy(k.WeightedPlaces, 1, other.WeightedPlaces)
}

// row adds row i with sample weight c. Its margin is 1-from at the start of the line and 1-to at the end.
func (k *kinks) row(loss *smoothing, i int, c, from, to float64) {
	begin, free := float64(loss.slope*from), false
	end := float64(loss.slope * to)
	if loss.base != nil {
		begin, end = begin+loss.base[i], end+loss.base[i]
	}
	if free = begin > 0 && begin < loss.mostDual; !free && (begin <= 0) == (end <= 0) &&
		(begin >= loss.mostDual) == (end >= loss.mostDual) {
		return
	}
	by := float64((to - from) * (to - from) * loss.slope * c)
	if free {
		k.Curvature += by
	}
	if (begin <= 0) != (end <= 0) {
		k.change(begin/(begin-end), math.Copysign(by, end-begin))
	}
	if (begin >= loss.mostDual) != (end >= loss.mostDual) {
		k.change((loss.mostDual-begin)/(end-begin), math.Copysign(by, begin-end))
	}
}

// change adds the change of the curvature, by, at a place on the line. It ignores places of 1 or more.
func (k *kinks) change(place, by float64) {
	if !(place < 1) {
		return
	}
	f, e := math.Frexp(place)
	i := max(0, (e+octaves-1)*octaveParts+int((f-0.5)*2*octaveParts))
	k.Changes[i] += by
	k.WeightedPlaces[i] += float64(by * place)
}

// minimum returns the place of the minimum of a function on the line. slope is the function's slope at the start. Its
// curvature is curvature plus the curvature of k. Its slope at the end of the line must be above 0.
func (k *kinks) minimum(slope, curvature float64) float64 {
	curvature += k.Curvature
	offset, place, then := slope, 0.0, slope
	for i := range k.Changes {
		next := math.Ldexp(0.5+float64(float64(i%octaveParts+1)/(2*octaveParts)), i/octaveParts-octaves+1)
		curvature += k.Changes[i]
		offset -= k.WeightedPlaces[i]
		now := offset + float64(curvature*next)
		if now >= 0 {
			return place + float64((next-place)*(-then/(now-then)))
		}
		place, then = next, now
	}
	return 1
}
