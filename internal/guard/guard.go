//go:build unix

// Package guard allocates memory between pages that can't be touched, for tests of code that computes addresses itself.
package guard

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Buffer is memory between two pages that fault when they are read or written.
type Buffer struct {
	mem    []byte
	lo, hi int // the slice that was put last
}

// New returns a buffer that holds size bytes at least. It is unmapped when the test ends.
func New(t testing.TB, size int) *Buffer {
	page := unix.Getpagesize()
	inner := (size + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal("guard pages:", err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Error("guard pages:", err)
		}
	})
	for _, edge := range [][]byte{all[:page], all[page+inner:]} {
		if err := unix.Mprotect(edge, unix.PROT_NONE); err != nil {
			t.Fatal("guard pages:", err)
		}
	}
	b := &Buffer{mem: all[page : page+inner]}
	Put(b, Place{}, []byte(nil))
	return b
}

// A Place is where a slice lies in its buffer: against the page before it or, with Back, behind it, Shift elements off.
type Place struct {
	Back  bool
	Shift int
}

// canary fills what lies around a slice: a quiet NaN in either float type, so that code that reads one spoils its
// result too.
const canary = 0x7ff8dead7fc0dead

// margin is how many bytes of canaries there are on either side, as far as the buffer goes.
const margin = 256

// Put copies src to its place in the buffer, with canaries around it. What was there before is gone.
func Put[E any](b *Buffer, p Place, src []E) []E {
	size := int(unsafe.Sizeof(*new(E)))
	lo := p.Shift * size
	if p.Back {
		lo = len(b.mem) - (len(src)+p.Shift)*size
	}
	if lo < 0 || lo+len(src)*size > len(b.mem) {
		panic("guard: buffer too small")
	}
	b.lo, b.hi = lo, lo+len(src)*size
	b.edges(func(at int) { b.mem[at] = canaryByte(at) })
	dst := unsafe.Slice((*E)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.mem)), lo)), len(src))
	copy(dst, src)
	return dst
}

// Intact tells whether the canaries around the slice that was put last are as they were.
func (b *Buffer) Intact() bool {
	ok := true
	b.edges(func(at int) { ok = ok && b.mem[at] == canaryByte(at) })
	return ok
}

func (b *Buffer) edges(f func(at int)) {
	for at := max(0, b.lo-margin); at < b.lo; at++ {
		f(at)
	}
	for at := b.hi; at < min(len(b.mem), b.hi+margin); at++ {
		f(at)
	}
}

func canaryByte(at int) byte { return byte(uint64(canary) >> (at % 8 * 8)) }
