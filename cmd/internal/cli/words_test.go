package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/kernel"
)

// reviews writes a table of reviews: the class follows from words of several scripts, a number, a city, and chance. It returns the
// path.
func reviews(t *testing.T, rows int) string {
	t.Helper()
	good := strings.Fields("great GREAT lovely superb wow 👍 很好 ดี café отлично don't")
	bad := strings.Fields("awful AWFUL poor broken 👎 很差 แย่ cafe\u0301 ужасно can't")
	plain := strings.Fields("the a of and to in is it was for 3.5 1,000 tea x-ray https://a.b/c we'll 日本語 ひらがな カタカナ שלום")
	rng := rand.New(rand.NewPCG(5, 8))
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"stars", "review", "price", "city", "day"})
	for i := range rows {
		label := rng.IntN(2)
		var words []string
		for range 3 + rng.IntN(12) {
			from := plain
			if rng.IntN(4) == 0 {
				if from = bad; label == 1 != (rng.IntN(8) == 0) {
					from = good
				}
			}
			words = append(words, from[rng.IntN(len(from))])
		}
		text := strings.Join(words, " ") + " order " + strconv.Itoa(i)
		if rng.IntN(50) == 0 {
			text = ""
		}
		_ = w.Write([]string{[]string{"low", "high"}[label], text, strconv.FormatFloat(math.Round(100*(rng.NormFloat64()+float64(label)/2))/100, 'g', -1, 64),
			[]string{"Oslo", "Rome", "Bonn"}[rng.IntN(3)], fmt.Sprintf("2024-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28))})
	}
	w.Flush()
	return filepath.Join(text(t, map[string]string{"reviews.csv": b.String()}), "reviews.csv")
}

// TestWordsAnywhere: the model of a table with words has the same bytes on every instruction set, with any number of workers, from any
// format of files, and with rows that are read again for each pass.
func TestWordsAnywhere(t *testing.T) {
	defer kernel.Use(kernel.Active())
	path, dir := reviews(t, 2000), t.TempDir()
	parquet := filepath.Join(dir, "reviews.parquet")
	succeed(t, "convert", path, "--out", parquet, "--row-group-rows", "300")
	var want []byte
	for _, c := range [][]string{{path, "--workers", "1"}, {path, "--workers", "3"}, {path, "--isa", "generic", "--workers", "2"}, {parquet, "--workers", "3"},
		{path, "--cache", filepath.Join(dir, "rows.cache")}, {path, "--storage", "dense"}} {
		saved := filepath.Join(dir, "m.json")
		succeed(t, append([]string{"train", "--label", "stars", "--cv", "3", "--out", saved}, c...)...)
		got := require.Value(os.ReadFile(saved))(t)
		if want == nil {
			want = got
		}
		if string(got) != string(want) {
			t.Errorf("%q: another model", c[1:])
		}
	}
	if !strings.Contains(string(want), "review: 很好") || !strings.Contains(string(want), "review: don't") {
		t.Error("the model doesn't name its words")
	}
}

// TestWordsHelp: folds are better with the text than without it.
func TestWordsHelp(t *testing.T) {
	inParallel(t)
	path := reviews(t, 1500)
	errors := func(args ...string) float64 {
		r := decode(t, append([]string{"train", path, "--label", "stars", "--cv", "5", "--json"}, args...)...)
		return r["cross_validation"].(map[string]any)["points"].([]any)[0].(map[string]any)["errors"].(float64)
	}
	if with, without := errors(), errors("--exclude", "review"); with > without/2 {
		t.Errorf("%v errors with the text, %v without", with, without)
	}
}

var contributions = regexp.MustCompile(` ([-+][0-9.]+(?:e[-+][0-9]+)?)(?:, |$)`)

// TestWordsScores: examples/python/score.py predicts what predict does, and explanations add up to the scores.
func TestWordsScores(t *testing.T) {
	inParallel(t)
	path, dir := reviews(t, 600), t.TempDir()
	saved, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "p.csv")
	python, missing := exec.LookPath("python3")
	for _, types := range []string{"review=words", "review=words:2:bits=10", "review=words:chars:bits=12", "review=words:bits=8:all"} {
		succeed(t, "train", path, "--label", "stars", "--exclude", "day", "--type", types, "--out", saved)
		if missing == nil {
			succeed(t, "predict", "--model", saved, path, "--out", out)
			want := require.Value(os.ReadFile(out))(t)
			got, err := exec.Command(python, "-B", filepath.Join("..", "..", "..", "examples", "python", "score.py"), saved, path).Output()
			if err != nil || string(got) != string(want) {
				t.Errorf("%s: %v: examples/python/score.py predicts something else", types, err)
			}
		}
		succeed(t, "predict", "--model", saved, path, "--score", "--explain", "1000", "--out", out)
		m := require.Value(model.Load(saved))(t)
		records := require.Value(csv.NewReader(strings.NewReader(string(require.Value(os.ReadFile(out))(t)))).ReadAll())(t)
		for _, r := range records[1:] {
			score, sum := require.Value(strconv.ParseFloat(r[1], 64))(t), m.Bias[0]
			for _, part := range contributions.FindAllStringSubmatch(r[2], -1) {
				sum += require.Value(strconv.ParseFloat(part[1], 64))(t)
			}
			if math.Abs(sum-score) > 0.01 {
				t.Fatalf("%s: the parts of %q add up to %v, and the score is %v", types, r[2], sum, score)
			}
		}
	}
}

// TestWordsOnline: a stream of texts is learned row by row.
func TestWordsOnline(t *testing.T) {
	inParallel(t)
	path := reviews(t, 3000)
	saved := filepath.Join(t.TempDir(), "m.json")
	status, stdout, stderr := command("online", path, "--label", "stars", "--features", "review", "--words", "review", "--out", saved, "--json")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if !strings.Contains(stderr, "without weights by frequency (idf)") {
		t.Errorf("the note is missing: %s", stderr)
	}
	var r struct{ Rows, Mistakes int64 }
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	if r.Rows < 2900 || 4*r.Mistakes > r.Rows {
		t.Errorf("%d mistakes of %d rows", r.Mistakes, r.Rows)
	}
	succeed(t, "online", path, "--model", saved, "--out", saved)
	succeed(t, "predict", "--model", saved, path, "--out", filepath.Join(t.TempDir(), "p.csv"))
}

// TestWordsHostile: texts without words, of megabytes, or of very many words are learned, or refused with a sentence.
func TestWordsHostile(t *testing.T) {
	inParallel(t)
	var many, empty strings.Builder
	many.WriteString("y,text\n")
	empty.WriteString("y,x,text\n")
	for i := range 400 {
		fmt.Fprintf(&many, "%d,", i%2)
		for k := range 300 {
			fmt.Fprintf(&many, "w%d ", 300*i+k)
		}
		many.WriteString("\n")
		fmt.Fprintf(&empty, "%d,%d,--- ... %d%%\n", i%2, i*i%17, i)
	}
	long := "y,text\n1,short text here\n0," + strings.Repeat("long", 1<<19) + "\n1," + strings.Repeat("many words ", 1<<18) + "\n0,last one here\n"
	dir := text(t, map[string]string{"many.csv": many.String(), "empty.csv": empty.String(), "long.csv": long,
		"bytes.csv": "y,text\n1,a b c\n0,a \xff b\n"})
	in := func(name string) string { return filepath.Join(dir, name) }
	status, stdout, stderr := command("train", in("many.csv"), "--label", "y", "--type", "text=words:bits=12", "--json")
	if status != exitDone || !strings.Contains(stdout, `"features": 4096`) || !strings.Contains(stderr, "use --type text=words:bits=14") {
		t.Errorf("%s%s", stderr, stdout)
	}
	succeed(t, "train", in("long.csv"), "--label", "y", "--type", "text=words:chars:bits=12")
	succeed(t, "train", in("long.csv"), "--label", "y", "--type", "text=words:2")
	for _, c := range []struct{ args, want string }{
		{in("empty.csv") + " --type text=words --where text='---...'", "no row"},
		{in("bytes.csv") + " --type text=words", "UTF-8"},
		{in("many.csv") + " --type text=words:bits=7", "use COLUMN=TYPE"},
		{in("many.csv") + " --type text=words:3", "use COLUMN=TYPE"},
	} {
		status, _, stderr := command(append([]string{"train", "--label", "y"}, strings.Fields(c.args)...)...)
		if status == exitDone || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "internal error") {
			t.Errorf("%s: status %d: %s", c.args, status, stderr)
		}
	}
	status, _, stderr = command("train", in("empty.csv"), "--label", "y", "--exclude", "x", "--type", "text=words:bits=8")
	if status != exitDone && !strings.Contains(stderr, "no text has a word") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestWordsWithoutHeader: a file of messages without a header, with quotes inside, is learned by --label label.
func TestWordsWithoutHeader(t *testing.T) {
	inParallel(t)
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%s\t%s message number %d\n", []string{"ham", "spam"}[i%2], []string{`"Hi" my friend, a`, `Win a "free`}[i%2], i)
	}
	path := filepath.Join(text(t, map[string]string{"sms.tsv": b.String()}), "sms.tsv")
	status, stdout, stderr := command("train", path, "--label", "label", "--cv", "5", "--json")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if !strings.Contains(stderr, "the first column is taken for the label") || !strings.Contains(stdout, `"rows":60`) && !strings.Contains(stdout, `"rows": 60`) {
		t.Errorf("%s\n%s", stderr, stdout)
	}
}
