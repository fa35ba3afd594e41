package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// TestOrder: results come in order with any number of buffers, and begin is called in order too.
func TestOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 100} {
		for _, k := range []int{1, 2, 3, 8} {
			buffers := make([]*int, k)
			for i := range buffers {
				buffers[i] = new(int)
			}
			begun, next := 0, 0
			for b, err := range Prefetch(context.Background(), n, buffers, func(i int, b *int) func() error {
				if i != begun {
					t.Fatalf("begin(%d), want %d", i, begun)
				}
				begun++
				return func() error { *b = 10 * i; return nil }
			}) {
				if err != nil || *b != 10*next {
					t.Fatalf("n=%d, %d buffers: result %d is %d (error %v)", n, k, next, *b, err)
				}
				if begun > next+k {
					t.Fatalf("n=%d, %d buffers: %d begun while result %d is in use", n, k, begun, next)
				}
				next++
			}
			if next != n || begun != n {
				t.Errorf("n=%d, %d buffers: %d results, %d begun", n, k, next, begun)
			}
		}
	}
}

// TestEnd: the first error in order is the only one, and nothing runs after the end.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, want := range map[string]string{"error": "0 1 2 failed 3", "break": "0 1 2 3", "cancel": "0 1 2 context canceled"} {
		var running atomic.Int64
		got := ""
		i := 0
		for _, err := range Prefetch(ctx, 100, make([]struct{}, 3), func(i int, _ struct{}) func() error {
			running.Add(1)
			return func() error {
				defer running.Add(-1)
				if name == "error" && i >= 3 {
					return fmt.Errorf("failed %d", i)
				}
				return nil
			}
		}) {
			if err != nil {
				got += err.Error()
				continue
			}
			got += fmt.Sprint(i)
			if name == "break" && i == 3 {
				break
			}
			got += " "
			if name == "cancel" && i == 2 {
				cancel()
			}
			i++
		}
		if got != want || running.Load() != 0 {
			t.Errorf("%s: %q, want %q; %d still run", name, got, want, running.Load())
		}
		if name == "cancel" && !errors.Is(ctx.Err(), context.Canceled) {
			t.Error("not cancelled")
		}
		ctx, cancel = context.WithCancel(context.Background())
	}
	cancel()
}
