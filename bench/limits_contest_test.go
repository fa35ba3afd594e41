package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/train/ftrl"
	"halfspace/train/learner"
	"halfspace/train/passiveaggressive"
	"halfspace/train/perceptron"
)

type loopsAnswer struct {
	Seconds         float64
	Updates, Errors int64
}

// BenchmarkPeerLoops times online learners beside plain loops in C over the same rows in memory: ten epochs, then a pass
// that judges the weights. x-faster is the time of the C loop by the time here.
func BenchmarkPeerLoops(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "loops")
	out, err := exec.Command("cc", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", fmt.Sprintf("-DSTRIDE=%d", kernel.Stride(peerFeatures+1)),
		"-o", binary, "peers/loops/loops.c", "-lm").CombinedOutput()
	if err != nil {
		b.Logf("cc: %v\n%s", err, out)
		skip(b, "no C compiler: install the package gcc")
	}
	data := peerData(b, dir, peerRows())
	c := startPeer(b, binary, dir, strconv.Itoa(peerRows()), strconv.Itoa(peerFeatures))
	for _, l := range []struct {
		name    string
		learner learner.Configured
	}{
		{"perceptron", perceptron.New(perceptron.Options{Epochs: peerEpochs})},
		{"averaged", perceptron.New(perceptron.Options{Epochs: peerEpochs, Form: learner.Averaged})},
		{"passive-aggressive", passiveaggressive.New(passiveaggressive.Options{Epochs: peerEpochs})},
		{"ftrl", ftrl.New(ftrl.Options{Epochs: peerEpochs})},
		{"adagrad", ftrl.AdaGrad(ftrl.AdaGradOptions{Epochs: peerEpochs})},
		{"adagrad-hinge", ftrl.AdaGrad(ftrl.AdaGradOptions{Epochs: peerEpochs, Loss: ftrl.Hinge})},
	} {
		b.Run(fmt.Sprintf("%s/n=%d/d=%d", l.name, peerRows(), peerFeatures), func(b *testing.B) {
			own, theirs := &learner.Result{}, loopsAnswer{}
			mine := func() float64 {
				configured := l.learner.Running(1, nil)
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
				if own.Visits != int64(peerEpochs*peerRows()) {
					b.Fatalf("%d visits here", own.Visits)
				}
				contest := newContest(b, "C", "errors", float64(own.Errors), float64(theirs.Errors), 0.01)
				contest.turns(peerRounds(), mine, loop)
				contest.report(b, "s", "C-s")
				b.ReportMetric(float64(own.Updates)/float64(theirs.Updates), "updates/C-updates")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
