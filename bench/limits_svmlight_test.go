package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

const svmlightEpochs = 3

type svmlightAnswer struct {
	Load, Train          float64
	Rows, Pairs, Updates int64
	Sum                  float64
}

// clicks yields rows of 20 or fewer columns, each as likely as the others, with the value 1.
func clicks(rows, columns int) iter.Seq[svmRow] {
	return func(yield func(svmRow) bool) {
		rng := rand.New(rand.NewPCG(1, 0))
		for range rows {
			row, score := svmRow{label: 1}, rng.NormFloat64()
			for range 20 {
				row.columns = append(row.columns, 1+rng.IntN(columns))
			}
			slices.Sort(row.columns)
			row.columns = slices.Compact(row.columns)
			for _, c := range row.columns {
				row.values = append(row.values, 1)
				score += math.Sin(float64(c))
			}
			if score < 0 {
				row.label = -1
			}
			if !yield(row) {
				return
			}
		}
	}
}

// BenchmarkPeerLoopsSvmlight times loading svmlight and three epochs of a perceptron beside a plain parser and loop in C
// on one core. Both read a file that the system has in memory. The files are generated, and rows of others.
func BenchmarkPeerLoopsSvmlight(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "svmlight")
	compileLoops(b, "peers/loops/svmlight.c", binary)
	scale := peerRows() / 5
	sets := append(sparseSets()[:3],
		sparseSet{"generated, power law", func(path string) error { return writeSvm(path, powerLaw(scale, 100_000, 70, 1)) }},
		sparseSet{"clicks", func(path string) error { return writeSvm(path, clicks(scale*3/2, 1_000_000)) }})
	for _, set := range sets {
		path := filepath.Join(dir, "rows.svm")
		b.Run(set.name, func(b *testing.B) {
			if err := set.write(path); err != nil {
				skip(b, err.Error())
			}
			c := startPeer(b, binary, path, fmt.Sprint(svmlightEpochs))
			for _, workers := range []int{1, 0} {
				b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { benchmarkSvmlight(b, c, path, workers) })
			}
		})
	}
}

// sumPairs returns the number of values other than 0, without the bias, and the sum of each times its index, from 1 on.
func sumPairs(data *block.Data) (n int64, sum float64) {
	width := data.Spec().Width()
	for b := range data.Blocks(context.Background()) {
		for r := range b.Len() {
			var columns []uint32
			var values []float32
			if b.Sparse != nil { // a dense row of a million zeros takes long
				columns, values = b.Sparse.Row(r)
			} else {
				values = b.X[r*b.Stride:][:width]
			}
			for k, v := range values {
				if columns != nil {
					k = int(columns[k])
				}
				if v != 0 && k < width {
					n, sum = n+1, sum+float64(k+1)*float64(v)
				}
			}
		}
	}
	return n, sum
}

func benchmarkSvmlight(b *testing.B, c *peer, path string, workers int) {
	var own, theirs svmlightAnswer
	var data *block.Data
	var loads, peerLoads []float64
	mine := func() float64 {
		data = nil
		debug.FreeOSMemory() // the loop in C gets fresh memory too
		start := time.Now()
		data = require.Value(dataset.Load(context.Background(), path, dataset.Options{Label: "label", Storage: dataset.Auto, Workers: workers}))(b)
		own.Load = time.Since(start).Seconds()
		configured := perceptron.New(perceptron.Options{Epochs: svmlightEpochs}).WithWorkers(workers, nil)
		own.Updates = require.Value(configured.Learner.Train(context.Background(), &learner.Task{Rows: data, Settings: configured.Settings}))(b).Result.Updates
		loads = append(loads, own.Load)
		return time.Since(start).Seconds()
	}
	loop := func() float64 {
		fmt.Fprintln(c.in)
		require.NoError(b, json.Unmarshal([]byte(c.line(b)), &theirs))
		peerLoads = append(peerLoads, theirs.Load)
		return theirs.Load + theirs.Train
	}
	for b.Loop() {
		mine()
		loop()
		own.Rows = data.Rows()
		own.Pairs, own.Sum = sumPairs(data)
		if own.Rows != theirs.Rows || own.Pairs != theirs.Pairs || math.Abs(own.Sum-theirs.Sum) > 1e-6*math.Abs(own.Sum) {
			b.Fatalf("rows and pairs here %+v, in C %+v", own, theirs)
		}
		contest := newContest(b, "C", "updates", float64(own.Updates), float64(theirs.Updates), 0.01)
		contest.turns(peerRounds(), mine, loop)
		contest.report(b, "s", "C-s")
		b.ReportMetric(median(loads), "load-s")
		b.ReportMetric(median(peerLoads), "C-load-s")
	}
	if s, err := os.Stat(path); err == nil {
		b.ReportMetric(float64(s.Size())/1e6, "MB")
	}
	b.ReportMetric(0, "ns/op")
}
