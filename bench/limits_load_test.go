package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
)

// BenchmarkPeerLoopsLoad times the load of an uncompressed Parquet file, plain and standardised, beside a plain loop in C
// that reads the same columns from a raw file. The loop has one core.
func BenchmarkPeerLoopsLoad(b *testing.B) {
	dir, rows := b.TempDir(), peerRows()
	binary, file, raw := filepath.Join(dir, "load"), filepath.Join(dir, "x.parquet"), filepath.Join(dir, "x.f32")
	compileLoops(b, "peers/loops/load.c", binary)
	require.NoError(b, WriteSynthetic(context.Background(), file, Synthetic{Rows: int64(rows), Features: peerFeatures, Noise: peerNoise, Seed: 1, Compression: "none"}, nil))
	require.NoError(b, writeColumns(require.Value(dataset.Load(context.Background(), file, dataset.Options{Label: "label"}))(b), raw))
	c := startPeer(b, binary, raw, strconv.Itoa(rows), strconv.Itoa(peerFeatures))
	for _, kind := range []string{"plain", "standardise"} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d/n=%d/d=%d", kind, workers, rows, peerFeatures), func(b *testing.B) {
				var own, theirs float64
				mine := func() float64 {
					start := time.Now()
					data := require.Value(dataset.Load(context.Background(), file, dataset.Options{Label: "label", Standardize: kind == "standardise", Workers: workers}))(b)
					seconds := time.Since(start).Seconds()
					own = lastRow(data)
					return seconds
				}
				loop := func() float64 {
					var answer struct{ Seconds, Sum float64 }
					fmt.Fprintln(c.in, kind)
					require.NoError(b, json.Unmarshal([]byte(c.line(b)), &answer))
					theirs = answer.Sum
					return answer.Seconds
				}
				for b.Loop() {
					mine()
					loop()
					if math.Abs(own-theirs) > 1e-3 {
						b.Fatalf("the last row's sum is %v here and %v there", own, theirs)
					}
					contest := equalContest(b, "C", "the last row's sum equal")
					contest.turns(peerRounds(), mine, loop)
					contest.report(b, "s", "C-s")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// lastRow returns the sum of the last row.
func lastRow(data *block.Data) (sum float64) {
	for blk := range data.Blocks(context.Background()) {
		if sum = 0; blk.Len() > 0 {
			for _, v := range blk.X[(blk.Len()-1)*blk.Stride:] {
				sum += float64(v)
			}
		}
	}
	return sum
}

// writeColumns writes the features of data, without bias and padding, column by column.
func writeColumns(data *block.Data, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	for c := range data.Spec().Features {
		for blk := range data.Blocks(context.Background()) {
			column := make([]float32, blk.Len())
			for r := range column {
				column[r] = blk.X[r*blk.Stride+c]
			}
			if _, err := w.Write(block.LittleEndian(column)); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
