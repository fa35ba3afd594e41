package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/require"
)

// TestBin: a histogram of the scores has nearly the figures of all scores, takes no memory for each row, and depends neither on the
// blocks nor on the order of the rows.
func TestBin(t *testing.T) {
	rows := 200_000
	if require.Small() {
		rows = 20_000
	}
	rng := rand.New(rand.NewPCG(3, 4))
	scores, labels, weights := make([]float32, rows), make([]float32, rows), make([]float64, rows)
	for i := range scores {
		labels[i], weights[i] = float32(2*rng.IntN(2)-1), float64(rng.IntN(3))
		scores[i] = float32(rng.NormFloat64()) + labels[i]/2
	}
	scores[7] = float32(math.NaN())
	for _, w := range [][]float64{nil, weights} {
		var whole, binned, pieces Scores
		whole.Add(scores, labels, w)
		binned.Bin()
		binned.Add(scores, labels, w)
		pieces.Bin()
		for at := rows - rows/10; at >= 0; at -= rows / 10 {
			part := w
			if w != nil {
				part = w[at : at+rows/10]
			}
			pieces.Add(scores[at:at+rows/10], labels[at:at+rows/10], part)
		}
		for name, v := range map[string][3]float64{"AUC": {whole.AUC(), binned.AUC(), pieces.AUC()}, "AP": {whole.AveragePrecision(), binned.AveragePrecision(), pieces.AveragePrecision()}} {
			if off := math.Abs(v[0] - v[1]); !(off < 2e-4) || v[1] != v[2] {
				t.Errorf("%s: %v", name, v)
			}
		}
		a, b := whole.lastPoint(), binned.lastPoint()
		if a.FalsePositives != b.FalsePositives || a.TruePositives != b.TruePositives {
			t.Errorf("weights %v, binned %v", a, b)
		}
		if n := len(binned.positive.scores) + len(binned.negative.scores); n > 20_000 {
			t.Errorf("%d bins", n)
		}
	}
}
