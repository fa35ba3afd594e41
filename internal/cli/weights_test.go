package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/model"
)

// weighty writes rows of features x0, x1, ..., sample weights w with some zeros, a column of ones, and noisy labels with fewer 1 than 0.
// The column both is w, times 3 for class 1.
func weighty(t *testing.T, name string, rows, features int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	x := make([][]float32, features)
	var w, ones, both []float64
	var y []int64
	for r := range rows {
		z := -1.0
		for c := range x {
			v := rng.NormFloat64()
			x[c] = append(x[c], float32(v))
			z += v * float64(c%3)
		}
		weight, label := float64(r%5)/4, int64(0)
		if z+rng.NormFloat64() > 0 {
			label = 1
		}
		w, ones, both, y = append(w, weight), append(ones, 1), append(both, weight*float64(1+2*label)), append(y, label)
	}
	cols := []col{{"y", y}, {"w", w}, {"ones", ones}, {"both", both}}
	for c := range x {
		cols = append(cols, col{fmt.Sprint("x", c), x[c]})
	}
	return write(t, name, cols...)
}

// TestWeightsIdentity: rows with weights give one model file in memory, streamed and from a cache, for any number of workers, on every
// instruction set and from every format.
func TestWeightsIdentity(t *testing.T) {
	data, small := weighty(t, "x.parquet", 60000, 7), weighty(t, "small.parquet", 700, 3)
	text := filepath.Join(t.TempDir(), "small.csv")
	succeed(t, "convert", small, "--out", text)
	path := filepath.Join(t.TempDir(), "m.json")
	train := func(args ...string) (streamed bool, m string) {
		t.Helper()
		r := decode(t, append([]string{"train", "--algo", "perceptron", "--label", "y", "--features", "x*", "--sample-weight", "w", "--json", "--out", path}, args...)...)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return r["streamed"].(bool), string(b)
	}
	for i, options := range []string{"--epochs 2 --order shuffle --class-weight balanced", "--algo pocket --epochs 1 --max-updates 30 --order shuffle --class-weight 0=0.5",
		"--epochs 1 --order random", "--algo averaged --epochs 2", "--algo voted --epochs 1 --max-updates 40", "--algo svm --class-weight 1=2,0=.75",
		"--algo svm --loss hinge", "--algo logistic --class-weight balanced", "--algo lda", "--margin 1 --order fixed-shuffle --epochs 1",
		"--algo pocket --validation 0.3 --order shuffle --epochs 2 --pocket epoch --class-weight balanced"} {
		if testing.Short() && i%4 != 0 {
			continue
		}
		cache := filepath.Join(t.TempDir(), "cache")
		args := append(strings.Fields(options), data)
		_, want := train(args...)
		for _, way := range []string{"--memory 3250000 --workers 1", "--memory 3250000 --workers 3 --cache " + cache, "--cache " + cache} {
			if strings.Contains(options, "validation") {
				way = strings.ReplaceAll(way, "3250000", "6000000") // shares are there beside the whole for a while
			}
			streamed, got := train(slices.Concat(args, strings.Fields(way))...)
			if got != want || streamed != strings.Contains(way, "memory") {
				t.Fatalf("%s %s: streamed %t, model\n%.2000s\nwant\n%.2000s", options, way, streamed, got, want)
			}
		}
		args[len(args)-1] = small
		_, want = train(args...)
		for _, way := range []string{"--isa generic", "--workers 3"} {
			if _, got := train(slices.Concat(args, strings.Fields(way))...); got != want {
				t.Fatalf("%s %s: model\n%.2000s\nwant\n%.2000s", options, way, got, want)
			}
		}
		args[len(args)-1] = text
		if _, got := train(args...); got != want {
			t.Fatalf("%s of CSV: model\n%.2000s\nwant\n%.2000s", options, got, want)
		}
	}
}

// everyLearner are options that train with each learner that takes weights, in little time.
var everyLearner = []string{"", "--order shuffle", "--algo pocket", "--algo pocket --pocket ratchet --order random", "--algo averaged", "--algo voted --max-updates 300",
	"--algo dual", "--algo kernel-perceptron --kernel rbf --form voted", "--algo logistic", "--algo lda", "--algo svm", "--algo svm --loss hinge", "--algo pocket --validation 0.3"}

