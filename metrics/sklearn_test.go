package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A sklearnCase is rows of two classes and scikit-learn's figures of them, of testdata/sklearn_metrics.py.
type sklearnCase struct {
	Name                           string
	Scores                         []float32
	Labels, Weights, Probabilities []float64 // Probabilities are float32 numbers
	AUC, Brier, Accuracy           float64
	AveragePrecision               float64 `json:"average_precision"`
	LogLoss                        float64 `json:"log_loss"`
	Precision, Recall, Thresholds  []float64
	BestF1                         float64 `json:"best_f1"`
	Calibration, Confusion         [][]float64
	PrecisionOf1                   float64 `json:"precision_of_1"`
	RecallOf1                      float64 `json:"recall_of_1"`
	F1Of1                          float64 `json:"f1_of_1"`
}

// casesOf reads the cases of a file of testdata, which a script beside it wrote.
func casesOf[T any](t *testing.T, name string) []T {
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Sklearn string
		Cases   []T
	}
	if err := json.Unmarshal(text, &file); err != nil || file.Sklearn != "1.2.1" || len(file.Cases) < 5 {
		t.Fatalf("scikit-learn %q, %d cases, error %v", file.Sklearn, len(file.Cases), err)
	}
	return file.Cases
}

func sklearnCases(t *testing.T) []sklearnCase { return casesOf[sklearnCase](t, "sklearn_metrics.json") }

// weight returns the weight of row i, 1 without weights.
func (c *sklearnCase) weight(i int) float64 {
	if len(c.Weights) == 0 {
		return 1
	}
	return c.Weights[i]
}

// scores adds the rows in an order, so that nothing depends on it.
func (c *sklearnCase) scores(order []int) *Scores {
	s := new(Scores)
	for _, i := range order {
		var weights []float64
		if len(c.Weights) > 0 {
			weights = c.Weights[i : i+1]
		}
		s.Add(c.Scores[i:i+1], []float32{float32(2*c.Labels[i] - 1)}, weights)
	}
	return s
}

// near tells whether numbers are equal but for the roundings of scikit-learn's sums of hundreds of numbers.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

func TestSklearnRanking(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, c := range sklearnCases(t) {
		s := c.scores(rng.Perm(len(c.Scores)))
		if got := s.AUC(); !near(got, c.AUC) {
			t.Errorf("%s: AUC %v, want %v", c.Name, got, c.AUC)
		}
		ap := s.AveragePrecision()
		if !near(ap, c.AveragePrecision) {
			t.Errorf("%s: average precision %v, want %v", c.Name, ap, c.AveragePrecision)
		}
		curve := s.PrecisionRecall()
		all := curve[len(curve)-1].TruePositives
		for k, p := range curve {
			i := slices.Index(c.Thresholds, p.Threshold)
			if i < 0 || !near(p.Precision(), c.Precision[i]) || !near(p.TruePositives/all, c.Recall[i]) {
				t.Fatalf("%s: point %d %v: precision %v, recall %v; scikit-learn's are number %d", c.Name, k, p, p.Precision(), p.TruePositives/all, i)
			}
		}
		if len(c.Weights) == 0 && len(curve) >= len(c.Thresholds) {
			t.Errorf("%s: %d points of %d: none is left out", c.Name, len(curve), len(c.Thresholds))
		}
		threshold, f1 := s.BestF1()
		if confusion := s.Confusion(threshold, 1); !near(f1, c.BestF1) || !near(confusion.F1(1), c.BestF1) {
			t.Errorf("%s: best F1 %v, by the threshold %v, want %v", c.Name, f1, confusion.F1(1), c.BestF1)
		}
		if again := c.scores(rng.Perm(len(c.Scores))); again.AUC() != s.AUC() || again.AveragePrecision() != ap || !slices.Equal(again.PrecisionRecall(), curve) {
			t.Errorf("%s: another order of the rows gives other figures", c.Name)
		}
	}
}

func TestSklearnShares(t *testing.T) {
	for _, c := range sklearnCases(t) {
		order := make([]int, len(c.Scores))
		for i := range order {
			order[i] = i
		}
		confusion := c.scores(order).Confusion(0, 1)
		for actual, row := range c.Confusion {
			for predicted, want := range row {
				if got := confusion.Weight(actual, predicted); !near(got, want) {
					t.Errorf("%s: class %d, predicted %d: %v, want %v", c.Name, actual, predicted, got, want)
				}
			}
		}
		for k, pair := range [][2]float64{{confusion.Accuracy(), c.Accuracy}, {confusion.Precision(1), c.PrecisionOf1}, {confusion.Recall(1), c.RecallOf1},
			{confusion.F1(1), c.F1Of1}} {
			if !near(pair[0], pair[1]) {
				t.Errorf("%s: figure %d is %v, want %v", c.Name, k, pair[0], pair[1])
			}
		}
	}
}

