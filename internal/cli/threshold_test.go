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
	for i, described := range fit.Learners {
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
			args := []string{"train", learn, "--label", "y", "--algo", l.Name, "--out", m, "--calibrate", way, "--dtype", []string{"float32", "float64"}[i%2]}
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
