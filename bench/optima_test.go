package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

var (
	export    = flag.String("export", "", "a folder that TestOptima writes its problems to, for peers/optima.py")
	table     = flag.String("table", "", "a file that TestOptima or TestSparsePeers writes its table to; TestOptima takes the largest problems then, too")
	onlyNamed = flag.String("named", "", "TestOptima and TestSparsePeers take only problems whose names contain this")
)

const (
	optimaFile = "testdata/optima.json" // written by peers/optima.py
	near       = 1e-6                   // how far an objective may be above the best peer's, relative to it
)

// A problem is rows of two classes, with a bias column.
type problem struct {
	name string
	rows func() (*block.Data, error)
}

// problems returns the families and the real data sets that stand beside the repository. A short test has small
// families only.
func problems() (all []problem) {
	sizes := []int{2000, 40_960} // the larger is enough for a sample
	if require.Small() {
		sizes = sizes[:1]
	}
	for _, rows := range sizes {
		for _, f := range testproblems.All() {
			all = append(all, problem{fmt.Sprintf("%s, %d rows", f.Name, rows), func() (*block.Data, error) {
				return testproblems.Rows(f, rows), nil
			}})
		}
	}
	if require.Small() {
		return all
	}
	return append(all, realProblems()...)
}

func realProblems() (all []problem) {
	const shared = "../../shared/data/"
	add := func(name, path, class string, opt dataset.Options) {
		if _, err := os.Stat(path); err == nil {
			all = append(all, problem{name, func() (*block.Data, error) { return loadClasses(path, class, opt) }})
		}
	}
	last, onehot := dataset.Options{Label: "last"}, dataset.Options{Label: "last", Categorical: "onehot"}
	for _, standardised := range []bool{false, true} {
		suffix := ""
		if last.Standardize, onehot.Standardize = standardised, standardised; standardised {
			suffix = ", standardised"
		}
		add("a9a"+suffix, shared+"a9a.svm.gz", "", dataset.Options{Label: "label", Standardize: standardised})
		add("magic04"+suffix, shared+"magic04.csv.gz", "", last)
		add("htru2"+suffix, shared+"htru2.csv.gz", "", last)
		add("letter, A against the rest"+suffix, shared+"letter.csv.gz", "A", last)
		add("banknote"+suffix, shared+"banknote.csv", "", last)
		add("sonar"+suffix, shared+"sonar.csv", "", last)
		add("credit-default"+suffix, shared+"credit-default.csv.gz", "", last)
		add("bank-marketing"+suffix, shared+"bank-marketing.csv.gz", "", onehot)
		add("breast cancer"+suffix, "../examples/breast-cancer.parquet", "", dataset.Options{Label: "diagnosis", Standardize: standardised})
		add("iris"+suffix, "../examples/iris.parquet", "versicolor", dataset.Options{Label: "species", Standardize: standardised})
	}
	if *export == "" && *table == "" {
		return all // the others take minutes
	}
	onehot.Standardize = true
	add("KDD Cup 1999, standardised", shared+"kddcup99-10percent.csv.gz", "normal.", onehot)
	if _, err := os.Stat(shared + "mnist"); err == nil {
		all = append(all, problem{"MNIST, 8 against the rest", func() (*block.Data, error) { return digits(shared+"mnist", 8) }})
	}
	return all
}

// loadClasses reads rows, those of a class against the rest unless it is "".
func loadClasses(path, class string, opt dataset.Options) (*block.Data, error) {
	data, err := dataset.Load(context.Background(), path, opt)
	if err != nil || class == "" {
		return data, err
	}
	for k, c := range data.Spec().Classes {
		if strings.Contains(c.String(), class) {
			return learner.Versus(data, k).(*block.Data), nil
		}
	}
	return nil, fmt.Errorf("%s: no class %s", path, class)
}

// digits returns the 10,000 test digits of MNIST, those of a class against the rest.
func digits(folder string, class int) (*block.Data, error) {
	data, err := mnist(folder, "test", 10_000)
	if err != nil {
		return nil, err
	}
	var x [][]float64
	var y []float64
	for b := range data.Blocks(context.Background()) {
		for r, label := range b.Y {
			row := make([]float64, b.Cols)
			for i := range row {
				row[i] = float64(b.X[r*b.Stride+i])
			}
			x, y = append(x, row), append(y, -1)
			if int(label) == class {
				y[len(y)-1] = 1
			}
		}
	}
	return testproblems.Dense(x, y, true), nil
}

