package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"halfspace/internal/model"
	"halfspace/predict"
)

// must runs the program, which must end with status 0, and returns what it printed.
func must(ts *testscript.TestScript, args ...string) string {
	r := runScript(context.Background(), ts, args, nil)
	if r.status != exitDone {
		ts.Fatalf("halfspace %s: exit status %d: %s", strings.Join(args, " "), r.status, r.stderr)
	}
	return r.stdout
}

// object is must of a command line with --json.
func object(ts *testscript.TestScript, args ...string) (r map[string]any) {
	ts.Check(json.Unmarshal([]byte(must(ts, append(args, "--json")...)), &r))
	return r
}

// loaded returns a model of the script.
func loaded(ts *testscript.TestScript, name string) *model.Model {
	m, err := model.Load(ts.MkAbs(name))
	ts.Check(err)
	return m
}

// tableOf returns the head and the lines of a CSV file.
func tableOf(ts *testscript.TestScript, name string) (head []string, lines [][]string) {
	all, err := csv.NewReader(strings.NewReader(ts.ReadFile(name))).ReadAll()
	ts.Check(err)
	return all[0], all[1:]
}

// alikeFiles fails unless two files have the same bytes.
func alikeFiles(ts *testscript.TestScript, a, b string) {
	if ts.ReadFile(a) != ts.ReadFile(b) {
		ts.Fatalf("%s and %s differ", a, b)
	}
}

// odds FILE [sums] fails unless the probabilities of each predicted row sum to 1. The greatest must be that of the class that is predicted,
// but where the word sums stands: a calibration moves probabilities alone.
func scriptOdds(ts *testscript.TestScript, _ bool, args []string) {
	head, lines := tableOf(ts, args[0])
	if len(lines) < 100 {
		ts.Fatalf("%d predictions", len(lines))
	}
	for _, line := range lines {
		sum, most, class := 0.0, -1.0, ""
		for i, name := range head {
			if name, is := strings.CutPrefix(name, "probability_"); is {
				p, err := strconv.ParseFloat(line[i], 64)
				ts.Check(err)
				if sum += p; p > most {
					most, class = p, name
				}
			}
		}
		if math.Abs(sum-1) > 1e-6 || class != line[0] && len(args) == 1 {
			ts.Fatalf("the prediction is %s", line)
		}
	}
}

// validated OPTIONS... trains on all.csv, judged on held.csv: the errors are those of eval. A share that is held out is not learned from.
func scriptValidated(ts *testscript.TestScript, _ bool, options []string) {
	train := append([]string{"train", "all.csv", "--label", "label", "--epochs", "5", "--validation", "held.csv", "--out", "m.json", "--algo"}, options...)
	v, e := object(ts, train...)["validation"].(map[string]any), object(ts, "eval", "--model", "m.json", "held.csv")
	if v["errors"] != e["errors"] || v["accuracy"] != e["accuracy"] || v["rows"] != 100.0 || (v["error_weight"] != nil) != slices.Contains(options, "--class-weight") {
		ts.Fatalf("the validation has %v, and eval %v", v, e)
	}
	if said := must(ts, train...); !strings.Contains(said, " of 100 held-out rows ") || !strings.Contains(said, fmt.Sprintf("; %v wrong)", v["errors"])) {
		ts.Fatalf("the report is\n%s", said)
	}
	r := object(ts, append(train, "--validation", "0.2")...)
	if v := r["validation"].(map[string]any); v["rows"].(float64)+r["rows"].(float64) != 200 {
		ts.Fatalf("a share of %v beside %v rows", v, r["rows"])
	}
}

// learned FILE LABEL OPTIONS... trains: eval has the errors of the training, and predict errs as often.
func scriptLearned(ts *testscript.TestScript, _ bool, args []string) {
	r := object(ts, slices.Concat([]string{"train", args[0], "--label", args[1], "--out", "m.json"}, args[2:])...)
	e := object(ts, "eval", "--model", "m.json", args[0])
	must(ts, "predict", "--model", "m.json", args[0], "--keep", args[1], "--out", "p.csv")
	_, lines := tableOf(ts, "p.csv")
	wrong := 0
	for _, line := range lines {
		if line[0] != line[1] && line[1] != "" {
			wrong++
		}
	}
	if r["train_errors"] != e["errors"] || r["rows"] != e["rows"] || float64(wrong) != e["errors"] || wrong == 0 {
		ts.Fatalf("%v errors of %v rows in training, %v of %v in eval, %d of predict", r["train_errors"], r["rows"], e["errors"], e["rows"], wrong)
	}
}

