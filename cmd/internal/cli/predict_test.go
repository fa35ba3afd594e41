package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/predict"
	"halfspace/schema"
)

// TestScoreLines: examples/python/score.py predicts what predict does, also of columns that are hashed: texts of every length that XXH3 treats in its
// own way.
func TestScoreLines(t *testing.T) {
	inParallel(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("missing: python3")
	}
	rng := rand.New(rand.NewPCG(8, 9))
	var lines strings.Builder
	lines.WriteString("word,city,x,y\n")
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 145, 240, 241, 1024, 1025, 2049, 3000} {
		for i, letter := range []rune("abcdefghijkö") {
			fmt.Fprintf(&lines, "%s,%s,%g,%s\n", strings.Repeat(string(letter), n), []string{"Rome", "Oslo"}[i%2], rng.NormFloat64(), []string{"no", "yes"}[rng.IntN(2)])
		}
	}
	data := filepath.Join(text(t, map[string]string{"x.csv": lines.String()}), "x.csv")
	saved, out := filepath.Join(t.TempDir(), "m.json"), filepath.Join(t.TempDir(), "p.csv")
	for _, options := range []string{"--algo logistic --categorical word=hash:7,city=onehot --standardize", "--algo averaged --categorical word=hash:18,city=onehot",
		"--algo averaged --cross word,city --cross city,word=hash:4 --exclude word",
		"--algo averaged --categorical word=hash:13,city=onehot"} {
		succeed(t, append([]string{"train", data, "--label", "y", "--out", saved}, strings.Fields(options)...)...)
		succeed(t, "predict", "--model", saved, data, "--out", out)
		want, err := os.ReadFile(out)
		require.NoError(t, err)
		cmd := exec.Command(python, "-B", filepath.Join("..", "..", "..", "examples", "python", "score.py"), saved, data)
		got, err := cmd.Output()
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v: predictions are\n%s\nwant\n%s", options, err, got, want)
		}
		if yes := strings.Count(string(want), "yes"); yes < 50 || yes > 238 {
			t.Errorf("%s: %d of 288 predictions are yes: too few differ", options, yes)
		}
	}
}

// TestScoreWritten: examples/python/score.py reads the texts of numbers, and of yes and no, as predict does.
func TestScoreWritten(t *testing.T) {
	inParallel(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("missing: python3")
	}
	const examples = "../../../schema/testdata/written.json"
	program := `import json, sys
exec(open(sys.argv[1]).read().split("\ndef narrow")[0])
for text, point, comma in json.load(open(sys.argv[2])):
    assert [written(text, "."), written(text, ",")] == [point, comma], (text, written(text, "."), written(text, ","))`
	score := filepath.Join("..", "..", "..", "examples", "python", "score.py")
	if out, err := exec.Command(python, "-B", "-c", program, score, examples).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rng, texts := rand.New(rand.NewPCG(3, 9)), require.WrittenTexts(t, examples)
	table := func(odd float64) string {
		var b strings.Builder
		w := csv.NewWriter(&b)
		_ = w.Write([]string{"price", "preis", "member", "y"})
		for i := range 600 {
			price, preis, member := fmt.Sprintf("$%d,%03d.%d", 1+rng.IntN(9), rng.IntN(1000), i%10), fmt.Sprintf("%d.%03d,%d €",
				1+rng.IntN(9), rng.IntN(1000), i%10), []string{"no", "Yes"}[rng.IntN(2)]
			for _, text := range []*string{&price, &preis, &member} {
				if u := rng.Float64(); u < odd {
					*text = texts[rng.IntN(len(texts))].Text
				} else if u < odd+0.1 {
					*text = ""
				}
			}
			_ = w.Write([]string{price, preis, member, []string{"down", "up"}[rng.IntN(2)]})
		}
		w.Flush()
		return b.String()
	}
	dir := text(t, map[string]string{"train.csv": table(0), "new.csv": table(0.5)})
	data, saved, out := filepath.Join(dir, "new.csv"), filepath.Join(dir, "m.json"), filepath.Join(dir, "p.csv")
	succeed(t, "train", filepath.Join(dir, "train.csv"), "--label", "y", "--out", saved)
	succeed(t, "predict", "--model", saved, data, "--out", out)
	want := require.Value(os.ReadFile(out))(t)
	if got, err := exec.Command(python, "-B", score, saved, data).Output(); err != nil || string(got) != string(want) {
		t.Errorf("%v: predictions are\n%s\nwant\n%s", err, got, want)
	}
	if up := strings.Count(string(want), "up"); up < 100 || up > 500 {
		t.Errorf("%d of 600 predictions are up: too few differ", up)
	}
}

