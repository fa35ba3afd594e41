package train_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/schema"
)

// remoteTrainings are trainings whose passes a cluster makes, with the tasks that must be among those passes. Several
// rows are separated by commas; small tests take one of them.
var remoteTrainings = []struct {
	training
	tasks string
}{
	{training{"weighted,far,sparse two", "lda", ""}, "lda.moments train.evaluate fit.fingerprint"},
	{training{"two,far,weighted", "lda", "shrinkage=auto"}, "lda.moments lda.fourth"},
	{training{"three", "lda", ""}, "lda.moments"},
	{training{"sparse two,far,weighted", "logistic", ""}, "logistic.gradient logistic.hessian train.evaluate"},
	{training{"two,sparse two,far", "logistic", "solver=lbfgs"}, "logistic.gradient logistic.moments"},
	{training{"far,weighted,sparse two", "logistic", "l1=3 l2=1"}, "logistic.hessian logistic.losses elastic.weigh"},
	{training{"weighted,far", "logistic", "balanced"}, "logistic.hessian train.classes"},
	{training{"apart", "logistic", "l2=0"}, "logistic.probe"},
	{training{"long", "logistic", ""}, "passes.gather"},
	{training{"two", "logistic", "solver=sgd shards=2 epochs=3"}, "logistic.pass"},
	{training{"three", "logistic", "solver=sgd shards=2 epochs=3"}, "logistic.pass"},
	{training{"three", "logistic", "l2=0 balanced"}, "logistic.joint train.classes"},
	{training{"wide three", "logistic", "epochs=3"}, "logistic.columns"},
	{training{"thin,thin unbiased,thin weighted,thin far", "logistic", "solver=truncated balanced epochs=12"}, "truncated.look truncated.sums truncated.product train.evaluate truncated.scores"},
	{training{"thin columns", "logistic", "solver=truncated epochs=5"}, "truncated.look truncated.sums truncated.product train.evaluate"}, // a batch touches few of the columns
	{training{"weighted,far,sparse two", "svm", ""}, "svm.hessian svm.losses train.evaluate"},
	{training{"three", "svm", ""}, "svm.hessian"},
	{training{"long", "svm", ""}, "passes.gather"},
	{training{"thin unbiased,thin", "svm", "balanced epochs=12"}, "truncated.look truncated.sums truncated.product truncated.rest passes.gather svm.losses"},
	{training{"thin weighted,thin far", "svm", "epochs=12"}, "truncated.look truncated.sums truncated.product truncated.rest svm.losses"},
	{training{"weighted,sparse two", "svm", "loss=hinge"}, "truncated.look truncated.sums truncated.hessian truncated.near svm.losses"},
	{training{"far", "svm", "loss=hinge"}, "truncated.hessian train.evaluate"},
	{training{"long", "svm", "loss=hinge"}, "truncated.near passes.gather"},
	{training{"two", "svm", "loss=hinge balanced epochs=20"}, "truncated.hessian train.classes"},
	{training{"three", "svm", "loss=hinge multiclass=ovr"}, "truncated.hessian"},
	{training{"thin,thin weighted,thin far", "svm", "loss=hinge epochs=20"}, "truncated.look truncated.sums truncated.product truncated.rest svm.losses"},
	{training{"weighted,sparse two", "averaged", "shards=2 epochs=3 order=shuffle"}, "averaged.pass"},
	{training{"two,sparse two", "perceptron", "shards=2 epochs=4 mix=mistakes l2=0.1"}, "perceptron.pass"},
	{training{"weighted,sparse two", "pocket", "shards=2 epochs=3 order=random"}, "pocket.pass pocket.errors"},
	{training{"apart", "pocket", "shards=2"}, "perceptron.some"},
	{training{"three", "pocket", "shards=2 epochs=3"}, "pocket.pass pocket.errors"},
	{training{"two", "passive-aggressive", "shards=2 epochs=3 order=shuffle loss=squared_hinge"}, "passive-aggressive.pass train.evaluate"},
	{training{"three", "passive-aggressive", "shards=2 epochs=3 C=0.1"}, "passive-aggressive.pass train.evaluate"},
	{training{"weighted", "adagrad", "shards=2 epochs=3 order=shuffle"}, "adagrad.pass train.evaluate"},
	{training{"two", "adagrad", "shards=2 epochs=3 loss=hinge"}, "adagrad.pass train.evaluate"},
	{training{"weighted,sparse two", "logistic", "holdout=0.2"}, "fit.classes train.classes"},
	{training{"thin", "svm", "holdout=0.2 epochs=12"}, "fit.classes truncated.look truncated.sums truncated.product"},
	{training{"longer", "pocket", "shards=2 epochs=3 holdout=0.2"}, "fit.classes train.classes"},
	{training{"longer three", "passive-aggressive", "shards=2 epochs=3 holdout=0.4 balanced"}, "fit.classes train.classes"},
	{training{"two", "lda", "cv=3"}, "fit.classes train.classes"},
	{training{"three", "svm", "grid=l2"}, "fit.classes train.classes"},
	{training{"thin", "logistic", "epochs=3 holdout=0.2"}, "fit.classes train.classes"},
}

