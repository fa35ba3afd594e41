package svm

import (
	"context"
	"iter"
	"math"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/testproblems"
)

// An endingSource cancels when one of its passes begins.
type endingSource struct {
	testproblems.Stream
	passesLeft int // passes before that
	cancel     context.CancelFunc
}

func (e *endingSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	if e.passesLeft--; e.passesLeft == 0 {
		e.cancel()
	}
	return e.Stream.Blocks(ctx)
}

// TestInterrupted: once there are weights, an interrupt in any pass keeps them, and the loss is theirs.
func TestInterrupted(t *testing.T) {
	x, y := draw(3000, 3, 1)
	d := testproblems.Dense(x, y, true)
	for _, loss := range Losses {
		kept := false
		for pass := 1; ; pass++ {
			ctx, cancel := context.WithCancel(t.Context())
			src := &endingSource{testproblems.Stream{Data: d}, pass, cancel}
			r, err := Train(ctx, src, Settings{Options: Options{Loss: loss}})
			cancel()
			if src.passesLeft > 0 {
				break
			}
			if r == nil {
				if kept {
					t.Errorf("%s, pass %d: the weights are lost: %v", loss, pass, err)
				}
				continue
			}
			kept = true
			want := 0.0
			for b := range d.Blocks(t.Context()) {
				for i, y := range b.Y {
					m := float64(r.Weights[len(r.Weights)-1])
					for j, w := range r.Weights[:len(r.Weights)-1] {
						m += float64(w) * float64(b.X[i*b.Stride+j])
					}
					u := max(0, 1-float64(y)*m)
					if loss == SquaredHinge {
						u *= u
					}
					want += u
				}
			}
			if !(math.Abs(r.Loss-want) <= 1e-9*want) {
				t.Errorf("%s, pass %d: the loss is %v, want %v; error %v", loss, pass, r.Loss, want, err)
			}
		}
		if !kept {
			t.Errorf("%s: no interrupt kept weights", loss)
		}
	}
}
