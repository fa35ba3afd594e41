package cli

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/cli/flags"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/metrics"
)

// scored is data on which the text book's model, x1 + x2 - 3, has the scores -2, -1, 1, 1, 3, -1. One positive row is missed, and one
// negative row is a false alarm.
func scored(t *testing.T) string {
	t.Helper()
	return write(t, "test.parquet", col{"x1", []float64{1, 2, 2, 4, 6, 2}}, col{"x2", []float64{0, 0, 2, 0, 0, 0}},
		col{"y", []int64{-1, -1, -1, 1, 1, 1}}, col{"flipped", []int64{1, 1, 1, -1, -1, -1}}, col{"same", []int64{1, 1, 1, 1, 1, 1}})
}

// wilson returns a Wilson interval as JSON has it.
func wilson(share, n float64) []any {
	i := metrics.Wilson(share, n)
	return []any{i[0], i[1]}
}

func TestEval(t *testing.T) {
	_, m := trained(t, signs)
	r := decode(t, "eval", "--model", m, scored(t), "--json")
	want := map[string]any{
		"model": m, "rows": 6.0, "errors": 2.0, "accuracy": 4.0 / 6,
		"auc":      (3 + 2.5 + 1.5) / 9, // pairs in order, ties half: of 3, of 1, of -1
		"log_loss": nil, "brier": nil,   // a perceptron has no probabilities
		"average_precision": (1.0/1 + 2.0/3 + 3.0/5) / 3, // by the thresholds 3, 1 and -1
		"balanced_accuracy": (2.0/3 + 2.0/3) / 2, "f1_macro": (2.0/3 + 2.0/3) / 2, "f1_weighted": 2.0 / 3,
		"accuracy_95": wilson(4.0/6, 6),
		"classes":     []any{-1.0, 1.0}, "positive": 1.0,
		"confusion": []any{[]any{2.0, 1.0}, []any{1.0, 2.0}},
		"per_class": []any{
			map[string]any{"class": -1.0, "rows": 3.0, "precision": 2.0 / 3, "precision_95": wilson(2.0/3, 3), "recall": 2.0 / 3, "recall_95": wilson(2.0/3, 3), "f1": 2.0 / 3},
			map[string]any{"class": 1.0, "rows": 3.0, "precision": 2.0 / 3, "precision_95": wilson(2.0/3, 3), "recall": 2.0 / 3, "recall_95": wilson(2.0/3, 3), "f1": 2.0 / 3},
		},
		"baseline": map[string]any{"class": -1.0, "errors": 3.0, "accuracy": 0.5},
	}
	want["models"] = []any{maps.Clone(want)}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("report is\n%v\nwant\n%v", r, want)
	}
	text := succeed(t, "eval", "--model", m, scored(t))
	for _, want := range []string{m + ": 6 rows, positive class 1", "errors     2 of 6 rows, accuracy 66.67 % (95 % interval 30.00 % to 90.32 %)", "positive   precision 0.6667 (0.2077 to 0.9385), recall 0.6667 (0.2077 to 0.9385)", "baseline   accuracy 50.00 %, of always predicting class -1", "AUC        0.777778, average precision 0.755556",
		"  class  predicted -1  predicted 1  precision  recall      F1\n",
		"  -1                2            1     0.6667  0.6667  0.6667\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestEvalManyClasses: the table of more classes than fit beside each other has the figures of the whole confusion.
func TestEvalManyClasses(t *testing.T) {
	var s strings.Builder
	for i := range 140 {
		fmt.Fprintf(&s, "%d,%d,c%d\n", i%7+i/7%3, i*i%11, i%7)
	}
	dir := text(t, map[string]string{"x.csv": s.String()})
	data, m := filepath.Join(dir, "x.csv"), filepath.Join(dir, "m.json")
	succeed(t, "train", data, "--label", "last", "--algo", "lda", "--out", m)
	r := decode(t, "eval", "--model", m, data, "--json")
	report := succeed(t, "eval", "--model", m, data)
	for i, class := range r["classes"].([]any) {
		row := r["confusion"].([]any)[i].([]any)
		taken, most := "-", 0.0
		for j, n := range row {
			if j != i && n.(float64) > most {
				most = n.(float64)
				taken = fmt.Sprintf("%s (%v)", r["classes"].([]any)[j], n)
			}
		}
		f := r["per_class"].([]any)[i].(map[string]any)
		figure := func(name string) string {
			if f[name] == nil {
				return "-"
			}
			return fmt.Sprintf("%.4f", f[name])
		}
		want := fmt.Sprintf("%s %v %v %s %s %s %s %s", class, f["rows"], row[i], figure("precision"), figure("recall"), figure("f1"), figure("auc"), taken)
		if !slices.ContainsFunc(strings.Split(report, "\n"), func(line string) bool { return strings.Join(strings.Fields(line), " ") == want }) {
			t.Errorf("no line %q in\n%s", want, report)
		}
	}
	if r["errors"] == 0.0 || strings.Contains(report, "predicted") {
		t.Errorf("%v errors, and the report is\n%s", r["errors"], report)
	}
}

func TestEvalLabel(t *testing.T) {
	_, m := trained(t, signs)
	r := decode(t, "eval", "--model", m, scored(t), "--label", "flipped", "--json")
	if r["errors"] != 4.0 || r["auc"].(float64) != 1-(3+2.5+1.5)/9 {
		t.Errorf("against flipped labels: %v", r)
	}
	r = decode(t, "eval", "--model", m, scored(t), "--label", "same", "--json")
	if r["errors"] != 3.0 || r["auc"] != nil || r["per_class"].([]any)[0].(map[string]any)["recall"] != nil {
		t.Errorf("against labels of one class: %v", r)
	}
	if text := succeed(t, "eval", "--model", m, scored(t), "--label", "same"); !strings.Contains(text, "AUC        -") {
		t.Errorf("no dash for an AUC that isn't defined:\n%s", text)
	}
}

// withoutKey returns a copy of an object without one key.
func withoutKey(object map[string]any, key string) map[string]any {
	object = maps.Clone(object)
	delete(object, key)
	return object
}

// TestEvalSeveralModels: the JSON of several models has the shape of that of one.
func TestEvalSeveralModels(t *testing.T) {
	_, m := trained(t, signs)
	_, n := trained(t, signs, "--features", "x1")
	r := decode(t, "eval", "--model", m, "--model", n, scored(t), "--json")
	models, _ := r["models"].([]any)
	if len(models) != 2 {
		t.Fatalf("report is %v", r)
	}
	for i, path := range []string{m, n} {
		one := decode(t, "eval", "--model", path, scored(t), "--json")
		if got, want := slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(r)); !slices.Equal(got, want) {
			t.Errorf("the keys of one model are %q, of two %q", got, want)
		}
		if alone := one["models"].([]any); len(alone) != 1 || !reflect.DeepEqual(models[i], alone[0]) {
			t.Errorf("among others, %v; alone, %v", models[i], alone)
		}
		if delete(one, "models"); i == 0 != reflect.DeepEqual(one, withoutKey(r, "models")) {
			t.Errorf("model %d: at the top of two stands %v; of one, %v", i, r, one)
		}
	}
	text := succeed(t, "eval", "--model", m, "--model", n, scored(t))
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[3], "  always -1") || !strings.HasPrefix(lines[0], "  model") || !strings.HasPrefix(lines[1], "  "+m) || !strings.HasPrefix(lines[2], "  "+n) {
		t.Errorf("table is\n%s", text)
	}
}

