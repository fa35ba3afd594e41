package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset"
	"halfspace/fit"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/model"
)

// TestTextbook has the published result of the primal form on the rows (3,3)+, (4,3)+, (1,1)-, visited in this order.
func TestTextbook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	r := decode(t, "train", "--algo", "perceptron", textbook(t, signs), "--label", "y", "--out", path, "--json")
	for key, want := range map[string]any{"algorithm": "perceptron", "rows": 3.0, "features": 2.0, "updates": 7.0,
		"train_errors": 0.0, "train_accuracy": 1.0, "converged": true, "dtype": "float32", "streamed": false,
		"model": path, "positive": 1.0} {
		if !reflect.DeepEqual(r[key], want) {
			t.Errorf("%s is %v, want %v", key, r[key], want)
		}
	}
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Weights[0], []float64{1, 1}) || !slices.Equal(m.Bias, []float64{-3}) || m.Dtype != model.Float32 {
		t.Errorf("w is %v and b is %v as %s, want [1 1] and [-3] as float32", m.Weights, m.Bias, m.Dtype)
	}
	if m.Label != "y" || !slices.Equal(m.Features, []string{"x1", "x2"}) || m.Training.Updates != 7 || !m.Training.Converged {
		t.Errorf("the model says %+v", m)
	}
}

// TestAveraged: on that data, the mean of the weights after every visit.
func TestAveraged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	r := decode(t, "train", textbook(t, signs), "--label", "y", "--algo", "averaged", "--out", path, "--json")
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var steps [][3]float64 // w1, w2, b after each visit
	w, quiet := [3]float64{}, 0
	rows := [3][4]float64{{3, 3, 1, 1}, {4, 3, 1, 1}, {1, 1, 1, -1}}
	for quiet < 3 {
		x := rows[len(steps)%3]
		quiet++
		if x[3]*(w[0]*x[0]+w[1]*x[1]+w[2]) <= 0 {
			quiet = 0
			for i := range w {
				w[i] += x[3] * x[i]
			}
		}
		steps = append(steps, w)
	}
	var sum [3]float64
	for _, v := range steps {
		for i := range sum {
			sum[i] += v[i]
		}
	}
	n := float64(len(steps))
	if !slices.Equal(m.Weights[0], testrows.Round([][]float64{{sum[0] / n, sum[1] / n}})[0]) || m.Bias[0] != float64(float32(sum[2]/n)) {
		t.Errorf("w is %v and b is %v, want %v / %v", m.Weights, m.Bias, sum, n)
	}
	if r["algorithm"] != "averaged" || r["updates"] != 7.0 || r["visits"] != n || r["converged"] != true {
		t.Errorf("the report says %v", r)
	}
}

