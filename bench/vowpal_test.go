package bench

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	vowpalRows = 32561 // of a9a
	// vowpalWorse is how far Vowpal Wabbit's objective may lie above the one here: its rows update the weights one by
	// one. It gets as many passes as that takes, and at most vowpalPasses.
	vowpalWorse, vowpalPasses = 0.01, 256
)

// BenchmarkPeerVowpalWabbit times whole processes of logistic regression on a9a, beside Vowpal Wabbit on the same rows in
// its own format, with its cache in a new file. The penalty is 1/2 |w|^2 on both sides, without a bias. Vowpal Wabbit
// gets the fewest passes, a power of two, that bring its objective within a hundredth of the one here. ms and vw-ms are
// medians of alternating runs. The data are beside the repository.
func BenchmarkPeerVowpalWabbit(b *testing.B) {
	const data = "../../shared/data/"
	if _, err := exec.LookPath("vw"); err != nil {
		fmt.Fprintf(os.Stderr, "SKIPPED: %s: no vw on the PATH: install Vowpal Wabbit\n", b.Name()) // go test shows a log with -v only
		b.SkipNow()
	}
	dir := b.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := unzip(data+"a9a.svm.gz", file("a9a.svm")); err != nil {
		b.Skip(err)
	}
	writeVowpal(b, file("a9a.svm"), file("a9a.vw"))
	if out, err := exec.Command("go", "build", "-o", file("halfspace"), "halfspace/cmd/halfspace").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	logistic := func(m float64) float64 { return max(0, -m) + math.Log1p(math.Exp(-math.Abs(m))) }
	learn := func() (wall, cpu float64) {
		return process(b, file("halfspace"), "train", file("a9a.svm"), "--algo", "logistic", "--l2", "1", "--no-bias", "--out", file("ours.json"))
	}
	learn()
	best, _ := linearFit(b, file("a9a.svm"), halfspaceWeights(b, file("ours.json")), logistic)
	passes := 1
	fit := func() (wall, cpu float64) {
		return process(b, "vw", "--quiet", "-d", file("a9a.vw"), "--loss_function", "logistic", "--noconstant", "--holdout_off",
			"--l2", fmt.Sprint(1.0/vowpalRows), "--passes", strconv.Itoa(passes), "--cache_file", file("a9a.cache"), "-k",
			"--readable_model", file("theirs"))
	}
	var other float64
	for ; ; passes *= 2 {
		fit()
		if other, _ = linearFit(b, file("a9a.svm"), vowpalWeights(b, file("theirs")), logistic); other <= (1+vowpalWorse)*best || passes == vowpalPasses {
			break
		}
	}
	for b.Loop() {
		compareProcesses(b, newContest(b, "Vowpal Wabbit", "objective", best, other, vowpalWorse), "vw", learn, fit)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(passes), "vw-passes")
	b.ReportMetric(other/best-1, "vw-above")
}

// writeVowpal writes svmlight's rows in Vowpal Wabbit's format. A feature's name is its number, which is also its place
// among the weights.
func writeVowpal(b testing.TB, from, to string) {
	text, err := os.ReadFile(from)
	if err != nil {
		b.Fatal(err)
	}
	var rows strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		label, features, _ := strings.Cut(line, " ")
		fmt.Fprintf(&rows, "%s | %s\n", strings.TrimPrefix(label, "+"), features)
	}
	if err := os.WriteFile(to, []byte(rows.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}

// vowpalWeights reads a readable model: a head that ends with a line ":0", or ":1" from version 9 on, then lines of a
// number and a weight. Weights must be multiplied by the head's l2_state, by which Vowpal Wabbit shrinks all at once.
func vowpalWeights(b testing.TB, path string) (w []float64) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	shrunk, head := 1.0, true
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if state, ok := strings.CutPrefix(line, "l2_state "); ok {
			if shrunk, err = strconv.ParseFloat(state, 64); err != nil {
				b.Fatal(err)
			}
		}
		head = head && line != ":0" && line != ":1"
		index, value, _ := strings.Cut(line, ":")
		i, err := strconv.Atoi(index)
		value, _, _ = strings.Cut(value, " ") // the state of the learner may follow
		v, err2 := strconv.ParseFloat(value, 64)
		if head || errorOf(err, err2) != nil || i < 1 {
			continue
		}
		for len(w) < i {
			w = append(w, 0)
		}
		w[i-1] = v * shrunk
	}
	if len(w) == 0 {
		b.Fatal("vw wrote no weights")
	}
	return w
}
