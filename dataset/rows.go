package dataset

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/message"
)

// A Budget says how much memory rows may take, and how they are read.
type Budget struct {
	Memory int64  // most bytes of memory for the rows, their copies and Beside; 0: Options.Memory
	Cache  string // for Open: file that stores the rows, for this opening and later ones; "": none

	// InOrder: each pass reads the rows in their order. Rows that don't fit in memory are read again from the files then.
	// Otherwise they are written to a temporary cache first.
	InOrder bool
	// ManyPasses, with InOrder: the passes are many. If the system has the memory to keep a temporary cache, the first
	// whole pass writes it, and the later passes read it.
	ManyPasses bool
	Weighted   bool    // the rows get weights
	Copies     float64 // number of copies of rows in memory that the caller makes; 0.5 is a copy of half of the rows

	// Beside returns the bytes of memory that the caller needs beside rows of cols columns. bytes returns the bytes of a
	// number of rows. nil: none.
	Beside func(rows int64, cols int, bytes func(rows int64) int64) int64
	// Passes returns the bytes of memory that passes over rows that don't fit need, beside the bytes of a pass in the order
	// of the rows. room is the number of bytes that are left. nil: none.
	Passes func(rows, pass, room int64, bytes func(rows int64) int64) int64
	// Engine, unless it is nil or there is a Cache, opens the rows in other processes too. Then this process streams the
	// rows, for work that the others can't do.
	Engine Engine
	// SetLimit, unless nil, is called with the bytes of memory to which the garbage collector should be limited.
	SetLimit func(bytes int64)
}

// Rows are the rows of a plan, ready for passes: in memory, as a stream of the files, or in a cache.
type Rows struct {
	block.Source
	Lake    string  // the version of the lake table with the rows, in words
	Density float64 // approximate share of values that aren't 0, for sparse rows; otherwise 0

	close  func() error                         // nil for rows in memory
	replan func(context.Context) (*Plan, error) // nil: no feature depends on the rows
}

// NewRows returns the rows of src. Close calls close, unless that is nil.
func NewRows(src block.Source, close func() error) *Rows { return &Rows{Source: src, close: close} }

// rowsOf returns the rows of a plan, which src reads.
func (p *Plan) rowsOf(src block.Source) *Rows {
	rows := NewRows(src, nil)
	rows.Lake = p.table.Lake()
	if p.isLearned() { // otherwise the descriptions of the columns needn't stay, 300 bytes each
		rows.replan = func(context.Context) (*Plan, error) { return p, nil }
	}
	return rows
}

// Close closes the rows and removes their temporary cache. It does nothing if r is nil.
func (r *Rows) Close() error {
	if r == nil || r.close == nil {
		return nil
	}
	return r.close()
}

// Unwrap returns the rows without Refit.
func (r *Rows) Unwrap() block.Source { return block.AssumeValid(r.Source) }

// Refit returns, for each choice of rows, a function that opens all rows with the features learned from the chosen
// rows: in memory if r is in memory, otherwise as a stream. It returns nil if no feature depends on the rows. By it,
// package train learns features only from the rows that it learns from, for example the rows outside a fold.
func (r *Rows) Refit(ctx context.Context, choices []func(class int) bool) (all []func(context.Context) (block.Source, error), err error) {
	data, inMemory := r.Source.(*block.Data)
	switch {
	case r.replan == nil && inMemory:
		return data.Refit(ctx, choices)
	case r.replan == nil:
		return nil, nil
	}
	p, err := r.replan(ctx)
	if err != nil || !p.isLearned() {
		return nil, err
	}
	plans, err := p.shares(ctx, func([]int64) []func(class int) bool { return choices })
	for _, p := range plans {
		p.table = p.table.withoutNotes() // all rows were read before, and gave their notes
		all = append(all, func(ctx context.Context) (block.Source, error) {
			if inMemory {
				return loadValid(p.Load(ctx))
			}
			return p.Stream(ctx)
		})
	}
	return all, err
}

// loadValid returns loaded rows, which nothing changes from then on. Their values were checked while they were read.
func loadValid(data *block.Data, err error) (block.Source, error) {
	if err != nil {
		return nil, err
	}
	return block.AssumeValid(data), nil
}