// TestVoted: train, eval and predict count the same votes, and what they count is what the file says in its own words.
func TestVoted(t *testing.T) {
	data, dir := noisy(t, "5000"), t.TempDir()
	path, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "out.parquet")
	r := decode(t, "train", data, "--label", "label", "--algo", "voted", "--epochs", "2", "--out", path, "--json")
	e := decode(t, "eval", "--model", path, data, "--json")
	if r["train_errors"] != e["errors"] || r["voters"] != r["updates"] {
		t.Errorf("%v errors in training, %v in eval; %v voters of %v updates", r["train_errors"], e["errors"], r["voters"], r["updates"])
	}
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	succeed(t, "predict", "--model", path, data, "--out", out, "--score", "--keep", strings.Join(m.Features, ","))
	table := readParquet(t, out)
	defer table.Release()
	columns := make([][]float32, len(m.Features))
	for c := range columns {
		columns[c] = table.Column(c).Data().Chunk(0).(*array.Float32).Float32Values()
	}
	scores := table.Column(len(columns) + 1).Data().Chunk(0).(*array.Float32).Float32Values()
	total := int64(0)
	for _, n := range m.Voters.Counts {
		total += n
	}
	for row := range 200 {
		votes := int64(0)
		for v, n := range m.Voters.Counts {
			number := func(c int) float64 {
				return float64(math.Float32frombits(binary.LittleEndian.Uint32(m.Voters.Weights[4*(v*(len(columns)+1)+c):])))
			}
			s := number(len(columns))
			for c := range columns {
				s += number(c) * float64(columns[c][row])
			}
			if s > 0 {
				votes += n
			} else {
				votes -= n
			}
		}
		if want := float32(float64(votes) / float64(total)); scores[row] != want {
			t.Fatalf("row %d has the score %v, want %v", row, scores[row], want)
		}
	}
	text := succeed(t, "inspect", path) + succeed(t, "train", data, "--label", "label", "--algo", "voted", "--epochs", "2")
	for _, want := range []string{"voted, float32", " vectors of weights; the strongest has ", "weights of the voters' mean:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestWinnow: every variant learns a disjunction, from memory and streamed, and eval finds no error; features must be 0 or 1.
func TestWinnow(t *testing.T) {
	dir := t.TempDir()
	rng, cols := rand.New(rand.NewPCG(3, 4)), []col{}
	label := make([]int64, 40000)
	for c := range 30 {
		values := make([]bool, len(label))
		for r := range values {
			if values[r] = rng.IntN(4) == 0; values[r] && c < 3 {
				label[r] = 1
			}
		}
		cols = append(cols, col{fmt.Sprintf("x%d", c), values})
	}
	data := write(t, "x.parquet", append(cols, col{"label", label})...)
	for _, variant := range fit.Describe("winnow").Option("winnow").Words {
		path := filepath.Join(dir, "m.json")
		args := []string{"train", data, "--label", "label", "--algo", "winnow", "--winnow", variant, "--out", path, "--json"}
		r := decode(t, args...)
		want := read(t, path)
		if e := decode(t, "eval", "--model", path, data, "--json"); e["errors"] != 0.0 || r["train_errors"] != 0.0 || r["converged"] != true {
			t.Errorf("%s: %v errors in training, %v in eval", variant, r["train_errors"], e["errors"])
		}
		if decode(t, append(args, "--workers", "3", "--memory", "6MB")...)["streamed"] != true || read(t, path) != want {
			t.Errorf("%s: streamed, the model is another one", variant)
		}
		if text := succeed(t, "inspect", path); !strings.Contains(text, variant+", at most 100 epochs") || strings.Contains(text, "eta") {
			t.Errorf("inspect says\n%s", text)
		}
	}
	status, _, stderr := command("train", textbook(t, signs), "--label", "y", "--algo", "winnow")
	if want := `column "x1", row 0: 3 is neither 0 nor 1`; status != exitFailed || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q, want %q", status, stderr, want)
	}
}

func TestTrainJSON(t *testing.T) {
	keys := []string{"algorithm", "baseline", "classes", "converged", "dtype", "epochs", "features", "fingerprint", "interrupted", "isa", "loss", "margin",
		"mistake_bound", "model", "norm", "options", "peak_rss_bytes", "positive", "radius", "resumed_at", "rows", "seconds", "standardize", "streamed", "train_accuracy",
		"train_errors", "updates", "visits", "workers"}
	r := decode(t, "train", "--algo", "perceptron", textbook(t, signs), "--label", "y", "--json", "--workers", "2")
	if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, keys) {
		t.Errorf("keys are %q, want %q", got, keys)
	}
	if got := slices.Sorted(maps.Keys(r["seconds"].(map[string]any))); !slices.Equal(got, []string{"load", "total", "train"}) {
		t.Errorf("keys of seconds are %q", got)
	}
	if r["model"] != nil || r["workers"] != 2.0 || !reflect.DeepEqual(r["classes"], []any{-1.0, 1.0}) {
		t.Errorf("model is %v, workers %v, classes %v", r["model"], r["workers"], r["classes"])
	}
	// R^2 is 26, |w|^2 is 11, and the nearest row has y(w.x+b) = 1.
	if bound := r["mistake_bound"].(float64); math.Abs(bound-286) > 1e-9 {
		t.Errorf("mistake_bound is %v, want 286", bound)
	}
	if rss := r["peak_rss_bytes"].(float64); rss < 1<<20 {
		t.Errorf("peak_rss_bytes is %v", rss)
	}
	r = decode(t, "train", textbook(t, signs), "--label", "y", "--json", "--algo", "pocket")
	if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, slices.Sorted(slices.Values(append(keys, "kept", "candidates", "rows_scored", "curve")))) {
		t.Errorf("keys of a pocket are %q", got)
	}
}

