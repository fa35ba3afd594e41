package cli

import (
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/cli/inspecting"
)

// shared returns the path of a file of the shared data, and skips the test where there is none.
func shared(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no shared data")
	}
	return path
}

// checked runs check --json.
func checked(t *testing.T, args ...string) (r inspecting.CheckReport) {
	t.Helper()
	r.PlaneReport = new(inspecting.PlaneReport) // which encoding/json can't make
	if err := json.Unmarshal([]byte(succeed(t, append([]string{"check", "--json"}, args...)...)), &r); err != nil {
		t.Fatal(err)
	}
	if !r.Verified {
		t.Fatalf("not verified: %s", r.Reason)
	}
	return r
}

func fractionOf(t *testing.T, s string) *big.Rat {
	t.Helper()
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q isn't a number", s)
	}
	return v
}

// readNumbers reads a CSV file without a header: features, as float32 holds them, and labels.
func readNumbers(t *testing.T, path string) (x [][]*big.Rat, labels []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		last := len(cells) - 1
		row := make([]*big.Rat, 0, last+1)
		for _, cell := range cells[:last] {
			f, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, new(big.Rat).SetFloat64(float64(float32(f))))
		}
		x, labels = append(x, append(row, big.NewRat(1, 1))), append(labels, cells[last])
	}
	return x, labels
}

// TestVerifyLines: the lines that inspect shows find proofs to hold, and not where a proof or a row is another.
func TestVerifyLines(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "separable.md"))
	lines := filepath.Join("inspecting", "verify.py")
	verifyLines := read(t, lines)
	if err != nil || !strings.Contains(string(guide), verifyLines) {
		t.Errorf("docs/guide/separable.md shows other lines: %v", err)
	}
	and, xor := "a,b,y\n0,0,n\n0.1,0.7,n\n1,0,n\n1,1,p\n", "a,b,y\n0,0,n\n0.3,0.9,p\n0.9,0.3,p\n1.2,1.2,n\n"
	headless := strings.ReplaceAll(strings.TrimPrefix(xor, "a,b,y\n"), ",", " ,\t")
	for i, c := range []struct {
		csv, change, to string
		args            []string
		label           string // y unless given
	}{
		{csv: and, change: "1,1,p", to: "0,0,p"},
		{csv: strings.ReplaceAll(and, "0,0,n\n", ""), change: "1,1,p", to: "1,1,n", args: []string{"--no-bias"}},
		{csv: xor, change: "0.9,p", to: "0.9000001,p"},
		{csv: "a,b,y\n1,2,p\n-1,-2,p\n1,0,n\n", change: "1,2,p", to: "1,3,p", args: []string{"--no-bias"}},
		{csv: strings.TrimPrefix(and, "a,b,y\n"), change: "1,1,p", to: "0,0,p", label: "c3"},
		{csv: "\ufeff" + strings.TrimPrefix(xor, "a,b,y\n") + "\n", change: "0.9,p", to: "0.9000001,p", label: "last"},
		{csv: headless, change: "0.9 ,\tp", to: "0.9000001,p", label: "3"},
		{csv: "0,0.5,n\n1,0.25,p\n", change: "1,0.25", to: "0,0.75", label: "3", args: []string{"--header", "no", "--features", "c1"}},
	} {
		if c.label == "" {
			c.label = "y"
		}
		data, proof := filepath.Join(dir, "x.csv"), filepath.Join(dir, "proof.json")
		write := func(path, text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(data, c.csv)
		args := append([]string{"check", data, "--label", c.label}, c.args...)
		want, _, _ := strings.Cut(succeed(t, args...), "  time")
		write(proof, succeed(t, append(args, "--json")...))
		verify := func() string {
			out, err := exec.Command(python, lines, proof, data, c.label, "p").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return strings.TrimSpace(string(out))
		}
		if got := verify(); got != "holds" {
			t.Errorf("case %d: %s", i, got)
		}
		write(data, strings.Replace(c.csv, c.change, c.to, 1))
		if got := verify(); got != "does not hold" {
			t.Errorf("case %d, other data: %s", i, got)
		}
		shown := succeed(t, "inspect", proof)
		if !strings.HasPrefix(shown, want) || !strings.HasSuffix(shown, verifyLines) {
			t.Errorf("case %d: inspect shows %s, check %s", i, shown, want)
		}
	}
}

