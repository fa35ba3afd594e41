package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfspace/fit"
)

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

// TestFoldsLearn: means, deviations and categories are learned from the rows outside of a fold alone. The errors of the fold are those of
// a model learned from a file of these rows: in memory, streamed and over a cache, of every format.
func TestFoldsLearn(t *testing.T) {
	const folds, n = 3, 450
	head, rows, labels := leaky(n)
	in := deal(labels, "ab", folds, 1)
	dir := text(t, map[string]string{"all.csv": head + strings.Join(rows, "")})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "convert", at("all.csv"), "--out", at("all.parquet"))
	options := append([]string{"--label", "label", "--algo", "averaged", "--epochs", "3"}, strings.Fields(whole)...)
	var accuracies []any
	total := 0.0
	for f := range folds {
		parts := [2]string{head, head}
		for i, row := range rows {
			if in[i] == f {
				parts[1] += row
			} else {
				parts[0] += row
			}
		}
		part := text(t, map[string]string{"learned.csv": parts[0], "held.csv": parts[1]})
		succeed(t, append([]string{"train", filepath.Join(part, "learned.csv"), "--out", at("m.json")}, options...)...)
		e := decode(t, "eval", "--model", at("m.json"), filepath.Join(part, "held.csv"), "--json")
		total += e["errors"].(float64)
		accuracies = append(accuracies, e["accuracy"])
	}
	succeed(t, append([]string{"train", at("all.csv"), "--out", at("all.json")}, options...)...)
	for _, more := range []string{"all.csv", "all.parquet", "all.csv --workers 3", "all.csv --memory 300KiB", "all.parquet --cache " + at("cache"), "all.parquet --cache " + at("cache")} {
		args := strings.Fields(more)
		args[0] = at(args[0])
		r := decode(t, append(append([]string{"train", "--cv", fmt.Sprint(folds), "--out", at("n.json"), "--json"}, options...), args...)...)
		p := r["cross_validation"].(map[string]any)["points"].([]any)[0].(map[string]any)
		if p["errors"] != total || !reflect.DeepEqual(p["fold_accuracy"], accuracies) {
			t.Errorf("%s: %v errors, %v, want %v, %v", more, p["errors"], p["fold_accuracy"], total, accuracies)
		}
		if got, want := loadedModel(t, at("n.json")), loadedModel(t, at("all.json")); !reflect.DeepEqual(got.Weights, want.Weights) || !reflect.DeepEqual(got.Preprocessing, want.Preprocessing) {
			t.Errorf("%s: the model isn't that of all rows", more)
		}
	}
}

// TestShareLearns: with --validation 0.2 features are learned from the rows that are learned from, as from a file of these alone.
func TestShareLearns(t *testing.T) {
	head, rows, labels := leaky(500)
	counts := []int64{0, 0}
	for _, l := range labels {
		counts[strings.Index("ab", l)]++
	}
	held := fit.Stratified(1, 0.2, counts)()
	parts := [2]string{head, head}
	for i, row := range rows {
		if held(strings.Index("ab", labels[i])) {
			parts[1] += row
		} else {
			parts[0] += row
		}
	}
	dir := text(t, map[string]string{"all.csv": head + strings.Join(rows, ""), "learned.csv": parts[0], "held.csv": parts[1]})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, learner := range []string{"averaged --epochs 3", "logistic --l2 1", "perceptron --order shuffle --epochs 4"} {
		options := append([]string{"train", "--label", "label", "--out", at("m.json"), "--json", "--algo"}, strings.Fields(learner+" "+whole)...)
		want := decode(t, append(options, at("learned.csv"), "--validation", at("held.csv"))...)
		m := loadedModel(t, at("m.json"))
		for _, more := range []string{"", "--memory 300KiB", "--cache " + at("cache"), "--cache " + at("cache")} {
			r := decode(t, append(append(options, at("all.csv"), "--validation", "0.2"), strings.Fields(more)...)...)
			got := loadedModel(t, at("m.json"))
			if !reflect.DeepEqual(r["validation"], want["validation"]) || r["fingerprint"] != want["fingerprint"] || !reflect.DeepEqual(got.Weights, m.Weights) ||
				!reflect.DeepEqual(got.Preprocessing, m.Preprocessing) {
				t.Errorf("%s %s: validation %v, want %v; inputs %v, want %v", learner, more, r["validation"], want["validation"], got.Preprocessing, m.Preprocessing)
			}
		}
	}
}

