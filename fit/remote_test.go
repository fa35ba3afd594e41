package fit_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/fit"
	"halfspace/internal/testrows"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/adaptive"
	"halfspace/train/lda"
	"halfspace/train/logistic"
	"halfspace/train/passive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
)

// TestRemote: a training whose passes other processes make has the model of one process, byte for byte. The test fails if the
// passes are not made there.
func TestRemote(t *testing.T) {
	two := testrows.Logistic(3*block.RunRows+100, 7)
	far := testrows.Logistic(2*block.RunRows+9, 3)
	for b, err := range far.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		for r := range b.Len() { // as Unix seconds are, so that the rows are centred
			b.X[r*b.Stride] += 1.7e9
		}
	}
	for _, d := range []*block.Data{two, far} {
		twoNamed(d)
	}
	three := testrows.RandomClasses(2*block.RunRows+5, 4, 3, 0.2)
	long := testrows.Logistic(16*block.RunRows+1, 5) // enough for a sample
	twoNamed(long)
	weighted := testrows.Weighted(two, func(row int) float64 { return float64(row%7) / 3 })
	for _, c := range []struct {
		name    string
		learner fit.Learner
		opt     fit.Options
		tasks   string // that must be among those that were made elsewhere
	}{
		{"lda", fit.LDA(lda.Options{}), fit.Options{}, "lda.moments train.evaluate block.fingerprint fit.survey"},
		{"shrinkage", fit.LDA(lda.Options{Shrinkage: lda.LedoitWolf}), fit.Options{}, "lda.moments lda.fourth"},
		{"logistic", fit.Logistic(logistic.Options{L2: 1}), fit.Options{}, "logistic.gradient logistic.hessian train.evaluate"},
		{"lbfgs", fit.Logistic(logistic.Options{Solver: logistic.LBFGS}), fit.Options{}, "logistic.gradient logistic.moments"},
		{"l1", fit.Logistic(logistic.Options{L1: 3, L2: 1}), fit.Options{}, "logistic.elastic logistic.losses elastic.weigh"},
		{"balanced", fit.Logistic(logistic.Options{L2: 1}), fit.Options{Balanced: true}, "logistic.hessian train.classes"},
		{"svm", fit.SVM(svm.Options{}), fit.Options{}, "svm.hessian svm.losses train.evaluate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, two, c.learner, c.opt, c.tasks)
			same(t, far, c.learner, c.opt, c.tasks)
			same(t, weighted, c.learner, c.opt, c.tasks)
			same(t, testrows.Sparse(two), c.learner, c.opt, c.tasks)
		})
	}
	for name, o := range map[string]perceptron.Options{
		"averaged": {Options: train.Options{Shards: 3, Epochs: 3, Seed: 5, Order: train.Shuffle}, Form: train.Averaged},
		"mistakes": {Options: train.Options{Shards: 2, Epochs: 4, Mix: train.Mistakes}, L2: 0.1},
		"pocket":   {Options: train.Options{Shards: 2, Epochs: 3, Seed: 1, Order: train.Random}, Pocket: pocket.Exact},
	} {
		t.Run(name, func(t *testing.T) {
			tasks := "perceptron.pass"
			if o.Pocket != "" {
				tasks += " pocket.errors"
			}
			for _, d := range []*block.Data{two, weighted, testrows.Sparse(two), testrows.Sparse(weighted)} {
				same(t, d, fit.Perceptron(o), fit.Options{}, tasks)
			}
		})
	}
	shared := train.Options{Shards: 3, Epochs: 3, Seed: 5, Order: train.Shuffle}
	t.Run("passive", func(t *testing.T) {
		tasks := "passive-aggressive.pass train.evaluate"
		same(t, two, fit.PassiveAggressive(passive.Options{Options: shared, Loss: passive.SquaredHinge}), fit.Options{}, tasks)
		same(t, three, fit.PassiveAggressive(passive.Options{Options: shared, C: 0.1}), fit.Options{}, tasks)
	})
	t.Run("adagrad", func(t *testing.T) {
		for _, loss := range adaptive.Losses {
			same(t, weighted, fit.AdaGrad(adaptive.AdaGradOptions{Options: shared, Loss: loss}), fit.Options{}, "adagrad.pass train.evaluate")
		}
	})
	t.Run("sample", func(t *testing.T) {
		same(t, long, fit.Logistic(logistic.Options{L2: 1}), fit.Options{}, "train.sample")
		same(t, long, fit.SVM(svm.Options{}), fit.Options{}, "train.sample")
	})
	t.Run("separable", func(t *testing.T) {
		d := testrows.Logistic(2*block.RunRows+5, 3)
		twoNamed(d)
		for b := range d.Blocks(context.Background()) {
			for r := range b.Len() {
				b.Y[r] = float32(math.Copysign(1, float64(b.X[r*b.Stride])))
				b.X[r*b.Stride] += b.Y[r]
			}
		}
		same(t, d, fit.Logistic(logistic.Options{NoPenalty: true}), fit.Options{}, "logistic.probe")
		same(t, d, fit.Perceptron(perceptron.Options{Options: train.Options{Shards: 2}, Pocket: pocket.Exact}), fit.Options{}, "perceptron.some")
	})
	t.Run("sgd", func(t *testing.T) {
		same(t, two, fit.Logistic(logistic.Options{Options: shared, Solver: logistic.SGD, L2: 1}), fit.Options{}, "logistic.sgd")
		same(t, three, fit.Logistic(logistic.Options{Options: train.Options{Shards: 2}, Solver: logistic.SGD, L2: 1}), fit.Options{}, "logistic.sgd")
	})
	t.Run("versus", func(t *testing.T) {
		same(t, three, fit.SVM(svm.Options{}), fit.Options{}, "svm.hessian")
		o := perceptron.Options{Options: train.Options{Shards: 2, Epochs: 3}, Pocket: pocket.Exact}
		same(t, three, fit.Perceptron(o), fit.Options{}, "perceptron.pass pocket.errors")
	})
	t.Run("shares", func(t *testing.T) {
		held, tasks := fit.Options{HoldOut: 0.2}, "fit.classes train.classes passes.pick"
		for _, d := range []*block.Data{two, weighted, testrows.Sparse(weighted)} {
			same(t, d, fit.Logistic(logistic.Options{L2: 1}), held, tasks)
			same(t, d, fit.Perceptron(perceptron.Options{Options: shared, Pocket: pocket.Exact}), held, tasks)
		}
		same(t, three, fit.PassiveAggressive(passive.Options{Options: train.Options{Shards: 2, Epochs: 3}}), fit.Options{HoldOut: 0.4, Balanced: true}, tasks)
		same(t, two, fit.LDA(lda.Options{}), fit.Options{CV: &fit.CV{Folds: 3}}, tasks)
		same(t, three, fit.SVM(svm.Options{}), fit.Options{CV: &fit.CV{Folds: 2, Score: fit.ByF1, Grid: []fit.Axis{{Option: "l2", Values: []string{"1", "9"}}}}}, tasks)
		wide := testrows.Logistic(block.RunRows+1000, 300)
		twoNamed(wide)
		same(t, testrows.Sparse(wide), fit.Logistic(logistic.Options{Options: train.Options{Epochs: 3}, L2: 1}), held, tasks)
	})
	t.Run("classes", func(t *testing.T) {
		same(t, three, fit.LDA(lda.Options{Options: train.Options{}}), fit.Options{}, "lda.moments")
		same(t, three, fit.Logistic(logistic.Options{NoPenalty: true}), fit.Options{Balanced: true}, "logistic.joint train.classes")
		wide := testrows.RandomClasses(block.RunRows+5, 350, 3, 0.2)
		same(t, testrows.Sparse(wide), fit.Logistic(logistic.Options{Options: train.Options{Epochs: 3}, L2: 1}), fit.Options{}, "logistic.columns")
	})
}

