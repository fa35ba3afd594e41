package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/fit"
	"halfspace/model"
)

// lines writes rows of two features as CSV without a header. The labels are 0 and 1, or -1 and 1, by a plane, with a share of them
// flipped.
func lines(n int, negative string, flips float64, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 3))
	var s strings.Builder
	for range n {
		a, b := rng.IntN(21)-10, rng.IntN(21)-10
		if 2*a-b+1 == 0 {
			b++
		}
		label := negative
		if (2*a-b+1 > 0) != (rng.Float64() < flips) {
			label = "1"
		}
		fmt.Fprintf(&s, "%d,%d,%s\n", a, b, label)
	}
	return s.String()
}

// TestOnline: one pass of the perceptron has the mistakes that are counted here by hand, at powers of two and at the end. Labels 0 and 1
// do as well as -1 and 1. A model continues where another pass ended.
func TestOnline(t *testing.T) {
	all := lines(3000, "0", 0.05, 1)
	dir := text(t, map[string]string{"x.csv": all, "signs.csv": lines(3000, "-1", 0.05, 1), "first.csv": all[:len(all)/2][:strings.LastIndexByte(all[:len(all)/2], '\n')+1],
		"second.csv": all[strings.LastIndexByte(all[:len(all)/2], '\n')+1:]})
	at := func(name string) string { return filepath.Join(dir, name) }
	online := func(out string, args ...string) map[string]any {
		return decode(t, append([]string{"online", "--label", "last", "--out", at(out), "--json"}, args...)...)
	}
	r := online("m.json", at("x.csv"))
	var w [3]float64
	mistakes, updates := 0, 0
	want := []any{}
	point := func(rows int) any {
		return map[string]any{"rows": float64(rows), "mistakes": float64(mistakes), "updates": float64(updates)}
	}
	for i, line := range strings.Split(strings.TrimSpace(all), "\n") {
		var x [3]float64
		if _, err := fmt.Sscanf(line, "%g,%g,%g", &x[0], &x[1], &x[2]); err != nil {
			t.Fatal(err)
		}
		y := 2*x[2] - 1
		x[2] = 1
		s := w[0]*x[0] + w[1]*x[1] + w[2]
		if (s > 0) != (y > 0) {
			mistakes++
		}
		if y*s <= 0 {
			updates++
			for c := range w {
				w[c] += y * x[c]
			}
		}
		if rows := i + 1; rows&(rows-1) == 0 {
			want = append(want, point(rows))
		}
	}
	want = append(want, point(3000))
	if !reflect.DeepEqual(r["progressive"], want) || r["mistakes"] != float64(mistakes) || r["rows"] != 3000.0 {
		t.Errorf("got %v, want %v", r["progressive"], want)
	}
	m, err := model.Load(at("m.json"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Weights[0][0] != w[0] || m.Weights[0][1] != w[1] || m.Bias[0] != w[2] || m.Algorithm != fit.OnlineName {
		t.Errorf("weights %v and %v, want %v", m.Weights, m.Bias, w)
	}
	if m.Training.Loss != nil {
		t.Errorf("the model has the loss %v, which nobody computes", *m.Training.Loss)
	}
	if e := decode(t, "eval", "--model", at("m.json"), at("x.csv"), "--json"); e["errors"] != r["errors"] {
		t.Errorf("%v errors here, %v in eval", r["errors"], e["errors"])
	}
	if signs := online("n.json", at("signs.csv")); !reflect.DeepEqual(signs["progressive"], want) {
		t.Errorf("with -1 and 1: %v", signs["progressive"])
	}
	one := online("half.json", at("first.csv"))
	two := online("whole.json", "--model", at("half.json"), at("second.csv"))
	whole, err := model.Load(at("whole.json"))
	if err != nil {
		t.Fatal(err)
	}
	if one["mistakes"].(float64)+two["mistakes"].(float64) != float64(mistakes) || !reflect.DeepEqual(whole.Weights, m.Weights) {
		t.Errorf("%v and %v mistakes in two halves, %d in all; weights %v, want %v", one["mistakes"], two["mistakes"], mistakes, whole.Weights, m.Weights)
	}
	if text := succeed(t, "inspect", at("m.json")); !strings.Contains(text, "online, float32") || strings.Contains(text, "loss") {
		t.Errorf("inspect says\n%s", text)
	}
	if text := succeed(t, "online", at("x.csv"), "--label", "last"); !strings.Contains(text, "of the last") || !strings.Contains(text, "unknown: the last weights don't") {
		t.Errorf("the report is\n%s", text)
	}
}

// TestOnlineFormats: files of every format give the same weights, whatever the instruction set and the number of workers.
func TestOnlineFormats(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "x.csv")
	if err := os.WriteFile(csv, []byte("a,b,y\n"+lines(5000, "0", 0.1, 2)), 0o666); err != nil {
		t.Fatal(err)
	}
	var want string
	for i, name := range []string{"x.csv", "x.parquet", "x.arrow", "x.csv"} {
		path, out := filepath.Join(dir, name), filepath.Join(dir, "m.json")
		if i > 0 && i < 3 {
			succeed(t, "convert", csv, "--out", path)
		}
		args := []string{"online", path, "--label", "y", "--out", out, "--workers", fmt.Sprint(i + 1)}
		if i == 2 {
			args = append(args, "--isa", "generic")
		}
		succeed(t, args...)
		if got := read(t, out); i == 0 {
			want = got
		} else if got != want {
			t.Errorf("%s gives\n%s\nand CSV\n%s", name, got, want)
		}
	}
}

// TestOnlineInterrupted: an interrupt leaves the report and the model of the rows so far.
func TestOnlineInterrupted(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": lines(30000, "0", 0.1, 6), "head.csv": lines(2048, "0", 0.1, 6)})
	data, err := dataset.Load(context.Background(), []string{filepath.Join(dir, "x.csv")}, dataset.Options{Label: "last"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f, err := fit.LearnOnline(ctx, data, nil, fit.OnlineOptions{Workers: 2, Show: func(rows int64) {
		if rows == 1024 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || f == nil || f.Rows != 2048 {
		t.Fatalf("%+v were visited, error %v", f, err)
	}
	out := filepath.Join(dir, "m.json")
	if err := f.Model.Save(out); err != nil {
		t.Fatal(err)
	}
	got := read(t, out)
	succeed(t, "online", filepath.Join(dir, "head.csv"), "--label", "last", "--out", out)
	if want := read(t, out); got != want {
		t.Errorf("interrupted after 2,048 rows, the model is\n%s\nthat of those rows is\n%s", got, want)
	}
}

// feed puts text on standard input, and an end behind it if that is asked for. What it returns is closed once all is on its way.
func feed(t *testing.T, text string, end bool) <-chan struct{} {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = r
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.WriteString(w, text) // fails where nobody reads on
		if end {
			w.Close()
		}
	}()
	t.Cleanup(func() {
		w.Close()
		r.Close()
		<-done
		os.Stdin = stdin
	})
	return done
}

// TestOnlineInterruptedStream: an interrupt comes while a stream waits for more. The whole rows so far are learned, even if they are
// fewer than are parsed at a time.
func TestOnlineInterruptedStream(t *testing.T) {
	text, path := lines(20_000, "0", 0.1, 4), filepath.Join(t.TempDir(), "m.json")
	page := path + ".html"
	args := []string{"online", "-", "--label", "last", "--json", "--out", path, "--report", page}
	for _, with := range [][]string{nil, {"--model", path}} {
		ctx, cancel := context.WithCancel(context.Background())
		sent := feed(t, text[:len(text)-2], false) // without the end of the last line, and more than a pipe holds
		go func() {
			<-sent
			cancel()
		}()
		var stdout, stderr bytes.Buffer
		var r struct {
			Rows        int
			Interrupted bool
		}
		status := run(ctx, append(args, with...), &stdout, &stderr)
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || status != exitInterrupted || !r.Interrupted || r.Rows == 0 || r.Rows >= 20_000 {
			t.Fatalf("%v: status %d, %v, %q, %q", with, status, err, stdout.String(), stderr.String())
		}
		hasAll(t, page, "The run was interrupted.")
		got := read(t, path)
		if with == nil {
			feed(t, strings.Join(strings.SplitAfter(text, "\n")[:r.Rows], ""), true)
			succeed(t, args...)
			hasAll(t, page, "The same rows, options and version")
			if want := read(t, path); got != want {
				t.Errorf("interrupted after %d rows, the model is\n%s\nthat of those rows is\n%s", r.Rows, got, want)
			}
		}
	}
}

// TestOnlineStream: standard input goes by once, in whatever pieces it comes, and is learned from as a file is. What only a second
// pass could tell isn't reported.
func TestOnlineStream(t *testing.T) {
	dir := t.TempDir()
	csv, model1, model2 := filepath.Join(dir, "x.csv"), filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	rows := "a,b,y\n" + lines(600_000, "0", 0.1, 9) // more than the first rows, which tell the columns
	if err := os.WriteFile(csv, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	feed := func(text string) { t.Helper(); feed(t, text, true) }
	want := decode(t, "online", csv, "--label", "y", "--out", model1, "--json")
	formats := map[string]string{"x.csv": csv}
	for _, name := range []string{"x.arrow", "x.svm"} {
		if testing.Short() {
			continue
		}
		formats[name] = filepath.Join(dir, name)
		succeed(t, "convert", csv, "--label", "y", "--out", formats[name])
	}
	for name, path := range formats {
		args := []string{"online", "-", "--label", "y", "--out", model2, "--json"}
		if name == "x.svm" {
			args[3] = "label"
		}
		feed(read(t, path))
		got := decode(t, args...)
		if got["errors"] != nil || got["margin"] != nil || got["radius"] != want["radius"] || !reflect.DeepEqual(got["progressive"], want["progressive"]) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		a, b := loadedModel(t, model1), loadedModel(t, model2)
		if !reflect.DeepEqual(a.Weights, b.Weights) || a.Data != b.Data || b.Training.Errors != nil || *b.Training.Mistakes != *a.Training.Mistakes {
			t.Errorf("%s: %v and %v, want %v and %v", name, b.Data, b.Training, a.Data, a.Training)
		}
	}
	feed(rows)
	if text := succeed(t, "online", "-", "--label", "y", "--model", model1); !strings.Contains(text, "600,000 rows, each predicted") || strings.Contains(text, "bound") {
		t.Errorf("going on says\n%s", text)
	}
	for text, want := range map[string]string{
		"a,y\n1,0\n":                       "training takes two",
		"a,y\n":                            "no rows",
		rows + "1,1,2\n":                   `column "y", line 600002, row 600000: 2 is no class of the first rows, which have 0, 1: change the label, or leave the row out`,
		rows + "nonsense,1,1\n":            `line 600002, column "a": "nonsense" is not a number`,
		strings.Repeat("1,0\n", 4) + "1\n": "line 5",
	} {
		if len(text) > 1<<20 && testing.Short() {
			continue
		}
		feed(text)
		if status, _, stderr := command("online", "-", "--label", "last", "--out", model2); status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}

func loadedModel(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOnlineUsage(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": lines(50, "0", 0, 1), "three.csv": "1,2,0\n2,3,1\n3,4,2\n"})
	for args, want := range map[string]string{
		"--label y":                         "no data: name a file, a glob, a directory, or - for standard input",
		"x.csv":                             "--label is missing",
		"x.csv --label last --eta 2":        "--eta is 2",
		"x.csv --label last --eta 1e-60":    "--eta is 1e-60",
		"x.csv --label last --out -":        "--out is -: name a file for the model",
		"x.csv --label last --model none":   "none: no such file or directory: check the path",
		"x.csv --label nothing":             `no column "nothing"`,
		"three.csv --label last":            "3 classes (0, 1, 2), training takes two",
		"x.csv --label last --positive two": `no class "two"`,
	} {
		list := []string{"online"}
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

// TestOnlineGoesOn: online continues from models of perceptrons, with notes on options that it drops. Models of other learners are
// errors, which say what to type.
func TestOnlineGoesOn(t *testing.T) {
	data := filepath.Join(text(t, map[string]string{"x.csv": "x,z,w,y\n1,0,1,b\n0,1,2,a\n1,1,1,b\n0,0,3,a\n"}), "x.csv")
	path := filepath.Join(t.TempDir(), "m.json")
	for options, want := range map[string]string{"perceptron": "", "pocket": "", "averaged": "", "dual": "",
		"perceptron --margin 1": "trained with --margin: online", "averaged --l2 0.5": "trained with --l2: online",
		"perceptron --sample-weight w": "trained with --sample-weight: online", "pocket --class-weight a=2": "trained with --class-weight: online",
		"logistic --l2 1": "logistic", "lda --shrinkage 0.5": "lda", "svm": "svm", "winnow": "winnow", "voted": "", "dual --kernel rbf": ""} {
		succeed(t, append([]string{"train", data, "--label", "y", "--features", "x,z", "--out", path, "--algo"}, strings.Fields(options)...)...)
		status, _, stderr := command("online", data, "--model", path)
		switch {
		case options == "voted" || options == "dual --kernel rbf":
			if status != exitFailed || !strings.Contains(stderr, "train one with --algo averaged") {
				t.Errorf("%s: status %d, %q", options, status, stderr)
			}
		case want == strings.Fields(options)[0]:
			if status != exitFailed || !strings.Contains(stderr, "can't continue a model of --algo "+want) || !strings.Contains(stderr, path) {
				t.Errorf("%s: status %d, %q", options, status, stderr)
			}
		case status != exitDone || !strings.Contains(stderr, want) || strings.Contains(stderr, "online continues") != (want != ""):
			t.Errorf("%s: status %d, %q", options, status, stderr)
		}
	}
}

// TestOnlineLearners: online makes the steps of one epoch of train, also where a model goes on, for two classes and three.
// train --init goes on with the same bytes of weights.
func TestOnlineLearners(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	weights := func(name string) string {
		m, err := model.Load(path(name))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(m.Weights, m.Bias, m.State)
	}
	for _, options := range []string{"--algo passive-aggressive --C 0.2 --loss squared_hinge", "--algo ftrl --alpha 0.3 --l1 0.5", "--algo adagrad --eta 0.4"} {
		for _, data := range []string{cancer + " --label diagnosis", "../../examples/iris.parquet --label species"} {
			words := strings.Fields(data + " " + options)
			succeed(t, slices.Concat([]string{"train", "--epochs", "1", "--out", path("one.json")}, words)...)
			succeed(t, slices.Concat([]string{"train", "--epochs", "2", "--out", path("two.json")}, words)...)
			succeed(t, slices.Concat([]string{"online", "--out", path("online.json")}, words)...)
			if weights("one.json") != weights("online.json") {
				t.Errorf("%s: online has other weights than an epoch", options)
			}
			file := words[0]
			succeed(t, "online", file, "--model", path("one.json"), "--out", path("on.json"))
			succeed(t, "online", file, "--init", path("one.json"), "--out", path("init.json"))
			succeed(t, slices.Concat([]string{"train", "--init", path("one.json"), "--epochs", "1", "--out", path("more.json")}, words)...)
			for _, name := range []string{"on.json", "init.json", "more.json"} {
				if weights(name) != weights("two.json") {
					t.Errorf("%s %s: %s has other weights than two epochs", options, file, name)
				}
			}
		}
	}
	r := decode(t, "online", cancer, "--label", "diagnosis", "--algo", "ftrl", "--json")
	if loss, ok := r["log_loss"].(float64); !ok || !(loss > 0) || r["algorithm"] != "ftrl" {
		t.Errorf("%v", r)
	}
	misused(t, []misuse{
		{"train DATA --label y --algo svm --init " + path("one.json"), "--init with --algo svm, which begins with zeros: use --algo perceptron"},
		{"online DATA --label y --algo ftrl --alpha -1", "--alpha is -1: use a number above 0"},
		{"online DATA --label y --algo svm", "use perceptron, passive-aggressive, ftrl"},
	})
	status, _, stderr := command("train", "../../examples/textbook.parquet", "--init", path("one.json"), "--label", "label")
	if status != exitFailed || !strings.Contains(stderr, "sepal") {
		t.Errorf("status %d, %q: it doesn't name the column that is missing", status, stderr)
	}
}
