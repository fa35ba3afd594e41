package learner

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

const mostRounds = 10

// ChooseVectors returns one vector of weights for each class of src: the class's vector in kept or its vector in last.
// It aims at the fewest errors when the class with the greatest score is predicted. kept and last each have a vector of
// src's columns for each class, in the order of the classes.
//
// The best vector for one class versus the rest need not be the best beside the vectors of the other classes. For
// example, all scores of a rare class may be negative, and still be the greatest scores of its rows. ChooseVectors
// begins with all vectors of kept, or with all vectors of last if they make fewer errors. Each round exchanges the
// vector of one class: the first class whose exchange leaves the fewest errors. ChooseVectors ends when no exchange
// leaves fewer errors, or after 10 rounds. An error counts as much as the row's sample weight. Sums are made within
// chunks of rows, and then in the order of the chunks.
func ChooseVectors(ctx context.Context, src block.Source, workers int, kept, last []float32) ([]float32, error) {
	cols := src.Spec().Cols()
	chosen, other := slices.Clone(kept), slices.Clone(last)
	if slices.Equal(kept, last) {
		return chosen, nil
	}
	for round := range mostRounds {
		errors, err := exchangeErrors(ctx, src, workers, chosen, other)
		if err != nil {
			return nil, err
		}
		classes := len(errors) - 2
		best := 0
		for i, e := range errors[:classes+1] {
			if e < errors[best] {
				best = i
			}
		}
		if all := errors[classes+1]; round == 0 && all < errors[0] {
			chosen, other = other, chosen
			continue
		}
		if best == 0 {
			break
		}
		lo, hi := (best-1)*cols, best*cols
		for i := lo; i < hi; i++ {
			chosen[i], other[i] = other[i], chosen[i]
		}
	}
	return chosen, nil
}

// exchangeErrors returns sums of the sample weights of wrongly predicted rows: sum 0 with the chosen vectors, sum c+1
// with the chosen vectors but the other vector of class c, and the last sum with all other vectors.
func exchangeErrors(ctx context.Context, src block.Source, workers int, chosen, other []float32) ([]float64, error) {
	args := [2][]float32{chosen, other}
	sums := make([]float64, len(chosen)/src.Spec().Cols()+2)
	err := exchangePass.Reduce(ctx, src, workers, args, func(s []float64) { f64.Axpy(sums, 1, s) })
	return sums, err
}

// exchangePass is the pass of exchangeErrors. Its arguments are the chosen vectors and the other vectors.
var exchangePass = passes.New("train.exchange", exchangeChunk)

// exchangeChunk returns the function that computes the sums of exchanged for one chunk.
func exchangeChunk(src block.Source, args [2][]float32) func(block.Chunk) []float64 {
	a, b := paddedVectors(args[0], src.Spec().Cols()), paddedVectors(args[1], src.Spec().Cols())
	return func(chunk block.Chunk) []float64 { return exchangeErrorsOfChunk(chunk, a, b) }
}

// paddedVectors cuts weights into vectors of cols elements, and returns copies of them, each of kernel.Stride(cols)
// elements.
func paddedVectors(weights []float32, cols int) (w [][]float32) {
	for v := range slices.Chunk(weights, cols) {
		one := block.Alloc[float32](kernel.Stride(cols))
		copy(one, v)
		w = append(w, one)
	}
	return w
}

func exchangeErrorsOfChunk(chunk block.Chunk, a, b [][]float32) []float64 {
	classes := len(a)
	of, others := classScores(chunk, a), classScores(chunk, b)
	sums := make([]float64, classes+2)
	for i, y := range chunk.Y {
		first := greatestClass(of, i, -1)
		second := greatestClass(of, i, first)
		weight := chunk.Weight(i)
		add := func(k, predicted int) {
			if predicted != int(y) {
				sums[k] += weight
			}
		}
		add(0, first)
		for c := range classes {
			rival := first // class with the greatest score, class c left out
			if c == first {
				rival = second
			}
			if s, r := others[c][i], of[rival][i]; s > r || s == r && c < rival {
				rival = c
			}
			add(c+1, rival)
		}
		add(classes+1, greatestClass(others, i, -1))
	}
	return sums
}

func classScores(chunk block.Chunk, w [][]float32) [][]float32 {
	scores := make([][]float32, len(w))
	for c := range w {
		scores[c] = make([]float32, chunk.Len())
		chunk.Scores(w[c], scores[c])
	}
	return scores
}

// greatestClass returns the first class with the greatest score of row i. It skips the class other.
func greatestClass(scores [][]float32, i, other int) int {
	best, most := -1, math.Inf(-1)
	for c, s := range scores {
		if c != other && (best < 0 || float64(s[i]) > most) {
			best, most = c, float64(s[i])
		}
	}
	return best
}
