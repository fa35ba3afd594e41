package block

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for huge pages under b, which covers whole ones. Memory that the heap used before has small pages. If
// b has some of those, adviseHuge has them replaced, which takes milliseconds. The garbage collector still owns the
// memory. An error has no consequence.
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
