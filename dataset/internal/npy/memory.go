package npy

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A slab is the memory of the columns of a batch. It returns to its pool when its maker and the last column are done with it: the system
// takes longer to provide new memory than a batch takes to fill it.
type slab struct {
	words []uint64 // so that numbers are aligned
	size  int      // binary logarithm of their number
	users atomic.Int64
}

// slabs has a pool of slabs for each power of two: the slabs in slabs[k] have 1<<k words.
var slabs [64]sync.Pool

// newSlab returns a slab of n bytes or more.
func newSlab(n int64) *slab {
	k := bits.Len64(uint64(max(n, 1)-1) / 8) // 1<<k words are the fewest that are enough
	s, _ := slabs[k].Get().(*slab)
	if s == nil {
		s = &slab{words: make([]uint64, 1<<k), size: k}
	}
	s.users.Store(1)
	return s
}

func (s *slab) bytes(n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.words))), n)
}

// buffer returns bytes of the slab as a buffer of Arrow.
func (s *slab) buffer(b []byte) *memory.Buffer {
	s.users.Add(1)
	return memory.NewBufferWithAllocator(b, s)
}

// done says that the maker of the slab is done with it.
func (s *slab) done() { s.Free(nil) }

// Free is called when a buffer is released.
func (s *slab) Free([]byte) {
	if s.users.Add(-1) == 0 {
		slabs[s.size].Put(s)
	}
}

// Allocate returns new memory. No buffer of a slab grows.
func (s *slab) Allocate(n int) []byte { return memory.DefaultAllocator.Allocate(n) }

// Reallocate returns new memory. No buffer of a slab grows.
func (s *slab) Reallocate(n int, b []byte) []byte { return memory.DefaultAllocator.Reallocate(n, b) }
