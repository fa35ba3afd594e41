package bench

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"halfspace/kernel"
)

// BenchmarkPeerLiblinear times whole processes on a9a in svmlight, beside LIBLINEAR's train on the same file. C and l2
// are 1. There is no bias, which LIBLINEAR would penalise. The objectives are compared before. ms and liblinear-ms are
// medians of alternating runs. cpu-ms is processor time. liblinear-above is the relative difference between its
// objective, with default tolerances, and the one here. The data are beside the repository.
func BenchmarkPeerLiblinear(b *testing.B) {
	const data = "../../shared/data/"
	if _, err := exec.LookPath("liblinear-train"); err != nil {
		fmt.Fprintf(os.Stderr, "SKIPPED: %s: install the package liblinear-tools\n", b.Name()) // go test shows a log with -v only
		b.SkipNow()
	}
	dir := b.TempDir()
	rows, test := filepath.Join(dir, "a9a.svm"), filepath.Join(dir, "a9a.test.svm")
	for from, to := range map[string]string{data + "a9a.svm.gz": rows, data + "a9a.test.svm.gz": test} {
		if err := unzip(from, to); err != nil {
			b.Skip(err)
		}
	}
	binary := filepath.Join(dir, "halfspace")
	if out, err := exec.Command("go", "build", "-o", binary, "halfspace/cmd/halfspace").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		solver, algo string
		loss         func(margin float64) float64
	}{
		{"2", "svm", func(m float64) float64 { return max(0, 1-m) * max(0, 1-m) }},
		{"7", "logistic", func(m float64) float64 { return max(0, -m) + math.Log1p(math.Exp(-math.Abs(m))) }},
	} {
		b.Run(fmt.Sprintf("s=%s/algo=%s", c.solver, c.algo), func(b *testing.B) {
			ours, theirs := filepath.Join(dir, "ours.json"), filepath.Join(dir, "theirs")
			learn := func() (wall, cpu float64) {
				return process(b, binary, "train", rows, "--algo", c.algo, "--l2", "1", "--no-bias", "--out", ours)
			}
			fit := func() (wall, cpu float64) {
				return process(b, "liblinear-train", "-q", "-s", c.solver, "-c", "1", "-B", "-1", rows, theirs)
			}
			learn()
			fit()
			w, v := halfspaceWeights(b, ours), liblinearWeights(b, theirs)
			best, _ := linearFit(b, rows, w, c.loss)
			other, _ := linearFit(b, rows, v, c.loss)
			for b.Loop() {
				b.Logf("halfspace: %s, float32", kernel.Active())
				compareProcesses(b, newContest(b, "LIBLINEAR", "objective", best, other, 1e-6), "liblinear", learn, fit)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(other/best-1, "liblinear-above")
			_, accuracy := linearFit(b, test, w, c.loss)
			b.ReportMetric(accuracy, "accuracy")
			_, accuracy = linearFit(b, test, v, c.loss)
			b.ReportMetric(accuracy, "liblinear-accuracy")
		})
	}
}

// compareProcesses compares the times of processes, and reports their processor times.
func compareProcesses(b *testing.B, c *contest, peer string, own, theirs func() (wall, cpu float64)) {
	b.Helper()
	var ownCPU, otherCPU []float64
	keep := func(to *[]float64, run func() (wall, cpu float64)) func() float64 {
		return func() float64 {
			wall, cpu := run()
			*to = append(*to, cpu)
			return wall
		}
	}
	c.turns(size(20, 3), keep(&ownCPU, own), keep(&otherCPU, theirs))
	c.report(b, "ms", peer+"-ms")
	b.ReportMetric(median(ownCPU), "cpu-ms")
	b.ReportMetric(median(otherCPU), peer+"-cpu-ms")
}

// process returns the milliseconds that a process takes, and its processor time.
func process(b *testing.B, name string, args ...string) (wall, cpu float64) {
	b.Helper()
	cmd := exec.Command(name, args...)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", name, err, out)
	}
	return 1000 * time.Since(start).Seconds(), 1000 * (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

func unzip(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, z)
	return errorOf(err, out.Close())
}

func errorOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// halfspaceWeights returns the weights of a model of features f1, f2 and so on.
func halfspaceWeights(b *testing.B, path string) []float64 {
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	var m struct{ Weights [][]float64 }
	if err := json.Unmarshal(text, &m); err != nil {
		b.Fatal(err)
	}
	return m.Weights[0]
}

// liblinearWeights returns the weights of LIBLINEAR's model file. Its positive class is the label 1.
func liblinearWeights(b testing.TB, path string) (w []float64) {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	head, numbers, _ := strings.Cut(string(text), "\nw\n")
	sign := 1.0
	if strings.Contains(head, "label -1 1") {
		sign = -1
	}
	for _, s := range strings.Fields(numbers) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			b.Fatal(err)
		}
		w = append(w, sign*v)
	}
	return w
}

// linearFit returns 1/2 |w|^2 and the sum of losses of svmlight's rows, and the share of rows whose sign is right.
func linearFit(b *testing.B, path string, w []float64, loss func(margin float64) float64) (objective, accuracy float64) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for _, v := range w {
		objective += v * v / 2
	}
	rows, right := 0.0, 0.0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		pairs := strings.Fields(lines.Text())
		score := 0.0
		for _, p := range pairs[1:] {
			index, value, _ := strings.Cut(p, ":")
			i, err := strconv.Atoi(index)
			v, err2 := strconv.ParseFloat(value, 64)
			if err := errorOf(err, err2); err != nil {
				b.Fatal(err)
			}
			if i <= len(w) {
				score += w[i-1] * v
			}
		}
		margin := score
		if strings.HasPrefix(pairs[0], "-") {
			margin = -score
		}
		objective += loss(margin)
		rows++
		if (score > 0) == (pairs[0][0] != '-') {
			right++
		}
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return objective, right / rows
}
