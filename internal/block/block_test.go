package block

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/schema"
)

// random returns a data set of features from -1/2 to 1/2, without a bias.
func random(rows, cols int) *Data {
	rng := rand.New(rand.NewPCG(1, 1))
	spec := &schema.Spec{Features: make([]string, cols)}
	var blocks []*Block
	for first, per := 0, Rows(cols); first < rows; first += per {
		b := New(int64(first), min(per, rows-first), cols)
		for r := range b.Len() {
			for c := range cols {
				b.X[r*b.Stride+c] = rng.Float32() - 0.5
			}
			b.Y[r] = float32(2*rng.IntN(2) - 1)
		}
		blocks = append(blocks, b)
	}
	return NewData(spec, blocks)
}

func TestBlockSize(t *testing.T) {
	for _, cols := range []int{1, 8, 29, 100, 511, 513, 5000} {
		rows := Rows(cols)
		bytes := rows * kernel.Stride(cols) * 4
		if rows%ChunkRows != 0 || rows < ChunkRows || bytes > blockBytes && rows > ChunkRows {
			t.Errorf("blocks of %d columns have %d rows, %d bytes", cols, rows, bytes)
		}
	}
}

func TestAlloc(t *testing.T) {
	sizes := []int{1<<19 - 1, 1 << 19, 1<<19 + 1, 1 << 20}
	for n := range 100 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		align := uintptr(cacheLine)
		if 8*n >= 2*hugePage {
			align = hugePage
		}
		s := Alloc[float64](n)
		if addr := uintptr(unsafe.Pointer(unsafe.SliceData(s))); addr%align != 0 || len(s) != n || cap(s) != n {
			t.Fatalf("Alloc(%d): address %#x, length %d, capacity %d", n, addr, len(s), cap(s))
		}
		for i, v := range s {
			if v != 0 {
				t.Fatalf("Alloc(%d): element %d is %v", n, i, v)
			}
			s[i] = 1
		}
	}
}

// TestReduceChunks: results arrive in row order, cover every row once, and don't depend on the workers.
func TestReduceChunks(t *testing.T) {
	d := random(3*Rows(29)+5000, 29)
	for _, workers := range []int{1, 2, 3, 8} {
		next, rows := int64(0), int64(0)
		err := ReduceChunks(context.Background(), d, workers, func(r Chunk) Chunk { return r }, func(r Chunk) {
			if r.Number != next || r.First != next*ChunkRows {
				t.Fatalf("chunk %d begins at row %d, want chunk %d", r.Number, r.First, next)
			}
			next++
			rows += int64(r.Len())
		})
		if err != nil || rows != d.Rows() {
			t.Errorf("%d workers: %d rows of %d, error %v", workers, rows, d.Rows(), err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	nothing := func(Chunk) int { return 0 }
	if err := ReduceChunks(ctx, d, 2, nothing, func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context was cancelled", err)
	}
}

// TestReduceChunksWaits: while a chunk takes long, only a few others go ahead. Those who wait for it end with the context.
func TestReduceChunksWaits(t *testing.T) {
	const workers = 3
	d := random(40*ChunkRows, 1)
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		var ahead, merged atomic.Int64
		part := func(r Chunk) int64 {
			if r.Number != 5 {
				ahead.Add(1)
				return r.Number
			}
			before := int64(-1)
			for n := ahead.Load(); n != before; n = ahead.Load() { // until the others have stopped
				before = n
				time.Sleep(20 * time.Millisecond)
			}
			if before > 5+2*workers {
				t.Errorf("%d chunks were done beside chunk 5", before)
			}
			if cancelled {
				cancel()
			}
			return r.Number
		}
		err := ReduceChunks(ctx, d, workers, part, func(number int64) {
			if merged.Add(1) != number+1 {
				t.Errorf("result %d is merged after %d others", number, merged.Load()-1)
			}
		})
		if cancelled != errors.Is(err, context.Canceled) || !cancelled && (err != nil || merged.Load() != 40) {
			t.Errorf("cancelled %v: error %v, %d results merged", cancelled, err, merged.Load())
		}
		cancel()
	}
}

// A lender reuses the memory of one block, as sources do that aren't in memory.
type lender struct{ *Data }

func (l lender) Blocks(ctx context.Context) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		for b, err := range l.Data.Blocks(ctx) {
			lent := b.Clone()
			more := yield(lent, err)
			clear(lent.X)
			if !more {
				return
			}
		}
	}
}