// goes-on FILE LABEL OPTIONS... has online make the steps of one epoch of train, and go on from its model to those of two. train --init
// does too.
func scriptGoesOn(ts *testscript.TestScript, _ bool, args []string) {
	words := slices.Concat([]string{args[0], "--label", args[1]}, args[2:])
	weights := func(name string) string {
		m := loaded(ts, name)
		return fmt.Sprint(m.Weights, m.Bias, m.State)
	}
	must(ts, slices.Concat([]string{"train", "--epochs", "1", "--out", "one.json"}, words)...)
	must(ts, slices.Concat([]string{"train", "--epochs", "2", "--out", "two.json"}, words)...)
	must(ts, slices.Concat([]string{"online", "--out", "online.json"}, words)...)
	must(ts, "online", args[0], "--model", "one.json", "--out", "on.json")
	must(ts, "online", args[0], "--init", "one.json", "--out", "init.json")
	must(ts, slices.Concat([]string{"train", "--init", "one.json", "--epochs", "1", "--out", "more.json"}, words)...)
	for name, same := range map[string]string{"online.json": "one.json", "on.json": "two.json", "init.json": "two.json", "more.json": "two.json"} {
		if weights(name) != weights(same) {
			ts.Fatalf("%s has other weights than %s", name, same)
		}
	}
}

// proof FILE LABEL POSITIVE [OLD NEW [OPTIONS...]] checks rows. The lines of Python that inspect shows find the proof to hold, and not where
// NEW stands for OLD.
func scriptProof(ts *testscript.TestScript, _ bool, args []string) {
	program := filepath.Join(ts.Getenv("REPOSITORY"), "cmd", "internal", "cli", "verify.py")
	check := []string{"check", args[0], "--label", args[1]}
	if len(args) > 5 {
		check = append(check, args[5:]...)
	}
	ts.Check(os.WriteFile(ts.MkAbs("proof.json"), []byte(must(ts, append(check, "--json")...)), 0o600))
	text, _, _ := strings.Cut(must(ts, check...), "  time")
	if shown := must(ts, "inspect", "proof.json"); !strings.HasPrefix(shown, text) || !strings.HasSuffix(shown, ts.ReadFile(program)) {
		ts.Fatalf("inspect shows %s", shown)
	}
	verify := func(want string) {
		out, err := exec.Command("python3", program, ts.MkAbs("proof.json"), ts.MkAbs(args[0]), args[1], args[2]).CombinedOutput()
		if strings.TrimSpace(string(out)) != want {
			ts.Fatalf("%s (%v), want %s", out, err, want)
		}
	}
	verify("holds")
	if len(args) > 4 {
		whole := ts.ReadFile(args[0])
		scriptEdit(ts, false, []string{args[0], args[3], args[4]})
		verify("does not hold")
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(whole), 0o600))
	}
}

// forge NEW OLD WHAT writes a receipt, or a model, that tells something else than OLD, and has the sums of its own bytes. With WHAT model, the
// receipt is that of the model in a further file.
func scriptForge(ts *testscript.TestScript, _ bool, args []string) {
	if args[2] == "layout" {
		text := strings.Replace(ts.ReadFile(args[1]), `"label":`, `"zzz": 1,`+"\n  "+`"label":`, 1)
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(reseal(text)), 0o600))
		return
	}
	r, err := model.LoadReceipt(ts.MkAbs(args[1]))
	ts.Check(err)
	switch args[2] {
	case "model":
		r.Model = model.SumBytes([]byte(ts.ReadFile(args[3])))
	case "rows":
		r.Rows = model.NewRowSums(4, 4096, []model.Sum{{}})
	case "epochs":
		r.Epochs[0].Weights = []model.Sum{{}}
	case "class":
		r.Epochs[0].Class = 99
	case "chunks":
		r.Rows = model.NewRowSums(4, 5000, r.Rows.Chunks)
	case "option":
		r.Options = append(r.Options, model.TypedOption{Option: "out", Values: []string{"x"}})
	}
	ts.Check(r.Save(ts.MkAbs(args[0])))
}

