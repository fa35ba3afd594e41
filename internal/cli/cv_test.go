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

// threeClasses writes rows of two features and three classes, c the rarest, as CSV.
func threeClasses(n int) (head string, rows, labels []string) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		label := "a"
		switch noise := 0.5 * rng.NormFloat64(); {
		case a+noise > 1.2:
			label = "c"
		case b+noise > 0:
			label = "b"
		}
		rows = append(rows, fmt.Sprintf("%.4f,%.4f,%s\n", a, b, label))
		labels = append(labels, label)
	}
	return "x,z,label\n", rows, labels
}

// deal is which fold each row is in, by the words of fold's comment.
func deal(labels []string, classes string, folds int, seed uint64) []int {
	counts, in := make([]int64, len(classes)), make([]int, len(labels))
	for _, c := range labels {
		counts[strings.Index(classes, c)]++
	}
	for f := range folds {
		is := fit.Fold(seed, folds, counts, f)()
		for i, c := range labels {
			if is(strings.Index(classes, c)) {
				in[i] = f
			}
		}
	}
	return in
}

// TestCrossValidation: eval finds the errors of each fold with a model that train learned from a file of the other folds. Each class is
// spread evenly. The report doesn't depend on workers or streaming.
func TestCrossValidation(t *testing.T) {
	const folds, seed = 4, 7
	head, rows, labels := threeClasses(602)
	in := deal(labels, "abc", folds, seed)
	dir := text(t, map[string]string{"all.csv": head + strings.Join(rows, "")})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{{"--algo", "logistic", "--l2", "1"}, {"--algo", "averaged", "--order", "shuffle", "--epochs", "3", "--seed", "7"},
		{"--algo", "dual", "--epochs", "2"}} {
		args = append([]string{"--label", "label"}, args...)
		var accuracies []any
		total, most, least := 0.0, map[string]int{}, map[string]int{}
		for f := range folds {
			learned, held, counts := head, head, map[string]int{}
			for i, row := range rows {
				if in[i] == f {
					held += row
					counts[labels[i]]++
				} else {
					learned += row
				}
			}
			for c, n := range counts {
				most[c] = max(most[c], n)
				if f == 0 || n < least[c] {
					least[c] = n
				}
			}
			part := text(t, map[string]string{"learned.csv": learned, "held.csv": held})
			succeed(t, append([]string{"train", "--algo", "perceptron", filepath.Join(part, "learned.csv"), "--out", at("m.json")}, args...)...)
			e := decode(t, "eval", "--model", at("m.json"), filepath.Join(part, "held.csv"), "--json")
			total += e["errors"].(float64)
			accuracies = append(accuracies, e["accuracy"])
		}
		for c := range most {
			if most[c] > least[c]+1 {
				t.Errorf("class %s has %d to %d rows in a fold", c, least[c], most[c])
			}
		}
		for _, more := range [][]string{{"--workers", "1"}, {"--workers", "3"}} {
			line := append(append([]string{"train", "--algo", "perceptron", at("all.csv"), "--cv", fmt.Sprint(folds), "--seed", fmt.Sprint(seed), "--json", "--out", at("n.json")}, args...), more...)
			r := decode(t, line...)
			cv := r["cross_validation"].(map[string]any)
			p := cv["points"].([]any)[0].(map[string]any)
			if p["errors"] != total || !reflect.DeepEqual(p["fold_accuracy"], accuracies) || p["accuracy"] != (602-total)/602 {
				t.Errorf("%v: %v, want %v errors, %v", line, p, total, accuracies)
			}
			m := loadedModel(t, at("n.json"))
			if v := m.Training.CrossValidation; v == nil || float64(v.Errors) != total || v.Folds != folds || *m.Options.Seed != seed {
				t.Errorf("%v: the model says %v", line, v)
			}
			succeed(t, append([]string{"train", "--algo", "perceptron", at("all.csv"), "--out", at("m.json")}, args...)...)
			if whole := loadedModel(t, at("m.json")); !reflect.DeepEqual(whole.Weights, m.Weights) {
				t.Errorf("%v: weights %v, without --cv %v", line, m.Weights, whole.Weights)
			}
		}
	}
	if text := succeed(t, "train", at("all.csv"), "--label", "label", "--algo", "lda", "--cv", "3"); !strings.Contains(text, "in 3 folds, each judged by") {
		t.Errorf("the report is\n%s", text)
	}
	if text := succeed(t, "inspect", at("n.json")); !strings.Contains(text, "in 4 folds of a cross-validation") {
		t.Errorf("inspect says\n%s", text)
	}
}

