package cli

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/cli/training"
	"halfspace/internal/say"
	"halfspace/model"
)

// TestTrainDefaults has the defaults that section 5 of the design promises.
func TestTrainDefaults(t *testing.T) {
	flags := training.Train(nil).Flags()
	for name, want := range map[string]string{"algo": "averaged", "features": "[]", "exclude": "[]", "positive": "",
		"order": "cyclic", "epochs": "100", "max-updates": "0", "eta": "1", "l2": "0", "margin": "0", "early-stop": "0", "no-bias": "false", "nulls": "error",
		"standardize": "false", "categorical": "", "seed": "1", "pocket": "exact", "winnow": "winnow2", "workers": "0", "isa": "",
		"memory": "", "cache": "", "validation": "", "out": "", "json": "false", "progress": "auto"} {
		f := flags.Lookup(name)
		if f == nil {
			t.Errorf("there is no --%s", name)
		} else if f.DefValue != want || f.Value.String() != want {
			t.Errorf("--%s is %q, and %q in the help, want %q", name, f.Value, f.DefValue, want)
		}
	}
}

func TestModelOptions(t *testing.T) {
	data := textbook(t, signs)
	path := filepath.Join(t.TempDir(), "m.json")
	seed, one := uint64(5), uint64(1)
	for options, want := range map[string]model.Options{
		"":                                    {Order: "cyclic", Epochs: 100, Eta: 1},
		"--seed 5 --pocket exact":             {Order: "cyclic", Epochs: 100, Eta: 1},
		"--order shuffle --seed 5 --eta 0.5":  {Order: "shuffle", Epochs: 100, Eta: 0.5, Seed: &seed},
		"--algo pocket --epochs 7 --seed 6":   {Order: "cyclic", Epochs: 7, Eta: 1, Pocket: "exact"},
		"--algo pocket --pocket ratchet":      {Order: "cyclic", Epochs: 100, Eta: 1, Pocket: "ratchet"},
		"--algo pocket --validation .5":       {Order: "cyclic", Epochs: 100, Eta: 1, Pocket: "exact", Seed: &one, Validation: 0.5},
		"--margin 2.5":                        {Order: "cyclic", Epochs: 100, Eta: 1, Margin: 2.5},
		"--validation .5 --early-stop 2":      {Order: "cyclic", Epochs: 100, Eta: 1, Seed: &one, Validation: 0.5, EarlyStop: 2},
		"--max-updates 3 --workers 2":         {Order: "cyclic", Epochs: 100, Eta: 1, MaxUpdates: 3},
		"--isa generic --progress never":      {Order: "cyclic", Epochs: 100, Eta: 1},
		"--json --features x1 --features x2 ": {Order: "cyclic", Epochs: 100, Eta: 1},
	} {
		succeed(t, append([]string{"train", "--algo", "perceptron", data, "--label", "y", "--out", path}, strings.Fields(options)...)...)
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(m.Options, want) {
			t.Errorf("%s: options are %+v, want %+v", options, m.Options, want)
		}
	}
}

// TestValidation: the pocket keeps the weights that eval finds best on other rows, whatever the memory and the workers. What is
// counted there and what eval counts is the same, with the training's preprocessing.
func TestValidation(t *testing.T) {
	data, other := ample(t, "80000"), filepath.Join(t.TempDir(), "other.parquet")
	succeed(t, "gen", "--rows", "3000", "--features", "28", "--noise", "0.2", "--seed", "2", "--out", other)
	options := []string{data, "--algo", "pocket", "--order", "shuffle", "--max-updates", "200", "--standardize", "--validation", other}
	r, want := trainedModel(t, options...)
	v := r["validation"].(map[string]any)
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	e := decode(t, "eval", "--model", path, other, "--json")
	if v["rows"] != e["rows"] || v["errors"] != e["errors"] || v["rows"] != 3000.0 {
		t.Errorf("the validation has %v, eval %v errors of %v rows", v, e["errors"], e["rows"])
	}
	if text := succeed(t, "inspect", path); !strings.Contains(text, "errors "+say.Count(int64(v["errors"].(float64)))+" of 3,000 rows") {
		t.Errorf("no errors of the validation in\n%s", text)
	}
	curve := r["curve"].([]any)
	if last := curve[len(curve)-1].(map[string]any); last["errors"] != v["errors"] || last["update"] != r["kept"] || len(curve) < 5 {
		t.Errorf("the curve is %v, but %v errors are those of update %v", curve, v["errors"], r["kept"])
	}
	if _, plain := trainedModel(t, options[:len(options)-2]...); plain == want {
		t.Error("the validation has no say")
	}
	for more, streamed := range map[string]bool{"--memory 13300000": false, "--memory 12800000 --workers 1": true, "--workers 3": false} {
		if r, m := trainedModel(t, append(strings.Fields(more), options...)...); m != want || r["streamed"] != streamed {
			t.Errorf("%s: streamed %v, the same model %v", more, r["streamed"], m == want)
		}
	}
	empty := write(t, "empty.parquet", col{"x0", []float64{}}, col{"label", []int64{}})
	three := write(t, "three.parquet", col{"x0", []float64{1}}, col{"label", []int64{3}})
	for file, message := range map[string]string{"nowhere.parquet": "nowhere.parquet", empty: "no rows", three: "label"} {
		status, _, stderr := command("train", "--algo", "perceptron", write(t, "x.parquet", col{"x0", []float64{1, 2}}, col{"label", []int64{-1, 1}}), "--label", "label",
			"--algo", "pocket", "--validation", file)
		if status != exitFailed || !strings.Contains(stderr, "--validation: ") || !strings.Contains(stderr, message) {
			t.Errorf("%s: status %d, %q", file, status, stderr)
		}
	}
}