// TestCheckRounds: check judges the rows that float32 holds, as training does, and says so. The classes differ in digits that float32 lacks.
func TestCheckRounds(t *testing.T) {
	near := filepath.Join(text(t, map[string]string{"x.csv": "a,y\n16777216,n\n16777216,n\n16777217,p\n"}), "x.csv")
	if got := succeed(t, "check", near, "--label", "y"); !strings.HasPrefix(got, "not separable") || !strings.Contains(got, "float32, as training holds the rows") {
		t.Errorf("values that float32 rounds to one: %s", got)
	}
	if got := succeed(t, "check", near, "--label", "y", "--standardize"); !strings.HasPrefix(got, "separable") {
		t.Errorf("standardized before they are rounded: %s", got)
	}
	if r := checked(t, near, "--label", "y"); r.Dtype != "float32" {
		t.Errorf("dtype is %q", r.Dtype)
	}
	old := filepath.Join(t.TempDir(), "proof.json")
	proof := strings.Replace(succeed(t, "check", near, "--label", "y", "--json"), `"float32"`, `"float64"`, 1)
	if err := os.WriteFile(old, []byte(proof), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := command("inspect", old); status != exitFailed || !strings.Contains(stderr, "rows are float32 now: run check again") {
		t.Errorf("a proof of float64 rows: status %d, %q", status, stderr)
	}
}

// TestCheckOneVersusRest: of three classes, --positive names the one that is checked versus the rest; without it the error says so.
func TestCheckOneVersusRest(t *testing.T) {
	dir := text(t, map[string]string{"x.csv": "a,y\n1,p\n2,p\n3,q\n4,q\n5,r\n6,r\n"})
	data := filepath.Join(dir, "x.csv")
	for _, verb := range []string{"check", "online"} {
		want := `x.csv: column "y": 3 classes ("p", "q", "r"), `
		want += map[string]string{"check": `check takes two: use --positive r to check that class versus the rest, choose another column with --label, or keep`,
			"online": "training takes two: choose another column with --label, or keep"}[verb]
		if status, _, stderr := command(verb, data, "--label", "y"); status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s", verb, status, stderr)
		}
	}
	for class, separable := range map[string]bool{"p": true, "q": false, "r": true} {
		r := decode(t, "check", data, "--label", "y", "--positive", class, "--json")
		if r["separable"] != separable || r["verified"] != true || r["positive"] != class {
			t.Errorf("%s versus the rest: %v", class, r)
		}
	}
}

// TestInspectProof: files that look like a proof and aren't one.
func TestInspectProof(t *testing.T) {
	for _, c := range []struct {
		text   string
		status int
	}{
		{`{"separable": 1}`, exitFailed},
		{`{"separable": true, "weights"`, exitFailed},
		{`{"separable": null}`, 0},
		{`{"separable": true, "widest": {}, "perceptron": {}}`, 0},
		{`{"separable": false, "witness": [{"row": -1, "weight": "a quarter of the whole"}], "classes": [1]}`, 0},
	} {
		path := filepath.Join(t.TempDir(), "proof.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, _, stderr := command("inspect", path); status != c.status || status != 0 && !isOneLine(stderr) {
			t.Errorf("%s: status %d, %s", c.text, status, stderr)
		}
	}
}

// TestCheckWitness: banknote isn't separable; the printed witness adds up to zero over the rows of the file.
func TestCheckWitness(t *testing.T) {
	path := shared(t, "banknote.csv")
	r := checked(t, path, "--label", "last")
	if *r.Separable || r.Rows != 1372 {
		t.Fatalf("separable: %v, %d rows", *r.Separable, r.Rows)
	}
	x, labels := readNumbers(t, path)
	sums := make([]big.Rat, 5)
	for _, w := range r.Witness {
		if want := map[string]int{"0": -1, "1": 1}[labels[w.Row]]; w.Label != want {
			t.Errorf("row %d has label %d, want %d", w.Row, w.Label, want)
		}
		weight := fractionOf(t, w.Weight)
		if weight.Sign() <= 0 {
			t.Errorf("weight %s", w.Weight)
		}
		weight.Mul(weight, big.NewRat(int64(w.Label), 1))
		for j := range sums {
			sums[j].Add(&sums[j], new(big.Rat).Mul(weight, x[w.Row][j]))
		}
	}
	for j := range sums {
		if sums[j].Sign() != 0 {
			t.Errorf("column %d adds up to %v", j, &sums[j])
		}
	}
	if len(r.Witness) < 2 || len(r.Witness) > 6 {
		t.Errorf("%d rows in the witness of 5 columns", len(r.Witness))
	}
	// A large-C support vector machine stays at 99.20 %: 11 errors.
	if r.Errors.AtLeast < 1 || r.Errors.AtLeast > 11 || *r.Errors.Found < r.Errors.AtLeast {
		t.Errorf("at least %d errors, found %d", r.Errors.AtLeast, *r.Errors.Found)
	}
}

