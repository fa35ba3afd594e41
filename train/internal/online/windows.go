package online

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
)

// cut returns the function that returns the panel with the rows from position at on, at most the given number.
func (w *window) cut(stride int) func(at, rows int) Panel {
	return func(at, rows int) Panel {
		e, lo := at/kernel.GroupRows, at%kernel.GroupRows
		hi := min(kernel.GroupRows, lo+rows)
		return Panel{Place: at, Index: w.index, Cached: w.cached, window: w, Rows: w.rows[at:min(len(w.rows), at+hi-lo)],
			Prefetch: w.prefetch(e, lo, hi, stride)}
	}
}

// prefetch returns the features of rows lo to hi-1 of group number e of prefetchGroups, or nil if there are none.
func (w *window) prefetch(e, lo, hi, stride int) []float32 {
	if e >= len(w.prefetchGroups) || w.index.Rows() == nil {
		return nil
	}
	x := w.index.Rows().Group(int(w.prefetchGroups[e]))
	return x[min(lo*stride, len(x)):min(hi*stride, len(x))]
}

// windows gives rows to a learner by number. Its methods call visit with one window after another, and stop at the
// first error.
type windows interface {
	eachPermuted(ctx context.Context, p *learner.Permutation, visit func(*window) error) error

	// eachDrawn begins with the window that has draw number skip, counted from 0.
	eachDrawn(ctx context.Context, rng *rand.PCG, skip int64, visit func(*window) error) error
}

type prepareIndex = func(*block.Index) (cached any, refresh func())

// newWindows returns windows of the rows of src, which must be a *block.Data or a block.Seekable. It uses the order and
// the workers of opt.
func newWindows(src block.Source, opt learner.Options, prepare prepareIndex) (windows, error) {
	if src.Rows() > math.MaxUint32 {
		return nil, message.Errorf("there are %d rows, and orders other than cyclic take up to %d: use --order cyclic",
			src.Rows(), uint32(math.MaxUint32))
	}
	switch src := src.(type) {
	case *block.Data:
		index, err := src.Index()
		if err != nil {
			return nil, err
		}
		cached, _ := prepare(index)
		return &memoryWindows{allRows: window{index: index, cached: cached}, rows: int(src.Rows()),
			stride: kernel.Stride(src.Spec().Cols()), permutesAhead: opt.Workers > 1}, nil
	case block.Seekable:
		return newFileWindows(src, prepare)
	}
	return nil, fmt.Errorf("the order %s needs the rows in memory or in a cache file", opt.Order)
}

// A memoryWindows has all rows in memory.
type memoryWindows struct {
	allRows       window
	rows          int
	stride        int
	permutesAhead bool // compute permutations on another goroutine
}

func (s *memoryWindows) eachPermuted(ctx context.Context, p *learner.Permutation, visit func(*window) error) error {
	return p.EachWindow(ctx, s.permutesAhead, func(k int, rows []uint32) error {
		if s.allRows.rows = rows; learner.WindowRows*s.stride*4 <= mostPrefetchBytes {
			s.allRows.prefetchGroups = p.Window(k + 1)
		}
		return visit(&s.allRows)
	})
}

// mostPrefetchBytes is the size of the largest window that is prefetched: two such windows fit in a second-level cache
// of 1 MiB. A larger window evicts the window in use: at d = 300, an epoch takes 11 ms without prefetches and 17 ms
// with prefetches.
const mostPrefetchBytes = 512 << 10

