package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/gram"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/kernelperceptron"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
)

// TestFitAsCommand: a Go program gets the model of the command, byte for byte: with a hold-out, a grid, class weights, and more than two
// classes.
func TestFitAsCommand(t *testing.T) {
	inParallel(t)
	dir := t.TempDir()
	seeded := learner.Options{Seed: 1}
	for _, c := range []struct {
		data, label, options string
		learner              train.Learner
		fit                  train.Options
	}{
		{cancer, "diagnosis", "--algo perceptron --epochs 5", perceptron.New(perceptron.Options{Options: learner.Options{Epochs: 5, Seed: 1}}), train.Options{}},
		{cancer, "diagnosis", "--algo averaged --validation 0.25 --order shuffle", perceptron.New(perceptron.Options{Form: learner.Averaged, Options: learner.Options{Order: learner.Shuffle, Seed: 1}}), train.Options{HoldOut: 0.25}},
		{cancer, "diagnosis", "--algo logistic --grid l2=0.5,5 --cv 3", logistic.New(logistic.Options{Options: seeded, L2: 1}), train.Options{CV: train.CV{Folds: 3, Grid: []train.Axis{{Option: "l2", Values: []any{"0.5", "5"}}}}}},
		{cancer, "diagnosis", "--algo svm --class-weight malignant=3", svm.New(svm.Options{Options: seeded}), train.Options{Weights: train.Weights{Classes: map[string]float64{"malignant": 3}}}},
		{iris, "species", "--algo lda --shrinkage auto", lda.New(lda.Options{Options: seeded, Shrinkage: lda.LedoitWolf}), train.Options{}},
		{iris, "species", "--algo svm --class-weight balanced", svm.New(svm.Options{Options: seeded}), train.Options{Weights: train.Weights{Balanced: true}}},
		{iris, "species", "--algo dual --kernel rbf --epochs 9", kernelperceptron.Dual(kernelperceptron.Options{Options: learner.Options{Epochs: 9, Seed: 1}, Kernel: gram.Kernel{Kind: "rbf"}}), train.Options{}},
		{iris, "species", "--algo voted --epochs 3", perceptron.New(perceptron.Options{Form: learner.Voted, Options: learner.Options{Epochs: 3, Seed: 1}}), train.Options{}},
	} {
		command, program := filepath.Join(dir, "command.json"), filepath.Join(dir, "program.json")
		succeed(t, append([]string{"train", c.data, "--label", c.label, "--standardize=false", "--out", command}, strings.Fields(c.options)...)...)
		data, err := dataset.Load(t.Context(), c.data, dataset.Options{Label: c.label})
		require.NoError(t, err)
		f, err := train.Run(t.Context(), data, c.learner, c.fit)
		if err != nil {
			t.Fatalf("%s: %v", c.options, err)
		}
		require.NoError(t, f.Model.Save(program))
		if got, want := read(t, program), read(t, command); got != want {
			t.Errorf("%s: the program's model is\n%s\nthe command's\n%s", c.options, got, want)
		}
	}
}

// TestRemoteShares: a cluster chooses the same rows as this process, and features are learned from the same ones. So the models are
// the same too.
func TestRemoteShares(t *testing.T) {
	inParallel(t)
	data := noisy(t, "13000")
	cluster := func(f console.Files) (block.Cluster, error) {
		rows := block.NewData(new(schema.Spec), nil)
		if len(f.Paths) > 0 {
			rows = require.Value(require.Value(dataset.Open(context.Background(), f.Paths, f.Options))(t).Load(context.Background()))(t)
		}
		c, _ := testproblems.NewRemote(rows, 3).Remote()
		return c, nil
	}
	for _, options := range []string{"averaged --shards 2 --epochs 2 --validation 0.2 --standardize", "logistic --cv 3 --standardize --l2 3000 --score log_loss", "lda --cv 2"} {
		var models [2]string
		for i, on := range []func(console.Files) (block.Cluster, error){nil, cluster} {
			out := filepath.Join(t.TempDir(), "m.json")
			var stderr bytes.Buffer
			if status := runOn(t.Context(), on, append([]string{"train", data, "--label", "label", "--out", out, "--algo"}, strings.Fields(options)...), io.Discard, &stderr); status != exitDone {
				t.Fatalf("%s: status %d, %s", options, status, &stderr)
			}
			models[i] = read(t, out)
		}
		if models[0] != models[1] {
			t.Errorf("%s: the model of a cluster is\n%s\nand that of one process\n%s", options, models[1], models[0])
		}
	}
}

