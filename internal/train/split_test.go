package train

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestStratified: each class has its share among the rows that are held back, to the nearest row, and rows on either side.
func TestStratified(t *testing.T) {
	counts := []int64{1000, 1, 2, 3, 37}
	for share, want := range map[float64][]int64{0.2: {200, 0, 1, 1, 7}, 0.5: {500, 0, 1, 2, 19}, 0.9: {900, 0, 1, 2, 33}, 1e-9: {0, 0, 0, 0, 0}} {
		is, held := Stratified(3, share, counts)(), make([]int64, len(counts))
		rng := rand.New(rand.NewPCG(1, 2))
		var rows []int
		for c, n := range counts {
			for range n {
				rows = append(rows, c)
			}
		}
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, c := range rows {
			if is(c) {
				held[c]++
			}
		}
		if !reflect.DeepEqual(held, want) {
			t.Errorf("share %v: %v held back, want %v", share, held, want)
		}
	}
}
