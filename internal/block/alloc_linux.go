package block

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks the system to back b with huge pages. b starts at a huge page and covers whole huge pages. If the
// heap used the memory before, b may already have small pages; adviseHuge then asks the system to replace them, which
// takes milliseconds. The garbage collector still owns the memory. Errors are ignored: the memory works without huge
// pages too.
func adviseHuge(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	if hasPages(b) {
		_ = unix.Madvise(b, unix.MADV_COLLAPSE)
	}
}

// hasPages returns true if the system holds a page for some byte of b, or if the system call fails.
func hasPages(b []byte) bool {
	pages := make([]byte, len(b)/unix.Getpagesize()+1)
	_, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	return err != 0 || bytes.IndexByte(pages, 1) >= 0
}