func TestFeaturesAndClasses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	load := func(args ...string) *model.Model {
		t.Helper()
		succeed(t, append(args, "--label", "y", "--out", path)...)
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	data := textbook(t, []string{"up", "up", "down"})
	if m := load("train", "--algo", "perceptron", data, "--features", "x2,x1"); !slices.Equal(m.Features, []string{"x2", "x1"}) {
		t.Errorf("features are %q", m.Features)
	}
	if m := load("train", "--algo", "perceptron", data, "--exclude", "x1", "--no-bias"); !slices.Equal(m.Features, []string{"x2"}) || m.FitBias || len(m.Bias) != 0 {
		t.Errorf("features are %q, bias %t %v", m.Features, m.FitBias, m.Bias)
	}
	m := load("train", "--algo", "perceptron", data)
	if m.Positive.String() != "up" || m.Weights[0][0] != 1 {
		t.Errorf("positive is %s, weights %v", m.Positive, m.Weights)
	}
	m = load("train", "--algo", "perceptron", data, "--positive", "down")
	if m.Positive.String() != "down" || m.Weights[0][0] != -1 {
		t.Errorf("with --positive down, positive is %s, weights %v", m.Positive, m.Weights)
	}
}

// TestShare: a share that is held out gives the model that the same rows give in two files, but for what the model says of the hold-out.
// It doesn't depend on memory, cache or workers.
func TestShare(t *testing.T) {
	data := ample(t, "80000")
	dir := t.TempDir()
	all := filepath.Join(dir, "all.csv")
	succeed(t, "convert", data, "--out", all)
	text, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
	var parts [2]strings.Builder
	parts[0].WriteString(lines[0])
	parts[1].WriteString(lines[0])
	classOf := func(line string) string { return line[strings.LastIndex(line, ",")+1:] }
	counts := map[string]uint64{}
	for _, line := range lines[1:] {
		counts[strings.TrimSpace(classOf(line))]++
	}
	labels := slices.Sorted(maps.Keys(counts)) // -1 before 1
	left, wanted, rngs := map[string]uint64{}, map[string]uint64{}, map[string]*rand.PCG{}
	for c, label := range labels { // selection sampling in each class
		left[label], wanted[label], rngs[label] = counts[label], (counts[label]+2)/4, rand.NewPCG(7, math.MaxUint64-1-uint64(c))
	}
	for _, line := range lines[1:] {
		to, label := 0, strings.TrimSpace(classOf(line))
		if hi, _ := bits.Mul64(rngs[label].Uint64(), left[label]); hi < wanted[label] {
			to = 1
			wanted[label]--
		}
		left[label]--
		parts[to].WriteString(line)
	}
	var files [2]string
	for i := range parts {
		files[i] = filepath.Join(dir, []string{"learned.csv", "held.csv"}[i])
		if err := os.WriteFile(files[i], []byte(strings.TrimSpace(parts[i].String())+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range []string{"cyclic", "shuffle"} {
		options := []string{"--algo", "pocket", "--order", order, "--max-updates", "150", "--seed", "7"}
		separate, _ := trainedModel(t, append(options, files[0], "--validation", files[1])...)
		options = append(options, data, "--validation", "0.25")
		r, want := trainedModel(t, options...)
		for _, key := range []string{"rows", "train_errors", "updates", "visits", "kept", "norm", "loss", "fingerprint", "validation"} {
			if !reflect.DeepEqual(r[key], separate[key]) {
				t.Errorf("%s: %s is %v, and %v with two files", order, key, r[key], separate[key])
			}
		}
		file := filepath.Join(dir, "cache")
		for more, streamed := range map[string]bool{"--memory 21M --workers 1": true, "--memory 21M --cache " + file: true,
			"--workers 3 --cache " + file: false, "--memory 30M": false, "--memory 22M": true} {
			if r, m := trainedModel(t, append(strings.Fields(more), options...)...); m != want || r["streamed"] != streamed {
				t.Errorf("%s %s: streamed %v, the same model %v", order, more, r["streamed"], m == want)
			}
		}
		if _, other := trainedModel(t, append(options, "--seed", "8")...); other == want {
			t.Errorf("%s: the seed has no say", order)
		}
	}
	for share, want := range map[string]string{"0": "a share of the rows is above 0", "1": "and below 1", "-0.5": "above 0", "nan": "./nan",
		"1.5": "--validation 0.015"} {
		if status, _, stderr := command("train", "--algo", "perceptron", data, "--label", "label", "--validation", share); status != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q", share, status, stderr)
		}
	}
	for _, share := range []string{"1e-9", "0.9999999999"} {
		status, _, stderr := command("train", data, "--label", "label", "--algo", "pocket", "--validation", share)
		if status != exitFailed || !strings.Contains(stderr, "--validation: "+share+" of 80,000 rows leaves none to ") {
			t.Errorf("%s: status %d, %q", share, status, stderr)
		}
	}
}

// TestValidatedText: where no row of the validation is wrong, more epochs are no advice, and zeros are no update's weights.
func TestValidatedText(t *testing.T) {
	data := write(t, "x.parquet", col{"x0", []float64{1, 3, -1, -2}}, col{"y", []int64{1, 1, -1, -1}})
	for label, kept := range map[int64]string{1: "the weights after update 1\n", -1: "the initial weights: no others were better\n"} {
		m := filepath.Join(t.TempDir(), "m.json")
		text := succeed(t, "train", data, "--label", "y", "--algo", "pocket", "--out", m,
			"--validation", write(t, "v.parquet", col{"x0", []float64{2 * float64(label)}}, col{"y", []int64{label}}))
		const advice = "Not converged: it stopped, since no row of the validation is wrong. More rows there may find better weights.\n"
		if !strings.Contains(text, "kept         "+kept) || !strings.HasSuffix(text, advice) {
			t.Errorf("no %q and %q in\n%s", kept, advice, text)
		}
		if text := succeed(t, "inspect", m); !strings.Contains(text, ", kept "+kept) {
			t.Errorf("no %q in\n%s", kept, text)
		}
	}
}

func TestNotes(t *testing.T) {
	data := textbook(t, signs)
	m := filepath.Join(t.TempDir(), "m.json")
	for options, want := range map[string]string{
		"--out " + m:                "",
		"":                          "note: no --out: the model won't be kept\n",
		"--pocket exact --out " + m: "note: --pocket has no effect with --algo perceptron\n",
		"--pocket exact --algo pocket --out " + m:   "",
		"--algo voted --validation 0.3 --out " + m:  "",
		"--winnow balanced --out " + m:              "note: --winnow has no effect with --algo perceptron\n",
		"--algo lda --early-stop 3 --out " + m:      "note: --early-stop has no effect with --algo lda\n",
		"--seed 4 --out " + m:                       "note: --seed has no effect with --order cyclic\n",
		"--seed 4 --order fixed-shuffle --out " + m: "",
	} {
		status, _, stderr := command(append([]string{"train", "--algo", "perceptron", data, "--label", "y"}, strings.Fields(options)...)...)
		want += "note: column \"name\" (string): left out, a feature is a number, a boolean or a list of numbers (use --categorical onehot or hash:BITS for text)\n"
		if status != exitDone || stderr != want {
			t.Errorf("%s: status %d, standard error %q, want %q", options, status, stderr, want)
		}
	}
}

// TestAdviceBestEarly: where the validation's best weights came early, more epochs are not advised.
func TestAdviceBestEarly(t *testing.T) {
	const cancer = "../../examples/breast-cancer.parquet"
	train := func(options string) string {
		return succeed(t, append([]string{"train", cancer, "--label", "diagnosis", "--standardize", "--algo"}, strings.Fields(options)...)...)
	}
	const hardly, may = "More --epochs would hardly help.\n", "More --epochs than 60 may do better."
	if text := train("pocket --order shuffle --validation 0.3 --epochs 60"); !strings.HasSuffix(text, hardly) || strings.Contains(text, may) {
		t.Errorf("no %q at the end of\n%s", hardly, text)
	}
	if text := train("pocket --order shuffle --epochs 60"); strings.Contains(text, hardly) || !strings.Contains(text, may) {
		t.Errorf("no %q in\n%s", may, text)
	}
}

// TestConvergedForm: a report of the dual form says which weights are kept where the last ones make no mistake.
func TestConvergedForm(t *testing.T) {
	for form, want := range map[string]string{"last": "yes, after 7 updates; bound", "averaged": "yes, after 7 updates: the last weights make no mistake; the mean of all is kept",
		"voted": "yes, after 7 updates: the last weights make no mistake; all are kept"} {
		if text := succeed(t, "train", textbook(t, signs), "--label", "y", "--algo", "dual", "--form", form); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", form, want, text)
		}
	}
}
