package metrics

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// spam has the counts of a text-book table of 100 rows. 5 of 20 positive rows are missed, and 10 are false alarms.
func spam() *Confusion {
	c := NewConfusion(2)
	for actual, row := range [][]int{{70, 10}, {5, 15}} {
		for predicted, n := range row {
			for range n {
				c.Add(actual, predicted, 1)
			}
		}
	}
	return c
}

func TestConfusion(t *testing.T) {
	c := spam()
	for _, m := range []struct {
		name      string
		got, want float64
	}{
		{"rows", float64(c.Rows()), 100},
		{"errors", float64(c.Errors()), 15},
		{"weight of errors", c.ErrorWeight(), 15},
		{"accuracy", c.Accuracy(), 0.85},
		{"precision of 1", c.Precision(1), 0.6},
		{"recall of 1", c.Recall(1), 0.75},
		{"F1 of 1", c.F1(1), 2 * 0.6 * 0.75 / (0.6 + 0.75)},
		{"precision of 0", c.Precision(0), 70.0 / 75},
		{"recall of 0", c.Recall(0), 0.875},
		{"macro F1", c.MacroF1(), (140.0/155 + 30.0/45) / 2},
	} {
		if math.Abs(m.got-m.want) > 2e-16 { // one rounding each of numbers up to 1
			t.Errorf("%s is %v, want %v", m.name, m.got, m.want)
		}
	}
	if text, err := c.MarshalJSON(); err != nil || string(text) != "[[70,10],[5,15]]" {
		t.Errorf("%s, error %v", text, err)
	}
}

// TestWholeWeights: a row of weight 3 counts as three rows, whenever the first weight comes. Intervals are those of three
// rows too. Equal weights that aren't whole change no interval.
func TestWholeWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	weighted, copies, same, plain := NewConfusion(3), NewConfusion(3), NewConfusion(3), NewConfusion(3)
	for range 200 {
		actual, predicted, weight := rng.IntN(3), rng.IntN(3), 1
		if plain.Rows() > 50 {
			weight = rng.IntN(4)
		}
		weighted.Add(actual, predicted, float64(weight))
		for range weight {
			copies.Add(actual, predicted, 1)
		}
		same.Add(actual, predicted, 0.3)
		plain.Add(actual, predicted, 1)
	}
	a, _ := weighted.MarshalJSON()
	b, _ := copies.MarshalJSON()
	if string(a) != string(b) || weighted.AccuracyInterval() != copies.AccuracyInterval() || weighted.RecallInterval(1) != copies.RecallInterval(1) || weighted.Rows() != 200 {
		t.Errorf("weighted %s, copies %s", a, b)
	}
	for k, x := range same.PrecisionInterval(2) {
		if want := plain.PrecisionInterval(2)[k]; math.Abs(x-want) > 1e-14 || math.Abs(same.Accuracy()-plain.Accuracy()) > 1e-14 {
			t.Errorf("interval of equal weights %v, without weights %v", x, want)
		}
	}
}

// TestWilson has the intervals of Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I,
// method 3. The interval of all rows ends at 1, that of none begins at 0, whatever their number.
func TestWilson(t *testing.T) {
	for _, c := range []struct{ hits, n, low, high float64 }{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {20, 20, 1 - 0.1611, 1},
	} {
		got := Wilson(c.hits/c.n, c.n)
		if math.Abs(got[0]-c.low) > 5.1e-5 || math.Abs(got[1]-c.high) > 5.1e-5 {
			t.Errorf("%v of %v: %v, want %v to %v", c.hits, c.n, got, c.low, c.high)
		}
	}
	for n := 1.0; n < 3000; n++ {
		none, all := Wilson(0, n), Wilson(1, n)
		if none[0] != 0 || !(none[1] > 0 && none[1] < 1) || all[1] != 1 || !(all[0] > 0 && all[0] < 1) {
			t.Fatalf("of %v rows none: %v; all: %v", n, none, all)
		}
	}
	if got := Wilson(math.NaN(), 0); got[0] == got[0] || got[1] == got[1] {
		t.Errorf("of no rows: %v", got)
	}
}

func TestUndefinedIsNaN(t *testing.T) {
	c := NewConfusion(2)
	one := new(Scores)
	one.Add([]float32{1, 2}, []float32{1, 1}, nil)
	for name, v := range map[string]float64{"accuracy": c.Accuracy(), "precision": c.Precision(1), "recall": c.Recall(1),
		"F1": c.F1(1), "AUC without rows": new(Scores).AUC(), "AUC of one class": one.AUC(),
		"average precision without rows": new(Scores).AveragePrecision(), "mean of nothing": new(Mean).Value()} {
		if !math.IsNaN(v) {
			t.Errorf("%s is %v, want NaN", name, v)
		}
	}
}