// TestScoreDerivations: for each derivation of numbers and each kind of column, examples/python/score.py predicts what predict does,
// or says what it doesn't read. It refuses models that don't predict by one list of weights.
func TestScoreDerivations(t *testing.T) {
	inParallel(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("missing: python3")
	}
	rng := rand.New(rand.NewPCG(12, 1))
	columns := []string{"n", "gap", "plain", "comma", "member", "day", "time", "city", "zip", "two", "three", "truth"}
	lines, pairs := strings.Join(columns, ",")+"\n", ""
	for i := range 300 {
		x, gap := rng.NormFloat64(), "7.5"
		if rng.IntN(3) == 0 {
			gap = ""
		}
		class := min(2, max(0, int(2+x+rng.NormFloat64())))
		day := fmt.Sprintf("2023-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28))
		lines += fmt.Sprintf("%g,%s,$%d.5,%d.%03d €,%s,%s,%s %02d:15:00,%s,0%d,%s,%s,%t\n", x, gap, rng.IntN(9), 1+i%9, i, []string{"no", "Yes"}[rng.IntN(2)],
			day, day, rng.IntN(24), []string{"Rom", "Oslo", "Ulm"}[rng.IntN(3)], rng.IntN(4), []string{"down", "down", "up"}[class],
			[]string{"a", "b", "c"}[class], class > 1)
		pairs += fmt.Sprintf("%d 1:%g 3:%d\n", min(1, class), x, 1+i%5)
	}
	dir := text(t, map[string]string{"x.csv": lines})
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, listRows(in("l.arrow"), pairs, 4, false))
	computed, refused := map[string]bool{}, map[string]bool{}
	score := func(what string) {
		cmd := exec.Command(python, "-B", filepath.Join("..", "..", "..", "examples", "python", "score.py"), in("m.json"), in("x.csv"))
		var message bytes.Buffer
		cmd.Stderr = &message
		got, err := cmd.Output()
		says := computed
		switch {
		case err != nil && strings.Contains(message.String(), "this program"):
			says = refused
			fallthrough
		case err == nil && string(got) == read(t, in("p.csv")):
			for _, c := range loadedModel(t, in("m.json")).Spec().Columns() {
				says[string(c.Kind)], says[string(c.Derive)] = true, true
			}
		default:
			t.Errorf("%s: %v: %s: predictions are\n%.200s\nwant\n%.200s", what, err, &message, got, read(t, in("p.csv")))
		}
	}
	for _, options := range []string{"n", "n,gap", "n,plain", "n,comma --type comma=number:comma", "n,member", "n,day", "n,time", "n,city", "n,zip --type zip=category",
		"n,city --categorical city=hash:3", "n,city,day --cross city,member=hash:3 --exclude day", "n --categorical n=onehot", "n --algo voted", "n --algo dual --kernel rbf",
		"n --label three", "n --label truth", "l.arrow --label y"} {
		data, words := in("x.csv"), strings.Fields(options)
		args := append([]string{"--features"}, words...)
		if strings.Contains(words[0], ".") {
			data, args = in(words[0]), words[1:]
		}
		if !slices.Contains(args, "--label") {
			args = append(args, "--label", "two")
		}
		succeed(t, slices.Concat([]string{"train", data}, args, []string{"--out", in("m.json")})...)
		succeed(t, "predict", "--model", in("m.json"), data, "--out", in("p.csv"))
		score(options)
	}
	spec := &schema.Spec{Label: "two", Features: []string{"f1", "f2"}, Classes: []schema.Class{schema.StringClass("down"), schema.StringClass("up")}, Positive: 1,
		Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError, Columns: []schema.Column{{Name: "f", Kind: schema.NumberedColumn, First: 1, Elements: 2}}}}
	require.NoError(t, model.New(spec, []float32{1, 2}).Save(in("m.json")))
	score("numbered")
	for _, d := range schema.Derivations {
		if computed[string(d)] == d.Dated() || d.Dated() && !refused[string(d)] {
			t.Errorf("numbers derived as %q: computed %t, refused %t", d, computed[string(d)], refused[string(d)])
		}
	}
	for kind, isComputed := range map[schema.Kind]bool{schema.NumberColumn: true, schema.OneHotColumn: true, schema.HashColumn: true, schema.CrossColumn: true,
		schema.ListColumn: false, schema.NumberedColumn: false} {
		if computed[string(kind)] != isComputed || !isComputed && !refused[string(kind)] {
			t.Errorf("columns of the kind %q: computed %t, refused %t", kind, computed[string(kind)], refused[string(kind)])
		}
	}
}

// testModelRows: the model in m.json predicts each row of a file by itself to the bits that it gives the rows together. It returns the model's algorithm.
func testModelRows(t *testing.T, path string) string {
	t.Helper()
	m, err := model.Load("m.json")
	require.NoError(t, err)
	testPredictRows(t, m, path)
	return m.Algorithm
}