// TestWeightsOfOne: where every row and class weighs 1, models are those without weights, but for what they say of the options, and
// Novikoff's bound.
func TestWeightsOfOne(t *testing.T) {
	data, path := weighty(t, "x.parquet", 400, 3), filepath.Join(t.TempDir(), "m.json")
	train := func(args ...string) map[string]any {
		t.Helper()
		succeed(t, append([]string{"train", "--algo", "perceptron", data, "--label", "y", "--features", "x*", "--epochs", "6", "--out", path}, args...)...)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		delete(m, "checksum")
		delete(m["training"].(map[string]any), "mistake_bound")
		return m
	}
	for _, options := range everyLearner {
		args := strings.Fields(options)
		want := train(args...)
		for option, key := range map[string]string{"--sample-weight ones": "sample_weight", "--class-weight 0=1": "class_weight"} {
			got := train(slices.Concat(args, strings.Fields(option))...)
			if got["options"].(map[string]any)[key] == nil {
				t.Errorf("%s %s: options %v", options, option, got["options"])
			}
			maps.DeleteFunc(got["options"].(map[string]any), func(k string, _ any) bool { return k == key })
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s: model\n%.2000s\nwant\n%.2000s", options, option, fmt.Sprint(got), fmt.Sprint(want))
			}
		}
	}
}

