package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// weighedRows is the rows of scored, once with weights and once with each row as often as its weight says.
func weighedRows(t *testing.T) (weighted, copies string) {
	t.Helper()
	x1, x2, y := []float64{1, 2, 2, 4, 6, 2}, []float64{0, 0, 2, 0, 0, 0}, []int64{-1, -1, -1, 1, 1, 1}
	weights := []float64{2, 1, 3, 0, 1, 2}
	var a, b []float64
	var c []int64
	for i, w := range weights {
		for range int(w) {
			a, b, c = append(a, x1[i]), append(b, x2[i]), append(c, y[i])
		}
	}
	return write(t, "weighted.parquet", col{"x1", x1}, col{"x2", x2}, col{"y", y}, col{"w", weights}),
		write(t, "copies.parquet", col{"x1", a}, col{"x2", b}, col{"y", c})
}

// TestEvalWeights: a row of weight 2 is as good as two rows, in every figure but the number of rows and errors.
func TestEvalWeights(t *testing.T) {
	weighted, copies := weighedRows(t)
	var m string
	for _, algo := range []string{"perceptron", "logistic"} {
		_, m = trained(t, signs, "--algo", algo)
		for _, options := range []string{"", "--threshold f1", "--threshold cost=1:3", "--threshold=-1.5"} {
			got := decode(t, append(strings.Fields("eval --json --sample-weight w --model "+m+" "+weighted), strings.Fields(options)...)...)
			want := decode(t, append(strings.Fields("eval --json --model "+m+" "+copies), strings.Fields(options)...)...)
			if got["rows"] != 6.0 || got["weight"] != 9.0 || got["weight"] != want["rows"] || got["error_weight"] != want["errors"] {
				t.Errorf("%s %s: %v rows of weight %v, error weight %v; copies have %v rows, %v errors", algo, options, got["rows"], got["weight"], got["error_weight"], want["rows"], want["errors"])
			}
			for _, key := range []string{"accuracy", "accuracy_95", "auc", "average_precision", "log_loss", "brier", "threshold", "cost", "confusion"} {
				if !reflect.DeepEqual(got[key], want[key]) {
					t.Errorf("%s %s: %s is %v, of copies %v", algo, options, key, got[key], want[key])
				}
			}
			if got["baseline"].(map[string]any)["accuracy"] != want["baseline"].(map[string]any)["accuracy"] {
				t.Errorf("baseline %v, of copies %v", got["baseline"], want["baseline"])
			}
			for i, class := range got["per_class"].([]any) {
				for key, v := range want["per_class"].([]any)[i].(map[string]any) {
					if key != "rows" && !reflect.DeepEqual(class.(map[string]any)[key], v) {
						t.Errorf("%s %s: %s of class %d is %v, of copies %v", algo, options, key, i, class.(map[string]any)[key], v)
					}
				}
			}
		}
	}
	if text := succeed(t, "eval", "--model", m, "--sample-weight", "w", weighted); !strings.Contains(text, "of 6 rows (weight ") {
		t.Errorf("no weights in\n%s", text)
	}
}

// TestEvalThreshold: the scores are 3, 1 and -1 of positive rows, 1, -1 and -2 of negative ones.
func TestEvalThreshold(t *testing.T) {
	_, m := trained(t, signs)
	for _, c := range []struct {
		option, says string
		threshold    float64
		confusion    []any
	}{
		{"1", "threshold   1\n", 1, []any{[]any{3.0, 0.0}, []any{2.0, 1.0}}},
		{"-1.5", "threshold   -1.5\n", -1.5, []any{[]any{1.0, 2.0}, []any{0.0, 3.0}}},
		{"f1", "threshold   -1.5, of the best F1 on these rows: 0.7500\n", -1.5, []any{[]any{1.0, 2.0}, []any{0.0, 3.0}}},
		{"cost=3:1", "threshold   2, of the least cost on these rows: 2\n", 2, []any{[]any{3.0, 0.0}, []any{2.0, 1.0}}},
		{"cost=1:0", "threshold   4, of the least cost on these rows: 0\n", 4, []any{[]any{3.0, 0.0}, []any{3.0, 0.0}}},
	} {
		r := decode(t, "eval", "--json", "--model", m, "--threshold="+c.option, scored(t))
		text := succeed(t, "eval", "--model", m, "--threshold="+c.option, scored(t))
		if r["threshold"] != c.threshold || !reflect.DeepEqual(r["confusion"], c.confusion) || !strings.Contains(text, c.says) {
			t.Errorf("%s: threshold %v, confusion %v, want %v, %v and %q in\n%s", c.option, r["threshold"], r["confusion"], c.threshold, c.confusion, c.says, text)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--threshold cost=1 --model " + m, "such as cost=1:5"},
		{"--threshold cost=-1:2 --model " + m, "such as cost=1:5"},
		{"--threshold cost=0:0 --model " + m, "such as cost=1:5"},
		{"--threshold cost=1e308:1e308 --model " + m, "at most 1e100"},
		{"--threshold nan --model " + m, "use a score such as 0.5"},
		{"--threshold best --model " + m, "use a score such as 0.5"},
		{"--calibration --model " + m, "has no probabilities"},
		{"--pr x.csv --roc x.csv --model " + m, "both write x.csv"},
		{"--pr - --model " + m, "both write to standard output"},
	} {
		if status, _, stderr := command(append([]string{"eval", scored(t)}, strings.Fields(c.args)...)...); status != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, want %q", c.args, status, stderr, c.want)
		}
	}
}