// TestChunks: chunks of several blocks come at a time if data are in memory. Other sources never yield chunks of a
// block that is gone.
func TestChunks(t *testing.T) {
	d := random(5*Rows(700)+5, 700) // each of a chunk, and some rows
	for src, want := range map[Source][]int{d: {2, 2, 2}, lender{d}: {1, 1, 1, 1, 1, 1}} {
		var got []int
		next := int64(0)
		for chunks, err := range Chunks(context.Background(), src, 2) {
			require.NoError(t, err)
			got = append(got, len(chunks))
			for _, r := range chunks {
				b := d.blocks[r.Number]
				if r.Number != next || r.First != b.First || !slices.Equal(r.X, b.X) || !slices.Equal(r.Y, b.Y) {
					t.Errorf("chunk %d isn't its rows", next)
				}
				next++
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v chunks at a time, want %v", got, want)
		}
	}
}

func fingerprint(t *testing.T, src Source, workers int) string {
	t.Helper()
	f, err := Fingerprint(t.Context(), src, workers)
	require.NoError(t, err)
	return f
}

// TestFingerprint: any change of a value, a label or the order of rows changes the fingerprint. Workers and blocks
// don't.
func TestFingerprint(t *testing.T) {
	want := fingerprint(t, random(9000, 5), 1)
	if got := fingerprint(t, random(9000, 5), 3); got != want {
		t.Errorf("3 workers: %s, 1 worker: %s", got, want)
	}
	setWeights := func(d *Data, double func(row int) bool) {
		b := d.blocks[0]
		b.W = make([]float64, b.Len())
		for r := range b.W {
			if b.W[r] = 1; double(r) {
				b.W[r] = 2
			}
		}
	}
	ones := random(9000, 5)
	if setWeights(ones, func(int) bool { return false }); fingerprint(t, ones, 1) != want {
		t.Error("the fingerprint shows weights that are all 1")
	}
	changes := map[string]func(*Data){
		"value":  func(d *Data) { d.blocks[0].X[8] += 1 },
		"label":  func(d *Data) { d.blocks[0].Y[8999] *= -1 },
		"zero":   func(d *Data) { d.blocks[0].X[8*8999+4] = 0 },
		"weight": func(d *Data) { setWeights(d, func(r int) bool { return r == 8998 }) },
		"labels": func(d *Data) { slices.Reverse(d.blocks[0].Y) },
		"row": func(d *Data) {
			for c := range 8 {
				x := d.blocks[0].X
				x[c], x[8+c] = x[8+c], x[c]
			}
		},
	}
	for what, change := range changes {
		d := random(9000, 5)
		change(d)
		if fingerprint(t, d, 2) == want {
			t.Errorf("the fingerprint doesn't show a changed %s", what)
		}
	}
}

// TestIndexOfUnevenBlocks: rows are found if blocks have different numbers of chunks. Blocks that aren't whole chunks are
// an error.
func TestIndexOfUnevenBlocks(t *testing.T) {
	spec := &schema.Spec{Features: []string{"x"}, Classes: make([]schema.Class, 2)}
	build := func(sizes ...int) *Data {
		var blocks []*Block
		first := 0
		for _, n := range sizes {
			b := New(int64(first), n, 1)
			for r := range n {
				b.X[r*b.Stride], b.Y[r] = float32(first+r), 1
			}
			blocks, first = append(blocks, b), first+n
		}
		return NewData(spec, blocks)
	}
	index, err := build(ChunkRows, 3*ChunkRows, ChunkRows, 700).Index()
	require.NoError(t, err)
	for _, id := range []uint32{0, ChunkRows - 1, ChunkRows, 4*ChunkRows - 1, 4 * ChunkRows, 5*ChunkRows + 699} {
		if b, r := index.At(id); b.First+int64(r) != int64(id) || b.X[r*b.Stride] != float32(id) {
			t.Errorf("row %d is %d of the block from %d", id, r, b.First)
		}
	}
	require.Error(t, require.ErrorOf(build(ChunkRows, 512, ChunkRows).Index()), "multiple of 4096 rows")
}

// TestNoColumns: a block without columns has no rows; elements in it are an error, not a panic.
func TestNoColumns(t *testing.T) {
	if err := (&Block{}).CheckShape(0); err != nil {
		t.Error(err)
	}
	if err := (&Block{X: make([]float32, 3)}).CheckShape(0); err == nil {
		t.Error("three elements without columns are no error")
	}
}
