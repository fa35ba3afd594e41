package parquet

import (
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/block"
)

// A hugeAllocator is Go's allocator, except that it cuts buffers out of chunks with huge pages. The system takes much
// longer to provide and clear the small pages of a buffer than the program takes to fill the buffer. The garbage
// collector frees a chunk when no buffer in it is in use, so this allocator suits buffers that are reused.
type hugeAllocator struct {
	mu         sync.Mutex
	rest       []byte
	chunkBytes int // of the last chunk
}

// The first chunk has no huge pages: a small file needs few bytes, and the system clears a huge page whole. Each chunk is
// chunkGrowth times as large as the last one, up to hugeChunkBytes.
const (
	firstChunkBytes  = 512 << 10
	chunkGrowth      = 8
	hugeChunkBytes   = 8 << 20
	minHuge, maxHuge = 4 << 10, hugeChunkBytes / 4
	bufferAlign      = 64
)

// huge returns mem, but a hugeAllocator in place of Go's allocator.
func huge(mem Allocator) Allocator {
	if mem == memory.DefaultAllocator {
		return &hugeAllocator{}
	}
	return mem
}

// Allocate returns n bytes. Go's allocator provides buffers that are too small or too large for huge pages.
func (a *hugeAllocator) Allocate(n int) []byte {
	if n < minHuge || n > maxHuge {
		return memory.DefaultAllocator.Allocate(n)
	}
	size := (n + bufferAlign - 1) / bufferAlign * bufferAlign
	a.mu.Lock()
	defer a.mu.Unlock()
	if size > len(a.rest) {
		a.chunkBytes = min(max(firstChunkBytes, size, a.chunkBytes*chunkGrowth), hugeChunkBytes)
		words := block.Alloc[float64](a.chunkBytes / 8)
		a.rest = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), a.chunkBytes)
	}
	b := a.rest[:n:n]
	a.rest = a.rest[size:]
	return b
}

// Free does nothing: the garbage collector frees a chunk when no buffer in it is in use.
func (a *hugeAllocator) Free([]byte) {}
