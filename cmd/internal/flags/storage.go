package flags

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"halfspace/block"
	"halfspace/cmd/internal/console"
	"halfspace/internal/humanize"
	"halfspace/train/learner"
)

// Storage are the options on where the rows are kept. They change no result.
type Storage struct {
	Memory Size
	cache  string

	// The following fields come from the verb, not from flags.
	Out      string // the file that the verb writes, which the cache must not be; "": none
	Access   learner.Access
	Shards   int64 // largest number of shards that learn at the same time; 0: one. Open lowers it if the memory is too small
	Weighted bool  // rows have weights
	Shared   bool  // some rows are held out, so that rows take their memory twice for a while
	Folds    bool  // each fold has its own features: its rows are in memory in addition to all rows
	Halved   bool  // a learning curve takes the memory of half of the rows once more
	Parted   bool  // each part of the rows gets its own cache

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

// overhead is the memory of a process without its blocks. columnBytes is the memory of each column while rows are
// loaded: descriptions and names; pageBytes is the memory of its pages. Without room for all of them the garbage collector
// would run all the time.
const (
	overhead    = 32 << 20
	columnBytes = 1 << 10
	pageBytes   = 64 << 10
)

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

// parted returns the bytes of all rows and of the copies that Shared, Folds and Halved need. all is the bytes of the rows
// alone.
func (s *Storage) parted(all int64) int64 {
	held := all
	if s.Shared {
		held += all
	}
	if s.Folds {
		held += all
	}
	if s.Halved {
		held += all / 2
	}
	return held
}

// budget tells whether the blocks fit in memory, and sets the garbage collector's memory limit. bytes returns the bytes
// of the blocks of a number of rows. It is an error if even the blocks that are in use at one time don't fit.
func budget(s *Storage, count int64, cols int, bytes func(rows int64) int64) (fits bool, err error) {
	limit, all := s.Memory.Limit(), bytes(count)
	held := s.parted(all)
	beside := int64(0)
	if s.VerbBytes != nil {
		beside = s.VerbBytes(count, cols)
	}
	if held += beside; held <= limit/5*4 {
		garbage := max(held/4, min(held, pageBytes*int64(cols)))
		if all < block.Bytes(count, cols, false) { // the rows are sparse: reading text allocates as much as they take
			garbage = held
		}
		debug.SetMemoryLimit(min(limit, held+max(garbage, columnBytes*int64(cols))+overhead))
		return true, nil
	}
	pass := min(all, block.InFlight*bytes(int64(block.Rows(cols))))
	least := pass + beside
	switch s.Access {
	case learner.AnyOrder:
		windows := func(shards int64) int64 { return learner.WindowBytes(count, shards, bytes) }
		for s.Shards > 1 && least+windows(s.Shards) > limit {
			s.Shards--
		}
		least += windows(max(1, s.Shards))
	case learner.Nested:
		least += pass
	}
	if least > limit {
		return false, fmt.Errorf("%s of memory is too little: reading these rows piece by piece takes %s, give that with --memory",
			humanize.Size(limit), humanize.Size(least))
	}
	debug.SetMemoryLimit(limit)
	return false, nil
}
