package bench

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/train/perceptron"
)

const streamEpochs = 3

// BenchmarkStream times epochs over rows that aren't in memory. from=parquet decodes the file in each epoch; x-limit is
// the time of an epoch as a multiple of decoding alone. from=cache reads blocks that were decoded before; x-limit
// compares with reading that file with pread into one small buffer. Files are in the page cache. Times are medians of
// alternating runs. There are 2,000,000 rows with -full, and 200,000 without.
func BenchmarkStream(b *testing.B) {
	ctx, path := context.Background(), filepath.Join(b.TempDir(), "x.parquet")
	opt := Synthetic{Rows: int64(2 * peerRows()), Features: peerFeatures, Noise: peerNoise, Seed: 1, Compression: "snappy"}
	require.NoError(b, WriteSynthetic(ctx, path, opt, nil))
	table := require.Value(dataset.Examine(ctx, []string{path}, dataset.Options{}))(b)
	plan := require.Value(table.Plan(ctx, dataset.Options{Label: "label"}))(b)
	stream := require.Value(plan.Stream(ctx))(b)
	decode := func() error {
		for _, err := range stream.Blocks(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	b.Run("from=parquet", func(b *testing.B) { compareStreams(b, stream, decode) })

	blocks := filepath.Join(b.TempDir(), "x.cache")
	f, err := cache.Write(ctx, blocks, cache.Key{Options: []byte("{}")}, stream, nil)
	require.NoError(b, err)
	defer f.Close()
	b.Run("from=cache", func(b *testing.B) { compareStreams(b, f, func() error { return readFile(blocks) }) })
}

func compareStreams(b *testing.B, src block.Source, limit func() error) {
	for b.Loop() {
		var epochs, limits []float64
		for range peerRounds() {
			start := time.Now()
			require.NoError(b, limit())
			limits = append(limits, 1000*time.Since(start).Seconds())
			r, err := perceptron.Train(context.Background(), src, perceptron.Settings{Options: perceptron.Options{Epochs: streamEpochs}})
			require.NoError(b, err)
			epochs = append(epochs, 1000*r.Seconds/streamEpochs)
		}
		b.ReportMetric(median(epochs), "ms/epoch")
		b.ReportMetric(median(limits), "limit-ms")
		b.ReportMetric(median(epochs)/median(limits), "x-limit")
	}
	b.ReportMetric(0, "ns/op") // the time of all together means nothing
}

// readFile reads a file from its beginning to its end.
func readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := f.ReadAt(buf, at)
		if at += int64(n); err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
