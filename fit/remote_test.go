package fit_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/fit"
	"halfspace/internal/testrows"
	"halfspace/kernel"
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
	for _, d := range []*block.Data[float32]{two, far} {
		s := d.Spec()
		s.Classes, s.Label = []schema.Class{schema.IntClass(0), schema.IntClass(1)}, "label"
		for i := range s.Features {
			s.Features[i] = fmt.Sprint("x", i)
		}
	}
	three := testrows.RandomClasses[float64](2*block.RunRows+5, 4, 3, 0.2)
	for _, c := range []struct {
		name    string
		learner fit.Learner
		opt     fit.Options
		tasks   string // that must be among those that were made elsewhere
	}{
		{"lda", fit.LDA(lda.Options{}), fit.Options{}, "lda.moments train.evaluate block.fingerprint"},
		{"logistic", fit.Logistic(logistic.Options{L2: 1}), fit.Options{}, "logistic.gradient logistic.hessian train.evaluate"},
		{"balanced", fit.Logistic(logistic.Options{L2: 1}), fit.Options{Balanced: true}, "logistic.hessian"},
		{"svm", fit.SVM(svm.Options{}), fit.Options{}, "svm.hessian train.evaluate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, two, c.learner, c.opt, c.tasks)
			same(t, far, c.learner, c.opt, c.tasks)
		})
	}
	for name, o := range map[string]perceptron.Options{
		"averaged": {Options: train.Options{Shards: 3, Epochs: 3, Seed: 5, Order: train.Shuffle}, Form: train.Averaged},
		"mistakes": {Options: train.Options{Shards: 2, Epochs: 4, Mix: train.Mistakes}, L2: 0.1},
		"pocket":   {Options: train.Options{Shards: 2, Epochs: 3, Seed: 1, Order: train.Random}, Pocket: pocket.Exact},
	} {
		t.Run(name, func(t *testing.T) { same(t, two, fit.Perceptron(o), fit.Options{}, "perceptron.pass") })
	}
	shared := train.Options{Shards: 3, Epochs: 3, Seed: 5, Order: train.Shuffle}
	t.Run("passive", func(t *testing.T) {
		same(t, two, fit.PassiveAggressive(passive.Options{Options: shared, Loss: passive.SquaredHinge}), fit.Options{}, "passive-aggressive.pass")
		same(t, three, fit.PassiveAggressive(passive.Options{Options: shared, C: 0.1}), fit.Options{}, "passive-aggressive.pass")
	})
	t.Run("adagrad", func(t *testing.T) {
		same(t, two, fit.AdaGrad(adaptive.AdaGradOptions{Options: shared, Loss: adaptive.Hinge}), fit.Options{}, "adagrad.pass")
	})
	t.Run("classes", func(t *testing.T) {
		same(t, three, fit.LDA(lda.Options{Options: train.Options{}}), fit.Options{}, "lda.moments")
	})
}

func same[T kernel.Float](t *testing.T, d *block.Data[T], l fit.Learner, opt fit.Options, tasks string) {
	t.Helper()
	remote := testrows.NewRemote(d, 7)
	var files [2]bytes.Buffer
	for i, src := range []block.Source[T]{d, remote} {
		f, err := fit.Learn(context.Background(), block.Trust(src), l, opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Model.WriteTo(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Errorf("the models differ:\n%s\n%s", &files[0], &files[1])
	}
	made := remote.Tasks()
	for _, name := range strings.Fields(tasks) {
		if made[name+"/float32"]+made[name+"/float64"] == 0 {
			t.Errorf("no pass %s was made elsewhere: %v", name, made)
		}
	}
}