func TestSklearnProbabilities(t *testing.T) {
	for _, c := range sklearnCases(t) {
		var brier, loss Mean
		var calibration Calibration
		for i, p := range c.Probabilities {
			class, weight := int(c.Labels[i]), []float64{c.weight(i)}
			brier.Add([]float64{BrierLoss([][]float32{{float32(1 - p)}, {float32(p)}}, 0, class)}, weight)
			loss.Add([]float64{-math.Log([]float64{1 - p, p}[class])}, weight)
			calibration.Add(p, class == 1, weight[0])
		}
		// Where 1-p is rounded, by up to 2^-25, p is below 1/2: that moves a loss of p^2 by no more.
		if math.Abs(brier.Value()-c.Brier) > 0x1p-25+1e-12 || !near(loss.Value(), c.LogLoss) {
			t.Errorf("%s: Brier score %v, want %v; log loss %v, want %v", c.Name, brier.Value(), c.Brier, loss.Value(), c.LogLoss)
		}
		want, off, weight := c.Calibration, 0.0, 0.0
		for k, b := range calibration.Bins() {
			if b.Rows == 0 {
				continue
			}
			w := want[0]
			if want = want[1:]; int(w[0]) != k || float64(b.Rows) != w[1] || !near(b.Weight, w[2]) || w[2] > 0 && (!near(b.Probability, w[3]) || !near(b.Share, w[4])) {
				t.Errorf("%s: bin %d is %+v, want %v", c.Name, k, b, w)
			}
			off, weight = off+math.Abs(w[3]-w[4])*w[2], weight+w[2]
		}
		if got := calibration.Error(); len(want) > 0 || !near(got, off/weight) {
			t.Errorf("%s: %d bins too few, calibration error %v, want %v", c.Name, len(want), got, off/weight)
		}
	}
}

// TestThresholds: no other threshold has a higher F1 or a lower cost, and the figures are those of the threshold.
func TestThresholds(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 300 {
		s := new(Scores)
		n := 1 + rng.IntN(12)
		scores, labels := make([]float32, n), make([]float32, n)
		for i := range scores {
			scores[i], labels[i] = float32(rng.IntN(6))-3, float32(2*rng.IntN(2)-1)
			switch rng.IntN(12) {
			case 0:
				scores[i] = math.Nextafter32(1, 2)
			case 1:
				scores[i] = float32(math.NaN())
			case 2:
				scores[i] = float32(math.Inf(1 - 2*rng.IntN(2)))
			}
		}
		s.Add(scores, labels, nil)
		a, b := float64(rng.IntN(4)), float64(rng.IntN(4))
		cost := func(c *Confusion) float64 { return a*c.Weight(0, 1) + b*c.Weight(1, 0) }
		byF1, f1 := s.BestF1()
		byCost, least := s.LeastCost(a, b)
		if got := s.Confusion(byF1, 1).F1(1); got != f1 && slices.Contains(labels, 1) {
			t.Fatalf("%v, %v: F1 of the threshold %v is %v, not %v", scores, labels, byF1, got, f1)
		}
		for _, at := range []float64{byF1, byCost} {
			low, high := s.Neighbours(at)
			if at == at && (at-at != 0 || at < low || at >= high || at == low && math.Nextafter(low, math.Inf(1)) < high) {
				t.Fatalf("%v, %v: threshold %v between %v and %v", scores, labels, at, low, high)
			}
		}
		if got := cost(s.Confusion(byCost, 1)); got != least {
			t.Fatalf("%v, %v: cost of the threshold %v is %v, not %v", scores, labels, byCost, got, least)
		}
		for _, other := range append(scores, -10, float32(math.Inf(-1))) {
			if !(other <= math.MaxFloat32) { // +Inf and NaN, which nobody can type
				continue
			}
			c := s.Confusion(float64(other), 1)
			if c.F1(1) > f1 || cost(c) < least {
				t.Fatalf("%v, %v: threshold %v has F1 %v and cost %v, better than %v and %v", scores, labels, other, c.F1(1), cost(c), f1, least)
			}
		}
	}
	s := new(Scores)
	s.Add([]float32{1, 2, 3, 4}, []float32{-1, 1, -1, 1}, nil)
	if at, cost := s.LeastCost(1, 5); at != 1.5 || cost != 1 {
		t.Errorf("threshold %v of cost %v, want 1.5 of cost 1", at, cost)
	}
	if at, cost := s.LeastCost(5, 1); at != 3.5 || cost != 1 {
		t.Errorf("threshold %v of cost %v, want 3.5 of cost 1", at, cost)
	}
}

// TestBrier has the losses of a forecast of three classes, by hand from the definition of Brier 1950.
func TestBrier(t *testing.T) {
	p := [][]float32{{0.625}, {0.25}, {0.125}} // no product of these is rounded
	for class, want := range []float64{(9.0 + 4 + 1) / 64, (25.0 + 36 + 1) / 64, (25.0 + 4 + 49) / 64} {
		if got := BrierLoss(p, 0, class); got != want {
			t.Errorf("class %d: %v, want %v", class, got, want)
		}
	}
}
