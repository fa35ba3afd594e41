package dataset

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/frame"
)

// benchCSV writes 2^17 rows of 28 float32 features and a label.
func benchCSV(b *testing.B) (path string, size int64) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "bench.csv")
	rec := benchRecord(1<<17, 28)
	w, err := Create(path, rec.Schema(), WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return path, info.Size()
}

// BenchmarkCSV reads a file of numbers: its columns as arrays, as a data set in memory, and by encoding/csv and strconv.
func BenchmarkCSV(b *testing.B) {
	path, size := benchCSV(b)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("what=columns/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				p := frame.NewPool(workers)
				in, err := openInput(context.Background(), []string{path}, Options{Label: "label"}, p)
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range in.Batches(context.Background(), p, memory.DefaultAllocator) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(fmt.Sprintf("what=load/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, err := Load(context.Background(), []string{path}, Options{Label: "label", Workers: workers}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("what=encoding-csv/workers=1", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			readByStandardLibrary(b, path)
		}
	})
}

func readByStandardLibrary(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		b.Fatal(err)
	}
	columns := make([][]float64, 29)
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		for i, text := range fields {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				b.Fatal(err)
			}
			columns[i] = append(columns[i], v)
		}
	}
}
