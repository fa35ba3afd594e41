package block

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages under b, which covers whole ones: for what is touched from now on, and, since memory
// that the heap used before has small pages already, for that too. The memory stays the garbage collector's. A system
// that has none to give leaves b as it is, so that an error is of no consequence.
func adviseHuge(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	_ = unix.Madvise(b, unix.MADV_COLLAPSE)
}
