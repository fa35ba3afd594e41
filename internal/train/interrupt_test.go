package train_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
)

// A stalledSource cancels at a pass. That pass and those after it wait until their context ends.
type stalledSource struct {
	testproblems.Stream
	passesLeft int // passes that don't stall
	cancel     context.CancelFunc
}

func (s *stalledSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	if s.passesLeft--; s.passesLeft >= 0 {
		return s.Stream.Blocks(ctx)
	}
	return func(yield func(*block.Block, error) bool) {
		s.cancel()
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

// TestInterruptedStall: after an interrupt no learner waits long for a pass over the rows. It keeps the weights so far, and the model
// says nothing of what the pass would have counted.
func TestInterruptedStall(t *testing.T) {
	x, y := testproblems.Circle(500)
	learn := func(l train.Learner) func(context.Context, block.Source) (*model.Model, error) {
		return func(ctx context.Context, src block.Source) (*model.Model, error) {
			f, err := train.Run(ctx, src, l, train.Options{})
			if f == nil {
				return nil, err
			}
			return f.Model, err
		}
	}
	for name, learn := range map[string]func(context.Context, block.Source) (*model.Model, error){
		"newton":     learn(logistic.New(logistic.Options{Solver: logistic.Newton, L2: 1})),
		"lbfgs":      learn(logistic.New(logistic.Options{Solver: logistic.LBFGS, L2: 1})),
		"sgd":        learn(logistic.New(logistic.Options{Solver: logistic.SGD, L2: 1})),
		"svm":        learn(svm.New(svm.Options{L2: 1})),
		"perceptron": learn(perceptron.New(perceptron.Options{})),
		"online": func(ctx context.Context, src block.Source) (*model.Model, error) {
			f, err := train.Run(ctx, src, perceptron.New(perceptron.Options{}), train.Options{Online: &train.Online{}})
			if f == nil {
				return nil, err
			}
			return f.Model, err
		},
	} {
		kept := 0
		for at := range 12 {
			synctest.Test(t, func(t *testing.T) { // its time passes at once
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				src := &stalledSource{testproblems.Stream{Data: rowsOf(t, x, y)}, at, cancel}
				m, err := learn(ctx, src)
				if src.passesLeft >= 0 || m == nil {
					return
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s, stalled at pass %d: error %v", name, at, err)
				}
				if _, err := m.WriteTo(io.Discard); err != nil {
					t.Errorf("%s, stalled at pass %d: %v", name, at, err)
				}
				if tr := &m.Training; tr.Errors == nil && tr.Margin == nil && tr.MistakeBound == nil && slices.ContainsFunc(m.Weights[0], func(v float64) bool { return v != 0 }) {
					if kept++; name != "online" && (tr.Loss != nil || tr.Radius != nil || tr.Norm != nil) {
						t.Errorf("%s, stalled at pass %d: a loss, a radius or a norm was made up", name, at)
					}
				}
			})
		}
		if kept == 0 {
			t.Errorf("%s: no interrupt left weights without errors", name)
		}
	}
}
