package cache

import (
	"os"
	"syscall"
)

func stateOf(info os.FileInfo) State {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return State{}
	}
	return State{s.Ino, s.Ctimespec.Nano()}
}