// TestEvalROC has the points of the text book's scores: 3, 1 and -1 of positive rows, 1, -1 and -2 of negative ones. That of the
// score 1 is on the line between others.
func TestEvalROC(t *testing.T) {
	_, m := trained(t, signs)
	_, n := trained(t, signs)
	out := filepath.Join(t.TempDir(), "roc.csv")
	succeed(t, "eval", "--model", m, scored(t), "--roc", out)
	const curve = "Inf,0,0,0,0\n3,0,1,0,0.3333333333333333\n-1,2,3,0.6666666666666666,1\n-2,3,3,1,1\n"
	if got, want := read(t, out), "threshold,false_positives,true_positives,fpr,tpr\n"+curve; strings.ReplaceAll(got, "+", "") != want {
		t.Errorf("the curve is\n%s\nwant\n%s", got, want)
	}
	succeed(t, "eval", "--model", m, "--model", n, scored(t), "--roc", out)
	want := strings.ReplaceAll(curve, "\n", ","+m+"\n") + strings.ReplaceAll(curve, "\n", ","+n+"\n")
	if got := read(t, out); strings.ReplaceAll(got, "+", "") != "threshold,false_positives,true_positives,fpr,tpr,model\n"+want {
		t.Errorf("the curves of two models are\n%s\nwant\n%s", got, want)
	}
	three := filepath.Join(t.TempDir(), "three.json")
	succeed(t, "train", "--algo", "perceptron", iris, "--label", "species", "--epochs", "1", "--out", three)
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{three + " --roc " + out + " " + iris, "has 3 classes", exitUsage},
		{m + " --roc - " + scored(t), "both write to standard output", exitUsage},
		{m + " --roc " + m + " " + scored(t), "to be read and to be written", exitFailed},
		{m + " --label same --roc " + out + " " + scored(t), "no row is of class -1", exitFailed},
		{m + " --roc curve.txt " + scored(t), "\".txt\" can't be written", exitFailed},
		{m + " --label none --roc curve.txt " + scored(t), "\".txt\" can't be written", exitFailed}, // before rows are read
	} {
		if status, _, stderr := command(append([]string{"eval", "--model"}, strings.Fields(c.args)...)...); status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

// TestEvalLogLoss: on its training rows, logistic regression has the loss per row that the training minimised. Any model has the loss of
// the probabilities that it predicts. A constant score has the entropy of the labels, as a calibrated model is to have.
func TestEvalLogLoss(t *testing.T) {
	data := noisy(t, "20000")
	m := filepath.Join(t.TempDir(), "m.json")
	for _, c := range []struct{ options, data, label string }{
		{"logistic", data, "label"},
		{"logistic --positive -1", data, "label"},
		{"lda", data, "label"},
		{"lda", iris, "species"},
		{"logistic --l2 1 --multiclass ovr", iris, "species"},
	} {
		args := append([]string{"train", c.data, "--label", c.label, "--out", m, "--algo"}, strings.Fields(c.options)...)
		succeed(t, args...)
		r := decode(t, "eval", "--model", m, c.data, "--json")
		got, _ := r["log_loss"].(float64)
		if trained := loadedModel(t, m).Training; c.data == data && *trained.Loss > 0 {
			if want := *trained.Loss / 20000; math.Abs(got-want) > 1e-7*want {
				t.Errorf("%s: the log loss is %v, in training %v", c.options, got, want)
			}
		}
		out := m + ".csv"
		succeed(t, "predict", "--model", m, c.data, "--keep", c.label, "--proba", "--out", out)
		lines, err := csv.NewReader(strings.NewReader(read(t, out))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, line := range lines[1:] {
			p, err := strconv.ParseFloat(line[slices.Index(lines[0], "probability_"+line[0])], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum -= math.Log(p)
		}
		if want := sum / float64(len(lines)-1); math.Abs(got-want) > 1e-7*want {
			t.Errorf("%s: the log loss is %v, that of the probabilities %v", c.options, got, want)
		}
		if text := succeed(t, "eval", "--model", m, c.data); !strings.Contains(text, "log loss   "+say.Fixed(got, 6)+", Brier") {
			t.Errorf("%s: no log loss %v in\n%s", c.options, got, text)
		}
	}
	text := succeed(t, "eval", "--model", m, "--model", m, iris)
	if line := strings.Fields(strings.Split(text, "\n")[1]); line[len(line)-3] != "-" || !strings.HasPrefix(line[len(line)-2], "0.") {
		t.Errorf("table is\n%s", text)
	}
}

// TestEvalRepeatsTraining counts the errors that the training counted.
func TestEvalRepeatsTraining(t *testing.T) {
	data := noisy(t, "30000")
	for _, options := range []string{"--epochs 2", "--epochs 2 --no-bias", "--algo pocket --max-updates 50", "--algo averaged --epochs 3", "--epochs 1 --positive -1"} {
		m := filepath.Join(t.TempDir(), "m.json")
		args := append([]string{"train", "--algo", "perceptron", data, "--label", "label", "--out", m, "--json"}, strings.Fields(options)...)
		learned, tested := decode(t, args...), decode(t, "eval", "--model", m, data, "--json")
		if learned["train_errors"] != tested["errors"] || learned["train_accuracy"] != tested["accuracy"] || tested["errors"] == 0.0 {
			t.Errorf("%s: %v errors in training, %v now", options, learned["train_errors"], tested["errors"])
		}
	}
}

func TestInspectModel(t *testing.T) {
	_, m := trained(t, []string{"up", "up", "down"}, "--algo", "pocket", "--order", "shuffle", "--seed", "3", "--max-updates", "90")
	r := decode(t, "inspect", m, "--json")
	keys := []string{"algorithm", "bias", "classes", "data", "dtype", "features", "fit_bias", "format", "kind", "label",
		"largest_weights", "options", "positive", "training", "weights"}
	if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, keys) || r["kind"] != "model" {
		t.Errorf("keys are %q, want %q", got, keys)
	}
	text := succeed(t, "inspect", m)
	for _, want := range []string{"a model, halfspace-model/1", "pocket, float32", "y, classes down, up (positive: up)", "2, bias ",
		"order shuffle, at most 100 epochs, eta 1, at most 90 updates, seed 3, pocket exact", "kept the weights after update",
		"0 of 3 rows, accuracy 100.00 %", "The largest of 2 weights:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestInspectEarlyStop: a model says on what other rows it was judged, and that it ended for that.
func TestInspectEarlyStop(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.json")
	r := decode(t, "train", "--algo", "perceptron", noisy(t, "5000"), "--label", "label", "--order", "shuffle", "--margin", "2", "--validation", "0.2", "--early-stop", "3",
		"--out", m, "--json")
	text := succeed(t, "inspect", m)
	for _, want := range []string{"perceptron, float32", "eta 1, seed 1, margin 2, early stop 3, validation 0.2", "kept the weights after update ",
		"validation"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	curve := r["curve"].([]any)
	best := curve[len(curve)-1].(map[string]any)
	if v := r["validation"].(map[string]any); v["errors"] != best["errors"] || r["kept"] != best["update"] || r["converged"] != false {
		t.Errorf("the report says %v", r)
	}
	if epochs, rows := r["epochs"].(float64), r["rows"].(float64); epochs != best["visits"].(float64)/rows+3 {
		t.Errorf("%v epochs, the best weights are those after visit %v of %v rows", epochs, best["visits"], rows)
	}
}

func TestInspectLargestWeights(t *testing.T) {
	cols := []col{{"y", []int64{1, 0}}}
	for i := range 30 {
		v := float64(i%29 + 1)
		cols = append(cols, col{"f" + string(rune('A'+i)), []float64{v, -v}})
	}
	m := filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", "--algo", "perceptron", write(t, "wide.parquet", cols...), "--label", "y", "--positive", "0", "--out", m)
	all := decode(t, "inspect", m, "--json")["largest_weights"].([]any)
	if len(all) != 20 {
		t.Fatalf("%d largest weights", len(all))
	}
	last := math.Inf(1)
	for _, w := range all {
		v := math.Abs(w.(map[string]any)["weight"].(float64))
		if v > last || v == 0 {
			t.Errorf("weights are not in order: %v", all)
		}
		last = v
	}
	if first := all[0].(map[string]any)["feature"]; first != "f]" {
		t.Errorf("the largest weight is of %v", first)
	}
	if some := decode(t, "inspect", m, "--json", "--top", "3")["largest_weights"].([]any); !reflect.DeepEqual(some, all[:3]) {
		t.Errorf("the 3 largest are %v of %v", some, all)
	}
	if all := decode(t, "inspect", m, "--json", "--top", "1000")["largest_weights"].([]any); len(all) != 30 {
		t.Errorf("%d of 30 weights", len(all))
	}
	text := succeed(t, "inspect", m, "--top", "3")
	if _, table, _ := strings.Cut(text, "The largest of 30 weights:\n\n"); strings.Count(table, "\n") != 4 {
		t.Errorf("not 3 weights in\n%s", text)
	}
}

// TestInspectTop: --top counts z-values where a model has standard errors; it has no effect on data, and 0 is wrong usage.
func TestInspectTop(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": "a,b,c,y\n1,2,5,n\n2,1,3,p\n3,5,1,n\n4,3,2,p\n5,8,4,p\n2,7,3,n\n"})
	data, m := filepath.Join(dir, "x.csv"), filepath.Join(dir, "m.json")
	succeed(t, "train", data, "--label", "y", "--algo", "logistic", "--l2", "1", "--out", m)
	shown := succeed(t, "inspect", m, "--top", "2")
	if _, table, _ := strings.Cut(shown, "of 3 features:\n\n"); strings.Count(table, "\n") != 4 || !strings.Contains(table, "(bias)") {
		t.Errorf("not a head, 2 z-values and the bias in\n%s", shown)
	}
	if status, _, stderr := command("inspect", data, "--top", "2"); status != 0 || !strings.Contains(stderr, "--top has no effect") {
		t.Errorf("of data: status %d, %s", status, stderr)
	}
	if status, _, stderr := command("inspect", m, "--top", "0"); status != exitUsage || !strings.Contains(stderr, "--top is 0: use 1 or more") {
		t.Errorf("of none: status %d, %s", status, stderr)
	}
}

func TestInspectByContent(t *testing.T) {
	_, m := trained(t, signs)
	data := noisy(t, "5000")
	if r := decode(t, "inspect", data, "--json"); r["rows"] != 5000.0 {
		t.Errorf("report on data is %v", r)
	}
	text := succeed(t, "inspect", data)
	for _, want := range []string{"5,000", "x0", "label"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if r := decode(t, "inspect", m, "--json"); r["kind"] != "model" {
		t.Errorf("report on a model is %v", r)
	}
}

func TestGen(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.parquet")
	r := decode(t, "gen", "--rows", "3000", "--features", "5", "--margin", "0.5", "--seed", "9", "--out", out, "--json", "--compression", "zstd")
	if r["rows"] != 3000.0 || r["features"] != 5.0 || r["seed"] != 9.0 || r["out"] != out {
		t.Errorf("report is %v", r)
	}
	if got := decode(t, "train", "--algo", "perceptron", out, "--label", "label", "--json"); got["converged"] != true || got["rows"] != 3000.0 || got["features"] != 5.0 {
		t.Errorf("training on data with a margin gives %v", got)
	}
	if text := succeed(t, "gen", "--rows", "1", "--features", "2", "--noise", "1", "--out", out); !strings.HasPrefix(text, out+": 1 row of 2 features in ") {
		t.Errorf("report is %q", text)
	}
}

func TestCPU(t *testing.T) {
	r := decode(t, "cpu", "--json")
	if r["isa"] != kernel.Active().String() || len(r["levels"].([]any)) != len(kernel.Levels()) || r["usable"].(float64) < 1 {
		t.Errorf("report is %v", r)
	}
	text := succeed(t, "cpu")
	for _, want := range []string{"in use        " + kernel.Active().String(), "kernels for   generic", "--isa NAME", flags.ISAVariable} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{say.Count(0), "0"}, {say.Count(999), "999"}, {say.Count(1000), "1,000"}, {say.Count(-1234567), "-1,234,567"}, {say.Count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{say.Plural(1, "row"), "1 row"}, {say.Plural(0, "row"), "0 rows"}, {say.Plural(2000, "row"), "2,000 rows"},
		{say.Size(1), "1 byte"}, {say.Size(1023), "1,023 bytes"}, {say.Size(1536), "1.5 KiB"}, {say.Size(312 << 20), "312 MiB"}, {say.Size(5 << 50), "5120 TiB"},
		{say.Percent(1), "100.00 %"}, {say.Percent(0), "0.00 %"}, {say.Percent(0.5), "50.00 %"}, {say.Percent(0.9999999), "99.99999 %"}, {say.Percent(math.NaN()), "-"},
		{say.Fixed(math.NaN(), 4), "-"}, {say.Fixed(0.25, 4), "0.2500"}, {say.Real(1.0 / 3), "0.333333"}, {say.OneOf([]string{"a"}), "a"}, {say.OneOf([]string{"a", "b"}), "a or b"},
		{say.Line("a\r\nb\n"), "a b"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
