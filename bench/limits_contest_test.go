package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/train/ftrl"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/passiveaggressive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
)

type loopsAnswer struct {
	Seconds, Loss   float64
	Updates, Errors int64
}

// A loopsCase is rows, and the learners that learn from them.
type loopsCase struct {
	name     string
	features int
	rows     func(b *testing.B) *block.Data
	learners []loopsLearner
}

type loopsLearner struct {
	name    string
	learner learner.ConfiguredLearner
}

// loopsCases returns generated rows of several widths, which take the same memory, and rows of others.
func loopsCases() (all []loopsCase) {
	linear := []loopsLearner{
		{"perceptron", perceptron.New(perceptron.Options{Epochs: peerEpochs})},
		{"averaged", perceptron.New(perceptron.Options{Epochs: peerEpochs, Form: learner.Averaged})},
		{"passive-aggressive", passiveaggressive.New(passiveaggressive.Options{Epochs: peerEpochs})},
	}
	every := append(linear[:3:3],
		loopsLearner{"ftrl", ftrl.New(ftrl.Options{Epochs: peerEpochs})},
		loopsLearner{"adagrad", ftrl.AdaGrad(ftrl.AdaGradOptions{Epochs: peerEpochs})},
		loopsLearner{"adagrad-hinge", ftrl.AdaGrad(ftrl.AdaGradOptions{Epochs: peerEpochs, Loss: ftrl.Hinge})})
	for _, d := range []int{4, 13, peerFeatures, 64, 300, 784} {
		learners, n := linear, peerRows()*kernel.Stride(peerFeatures+1)/kernel.Stride(d+1)
		if d == peerFeatures {
			learners = every
		}
		all = append(all, loopsCase{fmt.Sprintf("generated/n=%d/d=%d", n, d), d, func(b *testing.B) *block.Data {
			path := filepath.Join(b.TempDir(), "x.parquet")
			require.NoError(b, WriteSynthetic(context.Background(), path, Synthetic{Rows: int64(n), Features: d, Noise: peerNoise, Seed: 1, Compression: "snappy"}, nil))
			return require.Value(dataset.Load(context.Background(), path, dataset.Options{Label: "label"}))(b)
		}, learners})
	}
	return append(all,
		loopsCase{"digits, even or odd", 784, evenDigits, every},
		loopsCase{"KDD Cup 1999, standardised", 0, func(b *testing.B) *block.Data {
			data, err := loadClasses("../../shared/data/kddcup99-10percent.csv.gz", "normal.", dataset.Options{Label: "last", Standardize: true, Categorical: "onehot"})
			if err != nil {
				skip(b, err.Error())
			}
			return data
		}, every})
}

// A batchLearner solves for an optimum. pass is the number of the pass to time.
type batchLearner struct {
	name    string
	learner learner.ConfiguredLearner
	pass    int64
}

// batchLearners returns learners with a pass that sums the gradient and the Hessian.
func batchLearners() []batchLearner {
	return []batchLearner{
		{"logistic", logistic.New(logistic.Options{}), 2},
		{"svm", svm.New(svm.Options{Loss: svm.SquaredHinge}), 2},
		{"lda", lda.New(lda.Options{}), 1},
	}
}

// evenDigits returns handwritten digits, with the classes even and odd and a bias.
func evenDigits(b *testing.B) *block.Data {
	digits, err := mnist("../../shared/data/mnist", "train", 60000)
	if err != nil {
		skip(b, err.Error())
	}
	spec := *digits.Spec()
	spec.Bias, spec.Classes = true, spec.Classes[:2]
	var blocks []*block.Block
	for from, err := range digits.Blocks(context.Background()) {
		require.NoError(b, err)
		to := block.NewFor(&spec, from.First, from.Len())
		for r, y := range from.Y {
			row := to.X[r*to.Stride:]
			copy(row, from.X[r*from.Stride:][:spec.Width()])
			row[spec.Width()], to.Y[r] = 1, float32(1-2*(int(y)%2))
		}
		blocks = append(blocks, to)
	}
	return block.NewData(&spec, blocks)
}