func testPredictRows(t *testing.T, m *model.Model, path string) {
	p, err := predict.New(m)
	require.NoError(t, err)
	scorer, err := predict.NewScorer(m, 2)
	require.NoError(t, err)
	spec := m.Spec()
	err = dataset.Scan(context.Background(), []string{path}, dataset.Options{Spec: spec, Keep: p.Columns()},
		func(_ *schema.Spec, b *block.Block, kept arrow.Record) error {
			scores, err := scorer.Scores(context.Background(), b)
			if err != nil {
				return err
			}
			var odds [][]float32
			if m.HasProbabilities() {
				odds = predict.Probabilities(scores, predict.OddsOf(m))
			}
			drops := m.Preprocessing != nil && m.Preprocessing.Nulls == schema.NullsDrop
			valid := predict.ValidScores(b, scores[0])
			for r := range b.Len() {
				row := rowOf(t, p, kept, r)
				if _, err := p.Class(row); drops && !valid[r] {
					if !errors.Is(err, predict.ErrMissing) {
						t.Errorf("row %d: error %v", r, err)
					}
					continue
				}
				predictRow(t, p, m, row, r, scores, odds)
				if t.Failed() {
					break
				}
			}
			return nil
		})
	require.NoError(t, err)
}

// rowOf returns row r of a record.
func rowOf(t *testing.T, p *predict.Predictor, kept arrow.Record, r int) []float64 {
	var values []any
	for _, c := range kept.Columns() {
		values = append(values, valueOf(t, c, r))
	}
	row, err := p.AppendRow(nil, values...)
	require.NoError(t, err)
	return row
}

// predictRow compares what p says of row r with scores and probabilities of all rows.
func predictRow(t *testing.T, p *predict.Predictor, m *model.Model, row []float64, r int, scores, odds [][]float32) {
	got := make([]float64, len(scores))
	if err := p.Scores(row, got); err != nil {
		t.Fatalf("row %d: %v", r, err)
	}
	for c, v := range got {
		if math.Float64bits(v) != math.Float64bits(float64(scores[c][r])) {
			t.Errorf("row %d: score %d is %v, in a file %v", r, c, v, scores[c][r])
		}
	}
	class, err := p.Class(row)
	if want := m.Classes[predict.PredictedClass(scores, r, m.Spec().PositiveClass())]; err != nil || class != want {
		t.Errorf("row %d: class %v, error %v, in a file %v", r, class, err, want)
	}
	if len(scores) == 1 {
		if s, err := p.Score(row); err != nil || s != got[0] {
			t.Errorf("row %d: score %v, error %v, want %v", r, s, err, got[0])
		}
	}
	got = make([]float64, len(m.Classes))
	if err := p.Probabilities(row, got); (err == nil) != (odds != nil) {
		t.Errorf("row %d: probabilities, error %v", r, err)
	}
	for c := range odds {
		if got[c] != float64(odds[c][r]) {
			t.Errorf("row %d: probability %d is %v, in a file %v", r, c, got[c], odds[c][r])
		}
	}
}

// valueOf returns a value of a column as a program has it.
func valueOf(t *testing.T, a arrow.Array, r int) any {
	if a.IsNull(r) {
		return nil
	}
	switch a := a.(type) {
	case *array.Float32:
		return a.Value(r)
	case *array.Float64:
		return a.Value(r)
	case *array.Int64:
		return a.Value(r)
	case *array.Int8:
		return a.Value(r)
	case *array.Uint8:
		return a.Value(r)
	case *array.Boolean:
		return a.Value(r)
	case *array.String:
		return a.Value(r)
	}
	t.Fatalf("a column of the type %s", a.DataType())
	return nil
}

// feed writes text to standard input, and closes standard input if end is true. The returned channel is closed after the text is
// written.
func feed(t *testing.T, text string, end bool) <-chan struct{} {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdin := os.Stdin
	os.Stdin = r
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.WriteString(w, text) // fails where nobody reads on
		if end {
			w.Close()
		}
	}()
	t.Cleanup(func() {
		w.Close()
		r.Close()
		<-done
		os.Stdin = stdin
	})
	return done
}

