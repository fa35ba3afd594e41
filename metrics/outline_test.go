package metrics

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOutline: few points stay of both curves, and one of them is near each point of the whole curves. The first and the last stay.
func TestOutline(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, rows := range []int{0, 1, 10, 3000} {
		for _, most := range []int{3, 50, 2000} {
			var s Scores
			for range rows {
				y := float32(2*rng.IntN(2) - 1)
				s.Add([]float32{float32(rng.NormFloat64()) + y/2}, []float32{y}, []float64{float64(rng.IntN(4))})
			}
			roc, pr := s.Outline(most)
			for k, curves := range [][2][]Point{{roc, s.ROC()}, {pr, s.PrecisionRecall()}} {
				short, whole := curves[0], curves[1]
				if len(short) > most || (len(short) == 0) != (len(whole) == 0) {
					t.Fatalf("curve %d of %d points has %d of %d", k, most, len(short), len(whole))
				}
				if len(whole) == 0 {
					continue
				}
				last := whole[len(whole)-1]
				if !slices.EqualFunc([]Point{short[0], short[len(short)-1]}, []Point{whole[0], last}, func(a, b Point) bool { return a == b }) {
					t.Fatalf("curve %d ends at %v and %v", k, short[0], short[len(short)-1])
				}
				at := 0
				for _, p := range whole {
					for at+1 < len(short) && short[at+1].Threshold >= p.Threshold {
						at++
					}
					far := (p.FalsePositives-short[at].FalsePositives)/max(1, last.FalsePositives) + (p.TruePositives-short[at].TruePositives)/max(1, last.TruePositives)
					if far < 0 || most > 3 && far >= 2/float64(most-2) {
						t.Fatalf("curve %d of at most %d points: the point %v is %g from %v", k, most, p, far, short[at])
					}
				}
			}
		}
	}
}
