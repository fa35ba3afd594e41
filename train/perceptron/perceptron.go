// Package perceptron trains linear classifiers by the perceptron learning algorithm and its pocket, averaged and voted
// forms.
package perceptron

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/train/learner"
)

// Train runs the perceptron learning algorithm on rows. Labels are -1 and +1, or class numbers.
//
// Objective: weights w, including the bias, with y (w.x) > 0 for every row. From w = 0, each row in turn updates the
// weights if y (w.x) <= 0: w = w + eta y x (Rosenblatt 1958). Let R be the largest norm of a row. If a unit vector u
// has y (u.x) >= rho > 0 for all rows, there are at most R^2/rho^2 updates (Novikoff 1962). If there is no such u, the
// updates never end.
//
// Train stops when opt.Epochs or opt.MaxUpdates is reached, or when the training has converged:
//
//   - Cyclic, FixedShuffle: n consecutive visits, for n rows, made no update.
//   - Shuffle: an epoch made no update.
//   - Random: n consecutive draws, for n rows, made no update, and a pass over all rows finds no update to make.
//
// opt.Pocket: Train judges weights on the path by their errors on all rows, and keeps the first weights with the fewest
// errors (Gallant 1990). The initial zeros are judged first. Training also stops once weights without errors are found.
// It has then converged if no row would update these weights. A row of class -1 with score 0 would, although its
// prediction is right.
//
// opt.Form Averaged: the result is the mean of the weights after every visit (Freund and Schapire 1999; Collins 2002).
// The path of the weights is the same as for Last. Converged describes the last weights; their mean may still make
// errors.
//
// opt.Form Voted: Train keeps the weights after every update. Each vector has one vote for every visit that it survived
// (Freund and Schapire 1999). Errors counts the rows whose label loses the vote. Train returns an error if the weights
// take more than opt.VoterBytes.
//
// opt.Margin: a row updates the weights if y (w.x) <= opt.Margin (Krauth and Mezard 1987; Duda and Hart 1973). If a
// unit vector u has y (u.x) >= rho for all rows, there are at most (R^2 + 2 margin/eta)/rho^2 updates. The weights then
// have a margin of at least rho/(2 + eta R^2/margin).
//
// opt.L2: after each epoch, Train divides all weights but the bias by 1 + eta l2. This is the step for the penalty 1/2
// l2 |w|^2 on the sum of losses (forward-backward splitting; Duchi and Singer, "Efficient Online and Batch Learning
// Using Forward Backward Splitting", Journal of Machine Learning Research 10, 2009). Each epoch then counts visits
// without an update from 0.
//
// More than two classes: each class has a vector w_c. A row of class y updates the weights if another class has a score
// of at least w_y.x. Let r be the other class with the greatest score, the first of equal ones: w_y = w_y + eta x and
// w_r = w_r - eta x. This is the perceptron on Kesler's construction (Nilsson 1965; Duda and Hart 1973, section 5.12).
// It is an ultraconservative algorithm (Crammer and Singer, "Ultraconservative Online Algorithms for Multiclass
// Problems", Journal of Machine Learning Research 3, 2003). If vectors whose joint norm is 1 separate the rows by rho,
// as measured by learner.Evaluate, there are at most R^2/rho^2 updates. With two classes, w_1 would be w and w_0 would be
// -w. Average, margin and validation work as above; the margin is half the difference of the two scores. A pocket and
// votes take two classes. Loss is the sum of the differences.
//
// opt.Init: the initial weights, in place of zeros. The bounds don't hold with them.
//
// The sample weight of a row multiplies eta in the row's updates, and the row's share of the loss. A row with a sample
// weight of 0 updates nothing. The bounds hold if all sample weights are 1. The pocket keeps the first weights with the
// smallest sum of sample weights over wrong rows. Errors counts rows.
//
// opt.Shards above 1: the rows are cut into opt.Shards parts. In each epoch the parts learn apart, from the same
// weights, and their weights are mixed after it (McDonald, Hall and Mann 2010). The averaged form is the mean over all visits of
// all shards. A pocket judges the mixed weights at the end of each epoch. opt.MaxUpdates ends the training after the
// epoch that reaches it. Train has converged if no row of any shard updated the weights of an epoch. Votes and traces
// take one shard.
//
// Every order but Cyclic, and more than one shard, need src to be a *block.Data or a block.Seekable. The result doesn't
// depend on opt.Workers. Errors: options out of range, no rows, fewer than two classes, weights that overflow float32,
// errors of src, and ctx's error.
func Train(ctx context.Context, src block.Source, opt Options) (*learner.Result, error) {
	return TrainValidated(ctx, src, nil, opt)
}