// TestKeptTexts: kept columns of a text file are what was read, letter for letter, from a file as from standard input.
func TestKeptTexts(t *testing.T) {
	rows := "a,flag,size,price\n1,True,-,1.10\n2,False,3,1e3\n3,True,4,-0.0\n4,False,#N/A,2.50\n"
	dir := text(t, map[string]string{"train.csv": "a,y\n1,0\n4,1\n", "rows.csv": rows})
	in := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "train", in("train.csv"), "--label", "y", "--algo", "perceptron", "--out", in("m.json"))
	want := "a,flag,size,price,prediction\n1,True,-,1.10,0\n2,False,3,1e3,0\n3,True,4,-0.0,1\n4,False,#N/A,2.50,1\n"
	for _, data := range []string{in("rows.csv"), "-"} {
		feed(t, rows, true)
		succeed(t, "predict", "--model", in("m.json"), data, "--keep", "*", "--out", in("p.csv"))
		if got := read(t, in("p.csv")); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

// TestOnlineInterruptedStream: an interrupt comes while a stream waits for more. The whole rows so far are learned, even if they are
// fewer than are parsed at a time.
func TestOnlineInterruptedStream(t *testing.T) {
	text, path := lines(20_000, "0", 0.1, 4), filepath.Join(t.TempDir(), "m.json")
	page := path + ".html"
	args := []string{"online", "-", "--label", "last", "--json", "--out", path, "--report", page}
	for _, with := range [][]string{nil, {"--model", path}} {
		ctx, cancel := context.WithCancel(context.Background())
		sent := feed(t, text[:len(text)-2], false) // without the end of the last line, and more than a pipe holds
		go func() {
			<-sent
			cancel()
		}()
		var stdout, stderr bytes.Buffer
		var r struct {
			Rows        int
			Interrupted bool
		}
		status := run(ctx, append(args, with...), &stdout, &stderr)
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || status != exitInterrupted || !r.Interrupted || r.Rows == 0 || r.Rows >= 20_000 {
			t.Fatalf("%v: status %d, %v, %q, %q", with, status, err, stdout.String(), stderr.String())
		}
		if !strings.Contains(read(t, page), "The run was interrupted.") {
			t.Errorf("the report doesn't tell of the interrupt")
		}
		got := read(t, path)
		if with == nil {
			feed(t, strings.Join(strings.SplitAfter(text, "\n")[:r.Rows], ""), true)
			succeed(t, args...)
			if want := read(t, path); got != want {
				t.Errorf("interrupted after %d rows, the model is\n%s\nthat of those rows is\n%s", r.Rows, got, want)
			}
		}
	}
}

// TestOnlineStream: online learns the same model from standard input, read once in pieces of any size, as from a file. The report
// leaves out the figures that need a second pass.
func TestOnlineStream(t *testing.T) {
	dir := t.TempDir()
	csv, model1, model2 := filepath.Join(dir, "x.csv"), filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	rows := "a,b,y\n" + lines(600_000, "0", 0.1, 9) // more than the first rows, which tell the columns
	require.NoError(t, os.WriteFile(csv, []byte(rows), 0o666))
	feed := func(text string) { t.Helper(); feed(t, text, true) }
	want := decode(t, "online", csv, "--label", "y", "--out", model1, "--json")
	for name, label := range map[string]string{"x.csv": "y", "x.arrow": "y", "x.svm": "label"} {
		path := filepath.Join(dir, name)
		if name != "x.csv" {
			if require.Small() {
				continue
			}
			succeed(t, "convert", csv, "--label", "y", "--out", path)
		}
		feed(read(t, path))
		got := decode(t, "online", "-", "--label", label, "--out", model2, "--json")
		if got["errors"] != nil || got["margin"] != nil || got["radius"] != want["radius"] || !reflect.DeepEqual(got["progressive"], want["progressive"]) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		a, b := loadedModel(t, model1), loadedModel(t, model2)
		if !reflect.DeepEqual(a.Weights, b.Weights) || a.Data != b.Data || b.Training.Errors != nil || *b.Training.Mistakes != *a.Training.Mistakes {
			t.Errorf("%s: %v and %v, want %v and %v", name, b.Data, b.Training, a.Data, a.Training)
		}
	}
	feed(rows)
	if text := succeed(t, "online", "-", "--label", "y", "--model", model1); !strings.Contains(text, "600,000 rows, each predicted") || strings.Contains(text, "bound") {
		t.Errorf("going on says\n%s", text)
	}
	for text, want := range map[string]string{
		"a,y\n1,0\n":                       "training takes two",
		"a,y\n":                            "no rows",
		rows + "1,1,2\n":                   `column "y", line 600002, row 600000: 2 is no class of the first rows, which have 0, 1: change the label, or leave the row out`,
		rows + "nonsense,1,1\n":            `line 600002, column "a": "nonsense" is not a number`,
		strings.Repeat("1,0\n", 4) + "1\n": "line 5",
	} {
		if len(text) > 1<<20 && require.Small() {
			continue
		}
		feed(text)
		if status, _, stderr := command("online", "-", "--label", "last", "--out", model2); status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}
