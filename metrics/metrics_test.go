package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
)

// spam has the counts of a text-book table of 100 rows. 5 of 20 positive rows are missed, and 10 are false alarms.
func spam() Confusion {
	return Confusion{{70, 10}, {5, 15}}
}

func TestConfusion(t *testing.T) {
	c := spam()
	for _, m := range []struct {
		name      string
		got, want float64
	}{
		{"rows", float64(c.Rows()), 100},
		{"errors", float64(c.Errors()), 15},
		{"accuracy", c.Accuracy(), 0.85},
		{"precision of 1", c.Precision(1), 0.6},
		{"recall of 1", c.Recall(1), 0.75},
		{"F1 of 1", c.F1(1), 2 * 0.6 * 0.75 / (0.6 + 0.75)},
		{"precision of 0", c.Precision(0), 70.0 / 75},
		{"recall of 0", c.Recall(0), 0.875},
	} {
		if math.Abs(m.got-m.want) > 1e-15 { // one rounding each of numbers up to 1
			t.Errorf("%s is %v, want %v", m.name, m.got, m.want)
		}
	}
}

func TestConfusionAdd(t *testing.T) {
	c := NewConfusion(3)
	c.Add(0, 0)
	c.Add(2, 1)
	c.Add(2, 1)
	want := Confusion{{1, 0, 0}, {0, 0, 0}, {0, 2, 0}}
	for i := range want {
		if !slices.Equal(c[i], want[i]) {
			t.Errorf("row %d is %v, want %v", i, c[i], want[i])
		}
	}
	if c.Actual(2) != 2 || c.Predicted(1) != 2 || c.Errors() != 2 {
		t.Errorf("actual %d, predicted %d, errors %d, want 2 of each", c.Actual(2), c.Predicted(1), c.Errors())
	}
}

func TestUndefinedIsNaN(t *testing.T) {
	c := NewConfusion(2)
	one := new(AUC[float32])
	one.Add([]float32{1, 2}, []float32{1, 1})
	for name, v := range map[string]float64{"accuracy": c.Accuracy(), "precision": c.Precision(1), "recall": c.Recall(1),
		"F1": c.F1(1), "AUC without rows": new(AUC[float64]).Value(), "AUC of one class": one.Value()} {
		if !math.IsNaN(v) {
			t.Errorf("%s is %v, want NaN", name, v)
		}
	}
}

// mannWhitney is the definition: the share of pairs of a positive and a negative row that are in order. Ties count
// half.
func mannWhitney(scores, labels []float64) float64 {
	wins, pairs := 0.0, 0.0
	for i, p := range scores {
		for j, n := range scores {
			if labels[i] <= 0 || labels[j] > 0 {
				continue
			}
			pairs++
			switch {
			case p > n || n != n && p == p:
				wins++
			case p == n || p != p && n != n:
				wins += 0.5
			}
		}
	}
	return wins / pairs
}

func TestAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	inf := math.Inf(1)
	special := []float64{math.NaN(), -inf, inf, 0, math.Copysign(0, -1)}
	for n := 2; n < 120; n++ {
		for _, levels := range []int{2, 7, 1 << 30} { // from mostly ties to none
			scores, labels := make([]float64, n), make([]float64, n)
			for i := range scores {
				scores[i] = float64(rng.IntN(levels)) - 3
				if levels == 7 && rng.IntN(4) == 0 {
					scores[i] = special[rng.IntN(len(special))]
				}
				labels[i] = float64(2*rng.IntN(2) - 1)
			}
			labels[0], labels[n-1] = 1, -1
			a := new(AUC[float64])
			cut := rng.IntN(n)
			a.Add(scores[:cut], labels[:cut])
			a.Add(scores[cut:], labels[cut:])
			if got, want := a.Value(), mannWhitney(scores, labels); got != want {
				t.Fatalf("AUC of %v with labels %v is %v, want %v", scores, labels, got, want)
			}
			if got := a.Value(); got != mannWhitney(scores, labels) {
				t.Fatalf("the second time, AUC is %v", got)
			}
		}
	}
}

