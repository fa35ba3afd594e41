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
	if bounded < 50 {
		t.Errorf("%d bounds were printed: too few to tell", bounded)
	}
}
