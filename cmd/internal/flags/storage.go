package flags

import (
	"os"
	"path/filepath"
	"runtime/debug"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/train/learner"
)

// Storage are the options on where the rows are kept. They change no result.
type Storage struct {
	Memory Size
	cache  string

	// The following fields come from the verb, not from flags.
	Out              string // the file that the verb writes, which the cache must not be; "": none
	Access           learner.Access
	Shards           int64 // largest number of shards that learn at the same time; 0: one. Open lowers it if the memory is too small
	HasWeights       bool  // rows have weights
	HasHoldOut       bool  // some rows are held out, so that rows take their memory twice for a while
	HasFolds         bool  // each fold has its own features: its rows are in memory in addition to all rows
	HasLearningCurve bool  // a learning curve takes the memory of half of the rows once more
	CachesEachPart   bool  // each part of the rows gets its own cache

	VerbBytes func(rows int64, cols int) int64 // bytes that the verb needs in addition to the rows; nil: none
}

// check returns an error if --cache can't be used.
func (s *Storage) check() error {
	if s.cache != "" && console.ToStdout(s.cache) {
		return console.Usagef("--cache is %s: name a file", s.cache)
	}
	if s.cache == "" || s.Out == "" {
		return nil
	}
	a, errA := os.Stat(s.cache)
	b, errB := os.Stat(s.Out)
	if filepath.Clean(s.Out) == filepath.Clean(s.cache) || errA == nil && errB == nil && os.SameFile(a, b) {
		return console.Usagef("--cache and --out are both %s: name two files", s.Out)
	}
	return nil
}

// Hold sets the garbage collector's memory limit for a learner that fills the memory. bytes is the size of the rows in
// memory.
func (s *Storage) Hold(bytes int64) {
	if s.Memory.Bytes == 0 {
		bytes = 0 // the limit doesn't include the rows
	}
	debug.SetMemoryLimit(s.Memory.Limit() + bytes)
}

// Extend raises the garbage collector's memory limit by bytes for a learner that copies the rows.
func (s *Storage) Extend(bytes int64) {
	now := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(max(now, min(s.Memory.Limit(), now+bytes)))
}

// copies returns how many times the verb copies the rows.
func (s *Storage) copies() float64 {
	copies := 0.
	if s.HasHoldOut {
		copies++
	}
	if s.HasFolds {
		copies++
	}
	if s.HasLearningCurve {
		copies += 0.5
	}
	return copies
}

// budget returns the budget of rows, by the options and the verb. Opening the rows may lower s.Shards.
func (s *Storage) budget() dataset.Budget {
	b := dataset.Budget{Memory: s.Memory.Limit(), Cache: s.cache, InOrder: s.Access < learner.NestedPasses || s.CachesEachPart,
		ManyPasses: s.Access == learner.ManyPasses && !s.CachesEachPart, Weighted: s.HasWeights, Copies: s.copies(),
		SetLimit: func(bytes int64) { debug.SetMemoryLimit(bytes) }}
	if s.VerbBytes != nil {
		b.Beside = func(rows int64, cols int, _ func(rows int64) int64) int64 { return s.VerbBytes(rows, cols) }
	}
	switch s.Access {
	case learner.AnyOrder:
		b.Passes = func(rows, _, room int64, bytes func(rows int64) int64) int64 {
			for s.Shards > 1 && learner.WindowBytes(rows, s.Shards, bytes) > room {
				s.Shards--
			}
			return learner.WindowBytes(rows, max(1, s.Shards), bytes)
		}
	case learner.NestedPasses:
		b.Passes = func(_, pass, _ int64, _ func(rows int64) int64) int64 { return pass }
	}
	return b
}

// budgetBeside returns the budget of further rows, beside the rows that are learned from.
func (s *Storage) budgetBeside(learned block.Source) dataset.Budget {
	b := dataset.Budget{Memory: s.Memory.Limit(), Weighted: s.HasWeights}
	used := block.MemoryBytes(learned, s.HasWeights)
	held := used + int64(s.copies()*float64(used))
	_, inMemory := learned.(*block.Data)
	b.Beside = func(_ int64, cols int, bytes func(rows int64) int64) int64 {
		switch {
		case !inMemory:
			return min(used, block.BlocksInFlight*bytes(int64(block.Rows(cols)))) + learner.WindowBytes(learned.Rows(),
				max(1, s.Shards), bytes)
		case s.Memory.Bytes == 0:
			return held - used // the limit is relative to the memory that is available now
		}
		return held
	}
	b.SetLimit = func(bytes int64) { debug.SetMemoryLimit(max(debug.SetMemoryLimit(-1), bytes)) }
	return b
}
