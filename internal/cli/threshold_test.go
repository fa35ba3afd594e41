package cli

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"halfspace/fit"
	"halfspace/model"
	"halfspace/predict"
)

// mixedRows writes n rows of two classes that no plane separates, many of them equal, and returns the rows of the features and the classes.
func mixedRows(t *testing.T, n int, seed uint64) (path string, rows [][]float64, classes []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 37))
	var a, b, c []float64
	for range n {
		row := []float64{float64(rng.IntN(2)), float64(rng.IntN(2)), float64(rng.IntN(2))}
		class := "no"
		if row[0]+row[1]+0.5*row[2]+rng.NormFloat64() > 1.9 {
			class = "yes"
		}
		rows, classes = append(rows, row), append(classes, class)
		a, b, c = append(a, row[0]), append(b, row[1]), append(c, row[2])
	}
	return write(t, fmt.Sprintf("rows%d.parquet", seed), col{"a", a}, col{"b", b}, col{"c", c}, col{"y", classes}), rows, classes
}

// TestThresholdAgain: the number and the probability that eval prints for a chosen threshold give the same confusion again, with every learner of
// two classes. A model that keeps the threshold predicts so in eval, predict and package predict.
func TestThresholdAgain(t *testing.T) {
	learn, _, _ := mixedRows(t, 200, 1)
	apply, rows, classes := mixedRows(t, 1000, 2)
	dir := t.TempDir()
	for _, described := range fit.Learners {
		l, err := fit.Named(described.Name)
		if err != nil {
			t.Fatal(err)
		}
		ways := []string{"none", model.Platt, model.Isotonic}
		if l.HasOdds() {
			ways = ways[:1]
		}
		for _, way := range ways {
			m, kept := filepath.Join(dir, "m.json"), filepath.Join(dir, "kept.json")
			args := []string{"train", learn, "--label", "y", "--algo", l.Name, "--out", m, "--calibrate", way}
			if l.Option("epochs") != nil {
				args = append(args, "--epochs", "3")
			}
			if status, _, stderr := command(args...); status != 0 {
				t.Fatalf("%s: %s", l.Name, stderr)
			}
			for _, choice := range []string{"f1", "cost=1:9", "cost=9:1", "cost=0:1", "cost=1:0"} {
				name := l.Name + " " + way + " " + choice
				r := decode(t, "eval", "--json", "--model", m, apply, "--threshold", choice, "--save-threshold="+kept)
				same := func(what string, got any) {
					if !reflect.DeepEqual(got, r["confusion"]) {
						t.Errorf("%s: %s gives the confusion %v, want %v", name, what, got, r["confusion"])
					}
				}
				number := "--threshold=" + strconv.FormatFloat(r["threshold"].(float64), 'g', -1, 64)
				same(number, decode(t, "eval", "--json", "--model", m, apply, number)["confusion"])
				if p, ok := r["threshold_probability"].(float64); ok {
					typed := "--threshold=p=" + strconv.FormatFloat(p, 'g', -1, 64)
					same(typed, decode(t, "eval", "--json", "--model", m, apply, typed)["confusion"])
				}
				again := decode(t, "eval", "--json", "--model", kept, apply)
				same("the model", again["confusion"])
				out := filepath.Join(dir, "p.csv")
				succeed(t, "predict", "--model", kept, apply, "--out", out)
				predictions, err := csv.NewReader(strings.NewReader(read(t, out))).ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				loaded, err := model.Load(kept)
				if err != nil {
					t.Fatal(err)
				}
				p, err := predict.New(loaded)
				if err != nil {
					t.Fatal(err)
				}
				counts := []any{[]any{0.0, 0.0}, []any{0.0, 0.0}}
				for i, row := range rows {
					class, err := p.Class(row)
					if err != nil || class.Text != predictions[i+1][0] {
						t.Fatalf("%s: row %d: a predictor says %s, error %v, and predict %s", name, i, class, err, predictions[i+1][0])
					}
					at := counts[strings.Count(classes[i], "yes")].([]any)
					at[strings.Count(class.Text, "yes")] = at[strings.Count(class.Text, "yes")].(float64) + 1
				}
				same("predict", any(counts))
				succeed(t, "predict", "--model", kept, apply, "--out", out, "--threshold", "0")
				other := read(t, out)
				succeed(t, "predict", "--model", m, apply, "--out", out)
				if read(t, out) != other {
					t.Errorf("%s: --threshold 0 doesn't override the model's", name)
				}
			}
			succeed(t, "eval", "--json", "--model", kept, apply, "--threshold", "0", "--save-threshold")
			if read(t, kept) != read(t, m) {
				t.Errorf("%s %s: the model without its threshold is another one", l.Name, way)
			}
		}
	}
}

// TestTrainThreshold: train keeps the threshold of --threshold in the model, the same in memory and streamed. The errors that train counts are those
// of eval. verify learns the same model again, with the options that the model tells and with those of its receipt.
func TestTrainThreshold(t *testing.T) {
	learn, _, _ := mixedRows(t, 400, 3)
	dir := t.TempDir()
	m, again, receipt := filepath.Join(dir, "m.json"), filepath.Join(dir, "again.json"), filepath.Join(dir, "receipt.json")
	for _, c := range []struct{ algo, threshold, way string }{{"logistic", "f1", "none"}, {"logistic", "p=0.2", "none"}, {"averaged", "cost=1:9", "none"},
		{"svm", "p=0.7", model.Platt}, {"lda", "-0.5", "none"}, {"svm", "cost=9:1", model.Isotonic}} {
		args := []string{"train", learn, "--label", "y", "--standardize", "--algo", c.algo, "--threshold=" + c.threshold, "--calibrate", c.way}
		r := decode(t, append(args, "--json", "--out", m, "--receipt", receipt)...)
		e := decode(t, "eval", "--json", "--model", m, learn)
		at, _ := e["threshold"].(float64)
		if r["train_errors"] != e["errors"] || at == 0 {
			t.Errorf("%v: train counts %v errors and eval %v, with the threshold %v", c, r["train_errors"], e["errors"], at)
		}
		succeed(t, append(args, "--out", again, "--memory", "32M", "--workers", "1")...)
		if read(t, again) != read(t, m) {
			t.Errorf("%v: streamed rows give another model", c)
		}
		succeed(t, "verify", "--model", m, learn)
		succeed(t, "verify", "--model", m, learn, "--receipt", receipt)
	}
	succeed(t, "train", learn, "--label", "y", "--algo", "logistic", "--cv", "3", "--threshold", "f1", "--out", m)
	for want, args := range map[string][]string{
		"use a score such as 0.5":                     {"--algo", "svm", "--threshold", "f2"},
		"has no probabilities: add --calibrate platt": {"--algo", "svm", "--threshold", "p=0.5"},
		"choose the threshold with eval":              {"--validation", "0.2", "--threshold", "f1"},
		"use a number above 0":                        {"--algo", "winnow", "--threshold", "f1"},
	} {
		if status, _, stderr := command(append([]string{"train", learn, "--label", "y"}, args...)...); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
}