// TestCheckSeparator: sonar is separable; the printed weights have every row of the file on its side.
func TestCheckSeparator(t *testing.T) {
	path := shared(t, "sonar.csv")
	r := checked(t, path, "--label", "last")
	if !*r.Separable || r.Rows != 208 {
		t.Fatalf("separable: %v, %d rows", *r.Separable, r.Rows)
	}
	x, labels := readNumbers(t, path)
	for _, p := range []*inspecting.PlaneReport{r.PlaneReport, r.Widest} {
		for i, row := range x {
			score := new(big.Rat).SetFloat64(p.Bias)
			for j, w := range p.Weights {
				score.Add(score, new(big.Rat).Mul(row[j], new(big.Rat).SetFloat64(w)))
			}
			if (score.Sign() > 0) != (labels[i] == "R") || score.Sign() == 0 {
				t.Errorf("row %d is on the wrong side", i)
			}
		}
	}
	if r.Widest.Margin < r.Margin {
		t.Errorf("the widest plane has margin %v, another %v", r.Widest.Margin, r.Margin)
	}
}

func TestCheckExamples(t *testing.T) {
	examples := filepath.Join("..", "..", "examples")
	r := checked(t, filepath.Join(examples, "iris-setosa.parquet"), "--label", "setosa")
	if !*r.Separable || r.Errors != nil || r.Witness != nil {
		t.Errorf("iris setosa: %+v", r)
	}
	if p := r.Perceptron; !p.Converged || float64(p.Updates) > *r.MistakeBound {
		t.Errorf("%d updates of at most %v, converged: %v", p.Updates, *r.MistakeBound, p.Converged)
	}
	r = checked(t, filepath.Join(examples, "iris-versicolor-virginica.parquet"), "--label", "species")
	if *r.Separable || r.Weights != nil || r.MistakeBound != nil {
		t.Errorf("iris versicolor and virginica: %+v", r)
	}
}

// TestCheckOptions: what is printed doesn't depend on who works on it.
func TestCheckOptions(t *testing.T) {
	rows := "50000"
	if testing.Short() {
		rows = "9000"
	}
	for _, kind := range []string{"--noise=0.01", "--margin=0.01"} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		succeed(t, "gen", "--rows", rows, "--features", "5", kind, "--out", path)
		var want string
		for _, args := range [][]string{{"--workers=1"}, {"--workers=3"}, {"--isa=generic"}} {
			args = append([]string{"check", path, "--label=label", "--json"}, args...)
			object := decode(t, args...)
			for _, name := range []string{"seconds", "isa", "workers", "streamed"} {
				delete(object, name)
			}
			got, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = string(got)
			} else if string(got) != want {
				t.Errorf("%v: %s\nwant %s", args, got, want)
			}
		}
	}
}

func TestCheckText(t *testing.T) {
	for file, want := range map[string][]string{
		"iris-setosa.parquet --label setosa":                {"separable: 150 rows of 4 features", "exactly", "widest", "converged"},
		"iris-versicolor-virginica.parquet --label species": {"not separable: 100 rows", "zero, exactly", "every plane errs on"},
	} {
		args := strings.Fields(file)
		got := succeed(t, append([]string{"check", filepath.Join("..", "..", "examples", args[0])}, args[1:]...)...)
		for _, s := range want {
			if !strings.Contains(got, s) {
				t.Errorf("%s: no %q in %s", file, s, got)
			}
		}
	}
}

func TestCheckFailures(t *testing.T) {
	three := text(t, map[string]string{"x.csv": "a,y\n1,p\n2,q\n3,r\n"})
	one := text(t, map[string]string{"x.csv": "a,y\n1,p\n2,p\n"})
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{}, exitUsage, "no data"},
		{[]string{"x.parquet"}, exitUsage, "--label is missing"},
		{[]string{filepath.Join(three, "x.csv"), "--label", "y"}, exitFailed, "3 classes"},
		{[]string{filepath.Join(one, "x.csv"), "--label", "y"}, exitFailed, "only class"},
		{[]string{"none.csv", "--label", "y"}, exitFailed, "none.csv"},
	} {
		status, _, stderr := command(slices.Concat([]string{"check"}, c.args)...)
		if status != c.status || !strings.Contains(stderr, c.want) || !isOneLine(stderr) {
			t.Errorf("check %v: status %d, %q", c.args, status, stderr)
		}
	}
}
