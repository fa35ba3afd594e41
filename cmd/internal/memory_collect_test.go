package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestCollectLater: the garbage collector is left as it is by default from its first run on, and as GOGC has it.
func TestCollectLater(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	defer debug.SetGCPercent(percent())
	debug.SetGCPercent(100)
	collectLater()
	for begin := time.Now(); percent() != 100; runtime.GC() {
		if time.Since(begin) > time.Minute {
			t.Fatalf("%d %% after many runs", percent())
		}
	}
	for _, own := range []int{50, -1} {
		debug.SetGCPercent(own)
		if collectLater(); percent() != own {
			t.Errorf("%d %%, and GOGC says %d", percent(), own)
		}
	}
}
