// Package passiveaggressive trains linear classifiers by passive-aggressive updates.
package passiveaggressive

import (
	"context"
	"math"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// Loss is the loss of a row, which an update weighs against the change of the weights.
type Loss string

const (
	Hinge        Loss = "hinge"         // PA-I, the default
	SquaredHinge Loss = "squared_hinge" // PA-II
)

// Losses lists every loss, the default first.
var Losses = []Loss{Hinge, SquaredHinge}

// Options are the options of Train. The zero value of a field stands for its default.
type Options struct {
	Order  learner.Order // Cyclic
	Epochs int64         // most passes over the rows; 100
	Shards int64         // shards of the rows, which learn apart in each epoch; their weights are mixed after it; 1
	Mix    learner.Mix   // Uniform

	Loss Loss    // Hinge
	C    float64 // aggressiveness, above 0: the factor of the loss in an update; 1
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Train learns from one row after another, in opt.Epochs epochs. The weights, including the bias, are 0 at first. Let l
// be the hinge loss of a row, max(0, 1 - y (w.x)). A row with l > 0 changes the weights to the minimum over w' of
//
//	1/2 |w' - w|^2 + C l'      Hinge, PA-I
//	1/2 |w' - w|^2 + C l'^2    SquaredHinge, PA-II
//
// where l' is the loss of the row with w'. The minimum is w' = w + t y x (Crammer, Dekel, Keshet, Shalev-Shwartz and
// Singer, "Online Passive-Aggressive Algorithms", Journal of Machine Learning Research 7, 2006, section 3) with
//
//	t = min(C, l / |x|^2)          Hinge
//	t = l / (|x|^2 + 1/(2 C))      SquaredHinge
//
// With a large C, the loss of the row is 0 after the update. The sample weight of a row multiplies C.
//
// With more than two classes, each class has a vector. Let s be the score of the row's class minus the greatest score
// of another class, the first of equal ones. l is max(0, 1 - s). An update adds t x to the vector of the row's class,
// and subtracts t x from the vector of the other class (section 7). |x|^2 above is then 2 |x|^2.
//
// With opt.Shards above 1, the rows are cut into opt.Shards shards. In each epoch the shards learn apart, from the same
// weights, and their weights are mixed after it. With learner.Mistakes, a shard's share is its share
// of the updates: a row with a loss of 0 makes no update, as a correctly classified row makes none in a perceptron. The
// bound on updates in McDonald, Hall and Mann (2010) holds only for perceptrons.
//
// Train stops after opt.Epochs epochs, or after an epoch without an update: all rows then have a loss of 0. Every order
// but Cyclic, and more than one shard, need src to be a *block.Data or a block.Seekable. The result doesn't depend on
// opt.Workers. Errors: options out of range, too few rows for the shards, no rows, fewer than two classes, weights that
// overflow float32, errors of src, and ctx's error.
func Train(ctx context.Context, src block.Source, opt Settings) (*learner.Result, error) {
	return online.Train(ctx, Learner, src, &opt)
}

// A stepper is the learner.Stepper of the passive-aggressive algorithms.
type stepper struct {
	opt    Settings
	w      []float32
	stride int
}

func newStepper(spec *schema.Spec, opt Settings) (*stepper, error) {
	if len(spec.Classes) < 2 {
		return nil, learner.TwoClasses(spec)
	}
	stride := kernel.Stride(spec.Cols())
	return &stepper{opt: opt, w: block.Alloc[float32](spec.Vectors() * stride), stride: stride}, nil
}

func (s *stepper) Weights() []float32 { return s.w }

func (s *stepper) Begin(w []float32, _ map[string][]float64) { copy(s.w, w) }

func (s *stepper) State() map[string][]float64 { return nil }

func (s *stepper) Step(scores []float32, b *block.Block, r int, y float32) (updated bool) {
	if len(scores) > 1 {
		return s.stepClasses(scores, b, r, int(y))
	}
	scores[0] = b.Dot(r, s.w)
	t := s.updateSize(1-float64(float64(y)*float64(scores[0])), 1, b, r)
	if t == 0 {
		return false
	}
	b.Axpy(s.w, y*float32(t), r)
	return true
}

// TakesBatch tells whether rows are dense, of two classes and without weights.
func (s *stepper) TakesBatch(b *block.Block) bool {
	return b.Sparse == nil && b.W == nil && len(s.w) == s.stride
}

func (s *stepper) Steps(log []uint32, b *block.Block, lo, hi int) (visits, updates int) {
	most, slack := s.opt.C, 0.0
	if s.opt.Loss == SquaredHinge {
		most, slack = math.Inf(1), 0.5/s.opt.C
	}
	return kernel.EpochPassive(s.w, log, b.X[lo*b.Stride:hi*b.Stride], b.Y[lo:hi], most, slack)
}

// stepClasses is Step for more than two classes, each of which has a vector.
func (s *stepper) stepClasses(scores []float32, b *block.Block, r, own int) (updated bool) {
	b.RowScores(r, s.w, scores)
	rival := online.Rival(scores, own)
	t := s.updateSize(1-(float64(scores[own])-float64(scores[rival])), 2, b, r)
	if t == 0 {
		return false
	}
	b.Axpy(s.w[own*s.stride:][:s.stride], float32(t), r)
	b.Axpy(s.w[rival*s.stride:][:s.stride], -float32(t), r)
	return true
}

// updateSize returns t, the size of the update of row r. It returns 0 unless loss, the loss of the row, is above 0.
// vectors is the number of vectors that the update changes by t x.
func (s *stepper) updateSize(loss, vectors float64, b *block.Block, r int) float64 {
	if !(loss > 0) {
		return 0
	}
	c, square := float64(s.opt.C*b.Weight(r)), float64(vectors*b.SquaredNorm(r))
	switch {
	case square == 0 || c == 0:
		return 0
	case s.opt.Loss == SquaredHinge:
		return loss / (square + 0.5/c)
	}
	return min(c, loss/square)
}