// TestIdentity trains the same on any number of workers and every instruction set.
func TestIdentity(t *testing.T) {
	data := noisy(t, "10000")
	path := filepath.Join(t.TempDir(), "m.json")
	best := kernel.Levels()[len(kernel.Levels())-1].String()
	for _, options := range []string{"", "--algo pocket --epochs 1 --max-updates 60", "--algo pocket --pocket ratchet --order shuffle",
		"--algo pocket --pocket epoch --order random", "--order shuffle", "--order fixed-shuffle --no-bias",
		"--order random --seed 9 --eta 0.25", "--algo averaged", "--algo averaged --order shuffle --eta 0.3 --margin 2",
		"--margin 3 --order shuffle --validation 0.1 --early-stop 1", "--algo averaged --validation 0.1",
		"--algo voted --max-updates 200 --order shuffle"} {
		var want []byte
		isas, counts := []string{"generic", best}, []int{1, 2, 3, 8}
		if testing.Short() {
			isas, counts = isas[1:], []int{1, 3}
		}
		for _, isa := range isas {
			for _, workers := range counts {
				args := []string{"train", "--algo", "perceptron", data, "--label", "label", "--out", path, "--isa", isa, "--workers", fmt.Sprint(workers), "--epochs", "3"}
				succeed(t, append(args, strings.Fields(options)...)...)
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if string(got) != string(want) {
					t.Fatalf("%s: %s on %d workers gives\n%s\nand generic on one\n%s", options, isa, workers, got, want)
				}
			}
		}
	}
}

func TestTrainText(t *testing.T) {
	const adviceCheck = "halfspace check finds out whether any plane separates them."
	data := textbook(t, signs)
	m := filepath.Join(t.TempDir(), "m.json")
	text := succeed(t, "train", "--algo", "perceptron", data, "--label", "y", "--out", m)
	for _, want := range []string{"perceptron: 3 rows of 2 features, classes -1, 1 (positive: 1)", "converged   yes, after 7 updates; bound 286\n",
		"updates     7 in ", "errors      0 of 3 rows, accuracy 100.00 %", "radius      5.09902", "norm        3.31662", "model       " + m} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Not converged") {
		t.Errorf("advice after converging:\n%s", text)
	}
	if text := succeed(t, "train", data, "--label", "y", "--algo", "averaged"); !strings.Contains(text, ": the last weights make no mistake; the mean of all is kept") {
		t.Errorf("averaged says\n%s", text)
	}
	hard := noisy(t, "2000")
	for options, want := range map[string]string{
		"--epochs 2":                               "Try --algo pocket, which keeps those, or averaged, or --order shuffle if the rows are sorted.\n" + adviceCheck + "\n",
		"--epochs 2 --order shuffle":               "Try --algo pocket, which keeps those, or averaged.\n" + adviceCheck + "\n",
		"--epochs 1 --algo pocket --max-updates 4": "it stopped at --max-updates. More of them may do better.\n",
		"--validation .2 --early-stop 2":           "it stopped after 2 epochs without fewer errors, since --early-stop is 2.\n",
		"--epochs 3 --algo averaged":               "More --epochs than 3 may do better.\n" + adviceCheck + "\n",
		"--epochs 1 --algo pocket":                 "More --epochs than 1 may do better.\n" + adviceCheck + "\n",
	} {
		text := succeed(t, append([]string{"train", "--algo", "perceptron", hard, "--label", "label"}, strings.Fields(options)...)...)
		if !strings.HasSuffix(text, want) {
			t.Errorf("%s: no %q at the end of\n%s", options, want, text)
		}
	}
}

