package predict

import (
	"math"
	"testing"

	"halfspace/internal/model"
)

// TestCalibrated: probabilities and losses are those of the definitions, and NaN of a score that is NaN.
func TestCalibrated(t *testing.T) {
	off := func(p float32, want float64) bool { return math.Abs(float64(p)-want) > 0x1p-24*want+1e-15 } // one rounding to float32
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	platt := &model.Calibration{Method: model.Platt, Classes: []model.Mapping{{A: -2, B: 0.5}, {A: -1, B: 0}, {A: 1, B: 1}}}
	steps := model.Mapping{Scores: []float64{-1, 1, 3}, Probabilities: []float64{0, 0.5, 0.75}}
	isotonic := &model.Calibration{Method: model.Isotonic, Classes: []model.Mapping{steps, steps, steps}}
	for _, s := range []struct{ score, p float64 }{{-5, 0}, {-1, 0}, {0, 0.25}, {1, 0.5}, {2, 0.625}, {3, 0.75}, {9, 0.75}, {math.Inf(-1), 0}, {math.Inf(1), 0.75}} {
		for positive := range 2 {
			for c, want := range map[*model.Calibration]float64{platt: sigmoid(2*s.score - 0.5), isotonic: s.p} {
				o := Odds{Positive: positive, Calibration: c}
				scores := [][]float32{{float32(s.score)}} // exactly
				p := Probabilities(scores, o)
				if off(p[positive][0], want) || off(p[1-positive][0], 1-want) {
					t.Errorf("%s of the score %v: %v, want %v", c.Method, s.score, p, want)
				}
				for _, y := range []float32{1, -1} {
					own := want
					if y < 0 {
						own = 1 - want
					}
					if own = -math.Log(max(own, 0x1p-52)); c == platt && s.score-s.score != 0 {
						continue
					}
					if got := LogLosses(scores, []float32{y}, o)[0]; math.Abs(got-own) > 1e-9*max(1, own) {
						t.Errorf("%s: loss of the score %v with the label %v: %v, want %v", c.Method, s.score, y, got, own)
					}
				}
			}
		}
	}
	three := [][]float32{{0.375, -9}, {-2, -9}, {1.5, -9}}
	for c, want := range map[*model.Calibration][]float64{platt: {sigmoid(0.25), sigmoid(-2), sigmoid(-2.5)}, isotonic: {0.34375, 0, 0.5625}} {
		p := Probabilities(three, Odds{Way: model.Joint, Calibration: c})
		sum := want[0] + want[1] + want[2]
		for k := range p {
			if off(p[k][0], want[k]/sum) {
				t.Errorf("%s, class %d: %v, want %v", c.Method, k, p[k][0], want[k]/sum)
			}
			if c == isotonic && p[k][1] != 1.0/3 {
				t.Errorf("no class is likely, and class %d has %v", k, p[k][1])
			}
			loss := LogLosses(three, []float32{float32(k), 0}, Odds{Way: model.Joint, Calibration: c})
			if own := -math.Log(max(want[k]/sum, 0x1p-52)); math.Abs(loss[0]-own) > 1e-12*max(1, own) {
				t.Errorf("%s, class %d: loss %v, want %v", c.Method, k, loss[0], own)
			}
		}
		if p := Probabilities([][]float32{{float32(math.NaN())}}, Odds{Calibration: c}); p[0][0] == p[0][0] || p[1][0] == p[1][0] {
			t.Errorf("%s of NaN: %v", c.Method, p)
		}
	}
}
