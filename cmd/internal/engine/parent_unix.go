//go:build unix

package engine

import (
	"context"
	"syscall"
	"time"
)

// parentCheck is the time between two looks at a process.
const parentCheck = 500 * time.Millisecond

// pollEnd waits for the end of a process by looking at it again and again.
func pollEnd(ctx context.Context, pid int) error {
	for ctx.Err() == nil && syscall.Kill(pid, 0) != syscall.ESRCH {
		select {
		case <-time.After(parentCheck):
		case <-ctx.Done():
		}
	}
	return nil
}
