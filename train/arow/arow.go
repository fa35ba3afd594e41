// Package arow trains linear classifiers by adaptive regularisation of weights, which keeps a variance for each weight.
package arow

import (
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// Options are the options of Train. The zero value of a field stands for its default.
type Options struct {
	Order  learner.Order // Cyclic
	Epochs int64         // most passes over the rows; 100
	Shards int64         // shards of the rows, which learn apart in each epoch; their weights are mixed after it; 1

	R float64 // regularisation, above 0: a great R changes weights and variances slowly; 1
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Train learns from one row after another, in opt.Epochs epochs. It keeps a normal distribution of each weight, with a
// mean w_i, which is the weight, and a variance s_i. The weights, including the bias, are 0 and the variances 1 at first.
// A row with a hinge loss l = max(0, 1 - y (w.x)) above 0 sets, with v = sum of s_i x_i^2,
//
//	w_i = w_i + l/(v + R) y s_i x_i,  s_i = s_i - (s_i x_i)^2/(v + R)
//
// These are the means and the diagonal of the covariances that minimise the divergence from the distribution before the
// row, plus (l'^2 + v')/(2 R), where l' and v' belong to the new distribution (Crammer, Kulesza and Dredze, "Adaptive
// Regularization of Weight Vectors", Machine Learning 91, 2013, figure 1). A weight whose feature occurred often has a
// small variance, and changes little. The sample weight of a row divides R.
//
// With more than two classes, each class has a vector and variances. l is max(0, 1 - s), where s is the score of the
// row's class minus the greatest score of another class, the first of equal ones. v is the sum over both classes. Both
// vectors change, in opposite directions.
//
// With opt.Shards above 1, the rows are cut into opt.Shards shards. In each epoch the shards learn apart, from the same
// weights and variances. The next epoch begins with the means over the shards.
//
// Train stops after opt.Epochs epochs, or after an epoch without an update: all rows then have a loss of 0. Every order
// but Cyclic, and more than one shard, need src to be a *block.Data or a block.Seekable. The result doesn't depend on
// opt.Workers. Errors: options out of range, too few rows for the shards, no rows, fewer than two classes, weights that
// overflow float32, errors of src, and ctx's error.
func Train(ctx context.Context, src block.Source, opt Settings) (*learner.Result, error) {
	return online.Train(ctx, Learner, src, &opt)
}

// Learner describes adaptive regularisation of weights.
var Learner = online.Sharded(&learner.Learner{Name: "arow", FullName: "AROW", Algorithm: algorithm{},
	Objective: "in each update the change of the distribution of w, + (max(0, 1 - y(w.x+b))^2 + the variance of w.x+b)/(2 r)",
	WhenToUse: "streams of rows, with noisy labels or rare features", Example: "--r 10",
	Options:         []learner.Option{learner.OrderOption, rOption, learner.EpochsOption, learner.ShardsOption},
	BeginsWithModel: true, NotFoundText: "no plane with a margin of 1 for every row was found"})

// New returns adaptive regularisation of weights with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(Learner, &Settings{Options: o})
}

var rOption = learner.Option{Name: "r", Value: "NUMBER",
	Help:           "Regularisation. A great r changes the weights less, which suits noisy labels.",
	AllowedNumbers: "a number above 0", MustExist: true, IsAllowed: func(v float64) bool { return v > 0 },
	Field: learner.FieldOf(func(o *Settings) any { return &o.R })}

type algorithm struct{}

func (algorithm) New() learner.Settings {
	return &Settings{Options: Options{Order: learner.Cyclic, Epochs: 100, Shards: 1, R: 1}, Run: learner.Run{Seed: 1}}
}

func (algorithm) Classes(learner.Settings) learner.Classes {
	return learner.Classes{TogetherByDefault: true}
}

func (algorithm) RowLoss(learner.Settings) learner.RowLoss { return learner.SquaredHingeLoss }

func (algorithm) Stepper(spec *schema.Spec, s learner.Settings) (learner.Stepper, error) {
	return newStepper(spec, s.(*Settings).R)
}

func (algorithm) Rule(ctx context.Context, t *online.Training) (online.Rule, error) {
	return online.StepperRule(ctx, t)
}

func (algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	return online.Learn(ctx, Learner, task)
}

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options {
	return learner.Options{Order: s.Order, Epochs: s.Epochs, Shards: s.Shards, Run: s.Run}
}

// A stepper is the learner.Stepper of the algorithm.
type stepper struct {
	r            float64
	cols, stride int
	w            []float32 // a vector for each class, or one for two classes
	variances    []float64 // of each weight, without padding
}

func newStepper(spec *schema.Spec, r float64) (*stepper, error) {
	if len(spec.Classes) < 2 {
		return nil, learner.TwoClasses(spec)
	}
	n, cols := spec.Vectors(), spec.Cols()
	stride := kernel.Stride(cols)
	return &stepper{r: r, cols: cols, stride: stride, w: block.Alloc[float32](n * stride),
		variances: slices.Repeat([]float64{1}, n*cols)}, nil
}

func (s *stepper) Weights() []float32 { return s.w }

func (s *stepper) State() map[string][]float64 {
	return map[string][]float64{"variance": slices.Clone(s.variances)}
}

// Begin takes the variances of a training with the same columns and classes. Without them they are 1.
func (s *stepper) Begin(w []float32, state map[string][]float64) {
	copy(s.w, w)
	for i, v := range state["variance"] {
		if v >= 0 {
			s.variances[i] = v
		}
	}
}

func (s *stepper) Step(scores []float32, b *block.Block, r int, y float32) (updated bool) {
	if len(scores) == 1 {
		scores[0] = b.Dot(r, s.w)
		return s.update(b, r, 1-float64(float64(y)*float64(scores[0])), change{0, float64(y)})
	}
	b.RowScores(r, s.w, scores)
	own := int(y)
	rival := online.Rival(scores, own)
	return s.update(b, r, 1-(float64(scores[own])-float64(scores[rival])), change{own, 1}, change{rival, -1})
}

// A change is the number of a vector of weights, and the sign of its update.
type change struct {
	vector int
	sign   float64
}

// update learns from row r, whose loss is above 0, by changes of vectors of weights. It tells whether there was one.
func (s *stepper) update(b *block.Block, r int, loss float64, changes ...change) bool {
	weight := b.Weight(r)
	if !(loss > 0) || weight == 0 {
		return false
	}
	variance := 0.0
	for _, of := range changes {
		own := s.variances[of.vector*s.cols:]
		for c, v := range b.Elements(r) {
			x := float64(v)
			variance += float64(float64(x*x) * own[c])
		}
	}
	by := 1 / (variance + s.r/weight)
	for _, of := range changes {
		w, own := s.w[of.vector*s.stride:], s.variances[of.vector*s.cols:]
		for c, v := range b.Elements(r) {
			sx := float64(own[c] * float64(v))
			w[c] = float32(float64(w[c]) + float64(float64(of.sign*loss*by)*sx))
			own[c] -= float64(float64(sx*by) * sx)
		}
	}
	return true
}
