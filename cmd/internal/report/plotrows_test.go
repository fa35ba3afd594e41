package report

import (
	"strings"
	"testing"

	"halfspace/cmd/internal/flags"
)

// TestRoom: what a picture holds of rows takes half of --memory and no more, but a little is always allowed.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		memory, bytes int64
		fits          bool
	}{{1 << 30, 1 << 29, true}, {1 << 30, 1<<29 + 1, false}, {1 << 20, leastFigureBytes, true}, {1 << 20, leastFigureBytes + 1, false}} {
		err := (&picture{plotOptions: &plotOptions{memory: flags.Size{Bytes: c.memory}}}).room(7, c.bytes)
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "with --memory") {
			t.Errorf("%d bytes of %d: %v", c.bytes, c.memory, err)
		}
	}
}
