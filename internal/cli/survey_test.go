package cli

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestSurveyNotes: notes name features of very different scales, rows sorted by label, ids and times, and the option that helps. They are
// printed where these spoil the training, and nowhere else.
func TestSurveyNotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := func(sorted bool) string {
		var s strings.Builder
		s.WriteString("small,large,y\n")
		for i := range 400 {
			y := i % 2
			if sorted {
				y = i / 200
			}
			fmt.Fprintf(&s, "%f,%f,%d\n", rng.NormFloat64()+float64(y), 1e5*rng.NormFloat64(), y)
		}
		return s.String()
	}
	dir := text(t, map[string]string{"mixed.csv": rows(false), "sorted.csv": rows(true)})
	const scale, order = "(use --standardize)", "sorted by label"
	for options, want := range map[string][]string{
		"mixed.csv":                            nil,
		"mixed.csv --algo perceptron":          {scale},
		"mixed.csv --algo svm":                 {scale, `feature "large" varies`, `times as much as "small"`},
		"mixed.csv --algo svm --standardize":   nil,
		"mixed.csv --algo logistic":            {scale},
		"mixed.csv --algo logistic --l2 0":     nil,
		"mixed.csv --algo lda":                 nil,
		"mixed.csv --algo lda --shrinkage 0.1": {scale},
		"mixed.csv --algo svm --exclude large": nil,
		"sorted.csv":                           nil,
		"sorted.csv --order cyclic":            {order, "(use --order shuffle)"},
		"sorted.csv --algo svm --standardize":  nil,
		"sorted.csv --algo voted --epochs 1 --standardize --order shuffle":                      nil,
		"sorted.csv --algo voted --epochs 1 --standardize":                                      {order, "(use --order shuffle)"},
		"sorted.csv --algo logistic --solver sgd --standardize":                                 {order, "(use --order shuffle)"},
		"sorted.csv --algo pocket --memory 1MiB --cache " + filepath.Join(t.TempDir(), "cache"): {order, scale},
	} {
		args := append([]string{"train", "--label", "y", "--epochs", "3", "--out", filepath.Join(t.TempDir(), "m.json")}, strings.Fields(options)...)
		args[7] = filepath.Join(dir, args[7])
		status, _, stderr := command(args...)
		for _, what := range []string{scale, order} {
			wanted := strings.Contains(strings.Join(want, " "), what)
			if got := strings.Contains(stderr, what); status != exitDone || got != wanted {
				t.Errorf("%s: status %d; %q in the notes is %v, want %v\n%s", options, status, what, got, wanted, stderr)
			}
		}
		for _, w := range want {
			if !strings.Contains(stderr, w) {
				t.Errorf("%s: no %q in\n%s", options, w, stderr)
			}
		}
	}
}

// TestSurveyStreamed: what the rows tell is the same in memory and streamed.
func TestSurveyStreamed(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.parquet")
	succeed(t, "gen", "--rows", "60000", "--features", "40", "--noise", "0.1", "--seed", "3", "--out", data)
	var want any
	for _, memory := range []string{"1GiB", "12MiB"} {
		r := decode(t, "train", data, "--label", "label", "--algo", "svm", "--epochs", "2", "--memory", memory, "--json")
		if r["streamed"] != (memory == "12MiB") {
			t.Fatalf("--memory %s: streamed is %v", memory, r["streamed"])
		}
		if want == nil {
			want = r["baseline"]
		} else if !reflect.DeepEqual(r["baseline"], want) {
			t.Errorf("streamed, the baseline is %v, in memory %v", r["baseline"], want)
		}
	}
	e := decode(t, "eval", "--model", trainedOn(t, data), data, "--json")
	if !reflect.DeepEqual(e["baseline"], want) {
		t.Errorf("eval has the baseline %v, train %v", e["baseline"], want)
	}
}

func trainedOn(t *testing.T, data string) string {
	t.Helper()
	m := filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", data, "--label", "label", "--algo", "lda", "--out", m)
	return m
}
