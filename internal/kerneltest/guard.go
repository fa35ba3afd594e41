//go:build unix

package kerneltest

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A GuardedBuffer is memory between two pages. Reading or writing these pages faults.
type GuardedBuffer struct {
	mem    []byte
	lo, hi int // bounds of the slice that Put returned last
}

// NewGuardedBuffer returns a buffer of at least size bytes. It is unmapped when the test ends.
func NewGuardedBuffer(t testing.TB, size int) *GuardedBuffer {
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
	b := &GuardedBuffer{mem: all[page : page+inner]}
	Put(b, Place{}, []byte(nil))
	return b
}

// A Place says where a slice lies in its buffer: Shift elements after the page before the buffer, or, with Back, Shift
// elements before the page after it.
type Place struct {
	Back  bool
	Shift int
}

// canary is the value of the memory around a slice. It is a quiet NaN in float32 and in float64, so code that reads it
// spoils its result.
const canary = 0x7ff8dead7fc0dead

// margin is the number of bytes of canaries on each side, or fewer at the end of the buffer.
const margin = 256

// Put copies src to its place in the buffer, with canaries around it. It overwrites the previous slice.
func Put[E any](b *GuardedBuffer, p Place, src []E) []E {
	size := int(unsafe.Sizeof(*new(E)))
	lo := p.Shift * size
	if p.Back {
		lo = len(b.mem) - (len(src)+p.Shift)*size
	}
	if lo < 0 || lo+len(src)*size > len(b.mem) {
		panic("kerneltest: buffer too small")
	}
	b.lo, b.hi = lo, lo+len(src)*size
	before, after := b.edges()
	copy(before, canaries(b.lo-len(before), len(before)))
	copy(after, canaries(b.hi, len(after)))
	dst := unsafe.Slice((*E)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.mem)), lo)), len(src))
	copy(dst, src)
	return dst
}

// IsIntact tells whether the canaries around the last slice are unchanged.
func (b *GuardedBuffer) IsIntact() bool {
	before, after := b.edges()
	return bytes.Equal(before, canaries(b.lo-len(before), len(before))) && bytes.Equal(after, canaries(b.hi, len(after)))
}

// edges returns the memory before and after the last slice that has canaries.
func (b *GuardedBuffer) edges() (before, after []byte) {
	return b.mem[max(0, b.lo-margin):b.lo], b.mem[b.hi:min(len(b.mem), b.hi+margin)]
}

// pattern is canaries from a multiple of 8 bytes on.
var pattern = bytes.Repeat(binary.LittleEndian.AppendUint64(nil, canary), margin/8+1)

// canaries returns the n bytes that stand at an offset in a buffer.
func canaries(at, n int) []byte { return pattern[at%8 : at%8+n] }
