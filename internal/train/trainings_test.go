package train_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/predict"
	"halfspace/separability"
	"halfspace/train/learner"
)

// A training is a learner with options that learns from some rows.
type training struct {
	rows    string // a name of rowSets
	learner string // of Learners, or "separable"
	options string // see set
}

// trainings has every learner with each option that changes its passes over the rows. The option orders stands for every order of
// visits: tests make the training in one of them, or in all.
var trainings = []training{
	{"two", "perceptron", "epochs=2 eta=0.3 orders"},
	{"weighted", "perceptron", "epochs=2 margin=1 l2=0.01 orders"},
	{"unbiased", "perceptron", "epochs=2 max-updates=900 orders"},
	{"three", "perceptron", "epochs=2 orders"},
	{"apart", "perceptron", "orders"},
	{"two", "perceptron", "epochs=4 holdout=0.1 early-stop=1 margin=2 orders"},
	{"three", "perceptron", "epochs=3 shards=2 mix=mistakes orders"},
	{"two", "pocket", "max-updates=60 orders"},
	{"weighted", "pocket", "pocket=ratchet epochs=1 max-updates=300 margin=1 balanced orders"},
	{"two", "pocket", "pocket=epoch epochs=3 holdout=0.3 early-stop=2 orders"},
	{"three", "pocket", "epochs=1 max-updates=10 orders"},
	{"broad", "pocket", "max-updates=100 eta=0.5 orders"},
	{"weighted", "pocket", "epochs=2 shards=2 mix=mistakes orders"},
	{"two", "averaged", "epochs=3 eta=0.3 max-updates=900 orders"},
	{"weighted", "averaged", "epochs=4 l2=0.01 margin=2 holdout=0.2 early-stop=1 orders"},
	{"three", "averaged", "epochs=2 multiclass=joint orders"},
	{"three", "averaged", "epochs=2 multiclass=ovr orders"},
	{"two", "averaged", "epochs=2 shards=2 mix=mistakes l2=0.01 orders"},
	{"two", "averaged", "epochs=2 grid=eta orders"},
	{"two", "voted", "epochs=1 max-updates=200 eta=0.3 margin=1 orders"},
	{"three", "voted", "epochs=1 max-updates=20 orders"},
	{"bits", "winnow", "epochs=3 max-updates=300 threshold=3"},
	{"bits", "winnow", "epochs=3 winnow=winnow1"},
	{"bits", "winnow", "epochs=3 winnow=balanced"},
	{"bits", "winnow", "epochs=3 literals=true alpha=2"},
	{"two", "passive-aggressive", "epochs=2 orders"},
	{"weighted", "passive-aggressive", "epochs=2 loss=squared_hinge C=0.2 orders"},
	{"three", "passive-aggressive", "epochs=2 C=0.2 orders"},
	{"three", "passive-aggressive", "epochs=2 shards=2 mix=mistakes orders"},
	{"two", "ftrl", "epochs=2 orders"},
	{"weighted", "ftrl", "epochs=2 alpha=0.3 beta=0.7 l1=3 l2=0.5 orders"},
	{"weighted", "adagrad", "epochs=2 loss=hinge orders"},
	{"three", "adagrad", "epochs=2 eta=0.3 orders"},
	{"two", "adagrad", "epochs=2 shards=2 orders"},
	{"two", "arow", "epochs=2 orders"},
	{"weighted", "arow", "epochs=2 r=0.3 orders"},
	{"three", "arow", "epochs=2 shards=2 orders"},
	{"few", "dual", "epochs=3 form=averaged orders"},
	{"few weighted", "dual", "epochs=3 eta=0.3 max-updates=200 orders"},
	{"few three", "dual", "epochs=3 kernel=poly degree=2 gamma=0.3 coef0=0.7 orders"},
	{"few apart", "dual", "epochs=50 orders"},
	{"windows", "dual", "epochs=1 orders"},
	{"few", "kernel-perceptron", "epochs=3 kernel=rbf gamma=0.7 eta=0.3 orders"},
	{"few three", "kernel-perceptron", "epochs=3 kernel=rbf form=voted orders"},
	{"few", "kernel-perceptron", "epochs=3 kernel=poly max-updates=200 orders"},
	{"few", "kernel-perceptron", "epochs=3 kernel=poly degree=4 coef0=1 form=voted orders"},
	{"two", "lda", ""},
	{"far", "lda", ""},
	{"weighted", "lda", "shrinkage=auto"},
	{"three", "lda", "shrinkage=0.1 solver=eigen"},
	{"three", "lda", "shrinkage=auto solver=eigen"},
	{"two", "logistic", ""},
	{"weighted", "logistic", "l2=0 balanced"},
	{"far", "logistic", "solver=newton l2=0.001"},
	{"unbiased", "logistic", "l2=2"},
	{"repeated", "logistic", "l2=0 solver=newton"},
	{"repeated", "logistic", "l2=0 solver=lbfgs"},
	{"long", "logistic", ""},
	{"two", "logistic", "solver=lbfgs l2=0"},
	{"wide", "logistic", "solver=lbfgs epochs=5"},
	{"three", "logistic", "solver=lbfgs l2=0.01"},
	{"three", "logistic", "multiclass=ovr"},
	{"few three", "logistic", "grid=l2 epochs=5"},
	{"wide", "logistic", "solver=truncated l2=0.01 epochs=12"},
	{"two", "logistic", "solver=sgd epochs=4 orders"},
	{"three", "logistic", "solver=sgd epochs=4 eta=0.3 orders"},
	{"columns", "logistic", "solver=sgd epochs=2 orders"},
	{"two", "logistic", "solver=sgd epochs=4 shards=2"},
	{"columns", "logistic", "solver=lbfgs epochs=5"},
	{"weighted", "logistic", "l1=3"},
	{"long", "logistic", "l1=300 l2=1"},
	{"columns", "logistic", "l1=0.1 epochs=9"},
	{"columns", "logistic", "path=2 l1=1 epochs=4"},
	{"two", "logistic", "nonnegative=true"},
	{"two", "svm", "calibrate=platt"},
	{"few three", "svm", "calibrate=isotonic"},
	{"few", "svm", "threshold=f1"},
	{"few weighted", "svm", "threshold=cost=3:1"},
	{"weighted", "svm", ""},
	{"far", "svm", ""},
	{"long", "svm", ""},
	{"wide", "svm", "l2=0.001 epochs=9"},
	{"three", "svm", ""},
	{"few", "svm", "path=5 l1=1"},
	{"two", "svm", "l1=3"},
	{"long", "svm", "l1=300 l2=1"},
	{"columns", "svm", "l1=0.01 nonnegative=true epochs=9"},
	{"two", "svm", "loss=hinge"},
	{"weighted", "svm", "loss=hinge l2=0.5"},
	{"far", "svm", "loss=hinge"},
	{"long", "svm", "loss=hinge"},
	{"wide", "svm", "loss=hinge l2=0.1 epochs=20"},
	{"few three", "svm", "loss=hinge multiclass=joint epochs=30"},
	{"three", "svm", "loss=hinge multiclass=joint epochs=12"},
	{"columns", "svm", "loss=hinge epochs=12"},
	{"tiny", "separable", ""},
	{"apart", "separable", ""},
}