// mannWhitney is the definition: the share of pairs of a positive and a negative row that are in order. Ties count
// half.
func mannWhitney(scores, labels []float32) float64 {
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
	inf := float32(math.Inf(1))
	special := []float32{float32(math.NaN()), -inf, inf, 0, float32(math.Copysign(0, -1))}
	for n := 2; n < 120; n++ {
		for _, levels := range []int{2, 7, 1 << 24} { // from mostly ties to none
			scores, labels := make([]float32, n), make([]float32, n)
			for i := range scores {
				scores[i] = float32(rng.IntN(levels)) - 3
				if levels == 7 && rng.IntN(4) == 0 {
					scores[i] = special[rng.IntN(len(special))]
				}
				labels[i] = float32(2*rng.IntN(2) - 1)
			}
			labels[0], labels[n-1] = 1, -1
			a := new(Scores)
			cut := rng.IntN(n)
			a.Add(scores[:cut], labels[:cut], nil)
			a.Add(scores[cut:], labels[cut:], nil)
			if got, want := a.AUC(), mannWhitney(scores, labels); got != want {
				t.Fatalf("AUC of %v with labels %v is %v, want %v", scores, labels, got, want)
			}
			if got := a.AUC(); got != mannWhitney(scores, labels) {
				t.Fatalf("the second time, AUC is %v", got)
			}
		}
	}
}

// TestSum: sums are those of exact fractions, rounded once, in any order.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 200 {
		numbers, exact, least, most := make([]float64, rng.IntN(60)), new(big.Rat), -70, 70
		if i%20 == 0 { // subnormal numbers, too, and more numbers than addAll adds at once
			numbers, least, most = make([]float64, 2*mostNumbersAtOnce+rng.IntN(9)), -1074, 960
		}
		for i := range numbers {
			numbers[i] = math.Ldexp(rng.Float64()-0.5, least+rng.IntN(most-least))
			if i > 0 && rng.IntN(3) == 0 {
				numbers[i] = -numbers[rng.IntN(i)]
			}
			if rng.IntN(5) == 0 {
				numbers[i] = math.Ldexp(1, rng.IntN(110)-55) // halves between two numbers
			}
			exact.Add(exact, new(big.Rat).SetFloat64(numbers[i]))
		}
		want, _ := exact.Float64()
		for range 3 {
			var s Sum
			for _, v := range numbers {
				s.Add(v)
			}
			if got := s.Value(); got != want {
				t.Fatalf("sum of %v is %v, want %v", numbers, got, want)
			}
			s = Sum{}
			s.addAll(numbers[:len(numbers)/3])
			s.addAll(numbers[len(numbers)/3:])
			if got := s.Value(); got != want {
				t.Fatalf("sum of all of %v is %v, want %v", numbers, got, want)
			}
			rng.Shuffle(len(numbers), func(i, k int) { numbers[i], numbers[k] = numbers[k], numbers[i] })
		}
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		numbers []float64
		want    float64
	}{{[]float64{1, inf, 2}, inf}, {[]float64{inf, -inf}, math.NaN()}, {[]float64{math.NaN(), 1}, math.NaN()}, {[]float64{1e308, 1e308, 1}, inf}, {nil, 0}} {
		var s Sum
		for _, v := range c.numbers {
			s.Add(v)
		}
		var all Sum
		all.addAll(c.numbers)
		for _, got := range []float64{s.Value(), all.Value()} {
			if got != c.want && (got == got || c.want == c.want) {
				t.Errorf("sum of %v is %v, want %v", c.numbers, got, c.want)
			}
		}
	}
}

// BenchmarkSum measures ns for each number, one by one and at once.
func BenchmarkSum(b *testing.B) {
	rng, numbers := rand.New(rand.NewPCG(1, 2)), make([]float64, 1<<13)
	for i := range numbers {
		numbers[i] = rng.ExpFloat64()
	}
	var s Sum
	b.Run("Add", func(b *testing.B) {
		for i := range b.N {
			s.Add(numbers[i%len(numbers)])
		}
	})
	b.Run("addAll", func(b *testing.B) {
		for n := b.N; n > 0; n -= len(numbers) {
			s.addAll(numbers[:min(n, len(numbers))])
		}
	})
}

// area returns the area under a curve by the trapezoidal rule, in units of one row of either class.
func area(curve []Point) (sum float64) {
	for i := 1; i < len(curve); i++ {
		a, b := curve[i-1], curve[i]
		sum += float64(b.FalsePositives-a.FalsePositives) * float64(a.TruePositives+b.TruePositives) / 2
	}
	return sum
}

