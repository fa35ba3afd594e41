//go:build unix

package engine

import (
	"os"
	"syscall"
)

// pipe returns the end of a pipe that this process inherited. Close ends a read or a write that waits: the end does not block.
func pipe(descriptor int, name string) (*os.File, error) {
	if err := syscall.SetNonblock(descriptor, true); err != nil {
		return nil, os.NewSyscallError(name, err)
	}
	return os.NewFile(uintptr(descriptor), name), nil
}