// inOrders returns the training in each order of visits if its options ask for all.
func (c training) inOrders() (all []training) {
	options, found := strings.CutSuffix(c.options, "orders")
	if !found {
		return []training{c}
	}
	for _, order := range learner.Orders {
		all = append(all, training{c.rows, c.learner, options + "order=" + string(order)})
	}
	return all
}

// String returns the training as the name of a subtest.
func (c training) String() string { return fmt.Sprintf("%s %s %s", c.rows, c.learner, c.options) }

// settings returns the learner, its settings, the options of the training, and the points of a path; 0 for none.
func (c training) settings(t *testing.T, workers int) (train.Learner, train.Options, int) {
	t.Helper()
	trainer, opt := train.Describe(c.learner), train.Options{}
	settings := trainer.New()
	settings.RunOptions().Workers = workers
	path := set(t, trainer, settings, &opt, strings.Fields(c.options))
	return learner.Configure(trainer, settings), opt, path
}

// set sets options of a training: those of the learner, and
//
//	balanced            Options.Balanced
//	multiclass=WORD     Options.Multiclass
//	calibrate=METHOD    Options.Calibrate
//	threshold=TEXT      Options.Threshold
//	holdout=SHARE       Options.HoldOut
//	cv=FOLDS            a cross-validation
//	grid=OPTION         a cross-validation of three values of an option
//	path=N              a path of N points, which set returns
func set(t *testing.T, trainer *learner.Learner, settings learner.Settings, opt *train.Options, options []string) (path int) {
	t.Helper()
	for _, option := range options {
		var err error
		switch name, value, _ := strings.Cut(option, "="); name {
		case "balanced":
			opt.Weights.Balanced = true
		case "multiclass":
			opt.Multiclass = value
		case "calibrate":
			opt.Output.Calibrate = value
		case "threshold":
			opt.Output.Threshold, err = predict.ParseThreshold(value)
		case "holdout":
			opt.HoldOut, err = strconv.ParseFloat(value, 64)
		case "cv":
			opt.CV.Folds, err = strconv.Atoi(value)
		case "grid":
			opt.CV = train.CV{Folds: 3, Score: train.ByF1, Grid: []train.Axis{{Option: value, Values: []any{"0.1", "0.5", "1"}}}}
		case "path":
			path, err = strconv.Atoi(value)
		default:
			err = trainer.Option(name).Set(settings, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// learn returns the bytes of the model and the receipt of a training. run keeps checkpoints; nil: none are kept. memory is
// Options.Memory.
func (c training) learn(ctx context.Context, t *testing.T, src block.Source, workers int, memory int64, run *checkpoint.Run) ([]byte, *model.Receipt, error) {
	t.Helper()
	if c.learner == "separable" {
		r, err := separability.Check(ctx, src, separability.Options{Workers: workers})
		if err != nil {
			return nil, nil, err
		}
		plain := *r
		plain.Perceptron, plain.OriginPlane, plain.WidestPlane, plain.Witness, plain.Errors = nil, nil, nil, nil, nil
		text := fmt.Sprint(plain, r.OriginPlane, r.WidestPlane, r.Witness, r.Errors)
		if p := r.Perceptron; p != nil {
			text += fmt.Sprint(p.Weights, p.Updates)
		}
		return []byte(text), nil, nil
	}
	l, opt, path := c.settings(t, workers)
	opt.Memory, opt.Output.Receipt = memory, new(model.Receipt)
	if path > 0 {
		opt.CV = train.CV{Folds: 3, Score: train.ByAUC, Path: path}
	}
	f, err := (&train.Session{Options: opt, Rows: src, Learner: l, State: run}).Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	return fileOf(t, f.Model), opt.Output.Receipt, nil
}

// fileOf returns the bytes of a model's file.
func fileOf(t *testing.T, m *model.Model) []byte {
	t.Helper()
	var file bytes.Buffer
	require.Value(m.WriteTo(&file))(t)
	return file.Bytes()
}

// rowSets makes the rows of trainings. Rows of more than 4,096 have several chunks.
var rowSets = sync.OnceValue(func() map[string]*block.Data {
	two, few := noiseRows(4400, 5, 2), noiseRows(400, 5, 2)
	third := func(r int) float64 { return float64(r%3) / 2 }
	return map[string]*block.Data{
		"two":      two,
		"three":    noiseRows(4400, 5, 3),
		"weighted": testproblems.Weighted(two, third),
		"unbiased": changedRows(two, false, func(row []float64, y float64) ([]float64, float64) { return row, y }),
		"apart":    changedRows(two, true, separatedRow),
		"far": changedRows(two, true, func(row []float64, y float64) ([]float64, float64) {
			row[1] += 1.7e9 // as Unix seconds are, so that the rows are centred
			return row, y
		}),
		"repeated":     changedRows(few, true, func(row []float64, y float64) ([]float64, float64) { return append(row, row[1]), y }),
		"few":          few,
		"windows":      noiseRows(4200, 5, 2), // enough for scores that wait for their updates
		"tiny":         noiseRows(80, 3, 2),
		"few three":    noiseRows(400, 5, 3),
		"few weighted": testproblems.Weighted(few, third),
		"few apart":    changedRows(few, true, separatedRow),
		"long":         noiseRows(10*block.ChunkRows+99, 5, 2), // enough for a sample
		"wide":         noiseRows(150, 258, 2),
		"columns":      noiseRows(20, 16_384, 2),
		"broad":        testproblems.Weighted(noiseRows(1300, 700, 2), third),
		"bits":         bitRows(4400),
	}
})

// noiseRows returns rows of random features, some of them 0, whose classes no planes separate.
func noiseRows(rows, features, classes int) *block.Data {
	d := testproblems.RandomClasses(rows, features, classes, 0.2)
	if classes > 2 {
		return d
	}
	return changedRows(d, true, func(row []float64, y float64) ([]float64, float64) {
		for c, v := range row {
			if v < -0.8 {
				row[c] = 0
			}
		}
		return row, 2*y - 1
	})
}

// changedRows returns the rows that change makes of the features and the label of each row.
func changedRows(d *block.Data, bias bool, change func(row []float64, y float64) ([]float64, float64)) *block.Data {
	var x [][]float64
	var labels []float64
	for b := range d.Blocks(context.Background()) {
		for r, label := range b.Y {
			row, y := change(testproblems.Float64s(b.X[r*b.Stride:][:len(d.Spec().Features)]), float64(label))
			x, labels = append(x, row), append(labels, y)
		}
	}
	return testproblems.Dense(x, labels, bias)
}

// separatedRow gives a row the label of a plane, and moves it away from the plane.
func separatedRow(row []float64, _ float64) ([]float64, float64) {
	label := 1.0
	if row[0] < row[1] {
		label = -1
	}
	row[0] += label / 8
	return row[:2], label
}

// bitRows returns rows of zeros and ones. The label is a disjunction, a twentieth of the labels excepted.
func bitRows(rows int) *block.Data {
	rng := rand.New(rand.NewPCG(3, 9))
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		for range 8 {
			x[r] = append(x[r], float64(rng.IntN(4)/3))
		}
		if y[r] = -1; (x[r][1]+x[r][4] > 0) != (rng.IntN(20) == 0) {
			y[r] = 1
		}
	}
	return testproblems.Dense(x, y, true)
}

// A form is rows as a learner may get them.
type form struct {
	name   string
	src    block.Source
	memory int64 // Options.Memory
}

// forms returns the rows in each form that the training takes.
func (c training) forms(t *testing.T, d *block.Data) []form {
	t.Helper()
	sparse, access := testproblems.Sparse(d), learner.FileOrder
	all := []form{{name: "memory", src: d}, {name: "sparse", src: sparse}, {name: "chunks", src: cutInChunks(d)}}
	if c.learner != "separable" {
		l, _, _ := c.settings(t, 1)
		if access = l.Access(l.Settings); l.InMemory { // the limit has room for a quarter of the matrix
			return append(all, form{"little memory", d, block.Bytes(d.Rows(), d.Spec().Cols(), d.Spec().Weighted) + d.Rows()*d.Rows()/2})
		}
	}
	if access != learner.AnyOrder {
		all = append(all, form{name: "stream", src: testproblems.Stream{Data: d}}, form{name: "sparse stream", src: testproblems.Stream{Data: sparse}})
	}
	for name, d := range map[string]*block.Data{"cache": d, "sparse cache": sparse} {
		file := require.Value(cache.Temporary(t.Context(), block.Source(d), nil))(t)
		t.Cleanup(func() { file.Close() })
		all = append(all, form{name: name, src: file})
	}
	slices.SortFunc(all, func(a, b form) int { return strings.Compare(a.name, b.name) })
	return all
}

// cutInChunks returns the rows in blocks of one chunk.
func cutInChunks(d *block.Data) *block.Data {
	var blocks []*block.Block
	for b := range d.Blocks(context.Background()) {
		for lo := 0; lo < b.Len(); lo += block.ChunkRows {
			blocks = append(blocks, b.Slice(lo, min(b.Len(), lo+block.ChunkRows)))
		}
	}
	return block.NewData(d.Spec(), blocks)
}
