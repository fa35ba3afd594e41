package bench

import "golang.org/x/sys/unix"

func hugePages(m []byte) { _ = unix.Madvise(m, unix.MADV_HUGEPAGE) }

// backMemory touches memory and returns it. A virtual machine whose host takes free memory back gets it again page by
// page when it is first touched, at 0.4 GB/s where memory that it still has is cleared at 11 GB/s. After backMemory,
// the side whose turn it is gets memory that the machine has.
func backMemory() {
	const most = 320 << 20
	m, err := unix.Mmap(-1, 0, most, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return // little memory: the turn takes place as it is
	}
	hugePages(m)
	for i := 0; i < most; i += unix.Getpagesize() {
		m[i] = 1
	}
	_ = unix.Munmap(m)
}
