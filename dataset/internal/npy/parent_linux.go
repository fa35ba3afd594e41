package npy

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// read reads bytes of the elements, from byte at on. process_vm_readv copies once, but the system may forbid it (Yama lets a process read the
// memory of its descendants alone); reading the descriptor is always allowed, and takes eight times as long.
func (m *parentMemory) read(p []byte, at int64) (n int, err error) {
	if n = m.readDirectly(p, at); n == len(p) {
		return n, nil
	}
	for n = 0; n < len(p); {
		k, err := unix.Pread(m.descriptor, p[n:], m.address+at+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, os.NewSyscallError("pread", err)
		case k == 0: // the process has ended
			return n, io.EOF
		default:
			n += k
		}
	}
	return n, nil
}

// readDirectly returns the number of bytes that process_vm_readv read, or 0 if the process is not the parent: its number may belong to
// another process by now.
func (m *parentMemory) readDirectly(p []byte, at int64) int {
	if len(p) == 0 || os.Getppid() != m.pid {
		return 0
	}
	local := unix.Iovec{Base: &p[0]}
	local.SetLen(len(p))
	remote := unix.RemoteIovec{Base: uintptr(m.address + at), Len: len(p)}
	n, err := unix.ProcessVMReadv(m.pid, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
	if err != nil || os.Getppid() != m.pid {
		return 0
	}
	return n
}
