//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"errors"
	"os"
	"syscall"
)

// The flags for opening a file by a name that another user may have created.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)

// lockFile locks an open file, or returns errTaken if it is locked already.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errTaken
	}
	return err
}

// discard removes a file while it is locked. A process that then gets the lock finds that the file is gone.
func discard(f *os.File, name string) error { return errors.Join(os.Remove(name), f.Close()) }
