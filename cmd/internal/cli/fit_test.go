package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/schema"
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
	for _, c := range []struct {
		data, label, options string
		learner              train.Learner
		fit                  train.Options
	}{
		{cancer, "diagnosis", "--algo perceptron --epochs 5", perceptron.New(perceptron.Options{Epochs: 5}).WithRun(learner.Run{Seed: 1}), train.Options{}},
		{cancer, "diagnosis", "--algo averaged --validation 0.25 --order shuffle", perceptron.New(perceptron.Options{Order: learner.Shuffle, Form: learner.Averaged}).WithRun(learner.Run{Seed: 1}), train.Options{HoldOut: 0.25}},
		{cancer, "diagnosis", "--algo logistic --grid l2=0.5,5 --cv 3", logistic.New(logistic.Options{L2: 1}), train.Options{CV: train.CV{Folds: 3, Grid: []train.Axis{{Option: "l2", Values: []any{"0.5", "5"}}}}}},
		{cancer, "diagnosis", "--algo svm --class-weight malignant=3", svm.New(svm.Options{}), train.Options{Weights: train.Weights{Classes: map[string]float64{"malignant": 3}}}},
		{iris, "species", "--algo lda --shrinkage auto", lda.New(lda.Options{Shrinkage: lda.LedoitWolf}), train.Options{}},
		{iris, "species", "--algo svm --class-weight balanced", svm.New(svm.Options{}), train.Options{Weights: train.Weights{Balanced: true}}},
		{iris, "species", "--algo dual --kernel rbf --epochs 9", kernelperceptron.Dual(kernelperceptron.Options{Epochs: 9, Kernel: gram.Kernel{Kind: "rbf"}}).WithRun(learner.Run{Seed: 1}), train.Options{}},
		{iris, "species", "--algo voted --epochs 3", perceptron.New(perceptron.Options{Epochs: 3, Form: learner.Voted}).WithRun(learner.Run{Seed: 1}), train.Options{}},
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
	engine := func(p dataset.SharedPlan, _, _ int64) (block.Cluster, error) {
		rows := block.NewData(new(schema.Spec), nil)
		if len(p.Paths) > 0 {
			plan := require.Value(p.Plan(context.Background(), 0))(t)
			rows = require.Value(plan.Load(context.Background()))(t)
		}
		c, _ := testproblems.NewRemote(rows, 3).Remote()
		return c, nil
	}
	for _, options := range []string{"averaged --shards 2 --epochs 2 --validation 0.2 --standardize", "logistic --cv 3 --standardize --l2 3000 --score log_loss", "lda --cv 2"} {
		var models [2]string
		for i, on := range []dataset.Engine{nil, engine} {
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
	learner.Run
	Tilt float64
	Way  string
}

// toy takes the difference of the class means as weights, or its signs.
var toy = &learner.Learner{
	Name: "toy", FullName: "toy", Objective: "nothing", WhenToUse: "tests",
	Options: []learner.Option{
		{Name: "tilt", Value: "NUMBER", Help: "what the bias is", AllowedNumbers: "a number from 0 to 9", IsAllowed: func(v float64) bool { return v >= 0 && v <= 9 },
			Field: learner.FieldOf(func(o *toyOptions) any { return &o.Tilt })},
		{Name: "way", Value: "WAY", Help: "means or signs", Words: []string{"means", "signs"}, Field: learner.FieldOf(func(o *toyOptions) any { return &o.Way })},
	},
	Algorithm: toyAlgorithm{},
}

type toyAlgorithm struct{}

func (toyAlgorithm) New() learner.Settings { return &toyOptions{Tilt: 0.5, Way: "means"} }

func (o *toyOptions) Copy() learner.Settings  { c := *o; return &c }
func (o *toyOptions) Shared() learner.Options { return learner.Options{Run: o.Run} }

func (toyAlgorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
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
	return &learner.TaskResult{Result: r, OwnResult: r}, learner.Evaluate(ctx, block.AssumeValid(task.Rows), 1, r)
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

const iris = "../../../examples/iris.parquet"

// TestMulticlassSklearn has the weights, probabilities and errors of scikit-learn's OneVsRestClassifier of logistic regressions on iris;
// see testdata/sklearn_ovr.py.
func TestMulticlassSklearn(t *testing.T) {
	inParallel(t)
	var fixture struct {
		Cases []struct {
			L2, Errors             float64
			Weights, Probabilities [][]float64
			Bias                   []float64
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/sklearn_ovr.json")), &fixture); err != nil || len(fixture.Cases) == 0 {
		t.Fatal("no cases", err)
	}
	path := filepath.Join(t.TempDir(), "m.json")
	for _, c := range fixture.Cases {
		r := decode(t, "train", iris, "--label", "species", "--algo", "logistic", "--multiclass", "ovr", "--l2", fmt.Sprint(c.L2), "--out", path, "--json")
		if r["train_errors"] != c.Errors {
			t.Errorf("l2 %v: %v errors, want %v", c.L2, r["train_errors"], c.Errors)
		}
		m := loadedModel(t, path)
		for k, want := range c.Weights {
			for i, w := range append(want, c.Bias[k]) {
				if got := append(slices.Clone(m.Weights[k]), m.Bias[k])[i]; math.Abs(got-w) > 5e-6*math.Abs(w) { // scikit-learn has the rows in float64
					t.Errorf("l2 %v: class %d has %v at %d, want %v", c.L2, k, got, i, w)
				}
			}
		}
		succeed(t, "predict", "--model", path, iris, "--proba", "--out", path+".csv")
		lines := strings.Split(read(t, path+".csv"), "\n")
		for k, want := range c.Probabilities {
			for class, w := range want {
				if got, err := strconv.ParseFloat(strings.Split(lines[1+10*k], ",")[1+class], 64); err != nil || math.Abs(got-w) > 1e-6 {
					t.Errorf("l2 %v: row %d has the probability %v of class %d, want %v", c.L2, 10*k, got, class, w)
				}
			}
		}
	}
}

// beyond integrates the normal density outside of -z to z, by midpoints.
func beyond(z float64) float64 {
	sum, h := 0.0, z/100_000
	for i := range 100_000 {
		sum += math.Exp(-math.Pow((float64(i)+0.5)*h, 2) / 2)
	}
	return 1 - 2*sum*h/math.Sqrt(2*math.Pi)
}

// TestSignificance: inspect tells p-values and intervals of 95 % beside z, for the weights and the bias.
func TestSignificance(t *testing.T) {
	inParallel(t)
	dir := text(t, map[string]string{"x.csv": weightyText(300)})
	path := filepath.Join(dir, "m.json")
	succeed(t, "train", filepath.Join(dir, "x.csv"), "--label", "y", "--features", "x0,x1", "--algo", "logistic", "--l2", "0", "--out", path)
	m, r, shown := loadedModel(t, path), decode(t, "inspect", path, "--json"), succeed(t, "inspect", path)
	for i, w := range append(slices.Clone(m.Weights[0]), m.Bias...) {
		se, z, p := m.StdErrors[i], r["z"].([]any)[i].(float64), r["p_values"].([]any)[i].(float64)
		interval := r["confidence_95"].([]any)[i].([]any)
		low, high := interval[0].(float64), interval[1].(float64)
		if z != w/se || math.Abs(p-beyond(math.Abs(z))) > 1e-9 || math.Abs(beyond((high-w)/se)-0.05) > 1e-9 || math.Abs(low+high-2*w) > 1e-12 {
			t.Errorf("weight %v, standard error %v: z %v, p %v, from %v to %v", w, se, z, p, low, high)
		}
		if !strings.Contains(shown, humanize.Real(low)) || !strings.Contains(shown, humanize.Real(high)) {
			t.Errorf("no interval from %v to %v in\n%s", low, high, shown)
		}
	}
}

// deal is which fold each row is in, by the words of fold's comment.
func deal(labels []string, classes string, folds int, seed uint64) []int {
	counts, in := make([]int64, len(classes)), make([]int, len(labels))
	for _, c := range labels {
		counts[strings.Index(classes, c)]++
	}
	for f := range folds {
		is := train.Fold(seed, folds, counts, f)()
		for i, c := range labels {
			if is(strings.Index(classes, c)) {
				in[i] = f
			}
		}
	}
	return in
}

// leaky writes rows with nulls, a number that is huge in few rows, and a text that each tenth row has for itself. So each part of the
// rows has other means, deviations and categories.
func leaky(n int) (head string, rows, labels []string) {
	rng := rand.New(rand.NewPCG(31, 7))
	for i := range n {
		x, z, text := rng.NormFloat64(), fmt.Sprintf("%.3f", rng.NormFloat64()), []string{"red", "blue"}[rng.IntN(2)]
		label := "a"
		if x+rng.NormFloat64() > 0 {
			label = "b"
		}
		if i%37 == 0 {
			x = math.Exp(6 * rng.NormFloat64())
		}
		if i%5 == 0 {
			z = ""
		}
		if i%10 == 0 {
			text = fmt.Sprint("only", i)
		}
		rows = append(rows, fmt.Sprintf("%.4f,%s,%s,%s\n", x, z, text, label))
		labels = append(labels, label)
	}
	return "x,z,t,label\n", rows, labels
}

// whole are the options by which features are learned from all rows.
const whole = "--standardize --nulls mean --categorical onehot"

// TestFoldsLearn: means, deviations and categories are learned from the rows that are learned from alone. A fold, and a share of --validation,
// have the errors of a model learned from a file of the other rows: in memory, over a cache, and of every format.
func TestFoldsLearn(t *testing.T) {
	inParallel(t)
	const folds = 3
	head, rows, labels := leaky(450)
	in := deal(labels, "ab", folds, 1)
	counts := []int64{0, 0}
	for _, l := range labels {
		counts[strings.Index("ab", l)]++
	}
	share := train.Stratified(1, 0.2, counts)()
	files := map[string]string{"all.csv": head + strings.Join(rows, "")}
	for i, row := range rows {
		for f := range folds {
			files[fmt.Sprintf("%d%t.csv", f, in[i] == f)] += row
		}
		files[fmt.Sprintf("share%t.csv", share(strings.Index("ab", labels[i])))] += row
	}
	for name, rows := range files {
		files[name] = head + strings.TrimPrefix(rows, head)
	}
	dir := text(t, files)
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "convert", at("all.csv"), "--out", at("all.parquet"))
	options := append([]string{"--label", "label", "--algo", "averaged", "--epochs", "3"}, strings.Fields(whole)...)
	var accuracies []any
	total := 0.0
	for f := range folds {
		succeed(t, append([]string{"train", at(fmt.Sprintf("%dfalse.csv", f)), "--out", at("m.json")}, options...)...)
		e := decode(t, "eval", "--model", at("m.json"), at(fmt.Sprintf("%dtrue.csv", f)), "--json")
		total += e["errors"].(float64)
		accuracies = append(accuracies, e["accuracy"])
	}
	succeed(t, append([]string{"train", at("all.csv"), "--out", at("all.json")}, options...)...)
	want := decode(t, append([]string{"train", at("sharefalse.csv"), "--validation", at("sharetrue.csv"), "--out", at("share.json"), "--json"}, options...)...)
	same := func(how, name string) {
		t.Helper()
		if got, want := loadedModel(t, at("n.json")), loadedModel(t, at(name)); !reflect.DeepEqual(got.Weights, want.Weights) || !reflect.DeepEqual(got.Preprocessing, want.Preprocessing) {
			t.Errorf("%s: the model isn't that of %s", how, name)
		}
	}
	for _, more := range []string{"all.csv --workers 1", "all.parquet --workers 3", "all.csv --cache " + at("cache"), "all.csv --cache " + at("cache")} {
		args := strings.Fields(more)
		args[0] = at(args[0])
		r := decode(t, slices.Concat([]string{"train", "--cv", fmt.Sprint(folds), "--out", at("n.json"), "--json"}, options, args)...)
		p := r["cross_validation"].(map[string]any)["points"].([]any)[0].(map[string]any)
		if p["errors"] != total || !reflect.DeepEqual(p["fold_accuracy"], accuracies) {
			t.Errorf("%s: %v errors, %v, want %v, %v", more, p["errors"], p["fold_accuracy"], total, accuracies)
		}
		same(more, "all.json")
		r = decode(t, slices.Concat([]string{"train", "--validation", "0.2", "--out", at("n.json"), "--json"}, options, args)...)
		if !reflect.DeepEqual(r["validation"], want["validation"]) || r["fingerprint"] != want["fingerprint"] {
			t.Errorf("%s: validation %v, want %v", more, r["validation"], want["validation"])
		}
		same(more, "share.json")
	}
}