// TestCrossValidationStreamed: rows that don't fit in memory twice are split into temporary files, with the same result.
func TestCrossValidationStreamed(t *testing.T) {
	head, rows, _ := threeClasses(20_000)
	dir := text(t, map[string]string{"all.csv": head + strings.Join(rows, "")})
	for _, learner := range []string{"lda", "pocket", "perceptron --order shuffle", "averaged --grid order=random,cyclic", "averaged --order shuffle --standardize"} {
		args := append([]string{"train", filepath.Join(dir, "all.csv"), "--label", "label", "--epochs", "1", "--cv", "2", "--json", "--out", filepath.Join(dir, "m.json"), "--algo"},
			strings.Fields(learner)...)
		want := decode(t, args...)
		model := read(t, filepath.Join(dir, "m.json"))
		got := decode(t, append(args, "--memory", "1450KiB")...)
		if got["streamed"] != true || want["streamed"] != false || !reflect.DeepEqual(got["cross_validation"], want["cross_validation"]) || read(t, filepath.Join(dir, "m.json")) != model {
			t.Errorf("%s: %v (streamed: %v), in memory %v", learner, got["cross_validation"], got["streamed"], want["cross_validation"])
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
			t.Errorf("left are %v", left)
		}
	}
}

// TestGrid: every combination is judged as it would be alone. The first of those with the fewest errors is chosen, and the model is that
// of its options.
func TestGrid(t *testing.T) {
	head, rows, _ := threeClasses(400)
	dir := text(t, map[string]string{"all.csv": head + strings.Join(rows, "")})
	at := func(name string) string { return filepath.Join(dir, name) }
	base := []string{"train", at("all.csv"), "--label", "label", "--algo", "svm", "--cv", "3", "--json"}
	r := decode(t, append(base, "--grid", "l2=1000, 1,0.01,1", "--grid", "loss=hinge,squared_hinge", "--out", at("m.json"))...)
	cv := r["cross_validation"].(map[string]any)
	points := cv["points"].([]any)
	if len(points) != 8 {
		t.Fatalf("%d points", len(points))
	}
	best := math.Inf(1)
	chosen := 0
	for i, p := range points {
		p := p.(map[string]any)
		o := p["options"].(map[string]any)
		if want := []string{"hinge", "squared_hinge"}[i%2]; o["loss"] != want || o["l2"] != []string{"1000", "1", "0.01", "1"}[i/2] {
			t.Errorf("point %d has %v", i, o)
		}
		alone := decode(t, append(base, "--l2", o["l2"].(string), "--loss", o["loss"].(string))...)
		want := alone["cross_validation"].(map[string]any)["points"].([]any)[0].(map[string]any)
		if p["errors"] != want["errors"] || !reflect.DeepEqual(p["fold_accuracy"], want["fold_accuracy"]) {
			t.Errorf("point %d: %v, alone %v", i, p, want)
		}
		if e := p["errors"].(float64); e < best {
			best, chosen = e, i
		}
	}
	if cv["chosen"] != float64(chosen) {
		t.Errorf("%v was chosen, want %d of %v", cv["chosen"], chosen, points)
	}
	r = decode(t, "train", at("all.csv"), "--label", "label", "--algo", "logistic", "--multiclass", "ovr", "--solver", "lbfgs", "--memory", "1GiB", "--exclude", "x", "--grid", "l2=1,2",
		"--out", at("o.json"), "--json")
	if m := loadedModel(t, at("o.json")); m.Options.Multiclass != "ovr" || m.Options.Solver != "lbfgs" || len(m.Features) != 1 {
		t.Errorf("options %+v and features %v, of %v", m.Options, m.Features, r["cross_validation"])
	}
	o := points[chosen].(map[string]any)["options"].(map[string]any)
	succeed(t, append(base, "--l2", o["l2"].(string), "--loss", o["loss"].(string), "--out", at("n.json"))...)
	if got, want := read(t, at("m.json")), read(t, at("n.json")); got != want {
		t.Errorf("the model is\n%s\nwith its options alone\n%s", got, want)
	}
	if text := succeed(t, "train", at("all.csv"), "--label", "label", "--algo", "svm", "--grid", "l2=1,10"); !strings.Contains(text, "each judged in 5 folds") ||
		!strings.Contains(text, "l2 10") {
		t.Errorf("the report is\n%s", text)
	}
	_, _, notes := command("train", at("all.csv"), "--label", "label", "--algo", "dual", "--max-updates", "20", "--gamma", "0.5", "--degree", "2", "--grid", "kernel=linear,rbf")
	if strings.Contains(notes, "--gamma") || !strings.Contains(notes, "--degree has no effect") {
		t.Errorf("the notes are %s", notes)
	}
}

