package page

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// An Allocator is where memory comes from and goes back to.
type Allocator interface {
	Allocate(n int) []byte
	Free(b []byte)
}

// A Pool hands out memory and takes it back to hand it out again, still in the processor's cache. It is safe for
// concurrent use.
type Pool struct {
	mem    Allocator
	mu     sync.Mutex
	spare  map[int][][]byte // by size
	shift  atomic.Int64     // of the last large buffer
	closed bool
}

// NewPool returns a pool of memory from mem, whose addresses must be multiples of 8.
func NewPool(mem Allocator) *Pool { return &Pool{mem: mem, spare: map[int][][]byte{}} }

// Large buffers would all begin at the same place of a memory page, and then, when many columns are read side by side,
// their lines compete for the same few places in the processor's first cache. So each begins some lines further on than
// the one before; small ones don't matter.
const (
	line     = 64
	maxShift = 61 * line
	large    = 8 << 10
)

// slack is how much memory there is behind a buffer's bytes: some decompressors are faster with room to spare.
const slack = 32

// Get returns a buffer of n bytes of any content, the caller's to release.
func (p *Pool) Get(n int) *Buffer {
	// Sizes are rounded up by a quarter at most, so that buffers of nearly the same size replace each other.
	room := n + slack
	if room >= large {
		room += maxShift
	}
	step := max(64, 1<<max(0, bits.Len(uint(room))-3))
	size := (room + step - 1) / step * step
	b := &Buffer{pool: p}
	b.refs.Store(1)
	p.mu.Lock()
	if s := p.spare[size]; len(s) > 0 {
		b.memory = s[len(s)-1]
		p.spare[size] = s[:len(s)-1]
	}
	p.mu.Unlock()
	if b.memory == nil {
		b.memory = p.mem.Allocate(size)
	}
	b.Bytes = b.memory[:n]
	if room >= large {
		shift := int(p.shift.Add(line)) % maxShift
		b.Bytes = b.memory[shift:][:n]
	}
	return b
}

// Close gives memory that isn't in use back. What is in use then follows when it is released.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for size, spare := range p.spare {
		for _, b := range spare {
			p.mem.Free(b)
		}
		delete(p.spare, size)
	}
}

func (p *Pool) put(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.mem.Free(b)
		return
	}
	p.spare[len(b)] = append(p.spare[len(b)], b)
}

// A Buffer is memory with a count of its users. All methods but Slice accept nil.
type Buffer struct {
	Bytes  []byte
	pool   *Pool
	memory []byte
	parent *Buffer // which a slice retains
	refs   atomic.Int32
}

// Slice returns a buffer of bytes lo to hi of b, in the same memory.
func (b *Buffer) Slice(lo, hi int) *Buffer {
	b.refs.Add(1)
	s := &Buffer{Bytes: b.Bytes[lo:hi:hi], parent: b}
	s.refs.Store(1)
	return s
}

// Release lets go of the buffer. The last one to do so gives its memory back.
func (b *Buffer) Release() {
	if b == nil || b.refs.Add(-1) > 0 {
		return
	}
	if b.parent != nil {
		b.parent.Release()
	} else {
		b.pool.put(b.memory)
	}
	b.Bytes, b.memory = nil, nil
}

// grow returns a buffer of at least n bytes with the first used bytes of b, which it releases, or b itself.
func (p *Pool) grow(b *Buffer, used, n int) *Buffer {
	if b != nil && n <= len(b.Bytes) {
		return b
	}
	bigger := p.Get(n)
	if b != nil {
		copy(bigger.Bytes, b.Bytes[:used])
		b.Release()
	}
	return bigger
}
