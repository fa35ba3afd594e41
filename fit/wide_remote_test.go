package fit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"halfspace/block"
	"halfspace/fit"
	"halfspace/internal/testrows"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

// thin returns sparse rows of that many elements and a bias, if there is one, in which a plane is right mostly.
func thin(n, features, elements int, bias bool) *block.Data {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(features)))
	spec := &schema.Spec{Features: make([]string, features), Bias: bias, Label: "label", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Positive: 1}
	for c := range spec.Features {
		spec.Features[c] = fmt.Sprint("x", c)
	}
	var blocks []*block.Block
	for first, per := 0, block.Rows(spec.Cols()); first < n; first += per {
		b := block.NewSparse(int64(first), min(per, n-first), 0, spec.Cols())
		s := b.Sparse
		for range min(per, n-first) {
			sum, at := 0.3, 0
			for k := range elements {
				at += 1 + rng.IntN((features-at-(elements-k))/(elements-k)+1)
				v := rng.NormFloat64()
				s.Idx, s.Val = append(s.Idx, uint32(at-1)), append(s.Val, float32(v))
				sum += v * float64(at%5-2)
			}
			if bias {
				s.Idx, s.Val = append(s.Idx, uint32(features)), append(s.Val, 1)
			}
			y := float32(-1)
			if sum+rng.NormFloat64() > 0 {
				y = 1
			}
			s.Ptr, b.Y = append(s.Ptr, int64(len(s.Idx))), append(b.Y, y)
		}
		blocks = append(blocks, b)
	}
	return block.NewData(spec, blocks)
}

// full returns sparse rows as dense ones.
func full(d *block.Data) *block.Data {
	var blocks []*block.Block
	for b := range d.Blocks(context.Background()) {
		to := block.New(b.First, b.Len(), b.Cols)
		copy(to.Y, b.Y)
		for r := range b.Len() {
			columns, values := b.Sparse.Row(r)
			for k, c := range columns {
				to.X[r*to.Stride+int(c)] = values[k]
			}
		}
		blocks = append(blocks, to)
	}
	return block.NewData(d.Spec(), blocks)
}

// TestRemoteWide: trainings on rows of many columns, whose steps conjugate gradients find, make every pass on a cluster too.
func TestRemoteWide(t *testing.T) {
	const sums = "truncated.look truncated.sums truncated.product train.evaluate"
	learners := map[string]fit.Learner{
		"logistic":      fit.Logistic(logistic.Options{L2: 1, Solver: logistic.Truncated, Options: train.Options{Epochs: 12}}),
		"squared hinge": fit.SVM(svm.Options{Options: train.Options{Epochs: 12}}),
		"hinge":         fit.SVM(svm.Options{Loss: svm.Hinge, Options: train.Options{Epochs: 20}}),
	}
	tasks := map[string]string{"logistic": sums + " truncated.scores", "squared hinge": sums + " truncated.rest svm.losses", "hinge": sums + " truncated.rest svm.losses"}
	weigh := func(row int) float64 { return float64(row%7) / 3 }
	far := full(thin(block.RunRows+50, 260, 5, true))
	for b := range far.Blocks(t.Context()) {
		for r := range b.Len() { // as Unix seconds are, so that the rows are centred
			b.X[r*b.Stride+3] += 1.7e9
		}
	}
	for name, l := range learners {
		t.Run(name, func(t *testing.T) {
			same(t, thin(2*block.RunRows+9, 260, 7, true), l, fit.Options{Balanced: true}, tasks[name]+" truncated.picked")
			same(t, testrows.Weighted(full(thin(block.RunRows+7, 260, 14, false)), weigh), l, fit.Options{}, tasks[name]+" truncated.picked")
			same(t, testrows.Weighted(thin(10*block.RunRows+3, 5000, 1, true), weigh), l, fit.Options{}, tasks[name]) // groups of several runs
			same(t, far, l, fit.Options{}, tasks[name])
		})
	}
	t.Run("few elements", func(t *testing.T) { // a group touches few of the columns
		few := train.Options{Epochs: 5}
		same(t, thin(3*block.RunRows+1, 40000, 1, true), fit.Logistic(logistic.Options{Options: few, L2: 1, Solver: logistic.Truncated}), fit.Options{}, sums)
	})
}
