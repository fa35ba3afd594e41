//go:build unix

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/dataset"
	"halfspace/internal/require"
)

const (
	duckScript = "peers/duckdb.mjs"
	duckFolder = "../tmp/peers" // where make bench-peers installs it
	duckRows   = 1_000_000
)

// BenchmarkPeerDuckDB loads a million rows of 28 features and a label from Parquet files into blocks, in a new process
// each time. A DuckDB that keeps running sums all features of the same file. Arrow's record reader reads columns. Files
// are in the page cache. ms and duckdb-ms are medians of alternating runs, and ratio is that of the medians. x-arrow is
// how many times as long Arrow takes. cpu-ms and duckdb-cpu-ms are medians of processor time, which other programs
// disturb less.
func BenchmarkPeerDuckDB(b *testing.B) {
	peer := startDuckDB(b)
	for _, c := range []struct {
		data  string
		codec compress.Compression
	}{
		{"random", compress.Codecs.Uncompressed}, {"random", compress.Codecs.Snappy}, {"random", compress.Codecs.Zstd},
		{"repeated", compress.Codecs.Uncompressed}, {"repeated", compress.Codecs.Snappy}, {"repeated", compress.Codecs.Zstd},
		{"dictionary", compress.Codecs.Uncompressed}, {"dictionary", compress.Codecs.Snappy},
	} {
		b.Run(fmt.Sprintf("data=%s/codec=%s", c.data, c.codec), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.parquet")
			writeDuckFile(b, path, c.data, c.codec)
			for b.Loop() {
				var arrows []float64
				c := compareLoads(b, peer, path, func() { arrows = append(arrows, 1000*readWithArrow(b, path).Seconds()) })
				b.ReportMetric(median(arrows[1:])/median(c.own), "x-arrow")
			}
			b.ReportMetric(0, "ns/op") // the time of all together means nothing
		})
	}
}