// A method is a learner with a solver, and the loss that it minimises.
type method struct {
	name, loss string
	learn      func(data *block.Data, l2 float64) (fitted, error)
}

type fitted struct {
	written, exact []float64 // the weights as the model has them, and before they were rounded to float32
	passes         int64
	converged      bool
}

func newFitted(r *learner.Result, exact []float64) fitted {
	f := fitted{exact: exact, passes: r.Epochs, converged: r.Converged}
	for _, v := range r.Weights {
		f.written = append(f.written, float64(v))
	}
	return f
}

func methods() (all []method) {
	for _, solver := range []logistic.Solver{logistic.Newton, logistic.LBFGS} {
		all = append(all, method{string(solver), "logistic", func(data *block.Data, l2 float64) (fitted, error) {
			r, err := logistic.Train(context.Background(), data, logistic.Settings{Options: logistic.Options{Solver: solver, L2: l2, NoPenalty: true}})
			if err != nil {
				return fitted{}, err
			}
			return newFitted(&r.Result, r.Exact), nil
		}})
	}
	for _, loss := range svm.Losses {
		all = append(all, method{string(loss), string(loss), func(data *block.Data, l2 float64) (fitted, error) {
			r, err := svm.Train(context.Background(), data, svm.Settings{Options: svm.Options{Loss: loss, L2: l2}})
			if err != nil {
				return fitted{}, err
			}
			return newFitted(&r.Result, r.Exact), nil
		}})
	}
	return all
}

// objective returns l1 |w|_1 + l2/2 |w|^2 of the weights but the bias, and the sum of losses, in float64 with compensated sums (Kahan,
// "Further remarks on reducing truncation errors", 1965). Columns of sparse rows beyond the weights count as 0.
func objective(data *block.Data, loss string, l1, l2 float64, w []float64) float64 {
	sum, lost, penalised := 0.0, 0.0, w
	if data.Spec().Bias {
		penalised = w[:len(w)-1]
	}
	for _, v := range penalised {
		sum += l1*math.Abs(v) + l2/2*v*v
	}
	for b := range data.Blocks(context.Background()) {
		for r, y := range b.Y {
			m := 0.0
			if b.Sparse == nil {
				for c, v := range w {
					m += v * float64(b.X[r*b.Stride+c])
				}
			} else {
				columns, values := b.Sparse.Row(r)
				for k, c := range columns {
					if int(c) < len(w) {
						m += w[c] * float64(values[k])
					}
				}
			}
			u := lossOf(loss, float64(y)*m)
			if b.W != nil {
				u *= b.W[r]
			}
			u -= lost
			next := sum + u
			lost, sum = next-sum-u, next
		}
	}
	return sum
}

// lossOf returns the loss of a row with the margin m.
func lossOf(loss string, m float64) float64 {
	u := max(0, 1-m)
	switch loss {
	case "logistic":
		u = max(0, -m) + math.Log1p(math.Exp(-math.Abs(m)))
	case "squared_hinge":
		u *= u
	}
	return u
}

type optimum struct {
	Objective float64
	Above     float64 // how far that may be above the optimum
}

// TestOptima: on each problem, the objective of every solver's weights is at most a millionth above the best peer's.
// The solver says that it converged unless float32, which the model's weights are rounded to, can't hold weights as
// good as that. What each takes stands in a table; a dagger stands for such rounding. Where unproven lists a problem,
// no peer has found an optimum: the solver must have proven its own by the duality gap, and a double dagger tells it.
func TestOptima(t *testing.T) {
	text, err := os.ReadFile(optimaFile)
	if err != nil && *export == "" {
		t.Fatal(err)
	}
	optima := map[string]optimum{}
	if err := json.Unmarshal(text, &optima); err != nil && *export == "" {
		t.Fatal(err)
	}
	var lines []string
	step := 1 // make bench-optima takes all problems
	if *table == "" && *export == "" && *onlyNamed == "" {
		if step = 3; require.Small() {
			step = 6
		}
	}
	for i, p := range problems() {
		if i%step != 0 || !strings.Contains(p.name, *onlyNamed) {
			continue
		}
		data, err := p.rows()
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		if *export != "" {
			require.NoError(t, exportRows(filepath.Join(*export, fileName(p.name)), data))
			continue
		}
		for _, l2 := range []float64{1, 1e-3} {
			line := fmt.Sprintf("| %s | %g |", p.name, l2)
			for _, m := range methods() {
				line += " " + compareOptimum(t, p.name, data, m, l2, optima) + " |"
			}
			lines = append(lines, line)
			t.Log(line)
		}
	}
	if *table != "" {
		require.NoError(t, os.WriteFile(*table, []byte(tableHead+strings.Join(lines, "\n")+"\n"), 0o666))
	}
}

