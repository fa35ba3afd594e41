// Package learner holds the definitions that all learners share: options, progress, results.
package learner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/message"
	"halfspace/pocket"
	"halfspace/schema"
)

// Order is the order in which a perceptron visits the rows of an epoch.
type Order string

const (
	Cyclic       Order = "cyclic"        // file order, the default
	Shuffle      Order = "shuffle"       // a new permutation each epoch
	FixedShuffle Order = "fixed-shuffle" // one permutation for the whole training
	Random       Order = "random"        // draws with replacement; the number of draws is the number of rows
)

// Orders lists every order, the default first.
var Orders = []Order{Cyclic, Shuffle, FixedShuffle, Random}

// Mix says which share the weights of each shard have in the mean.
type Mix string

const (
	Uniform  Mix = "uniform"  // equal shares, the default
	Mistakes Mix = "mistakes" // the updates of a shard divided by the updates of all shards
)

// Mixes lists every mix, the default first.
var Mixes = []Mix{Uniform, Mistakes}

// mostShards is the largest number of shards. It is far more than the cores that any training has, and it fits in 32 bits.
const mostShards = 1 << 20

// Options are the passes of a learner over the rows, and how the training runs. A field of the first group is an option of
// the learners whose Options have a field of that name. The zero value of a field stands for its default; the comment of the
// field gives the default.
type Options struct {
	Order      Order   // Cyclic
	Epochs     int64   // most passes over the rows; 100
	MaxUpdates int64   // most updates; no limit
	Eta        float64 // learning rate, in (0, 1]; 1
	Shards     int64   // shards of the rows, which learn apart in each epoch; their weights are mixed after it; 1
	Mix        Mix     // Uniform

	Run
}

// A Run is how a training runs. The zero value of a field stands for its default.
type Run struct {
	Seed     uint64 // seed of every random choice; 1
	ZeroSeed bool   // Seed 0 means the seed 0, not the default
	Workers  int    // most goroutines that run at once; GOMAXPROCS. No result depends on it

	// Trace, if not nil, gets the updates of a perceptron without a kernel: the updates whose number is a multiple of
	// TraceEvery. The training goroutine calls it. No result depends on it. Other learners don't call it.
	Trace      func(Update)
	TraceEvery int64 // 1

	// Checkpoint, if not nil, saves the state of the training, and holds the saved state to resume from. Package train
	// sets it.
	Checkpoint *checkpoint.Part

	// Progress, if not nil, is called at the start, several times a second, after each epoch and at the end. The
	// training never calls it from two goroutines at once.
	Progress func(Progress)
}

// ReportPass reports the passes of a learner that solves for an optimum in a training that began at start. p needs no
// visits and no time.
func (r *Run) ReportPass(start time.Time, p Progress) {
	if r.Progress != nil {
		p.Visits, p.BestErrors, p.Elapsed = p.Epoch*p.Rows, -1, time.Since(start)
		r.Progress(p)
	}
}

// Progress tells how far a training has come.
type Progress struct {
	Epoch      int64 // epochs finished
	Epochs     int64 // most epochs
	Visits     int64
	Rows       int64 // rows of the data set; also the number of visits in an epoch
	Updates    int64
	BestErrors int64 // fewest errors of the pocket so far; -1 without a pocket
	Elapsed    time.Duration

	// Measure describes the last pass of a learner that solves for an optimum, if Sum is set; nil if nothing is known.
	Measure *Measure

	// Sum, if not nil, returns the SHA-256 of the weights, or of the numbers that a learner keeps in their place. It is
	// set in one call of Progress after each epoch of a learner that visits rows, and after each pass of a learner that
	// solves for an optimum. Sum may be called until that call of Progress returns. The hash depends only on the rows
	// and the options.
	Sum func() [sha256.Size]byte
}

// Measure is the state of a learner that solves for an optimum after a pass.
type Measure struct {
	Objective float64 // value of the learner's objective at the weights of that pass
	Gradient  float64 // Euclidean norm of the objective's gradient at these weights; NaN if unknown
	Gap       float64 // upper bound of the objective minus the optimum; +Inf if unknown
}

// Update is an update of a perceptron.
type Update struct {
	Number int64     // number of the update, from 1 on
	Visit  int64     // number of the visit that made the update, from 1 on
	Row    int64     // number of the row among the rows that are learned from, from 0 on
	Score  float64   // score of the row before the update; with several classes the score of its class minus its rival's
	Vector []float64 // the weights after the update, as in Result.Weights; valid until the call returns
}

// SumOf returns a function for Progress.Sum: the SHA-256 of the elements of the vectors, one after another,
// little-endian.
func SumOf[F float32 | float64 | uint32](vectors ...[]F) func() [sha256.Size]byte {
	return func() (sum [sha256.Size]byte) {
		h := sha256.New()
		for _, v := range vectors {
			h.Write(block.LittleEndian(v))
		}
		h.Sum(sum[:0])
		return sum
	}
}

// SetSeed sets the seed of every random choice, which may be 0.
func (r *Run) SetSeed(seed uint64) { r.Seed, r.ZeroSeed = seed, seed == 0 }

// completeSeed replaces a Seed of 0 by the default 1, unless ZeroSeed is set.
func (r *Run) completeSeed() {
	if r.Seed == 0 && !r.ZeroSeed {
		r.Seed = 1
	}
}