// TestValidationOfAll: every learner tells the errors and the accuracy on the rows of a validation, which are those that eval counts.
func TestValidationOfAll(t *testing.T) {
	head, rows, _ := threeClasses(300)
	dir := text(t, map[string]string{"all.csv": head + strings.Join(rows[:200], ""), "held.csv": head + strings.Join(rows[200:], "")})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, learner := range []string{"perceptron", "pocket", "averaged", "voted", "dual", "kernel-perceptron --kernel rbf", "logistic", "lda", "svm", "svm --loss hinge"} {
		for _, weights := range []string{"", "--class-weight c=3"} {
			args := append([]string{"train", at("all.csv"), "--label", "label", "--epochs", "5", "--validation", at("held.csv"), "--out", at("m.json"), "--algo"},
				strings.Fields(learner+" "+weights)...)
			r := decode(t, append(args, "--json")...)
			v, e := r["validation"].(map[string]any), decode(t, "eval", "--model", at("m.json"), at("held.csv"), "--json")
			if v["errors"] != e["errors"] || v["accuracy"] != e["accuracy"] || v["rows"] != 100.0 || (v["error_weight"] != nil) != (weights != "") {
				t.Errorf("%s %s: %v, eval says %v errors, accuracy %v", learner, weights, v, e["errors"], e["accuracy"])
			}
			if said := succeed(t, args...); !strings.Contains(said, "validation") || !strings.Contains(said, fmt.Sprintf("errors %v of 100 rows", v["errors"])) {
				t.Errorf("%s: the report is\n%s", learner, said)
			}
			share := decode(t, append(args, "--validation", "0.2", "--json")...)
			if v := share["validation"].(map[string]any); v["rows"].(float64)+share["rows"].(float64) != 200 {
				t.Errorf("%s: a share of %v", learner, v)
			}
		}
	}
}

// TestGridWeights: where rows or classes have weights, errors are weighed, and the point with those of the least weight is chosen.
func TestGridWeights(t *testing.T) {
	head, rows, labels := threeClasses(400)
	dir := text(t, map[string]string{"all.csv": head + strings.Join(rows, "")})
	data := filepath.Join(dir, "all.csv")
	r := decode(t, "train", data, "--label", "label", "--algo", "logistic", "--cv", "4", "--class-weight", "c=6", "--grid", "l2=1,30,60,100,200,400", "--json")
	cv := r["cross_validation"].(map[string]any)
	points := cv["points"].([]any)
	rare := 0.0
	for _, l := range labels {
		if l == "c" {
			rare++
		}
	}
	best, fewest := 0, 0
	of := func(i int, key string) float64 { return points[i].(map[string]any)[key].(float64) }
	for i := range points {
		if w, e := of(i, "error_weight"), of(i, "errors"); w < e || w > e+5*rare || math.Mod(w-e, 5) != 0 {
			t.Errorf("point %d: %v errors of weight %v", i, e, w)
		}
		if of(i, "error_weight") < of(best, "error_weight") {
			best = i
		}
		if of(i, "errors") < of(fewest, "errors") {
			fewest = i
		}
	}
	if cv["chosen"] != float64(best) {
		t.Errorf("point %v is chosen, want %d of %v", cv["chosen"], best, points)
	}
	if best == fewest {
		t.Errorf("the point with the fewest errors is that with those of the least weight: there is nothing to tell of %v", points)
	}
}

// TestGridFailed: a point that fails on a fold is listed with the reason, and the best of the others is chosen. If all fail, the command
// fails.
func TestGridFailed(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": "1,0\n2,0\n3,0\n4,0\n5,0\n6,1\n7,1\n8,1\n9,1\n10,1\n"})
	args := []string{"train", filepath.Join(dir, "x.csv"), "--label", "last", "--algo", "logistic", "--out", filepath.Join(dir, "m.json")}
	for _, workers := range []string{"1", "3"} {
		r := decode(t, append(args, "--grid", "l2=0,1", "--workers", workers, "--json")...)
		cv := r["cross_validation"].(map[string]any)
		points := cv["points"].([]any)
		failed, fine := points[0].(map[string]any), points[1].(map[string]any)
		if why, _ := failed["failed"].(string); cv["chosen"] != 1.0 || failed["errors"] != nil || failed["accuracy"] != nil || !strings.HasPrefix(why, "fold 1 of 5: --l2 0: a plane separates") ||
			fine["errors"] == nil || fine["failed"] != nil {
			t.Errorf("%v was chosen of %v", cv["chosen"], points)
		}
	}
	if said := succeed(t, append(args, "--grid", "l2=0,1")...); !strings.Contains(said, "  failed: fold 1 of 5: --l2 0: a plane separates") {
		t.Errorf("the report is\n%s", said)
	}
	if status, _, stderr := command(append(args, "--grid", "l2=0")...); status != exitFailed || !strings.Contains(stderr, "fold 1 of 5: --l2 0: a plane separates") {
		t.Errorf("all points fail: status %d, %q", status, stderr)
	}
}

// TestGridEta: a learning rate that only multiplies the weights can't be chosen by their errors.
func TestGridEta(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": lines(50, "0", 0, 1)})
	for options, ok := range map[string]bool{"perceptron": false, "pocket": false, "averaged": false, "voted": false, "dual": false, "perceptron --margin 1": true,
		"averaged --l2 1": true, "pocket --grid margin=0,1": true, "logistic --solver sgd": true} {
		status, _, stderr := command(append([]string{"train", filepath.Join(dir, "x.csv"), "--label", "last", "--grid", "eta=0.1,1", "--epochs", "2", "--algo"}, strings.Fields(options)...)...)
		if (status == exitDone) != ok || !ok && (status != exitUsage || !strings.Contains(stderr, "only scales the weights of") || !strings.Contains(stderr, ": leave it out")) {
			t.Errorf("%s: status %d, %q", options, status, stderr)
		}
	}
}
