package column

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A Slab is the memory of the columns of a batch. It returns to its pool when its maker and the last column are done with it: the system
// takes longer to provide new memory than a batch takes to fill it.
type Slab struct {
	words []uint64 // so that numbers are aligned
	size  int      // binary logarithm of their number
	users atomic.Int64
}

// slabs has a pool of slabs for each power of two: the slabs in slabs[k] have 1<<k words.
var slabs [64]sync.Pool

// NewSlab returns a slab of n bytes or more.
func NewSlab(n int64) *Slab {
	k := bits.Len64(uint64(max(n, 1)-1) / 8) // 1<<k words are the fewest that are enough
	s, _ := slabs[k].Get().(*Slab)
	if s == nil {
		s = &Slab{words: make([]uint64, 1<<k), size: k}
	}
	s.users.Store(1)
	return s
}

// Bytes returns the first n bytes of the slab.
func (s *Slab) Bytes(n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.words))), n)
}

// Buffer returns bytes of the slab as a buffer of Arrow.
func (s *Slab) Buffer(b []byte) *memory.Buffer {
	s.users.Add(1)
	return memory.NewBufferWithAllocator(b, s)
}

// Done says that the maker of the slab is done with it.
func (s *Slab) Done() { s.Free(nil) }

// Free is called when a buffer is released.
func (s *Slab) Free([]byte) {
	if s.users.Add(-1) == 0 {
		slabs[s.size].Put(s)
	}
}

// Allocate returns new memory. No buffer of a slab grows.
func (s *Slab) Allocate(n int) []byte { return memory.DefaultAllocator.Allocate(n) }

// Reallocate returns new memory. No buffer of a slab grows.
func (s *Slab) Reallocate(n int, b []byte) []byte { return memory.DefaultAllocator.Reallocate(n, b) }