// BenchmarkPeerLoops times online learners beside plain loops in C over the same rows in memory: ten epochs, then a pass
// that judges the weights. x-faster is the time of the C loop by the time here. Of learners that solve for an optimum, it
// times one pass over all rows.
func BenchmarkPeerLoops(b *testing.B) {
	for _, c := range loopsCases() {
		b.Run(c.name, func(b *testing.B) {
			data, dir := require.Value(block.Validate(context.Background(), c.rows(b), 0))(b).(*block.Data), b.TempDir()
			peer := startLoops(b, data, dir)
			for _, l := range c.learners {
				b.Run(l.name, func(b *testing.B) { contestLoop(b, data, peer, l) })
			}
			for _, l := range batchLearners() {
				if c.features == peerFeatures {
					b.Run(l.name, func(b *testing.B) { contestPass(b, data, peer, l) })
				}
			}
		})
	}
}

// startLoops builds the loops for the length of the rows of data, and starts them.
func startLoops(b *testing.B, data *block.Data, dir string) *peer {
	binary, cols := filepath.Join(dir, "loops"), data.Spec().Cols()
	compileLoops(b, "peers/loops/loops.c", binary, fmt.Sprintf("-DSTRIDE=%d", kernel.Stride(cols)))
	require.NoError(b, writeRaw(data, filepath.Join(dir, "x.f32"), filepath.Join(dir, "y.f32")))
	return startPeer(b, binary, dir, strconv.FormatInt(data.Rows(), 10), strconv.Itoa(cols-1))
}

// compileLoops compiles a C program, or skips the benchmark.
func compileLoops(b *testing.B, source, binary string, options ...string) {
	args := append([]string{"-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-o", binary, source, "-lm"}, options...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		b.Logf("cc: %v\n%s", err, out)
		skip(b, "no C compiler: install the package gcc")
	}
}

func contestLoop(b *testing.B, data *block.Data, c *peer, l loopsLearner) {
	own, theirs := &learner.Result{}, loopsAnswer{}
	mine := func() float64 {
		configured := l.learner.WithWorkers(1, nil)
		start := time.Now()
		own = require.Value(configured.Learner.Train(context.Background(), &learner.Task{Rows: data, Settings: configured.Settings}))(b).Result
		return time.Since(start).Seconds()
	}
	loop := func() float64 {
		fmt.Fprintln(c.in, l.name, peerEpochs)
		require.NoError(b, json.Unmarshal([]byte(c.line(b)), &theirs))
		return theirs.Seconds
	}
	for b.Loop() {
		mine()
		loop()
		contest := newContest(b, "C", "errors", float64(own.Errors), float64(theirs.Errors), 0.01)
		contest.turns(peerRounds(), mine, loop)
		contest.report(b, "s", "C-s")
		b.ReportMetric(float64(own.Updates)/float64(theirs.Updates), "updates/C-updates")
	}
	b.ReportMetric(0, "ns/op")
}

// contestPass times a pass over all rows, on one core and on two, beside the same sums in C at the trained weights.
func contestPass(b *testing.B, data *block.Data, c *peer, l batchLearner) {
	own, theirs := &learner.Result{}, loopsAnswer{}
	pass := func(workers int) (seconds float64) {
		last, begin := int64(0), time.Now()
		configured := l.learner.WithWorkers(workers, func(p learner.Progress) {
			if p.Epoch > last && p.Epoch == l.pass {
				seconds = time.Since(begin).Seconds()
			}
			last, begin = p.Epoch, time.Now()
		})
		own = require.Value(configured.Learner.Train(context.Background(), &learner.Task{Rows: data, Settings: configured.Settings}))(b).Result
		return seconds
	}
	mine := func() float64 { return pass(1) }
	loop := func() float64 {
		fmt.Fprintln(c.in, l.name, 1, strings.Trim(fmt.Sprint(own.Weights[:data.Spec().Cols()]), "[]"))
		require.NoError(b, json.Unmarshal([]byte(c.line(b)), &theirs))
		return theirs.Seconds
	}
	for b.Loop() {
		mine()
		loop()
		contest := newContest(b, "C", "loss", own.Loss, theirs.Loss, 0.01)
		contest.turns(peerRounds(), mine, loop)
		contest.report(b, "s", "C-s")
		var two []float64
		for range peerRounds() {
			two = append(two, pass(2))
		}
		b.ReportMetric(median(two), "two-cores-s")
	}
	b.ReportMetric(0, "ns/op")
}
