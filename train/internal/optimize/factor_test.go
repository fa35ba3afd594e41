package optimize

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/schema"
)

// TestPick: rows of large curvature keep it. The others are given no less than theirs or nothing, and their sum stays within
// the threshold. There are about 8 rows for each column.
func TestPick(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, cols = 20_000, 100
	src := block.NewData(&schema.Spec{}, nil)
	for _, power := range []float64{0, 1, 4} {
		s := &search{Tally: &Tally{Task: &Task{Rows: src}}, table: &table{cols: cols}}
		total, most, picked, picks := 0.0, 0.0, 0, make([]float64, n)
		for range n {
			s.pointAtWeights.Curvature = append(s.pointAtWeights.Curvature, math.Pow(rng.Float64(), power)*float64(rng.IntN(2)))
			total += s.pointAtWeights.Curvature[len(s.pointAtWeights.Curvature)-1]
		}
		s.pickSample(picks)
		threshold, sum := total/(sampleRowsPerColumn*cols), 0.0
		for i, c := range s.pointAtWeights.Curvature {
			if sum += c - picks[i]; picks[i] > 0 {
				picked++
			}
			if picks[i] != 0 && picks[i] < c || picks[i] > max(c, threshold) || c >= threshold && picks[i] != c {
				t.Fatalf("power %v: row %d has the curvature %v, and %v in the sample; the threshold is %v", power, i, c, picks[i], threshold)
			}
			most = max(most, math.Abs(sum))
		}
		if most > threshold*(1+1e-9) {
			t.Errorf("power %v: the sums differ by up to %v, more than %v", power, most, threshold)
		}
		if picked > sampleRowsPerColumn*cols+1 || picked < sampleRowsPerColumn*cols/4 {
			t.Errorf("power %v: %d rows are picked", power, picked)
		}
	}
}