// BenchmarkPeerDuckDBCSV is BenchmarkPeerDuckDB for the files of BenchmarkPeerLoopsCSV, without Arrow.
func BenchmarkPeerDuckDBCSV(b *testing.B) {
	peer := startDuckDB(b)
	for _, k := range csvKinds {
		b.Run("data="+k.name, func(b *testing.B) {
			path, text := filepath.Join(b.TempDir(), "x.csv"), csvText(k.cell)
			require.NoError(b, os.WriteFile(path, text, 0o600))
			for b.Loop() {
				c := compareLoads(b, peer, path, func() {})
				b.ReportMetric(float64(len(text))/1e3/median(c.own), "MB/s")
				b.ReportMetric(float64(len(text))/1e3/median(c.theirs), "duckdb-MB/s")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// compareLoads compares a load with a sum of DuckDB. It calls another reader after each turn.
func compareLoads(b *testing.B, peer *peer, path string, other func()) *contest {
	other() // a warm-up, as are the first load and the first sum
	load, answer := loadInNewProcess(b, path), peer.sum(b, path)
	if answer.Rows != load.Rows || math.Abs(answer.Sum-load.Sum) > 1e-6*math.Max(1, math.Abs(load.Sum))+1 {
		b.Fatalf("%d rows with the sum %v, and %d with %v in DuckDB", load.Rows, load.Sum, answer.Rows, answer.Sum)
	}
	c := equalContest(b, "DuckDB", "sum equal")
	var cpu, duckCPU []float64
	for range size(9, 1) {
		c.turns(1, func() float64 {
			took := loadInNewProcess(b, path)
			cpu = append(cpu, 1000*took.CPU)
			return 1000 * took.Seconds
		}, func() float64 {
			took := peer.sum(b, path)
			duckCPU = append(duckCPU, 1000*took.CPU)
			return 1000 * took.Seconds
		})
		other()
		debug.FreeOSMemory()
	}
	c.report(b, "ms", "duckdb-ms")
	b.ReportMetric(1/c.ratio(), "ratio")
	b.ReportMetric(median(cpu), "cpu-ms")
	b.ReportMetric(median(duckCPU), "duckdb-cpu-ms")
	return c
}

// loadVariable names the file that this program loads, instead of running tests.
const loadVariable = "HALFSPACE_BENCH_LOAD"

func TestMain(m *testing.M) {
	if path := os.Getenv(loadVariable); path != "" {
		load(path)
		return
	}
	if os.Getenv(runsLoops) != "" {
		runLoops()
		return
	}
	status := m.Run()
	printContests(os.Stdout)
	os.Exit(status)
}

// load loads a file and prints how long that took, as JSON.
func load(path string) {
	start, before := time.Now(), processorTime()
	data, err := dataset.Load(context.Background(), path, dataset.Options{Label: "label"})
	took := loadTime{Seconds: time.Since(start).Seconds(), CPU: (processorTime() - before).Seconds()}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	took.Rows = data.Rows()
	for blk, err := range data.Blocks(context.Background()) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for r := range blk.Len() {
			for _, x := range blk.X[r*blk.Stride : r*blk.Stride+peerFeatures] {
				took.Sum += float64(x)
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
		os.Exit(1)
	}
}

// loadInNewProcess times a load as the command makes it, in a process that has no memory yet.
func loadInNewProcess(b *testing.B, path string) (took loadTime) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), loadVariable+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &took)
	}
	require.NoError(b, err)
	return took
}

// processorTime returns the processor time of this process so far.
func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// readWithArrow times Arrow's record reader.
func readWithArrow(b *testing.B, path string) time.Duration {
	b.Helper()
	start := time.Now()
	f, err := file.OpenParquetFile(path, false)
	require.NoError(b, err)
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{Parallel: true, BatchSize: 1 << 16}, memory.DefaultAllocator)
	require.NoError(b, err)
	records, err := r.GetRecordReader(context.Background(), nil, nil)
	require.NoError(b, err)
	defer records.Release()
	rows := int64(0)
	for records.Next() {
		rows += records.Record().NumRows()
	}
	if rows != duckRows {
		b.Fatalf("Arrow read %d rows", rows)
	}
	return time.Since(start)
}

// writeDuckFile writes values of a kind: random (normal), repeated (100 different ones in stretches) or dictionary
// (small whole numbers).
func writeDuckFile(b *testing.B, path, kind string, codec compress.Compression) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var fields []arrow.Field
	var cols []arrow.Array
	for c := range peerFeatures + 1 {
		name := "x" + strconv.Itoa(c)
		if c == peerFeatures {
			name = "label"
		}
		var col arrow.Array
		if kind == "dictionary" || name == "label" {
			build := array.NewInt32Builder(memory.DefaultAllocator)
			for range duckRows {
				build.Append(rng.Int32N(map[bool]int32{true: 2, false: 10}[name == "label"]))
			}
			col = build.NewArray()
		} else {
			build := array.NewFloat32Builder(memory.DefaultAllocator)
			v := float32(0)
			for range duckRows {
				if kind == "random" {
					v = float32(rng.NormFloat64())
				} else if rng.IntN(8) == 0 {
					v = float32(rng.IntN(100)) / 8
				}
				build.Append(v)
			}
			col = build.NewArray()
		}
		fields, cols = append(fields, arrow.Field{Name: name, Type: col.DataType()}), append(cols, col)
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), cols, duckRows)
	f, err := os.Create(path)
	require.NoError(b, err)
	props := parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithDictionaryDefault(kind == "dictionary"),
		parquet.WithMaxRowGroupLength(1<<17))
	w, err := pqarrow.NewFileWriter(rec.Schema(), f, props, pqarrow.DefaultWriterProps())
	require.NoError(b, err)
	table := array.NewTableFromRecords(rec.Schema(), []arrow.Record{rec})
	defer table.Release()
	require.NoError(b, w.WriteTable(table, 1<<17))
	require.NoError(b, w.Close())
}

// A loadTime is the time of a load, or a query, the sum of all features, and the number of rows.
type loadTime struct {
	Seconds, CPU, Sum float64
	Rows              int64
}

// startDuckDB skips the benchmark if DuckDB isn't installed.
func startDuckDB(b *testing.B) *peer {
	b.Helper()
	folder, err := filepath.Abs(duckFolder)
	require.NoError(b, err)
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "@duckdb")); err != nil {
		skip(b, "DuckDB isn't installed: run make bench-peers")
	}
	d := startPeer(b, "node", duckScript, folder, strconv.Itoa(runtime.GOMAXPROCS(0)))
	b.Log(d.line(b))
	return d
}

// sum returns the time in which DuckDB adds up all features of a file.
func (p *peer) sum(b *testing.B, path string) (took loadTime) {
	b.Helper()
	var columns []string
	for c := range peerFeatures {
		columns = append(columns, "x"+strconv.Itoa(c))
	}
	p.ask(b, map[string]any{"file": path, "columns": columns}, &took)
	return took
}
