package bench

import "golang.org/x/sys/unix"

func hugePages(m []byte) { _ = unix.Madvise(m, unix.MADV_HUGEPAGE) }
