package bench

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

const (
	peerFeatures = 28
	peerNoise    = 0.0285 // 13 % of the visits update, from the first epoch on
	peerEpochs   = 10
	peerScript   = "peers/sklearn_perceptron.py"
)

// full makes the benchmarks of this package take the sizes and rounds that the documents show.
var full = flag.Bool("full", false, "take the rows and rounds of the documents: an hour for all benchmarks, not two minutes")

// size returns the number of rows or rounds for a run with -full, or that of a short run.
func size(long, short int) int {
	if *full {
		return long
	}
	return short
}

// peerRows returns the number of rows that halfspace and scikit-learn learn from.
func peerRows() int { return size(1_000_000, 100_000) }

// peerRounds returns the number of runs of either side, by turns, whose medians count. Each follows a run that doesn't
// count. Memory that was idle for seconds is slow at first in a virtual machine: a fit of 59 ms takes 80 ms after 3 s.
func peerRounds() int { return size(5, 1) }

// BenchmarkPeerSklearnPerceptron times ten epochs over rows in memory, a million with -full, from a Parquet file here and the same
// values in a NumPy array there. ms/epoch is of the learning alone. sklearn-ms/epoch is of fit with its check of the
// input. Both are medians, and x-faster is their ratio. x-faster-call compares fit with the whole call of Train, which
// also counts the errors and measures the rows.
func BenchmarkPeerSklearnPerceptron(b *testing.B) {
	python := pythonWithSklearn(b)
	dir := b.TempDir()
	data := peerData(b, dir, peerRows())
	peer, hello := startSklearn(b, python, peerScript, dir, peerRows())
	b.Logf("%s; halfspace: %s, float32", hello, kernel.Active())
	for _, opt := range []perceptron.Settings{
		{Options: perceptron.Options{Order: learner.Cyclic}},
		{Options: perceptron.Options{Order: learner.Shuffle}},
		{Options: perceptron.Options{Order: learner.Shuffle, Form: learner.Averaged}},
	} {
		b.Run(fmt.Sprintf("n=%d/d=%d/order=%s/average=%t", peerRows(), peerFeatures, opt.Order, opt.Form == learner.Averaged), func(b *testing.B) {
			for b.Loop() {
				comparePerceptrons(b, data, peer, opt)
			}
			b.ReportMetric(0, "ns/op") // the time of both together means nothing
		})
	}
}

func comparePerceptrons(b *testing.B, data *block.Data, peer *peer, opt perceptron.Settings) {
	opt.Epochs, opt.Seed = peerEpochs, 1
	learn := func() *learner.Result {
		result, err := perceptron.Train(context.Background(), data, opt)
		if err != nil {
			b.Fatal(err)
		}
		if result.Visits != int64(peerEpochs*peerRows()) {
			b.Fatalf("%d visits: not %d epochs", result.Visits, peerEpochs)
		}
		return result
	}
	fit := func() (a sklearnAnswer) {
		peer.ask(b, map[string]any{"shuffle": opt.Order == learner.Shuffle, "average": opt.Form == learner.Averaged, "epochs": peerEpochs}, &a)
		return a
	}
	result, answer := learn(), fit()
	allowance := 0.5 // the last weights of a perceptron on noisy rows are as good as the last rows
	if opt.Form == learner.Averaged {
		allowance = 0.02
	}
	c := newContest(b, "scikit-learn", "errors", float64(result.Errors)/float64(peerRows()), 1-answer.Accuracy, allowance)
	var calls []float64 // milliseconds for each epoch
	c.turns(peerRounds(), func() float64 {
		learn() // as peerRounds says
		start := time.Now()
		r := learn()
		calls = append(calls, 1000*time.Since(start).Seconds()/peerEpochs)
		return 1000 * r.Seconds / peerEpochs
	}, func() float64 {
		fit()
		return 1000 * fit().Seconds / peerEpochs
	})
	c.report(b, "ms/epoch", "sklearn-ms/epoch")
	b.ReportMetric(median(c.theirs)/median(calls), "x-faster-call")
	b.ReportMetric(float64(result.Updates)/float64(result.Visits), "updates/visit")
	b.ReportMetric(1-float64(result.Errors)/float64(peerRows()), "accuracy")
	b.ReportMetric(answer.Accuracy, "sklearn-accuracy")
}

