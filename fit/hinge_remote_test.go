package fit_test

import (
	"testing"

	"halfspace/block"
	"halfspace/fit"
	"halfspace/internal/testrows"
	"halfspace/train"
	"halfspace/train/svm"
)

// TestRemoteHinge: a training with the hinge makes every pass on a cluster, which gets a number for each row.
func TestRemoteHinge(t *testing.T) {
	hinge := func(epochs int64) fit.Learner {
		return fit.SVM(svm.Options{Loss: svm.Hinge, Options: train.Options{Epochs: epochs}})
	}
	two := testrows.Logistic(2*block.RunRows+100, 7)
	far := testrows.Logistic(block.RunRows+9, 3)
	long := testrows.Logistic(16*block.RunRows+1, 5) // enough for a sample
	for b := range far.Blocks(t.Context()) {
		for r := range b.Len() {
			b.X[r*b.Stride] += 1.7e9
		}
	}
	for _, d := range []*block.Data{two, far, long} {
		twoNamed(d)
	}
	weighted := testrows.Weighted(two, func(row int) float64 { return float64(row%7) / 3 })
	for _, d := range []*block.Data{two, weighted, testrows.Sparse(two)} {
		same(t, d, hinge(0), fit.Options{}, "svm.hinge svm.near svm.losses")
	}
	same(t, far, hinge(0), fit.Options{}, "svm.hinge train.evaluate")
	same(t, long, hinge(0), fit.Options{}, "svm.near train.sample")
	same(t, thin(block.RunRows+7, 20, 3, false), hinge(20), fit.Options{Balanced: true}, "svm.hinge train.classes")
	three := testrows.RandomClasses(block.RunRows+5, 4, 3, 0.2)
	same(t, three, hinge(0), fit.Options{Multiclass: "ovr"}, "svm.hinge")
}

// TestResumeRemote is TestResume of solvers with a number for each row, on a cluster.
func TestResumeRemote(t *testing.T) {
	wide, small := testrows.Sparse(noise(block.RunRows+300, 20, 2)), noise(block.RunRows+300, 5, 2)
	many := thin(block.RunRows+300, 260, 3, true)
	resumed(t, block.Trust(testrows.NewRemote(wide, 1)), "logistic", []string{"solver=truncated", "l2=0.1"})
	resumed(t, block.Trust(testrows.NewRemote(many, 2)), "svm", []string{"epochs=30"})
	resumed(t, block.Trust(testrows.NewRemote(many, 3)), "svm", []string{"loss=hinge", "epochs=30"})
	resumed(t, block.Trust(testrows.NewRemote(small, 4)), "svm", []string{"loss=hinge"})
}
