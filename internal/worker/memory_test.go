package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/require"
)

// trainingOf returns a training on a file of rows rows and two features, and the bytes that a chunk takes.
func trainingOf(t *testing.T, rows int) (training *Training, chunkBytes int64) {
	var text strings.Builder
	text.WriteString("x,y,label\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d,%d\n", i, i%7, i%2)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	p := require.Value(require.Value(dataset.Examine(t.Context(), []string{path}, dataset.Options{Label: "label"}))(t).Plan(t.Context(), dataset.Options{Label: "label"}))(t)
	r := require.Value(p.Open(t.Context(), dataset.Budget{}))(t)
	training = require.Value(NewTraining(Files{Plan: p.Shared(r.Spec()), Rows: r.Rows()}, 2))(t)
	plan := require.Value(training.Files.Plan.Plan(t.Context(), 1))(t)
	return training, plan.Bytes(block.ChunkRows, true)
}

// TestMemory: a piece waits while the rows of other pieces and its own would take more than half of the memory. Rows that no piece uses give way.
func TestMemory(t *testing.T) {
	training, chunkBytes := trainingOf(t, 10*block.ChunkRows)
	w := New(2*4*chunkBytes, "--memory") // four chunks
	_, release, err := w.rows(t.Context(), training, []int64{0, 1, 2})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := w.rows(ctx, training, []int64{5, 6}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("three chunks are in use, and there is room for two more: error %v", err)
	}
	release()
	var all sync.WaitGroup
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		chunks := []int64{}
		for chunk := range int64(10) {
			if rng.IntN(4) == 0 && len(chunks) < 4 {
				chunks = append(chunks, chunk)
			}
		}
		all.Go(func() {
			rows, release, err := w.rows(t.Context(), training, chunks)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			w.mu.Lock()
			if w.bytes() > w.limit() || w.taken < int64(len(chunks))*chunkBytes {
				t.Errorf("chunks take %d bytes, %d of them in use, and the limit is %d", w.bytes(), w.taken, w.limit())
			}
			w.mu.Unlock()
			i := 0
			for b, err := range rows.Blocks(t.Context()) {
				if first := float32(chunks[i] * block.ChunkRows); err != nil || b.X[0] != first || cap(b.X) > 2*len(b.X) {
					t.Errorf("chunk %d begins with %v, want %v; memory for %d numbers, error %v", chunks[i], b.X[0], first, cap(b.X), err)
				}
				i++
			}
		})
	}
	all.Wait()
	if w.taken != 0 || w.bytes() == 0 || w.bytes() > w.limit() {
		t.Errorf("after the pieces %d bytes are in use, and chunks take %d", w.taken, w.bytes())
	}
}

// TestLargePiece: a piece whose rows take more than half of the memory is an error that says how much to give. Without a limit it computes alone.
func TestLargePiece(t *testing.T) {
	training, chunkBytes := trainingOf(t, 10*block.ChunkRows)
	w := New(4*chunkBytes, "--memory")
	_, _, err := w.rows(t.Context(), training, []int64{0, 1, 2})
	if want := fmt.Sprintf("give %d MiB with Memory", (8*chunkBytes+1<<20-1)>>20); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	w = New(0, "")
	w.mostBytes = 2 * chunkBytes
	_, release, err := w.rows(t.Context(), training, []int64{0, 1, 2})
	require.NoError(t, err)
	release()
}