// TestEvalWithoutWeight: figures that no row has a weight for are refused, and nothing but the refusal is printed.
func TestEvalWithoutWeight(t *testing.T) {
	_, m := trained(t, signs)
	x1, x2 := col{"x1", []float64{1, 2, 4}}, col{"x2", []float64{0, 0, 0}}
	data := write(t, "none.parquet", x1, x2, col{"y", []int64{-1, -1, 1}}, col{"negative", []int64{-1, -1, -1}},
		col{"none", []float64{0, 0, 0}}, col{"first", []float64{1, 1, 0}}, col{"vast", []float64{1e290, 1e290, 1e290}})
	for _, c := range []struct{ args, want string }{
		{"--sample-weight none --json", "every sample weight is 0"},
		{"--threshold f1 --label negative", "no row of the positive class 1 has a weight"},
		{"--threshold f1 --sample-weight first", "no row of the positive class 1 has a weight"},
		{"--pr x.csv --sample-weight first", "every row of class 1 has the sample weight 0"},
		{"--roc x.csv --sample-weight first", "every row of class 1 has the sample weight 0"},
		{"--roc x.csv --label negative", "no row is of class 1"},
	} {
		t.Chdir(t.TempDir())
		status, stdout, stderr := command(append([]string{"eval", data, "--model", m}, strings.Fields(c.args)...)...)
		if status != exitFailed || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	if text := succeed(t, "eval", data, "--model", m, "--sample-weight", "vast", "--threshold", "cost=1e99:1e99"); !strings.Contains(text, "threshold") {
		t.Errorf("no threshold in\n%s", text)
	}
}

// TestEvalPrecisionRecall has the points of the scores above.
func TestEvalPrecisionRecall(t *testing.T) {
	_, m := trained(t, signs)
	out := filepath.Join(t.TempDir(), "pr.csv")
	succeed(t, "eval", "--model", m, scored(t), "--pr", out)
	const want = "threshold,false_positives,true_positives,precision,recall\n" +
		"3,0,1,1,0.3333333333333333\n1,1,2,0.6666666666666666,0.6666666666666666\n-1,2,3,0.6,1\n-2,3,3,0.5,1\n"
	if got := read(t, out); got != want {
		t.Errorf("the curve is\n%s\nwant\n%s", got, want)
	}
	if status, _, stderr := command("eval", "--model", m, scored(t), "--label", "same", "--pr", out); status != 0 {
		t.Errorf("of positive rows alone: status %d, %s", status, stderr)
	}
}

// TestEvalCalibration: the bins have all rows, and as many positive ones as the data. The table is that of --json.
func TestEvalCalibration(t *testing.T) {
	data := noisy(t, "5000")
	m := filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", data, "--label", "label", "--algo", "logistic", "--out", m)
	r := decode(t, "eval", "--json", "--model", m, data)
	text := succeed(t, "eval", "--calibration", "--model", m, data)
	rows, hits := 0.0, 0.0
	for _, b := range r["calibration"].([]any) {
		bin := b.(map[string]any)
		if rows += bin["rows"].(float64); bin["rows"] == 0.0 {
			continue
		}
		p := bin["probability"].(float64)
		hits += bin["share"].(float64) * bin["rows"].(float64)
		if !(p > bin["low"].(float64) && p <= bin["high"].(float64)) {
			t.Errorf("the mean of a bin is outside of it: %v", bin)
		}
		if line := fmt.Sprintf("%.4f", p); !strings.Contains(text, line) {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	want := r["per_class"].([]any)[1].(map[string]any)["rows"].(float64)
	if rows != 5000 || math.Abs(hits-want) > 1e-6 {
		t.Errorf("bins of %v rows, %v of them positive, want %v", rows, strconv.FormatFloat(hits, 'g', -1, 64), want)
	}
}

// TestEvalClasses: the figures of three classes are those of their definitions, by the numbers that predict writes. They are the
// same on any number of workers and from rows in any order.
func TestEvalClasses(t *testing.T) {
	shuffled := filepath.Join(t.TempDir(), "shuffled.csv")
	succeed(t, "convert", iris, "--out", shuffled)
	lines := strings.Split(strings.TrimSpace(read(t, shuffled)), "\n")
	rest := lines[1:]
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rest), func(i, k int) { rest[i], rest[k] = rest[k], rest[i] })
	shuffled = filepath.Join(text(t, map[string]string{"rows.csv": strings.Join(lines, "\n") + "\n"}), "rows.csv")
	names := []string{"setosa", "versicolor", "virginica"}
	for algo, columns := range map[string]string{"logistic": "probability_", "svm": "score_"} {
		m := filepath.Join(t.TempDir(), "m.json")
		succeed(t, "train", iris, "--label", "species", "--algo", algo, "--features", "sepal_*", "--out", m)
		out := filepath.Join(t.TempDir(), "predictions.csv")
		succeed(t, "predict", "--model", m, iris, "--keep", "species", map[string]string{"logistic": "--proba", "svm": "--score"}[algo], "--out", out)
		table := strings.Split(strings.TrimSpace(read(t, out)), "\n")
		column := map[string]int{}
		for i, name := range strings.Split(table[0], ",") {
			column[name] = i
		}
		var rows [][]string
		for _, line := range table[1:] {
			rows = append(rows, strings.Split(line, ","))
		}
		area, recall, f1 := 0.0, 0.0, 0.0
		for _, name := range names {
			won, pairs, right, actual, predicted := 0.0, 0.0, 0.0, 0.0, 0.0
			for _, a := range rows {
				if a[column["prediction"]] == name {
					predicted++
				}
				if a[column["species"]] != name {
					continue
				}
				if actual++; a[column["prediction"]] == name {
					right++
				}
				for _, b := range rows {
					if b[column["species"]] == name {
						continue
					}
					x, _ := strconv.ParseFloat(a[column[columns+name]], 64)
					y, _ := strconv.ParseFloat(b[column[columns+name]], 64)
					if pairs++; x > y {
						won++
					} else if x == y {
						won += 0.5
					}
				}
			}
			area, recall, f1 = area+won/pairs/3, recall+right/actual/3, f1+2*right/(actual+predicted)/3
		}
		var first map[string]any
		for _, args := range []string{"--workers 1 " + iris, "--workers 2 " + iris, "--workers 3 " + iris, "--memory 12MiB " + iris, shuffled} {
			r := decode(t, append([]string{"eval", "--json", "--model", m}, strings.Fields(args)...)...)
			for key, want := range map[string]float64{"auc": area, "auc_weighted": area, "balanced_accuracy": recall, "f1_macro": f1, "f1_weighted": f1} {
				if got, ok := r[key].(float64); !ok || !(math.Abs(got-want) <= 1e-12) {
					t.Errorf("%s %s: %s is %v, want %v", algo, args, key, r[key], want)
				}
			}
			if first == nil {
				first = r
			}
			if !reflect.DeepEqual(r, first) {
				t.Errorf("%s %s: %v, want %v", algo, args, r, first)
			}
		}
		if s := succeed(t, "eval", "--model", m, iris); !strings.Contains(s, fmt.Sprintf("AUC        macro %.6f, weighted", area)) || !strings.Contains(s, "F1     AUC\n") {
			t.Errorf("%s: no AUC in\n%s", algo, s)
		}
	}
}
