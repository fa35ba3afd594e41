//go:build unix && !linux

package engine

import "context"

// waitForEnd waits for the end of a process, or of ctx.
func waitForEnd(ctx context.Context, pid int) error { return pollEnd(ctx, pid) }
