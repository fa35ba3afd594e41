package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A probabilityCase is rows and what scikit-learn makes of them, of testdata/sklearn_calibrate.py.
type probabilityCase struct {
	Name            string
	Scores          []float32
	Labels, Weights []float64
	At, Isotonic    []float64
	A, B            float64
}

func (c *probabilityCase) rows() *Rows {
	r := &Rows{Scores: c.Scores}
	for _, y := range c.Labels {
		r.Positive = append(r.Positive, y > 0)
	}
	if len(c.Weights) > 0 {
		r.Weights = c.Weights
	}
	return r
}

func probabilityCases(t *testing.T) []probabilityCase {
	text, err := os.ReadFile("testdata/sklearn_calibrate.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Sklearn string
		Cases   []probabilityCase
	}
	if err := json.Unmarshal(text, &file); err != nil || file.Sklearn != "1.2.1" || len(file.Cases) < 8 {
		t.Fatalf("scikit-learn %q, %d cases, error %v", file.Sklearn, len(file.Cases), err)
	}
	return file.Cases
}

// at returns the probability of a score: linear between two scores.
func at(scores, probabilities []float64, s float64) float64 {
	i, found := slices.BinarySearch(scores, s)
	switch {
	case found:
		return probabilities[i]
	case i == 0:
		return probabilities[0]
	case i == len(scores):
		return probabilities[i-1]
	}
	return probabilities[i-1] + (probabilities[i]-probabilities[i-1])*(s-scores[i-1])/(scores[i]-scores[i-1])
}

func TestSklearn(t *testing.T) {
	for _, c := range probabilityCases(t) {
		scores, probabilities := Isotonic(c.rows())
		for i, s := range c.At {
			if got := at(scores, probabilities, s); math.Abs(got-c.Isotonic[i]) > 1e-12 {
				t.Errorf("%s: isotonic probability of %v is %v, want %v", c.Name, s, got, c.Isotonic[i])
				break
			}
		}
		a, b := Platt(c.rows())
		if math.Abs(a-c.A) > 1e-9*math.Abs(c.A) || math.Abs(b-c.B) > 1e-9*max(1, math.Abs(c.B)) {
			t.Errorf("%s: sigmoid of %v and %v, want %v and %v", c.Name, a, b, c.A, c.B)
		}
	}
}

// TestIsotonicOptimum: no ascending probabilities have a lower sum of squares, by the formula of largest lower means
// (Barlow et al. 1972): the probability of a score is the maximum over lower ends of the minimum over upper ends of the
// mean between them.
func TestIsotonicOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rng.IntN(12)
		r := &Rows{}
		for range n {
			r.Scores, r.Positive = append(r.Scores, float32(rng.IntN(8))), append(r.Positive, rng.IntN(2) == 0)
			r.Weights = append(r.Weights, float64(rng.IntN(4)))
		}
		mean := func(low, high float32) float64 {
			hits, all := 0.0, 0.0
			for i, s := range r.Scores {
				if s >= low && s <= high {
					if all += r.Weights[i]; r.Positive[i] {
						hits += r.Weights[i]
					}
				}
			}
			return hits / all
		}
		scores, probabilities := Isotonic(r)
		for i, s := range r.Scores {
			if r.Weights[i] == 0 {
				continue
			}
			want := math.Inf(-1)
			for _, low := range r.Scores {
				least := math.Inf(1)
				for _, high := range r.Scores {
					if m := mean(low, high); low <= s && high >= s && m == m {
						least = min(least, m)
					}
				}
				if low <= s {
					want = max(want, least)
				}
			}
			if got := at(scores, probabilities, float64(s)); math.Abs(got-want) > 1e-15 {
				t.Fatalf("%+v: probability of %v is %v, want %v", r, s, got, want)
			}
		}
	}
	if s, p := Isotonic(&Rows{Scores: []float32{1}, Positive: []bool{true}, Weights: []float64{0}}); s != nil || p != nil {
		t.Errorf("of no weight: %v, %v", s, p)
	}
}

// TestCopies: a row of weight 3 is as good as three rows, in any order.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	weighted, copies := &Rows{}, &Rows{}
	for range 300 {
		s, w := math.Round(rng.NormFloat64()*8)/8, rng.IntN(4)
		positive := rng.Float64() < 1/(1+math.Exp(-2*s))
		weighted.Scores, weighted.Positive, weighted.Weights = append(weighted.Scores, float32(s)), append(weighted.Positive, positive), append(weighted.Weights, float64(w))
		for range w {
			copies.Scores, copies.Positive = append(copies.Scores, float32(s)), append(copies.Positive, positive)
		}
	}
	a, b := Platt(weighted)
	if c, d := Platt(copies); math.Abs(a-c) > 1e-10 || math.Abs(b-d) > 1e-10 || math.Abs(a+2) > 0.5 {
		t.Errorf("sigmoid %v, %v; of copies %v, %v", a, b, c, d)
	}
	s, p := Isotonic(weighted)
	if q, r := Isotonic(copies); !slices.Equal(s, q) || !slices.Equal(p, r) {
		t.Errorf("isotonic %v, %v; of copies %v, %v", s, p, q, r)
	}
}

// TestUnits: the unit of the scores doesn't matter.
func TestUnits(t *testing.T) {
	for _, c := range probabilityCases(t) {
		a, b := Platt(c.rows())
		s, p := Isotonic(c.rows())
		small := c.rows()
		small.Scores = slices.Clone(c.Scores)
		for i := range small.Scores {
			small.Scores[i] = float32(math.Ldexp(float64(c.Scores[i]), -100)) // exactly: but for 0, no score is nearer to 0 than 2^-18
		}
		for i := range s {
			s[i] = math.Ldexp(s[i], -100)
		}
		if x, y := Platt(small); x != math.Ldexp(a, 100) || y != b {
			t.Errorf("%s: sigmoid %v, %v; of small scores %v, %v", c.Name, a, b, x, y)
		}
		if x, y := Isotonic(small); !slices.Equal(x, s) || !slices.Equal(y, p) {
			t.Errorf("%s: isotonic steps depend on the unit", c.Name)
		}
	}
}

// TestOddRows: Platt's sigmoid is finite for rows of one class, equal scores, no weight, and scores near the ends of float32.
func TestOddRows(t *testing.T) {
	for name, r := range map[string]*Rows{
		"one class":    {Scores: []float32{1, 2, 3}, Positive: []bool{true, true, true}},
		"equal scores": {Scores: []float32{7, 7, 7}, Positive: []bool{true, false, true}},
		"zeros":        {Scores: []float32{0, 0}, Positive: []bool{true, false}},
		"no weight":    {Scores: []float32{1, 2}, Positive: []bool{true, false}, Weights: []float64{0, 0}},
		"large scores": {Scores: []float32{-math.MaxFloat32, 1, math.MaxFloat32, -2}, Positive: []bool{false, false, true, true}},
		"tiny scores":  {Scores: []float32{-math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32}, Positive: []bool{false, true, true}},
		"no rows":      {},
	} {
		if a, b := Platt(r); a-a != 0 || b-b != 0 {
			t.Errorf("%s: %v, %v", name, a, b)
		}
		if s, p := Isotonic(r); len(s) != len(p) {
			t.Errorf("%s: %v, %v", name, s, p)
		}
	}
}