// TestCurve compares the curve with its definition: the counts of rows at or above each score, but for points that lie on the
// line between the points beside them. The area under the curve is the AUC.
func TestCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, levels := range []int{2, 7, 1 << 24} {
		const n = 500
		scores, labels := make([]float32, n), make([]float32, n)
		for i := range scores {
			scores[i], labels[i] = float32(rng.IntN(levels)), float32(2*(rng.IntN(3)/2)-1)
		}
		want := []Point{{Threshold: math.Inf(1)}}
		for _, threshold := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(scores)))) {
			p := Point{Threshold: float64(threshold)}
			for i, s := range scores {
				if s >= threshold && labels[i] > 0 {
					p.TruePositives++
				} else if s >= threshold {
					p.FalsePositives++
				}
			}
			for k := len(want); k > 1 && onLine(want[k-2], want[k-1], p); k = len(want) {
				want = want[:k-1]
			}
			want = append(want, p)
		}
		a := new(Scores)
		a.Add(scores, labels, nil)
		curve := a.ROC()
		if !slices.Equal(curve, want) || levels > n && len(curve) > n {
			t.Fatalf("%d levels: curve %v, want %v", levels, curve, want)
		}
		if roc, pr := a.CurvePoints(); roc != len(curve) || pr != len(a.PrecisionRecall()) {
			t.Errorf("%d levels: %d and %d points counted, there are %d and %d", levels, roc, pr, len(curve), len(a.PrecisionRecall()))
		}
		last := curve[len(curve)-1]
		if got, want := area(curve)/last.TruePositives/last.FalsePositives, a.AUC(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d levels: the area under the points is %v, that of all %v", levels, got, want)
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

// onLine tells whether b lies on the line from a to c.
func onLine(a, b, c Point) bool {
	return (b.FalsePositives-a.FalsePositives)*(c.TruePositives-b.TruePositives) == (c.FalsePositives-b.FalsePositives)*(b.TruePositives-a.TruePositives)
}

// TestPublishedCurve has the example in the documentation of scikit-learn's roc_curve, whose points are all corners.
func TestPublishedCurve(t *testing.T) {
	a := new(Scores)
	scores := []float32{0.1, 0.4, 0.35, 0.8}
	a.Add(scores, []float32{-1, -1, 1, 1}, nil)
	want := []Point{{math.Inf(1), 0, 0}, {float64(scores[3]), 0, 1}, {float64(scores[1]), 1, 1}, {float64(scores[2]), 1, 2}, {float64(scores[0]), 2, 2}}
	if got := a.ROC(); !slices.Equal(got, want) {
		t.Errorf("curve %v, want %v", got, want)
	}
}

// TestPrecisionOfNoWeight: rows of the weight 0 change nothing in the precision-recall curve, whatever their scores.
func TestPrecisionOfNoWeight(t *testing.T) {
	scores, labels := []float32{5, 4, 3, 2, 1}, []float32{1, -1, 1, -1, 1}
	want := []Point{{5, 0, 1}, {4, 1, 1}, {3, 1, 2}, {2, 2, 2}, {1, 2, 3}}
	for _, nothing := range [][]float32{nil, {9}, {9, 8}, {9, 0}} { // scores of such rows
		for _, label := range []float32{-1, 1} {
			s := new(Scores)
			s.Add(scores, labels, nil)
			for _, at := range nothing {
				s.Add([]float32{at}, []float32{label}, []float64{0})
			}
			got := s.PrecisionRecall()
			if len(nothing) == 2 && nothing[1] == 0 { // the last point has all rows
				got = got[:len(want)]
			}
			if !slices.Equal(got, want) {
				t.Errorf("with rows of the weight 0 and the scores %v: %v, want %v", nothing, got, want)
			}
		}
	}
	s := new(Scores)
	s.Add([]float32{1, 2}, []float32{1, -1}, []float64{0, 1})
	if got := s.PrecisionRecall(); got != nil {
		t.Errorf("the curve without a weight of positive rows is %v", got)
	}
}

// TestBinInterval: the interval of a bin is that of the recall of as many rows with these weights, and rows of the weight 0
// have none.
func TestBinInterval(t *testing.T) {
	for _, weights := range [][]float64{{1, 1, 1}, {2, 1, 3}, {0.5, 1, 1.25}, {0, 2, 1}, {0, 0}} {
		var c Calibration
		confusion := NewConfusion(2)
		for i, w := range weights {
			c.Add(0.55, i%2 == 0, w)
			confusion.Add(1, (i+1)%2, w)
		}
		got, want := c.Bins()[5].Interval, confusion.RecallInterval(1)
		if total := confusion.Total(); total == 0 && got[0] == got[0] || total > 0 && got != want {
			t.Errorf("weights %v: %v, want %v", weights, got, want)
		}
	}
}
