package block

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"halfspace/internal/require"
)

// A library leases copies of blocks, up to most at a time, and spoils each once it is released. It may fail.
type library struct {
	*Data
	most  int
	fails int // the block that is an error, if not 0
}

var errLibrary = errors.New("the disk failed")

func (l library) Lend(ctx context.Context) iter.Seq2[Lease, error] {
	return func(yield func(Lease, error) bool) {
		var out sync.WaitGroup
		defer out.Wait()
		free := make(chan struct{}, l.most)
		n := 0
		for b, err := range l.Data.Blocks(ctx) {
			if n++; l.fails == n {
				err = errLibrary
			}
			if err != nil {
				yield(Lease{}, err)
				return
			}
			free <- struct{}{}
			lent := b.Clone()
			out.Add(1)
			if !yield(Lease{lent, func() {
				clear(lent.X)
				<-free
				out.Done()
			}}, nil) {
				return
			}
		}
	}
}

func (l library) Blocks(ctx context.Context) iter.Seq2[*Block, error] {
	return EachLease(l.Lend(ctx))
}

// sumChunks returns a hash of each chunk's rows, by ReduceChunks.
func sumChunks(ctx context.Context, src Source, workers int) (sums []string, err error) {
	return sums, ReduceChunks(ctx, src, workers,
		func(r Chunk) string { return fmt.Sprint(r.Number, r.First, r.Len(), rowsHash(r.Block)) },
		func(s string) { sums = append(sums, s) })
}

// rowsHash takes a number of each row, another one in each. Memory that is released is cleared as a whole.
func rowsHash(b *Block) (h uint64) {
	for r := range b.Len() {
		h = h*31 + uint64(int64(b.X[r*b.Stride+r%b.Cols]*1e6))
	}
	return h
}

// TestLoans: ReduceChunks gives the results of data in memory for sources that lend any number of blocks, checked or not,
// and for wide rows, whose blocks hold one chunk.
func TestLoans(t *testing.T) {
	for _, d := range []*Data{random(4*ChunkRows+5, 260), random(2*Rows(100)+ChunkRows+1, 100)} {
		want, err := sumChunks(t.Context(), d, 1)
		require.NoError(t, err)
		checked, err := Validate(t.Context(), library{d, 3, 0}, 2)
		require.NoError(t, err)
		for name, src := range map[string]Source{"1": library{d, 1, 0}, "2": library{d, 2, 0}, "5": library{d, 5, 0},
			"checked": checked, "trusted": AssumeValid(library{d, 3, 0}), "no lender": lender{d}} {
			for _, workers := range []int{1, 5} {
				if got, err := sumChunks(t.Context(), src, workers); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, %d workers: error %v, %v, want %v", name, workers, err, got, want)
				}
			}
		}
	}
}

// TestLoansAtOnce: two workers compute chunks of two blocks at the same time. Each waits for the other.
func TestLoansAtOnce(t *testing.T) {
	d := random(6*ChunkRows, 260)
	meet := make(chan struct{})
	err := ReduceChunks(t.Context(), AssumeValid(library{d, 2, 0}), 2, func(r Chunk) bool {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-time.After(20 * time.Second):
			return false
		}
		return true
	}, func(met bool) {
		if !met {
			t.Error("a chunk is computed alone")
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLoansEnd: errors of the source, of its blocks and of the context end ReduceChunks, with all leases released.
func TestLoansEnd(t *testing.T) {
	d := random(6*ChunkRows, 260)
	for fails := 1; fails <= 6; fails++ {
		if _, err := sumChunks(t.Context(), library{d, 3, fails}, 2); !errors.Is(err, errLibrary) {
			t.Errorf("block %d fails: error %v", fails, err)
		}
	}
	for stop := range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		merged := 0
		err := ReduceChunks(ctx, library{d, 3, 0}, 2, func(r Chunk) int64 {
			if r.Number == int64(stop) {
				cancel()
			}
			return r.Number
		}, func(n int64) {
			if n != int64(merged) {
				t.Errorf("chunk %d is merged after %d others", n, merged)
			}
			merged++
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in chunk %d: error %v", stop, err)
		}
	}
	wrong := NewData(d.Spec(), []*Block{d.blocks[0], d.blocks[2]})
	if _, err := sumChunks(t.Context(), library{wrong, 3, 0}, 2); err == nil {
		t.Error("a gap between blocks is taken")
	}
	bad := d.blocks[3].Clone()
	bad.Y[7] = 5
	checked, err := Validate(t.Context(), library{NewData(d.Spec(), append(slices.Clone(d.blocks[:3]), bad)), 3, 0}, 2)
	require.NoError(t, err)
	if _, err := sumChunks(t.Context(), checked, 2); err == nil {
		t.Error("a wrong label is taken")
	}
}
