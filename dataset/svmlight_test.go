package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
)

// TestSvmlightLargerThanMemory: rows whose dense form is larger than the memory that is available are opened and their
// labels are read, so that they can be streamed.
func TestSvmlightLargerThanMemory(t *testing.T) {
	rows := availableMemory()/(4*(maxTextColumns-1)) + 1
	path := textFile(t, "a.svm", fmt.Sprintf("1 %d:1\n", maxTextColumns-1)+strings.Repeat("0\n", int(rows)))
	s := mustStream(t, memory.DefaultAllocator, Options{Label: svmlightLabel}, path)
	if s.Rows() != rows+1 || s.Cols() != maxTextColumns || len(s.Spec().Classes) != 2 {
		t.Errorf("%d rows of %d columns, classes %v", s.Rows(), s.Cols(), s.Spec().Classes)
	}
}

// TestSvmlightStream: streamed blocks are those in memory, whichever column is the label.
func TestSvmlightStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const rows, features = 2*block.RunRows + 1, 300
	var text strings.Builder
	for range rows {
		fmt.Fprintf(&text, "%d 1:%d", rng.IntN(2), rng.IntN(2)+3)
		fmt.Fprintf(&text, " %d:%v %d:1\n", 2+rng.IntN(features-2), rng.NormFloat64(), features)
	}
	path := textFile(t, "a.svm", text.String())
	for _, label := range []string{svmlightLabel, "f1"} {
		opt := Options{Label: label, Workers: 2}
		d, err := Load[float32](context.Background(), []string{path}, opt)
		if err != nil {
			t.Fatal(err)
		}
		streamed, err := block.Collect(context.Background(), mustStream(t, memory.DefaultAllocator, opt, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := sameBlocks(blocksOf(t, streamed), blocksOf(t, d)); err != nil {
			t.Errorf("label %s: %v", label, err)
		}
		if got, want := fmt.Sprint(streamed.Spec().Classes), fmt.Sprint(d.Spec().Classes); got != want {
			t.Errorf("label %s: classes %s, want %s", label, got, want)
		}
	}
}
