package block

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages under b, which covers whole ones. The memory stays the garbage collector's. A system
// that has none to give leaves b as it is, so that an error is of no consequence.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
