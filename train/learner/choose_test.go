package learner_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// wrongWeight returns the sum of sample weights of wrong rows, row by row.
func wrongWeight(d *block.Data, w []float32) (sum float64) {
	cols := d.Spec().Cols()
	for b := range d.Blocks(context.Background()) { // each is a chunk
		part := 0.0
		for r, y := range b.Y {
			best, most := 0, float32(0)
			for c := range len(w) / cols {
				vector := append(slices.Clone(w[c*cols:(c+1)*cols]), make([]float32, b.Stride-cols)...)
				if s := kernel.Dot(b.X[r*b.Stride:(r+1)*b.Stride], vector); c == 0 || s > most {
					best, most = c, s
				}
			}
			if best != int(y) {
				part += b.Weight(r)
			}
		}
		sum += part
	}
	return sum
}

// TestChoose compares ChooseVectors with the procedure of its comment, followed literally. Rows have weights or not,
// and any number of workers.
func TestChoose(t *testing.T) {
	exchanges, swapped := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(3, seed))
		classes := 3 + rng.IntN(4)
		d := testproblems.RandomClasses(200+rng.IntN(100), 3, classes, 0.1)
		if seed%2 == 1 {
			d = testproblems.Weighted(d, func(r int) float64 { return float64(r % 5) })
		}
		cols := d.Spec().Cols()
		vectors := func() []float32 {
			w := make([]float32, classes*cols)
			for i := range w {
				w[i] = float32(rng.NormFloat64())
			}
			if seed%3 == 0 {
				clear(w[:cols])
			}
			return w
		}
		kept, last := vectors(), vectors()
		a, b := slices.Clone(kept), slices.Clone(last)
		for round := range 10 {
			all := wrongWeight(d, a)
			if round == 0 && wrongWeight(d, b) < all {
				a, b = b, a
				swapped++
				continue
			}
			best, least := -1, all
			for c := range classes {
				x := slices.Clone(a)
				copy(x[c*cols:(c+1)*cols], b[c*cols:])
				if e := wrongWeight(d, x); e < least {
					best, least = c, e
				}
			}
			if best < 0 {
				break
			}
			exchanges++
			for i := best * cols; i < (best+1)*cols; i++ {
				a[i], b[i] = b[i], a[i]
			}
		}
		for workers := 1; workers < 4; workers++ {
			got, err := learner.ChooseVectors(context.Background(), d, workers, kept, last)
			if err != nil || !slices.Equal(got, a) {
				t.Fatalf("seed %d, %d workers: error %v, chosen %v, want %v", seed, workers, err, got, a)
			}
		}
	}
	if exchanges < 60 || swapped < 10 {
		t.Errorf("%d vectors were exchanged, and %d times all: too few to tell", exchanges, swapped)
	}
}