// tableHead says how to read the table.
const tableHead = `# Passes of every solver

` + "`make bench-optima`" + ` writes this table. A cell is the number of passes over the rows. The objective that was reached is at
most 10⁻⁶ above the best that a peer found, relative to it. Logistic regression has the columns newton and lbfgs, the
SVM the other two.

- † Weights in float32 can't hold an objective as good as that. The solver's own weights, in float64, do.
- ‡ No peer found an optimum within an hour. The duality gap proves the solver's own.

| problem | l2 | newton | lbfgs | squared hinge | hinge |
|---|---|---|---|---|---|
`

// unproven lists problems and losses whose optimum peers/optima.py did not find within an hour.
var unproven = []string{"KDD Cup 1999, standardised, hinge"}

// compareOptimum returns a cell of the table: the passes, and how far the objective is above the peer's where that is
// too far.
func compareOptimum(t *testing.T, name string, data *block.Data, m method, l2 float64, optima map[string]optimum) string {
	want, ok := optima[fmt.Sprintf("%s %s %g", fileName(name), m.loss, l2)]
	alone := slices.Contains(unproven, name+", "+m.loss)
	if !ok && !alone {
		t.Errorf("%s, %s, l2 %g: %s has no optimum", name, m.loss, l2, optimaFile)
		return "?"
	}
	r, err := m.learn(data, l2)
	if err != nil {
		t.Errorf("%s, %s, l2 %g: %v", name, m.name, l2, err)
		return "error"
	}
	if alone {
		if !r.converged {
			t.Errorf("%s, %s, l2 %g: not converged after %d passes", name, m.name, l2, r.passes)
		}
		return fmt.Sprint(r.passes, "‡")
	}
	above := func(w []float64) float64 { return objective(data, m.loss, 0, l2, w)/want.Objective - 1 }
	exact, written := above(r.exact), above(r.written)
	cell := fmt.Sprint(r.passes)
	switch {
	case !(exact <= near):
		t.Errorf("%s, %s, l2 %g: objective %.2g above %v after %d passes", name, m.name, l2, exact, want.Objective, r.passes)
		cell += fmt.Sprintf(" %+.1g", exact)
	case r.converged && !(written <= near):
		t.Errorf("%s, %s, l2 %g: converged, with an objective %.2g above %v", name, m.name, l2, written, want.Objective)
		cell += fmt.Sprintf(" %+.1g", written)
	case !r.converged && written <= near:
		t.Errorf("%s, %s, l2 %g: not converged after %d passes", name, m.name, l2, r.passes)
		cell += " not converged"
	case !r.converged:
		cell += "†"
	}
	return cell
}

func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" ,%'/", r) {
			return '_'
		}
		return r
	}, name)
}

// exportRows writes rows as peers/optima.py reads them.
func exportRows(path string, data *block.Data) error {
	f, err := os.Create(path + ".f64")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	features := len(data.Spec().Features)
	row := make([]float64, features+2)
	for b := range data.Blocks(context.Background()) {
		for r, y := range b.Y {
			for c := range features {
				row[c] = float64(b.X[r*b.Stride+c])
			}
			row[features], row[features+1] = float64(y), 1
			if b.W != nil {
				row[features+1] = b.W[r]
			}
			if err := binary.Write(w, binary.LittleEndian, row); err != nil {
				return err
			}
		}
	}
	info := fmt.Sprintf("{\"features\": %d}\n", features)
	return cmp.Or(w.Flush(), f.Close(), os.WriteFile(path+".json", []byte(info), 0o666))
}
