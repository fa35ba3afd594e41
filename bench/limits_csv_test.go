//go:build unix

package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
)

// csvKinds are texts of numbers: how the number of a cell is written.
var csvKinds = []struct {
	name string
	cell func(text []byte, rng *rand.Rand) []byte
}{
	{"double", func(text []byte, rng *rand.Rand) []byte {
		return strconv.AppendFloat(text, rng.NormFloat64(), 'g', -1, 64)
	}},
	{"float", func(text []byte, rng *rand.Rand) []byte {
		return strconv.AppendFloat(text, float64(float32(rng.NormFloat64())), 'g', -1, 32)
	}},
	{"places", func(text []byte, rng *rand.Rand) []byte {
		return strconv.AppendFloat(text, 100*rng.NormFloat64(), 'f', 2, 64)
	}},
	{"integer", func(text []byte, rng *rand.Rand) []byte { return strconv.AppendInt(text, rng.Int64N(1000), 10) }},
}

// BenchmarkPeerLoopsCSV loads files of CSV by one worker, beside the loop in C that parses the same numbers into rows of float32. Seconds are
// of the processor, because other programs disturb these less. x-faster is those of the loop by those here, and MB/s and C-MB/s follow
// from them. MB/s-all is of all cores by the clock. double, float, places and integer are
// generated columns of 17 digits, of the shortest float32, of two decimals and of integers below 1,000, 28 and a label. The others are
// the rows of others' files, repeated.
func BenchmarkPeerLoopsCSV(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "csv")
	compileLoops(b, "peers/loops/csv.c", binary)
	for _, k := range csvKinds {
		b.Run(k.name, func(b *testing.B) {
			compareCSV(b, binary, csvText(k.cell), "label")
		})
	}
	const shared = "../../shared/data/"
	for _, data := range []struct{ name, label string }{{"htru2", "class"}, {"credit-default", "Y"}} {
		b.Run(data.name, func(b *testing.B) {
			path := shared + data.name + ".csv.gz"
			f, err := os.Open(path)
			if err != nil {
				skip(b, path+" isn't here")
			}
			z := require.Value(gzip.NewReader(f))(b)
			text := require.Value(io.ReadAll(z))(b)
			f.Close()
			text = append(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), '\n')
			rows := text[bytes.IndexByte(text, '\n')+1:]
			for len(text) < csvBytes() {
				text = append(text, rows...)
			}
			compareCSV(b, binary, text, data.label)
		})
	}
}

// csvText returns rows of 28 features x0, x1 and so on, and a label of 0 or 1.
func csvText(cell func(text []byte, rng *rand.Rand) []byte) (text []byte) {
	rng := rand.New(rand.NewPCG(1, 2))
	for c := range peerFeatures {
		text = fmt.Appendf(text, "x%d,", c)
	}
	text = append(text, "label\n"...)
	for len(text) < csvBytes() {
		for range peerFeatures {
			text = append(cell(text, rng), ',')
		}
		text = append(strconv.AppendInt(text, rng.Int64N(2), 10), '\n')
	}
	return text
}

func csvBytes() int { return size(128<<20, 8<<20) }

// A csvAnswer is what the loop in C says of a file.
type csvAnswer struct {
	Seconds, Sum float64
	Rows, Wrong  int64
}

func compareCSV(b *testing.B, binary string, text []byte, label string) {
	path := filepath.Join(b.TempDir(), "x.csv")
	require.NoError(b, os.WriteFile(path, text, 0o600))
	header, _, _ := bytes.Cut(text, []byte{'\n'})
	c := startPeer(b, binary, path, strconv.Itoa(1+bytes.Count(header, []byte{','})))
	ask := func(request string) (a csvAnswer) {
		fmt.Fprintln(c.in, request)
		require.NoError(b, json.Unmarshal([]byte(c.line(b)), &a))
		return a
	}
	load := func(workers int) (data *block.Data, clock, cpu float64) {
		debug.FreeOSMemory() // the loop in C returns its memory too
		start, before := time.Now(), processorTime()
		data, err := dataset.Load(context.Background(), path, dataset.Options{Label: label, Workers: workers})
		require.NoError(b, err)
		return data, time.Since(start).Seconds(), (processorTime() - before).Seconds()
	}
	for b.Loop() {
		data, _, _ := load(1)
		answer := ask("check")
		if sum := sumOfAll(b, data); data.Rows() != answer.Rows || answer.Wrong > 0 || math.Abs(sum-answer.Sum) > 1e-6*math.Max(math.Abs(sum), float64(answer.Rows)) {
			b.Fatalf("%d rows with the sum %v; the loop has %d with %v, and %d wrong numbers", data.Rows(), sum, answer.Rows, answer.Sum, answer.Wrong)
		}
		contest, all := equalContest(b, "C", "numbers within an ulp"), []float64(nil)
		for range peerRounds() {
			contest.turns(1, func() float64 { _, _, cpu := load(1); return cpu }, func() float64 { return ask("parse").Seconds })
			_, clock, _ := load(0)
			all = append(all, clock)
		}
		contest.report(b, "cpu-s", "C-cpu-s")
		megabytes := float64(len(text)) / 1e6
		b.ReportMetric(megabytes/median(contest.own), "MB/s")
		b.ReportMetric(megabytes/median(contest.theirs), "C-MB/s")
		b.ReportMetric(megabytes/median(all), "MB/s-all")
	}
	b.ReportMetric(0, "ns/op")
}

// sumOfAll returns the sum of all features and of the labels 0 and 1, which are -1 and 1 in a block.
func sumOfAll(b *testing.B, data *block.Data) (sum float64) {
	features := len(data.Spec().Features)
	for blk, err := range data.Blocks(context.Background()) {
		require.NoError(b, err)
		for r := range blk.Len() {
			for _, x := range blk.X[r*blk.Stride : r*blk.Stride+features] {
				sum += float64(x)
			}
			sum += float64(blk.Y[r]+1) / 2
		}
	}
	return sum
}