func (s *memoryWindows) eachDrawn(_ context.Context, rng *rand.PCG, skip int64, visit func(*window) error) error {
	for left := s.rows - skipDraws(rng, s.rows, skip); left > 0; left -= len(s.allRows.rows) {
		s.allRows.rows = drawRows(s.allRows.rows[:0], min(left, learner.WindowRows), rng, s.rows)
		if err := visit(&s.allRows); err != nil {
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
		draws -= draws % learner.WindowRows
	}
	for range draws {
		rng.Uint64()
	}
	return draws
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
	src     block.Seekable
	rows    int
	windows []*readWindow
}

// A readWindow is a window with its own memory. The numbers of its rows are their places in that memory.
type readWindow struct {
	window
	memory  []*block.Block // blocks of kernel.GroupRows rows
	refresh func()         // called after rows are read
}

func newFileWindows(src block.Seekable, prepare prepareIndex) (*fileWindows, error) {
	s := &fileWindows{src: src, rows: int(src.Rows())}
	groups := min(learner.WindowGroups, (s.rows+kernel.GroupRows-1)/kernel.GroupRows)
	for range learner.WindowsInFlight(src.Rows(), 1) {
		w, err := newReadWindow(src.Spec(), groups, src.Sparse())
		if err != nil {
			return nil, err
		}
		cached, refresh := prepare(w.index)
		w.cached = cached
		w.refresh = func() {
			if src.Sparse() {
				w.index.Renew()
			}
			refresh()
		}
		s.windows = append(s.windows, w)
	}
	return s, nil
}

// newReadWindow returns a window with memory for a number of groups.
func newReadWindow(spec *schema.Spec, groups int, sparse bool) (w *readWindow, err error) {
	w = &readWindow{memory: make([]*block.Block, groups)}
	if sparse {
		for e := range groups {
			w.memory[e] = block.NewSparseFor(spec, 0, kernel.GroupRows, 0)
		}
		w.index = block.NewSparseIndex(w.memory)
		return w, nil
	}
	b := block.NewFor(spec, 0, groups*kernel.GroupRows)
	for e := range groups {
		w.memory[e] = b.Slice(e*kernel.GroupRows, (e+1)*kernel.GroupRows)
	}
	w.index, err = block.NewData(spec, []*block.Block{b}).Index()
	return w, err
}

func (s *fileWindows) eachPermuted(ctx context.Context, p *learner.Permutation, visit func(*window) error) error {
	return s.eachWindow(ctx, p.Windows()-p.First(), visit, func(k int, w *readWindow) func(e int) (bool, error) {
		k += p.First()
		w.rows = p.Positions(w.rows[:0], k)
		w.groups = p.Window(k)
		return func(e int) (bool, error) {
			return e+1 < len(w.groups), s.src.ReadGroup(int(w.groups[e]), w.memory[e])
		}
	})
}

func (s *fileWindows) eachDrawn(ctx context.Context, rng *rand.PCG, skip int64, visit func(*window) error) error {
	rows := s.rows - skipDraws(rng, s.rows, skip)
	return s.eachWindow(ctx, (rows+learner.WindowRows-1)/learner.WindowRows, visit, func(k int, w *readWindow) func(e int) (bool, error) {
		w.draws = drawRows(w.draws[:0], min(learner.WindowRows, rows-k*learner.WindowRows), rng, s.rows)
		w.rows = w.rows[:0]
		for i := range w.draws {
			w.rows = append(w.rows, uint32(i))
		}
		return func(e int) (bool, error) {
			lo, hi := e*kernel.GroupRows, min(len(w.draws), (e+1)*kernel.GroupRows)
			return hi < len(w.draws), s.src.ReadRows(w.draws[lo:hi], w.memory[e])
		}
	})
}

// eachWindow visits n windows. begin chooses the rows of window k, and returns the function that reads group e of the
// window and tells whether another group follows.
func (s *fileWindows) eachWindow(ctx context.Context, n int, visit func(*window) error,
	begin func(k int, w *readWindow) (read func(e int) (more bool, err error))) error {
	for w, err := range parallel.Prefetch(ctx, n, s.windows, func(k int, w *readWindow) func() error {
		read := begin(k, w)
		return func() (err error) {
			for e, more := 0, true; more && err == nil; e++ {
				more, err = read(e)
			}
			if err == nil {
				w.refresh()
			}
			return err
		}
	}) {
		if err == nil {
			err = visit(&w.window)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
