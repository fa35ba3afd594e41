package cli

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/cli/training"
	"halfspace/model"
)

// readCase reads a file of numbers, the label last.
func readCase(t *testing.T, path string) (x [][]float64, y []float64) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		var row []float64
		for _, text := range line {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		x, y = append(x, row[:len(row)-1]), append(y, row[len(row)-1])
	}
	return x, y
}

// logisticObjective returns the loss and the penalty of a model whose classes are numbers from 0 on, in plain loops.
func logisticObjective(m *model.Model, x [][]float64, y []float64, l2 float64) (sum float64) {
	for _, w := range m.Weights {
		for _, v := range w {
			sum += l2 / 2 * v * v
		}
	}
	for r, row := range x {
		scores := []float64{0}
		if len(m.Weights) > 1 {
			scores = nil
		}
		for k, w := range m.Weights {
			score := m.Bias[k]
			for i, v := range w {
				score += v * float64(float32(row[i]))
			}
			scores = append(scores, score)
		}
		others := 0.0
		for k, s := range scores {
			if k != int(y[r]) {
				others += math.Exp(s - scores[int(y[r])])
			}
		}
		sum += math.Log1p(others)
	}
	return sum
}

// TestLogisticCases: small problems that solvers stumbled over have the outcome that their notes state. The optima are those of Newton's method
// with Armijo's condition in float64, on centred and scaled columns, by NumPy.
func TestLogisticCases(t *testing.T) {
	const separable = "separates the classes"
	for _, c := range []struct {
		file        string
		l2, optimum float64 // 0: a plane separates the rows
		passes      int64   // at most, of Newton's method
		rounded     bool    // float32 holds the weights too roughly
	}{
		{"01_false_separable", 0, 2.454398223, 25, false},
		{"01b_false_separable", 0, 9.477035904, 12, false},
		{"02_missed_quasi", 0, 0, 0, false},
		{"03_ts_hour", 0, 120.4819918, 8, true},
		{"03_ts_day", 0, 137.355389, 8, false},
		{"03_offset_mixed", 1, 260.4735495, 8, false},
		{"06_total", 0, 1478.521998, 8, false},
		{"06_total", 1, 1478.522827, 8, false},
		{"07_offset1e7", 0, 188.3866432, 8, true},
		{"10_contradict", 0, 400 * math.Ln2, 2, false},
		{"10_m_imbalanced", 0, 0, 0, false},
		{"10_m_imbalanced", 0.001, 209.5703374, 100, false},
	} {
		path := shared(t, filepath.Join("solvers", c.file+".csv"))
		x, y := readCase(t, path)
		for _, solver := range []string{"newton", "lbfgs", "sgd"} {
			joint := strings.HasPrefix(c.file, "10_m")
			if joint && solver == "newton" {
				continue
			}
			out := filepath.Join(t.TempDir(), "m.json")
			name := []string{"train", path, "--label", "y", "--algo", "logistic", "--solver", solver, "--multiclass", "joint",
				"--l2", strconv.FormatFloat(c.l2, 'g', -1, 64), "--out", out, "--json"}
			status, stdout, stderr := command(name...)
			if c.optimum == 0 {
				if status != exitFailed || !strings.Contains(stderr, separable) || !strings.Contains(stderr, "l2 above 0") {
					t.Errorf("%v: status %d, %q", name, status, stderr)
				}
				continue
			}
			var r training.Report
			if err := json.Unmarshal([]byte(stdout), &r); status != exitDone || err != nil {
				t.Errorf("%v: status %d, %q, error %v", name, status, stderr, err)
				continue
			}
			m, err := model.Load(out)
			if err != nil {
				t.Fatal(err)
			}
			dropped := c.file == "06_total" && c.l2 == 0 && solver != "sgd" // a column, whose rounding no bound covers
			if dropped && r.Converged && r.Optimum == nil {
				r.Optimum = &model.Optimum{Objective: c.optimum, Gap: 1e-6 * c.optimum}
			}
			checkCase(t, name, &r, logisticObjective(m, x, y, c.l2)/c.optimum-1, c.rounded)
			if most := max(c.passes, 30); solver != "sgd" && r.Epochs > most || solver == "newton" && r.Epochs > c.passes {
				t.Errorf("%v: %d passes", name, r.Epochs)
			}
			for _, w := range m.Weights[0] {
				if c.file == "06_total" && math.Abs(w) > 0.1 {
					t.Errorf("%v: weights %v", name, m.Weights[0])
				}
			}
			if dropped != (len(m.Training.Dependent) == 1) {
				t.Errorf("%v: dependent %v", name, m.Training.Dependent)
			}
		}
	}
}

// checkCase fails unless the report is right about how near the optimum the training came. above is the relative excess of the objective
// over the optimum.
func checkCase(t *testing.T, name []string, r *training.Report, above float64, rounded bool) {
	t.Helper()
	sgd := strings.Contains(strings.Join(name, " "), "sgd")
	most := 1e-6
	if sgd {
		most = 1e-3
	}
	if r.Converged && above > most || above < -1e-9 {
		t.Errorf("%v: %v above the optimum, converged %v", name, above, r.Converged)
	}
	if !sgd && (r.Converged == rounded || r.Optimum == nil || r.Optimum.Rounded != rounded) {
		t.Errorf("%v: converged %v, optimum %+v", name, r.Converged, r.Optimum)
	}
	if o := r.Optimum; o != nil && above/(1+above)*o.Objective > o.Gap*(1+1e-6)+1e-9*o.Objective {
		t.Errorf("%v: %v above the optimum, and the gap is said to be %v of %v", name, above, o.Gap, o.Objective)
	}
}