// remoteRows returns the rows of remotes that rowSets lacks, in which blocks and chunks are several.
func remoteRows(name string) *block.Data {
	third := func(r int) float64 { return float64(r%7) / 3 }
	switch name {
	case "sparse two":
		return testproblems.Sparse(rowSets()["two"])
	case "longer":
		return noiseRows(3*block.ChunkRows, 5, 2)
	case "longer three":
		return noiseRows(3*block.ChunkRows, 4, 3)
	case "wide three":
		return testproblems.Sparse(testproblems.RandomClasses(block.ChunkRows+5, 350, 3, 0.2))
	case "thin":
		return thinRows(2*block.ChunkRows+9, 260, 7, true)
	case "thin unbiased":
		return thinRows(block.ChunkRows+7, 260, 14, false)
	case "thin weighted": // batches of several chunks
		return testproblems.Weighted(thinRows(10*block.ChunkRows+3, 5000, 1, true), third)
	case "thin columns":
		return thinRows(3*block.ChunkRows+1, 40_000, 1, true)
	case "thin far":
		return changedRows(testproblems.RandomClasses(block.ChunkRows+50, 260, 2, 0.2), true, func(row []float64, y float64) ([]float64, float64) {
			for i, v := range row {
				if i%9 > 0 && v < 1 {
					row[i] = 0
				}
			}
			row[3] += 1.7e9
			return row, 2*y - 1
		})
	}
	return rowSets()[name]
}

// thinRows returns sparse rows of that many elements and a bias, if there is one, in which a plane is right mostly.
func thinRows(n, features, elements int, bias bool) *block.Data {
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

// TestRemote: a training whose passes other processes make has the model of one process, byte for byte, or its error. The test fails if
// a pass is made in this process.
func TestRemote(t *testing.T) {
	for _, c := range remoteTrainings {
		names := strings.Split(c.rows, ",")
		if require.Small() {
			names = names[:1]
		}
		for _, name := range names {
			t.Run(name+" "+c.learner+" "+c.options, func(t *testing.T) {
				t.Parallel()
				d := remoteRows(name)
				remote := testproblems.NewRemote(d, 7)
				var results [2]bytes.Buffer
				for i, src := range []block.Source{d, remote} {
					l, opt, _ := c.settings(t, 0)
					f, err := train.Run(t.Context(), block.AssumeValid(src), l, opt)
					if err != nil && strings.Contains(err.Error(), "a plane separates the classes") {
						fmt.Fprint(&results[i], err)
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintln(&results[i], string(fileOf(t, f.Model)), f.Validation)
				}
				if !bytes.Equal(results[0].Bytes(), results[1].Bytes()) {
					t.Errorf("the models differ:\n%.2000s\n%.2000s", &results[0], &results[1])
				}
				made := remote.Tasks()
				for _, task := range strings.Fields(c.tasks) {
					if made[task] == 0 {
						t.Errorf("no pass %s was made elsewhere: %v", task, made)
					}
				}
				if n := remote.Read(); n != 0 {
					t.Errorf("%d passes were made in this process", n)
				}
			})
		}
	}
}

// TestResumeRemote is TestResume of solvers with a number for each row, on a cluster.
func TestResumeRemote(t *testing.T) {
	many := thinRows(block.ChunkRows+300, 260, 3, true)
	for i, c := range []struct {
		rows *block.Data
		training
	}{
		{testproblems.Sparse(noiseRows(block.ChunkRows+300, 20, 2)), training{learner: "logistic", options: "solver=truncated l2=0.1"}},
		{many, training{learner: "svm", options: "epochs=30"}},
		{many, training{learner: "svm", options: "loss=hinge epochs=30"}},
		{rowSets()["two"], training{learner: "svm", options: "loss=hinge"}},
	} {
		testResumed(t, c.training, form{name: "cluster", src: block.AssumeValid(testproblems.NewRemote(c.rows, uint64(i)))})
	}
}
