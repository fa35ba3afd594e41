package cli

import (
	"runtime"
	"runtime/debug"
)

// The garbage collector runs first where the heap would be so many times 4 MiB, not one: a short run does without, and a longer one
// doesn't notice, since what comes after is as ever.
const firstCollection = 16

// collectLater has the garbage collector run first at a larger heap, unless GOGC says how it is to run.
func collectLater() {
	const usual = 100
	if percent := debug.SetGCPercent(firstCollection * usual); percent != usual {
		debug.SetGCPercent(percent)
		return
	}
	runtime.AddCleanup(new(*int), func(int) { debug.SetGCPercent(usual) }, 0)
}
