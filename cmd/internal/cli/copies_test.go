package cli

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
)

// copiesOptions are options of the learners whose models don't depend on the order of rows: each learner's solvers,
// losses, penalties, and ways to learn several classes.
var copiesOptions = map[string][]string{
	"logistic": {"", "--solver lbfgs", "--l1 0.5", "--l2 3 --multiclass ovr", "--l1 0.5 --l2 1 --nonnegative"},
	"svm":      {"", "--loss hinge --l2 2", "--loss squared_hinge --l2 2", "--loss squared_hinge --l1 0.3 --l2 2"},
	"lda":      {"", "--solver eigen", "--shrinkage 0.3", "--shrinkage auto", "--multiclass ovr"},
}

// TestCopies: a sample weight of k is k copies of the row, for every learner that depends on no order of rows, with
// categories, missing ones among them, and with classes of balanced weights. TestProperties of train/learner has closer
// bounds of the solvers, and test_weight_zero_is_a_row_left_out of Python has the learners that depend on the order.
func TestCopies(t *testing.T) {
	inParallel(t)
	for _, l := range train.Learners {
		_, has := copiesOptions[l.Name]
		if solves := l.IsBatch(); solves != has {
			t.Errorf("%s solves for an optimum: %t, and has options here: %t", l.Name, solves, has)
		}
	}
	rng := rand.New(rand.NewPCG(6, 1))
	for classes := 2; classes <= 3; classes++ {
		dir := copiesTables(t, rng, classes)
		for algo, all := range copiesOptions {
			for _, own := range all {
				for _, shared := range []string{"", "--class-weight balanced", "--no-bias"} {
					options := strings.Fields("--algo " + algo + " " + own + " " + shared)
					checkCopies(t, fmt.Sprint(classes, " classes ", options), dir, options)
				}
			}
		}
	}
}

// checkCopies compares the models of weighted rows and of copied rows.
func checkCopies(t *testing.T, what, dir string, options []string) {
	t.Helper()
	learn := func(name string, more ...string) *model.Model {
		out := filepath.Join(dir, name+".json")
		succeed(t, slices.Concat([]string{"train", filepath.Join(dir, name+".csv"), "--label", "y", "--out", out}, options, more)...)
		return loadedModel(t, out)
	}
	weighted, copied := learn("weighted", "--sample-weight", "w"), learn("copied")
	const tol = 5e-3 // an objective that is 1e-6 off leaves the hinge's weights some 1e-3
	require.NearNumbers(t, what, slices.Concat(append(slices.Clone(weighted.Weights), weighted.Bias)...),
		slices.Concat(append(slices.Clone(copied.Weights), copied.Bias)...), tol)
}

// copiesTables writes rows with the weights 0 to 3, and as many copies of each.
func copiesTables(t *testing.T, rng *rand.Rand, classes int) (dir string) {
	weighted, copied := []string{"n,m,c,w,y\n"}, []string{"n,m,c,y\n"}
	for r := range 160 {
		n, m := rng.NormFloat64(), 20*rng.Float64()
		row := fmt.Sprintf("%.3f,%.3f,%s,", n, m, []string{"x", "yy", "z", ""}[rng.IntN(4)])
		label := 'a' + rune(min(classes-1, max(0, int(n+m/10+rng.NormFloat64()))))
		weighted = append(weighted, fmt.Sprintf("%s%d,%c\n", row, r%4, label))
		for range r % 4 {
			copied = append(copied, fmt.Sprintf("%s%c\n", row, label))
		}
	}
	return text(t, map[string]string{"weighted.csv": strings.Join(weighted, ""), "copied.csv": strings.Join(copied, "")})
}