// TestAUCAgainstGonum compares with the area that gonum integrates. Gonum rounds once for each of up to n thresholds.
func TestAUCAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 5000
	a := new(AUC[float64])
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
	a.Add(scores, labels)
	stat.SortWeightedLabeled(scores, classes, nil)
	tpr, fpr, _ := stat.ROC(nil, scores, classes, nil)
	got, want := a.Value(), integrate.Trapezoidal(fpr, tpr)
	if math.Abs(got-want) > n*0x1p-52 {
		t.Errorf("AUC is %v, gonum's %v", got, want)
	}
}

// TestLogLoss: the mean doesn't depend on the pieces.
func TestLogLoss(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	losses, sum := make([]float64, 10000), 0.0
	for lo := 0; lo < len(losses); lo += 4096 {
		run := 0.0
		for i := lo; i < min(len(losses), lo+4096); i++ {
			losses[i] = rng.ExpFloat64()
			run += losses[i]
		}
		sum += run
	}
	for range 5 {
		l := new(LogLoss)
		cut := rng.IntN(len(losses))
		l.Add(losses[:cut])
		l.Add(losses[cut:])
		if got := l.Value(); got != sum/10000 {
			t.Errorf("%v in pieces of %d, want %v", got, cut, sum/10000)
		}
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

// area returns the area under a curve by the trapezoidal rule, in units of one row of either class.
func area(curve []Point[float64]) (sum float64) {
	for i := 1; i < len(curve); i++ {
		a, b := curve[i-1], curve[i]
		sum += float64(b.FalsePositives-a.FalsePositives) * float64(a.TruePositives+b.TruePositives) / 2
	}
	return sum
}

// TestPublishedCurve has the example in the documentation of scikit-learn's roc_curve, whose points are all corners. A
// second curve has three corners.
func TestPublishedCurve(t *testing.T) {
	a := new(AUC[float64])
	a.Add([]float64{0.1, 0.4, 0.35, 0.8}, []float64{-1, -1, 1, 1})
	want := []Point[float64]{{math.Inf(1), 0, 0}, {0.8, 0, 1}, {0.4, 1, 1}, {0.35, 1, 2}, {0.1, 2, 2}}
	if got := a.Curve(); !slices.Equal(got, want) {
		t.Errorf("curve %v, want %v", got, want)
	}
	a = new(AUC[float64])
	a.Add([]float64{9, 8, 7, 6, 5, 4, 3, 2}, []float64{1, 1, 1, 1, -1, -1, -1, -1})
	want = []Point[float64]{{math.Inf(1), 0, 0}, {6, 0, 4}, {2, 4, 4}}
	if got := a.Curve(); !slices.Equal(got, want) {
		t.Errorf("curve %v, want %v", got, want)
	}
}

// TestCurve: every point has the counts of the definition, the area is that of all points, and the points are the
// corners of gonum's curve.
func TestCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, levels := range []int{2, 7, 1 << 30} {
		const n = 500
		a := new(AUC[float64])
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
		a.Add(scores, labels)
		curve := a.Curve()
		for _, p := range curve {
			want := Point[float64]{Threshold: p.Threshold}
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
		if got, want := area(curve)/float64(positive)/float64(negative), a.Value(); math.Abs(got-want) > 1e-12 {
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
	a := new(AUC[float64])
	if curve := a.Curve(); len(curve) != 1 || !math.IsInf(curve[0].Threshold, 1) {
		t.Errorf("the curve of no rows is %v", curve)
	}
	a.Add([]float64{math.NaN(), 1, math.NaN()}, []float64{1, 1, -1})
	if curve := a.Curve(); len(curve) != 3 || curve[1] != (Point[float64]{1, 0, 1}) || curve[2].TruePositives != 2 || curve[2].FalsePositives != 1 {
		t.Errorf("the curve with NaN is %v", curve)
	}
}
