package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/metrics"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// BenchmarkPeerLoopsAUC times the area under the ROC curve of scores in memory beside a plain loop in C. The loop has one core.
func BenchmarkPeerLoopsAUC(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "auc")
	compileLoops(b, "peers/loops/auc.c", binary)
	for _, rows := range []int{peerRows(), 10 * peerRows()} {
		b.Run(fmt.Sprintf("n=%d", rows), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			scores, labels := make([]float32, rows), make([]float32, rows)
			for i := range scores {
				labels[i] = float32(1 - 2*random.IntN(2))
				scores[i] = labels[i] + 2*float32(random.NormFloat64())
			}
			files := []string{filepath.Join(dir, "scores"), filepath.Join(dir, "labels")}
			require.NoError(b, os.WriteFile(files[0], block.LittleEndian(scores), 0o644))
			require.NoError(b, os.WriteFile(files[1], block.LittleEndian(labels), 0o644))
			c := startPeer(b, binary, files[0], files[1], strconv.Itoa(rows))
			own, theirs := 0.0, struct{ Seconds, Area float64 }{}
			mine := func() float64 {
				start := time.Now()
				var s metrics.Scores
				for at := 0; at < rows; at += 1 << 13 { // rows of a block
					to := min(at+1<<13, rows)
					s.Add(scores[at:to], labels[at:to], nil)
				}
				own = s.AUC()
				return time.Since(start).Seconds()
			}
			loop := func() float64 {
				fmt.Fprintln(c.in)
				require.NoError(b, json.Unmarshal([]byte(c.line(b)), &theirs))
				return theirs.Seconds
			}
			for b.Loop() {
				mine()
				loop()
				contest := newContest(b, "C", "area outside", 1-own, 1-theirs.Area, 1e-12)
				contest.turns(peerRounds(), mine, loop)
				contest.report(b, "s", "C-s")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkPeerLoopsPredict times predict from an uncompressed Parquet file, to text and to Parquet, beside a plain loop in C
// that reads the same columns from a raw file, and writes text or bytes. Both are whole processes. The loop has one core.
func BenchmarkPeerLoopsPredict(b *testing.B) {
	dir, rows := b.TempDir(), peerRows()
	in := func(name string) string { return filepath.Join(dir, name) }
	compileLoops(b, "peers/loops/predict.c", in("predict"))
	command := buildCommand(b, dir)
	require.NoError(b, WriteSynthetic(context.Background(), in("x.parquet"), Synthetic{Rows: int64(rows), Features: peerFeatures, Noise: peerNoise, Seed: 1, Compression: "none"}, nil))
	data := require.Value(dataset.Load(context.Background(), in("x.parquet"), dataset.Options{Label: "label"}))(b)
	require.NoError(b, writeColumns(data, in("x.f32")))
	l := perceptron.New(perceptron.Options{Epochs: 1})
	trained := require.Value(l.Learner.Train(context.Background(), &learner.Task{Rows: data, Settings: l.Settings}))(b)
	require.NoError(b, model.New(data.Spec(), trained.Weights).Save(in("m.json")))
	require.NoError(b, os.WriteFile(in("w.f32"), block.LittleEndian(trained.Weights[:peerFeatures+1]), 0o644))
	run := func(program string, args ...string) float64 {
		start := time.Now()
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", program, err, out)
		}
		return time.Since(start).Seconds()
	}
	for _, ext := range []string{".csv", ".parquet"} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("to%s/workers=%d/n=%d/d=%d", ext, workers, rows, peerFeatures), func(b *testing.B) {
				mine := func() float64 {
					return run(command, "predict", "--quiet", "--workers", strconv.Itoa(workers), "--model", in("m.json"), "--out", in("own"+ext), in("x.parquet"))
				}
				loop := func() float64 {
					return run(in("predict"), in("x.f32"), strconv.Itoa(rows), strconv.Itoa(peerFeatures), in("w.f32"), in("theirs"+ext))
				}
				for b.Loop() {
					mine()
					loop()
					contest := equalContest(b, "C", "predictions compared for text")
					if ext == ".csv" {
						contest.quality = samePredictions(b, in("own"+ext), in("theirs"+ext))
					}
					contest.turns(peerRounds(), mine, loop)
					contest.report(b, "s", "C-s")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// samePredictions returns how many lines of two files differ. A few may: the order of sums is not the same.
func samePredictions(b *testing.B, own, theirs string) string {
	of := func(path string) [][]byte { return bytes.Split(require.Value(os.ReadFile(path))(b), []byte("\n")) }
	ours, others, differ := of(own), of(theirs), 0
	if len(ours) != len(others) {
		b.Fatalf("%d lines here, %d there", len(ours), len(others))
	}
	for i, line := range ours {
		if !bytes.Equal(line, others[i]) {
			differ++
		}
	}
	if differ > len(ours)/10_000 {
		b.Fatalf("%d of %d predictions differ", differ, len(ours))
	}
	return fmt.Sprintf("%d predictions differ", differ)
}