func TestProgress(t *testing.T) {
	data := noisy(t, "20000")
	for when, shown := range map[string]bool{"auto": false, "never": false, "always": true} {
		_, stdout, stderr := command("train", "--algo", "perceptron", data, "--label", "label", "--epochs", "20", "--out", filepath.Join(t.TempDir(), "m.json"),
			"--json", "--progress", when)
		if strings.Contains(stderr, "training") != shown {
			t.Errorf("--progress %s: standard error is %q", when, stderr)
		}
		if !strings.HasPrefix(stdout, "{") {
			t.Errorf("--progress %s: standard output is %q", when, stdout)
		}
	}
}

// TestInterrupted ends trainings that would take for ever.
func TestInterrupted(t *testing.T) {
	data := noisy(t, "5000")
	dir := t.TempDir()
	for _, after := range []time.Duration{0, 50 * time.Millisecond} {
		for _, options := range []string{"--order cyclic", "--order shuffle", "--algo pocket"} {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			var stdout, stderr strings.Builder
			args := []string{"train", "--algo", "perceptron", data, "--label", "label", "--epochs", "1000000000000", "--out", filepath.Join(dir, "m.json")}
			status := run(ctx, append(args, strings.Fields(options)...), &stdout, &stderr)
			kept := strings.HasSuffix(stderr.String(), "halfspace: interrupted: "+filepath.Join(dir, "m.json")+" has the weights so far\n")
			if status != exitInterrupted || kept != (stdout.Len() > 0) || !kept && stderr.String() != "halfspace: interrupted: no model was written\n" {
				t.Errorf("%s after %v: status %d, %q, %q", options, after, status, stdout.String(), stderr.String())
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "m.json")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := filepath.Join(t.TempDir(), "m.json")
	succeed(t, "train", "--algo", "perceptron", data, "--label", "label", "--out", m)
	for _, args := range [][]string{
		{"predict", "--model", m, data, "--out", filepath.Join(dir, "p.csv")},
		{"eval", "--model", m, data},
		{"gen", "--noise", "0.1", "--rows", "100000", "--out", filepath.Join(dir, "x.parquet")},
	} {
		var stdout, stderr strings.Builder
		if status := run(ctx, args, &stdout, &stderr); status != exitInterrupted || stderr.String() != "halfspace: interrupted\n" {
			t.Errorf("%s: status %d, %q", args[0], status, stderr.String())
		}
	}
	onlyFiles(t, dir)
}

// TestIdentityOfFiles trains on the same rows in one file and in three, with other row groups and codecs.
func TestIdentityOfFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const rows = 9001
	x, z, y := make([]float64, rows), make([]int64, rows), make([]string, rows)
	for i := range x {
		x[i], z[i], y[i] = rng.Float64()-0.5, int64(rng.IntN(20)), "no"
		if x[i]*30 > float64(z[i])-10 {
			y[i] = "yes"
		}
	}
	file := func(lo, hi int, opt dataset.WriterOptions) string {
		return writeWith(t, fmt.Sprintf("%d.parquet", lo), opt, col{"x", x[lo:hi]}, col{"z", z[lo:hi]}, col{"y", y[lo:hi]})
	}
	one := []string{file(0, rows, dataset.WriterOptions{})}
	three := []string{file(0, 17, dataset.WriterOptions{Compression: "zstd"}),
		file(17, 6000, dataset.WriterOptions{Compression: "none", RowGroupRows: 701}), file(6000, rows, dataset.WriterOptions{})}
	for _, options := range []string{"--epochs 3", "--epochs 3 --order shuffle", "--algo pocket --max-updates 50"} {
		var models [2][]byte
		for i, paths := range [][]string{one, three} {
			m := filepath.Join(t.TempDir(), "m.json")
			succeed(t, slices.Concat([]string{"train", "--algo", "perceptron", "--label", "y", "--out", m}, strings.Fields(options), paths)...)
			var err error
			if models[i], err = os.ReadFile(m); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(models[0], models[1]) {
			t.Errorf("%s: one file gives\n%s\nthree give\n%s", options, models[0], models[1])
		}
	}
}
