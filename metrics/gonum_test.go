// Compiling gonum with the race detector takes long, so make race leaves this file out.

//go:build !race

package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
)

// float32s returns numbers that float32 holds.
func float32s(numbers []float64) (all []float32) {
	for _, v := range numbers {
		all = append(all, float32(v))
	}
	return all
}

// TestAUCAgainstGonum compares with the area that gonum integrates. Gonum rounds once for each of up to n thresholds.
func TestAUCAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 5000
	a := new(Scores)
	scores, labels, classes := make([]float64, n), make([]float64, n), make([]bool, n)
	for i := range scores {
		classes[i] = rng.IntN(3) == 0
		labels[i] = -1
		scores[i] = math.Round(50 * rng.NormFloat64())
		if classes[i] {
			labels[i] = 1
			scores[i] += 40
		}
	}
	a.Add(float32s(scores), float32s(labels), nil)
	stat.SortWeightedLabeled(scores, classes, nil)
	tpr, fpr, _ := stat.ROC(nil, scores, classes, nil)
	got, want := a.AUC(), integrate.Trapezoidal(fpr, tpr)
	if math.Abs(got-want) > n*0x1p-52 {
		t.Errorf("AUC is %v, gonum's %v", got, want)
	}
}

// corners returns the points of a curve that don't lie on the line between the points kept beside them. Slopes are
// fractions.
func corners(tpr, fpr, thresholds []float64, positive, negative int) (kept []int) {
	whole := func(share float64, n int) int64 { return int64(math.Round(share * float64(n))) }
	slope := func(i, k int) (dx, dy int64) {
		dx, dy = whole(fpr[k], negative)-whole(fpr[i], negative), whole(tpr[k], positive)-whole(tpr[i], positive)
		a, b := dx, dy
		for b != 0 {
			a, b = b, a%b
		}
		return dx / a, dy / a
	}
	for k := range thresholds {
		for n := len(kept); n > 1; n = len(kept) {
			x, y := slope(kept[n-2], kept[n-1])
			if u, v := slope(kept[n-1], k); x != u || y != v {
				break
			}
			kept = kept[:n-1]
		}
		kept = append(kept, k)
	}
	return kept
}

// TestCurve: every point has the counts of the definition, the area is that of all points, and the points are the
// corners of gonum's curve.
func TestCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, levels := range []int{2, 7, 1 << 24} {
		const n = 500
		a := new(Scores)
		scores, labels, classes := make([]float64, n), make([]float64, n), make([]bool, n)
		positive, negative := 0, 0
		for i := range scores {
			scores[i], labels[i] = float64(rng.IntN(levels)), -1
			if classes[i] = rng.IntN(3) == 0; classes[i] {
				labels[i] = 1
				positive++
			} else {
				negative++
			}
		}
		a.Add(float32s(scores), float32s(labels), nil)
		curve := a.ROC()
		if roc, pr := a.CurvePoints(); roc != len(curve) || pr != len(a.PrecisionRecall()) {
			t.Errorf("%d levels: %d and %d points counted, there are %d and %d", levels, roc, pr, len(curve), len(a.PrecisionRecall()))
		}
		for _, p := range curve {
			want := Point{Threshold: p.Threshold}
			for i, s := range scores {
				if s >= p.Threshold && classes[i] {
					want.TruePositives++
				} else if s >= p.Threshold {
					want.FalsePositives++
				}
			}
			if p != want {
				t.Fatalf("%d levels: point %v, want %v", levels, p, want)
			}
		}
		stat.SortWeightedLabeled(scores, classes, nil)
		tpr, fpr, thresholds := stat.ROC(nil, scores, classes, nil)
		kept := corners(tpr, fpr, thresholds, positive, negative)
		if len(curve) != len(kept) || levels > n && len(kept) == len(thresholds) {
			t.Fatalf("%d levels: %d points, gonum has %d with %d corners", levels, len(curve), len(thresholds), len(kept))
		}
		if got, want := area(curve)/float64(positive)/float64(negative), a.AUC(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d levels: the area under the points is %v, that of all %v", levels, got, want)
		}
		for k, p := range curve {
			i := kept[k]
			if p.Threshold != thresholds[i] || math.Abs(float64(p.TruePositives)/float64(positive)-tpr[i]) > 0x1p-52 ||
				math.Abs(float64(p.FalsePositives)/float64(negative)-fpr[i]) > 0x1p-52 { // gonum multiplies by a reciprocal
				t.Fatalf("%d levels: point %v, gonum has %v, %v at %v", levels, p, tpr[i], fpr[i], thresholds[i])
			}
		}
	}
	a := new(Scores)
	if curve := a.ROC(); len(curve) != 1 || !math.IsInf(curve[0].Threshold, 1) {
		t.Errorf("the curve of no rows is %v", curve)
	}
	nan := float32(math.NaN())
	a.Add([]float32{nan, 1, nan}, []float32{1, 1, -1}, nil)
	if curve := a.ROC(); len(curve) != 3 || curve[1] != (Point{1, 0, 1}) || curve[2].TruePositives != 2 || curve[2].FalsePositives != 1 {
		t.Errorf("the curve with NaN is %v", curve)
	}
}