// kept LEARNER CHOICE [OPTIONS...] trains on learn.csv and chooses a threshold on apply.csv. The number and the probability that eval prints,
// a model that keeps the threshold, predict and package predict give the same confusion.
func scriptKept(ts *testscript.TestScript, _ bool, args []string) {
	must(ts, slices.Concat([]string{"train", "learn.csv", "--label", "y", "--out", "m.json", "--algo", args[0]}, args[2:])...)
	eval := func(more ...string) map[string]any {
		return object(ts, append([]string{"eval", "apply.csv"}, more...)...)
	}
	r := eval("--model", "m.json", "--threshold", args[1], "--save-threshold=kept.json")
	same := func(what string, got any) {
		if !reflect.DeepEqual(got, r["confusion"]) {
			ts.Fatalf("%s gives the confusion %v, want %v", what, got, r["confusion"])
		}
	}
	number := "--threshold=" + strconv.FormatFloat(r["threshold"].(float64), 'g', -1, 64)
	same(number, eval("--model", "m.json", number)["confusion"])
	if p, ok := r["threshold_probability"].(float64); ok {
		number = "--threshold=p=" + strconv.FormatFloat(p, 'g', -1, 64)
		same(number, eval("--model", "m.json", number)["confusion"])
	}
	same("the model", eval("--model", "kept.json")["confusion"])
	must(ts, "predict", "--model", "kept.json", "apply.csv", "--keep", "a,b,c,y", "--out", "p.csv")
	p, err := predict.New(loaded(ts, "kept.json"))
	ts.Check(err)
	counts := [2][2]float64{}
	_, lines := tableOf(ts, "p.csv")
	for _, line := range lines {
		var row [3]float64
		for i := range row {
			row[i], _ = strconv.ParseFloat(line[i], 64)
		}
		class, err := p.Class(row[:])
		if err != nil || class.Text != line[4] {
			ts.Fatalf("package predict says %s, error %v, of %s", class, err, line)
		}
		counts[strings.Count(line[3], "yes")][strings.Count(line[4], "yes")]++
	}
	same("predict", []any{[]any{counts[0][0], counts[0][1]}, []any{counts[1][0], counts[1][1]}})
	must(ts, "predict", "--model", "kept.json", "apply.csv", "--out", "p.csv", "--threshold", "0")
	must(ts, "predict", "--model", "m.json", "apply.csv", "--out", "q.csv")
	alikeFiles(ts, "p.csv", "q.csv")
	eval("--model", "kept.json", "--threshold", "0", "--save-threshold")
	alikeFiles(ts, "kept.json", "m.json")
}

// bounded FILE OPTIONS... trains perceptrons until no row is wrong: the bound of the report, of the model and of inspect is at least the number
// of updates. Behind "!" there must be none.
func scriptBounded(ts *testscript.TestScript, neg bool, args []string) {
	train := slices.Concat([]string{"train", args[0], "--label", "y", "--exclude", "w", "--epochs", "400", "--out", "m.json"}, args[1:])
	r := object(ts, train...)
	bound, ok := r["mistake_bound"].(float64)
	said := must(ts, train...) + must(ts, "inspect", "m.json")
	if ok == neg || ok && bound < r["updates"].(float64) || strings.Contains(said, "no order takes more") != ok || strings.Contains(ts.ReadFile("m.json"), "mistake_bound") != ok {
		ts.Fatalf("bound %v, %v updates, margin %v\n%s", r["mistake_bound"], r["updates"], r["margin"], said)
	}
}

// streams MEMORY OPTIONS... trains on d.parquet in memory, and piece by piece within MEMORY bytes: model and report are the same.
func scriptStreams(ts *testscript.TestScript, _ bool, args []string) {
	train := append([]string{"train", "d.parquet", "--label", "label"}, args[1:]...)
	want, got := object(ts, append(train, "--out", "m.json")...), object(ts, append(train, "--out", "n.json", "--memory", args[0])...)
	alikeFiles(ts, "n.json", "m.json")
	if want["streamed"] != false || got["streamed"] != true || !reflect.DeepEqual(got["cross_validation"], want["cross_validation"]) || !reflect.DeepEqual(got["validation"], want["validation"]) {
		ts.Fatalf("streamed: %v, in memory: %v", got, want)
	}
}