// TrainValidated is Train with a pocket that judges weights on the validation rows, unless validation is nil. These
// rows must have the columns and classes of src. Without opt.Pocket, the pocket judges the weights, or their mean, at
// the end of each epoch. The training ends once weights make no errors on the validation rows, because no weights can
// be better. That isn't convergence.
func TrainValidated(ctx context.Context, src, validation block.Source, opt Options) (*learner.Result, error) {
	opt, err := opt.withDefaults(validation != nil)
	if err != nil {
		return nil, err
	}
	if src, err = block.Validate(ctx, src, opt.Workers); err != nil {
		return nil, err
	}
	if src.Rows() == 0 {
		return nil, errors.New("there are no rows to learn from")
	}
	if validation != nil {
		if validation, err = checkValidation(ctx, src.Spec(), validation, opt.Workers); err != nil {
			return nil, err
		}
	}
	l, err := newLearner(ctx, src, validation, opt)
	if err != nil {
		return nil, err
	}
	if _, err := opt.Checkpoint.Load(l.state); err != nil {
		return nil, err
	}
	if err := l.run(ctx); err != nil && err != errStop {
		if ctx.Err() != nil {
			l.mark()
		}
		return l.interrupted(ctx), err
	}
	l.over = true
	l.mark() // the steps below change no weights
	if err := l.judgeLast(ctx); err != nil {
		return l.interrupted(ctx), err
	}
	r, err := l.result(ctx)
	if err != nil {
		return l.interrupted(ctx), err
	}
	return r, nil
}

// errStop ends the epochs: the training has finished.
var errStop = errors.New("finished")

// A learner is the state of a training.
type training struct {
	src    block.Source
	opt    Options
	rows   int64
	rule   rule
	w      []float32 // weights; with several classes one vector for each, in class order
	log    []uint32  // positions of updates in a stretch
	keeper *keeper   // nil if no weights are judged
	mean   *mean     // nil if the weights aren't averaged
	voters *voters   // nil if the weights don't vote
	tracer *tracer   // nil if no update is traced
	look   *lookouts
	shards *shards // nil if there is one shard
	member *shards // shards that this learner is a member of; nil if its rows are all rows
	since  int64   // visits of a member when its pass began or resumed
	stream int64   // number of the shard's random choices; see online.Stream

	visits    int64
	updates   int64
	mixed     float64 // sum of updates times the share of their shard; 0 with one shard
	streak    int64   // visits since the last update
	converged bool

	epoch   int64 // number of finished epochs
	at      int64 // visits in the present epoch
	before  int64 // updates before the present epoch
	decayed bool  // the weights have the penalty of the present epoch, at its end
	over    bool  // no epoch follows

	start, reported time.Time
	calls           int                             // calls of mayReport
	told            struct{ visits, updates int64 } // counts of a shard at its last call of Tell
}

func newLearner(ctx context.Context, src, validation block.Source, opt Options) (*training, error) {
	spec := src.Spec()
	stride, vectors := kernel.Stride(spec.Cols()), 1
	l := &training{src: src, opt: opt, rows: src.Rows(), start: time.Now(), log: make([]uint32, panelOf(stride, true))}
	l.rule = rule{eta: float32(opt.Eta), margin: float32(opt.Margin), weighted: spec.Weighted, stride: stride}
	if classes := len(spec.Classes); classes > 2 && opt.Pocket == "" && opt.Form != learner.Voted {
		l.rule.scores, l.rule.rivals, vectors = make([]float32, classes), make([]uint32, len(l.log)), classes
	} else if err := learner.TwoClasses(spec); err != nil {
		return nil, err
	}
	l.w = block.Alloc[float32](vectors * stride)
	if opt.Init != nil && len(opt.Init) != vectors*spec.Cols() {
		return nil, fmt.Errorf("there are %d weights to begin with: use %d", len(opt.Init), vectors*spec.Cols())
	}
	for i, v := range opt.Init {
		l.w[i/spec.Cols()*stride+i%spec.Cols()] = float32(v)
	}
	if m := l.rule.margin; m-m != 0 || m == 0 && opt.Margin > 0 {
		return nil, fmt.Errorf("margin is %v: out of the range of %T", opt.Margin, m)
	}
	if eta := l.rule.eta; eta == 0 {
		return nil, fmt.Errorf("eta is %v: too small for %T", opt.Eta, eta)
	}
	if opt.Form == learner.Averaged || opt.Form == learner.Voted {
		l.mean = newMean(len(l.w))
	}
	if opt.Form == learner.Voted {
		l.voters = &voters{stride: stride, most: opt.VoterBytes}
	}
	if opt.Trace != nil {
		l.tracer = &tracer{w: make([]float32, len(l.w)), every: max(1, opt.TraceEvery), cols: spec.Cols()}
	}
	if opt.Pocket != "" && opt.Pocket != pocket.Epoch {
		l.log = l.log[:1] // return after every update
	}
	var err error
	if opt.Shards > 1 {
		if l.shards, err = newShards(l); err != nil {
			return nil, err
		}
	}
	l.keeper, err = newKeeper(ctx, src, validation, opt, vectors)
	return l, err
}

