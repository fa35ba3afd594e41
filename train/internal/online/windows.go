// Package online makes passes over rows for learners that learn from each row.
//
// Shards of the rows learn by iterative parameter mixing (McDonald, Hall and Mann, "Distributed Training Strategies for
// the Structured Perceptron", NAACL 2010). In each epoch, every shard makes one pass over its rows, from the same
// weights. The next epoch begins with the mean of the shards' weights. The number of shards is an option of the
// training, not the number of workers. So the result doesn't depend on the computer.
package online

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
)

// windowRows is the number of rows in a window of a permutation, and of draws in a window of draws.
const windowRows = learner.WindowRows

// A Window is rows to visit one after another.
type Window struct {
	Rows  []uint32     // numbers of the rows in Index, in the order of the visits
	Index *block.Index // index that holds the rows
	Ahead []uint32     // chunks of Index to prefetch during the visits: the chunks of the next window

	// Source of the rows of Index: whole chunks, or drawn rows. Both are nil if Index has all rows.
	chunksOf, draws []uint32
}

// Number returns the number, among all rows, of row id of Index.
func (w *Window) Number(id uint32) int64 {
	switch {
	case w.chunksOf != nil:
		return int64(w.chunksOf[id/kernel.EighthRows])*kernel.EighthRows + int64(id%kernel.EighthRows)
	case w.draws != nil:
		return int64(w.draws[id])
	}
	return int64(id)
}

// Features returns the features of rows lo to hi-1 of a chunk of the index, or nil if the rows are sparse.
func (w *Window) Features(chunk, lo, hi, stride int) []float32 {
	if w.Index.Rows() == nil {
		return nil
	}
	x := w.Index.Rows().Chunk(chunk)
	return x[min(lo*stride, len(x)):min(hi*stride, len(x))]
}

// Windows gives rows to a learner by number. Its methods call visit with one window after another, and stop at the
// first error.
type Windows interface {
	Permuted(ctx context.Context, p *learner.Permutation, visit func(Window) error) error

	// Drawn begins with the window that has draw number skip, counted from 0.
	Drawn(ctx context.Context, rng *rand.PCG, skip int64, visit func(Window) error) error
}

// NewWindows returns windows of the rows of src, which must be a *block.Data or a block.Seekable. It uses the order and
// the workers of opt. If filled isn't nil, NewWindows calls it with each index that it makes; the function again that
// filled returns is called after new rows are read into that index.
func NewWindows(src block.Source, opt learner.Options, filled func(*block.Index) (again func())) (Windows, error) {
	if src.Rows() > math.MaxUint32 {
		return nil, fmt.Errorf("there are %d rows, and orders other than cyclic take up to %d: use cyclic", src.Rows(), uint32(math.MaxUint32))
	}
	if filled == nil {
		filled = func(*block.Index) func() { return func() {} }
	}
	switch src := src.(type) {
	case *block.Data:
		index, err := src.Index()
		if err != nil {
			return nil, err
		}
		filled(index)
		return &memoryWindows{index: index, rows: int(src.Rows()), stride: kernel.Stride(src.Spec().Cols()), beside: opt.Workers > 1}, nil
	case block.Seekable:
		return newFileWindows(src, filled)
	}
	return nil, fmt.Errorf("the order %s needs the rows in memory or in a cache file", opt.Order)
}

// A memoryWindows has all rows in memory.
type memoryWindows struct {
	index  *block.Index
	rows   int
	stride int
	beside bool // compute permutations on another goroutine
	draws  []uint32
}

func (s *memoryWindows) Permuted(ctx context.Context, p *learner.Permutation, visit func(Window) error) error {
	return p.Each(ctx, s.beside, func(k int, rows []uint32) error {
		return visit(Window{Rows: rows, Index: s.index, Ahead: s.prefetched(p.Window(k + 1))})
	})
}

// aheadBytes is the size of the largest window that is prefetched: two such windows fit in a second-level cache of 1
// MiB. A larger window evicts the window in use: at d = 300, an epoch takes 11 ms without prefetches and 17 ms with
// prefetches.
const aheadBytes = 512 << 10

// prefetched returns the chunks of a window, or nil if the window is too large for prefetches.
func (s *memoryWindows) prefetched(chunks []uint32) []uint32 {
	if windowRows*s.stride*4 > aheadBytes {
		return nil
	}
	return chunks
}

func (s *memoryWindows) Drawn(_ context.Context, rng *rand.PCG, skip int64, visit func(Window) error) error {
	for left := s.rows - skipDraws(rng, s.rows, skip); left > 0; left -= len(s.draws) {
		s.draws = drawRows(s.draws[:0], min(left, windowRows), rng, s.rows)
		if err := visit(Window{Rows: s.draws, Index: s.index}); err != nil {
			return err
		}
	}
	return nil
}