// TestPathNote: a note tells how many points of a path did not converge, if any.
func TestPathNote(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": lines(50, "0", 0, 1)})
	args := []string{"train", filepath.Join(dir, "x.csv"), "--label", "last", "--algo", "logistic", "--path", "6", "--out", filepath.Join(dir, "m.json")}
	if _, _, notes := command(args...); strings.Contains(notes, "converge") {
		t.Errorf("the notes are %s", notes)
	}
	if _, _, notes := command(append(args, "--epochs", "1")...); !strings.Contains(notes, "did not converge") {
		t.Errorf("with few epochs, the notes are %s", notes)
	}
}

// TestSplitOptions: rows of a group, and rows in order of a column, are judged together: in memory, streamed, over a cache, with means and
// deviations of the rows that are learned from. The column is no feature, and the model names it.
func TestSplitOptions(t *testing.T) {
	var rows strings.Builder
	rng := rand.New(rand.NewPCG(3, 4))
	rows.WriteString("x,z,who,day,label\n")
	for range 400 {
		who, x := rng.IntN(30), rng.NormFloat64()
		label := "a"
		if x+float64(who%3)+2*rng.NormFloat64() > 1 {
			label = "b"
		}
		fmt.Fprintf(&rows, "%.3f,%.3f,u%d,2024-%02d-%02d,%s\n", x, 100*rng.NormFloat64(), who, 1+rng.IntN(12), 1+rng.IntN(28), label)
	}
	dir := text(t, map[string]string{"x.csv": rows.String(), "few.csv": "x,g,y\n1,a,0\n2,,1\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "convert", at("x.csv"), "--out", at("x.parquet"))
	for options, want := range map[string][2]any{
		"--cv 4 --group who --exclude day":              {"groups", "who"},
		"--cv 4 --order-by day --exclude who":           {"time", "day"},
		"--validation 0.2 --group who --exclude day":    {nil, "who"},
		"--validation 0.2 --order-by day --exclude who": {nil, "day"},
	} {
		var first map[string]any
		for _, more := range []string{"x.csv", "x.parquet --workers 3", "x.parquet --memory 300KiB", "x.csv --cache " + at(fmt.Sprint("cache", len(options)))} {
			args := append([]string{"train", "--label", "label", "--algo", "logistic", "--standardize", "--json", "--out", at("m.json")}, strings.Fields(options+" "+more)...)
			args[len(args)-len(strings.Fields(more))] = at(strings.Fields(more)[0])
			r := decode(t, args...)
			m := loadedModel(t, at("m.json"))
			if name := m.Options.Group + m.Options.OrderBy; name != want[1] || len(m.Features) != 2 {
				t.Errorf("%s: the model has %q and %d features", options, name, len(m.Features))
			}
			got := map[string]any{"cv": r["cross_validation"], "validation": r["validation"], "weights": m.Weights}
			if cv, ok := r["cross_validation"].(map[string]any); ok && cv["split"] != want[0] {
				t.Errorf("%s: split %v", options, cv["split"])
			}
			if first == nil {
				first = got
			}
			if !reflect.DeepEqual(got, first) {
				t.Errorf("%s %s: %v, want %v", options, more, got, first)
			}
		}
	}
	if _, _, text := command("train", at("few.csv"), "--label", "y", "--group", "g", "--cv", "2"); !strings.Contains(text, `column "g", line 3, row 1: no value: fill it in`) {
		t.Error(text)
	}
}

func TestGridUsage(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": lines(50, "0", 0, 1), "few.csv": "1,0\n2,1\n3,0\n4,0\n"})
	for args, want := range map[string]string{
		"x.csv --cv 1":                                       "--cv is 1: use 2 or more folds",
		"x.csv --cv -3":                                      "--cv is -3",
		"x.csv --cv 40":                                      "but no class has more than",
		"x.csv --cv 3 --group c0 --split time":               "--group with --split time or --order-by",
		"x.csv --cv 3 --validation 0.2":                      "--validation with --cv or --grid",
		"x.csv --grid eta":                                   `--grid is "eta": write an option and its values`,
		"x.csv --grid eta=":                                  `--grid is "eta="`,
		"x.csv --grid loss=hinge":                            `--grid can't vary "loss" with --algo perceptron: vary order, eta, max-updates, margin, l2, epochs, shards or mix (see`,
		"x.csv --grid validation=0.1":                        `--grid can't vary "validation"`,
		"x.csv --grid eta=1,2":                               "eta is 2",
		"x.csv --grid eta=1,much":                            "--grid: --eta much: use a number (see",
		"x.csv --grid order=cyclic,shufle":                   "--grid: --order shufle: use cyclic, shuffle",
		"x.csv --grid early-stop=2,3":                        `--grid can't vary "early-stop"`,
		"x.csv --algo dual --grid gama=2":                    "or form: did you mean gamma? (see",
		"x.csv --algo dual --grid gamma=1,2":                 `--grid varies "gamma", which has no effect with --kernel linear`,
		"x.csv --algo logistic --grid eta=0.1,1":             `--grid varies "eta", which has no effect with --algo logistic`,
		"x.csv --grid eta=1,0.5 --eta 1":                     `--grid varies "eta", which --eta sets: leave one of them out`,
		"x.csv --grid eta=1 --grid eta=0.5":                  `--grid varies "eta" twice`,
		"x.csv --algo svm --grid l2=0,1":                     "--l2 is 0",
		"x.csv --algo logistic --no-bias --grid l2=0 --cv 3": "fold 1 of 3: --l2 0: ",
		"x.csv --algo svm --loss hinge --grid l1=1,2":        "--loss is hinge, and l1 takes squared_hinge alone",
		"x.csv --path 9":                                     "--path with --algo perceptron, which follows no path: use --algo logistic or svm",
		"x.csv --algo svm --path 1":                          "--path is 1: use 2 to 10,000 penalties",
		"x.csv --algo svm --path 9 --l1 1":                   "--path with --l1",
		"x.csv --algo svm --path 9 --grid l2=1":              "--path with --grid",
		"x.csv --algo svm --path 9 --loss hinge":             "loss is hinge, and l1 takes squared_hinge alone",
		"x.csv --algo logistic --path 9 --multiclass joint":  "--path with --multiclass joint",
	} {
		list := []string{"train", "--algo", "perceptron", "--label", "last"}
		for _, f := range strings.Fields(args) {
			if strings.HasSuffix(f, ".csv") {
				f = filepath.Join(dir, f)
			}
			list = append(list, f)
		}
		if status, _, stderr := command(list...); status == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}
