package parquet

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/memory"
	"halfspace/internal/message"
)

// An Allocator allocates and frees memory.
type Allocator interface {
	Allocate(n int) []byte
	Free(b []byte)
}

// A Pool provides memory and reuses released memory while it is still in the processor's cache. It is safe for
// concurrent use.
type Pool struct {
	// Limit, unless 0, is the maximum number of bytes of buffers in use. It is checked when a buffer is requested for
	// a page, for a dictionary, or for values that take more than Room. The memory of other values is additional, and
	// is limited by the number of rows that are read at a time.
	Limit int

	// Room, unless 0, is the approximate number of bytes of text or of list elements that a reader reads at a time. A
	// reader reads at least one row.
	Room int

	mem              Allocator
	mu               sync.Mutex
	spare            map[int]*spare // by size
	used, most, idle int            // bytes in use now, maximum bytes in use, and spare bytes
	clock            uint64         // number of buffers provided so far
	shift            atomic.Int64   // shift of the last large buffer
	closed           bool
}

// spare is unused memory blocks of one size.
type spare struct {
	free [][]byte
	last uint64 // the clock when this size was last requested
}

// NewPool returns a pool of memory from mem; huge pages replace Go's allocator. The addresses that mem returns must be
// multiples of 8.
func NewPool(mem Allocator) *Pool {
	return &Pool{mem: huge(mem), spare: map[int]*spare{}}
}

// Each buffer of large bytes or more starts one line further than the large buffer before, up to maxShift. Else all large
// buffers would start at the same offset of a memory page. If many columns are read at the same time, their cache lines
// would then compete for the same few places in the processor's first-level cache.
const (
	line     = 64
	maxShift = 61 * line
	large    = 8 << 10
)

// maxRoom is the maximum of Room: the bytes of a page may claim any number of values.
const maxRoom = 16 << 20

// room returns the number of bytes of values of different lengths that are read at a time.
func (p *Pool) room() int {
	if p.Room > 0 {
		return min(p.Room, maxRoom)
	}
	return maxRoom
}

// slack is the number of bytes of memory after the bytes of a buffer: some decompressors are faster if they may write
// there.
const slack = 32

// Get returns a buffer of n bytes with arbitrary contents. The caller must release it.
func (p *Pool) Get(n int) *Buffer { return p.get(n, math.MaxInt) }

// page is Get for the bytes of a page. It returns an error if the limit would be exceeded.
func (p *Pool) page(n int) (*Buffer, error) {
	if p.Limit == 0 {
		return p.Get(n), nil
	}
	if b := p.get(n, p.Limit); b != nil {
		return b, nil
	}
	mib := func(n int) float64 { return float64(n) / (1 << 20) }
	return nil, memoryError{message.Sprintf("it takes %.1f MiB of memory beside other pages, and the limit is %.1f: give more with "+
		"--memory, leave columns out, or write smaller pages", mib(n), mib(p.Limit))}
}

// memoryError is an error about memory, with the text for the user.
type memoryError struct{ text string }

func (e memoryError) Error() string   { return e.text }
func (e memoryError) Unwrap() []error { return []error{Unsupported(e.text), memory.ErrMemory} }

// get returns nil if more than limit bytes would be in use.
func (p *Pool) get(n, limit int) *Buffer {
	// Sizes are rounded up by at most a quarter, so that buffers of nearly the same size replace each other.
	room := n + slack
	if room >= large {
		room += maxShift
	}
	step := max(64, 1<<max(0, bits.Len(uint(room))-3))
	size := (room + step - 1) / step * step
	b := &Buffer{pool: p}
	b.refs.Store(1)
	p.mu.Lock()
	if size > limit-p.used {
		p.mu.Unlock()
		return nil
	}
	p.used += size
	p.most = max(p.most, p.used)
	p.clock++
	if s := p.spare[size]; s != nil && len(s.free) > 0 {
		b.memory, s.free, s.last = s.free[len(s.free)-1], s.free[:len(s.free)-1], p.clock
		p.idle -= size
	} else {
		p.shrink()
	}
	p.mu.Unlock()
	if b.memory == nil {
		b.memory = p.allocate(size)
	}
	b.Bytes = b.memory[:n]
	if room >= large {
		shift := int(p.shift.Add(line)) % maxShift
		b.Bytes = b.memory[shift:][:n]
	}
	return b
}

// leastHuge is the smallest Limit of a pool with huge pages: a chunk of them stays in memory while a single buffer in it is in use.
const leastHuge = 32 * hugeChunkBytes

func (p *Pool) allocate(n int) []byte {
	if _, is := p.mem.(*hugeAllocator); is && p.Limit > 0 && p.Limit < leastHuge {
		return arrowmemory.DefaultAllocator.Allocate(n)
	}
	return p.mem.Allocate(n)
}

// shrink frees spare memory until used and spare memory together are at most 5/4 of the maximum of used memory so
// far. It begins with the size that wasn't requested for the longest time. Otherwise unused sizes would accumulate.
func (p *Pool) shrink() {
	for p.idle > 0 && p.used+p.idle > p.most+p.most/4 {
		var oldest *spare
		for _, s := range p.spare {
			if len(s.free) > 0 && (oldest == nil || s.last < oldest.last) {
				oldest = s
			}
		}
		last := len(oldest.free) - 1
		p.idle -= len(oldest.free[last])
		p.mem.Free(oldest.free[last])
		oldest.free[last], oldest.free = nil, oldest.free[:last]
	}
}

// Close frees spare memory. Memory in use is freed when it is released.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.spare {
		for _, b := range s.free {
			p.mem.Free(b)
		}
	}
	clear(p.spare)
	p.idle = 0
}

func (p *Pool) put(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= len(b)
	if p.closed {
		p.mem.Free(b)
		return
	}
	s := p.spare[len(b)]
	if s == nil {
		s = &spare{last: p.clock}
		p.spare[len(b)] = s
	}
	s.free = append(s.free, b)
	p.idle += len(b)
}

// A Buffer is memory with a count of its users. All methods except Slice accept nil.
type Buffer struct {
	Bytes  []byte
	pool   *Pool
	memory []byte
	parent *Buffer // the buffer that a slice retains
	refs   atomic.Int32
}

// Slice returns a buffer of the bytes from lo up to, but not including, hi of b, in the same memory.
func (b *Buffer) Slice(lo, hi int) *Buffer {
	b.refs.Add(1)
	s := &Buffer{Bytes: b.Bytes[lo:hi:hi], parent: b}
	s.refs.Store(1)
	return s
}

// Release ends the caller's use of the buffer. When all users have released the buffer, its memory returns to the
// pool.
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

// extend returns a buffer of at least n bytes for values, usually larger, with the first used bytes of b. It releases
// b, unless there is an error.
func (p *Pool) extend(b *Buffer, used, n int) (*Buffer, error) {
	var bigger *Buffer
	switch room := p.room(); {
	case n <= room:
		bigger = p.Get(min(2*n, room))
	case p.Limit == 0:
		bigger = p.Get(2 * n)
	default:
		if bigger = p.get(n+n/4, p.Limit); bigger == nil {
			var err error
			if bigger, err = p.page(n); err != nil {
				return b, err
			}
		}
	}
	if b != nil {
		copy(bigger.Bytes, b.Bytes[:used])
		b.Release()
	}
	return bigger, nil
}

// grow returns a buffer of at least n bytes with the first used bytes of b. It returns b itself if b is large enough,
// otherwise it releases b.
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