// skipDraws makes the draws of the windows before the window that has draw number skip. It returns the number of these
// draws.
func skipDraws(rng *rand.PCG, rows int, skip int64) (draws int) {
	draws = int(min(skip, int64(rows)))
	if draws < rows {
		draws -= draws % windowRows
	}
	for range draws {
		rng.Uint64()
	}
	return draws
}

// WithinDraws returns the number of draws before draw number skip in its window. rows is the number of rows, and of
// draws in an epoch.
func WithinDraws(rows, skip int64) int {
	if skip >= rows {
		return 0
	}
	return int(skip % windowRows)
}

// drawRows appends n draws from all rows to dst.
func drawRows(dst []uint32, n int, rng *rand.PCG, rows int) []uint32 {
	for range n {
		dst = append(dst, uint32(learner.Draw(rng, uint64(rows))))
	}
	return dst
}

// A fileWindows reads the rows of each window from a file. While one window is visited, it reads the next windows.
type fileWindows struct {
	src  block.Seekable
	rows int
	used []*readWindow
}

// A readWindow is a window with its own memory. The numbers of its rows are their places in that memory.
type readWindow struct {
	Window
	chunks []*block.Block // the memory, in blocks of kernel.EighthRows rows
	again  func()         // called after rows are read
}

func newFileWindows(src block.Seekable, filled func(*block.Index) func()) (*fileWindows, error) {
	s := &fileWindows{src: src, rows: int(src.Rows())}
	chunks := min(learner.WindowEighths, (s.rows+kernel.EighthRows-1)/kernel.EighthRows)
	for range learner.WindowsInFlight(src.Rows(), 1) {
		w, err := newReadWindow(src.Spec(), chunks, src.Sparse())
		if err != nil {
			return nil, err
		}
		again := filled(w.Index)
		w.again = func() {
			if src.Sparse() {
				w.Index.Renew()
			}
			again()
		}
		s.used = append(s.used, w)
	}
	return s, nil
}

// newReadWindow returns a window with memory for a number of chunks.
func newReadWindow(spec *schema.Spec, chunks int, sparse bool) (w *readWindow, err error) {
	w = &readWindow{chunks: make([]*block.Block, chunks)}
	if sparse {
		for c := range chunks {
			w.chunks[c] = block.NewSparseFor(spec, 0, kernel.EighthRows, 0)
		}
		w.Index = block.NewSparseIndex(w.chunks)
		return w, nil
	}
	b := block.NewFor(spec, 0, chunks*kernel.EighthRows)
	for c := range chunks {
		w.chunks[c] = b.Slice(c*kernel.EighthRows, (c+1)*kernel.EighthRows)
	}
	w.Index, err = block.NewData(spec, []*block.Block{b}).Index()
	return w, err
}

func (s *fileWindows) Permuted(ctx context.Context, p *learner.Permutation, visit func(Window) error) error {
	return s.each(ctx, p.Windows()-p.First(), visit, func(k int, w *readWindow) func() error {
		k += p.First()
		w.Rows = p.Positions(w.Rows[:0], k)
		w.chunksOf = p.Window(k)
		return func() error { return w.readChunks(s.src, w.chunksOf) }
	})
}

func (s *fileWindows) Drawn(ctx context.Context, rng *rand.PCG, skip int64, visit func(Window) error) error {
	rows := s.rows - skipDraws(rng, s.rows, skip)
	return s.each(ctx, (rows+windowRows-1)/windowRows, visit, func(k int, w *readWindow) func() error {
		w.draws = drawRows(w.draws[:0], min(windowRows, rows-k*windowRows), rng, s.rows)
		w.Rows = w.Rows[:0]
		for i := range w.draws {
			w.Rows = append(w.Rows, uint32(i))
		}
		return func() error { return w.readDraws(s.src) }
	})
}

// each visits n windows, which begin fills as in parallel.Prefetch.
func (s *fileWindows) each(ctx context.Context, n int, visit func(Window) error,
	begin func(k int, w *readWindow) func() error) error {
	for w, err := range parallel.Prefetch(ctx, n, s.used, begin) {
		if err == nil {
			err = visit(w.Window)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readChunks reads whole chunks into the window, in the given order.
func (w *readWindow) readChunks(src block.Seekable, chunks []uint32) error {
	for i, c := range chunks {
		if err := src.ReadChunk(int(c), w.chunks[i]); err != nil {
			return err
		}
	}
	w.again()
	return nil
}

// readDraws reads the drawn rows.
func (w *readWindow) readDraws(src block.Seekable) error {
	c := 0
	for rows := range slices.Chunk(w.draws, kernel.EighthRows) {
		if err := src.ReadRows(rows, w.chunks[c]); err != nil {
			return err
		}
		c++
	}
	w.again()
	return nil
}