// toyOptions are those of a learner that exists in this test alone.
type toyOptions struct {
	learner.Options
	Tilt float64
	Way  string
}

// toy takes the difference of the class means as weights, or its signs.
var toy = &learner.Learner{
	Name: "toy", Minimises: "nothing", Use: "tests",
	Options: []learner.Option{
		{Name: "tilt", Value: "NUMBER", Help: "what the bias is", Want: "a number from 0 to 9", Valid: func(v float64) bool { return v >= 0 && v <= 9 },
			Field: learner.FieldOf(func(o *toyOptions) any { return &o.Tilt })},
		{Name: "way", Value: "WAY", Help: "means or signs", Words: []string{"means", "signs"}, Field: learner.FieldOf(func(o *toyOptions) any { return &o.Way })},
	},
	New:   func() learner.Settings { return &toyOptions{Tilt: 0.5, Way: "means"} },
	Train: learnToy,
}

func learnToy(ctx context.Context, task *learner.Task) (*learner.Learned, error) {
	opt, r := task.Settings.(*toyOptions), &learner.Result{Weights: make([]float32, task.Rows.Spec().Cols()), Epochs: 1}
	for b, err := range task.Rows.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for i, y := range b.Y {
			for c := range r.Weights {
				r.Weights[c] += y * b.X[i*b.Stride+c]
			}
		}
	}
	for c, w := range r.Weights {
		if opt.Way == "signs" {
			r.Weights[c] = map[bool]float32{true: 1, false: -1}[w > 0]
		}
	}
	r.Weights[len(r.Weights)-1] = float32(opt.Tilt)
	return &learner.Learned{Result: r, Own: r}, learner.Evaluate(ctx, block.AssumeValid(task.Rows), 1, r)
}

// TestNewLearner: to add a learner takes its description and a line. Flags, help, notes, training, the model, its options, inspect, grids
// and comparisons follow.
func TestNewLearner(t *testing.T) {
	defer func(all []*learner.Learner) { train.Learners = all }(train.Learners)
	train.Learners = append(slices.Clone(train.Learners), toy)

	path := filepath.Join(t.TempDir(), "m.json")
	base := []string{"train", cancer, "--label", "diagnosis", "--algo", "toy", "--out", path}
	r := decode(t, append(base, "--tilt", "2", "--way", "signs", "--json")...)
	if r["algorithm"] != "toy" || r["train_errors"] == nil {
		t.Errorf("the report is %v", r)
	}
	m := loadedModel(t, path)
	if m.Bias[0] != 2 || m.Weights[0][0] != 1 && m.Weights[0][0] != -1 {
		t.Errorf("weights %v, bias %v", m.Weights, m.Bias)
	}
	if e := decode(t, "eval", "--model", path, cancer, "--json"); e["errors"] != r["train_errors"] {
		t.Errorf("eval has %v errors, the training %v", e["errors"], r["train_errors"])
	}
	if text := succeed(t, "inspect", path); !strings.Contains(text, "tilt 2, way signs") {
		t.Errorf("no options in\n%s", text)
	}
	if text := succeed(t, "train", "--algo", "toy", "--help"); !strings.Contains(text, "--tilt NUMBER") || !strings.Contains(text, "means or signs") {
		t.Errorf("no options in\n%s", text)
	}
	for options, want := range map[string]string{
		"--tilt 10":              "--tilt is 10: use a number from 0 to 9",
		"--way wrong":            "--way wrong: use means or signs",
		"--l2 3":                 "--l2 has no effect with --algo toy",
		"--algo lda --tilt 2":    "--tilt has no effect with --algo lda",
		"--algo to":              "did you mean toy?",
		"--grid tilt=1,2 --cv 3": "",
	} {
		if _, _, stderr := command(append(base, strings.Fields(options)...)...); !strings.Contains(stderr, want) {
			t.Errorf("%s: %q, want %q", options, stderr, want)
		}
	}
}
