package block

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for huge pages under b, which covers whole ones: for what is touched from now on, and, since memory
// that the heap used before has small pages already, for that too, where there is some: the call takes milliseconds. The memory
// stays the garbage collector's. A system that has none to give leaves b as it is, so that an error is of no consequence.
func adviseHuge(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	if touched(b) {
		_ = unix.Madvise(b, unix.MADV_COLLAPSE)
	}
}

// touched tells whether the system has pages for some of b, or can't tell.
func touched(b []byte) bool {
	pages := make([]byte, len(b)/unix.Getpagesize()+1)
	_, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	return err != 0 || bytes.IndexByte(pages, 1) >= 0
}
