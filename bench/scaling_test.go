package bench

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/require"
	"halfspace/plot"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
)

var pictures = flag.String("pictures", "", "a folder that BenchmarkScaling draws its figures to")

// A fileShape is the values of a row of files of many sizes.
type fileShape struct {
	name   string
	values int // in a row
	write  func(path string, rows int) error
	open   dataset.Options
	ext    string
}

func fileShapes() (all []fileShape) {
	for _, d := range []int{4, 28, 100, 784, 3000} {
		all = append(all, fileShape{fmt.Sprintf("%d columns", d), d, func(path string, rows int) error {
			return WriteSynthetic(context.Background(), path, Synthetic{Rows: int64(rows), Features: d, Noise: peerNoise, Seed: 1, Compression: "snappy"}, nil)
		}, dataset.Options{Label: "label"}, ".parquet"})
	}
	for _, n := range []int{10, 100, 1000} {
		all = append(all, fileShape{fmt.Sprintf("svmlight, %d values", n), n, func(path string, rows int) error {
			return writeSvm(path, powerLaw(rows, 100_000, n, 1))
		}, dataset.Options{Label: "label", Storage: dataset.Sparse}, ".svm"})
	}
	return all
}

// BenchmarkScaling takes files of more and more rows of several shapes, up to 10 million values, 60 million with -full. It
// measures nanoseconds a value, the least of three runs: a load, an epoch of the perceptron, and a pass of the logistic
// solver. It reports those of the largest file. -pictures draws all: a cliff is a line that rises.
func BenchmarkScaling(b *testing.B) {
	kinds := []string{"load", "epoch", "pass"}
	figures := map[string]*plot.Figure{}
	for _, kind := range kinds {
		figures[kind] = &plot.Figure{Title: map[string]string{"load": "Load", "epoch": "An epoch of the perceptron", "pass": "A pass of the logistic solver"}[kind],
			Subtitle: "nanoseconds a value, by the number of values", X: plot.Axis{Name: "values in the file", Log: true}, Y: plot.Axis{Name: "ns a value", Log: true}}
	}
	for s, shape := range fileShapes() {
		b.Run(shape.name, func(b *testing.B) {
			for b.Loop() {
				lines := map[string]*plot.Series{}
				for _, kind := range kinds {
					lines[kind] = &plot.Series{Name: shape.name, Colour: plot.Colour(s % 5), Dash: s / 5}
				}
				for values := 1e4; values <= float64(size(6e7, 1e7)); values *= math.Sqrt(10) {
					rows := int(values) / shape.values
					if rows < 10 {
						continue
					}
					for kind, ns := range shape.measure(b, rows) {
						l := lines[kind]
						l.X, l.Y = append(l.X, math.Log10(float64(rows*shape.values))), append(l.Y, math.Log10(ns))
						b.ReportMetric(ns, kind+"-ns/value")
					}
				}
				for kind, l := range lines {
					figures[kind].Series = append(figures[kind].Series, *l)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	if *pictures == "" {
		return
	}
	for kind, f := range figures {
		f.Text = fmt.Sprintf("%s: lines that fall, then stay level.", f.Title)
		require.NoError(b, os.WriteFile(filepath.Join(*pictures, "scaling-"+kind+".svg"), []byte(f.SVG(plot.Auto)), 0o644))
	}
}

// measure writes a file of the given number of rows. It returns, for each kind, the nanoseconds a value: the least of three
// runs.
func (s fileShape) measure(b *testing.B, rows int) map[string]float64 {
	path := filepath.Join(b.TempDir(), "rows"+s.ext)
	require.NoError(b, s.write(path, rows))
	defer os.Remove(path)
	least := map[string]float64{}
	note := func(kind string, start time.Time, times int64) {
		ns := float64(time.Since(start).Nanoseconds()) / float64(times) / float64(rows*s.values)
		if least[kind] == 0 || ns < least[kind] {
			least[kind] = ns
		}
	}
	for range 3 {
		start := time.Now()
		data := require.Value(dataset.Load(context.Background(), path, s.open))(b)
		note("load", start, 1)
		for kind, l := range map[string]learner.Configured{
			"epoch": perceptron.New(perceptron.Options{Epochs: 5}),
			"pass":  logistic.New(logistic.Options{L2: 1, Epochs: 20}),
		} {
			start = time.Now()
			r := require.Value(l.Learner.Train(context.Background(), &learner.Task{Rows: data, Settings: l.Settings}))(b).Result
			if kind == "epoch" {
				note(kind, start, max(1, r.Visits/int64(rows)))
			} else {
				note(kind, start, max(1, r.Epochs))
			}
		}
	}
	return least
}