// TestClassWeights: weights of classes are those of their rows, and multiply; balanced is n/(k m).
func TestClassWeights(t *testing.T) {
	data, path := weighty(t, "x.parquet", 400, 3), filepath.Join(t.TempDir(), "m.json")
	train := func(args ...string) *model.Model {
		t.Helper()
		succeed(t, append([]string{"train", "--algo", "perceptron", data, "--label", "y", "--features", "x*", "--epochs", "6", "--out", path}, args...)...)
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	same := func(what string, a, b *model.Model) {
		t.Helper()
		if !reflect.DeepEqual(a.Weights, b.Weights) || !reflect.DeepEqual(a.Bias, b.Bias) || !reflect.DeepEqual(a.Voters, b.Voters) ||
			!reflect.DeepEqual(a.Expansion, b.Expansion) || *a.Training.Loss != *b.Training.Loss || *a.Training.Errors != *b.Training.Errors {
			t.Errorf("%s: weights %v, %+v, want %v, %+v", what, a.Weights, a.Training, b.Weights, b.Training)
		}
	}
	zero, one := 0.0, 0.0
	for i, options := range everyLearner {
		args := strings.Fields(options)
		plain, weighed := train(args...), train(slices.Concat(args, []string{"--sample-weight", "both"})...)
		both := train(slices.Concat(args, []string{"--sample-weight", "w", "--class-weight", "1.0=3"})...)
		same(options, both, weighed)
		if o := both.Options; o.SampleWeight != "w" || !slices.Equal(o.ClassWeight, []float64{1, 3}) {
			t.Errorf("%s: options %+v", options, o)
		}
		if reflect.DeepEqual(plain.Weights, weighed.Weights) && plain.Expansion == nil {
			t.Errorf("%s: weights have no effect", options)
		}
		if strings.Contains(options, "validation") {
			continue // other rows are counted
		}
		balanced := train(slices.Concat(args, []string{"--class-weight", "balanced"})...)
		if i == 0 {
			zero, one = balanced.Options.ClassWeight[0], balanced.Options.ClassWeight[1]
			n := math.Round(200 / one)
			if one != 200/n || zero != 200/(400-n) || n >= 200 {
				t.Fatalf("balanced weights of 400 rows are %v and %v", zero, one)
			}
		}
		same(options+" balanced", balanced, train(slices.Concat(args, []string{"--class-weight", fmt.Sprintf("0=%v,1=%v", zero, one)})...))
	}
}

// TestPocketWeighs: the pocket keeps the weights whose wrong rows weigh least, on its own rows or on those of a validation, which
// have weights too.
func TestPocketWeighs(t *testing.T) {
	data, other := weighty(t, "x.parquet", 400, 3), weighty(t, "other.parquet", 300, 3)
	args := []string{"train", data, "--label", "y", "--features", "x*", "--algo", "pocket", "--sample-weight", "w", "--class-weight", "1=5", "--json"}
	for _, more := range [][]string{nil, {"--validation", other}} {
		r := decode(t, append(args, more...)...)
		curve := r["curve"].([]any)
		last := math.Inf(1)
		for _, p := range curve {
			weight := p.(map[string]any)["weight"].(float64)
			if weight >= last {
				t.Errorf("%v: weight %v after %v", more, weight, last)
			}
			last = weight
		}
		if len(curve) < 3 {
			t.Errorf("%v: curve %v", more, curve)
		}
	}
	without := write(t, "without.parquet", col{"x0", []float64{1}}, col{"x1", []float64{1}}, col{"x2", []float64{1}}, col{"y", []int64{1}})
	status, _, stderr := command(append(args, "--validation", without)...)
	if want := `halfspace: --validation: ` + without + `: no column "w" (columns: x0, x1, x2, y)` + "\n"; status != exitFailed || !strings.HasSuffix(stderr, want) {
		t.Errorf("status %d, %s, want %s", status, stderr, want)
	}
}

// TestWeightsText: reports and inspect tell the weights, and notes and errors are of one line.
func TestWeightsText(t *testing.T) {
	data, path := weighty(t, "x.parquet", 60, 2), filepath.Join(t.TempDir(), "m.json")
	text := succeed(t, "train", "--algo", "perceptron", data, "--label", "y", "--features", "x*", "--sample-weight", "w", "--class-weight", "0=0.25", "--out", path)
	for _, got := range []string{text, succeed(t, "inspect", path)} {
		if want := "of rows w, of class 0: 0.25, of class 1: 1\n"; !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	apart := write(t, "apart.parquet", col{"x", []float64{-2, 2, 1}}, col{"y", []string{"a", "b", "b"}}, col{"w", []float64{1, 2, 0.5}})
	for option, bound := range map[string]bool{"": true, "--sample-weight w": false, "--class-weight a=2": false} {
		args := append([]string{"train", "--algo", "perceptron", apart, "--label", "y", "--features", "x", "--out", path}, strings.Fields(option)...)
		r, text := decode(t, append(args, "--json")...), succeed(t, args...)+succeed(t, "inspect", path)
		if (r["mistake_bound"] != nil) != bound || r["margin"] == nil || strings.Contains(text, "no order takes more") != bound || !strings.Contains(text, "margin") {
			t.Errorf("%s: bound %v, margin %v in\n%s", option, r["mistake_bound"], r["margin"], text)
		}
	}
	svm := filepath.Join(t.TempDir(), "x.svm")
	if err := os.WriteFile(svm, []byte("1 1:1\n-1 1:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"DATA --class-weight 2=1", exitUsage, `--class-weight 2=1: no class "2": name some of 0, 1`},
		{"DATA --class-weight 0=1,1", exitUsage, "--class-weight 1: use balanced, or CLASS=W,... with a weight for each class"},
		{"DATA --class-weight balanced,1=2", exitUsage, "--class-weight balanced: use balanced, or CLASS=W,... with a weight for each class"},
		{"DATA --class-weight 1=0", exitUsage, `--class-weight 1=0: "0" is no weight, which is a number above 0`},
		{"DATA --class-weight 1=-2", exitUsage, `"-2" is no weight`},
		{"DATA --class-weight 1=Inf", exitUsage, `"Inf" is no weight`},
		{"DATA --class-weight 1=NaN", exitUsage, `"NaN" is no weight`},
		{"DATA --class-weight 1=2,1.0=3", exitUsage, "--class-weight 1.0=3: the class is named twice: name it once"},
		{"DATA --algo winnow --class-weight balanced", exitUsage, "--class-weight with --algo winnow, which multiplies weights by one number: leave it out"},
		{"DATA --algo winnow --sample-weight w", exitUsage, "--sample-weight with --algo winnow, which multiplies weights by one number: leave it out"},
		{"DATA --sample-weight v", exitFailed, `x.parquet: no column "v"`},
		{"DATA --sample-weight x0", exitFailed, `column "x0", row `},
		{"DATA --features w --sample-weight w", exitFailed, `feature "w" is the weight of rows: leave it out of --features`},
		{svm + " --sample-weight f1", exitUsage, "svmlight files have no column of weights: convert them to another format"},
	} {
		args := strings.Fields("train --label y " + strings.ReplaceAll(c.args, "DATA", data))
		if strings.HasPrefix(c.args, svm) {
			args[2] = "label"
		}
		status, _, stderr := command(args...)
		if lines := strings.Split(strings.TrimSpace(stderr), "\n"); status != c.status || !strings.Contains(lines[len(lines)-1], c.want) {
			t.Errorf("%s: status %d, %s, want %d, %s", c.args, status, stderr, c.status, c.want)
		}
	}
}

// TestWeightsCache: a cache serves for the same column of weights alone.
func TestWeightsCache(t *testing.T) {
	data, cache := weighty(t, "x.parquet", 5000, 2), filepath.Join(t.TempDir(), "cache")
	for i, c := range []struct {
		options string
		anew    bool
	}{{"--sample-weight w", false}, {"--sample-weight w --class-weight balanced", false}, {"--sample-weight both", true}, {"", true}, {"--class-weight balanced", false}} {
		args := append([]string{"train", "--algo", "perceptron", data, "--label", "y", "--features", "x*", "--epochs", "1", "--cache", cache}, strings.Fields(c.options)...)
		status, _, stderr := command(args...)
		if status != exitDone || strings.Contains(stderr, "it was made with other options; the cache is made anew") != c.anew {
			t.Errorf("run %d, %s: status %d, %s", i, c.options, status, stderr)
		}
	}
}

// TestHugeWeights: no learner makes a model of weights that can't be added up, and each says what they are.
func TestHugeWeights(t *testing.T) {
	dir := text(t, map[string]string{"a.csv": "x,z,y,w\n" + strings.Repeat("1,2,1,1e308\n2,1,0,1e308\n3,1,1,1e308\n", 20)})
	for _, options := range everyLearner {
		args := append([]string{"train", "--algo", "perceptron", filepath.Join(dir, "a.csv"), "--sample-weight", "w", "--label", "y"}, strings.Fields(options)...)
		if status, _, stderr := command(args...); status != exitFailed || !strings.Contains(stderr, "weights of rows") && !strings.Contains(stderr, "sum of the sample weights overflows") {
			t.Errorf("%s: status %d, %q", options, status, stderr)
		}
	}
}

// TestZeros: rows without a number to learn from make a model too, where the learner needs none.
func TestZeros(t *testing.T) {
	dir := text(t, map[string]string{"a.csv": "x,z,y\n" + strings.Repeat("0,0,1\n0,0,0\n", 20)})
	for _, options := range everyLearner {
		if strings.Contains(options, "lda") {
			continue
		}
		out := filepath.Join(dir, "m.json")
		succeed(t, append(append([]string{"train"}, strings.Fields(options)...), "--no-bias", "--label", "y", "--out", out, filepath.Join(dir, "a.csv"))...)
		if m := read(t, out); strings.Contains(m, "mistake_bound") {
			t.Errorf("%s: the model has a mistake bound: %s", options, m)
		}
	}
}

// TestClassWeightComma: an item whose class has a comma is quoted as in CSV. Errors and help say so.
func TestClassWeightComma(t *testing.T) {
	path := filepath.Join(text(t, map[string]string{"q.csv": "a,y\n1,\"x, z\"\n2,w\n3,\"x, z\"\n4,w\n"}), "q.csv")
	train := func(weights string) (int, string, string) {
		return command("train", path, "--label", "y", "--algo", "logistic", "--class-weight", weights)
	}
	if status, out, _ := train(`"x, z=2",w=3`); status != exitDone || !strings.Contains(out, `of class "w": 3, of class "x, z": 2`) {
		t.Errorf("status %d, %s", status, out)
	}
	for weights, want := range map[string]string{`"x, z"=2,w=3`: `put quotes around each item with a comma`, `x, z=2,w=3`: `"A,B=W"`} {
		if status, _, stderr := train(weights); status != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q", weights, status, stderr)
		}
	}
	if help := succeed(t, "train", "--help"); !strings.Contains(help, `"A,B=NUMBER"`) {
		t.Error("the help doesn't say how to quote")
	}
}
