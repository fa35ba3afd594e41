package learner

import (
	"context"
	"math/bits"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"halfspace/kernel"
)

// WindowGroups is the number of groups of kernel.GroupRows rows in a window. The rows of a window are permuted
// together.
const WindowGroups = 8

// A Permutation is one random order of n rows. It computes one window of rows at a time.
//
// The rows are cut into groups of 512 rows. First the groups are permuted. Then each 8 consecutive groups of
// that order make a window of up to 4,096 rows, and the rows of each window are permuted. With up to 4,096 rows there is
// one window, its groups stay in order, and the result is a plain Fisher-Yates permutation. All random numbers come
// from one PCG generator. Its first word is the seed, and its second word is the number of the epoch, from 0.
type Permutation struct {
	n      int
	rng    *rand.PCG
	groups []uint32 // numbers of the groups, permuted
	first  int      // the window to begin with
}

// NewPermutation returns the permutation of n rows for an epoch. It begins with its first window.
func NewPermutation(n int, seed uint64, epoch int64) *Permutation {
	p := &Permutation{n: n, rng: rand.NewPCG(seed, uint64(epoch))}
	p.groups = make([]uint32, (n+kernel.GroupRows-1)/kernel.GroupRows)
	for i := range p.groups {
		p.groups[i] = uint32(i)
	}
	if len(p.groups) > WindowGroups {
		Permute(p.groups, p.rng)
	}
	return p
}

// Windows returns the number of windows.
func (p *Permutation) Windows() int { return (len(p.groups) + WindowGroups - 1) / WindowGroups }

// Skip makes the permutation begin with the window that holds the row at position rows of the permuted order, counted
// from 0. It returns the number of rows of that window before this position. If the permutation has no such position,
// it begins after its last window, and Skip returns 0.
func (p *Permutation) Skip(rows int64) (within int) {
	var window []uint32
	for ; p.first < p.Windows(); p.first++ {
		n := int64(0)
		for _, c := range p.Window(p.first) {
			n += int64(p.groupRows(c))
		}
		if rows < n {
			return int(rows)
		}
		rows -= n
		window = p.Rows(window[:0], p.first) // draws the random numbers of the window
	}
	return 0
}

// First returns the number of the window to begin with: 0 without Skip.
func (p *Permutation) First() int { return p.first }

// Window returns the numbers of the groups of window k. It returns no groups if k is past the last window.
func (p *Permutation) Window(k int) []uint32 {
	lo := min(len(p.groups), k*WindowGroups)
	return p.groups[lo:min(len(p.groups), lo+WindowGroups)]
}

// Rows appends the row numbers of window k to dst in their permuted order. Call it for each window in order, because
// the windows share one generator.
func (p *Permutation) Rows(dst []uint32, k int) []uint32 {
	return p.appendWindow(dst, k, func(_ int, group uint32) uint32 { return group })
}

// Positions is Rows with positions instead of row numbers: positions in a block that holds the window's groups in their
// permuted order.
func (p *Permutation) Positions(dst []uint32, k int) []uint32 {
	return p.appendWindow(dst, k, func(i int, _ uint32) uint32 { return uint32(i) })
}

// appendWindow appends the permuted rows of window k. The rows of the window's group at position i have the numbers of
// the group number(i, group).
func (p *Permutation) appendWindow(dst []uint32, k int, number func(i int, group uint32) uint32) []uint32 {
	start := len(dst)
	for i, c := range p.Window(k) {
		first := number(i, c) * kernel.GroupRows
		for r := range uint32(p.groupRows(c)) {
			dst = append(dst, first+r)
		}
	}
	Permute(dst[start:], p.rng)
	return dst
}

func (p *Permutation) groupRows(c uint32) int {
	return min(kernel.GroupRows, p.n-int(c)*kernel.GroupRows)
}

// Permute permutes s by Fisher and Yates: for i from the last element down to 1, it swaps s[i] with s[j], j drawn
// from 0 to i.
func Permute[E any](s []E, rng *rand.PCG) {
	for i := len(s) - 1; i > 0; i-- {
		j := Draw(rng, uint64(i)+1)
		s[i], s[j] = s[j], s[i]
	}
}

// Draw returns a random number below n: the high word of the 128-bit product of n and one output of the generator. The
// probability of each number is 1/n with a relative error below n/2^64.
func Draw(rng *rand.PCG, n uint64) uint64 {
	hi, _ := bits.Mul64(rng.Uint64(), n)
	return hi
}

// windowBatch is the row numbers of several consecutive windows of a permutation, from window first on.
type windowBatch struct {
	first   int
	windows [][]uint32
}

// batchWindows is the number of windows in one send on a channel. With 8 windows the cost of a send doesn't matter.
const batchWindows = 8

// EachWindow calls visit for every window in order, from window First on. With ahead, another goroutine computes the
// next windows meanwhile.
func (p *Permutation) EachWindow(ctx context.Context, ahead bool, visit func(k int, rows []uint32) error) error {
	if !ahead || p.Windows() <= batchWindows {
		var buf []uint32
		for k := p.first; k < p.Windows(); k++ {
			buf = p.Rows(buf[:0], k)
			if err := visit(k, buf); err != nil {
				return err
			}
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	ready, used := make(chan windowBatch, 2), make(chan windowBatch, 2)
	used <- windowBatch{}
	used <- windowBatch{}
	g.Go(func() error {
		defer close(ready)
		return p.produce(ctx, ready, used)
	})
	g.Go(func() error {
		for next := range ready {
			for i, rows := range next.windows {
				if err := visit(next.first+i, rows); err != nil {
					return err
				}
			}
			used <- next
		}
		return nil
	})
	return g.Wait()
}

func (p *Permutation) produce(ctx context.Context, ready chan<- windowBatch, used <-chan windowBatch) error {
	for k := p.first; k < p.Windows(); k += batchWindows {
		var next windowBatch
		select {
		case next = <-used:
		case <-ctx.Done():
			return ctx.Err()
		}
		if next.windows == nil {
			next.windows = make([][]uint32, batchWindows)
		}
		next.first = k
		next.windows = next.windows[:min(batchWindows, p.Windows()-k)]
		for i := range next.windows {
			next.windows[i] = p.Rows(next.windows[i][:0], k+i)
		}
		ready <- next
	}
	return nil
}

// WindowRows is the number of rows in a window of a permutation, and of draws in a window of draws.
const WindowRows = WindowGroups * kernel.GroupRows

// WindowsInFlight returns the most windows in memory of a training on a source of the given number of rows that isn't
// in memory. While one window is visited, the next windows are read. shards is the number of shards that learn at the
// same time, at least 1; each shard has its own windows.
func WindowsInFlight(rows, shards int64) int64 { return min(3*shards, (rows+WindowRows-1)/WindowRows) }

// WindowBytes returns the bytes of WindowsInFlight. bytes returns the memory of blocks of a number of rows. A training
// without shards has windows if its order isn't cyclic; a shard in the cyclic order has as many chunks instead.
func WindowBytes(rows, shards int64, bytes func(rows int64) int64) int64 {
	return WindowsInFlight(rows, shards) * bytes(WindowRows)
}