// current returns the weights, or with a mean the mean, of a training that ends now.
func (l *training) current() []float32 {
	if l.mean != nil {
		return l.mean.weights(l.w, l.visits)
	}
	return l.w
}

// reportEvery is the least time between two reports in an epoch. reportCalls is the number of calls of mayReport
// between two reads of the clock.
const (
	reportEvery = 100 * time.Millisecond
	reportCalls = 16
)

// mayReport reports the progress if the last report is older than reportEvery. It checks that in one of 16 calls.
func (l *training) mayReport() {
	if l.calls++; l.calls%reportCalls != 0 {
		return
	}
	if l.member != nil {
		l.member.mayReport(l)
	} else if time.Since(l.reported) > reportEvery {
		l.report(nil)
	}
}

func (l *training) report(sum func() [sha256.Size]byte) {
	if l.opt.Progress == nil {
		return
	}
	l.reported = time.Now()
	visits, updates := l.visits, l.updates
	if l.shards != nil {
		v, u := l.shards.Told()
		visits, updates = visits+v, updates+u
	}
	l.opt.Progress(learner.Progress{Epoch: visits / l.rows, Epochs: l.opt.Epochs, Visits: visits, Rows: l.rows, Updates: updates,
		Best: l.keeper.fewest(), Elapsed: time.Since(l.start), Sum: sum})
}

// interrupted returns the weights so far if ctx ended the training after one update or more, and nil otherwise.
func (l *training) interrupted(ctx context.Context) *learner.Result {
	if l.shards != nil {
		l.take(l.shards.Take())
	}
	if ctx.Err() == nil || l.updates == 0 {
		return nil
	}
	r := l.learned()
	if r.Interrupted = true; l.voters != nil {
		r.Voters, r.Counts = l.voters.w, l.voters.counts
	}
	return r
}

// learned returns the result without the figures that need another pass over the rows.
func (l *training) learned() *learner.Result {
	w, cols := l.current(), l.src.Spec().Cols()
	r := &learner.Result{Weights: unpad(w, cols), Epochs: (l.visits + l.rows - 1) / l.rows, Visits: l.visits, Updates: l.updates,
		Mixed: l.mixed, Converged: l.converged, Seconds: time.Since(l.start).Seconds()}
	if l.keeper != nil {
		r.Last = r.Weights
		r.Weights, r.Kept = unpad(l.keeper.Best().Weights, cols), l.keeper.Best().Update
		r.Candidates, r.RowsScored = l.keeper.Judged()
		r.Curve = l.keeper.Curve()
	}
	return r
}

func (l *training) result(ctx context.Context) (*learner.Result, error) {
	r := l.learned()
	if _, err := learner.EvaluateLoss(ctx, l.src, l.opt.Workers, r, learner.PerceptronLoss); err != nil {
		return nil, err
	}
	if l.voters == nil {
		return r, nil
	}
	if l.updates == 0 {
		return nil, errors.New("every row has a sample weight of 0: there is nothing to learn from")
	}
	r.Voters, r.Counts, r.Predicted = l.voters.w, l.voters.counts, nil // these counts were of the mean
	var err error
	r.Errors, err = l.voters.errors(ctx, l.src, l.opt.Workers)
	return r, err
}
