package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/train"
)

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
