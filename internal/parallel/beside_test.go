package parallel

import (
	"context"
	"errors"
	"testing"
)

// TestRun: a call that returns is waited for, and one that doesn't is left behind at the end.
func TestRun(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	closed := make(chan struct{})
	close(closed)
	for _, c := range []struct {
		ctx  context.Context
		end  <-chan struct{}
		f    func()
		want bool
	}{
		{t.Context(), nil, func() {}, true},
		{cancelled, nil, func() { <-never }, false},
		{t.Context(), closed, func() { <-never }, false},
	} {
		if got := Detach(c.ctx, c.end, c.f); got != c.want {
			t.Errorf("Run returns %v, want %v", got, c.want)
		}
	}
}

func TestGet(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	failed := errors.New("failed")
	if n, err := DetachValue(t.Context(), func() (int, error) { return 7, failed }); n != 7 || err != failed {
		t.Errorf("Get returns %d, %v", n, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := DetachValue(cancelled, func() (int, error) { <-never; return 7, nil }); n != 0 || err != context.Canceled {
		t.Errorf("at the end Get returns %d, %v", n, err)
	}
	defer func() {
		if recover() != "a bug" {
			t.Error("a panic is lost")
		}
	}()
	DetachValue(t.Context(), func() (int, error) { panic("a bug") })
}
