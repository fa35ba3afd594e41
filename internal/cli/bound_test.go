package cli

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// apart writes rows of Boolean features, of so many classes that planes separate, and weights.
func apart(t *testing.T, classes int) string {
	rng := rand.New(rand.NewPCG(9, uint64(classes)))
	var b strings.Builder
	b.WriteString("a,b,c,d,w,y\n")
	for i := range 60 {
		class := i % classes
		x := [4]int{rng.IntN(2), rng.IntN(2), rng.IntN(2), rng.IntN(2)}
		for c := range classes {
			x[c] = 0
		}
		x[class] = 1
		fmt.Fprintf(&b, "%d,%d,%d,%d,%d,%d\n", x[0], x[1], x[2], x[3], 1+i%3, class)
	}
	return filepath.Join(text(t, map[string]string{"apart.csv": b.String()}), "apart.csv")
}

// TestBounds: a printed bound is at least the number of updates, in the report, in the model and by inspect, with all options of
// perceptrons that separate the rows. Perceptrons have a bound. Other learners, penalties, weights and one versus the rest have none.
func TestBounds(t *testing.T) {
	data := map[int]string{2: apart(t, 2), 3: apart(t, 3)}
	path := filepath.Join(t.TempDir(), "m.json")
	bounded := 0
	check := func(classes int, none bool, options string) {
		t.Helper()
		args := append([]string{"train", data[classes], "--label", "y", "--exclude", "w", "--epochs", "400", "--out", path, "--algo"}, strings.Fields(options)...)
		r := decode(t, append(args, "--json")...)
		bound, ok := r["mistake_bound"].(float64)
		said := succeed(t, args...) + succeed(t, "inspect", path)
		if ok == none && (r["margin"] != nil || none) || ok && bound < r["updates"].(float64) || strings.Contains(said, "no order takes more") != ok ||
			strings.Contains(said, "; bound ") && !ok || strings.Contains(read(t, path), "mistake_bound") != ok {
			t.Errorf("%d classes, %s: bound %v, %v updates, margin %v\n%s", classes, options, r["mistake_bound"], r["updates"], r["margin"], said)
		}
		if ok {
			bounded++
		}
	}
	for _, algo := range []string{"perceptron", "pocket", "averaged", "voted", "dual"} {
		for _, order := range []string{"cyclic", "shuffle", "random"} {
			for _, step := range []string{"", "--eta 0.01"} {
				options := algo + " --order " + order + " " + step
				check(2, false, options)
				if algo == "dual" {
					continue
				}
				for _, margin := range []string{"1", "30"} {
					check(2, false, options+" --margin "+margin)
				}
			}
		}
	}
	for _, algo := range []string{"perceptron", "averaged"} {
		check(2, true, algo+" --l2 0.01 --margin 1")
		check(3, false, algo+" --multiclass joint")
		check(3, false, algo+" --multiclass joint --margin 20 --eta 0.1")
		check(3, true, algo)
	}
	for _, options := range []string{"perceptron --sample-weight w", "pocket --class-weight 0=9", "winnow", "winnow --winnow winnow1", "winnow --winnow balanced", "logistic --l2 1",
		"lda", "svm", "svm --loss hinge", "dual --kernel rbf", "dual --class-weight balanced"} {
		check(2, true, options)
	}
	init := filepath.Join(t.TempDir(), "init.json")
	succeed(t, "train", data[2], "--label", "y", "--exclude", "w", "--algo", "perceptron", "--epochs", "1", "--out", init)
	for _, options := range []string{"perceptron --margin 30", "averaged --order shuffle --eta 0.5"} {
		args := append([]string{"train", data[2], "--label", "y", "--exclude", "w", "--epochs", "400", "--init", init, "--algo"}, strings.Fields(options)...)
		r, said := decode(t, append(args, "--json")...), succeed(t, args...)
		if bound, ok := r["update_bound"].(float64); !ok || bound < r["updates"].(float64) || r["mistake_bound"] != nil || !strings.Contains(said, "from the weights of --init") {
			t.Errorf("%s: bound %v, %v updates, from zeros %v\n%s", options, r["update_bound"], r["updates"], r["mistake_bound"], said)
		}
	}
	if bounded < 50 {
		t.Errorf("%d bounds were printed: too few to tell", bounded)
	}
}

// TestOnlineBound: rows that a plane separates cost no more mistakes than Novikoff's bound. From the weights of a model they have a
// bound of their own.
func TestOnlineBound(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": strings.Repeat(lines(60, "0", 0, 5), 30)})
	data, out := filepath.Join(dir, "x.csv"), filepath.Join(t.TempDir(), "m.json")
	r := decode(t, "online", data, "--label", "last", "--out", out, "--json")
	bound, ok := r["mistake_bound"].(float64)
	if !ok || r["errors"] != 0.0 || r["updates"].(float64) > bound || r["mistakes"].(float64) > r["updates"].(float64) {
		t.Errorf("%v mistakes, %v updates, bound %v, %v errors at the end", r["mistakes"], r["updates"], r["mistake_bound"], r["errors"])
	}
	half := filepath.Join(text(t, map[string]string{"x.csv": lines(60, "0", 0, 5)}), "x.csv")
	succeed(t, "online", half, "--label", "last", "--out", out)
	on := decode(t, "online", data, "--label", "last", "--model", out, "--json")
	if bound, ok := on["update_bound"].(float64); !ok || on["mistake_bound"] != nil || on["updates"] == 0.0 || on["updates"].(float64) > bound {
		t.Errorf("from a model: %v updates, bound %v, and %v from zeros", on["updates"], on["update_bound"], on["mistake_bound"])
	}
	if said := succeed(t, "online", data, "--label", "last", "--model", out); !strings.Contains(said, "mistakes from the weights of --model") {
		t.Errorf("the report is\n%s", said)
	}
}
