package engine

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// waitForEnd waits for the end of a process, or of ctx. A process that has ended, and that its own parent hasn't waited for, counts as
// ended.
func waitForEnd(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	switch err {
	case nil:
		defer unix.Close(fd)
	case unix.ESRCH:
		return nil
	default: // a kernel before 5.3, or a sandbox
		return pollEnd(ctx, pid)
	}
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(parentCheck/time.Millisecond))
		if n > 0 || err != nil && err != unix.EINTR {
			return err
		}
	}
	return nil
}