// ErrWeightless is the error of rows whose sample weights are all 0.
var ErrWeightless = errors.New("every row has a sample weight of 0: there is nothing to learn from")

// ErrTwoClasses is the error of rows that don't have exactly two classes.
var ErrTwoClasses = errors.New("training takes two")

// TwoClasses returns nil if the rows have two classes. It returns block.ErrNoLabels if they have no labels, and an
// error that wraps ErrTwoClasses otherwise.
func TwoClasses(spec *schema.Spec) error {
	classes := spec.Classes
	switch len(classes) {
	case 2:
		return nil
	case 0:
		return block.ErrNoLabels
	case 1:
		return fmt.Errorf("column %q: %s is the only class, %w: add rows of another class", spec.Label, schema.ListClasses(classes),
			ErrTwoClasses)
	}
	return message.Errorf("column %q: %d classes (%s), %w%s", spec.Label, len(classes), schema.ListClasses(classes),
		ErrTwoClasses, schema.AdviseClasses(classes))
}

// UnfinishedError is the error of a training that its context ended before there was a result to return.
type UnfinishedError struct {
	Position string // how far the training had come, as a sentence without a full stop
	Err      error  // the error of the context
}

func (u *UnfinishedError) Error() string { return u.Err.Error() + ": " + u.Position }

func (u *UnfinishedError) Unwrap() error { return u.Err }

// Result is the learned weights of a linear classifier, and the figures of its training.
type Result struct {
	Weights []float32 // one for each column, the bias last; for more than two classes one vector for each, in class order

	// Voters are the vectors of weights of a voted perceptron, each of kernel.Stride elements. VoterVisits has the
	// number of visits that each vector survived. Weights is the mean of the vectors; Loss, Norm and Margin are
	// computed for the mean.
	Voters      []float32
	VoterVisits []int64

	Epochs  int64 // epochs begun
	Visits  int64 // rows visited
	Updates int64 // rows that changed the weights
	// Interrupted says that ctx ended the training. The training then returns the result together with ctx's error. The
	// result has the weights so far and the counts of visits and updates. Figures that take another pass over the rows
	// may be missing: call Evaluate to compute them.
	Interrupted bool

	// OutOfPasses says that the limit of passes ended the search for an optimum. Ignore it if the result converged. If
	// neither is set, rounding errors or missing passes that prove the optimum are the reason.
	OutOfPasses bool

	// NotEvaluated says that ctx left no time for the pass that computes Errors, Loss, Radius, Norm and Margin. Ignore
	// these fields then.
	NotEvaluated bool

	// MixedUpdates is the sum over the shards of the shard's updates times its share in the mix. UpdateBound is an
	// upper bound of MixedUpdates (McDonald, Hall and Mann 2010, theorem 3). MixedUpdates is 0 without shards.
	MixedUpdates float64

	Converged     bool      // the stopping rule of the order was met: no row would update the weights
	Errors        int64     // rows whose prediction by Weights isn't their label
	Loss          float64   // the perceptron's loss: sum of -y(w.x+b) times the row's weight over the rows with y(w.x+b) <= 0
	Radius        float64   // the largest Euclidean norm of a row, the bias included
	Norm          float64   // Euclidean norm of Weights, the bias included
	Margin        float64   // the smallest y(w.x+b)/|w| of a row; 0 if a row is on the wrong side
	KeptUpdate    int64     // number of the update that made the pocket's weights; 0 for the initial zeros, or without a pocket
	Seconds       float64   // seconds of learning, without loading and the final evaluation
	PredictedRows []int64   // number of rows predicted to be of each class, in the order of the spec; nil if not counted
	LastWeights   []float32 // the last weights, if there is a pocket or there are rows to validate on

	// Candidates is the number of weight vectors that the pocket judged. RowsScored is the number of rows that it
	// scored for that; a row counts once for each candidate. The literal algorithm scores all rows for each candidate,
	// and so do other processes that read the rows.
	Candidates, RowsScored int64
	// Curve is the weights that had fewer errors than all weights before them, from the initial zeros to the kept
	// weights.
	Curve []pocket.Point
}

// Form says which weights of a perceptron's training are its result.
type Form string

const (
	Last     Form = "last"     // the last weights, the default
	Averaged Form = "averaged" // the mean of the weights after each visit
	Voted    Form = "voted"    // all weight vectors, each with one vote for every visit that it survived
)

// Forms lists every form, the default first.
var Forms = []Form{Last, Averaged, Voted}

// State saves or restores fields of a training: pointers to numbers, bools, a clock and slices, and slices whose length
// doesn't change.
func State(w *checkpoint.Walk, fields ...any) {
	for _, field := range fields {
		switch v := field.(type) {
		case *time.Time:
			w.Clock(v)
		case *int64:
			w.Int(v)
		case *int:
			w.Count(v)
		case *uint64:
			w.Word(v)
		case *float64:
			w.Float(v)
		case *bool:
			w.Bool(v)
		case []float32:
			checkpoint.Values(w, v)
		case []float64:
			checkpoint.Values(w, v)
		case *[]float64:
			checkpoint.Slice(w, v)
		default:
			panic(fmt.Sprintf("learner: a %T is no state", v))
		}
	}
}
