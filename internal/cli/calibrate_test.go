package cli

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/predict"
)

// TestCalibratedModels: the model file doesn't depend on workers, memory or streaming. predict, eval and predict.Predictor
// have the same probabilities, and predictions are those of the model without a calibration.
func TestCalibratedModels(t *testing.T) {
	data := noisy(t, "20000")
	for _, c := range []struct{ args, data, label string }{
		{"svm --calibrate platt --standardize", data, "label"},
		{"averaged --order shuffle --calibrate isotonic", data, "label"},
		{"svm --calibrate isotonic", iris, "species"},
		{"perceptron --calibrate platt --grid margin=0,1 --cv 3", iris, "species"},
	} {
		dir := t.TempDir()
		m := filepath.Join(dir, "m.json")
		train := func(out string, more ...string) string {
			args := append([]string{"train", c.data, "--label", c.label, "--out", out, "--algo"}, strings.Fields(c.args)...)
			return succeed(t, append(args, more...)...)
		}
		text := train(m, "--workers", "1")
		if !strings.Contains(text, "  calibrated ") {
			t.Errorf("%s: no calibration in\n%s", c.args, text)
		}
		for i, more := range []string{"--workers=3", "--memory=64MiB"} {
			if c.data == iris && i == 1 {
				continue
			}
			other := filepath.Join(dir, "other.json")
			train(other, more)
			if read(t, m) != read(t, other) {
				t.Errorf("%s %s: another model", c.args, more)
			}
		}
		without := filepath.Join(dir, "without.json")
		train(without, "--calibrate", "none")
		if a, b := predictions(t, m, c.data), predictions(t, without, c.data); !slices.EqualFunc(a, b, func(x, y []string) bool { return x[0] == y[0] }) {
			t.Errorf("%s: the calibration changes predictions", c.args)
		}
		r := decode(t, "eval", "--model", m, c.data, "--json")
		if loss, ok := r["log_loss"].(float64); !ok || !(loss > 0 && loss < 1) || r["brier"] == nil {
			t.Errorf("%s: log loss %v, Brier score %v", c.args, r["log_loss"], r["brier"])
		}
		checkCalibratedRows(t, m)
		if again := succeed(t, "verify", "--model", m, c.data); !strings.Contains(again, "the same") {
			t.Errorf("%s: verify says\n%s", c.args, again)
		}
		if text := succeed(t, "inspect", m); !strings.Contains(text, "  calibrated ") {
			t.Errorf("%s: inspect says\n%s", c.args, text)
		}
	}
}

// predictions returns the lines of predict for rows, with probabilities if the model has them.
func predictions(t *testing.T, m, data string) [][]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "p.csv")
	args := []string{"predict", "--model", m, data, "--out", out}
	if loadedModel(t, m).HasProbabilities() {
		args = append(args, "--proba")
	}
	succeed(t, args...)
	lines, err := csv.NewReader(strings.NewReader(read(t, out))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines[1:]
}

// checkCalibratedRows: predict has the probabilities of predict.Predictor, which sum to 1.
func checkCalibratedRows(t *testing.T, path string) {
	t.Helper()
	m := loadedModel(t, path)
	p, err := predict.New(m)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range m.Width() {
		names = append(names, m.FeatureName(i))
	}
	text, rows := strings.Join(names, ",")+"\n", [][]float64{}
	for i := range 20 {
		row := make([]float64, m.Width())
		cells := make([]string, m.Width())
		for k := range row {
			row[k] = float64((i*7+k*3)%11) - 4
			cells[k] = strconv.FormatFloat(row[k], 'g', -1, 64)
		}
		text, rows = text+strings.Join(cells, ",")+"\n", append(rows, row)
	}
	data := filepath.Join(textOf(t, text), "rows.csv")
	for i, line := range predictions(t, path, data) {
		out := make([]float64, len(m.Classes))
		if err := p.Probabilities(rows[i], out); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for k, v := range out {
			got, err := strconv.ParseFloat(line[1+k], 64)
			v, got = float64(float32(v)), float64(float32(got))
			if err != nil || got != v {
				t.Errorf("%s, row %d: probability %d is %v, of one row %v", m.Algorithm, i, k, line[1+k], v)
			}
			sum += v
		}
		if !(sum > 1-1e-6 && sum < 1+1e-6) {
			t.Errorf("%s, row %d: probabilities sum to %v", m.Algorithm, i, sum)
		}
	}
}

// textOf returns a folder with a CSV file of rows.
func textOf(t *testing.T, rows string) string { return text(t, map[string]string{"rows.csv": rows}) }

// TestCalibrateValidation: a model with a calibration is judged on a file of rows, which changes neither weights nor calibration.
func TestCalibrateValidation(t *testing.T) {
	dir, data, held := t.TempDir(), noisy(t, "600"), noisy(t, "200")
	alone, out := filepath.Join(dir, "alone.json"), filepath.Join(dir, "m.json")
	args := []string{"train", data, "--label", "label", "--algo", "svm", "--standardize", "--calibrate", "platt", "--out"}
	succeed(t, append(args, alone)...)
	r := decode(t, append(args, out, "--validation", held, "--json")...)
	want, got := loadedModel(t, alone), loadedModel(t, out)
	errors := decode(t, "eval", "--model", out, held, "--json")["errors"]
	if v := r["validation"].(map[string]any); v["rows"] != 200.0 || v["errors"] != errors || !reflect.DeepEqual(want.Calibration, got.Calibration) || !reflect.DeepEqual(want.Weights, got.Weights) {
		t.Errorf("validation %v, eval has %v errors; calibration %+v, without the rows %+v", v, errors, got.Calibration, want.Calibration)
	}
	if again := succeed(t, "verify", "--model", out, data, "--validation", held); !strings.Contains(again, "the same") {
		t.Errorf("verify says\n%s", again)
	}
}

func TestCalibrateUsage(t *testing.T) {
	data := noisy(t, "100")
	for _, c := range []struct{ args, want string }{
		{"--algo logistic --calibrate platt", "which has probabilities of its own"},
		{"--algo svm --calibrate platt --validation 0.2", "give --validation a file"},
		{"--algo pocket --calibrate platt --validation " + data, "would not in the folds"},
		{"--algo svm --calibrate sigmoid", "none, platt or isotonic"},
	} {
		status, _, stderr := command(append([]string{"train", data, "--label", "label"}, strings.Fields(c.args)...)...)
		if status != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %s, want %q", c.args, status, fmt.Sprint(stderr), c.want)
		}
	}
}
