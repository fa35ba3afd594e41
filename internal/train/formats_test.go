// Compiling Arrow with the race detector takes minutes, so make race leaves this file out.

//go:build !race

package train_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/train"
)

// TestInvarianceOfFiles: every learner makes the same model, byte for byte, of the same rows in CSV, Parquet, Arrow IPC and svmlight, in
// one file and in three, of dense and of sparse rows, in memory and streamed. Without HALFSPACE_TEST=full each learner tries some of
// these, and each of these has its learner.
func TestInvarianceOfFiles(t *testing.T) {
	type way struct {
		format  string
		storage dataset.Storage
		stream  bool
	}
	for _, table := range []struct {
		options dataset.Options
		files   map[string][]string
		formats []string
	}{
		{dataset.Options{Label: "label", Categorical: "onehot,zip=hash:5", Standardize: true}, tableFiles(t, true), []string{"csv", "parquet", "arrow", "three"}},
		{dataset.Options{Label: "label", Features: []string{"f*"}}, tableFiles(t, false), []string{"csv", "parquet", "arrow", "three", "svm"}},
	} {
		var ways []way
		for _, format := range table.formats {
			for _, storage := range []dataset.Storage{dataset.Sparse, dataset.Dense} {
				ways = append(ways, way{format, storage, false}, way{format, storage, true})
			}
		}
		turn := 0
		for _, l := range train.Learners {
			if l.Name == "winnow" && table.options.Standardize { // which takes zeros and ones
				continue
			}
			learn := func(w way, workers int) []byte {
				opt := table.options
				opt.Storage, opt.Workers = w.storage, workers
				if w.format == "svm" {
					opt.Features = nil
				}
				files := require.Value(dataset.Examine(t.Context(), table.files[w.format], opt))(t)
				plan := require.Value(files.Plan(t.Context(), opt))(t)
				var src block.Source
				if w.stream {
					src = require.Value(plan.Stream(t.Context()))(t)
				} else {
					src = require.Value(plan.Load(t.Context()))(t)
				}
				options := "epochs=2"
				if l.Name == "lda" {
					options = ""
				} else if l.Name == "pocket" || l.Name == "voted" {
					options = "epochs=1 max-updates=30"
				}
				file, _, err := training{learner: l.Name, options: options}.learn(t.Context(), t, src, workers, 0, nil)
				if err != nil {
					t.Fatalf("%s, %v: %v", l.Name, w, err)
				}
				return file
			}
			want := learn(ways[2], 2)
			for k, w := range ways {
				if w.stream && l.InMemory || require.Small() && (k+turn)%6 > 0 {
					continue
				}
				if got := learn(w, 1+k%3); !bytes.Equal(got, want) {
					t.Errorf("%s, %+v: the model is\n%.1500s\nand of CSV\n%.1500s", l.Name, w, got, want)
				}
			}
			turn++
		}
	}
}

// tableFiles writes rows in every format: numbers, of which many are 0, and with text among them categories. Three files have other
// row groups and codecs than one.
func tableFiles(t *testing.T, text bool) map[string][]string {
	t.Helper()
	dir, rows := t.TempDir(), block.ChunkRows+300
	rng := rand.New(rand.NewPCG(uint64(rows), 7))
	parts := make([]bytes.Buffer, 3)
	for r := range rows {
		x, city, z, zip := rng.IntN(2), rng.IntN(4), rng.IntN(8)/7, rng.IntN(40)
		class := x + city + zip + rng.IntN(12)/11
		line := fmt.Sprintf("%d,%d,%d,%d\n", class%2, x, z, city/3)
		if text {
			line = fmt.Sprintf("c%d,%d,c%d,%d,z%d\n", class%2, x, city, z, zip)
		}
		for k, last := range []int{17, 2000, rows} {
			if r < last {
				parts[k].WriteString(line)
				break
			}
		}
	}
	header := "label,f1,f2,f3\n"
	if text {
		header = "label,x,city,z,zip\n"
	}
	write := func(name, rows string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(header+rows), 0o600))
		return path
	}
	convert := func(from, name string, opt dataset.WriterOptions) string {
		path := filepath.Join(dir, name)
		if _, err := dataset.Convert(t.Context(), []string{from}, path, dataset.Options{}, opt); err != nil {
			t.Fatal(err)
		}
		return path
	}
	csv := write("rows.csv", parts[0].String()+parts[1].String()+parts[2].String())
	files := map[string][]string{"csv": {csv}, "parquet": {convert(csv, "rows.parquet", dataset.WriterOptions{})}, "arrow": {convert(csv, "rows.arrow", dataset.WriterOptions{})}}
	for k, opt := range []dataset.WriterOptions{{Compression: "zstd"}, {Compression: "none", RowGroupRows: 701}, {Compression: "gzip"}} {
		name := fmt.Sprint(k)
		files["three"] = append(files["three"], convert(write(name+".csv", parts[k].String()), name+".parquet", opt))
	}
	if !text {
		files["svm"] = []string{convert(csv, "rows.svm", dataset.WriterOptions{Label: "label"})}
	}
	return files
}