// Open examines files, plans the use of their columns and rows, and opens the rows. With Budget.Cache it reads the
// rows only if the cache isn't of these files and options.
func Open(ctx context.Context, paths []string, opt Options, b Budget) (*Rows, error) {
	if b.Cache != "" && slices.Contains(paths, "-") {
		return nil, errors.New("-: a cache of standard input could serve no later run: save it and name the file")
	}
	t, err := Examine(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	if b.Cache != "" {
		return t.openCache(ctx, opt, b)
	}
	if b.Engine != nil && opt.Spec == nil {
		if opt.Cluster, err = b.Engine(SharedPlan{}, 0, opt.Memory); err != nil {
			return nil, err
		}
	}
	p, err := t.Plan(ctx, opt)
	if err != nil {
		return nil, err
	}
	return p.Open(ctx, b)
}

// Open returns the rows: in memory if they fit in the budget. Otherwise each pass reads the files again, or, unless
// b.InOrder, a temporary cache.
func (p *Plan) Open(ctx context.Context, b Budget) (*Rows, error) {
	return withPlan(ctx, p, func(p *Plan) (*Rows, error) { return p.open(ctx, b) })
}

// manyBytes is the size of rows from which a garbage collection before their allocation takes only a small share of the
// time.
const manyBytes = 64 << 20

func (p *Plan) open(ctx context.Context, b Budget) (*Rows, error) {
	if b.Engine != nil {
		return p.openDistributed(ctx, b.Engine)
	}
	b = b.withLimit(p.table.opt.Memory)
	bytes := p.bytes(b)
	count, err := p.in.Most(), error(nil)
	if count < 0 || bytes(count) > b.Memory/5*4 { // count the rows only if their bound is too large for the memory
		if count, err = p.count(ctx); err != nil {
			return nil, err
		}
	}
	fits, err := b.fits(count, p.cols(), p.pagesMemory(), bytes)
	if err != nil {
		return nil, err
	}
	if fits {
		if p.isSparse() && bytes(count) >= manyBytes {
			debug.FreeOSMemory() // frees the memory that the plan needed for the columns, before the rows take memory
		}
		data, err := p.load(ctx)
		if err != nil {
			return nil, err
		}
		p.bound.ReleaseTokens(manyBytes) // rows of folds would be made of them, but the training needs memory first
		rows := p.rowsOf(block.AssumeValid(data))
		rows.Density = p.density(data)
		return rows, nil
	}
	stream, err := p.streamed(ctx)
	if err != nil {
		return nil, err
	}
	rows := p.rowsOf(stream)
	rows.Density = p.density(nil)
	switch {
	case !b.InOrder:
		f, err := cache.Temporary(ctx, stream, p.table.opt.cacheProgress(stream.Rows))
		if err != nil {
			return nil, err
		}
		rows.Source, rows.close = f, f.Close
	case b.cacheSavesTime(bytes(stream.Rows())):
		c := &cachingStream{Stream: stream}
		rows.Source, rows.close = c, c.Close
	}
	return rows, nil
}

// cacheSavesTime tells whether the passes over a cache take less time than passes over the files: there are many, and the system
// can keep the cache in memory. A disk would give the compressed files faster.
func (b Budget) cacheSavesTime(cacheBytes int64) bool {
	return b.ManyPasses && cacheBytes <= (memory.Available()-b.Memory)/2
}

// bytes returns the function that returns the bytes of the blocks of a number of rows.
func (p *Plan) bytes(b Budget) func(rows int64) int64 {
	return func(rows int64) int64 { return p.Bytes(rows, b.Weighted) }
}

// cacheProgress returns the progress function of writing a cache of total rows.
func (opt listener) cacheProgress(total func() int64) func(rows int64) {
	told := opt.progressOf(passCache)
	return func(rows int64) {
		if told != nil {
			told(rows, total())
		}
	}
}

// withLimit returns the budget with a limit: memory if it has none.
func (b Budget) withLimit(memory int64) Budget {
	if b.Memory == 0 {
		b.Memory = column.Limit(memory)
	}
	if b.SetLimit == nil {
		b.SetLimit = func(int64) {}
	}
	return b
}

// overhead is the memory of a process without its blocks. columnMemory is the memory of each column while rows are
// loaded: descriptions and names; columnPageBytes is the memory of its pages if the input doesn't estimate it. Without room for
// all of them the garbage collector would run all the time.
const (
	overhead        = 32 << 20
	columnMemory    = 1 << 10
	columnPageBytes = 64 << 10
)

// A pageEstimator is an input that estimates the memory of its pages in bytes while at most mostGroups parts are read at a
// time.
type pageEstimator interface {
	PageBytes(mostGroups int) int64
}

// pagesMemory returns the bytes of memory that pages take while rows are loaded.
func (p *Plan) pagesMemory() int64 {
	in := p.in
	if part, is := in.(*firstRows); is {
		in = part.Input
	}
	if of, is := in.(pageEstimator); is {
		return of.PageBytes(cap(p.table.pool))
	}
	return columnPageBytes * int64(p.cols())
}

// fits returns true if the blocks of count rows fit in memory. It is an error if even the blocks that are in use at one
// time don't fit. pages is the memory of pages while rows are loaded. bytes returns the bytes of the blocks of a number of rows.
func (b Budget) fits(count int64, cols int, pages int64, bytes func(rows int64) int64) (bool, error) {
	all, beside := bytes(count), int64(0)
	if b.Beside != nil {
		beside = b.Beside(count, cols, bytes)
	}
	if held := all + int64(b.Copies*float64(all)) + beside; held <= b.Memory/5*4 {
		garbage := max(held/4, min(held, pages))
		if all < block.Bytes(count, cols, false) { // the rows are sparse: reading text allocates as much as they take
			garbage = held
		}
		b.SetLimit(min(b.Memory, held+max(garbage, columnMemory*int64(cols))+overhead))
		return true, nil
	}
	pass := min(all, block.BlocksInFlight*bytes(int64(block.Rows(cols))))
	least := pass + beside
	if b.Passes != nil {
		least += b.Passes(count, pass, b.Memory-least, bytes)
	}
	if least > b.Memory {
		return false, message.Errorf("%s of memory is too little: reading these rows piece by piece takes %s, give that with --memory",
			humanize.Size(b.Memory), humanize.Size(least))
	}
	b.SetLimit(b.Memory)
	return false, nil
}
