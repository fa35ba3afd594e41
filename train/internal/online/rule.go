package online

import (
	"context"
	"crypto/sha256"
	"errors"

	"halfspace/internal/checkpoint"
	"halfspace/train/learner"
)

// ErrStop ends the epochs: the training has finished.
var ErrStop = errors.New("finished")

// A Rule says which rows update the weights, and how. It keeps the weights. It may have more interfaces, from Preparer to
// Owner; a Training alone asks for them.
type Rule interface {
	// Visit visits the rows of a panel in turn, and updates the weights. It writes the positions of the rows that
	// updated the weights to log. It ends after the last row, or when log is full. An error doesn't undo the visits and
	// updates before it.
	Visit(ctx context.Context, p *Panel, log []uint32) (visits, updates int, err error)

	Weights() []float32 // the vectors of weights, each of kernel.Stride elements
	State(w *checkpoint.Walk)
}

// A Mixer is a Rule whose weights are mixed with the weights of other shards.
type Mixer interface {
	Rule

	// Begin sets the weights of a shard when its epoch begins. vectors are the result of Vectors of the rule of all
	// shards.
	Begin(w []float32, vectors [][]float64)
	Vectors() [][]float64           // vectors beside the weights that the shards mix
	MixShards(shards []ShardResult) // mixes the results of the shards; shards may be empty
	ShardBytes() int64              // memory of a shard
}

type (
	// A Preparer sets the functions of a Pass.
	Preparer interface{ Prepare(p *Pass) }

	// A Summer has other numbers than weights. Sum returns their hash; see learner.Progress.
	Summer interface {
		Sum() func() [sha256.Size]byte
	}

	// A Completer sets figures in a result, before the result is evaluated.
	Completer interface{ CompleteResult(r *learner.Result) }

	// An Evaluator evaluates a result in place of learner.Evaluate.
	Evaluator interface {
		Evaluate(ctx context.Context, r *learner.Result) error
	}

	// An Owner has a result of its learner's package, or adds to the model.
	Owner interface {
		OwnResult(r *learner.Result) *learner.TaskResult
	}
)

// A Judge watches a training between the visits. It ends the training by ErrStop. An interrupt may repeat the call of a
// method.
type Judge interface {
	Resume(ctx context.Context) error       // makes up for work after an update that an interrupt left out
	AfterUpdates(ctx context.Context) error // is called after a panel with updates
	AfterEpoch(ctx context.Context) error
	AfterTraining(ctx context.Context) error
}

// A Bystander is a Judge that does nothing, to embed in judges that lack methods.
type Bystander struct{}

func (Bystander) Resume(context.Context) error        { return nil }
func (Bystander) AfterUpdates(context.Context) error  { return nil }
func (Bystander) AfterEpoch(context.Context) error    { return nil }
func (Bystander) AfterTraining(context.Context) error { return nil }

// A Scorer is a Judge that counts errors.
type Scorer interface{ BestErrors() int64 } // see learner.Progress

// A Streak ends a training after as many consecutive visits without an update as there are rows. In the order
// learner.Shuffle an epoch without an update ends it.
type Streak struct {
	// AnyUpdates tells whether any row would update the weights: random draws may leave out rows. nil: the order isn't
	// random.
	AnyUpdates func(context.Context) (bool, error)
	Unvisited  func(visits int64) // tells the rule that the last visits, which made no update, do not count; may be nil

	run int64 // visits since the last update
}

// Reset counts visits without an update from 0.
func (s *Streak) Reset() { s.run = 0 }
