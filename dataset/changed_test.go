package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/schema"
)

// TestChangedAtEnd changes a file during its only pass: a reader that is past the change must not take what it read for all.
func TestChangedAtEnd(t *testing.T) {
	dir := t.TempDir()
	src := rand.New(rand.NewPCG(1, 2))
	var csv, svm strings.Builder
	csv.WriteString("x,y\n")
	for i := range 300_000 {
		v := src.Float64()
		fmt.Fprintf(&csv, "%.12f,%d\n", v, i%2)
		fmt.Fprintf(&svm, "%d 1:%.12f\n", i%2, v)
	}
	texts := map[string]string{"a.csv": csv.String(), "a.csv.gz": string(compressed(t, csv.String())), "a.svm": svm.String()}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.arrow", "a.parquet"} {
		convertFile(t, 300_000, filepath.Join(dir, "a.csv"), filepath.Join(dir, name), WriterOptions{RowGroupRows: 300_000})
	}
	grow := func(path string) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString("0.5,1\n")
		return err
	}
	cut := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, int64(strings.LastIndexByte(string(text[:len(text)/8*7]), '\n')+1))
	}
	touch := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Chtimes(path, info.ModTime(), info.ModTime().Add(1))
	}
	for _, c := range []struct {
		name, what string
		change     func(path string) error
	}{
		{"a.csv", "cut", cut}, {"a.csv", "grown", grow}, {"a.svm", "cut", cut}, {"a.svm", "grown", grow}, {"a.csv.gz", "touched", touch},
		{"a.arrow", "touched", touch}, {"a.parquet", "touched", touch}, {"a.parquet", "grown", grow},
	} {
		t.Run(c.name+" "+c.what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.name)
			whole, err := os.ReadFile(filepath.Join(dir, c.name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			batches := 0
			opt := Options{Workers: 1, Features: []string{"*"}, Progress: func(rows, total int64) {
				if batches++; batches == 1 {
					if err := c.change(path); err != nil {
						t.Fatal(err)
					}
				}
			}}
			err = Scan(context.Background(), []string{path}, opt, func(*schema.Spec, *block.Block[float32], arrow.Record) error { return nil })
			if batches < 2 {
				t.Fatalf("the change came after the last of %d batches", batches)
			}
			wantError(t, err, filepath.Dir(path), "DIR/"+c.name+": the file changed while it was read: try again")
		})
	}
}