// twoNamed gives the columns and classes of rows names.
func twoNamed(d *block.Data) {
	s := d.Spec()
	s.Classes, s.Label = []schema.Class{schema.IntClass(0), schema.IntClass(1)}, "label"
	for i := range s.Features {
		s.Features[i] = fmt.Sprint("x", i)
	}
}

// same learns from rows in this process and on a cluster, and compares the models. Every pass must be the cluster's.
func same(t *testing.T, d *block.Data, l fit.Learner, opt fit.Options, tasks string) {
	t.Helper()
	remote := testrows.NewRemote(d, 7)
	var files [2]bytes.Buffer
	for i, src := range []block.Source{d, remote} {
		f, err := fit.Learn(context.Background(), block.Trust(src), l, opt)
		if err != nil && strings.Contains(err.Error(), "a plane separates the classes") { // the same error has to come of both
			files[i].WriteString(err.Error())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Model.WriteTo(&files[i]); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&files[i], f.Validation)
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Errorf("the models differ:\n%s\n%s", &files[0], &files[1])
	}
	made := remote.Tasks()
	for _, name := range strings.Fields(tasks) {
		if made[name] == 0 {
			t.Errorf("no pass %s was made elsewhere: %v", name, made)
		}
	}
	if n := remote.Read(); n != 0 {
		t.Errorf("%d passes were made in this process", n)
	}
}
