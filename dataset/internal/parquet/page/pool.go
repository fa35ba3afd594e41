package page

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"halfspace/internal/memory"
)

// An Allocator is where memory comes from and goes back to.
type Allocator interface {
	Allocate(n int) []byte
	Free(b []byte)
}

// A Pool hands out memory and takes it back to hand it out again, still in the processor's cache. It is safe for
// concurrent use.
type Pool struct {
	// Limit, unless 0, bounds the bytes of buffers in use. It is checked when a buffer is wanted for a page, a
	// dictionary, or values that take more than Room. Other values come on top: they are bounded by the rows that are
	// read at a time.
	Limit int

	// Room, unless 0, is about how many bytes of text or of list elements a reader reads at a time. It reads a row at
	// least.
	Room int

	mem              Allocator
	mu               sync.Mutex
	spare            map[int]*spare // by size
	used, most, idle int            // bytes in use now and at most, and bytes that are spare
	clock            uint64         // counts what is handed out
	shift            atomic.Int64   // of the last large buffer
	closed           bool
}

// spare is memory of one size that isn't in use.
type spare struct {
	free [][]byte
	last uint64 // when that size was asked for
}

// NewPool returns a pool of memory from mem, whose addresses must be multiples of 8.
func NewPool(mem Allocator) *Pool { return &Pool{mem: mem, spare: map[int]*spare{}} }

// Large buffers would all begin at the same place of a memory page. If many columns are read side by side, their lines
// then compete for the same few places in the processor's first cache. So each buffer begins some lines further on than
// the one before; small ones don't matter.
const (
	line     = 64
	maxShift = 61 * line
	large    = 8 << 10
)

// maxRoom bounds Room: bytes of a page may stand for any number of values.
const maxRoom = 16 << 20

// room returns how many bytes of values of any number are read at a time.
func (p *Pool) room() int {
	if p.Room > 0 {
		return min(p.Room, maxRoom)
	}
	return maxRoom
}

// slack is how much memory there is behind a buffer's bytes: some decompressors are faster with room to spare.
const slack = 32

// Get returns a buffer of n bytes of any content, the caller's to release.
func (p *Pool) Get(n int) *Buffer { return p.get(n, math.MaxInt) }

// page is Get for bytes of a page. Beyond the limit it is an error.
func (p *Pool) page(n int) (*Buffer, error) {
	if p.Limit == 0 {
		return p.Get(n), nil
	}
	if b := p.get(n, p.Limit); b != nil {
		return b, nil
	}
	mib := func(n int) float64 { return float64(n) / (1 << 20) }
	return nil, memoryError{fmt.Sprintf("it takes %.1f MiB of memory beside other pages, and the limit is %.1f: give more with "+
		"--memory, leave columns out, or write smaller pages", mib(n), mib(p.Limit))}
}

// memoryError is an error about memory, for the user as it is.
type memoryError struct{ text string }

func (e memoryError) Error() string   { return e.text }
func (e memoryError) Unwrap() []error { return []error{Unsupported(e.text), memory.ErrMemory} }

// get returns nil where more than limit bytes would be in use.
func (p *Pool) get(n, limit int) *Buffer {
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
		b.memory = p.mem.Allocate(size)
	}
	b.Bytes = b.memory[:n]
	if room >= large {
		shift := int(p.shift.Add(line)) % maxShift
		b.Bytes = b.memory[shift:][:n]
	}
	return b
}

// shrink gives spare memory back until there is at most a quarter more than what was ever in use. It begins with the
// size that wasn't wanted for longest. Otherwise sizes that nobody wants any more would add up.
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

// Close gives memory that isn't in use back. What is in use then follows when it is released.
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

// extend returns a buffer of at least n bytes for values, mostly more, with the first used bytes of b, which it releases. It
// keeps b where there is an error.
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