// BenchmarkPeerSklearnProcess times whole processes. halfspace train reads the Parquet file, learns for ten epochs,
// evaluates and writes its model. Python imports scikit-learn, reads the same values from a raw file, learns for ten
// epochs and prints the weights.
func BenchmarkPeerSklearnProcess(b *testing.B) {
	python := pythonWithSklearn(b)
	dir := b.TempDir()
	peerData(b, dir, peerRows())
	binary, epochs := buildCommand(b, dir), strconv.Itoa(peerEpochs)
	for _, order := range []string{"cyclic", "shuffle"} {
		b.Run("order="+order, func(b *testing.B) {
			for b.Loop() {
				c := equalContest(b, "scikit-learn", "as of the epochs in memory")
				c.turns(peerRounds(), func() float64 {
					return wall(b, binary, "train", filepath.Join(dir, "x.parquet"), "--label", "label", "--algo", "perceptron",
						"--order", order, "--epochs", epochs, "--out", filepath.Join(dir, "m.json"), "--json")
				}, func() float64 { return wall(b, python, peerScript, dir, strconv.Itoa(peerFeatures), epochs, order) })
				c.report(b, "s/run", "sklearn-s/run")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// wall returns the seconds that a process takes. Its output must be JSON.
func wall(b *testing.B, name string, args ...string) float64 {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	out, err := cmd.Output()
	seconds := time.Since(start).Seconds()
	if err != nil || !json.Valid(out) {
		b.Fatalf("%s: %v\n%s", name, err, out)
	}
	return seconds
}

// pythonWithSklearn returns a Python interpreter that has scikit-learn, or skips the benchmark.
func pythonWithSklearn(b *testing.B) string {
	b.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import sklearn").Run() == nil {
			return python
		}
	}
	skip(b, "no python3 here has scikit-learn: install the package python3-sklearn")
	return ""
}

// peerData makes the Parquet file x.parquet in dir, and the same values raw, x.f32 and y.f32. It returns the rows as
// read from the Parquet file.
func peerData(b *testing.B, dir string, rows int) *block.Data {
	b.Helper()
	path := filepath.Join(dir, "x.parquet")
	ctx := context.Background()
	opt := Synthetic{Rows: int64(rows), Features: peerFeatures, Noise: peerNoise, Seed: 1, Compression: "snappy"}
	if err := WriteSynthetic(ctx, path, opt, nil); err != nil {
		b.Fatal(err)
	}
	data, err := dataset.Load(ctx, path, dataset.Options{Label: "label"})
	if err != nil {
		b.Fatal(err)
	}
	if err := writeRaw(data, filepath.Join(dir, "x.f32"), filepath.Join(dir, "y.f32")); err != nil {
		b.Fatal(err)
	}
	return data
}

// writeRaw writes the features, without bias and padding, and the labels in little-endian float32.
func writeRaw(data *block.Data, features, labels string) error {
	x, err := os.Create(features)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := os.Create(labels)
	if err != nil {
		return err
	}
	defer y.Close()
	d := len(data.Spec().Features)
	for blk, err := range data.Blocks(context.Background()) {
		if err != nil {
			return err
		}
		var rows []byte
		for r := range blk.Len() {
			if rows, err = binary.Append(rows, binary.LittleEndian, blk.X[r*blk.Stride:r*blk.Stride+d]); err != nil {
				return err
			}
		}
		if _, err := x.Write(rows); err != nil {
			return err
		}
		if err := binary.Write(y, binary.LittleEndian, blk.Y); err != nil {
			return err
		}
	}
	return nil
}

type sklearnAnswer struct{ Seconds, Accuracy float64 }

// startSklearn starts a script of peers with the rows in memory. hello has versions and the element type.
func startSklearn(b *testing.B, python, script, dir string, rows int) (p *peer, hello string) {
	b.Helper()
	p = startPeer(b, python, script, dir, strconv.Itoa(peerFeatures))
	hello = p.line(b)
	var got struct{ Rows int }
	if err := json.Unmarshal([]byte(hello), &got); err != nil || got.Rows != rows {
		b.Fatalf("scikit-learn got %d rows, not %d, error %v", got.Rows, rows, err)
	}
	return p, hello
}
