//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package files

import (
	"errors"
	"os"
)

const noFollow, noWait = 0, 0

// lockFile locks nothing, since this system has no locks.
func lockFile(*os.File) error { return errors.ErrUnsupported }

func discard(f *os.File, name string) error { return errors.Join(os.Remove(name), f.Close()) }
