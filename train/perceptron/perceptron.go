// Package perceptron trains linear classifiers by the perceptron learning algorithm and its pocket, averaged and voted forms.
package perceptron

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train"
)

// Options are the options of Train.
type Options struct {
	train.Options
	Pocket pocket.Mode // keep the weights that make the fewest errors of those that are judged, instead of the last ones, if not ""
	Form   train.Form  // Last; Averaged not with a pocket, Voted neither with a pocket nor with rows to validate on

	VoterBytes int64 // most memory that the weights of voters take; the constant VoterBytes

	Margin    float64 // a row calls for an update where y (w.x) is at most this much; 0
	L2        float64 // penalty on the weights, the bias not penalised; not with votes or a pocket
	EarlyStop int64   // epochs without fewer errors of the best weights judged that end the training; 0: none do
	Versus    bool    // the rows are those of one of several classes and the rest: a pocket keeps no zeros, see pocket.LeaveZeros
}

// Train runs the perceptron learning algorithm on rows with labels -1 and +1, or on class numbers.
//
// Objective: weights w, the bias among them, with y (w.x) > 0 for every row. From w = 0, each row in turn for which
// y (w.x) <= 0 changes them: w = w + eta y x (Rosenblatt 1958). If some unit vector u has y (u.x) >= rho > 0 for all
// rows, there are at most R^2/rho^2 updates, R being the largest norm of a row (Novikoff 1962); if not, it never stops
// by itself. It stops when nothing is wrong any more: after as many visits without an update as there are rows (cyclic,
// fixed-shuffle), after an epoch without one (shuffle), or after as many draws without one and a verifying pass over all
// rows (random); or when opt.Epochs or opt.MaxUpdates are reached.
//
// With opt.Pocket, weights on the path are judged on all rows, and the first with the fewest errors are kept (Gallant 1990),
// the initial zeros being the first; training also stops once error-free ones are found. That is convergence where no row calls for an
// update of them: a row of class -1 and score 0 is right, and does.
//
// Averaged, the result is the mean of the weights after every visit, changed or not (Freund and Schapire 1999; Collins
// 2002). The path and its end are those without it, so that Converged speaks of the last weights; the mean may still make errors.
//
// Voted, the weights after every update are kept, each with the number of visits that it stood, as votes (Freund and
// Schapire 1999); Errors counts the rows that lose the vote. It is an error if they take more than VoterBytes.
//
// With opt.Margin, a row changes the weights where y (w.x) <= opt.Margin (Krauth and Mezard 1987; Duda and Hart 1973). If a unit
// vector has y (u.x) >= rho for all rows, there are at most (R^2 + 2 margin/eta)/rho^2 updates, and the weights then have a margin
// of at least rho/(2 + eta R^2/margin).
//
// With opt.L2, an epoch is followed by the step that the penalty 1/2 l2 |w|^2 on the sum of losses asks for: all weights but the bias are
// divided by 1 + eta l2 (forward-backward splitting; Duchi and Singer, "Efficient Online and Batch Learning Using Forward Backward
// Splitting", Journal of Machine Learning Research 10, 2009). The next epoch counts its visits without an update from 0.
//
// Of more than two classes each has a vector w_c, and a row of class y is wrong where some other class has a score of at least
// w_y.x. With r the one of them that has the greatest, the first of equal ones, w_y = w_y + eta x and w_r = w_r - eta x. That is the
// perceptron on Kesler's construction (Nilsson 1965; Duda and Hart 1973, section 5.12), and an ultraconservative algorithm (Crammer
// and Singer, "Ultraconservative Online Algorithms for Multiclass Problems", Journal of Machine Learning Research 3, 2003); with rows
// that the vectors of some norm 1 separate by rho, as train.Evaluate measures it, there are at most R^2/rho^2 updates. Of two classes
// w_1 would be w, and w_0 -w. Average, Margin (of half the difference of the scores) and rows to validate on are as above; a pocket
// and votes take two classes. Loss is the sum of the differences then.
//
// A row's weight multiplies eta where the row changes the weights, and its share of the loss; rows that weigh 0 change nothing. The
// bounds are for rows that weigh 1. The pocket then keeps the first with the least weight of wrong rows. Errors counts rows.
//
// Every order but cyclic needs src to be a *block.Data or a block.Seekable. The result doesn't depend on opt.Workers. Errors:
// options out of range, no rows, fewer classes than two, weights that overflow the element type, whatever src fails
// with, and ctx's error.
func Train[T kernel.Float](ctx context.Context, src block.Source[T], opt Options) (*train.Result[T], error) {
	return TrainValidated(ctx, src, nil, opt)
}

// TrainValidated is Train with a pocket that judges weights on the rows of validation instead, which have the columns of src,
// unless it is nil. Without opt.Pocket it judges the weights, or their mean, at the end of each epoch. The training ends once weights are error-free there, since nothing can replace them, but that isn't
// convergence.
func TrainValidated[T kernel.Float](ctx context.Context, src, validation block.Source[T], opt Options) (*train.Result[T], error) {
	var err error
	if opt.Options, err = opt.Options.WithDefaults(); err != nil {
		return nil, err
	}
	if opt.Form, err = opt.Form.WithDefault(); err != nil {
		return nil, err
	}
	if err := opt.check(validation != nil); err != nil {
		return nil, err
	}
	if src, err = block.Check(ctx, src, opt.Workers); err != nil {
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
	if err := l.run(ctx); err != nil && err != errStop {
		return l.interrupted(ctx), err
	}
	if err := l.settlePocket(ctx); err != nil {
		return l.interrupted(ctx), err
	}
	r, err := l.result(ctx)
	if err != nil {
		return l.interrupted(ctx), err
	}
	return r, nil
}

// checkValidation returns rows to validate weights on that rows of spec are to be learned by.
func checkValidation[T kernel.Float](ctx context.Context, spec *schema.Spec, rows block.Source[T], workers int) (block.Source[T], error) {
	rows, err := block.Check(ctx, rows, workers)
	if err != nil {
		return nil, fmt.Errorf("the rows to validate on: %w", err)
	}
	other := rows.Spec()
	switch {
	case rows.Rows() == 0 || other.Cols() != spec.Cols():
		return nil, fmt.Errorf("there are %d rows of %d columns to validate %d columns on", rows.Rows(), other.Cols(), spec.Cols())
	case !slices.Equal(other.Classes, spec.Classes) || other.PositiveClass() != spec.PositiveClass():
		return nil, fmt.Errorf("the rows to validate on have the classes %s, and those to learn from %s, or another one is +1: give both the same Spec",
			schema.ListClasses(other.Classes), schema.ListClasses(spec.Classes))
	}
	return rows, nil
}

// check looks for options that are out of range or exclude each other.
func (o *Options) check(validated bool) error {
	switch {
	case o.Form == train.Voted && (o.Pocket != "" || validated):
		return errors.New("the weights either vote or are judged")
	case o.Form == train.Averaged && o.Pocket != "":
		return errors.New("the weights are either averaged or judged by a pocket")
	case !(o.L2 >= 0) || math.IsInf(o.L2, 0):
		return fmt.Errorf("l2 is %v: use a penalty of 0 or more", o.L2)
	case (o.Form == train.Voted || o.Pocket != "") && o.L2 > 0:
		return errors.New("weights that vote or are in a pocket aren't penalised")
	case !(o.Margin >= 0) || math.IsInf(o.Margin, 0):
		return fmt.Errorf("margin is %v: use a number of 0 or more", o.Margin)
	case o.EarlyStop < 0:
		return fmt.Errorf("early-stop is %d: use 1 or more epochs, or 0 for none", o.EarlyStop)
	case o.EarlyStop > 0 && !validated && o.Pocket == "":
		return errors.New("early-stop needs a pocket, or rows to validate on")
	}
	return nil
}

// errStop ends the epochs: the training is finished.
var errStop = errors.New("finished")

// A learner is the state of a training: the weights and how the walk over the rows went so far.
type learner[T kernel.Float] struct {
	src       block.Source[T]
	opt       Options
	eta       T
	margin    T
	rows      int64
	w         []T
	vectors   *block.Vectors[T] // of more than two classes, of which w is the weights; else nil
	pocket    judge[T]          // nil without one
	validated bool              // the pocket judges on other rows
	mean      *mean[T]          // nil where it isn't asked for
	voters    *voters[T]        // likewise
	log       []uint32
	rivals    []uint32 // of the updates in log, where there are vectors
	weighted  bool
	found     int   // weights that the pocket has found the best so far
	stale     int64 // epochs since it found the last of them

	visits    int64
	updates   int64
	quiet     int64 // visits since the last update
	converged bool

	start, reported time.Time
	calls           int // of kernels
}

func newLearner[T kernel.Float](ctx context.Context, src, validation block.Source[T], opt Options) (*learner[T], error) {
	stride := kernel.Stride[T](src.Spec().Cols())
	l := &learner[T]{src: src, opt: opt, eta: T(opt.Eta), margin: T(opt.Margin), rows: src.Rows(), weighted: src.Spec().Weighted, found: 1, start: time.Now()}
	l.log = make([]uint32, kernel.PanelRows[T](stride))
	if classes := len(src.Spec().Classes); classes > 2 && opt.Pocket == "" && opt.Form != train.Voted {
		l.vectors = block.NewVectors[T](classes, stride)
		l.w, l.rivals = l.vectors.W, make([]uint32, len(l.log))
	} else if err := train.TwoClasses(src.Spec()); err != nil {
		return nil, err
	} else {
		l.w = block.Alloc[T](stride)
	}
	if l.margin-l.margin != 0 || l.margin == 0 && opt.Margin > 0 {
		return nil, fmt.Errorf("margin is %v: out of the range of %T", opt.Margin, l.margin)
	}
	if l.eta == 0 {
		return nil, fmt.Errorf("eta is %v: too small for %T", opt.Eta, l.eta)
	}
	if opt.Form == train.Averaged || opt.Form == train.Voted {
		l.mean = newMean[T](len(l.w))
	}
	if opt.Form == train.Voted {
		l.voters = &voters[T]{stride: stride, most: opt.VoterBytes}
		if opt.VoterBytes == 0 {
			l.voters.most = VoterBytes
		}
	}
	if opt.Pocket == "" && validation != nil {
		opt.Pocket = pocket.Epoch
	}
	if opt.Pocket != "" {
		if opt.Pocket != pocket.Epoch {
			l.log = l.log[:1] // come back after every update
		}
		judges := src
		if validation != nil {
			judges, l.validated = validation, true
		}
		var err error
		if l.vectors != nil {
			l.pocket, err = newClassJudge(ctx, judges, l.vectors, opt.Workers)
		} else {
			l.pocket, err = newPocket(ctx, judges, opt)
		}
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

func newPocket[T kernel.Float](ctx context.Context, judges block.Source[T], opt Options) (judge[T], error) {
	p, err := pocket.New(ctx, judges, opt.Pocket, opt.Workers)
	if err == nil && opt.Versus {
		p.LeaveZeros()
	}
	return p, err
}

func (l *learner[T]) run(ctx context.Context) error {
	epoch := l.cyclic
	if l.opt.Order != train.Cyclic {
		shelf, err := newShelf(l.src, l.opt)
		if err != nil {
			return err
		}
		walk := &indexed[T]{l, shelf}
		epoch = map[train.Order]func(context.Context, int64) error{
			train.Shuffle: walk.shuffle, train.FixedShuffle: walk.fixedShuffle, train.Random: walk.random,
		}[l.opt.Order]
	}
	l.report()
	defer l.report()
	for e := range l.opt.Epochs {
		if err := epoch(ctx, e); err != nil {
			return err
		}
		if l.opt.L2 > 0 {
			l.shrink()
		}
		if l.pocket != nil {
			if err := l.judged(l.pocket.EpochEnded(ctx, l.current(), l.updates, l.visits)); err != nil {
				return err
			}
			if err := l.stopEarly(ctx); err != nil {
				return err
			}
		}
		l.report()
	}
	return nil
}

// shrink makes the step of the penalty.
func (l *learner[T]) shrink() {
	if l.mean != nil {
		l.mean.end(l.w)
	}
	spec := l.src.Spec()
	stride, features := kernel.Stride[T](spec.Cols()), len(spec.Features)
	factor := T(1 / (1 + float64(l.opt.Eta*l.opt.L2)))
	for v := range slices.Chunk(l.w, stride) {
		for i := range v[:features] {
			v[i] *= factor
		}
	}
	l.quiet = 0
}

// current returns the weights that the training would end with now.
func (l *learner[T]) current() []T {
	if l.mean != nil {
		return l.mean.weights(l.w, l.visits)
	}
	return l.w
}

// stopEarly ends the training after as many epochs without better weights in the pocket as opt.EarlyStop allows.
func (l *learner[T]) stopEarly(ctx context.Context) error {
	if l.opt.EarlyStop == 0 {
		return nil
	}
	if err := l.judged(l.pocket.Judge(ctx)); err != nil {
		return err
	}
	l.stale++
	if found := len(l.pocket.Curve()); found > l.found {
		l.found, l.stale = found, 0
	}
	if l.stale == l.opt.EarlyStop {
		return errStop
	}
	return nil
}

// byRow tells whether the kernels for an epoch don't serve.
func (l *learner[T]) byRow() bool { return l.margin > 0 || l.weighted }

// epoch runs the perceptron with weights w on rows of a block from row r on.
func (l *learner[T]) epoch(b *block.Block[T], r int, w []T, log []uint32) (rows, updates int) {
	if l.vectors != nil {
		return b.EpochClasses(r, l.eta, 2*l.margin, l.vectors.With(w), log, l.rivals)
	}
	if l.byRow() {
		return b.EpochMargin(r, l.eta, l.margin, w, log)
	}
	return b.Epoch(r, l.eta, w, log)
}

// cyclic is an epoch in file order.
func (l *learner[T]) cyclic(ctx context.Context, _ int64) error {
	for b, err := range l.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		for r := 0; r < b.Len(); {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, updates := l.epoch(b, r, l.w, l.room())
			if l.mean != nil {
				add := func(k int, a, to []T) { b.AddAll(l.log[k:][:len(a)], a, to) }
				if l.vectors != nil {
					add = func(k int, a, to []T) {
						for i, a := range a {
							l.vectors.Add(b, int(l.log[k+i]), int(l.rivals[k+i]), a, to)
						}
					}
				}
				if err := l.remember(r, rows, updates, add); err != nil {
					return err
				}
			}
			if err := l.account(ctx, rows, updates, r); err != nil {
				return err
			}
			r += rows
			if l.quiet >= l.rows {
				return l.settle()
			}
		}
	}
	return nil
}

// room returns the log for the next kernel call, cut to the updates that are still allowed.
func (l *learner[T]) room() []uint32 {
	if left := l.opt.MaxUpdates - l.updates; l.opt.MaxUpdates > 0 && left < int64(len(l.log)) {
		return l.log[:left]
	}
	return l.log
}

// remember has the mean, and the voters if there are some, take in what a kernel call did: visits from position first of its walk,
// the updates being those in the log. add does what updates of the log did, from number k on as many as a has elements, to other
// weights with a in the place of eta.
func (l *learner[T]) remember(first, visits, updates int, add func(k int, a, to []T)) error {
	l.mean.add(first, visits, l.log[:updates], l.eta, l.w, add)
	if l.voters != nil {
		return l.voters.add(first, visits, l.log[:updates], l.eta, add)
	}
	return nil
}

// account takes in what a kernel call did: the visits it made from position first of its walk, and the positions of its
// updates in the log.
func (l *learner[T]) account(ctx context.Context, visits, updates, first int) error {
	l.visits += int64(visits)
	l.updates += int64(updates)
	l.quiet += int64(visits)
	if l.calls++; l.calls%reportCalls == 0 && time.Since(l.reported) > reportEvery {
		l.report()
	}
	if updates == 0 {
		return ctx.Err()
	}
	l.quiet = int64(first+visits) - int64(l.log[updates-1]) - 1
	if l.pocket != nil {
		if err := l.judged(l.pocket.Updated(ctx, l.w, l.updates, l.visits)); err != nil {
			return err
		}
	}
	if l.updates == l.opt.MaxUpdates {
		return errStop
	}
	return nil
}

// settle ends the training: as many visits in a row as there are rows changed nothing. Visits beyond those are not
// counted, so that the figure doesn't depend on how many rows a kernel call takes.
func (l *learner[T]) settle() error {
	beyond := l.quiet - l.rows
	l.visits -= beyond
	if l.mean != nil {
		l.mean.span -= beyond
	}
	if l.voters != nil {
		l.voters.stand(int(-beyond))
	}
	l.quiet = l.rows
	l.converged = true
	return errStop
}

// judged ends the training if the pocket holds weights that nothing can replace.
func (l *learner[T]) judged(err error) error {
	if err == nil && l.pocket.Best().Weight == 0 {
		return errStop
	}
	return err
}

// settlePocket has the pocket judge the last weights. Where it found some without errors, the training ended there: what came
// after it, before they were judged, doesn't count.
func (l *learner[T]) settlePocket(ctx context.Context) error {
	if l.pocket == nil {
		return nil
	}
	if err := l.pocket.End(ctx, l.current(), l.updates, l.visits); err != nil {
		return err
	}
	best := l.pocket.Best()
	if best.Weight != 0 {
		return nil
	}
	l.updates, l.visits, l.converged = best.Update, best.Visits, false
	if l.validated {
		return nil
	}
	calls, err := l.callsForUpdate(ctx, best.Weights)
	l.converged = !calls
	return err
}

// reportEvery is the time between two reports of an epoch, and reportCalls the kernel calls between two looks at the
// clock.
const (
	reportEvery = 100 * time.Millisecond
	reportCalls = 16
)

func (l *learner[T]) report() {
	if l.opt.Progress == nil {
		return
	}
	l.reported = time.Now()
	p := train.Progress{Epoch: l.visits / l.rows, Epochs: l.opt.Epochs, Visits: l.visits, Rows: l.rows, Updates: l.updates,
		Best: -1, Elapsed: time.Since(l.start)}
	if l.pocket != nil && l.pocket.Best().Errors < math.MaxInt64 { // see pocket.LeaveZeros
		p.Best = l.pocket.Best().Errors
	}
	l.opt.Progress(p)
}

// interrupted returns the weights so far where ctx ended the training after some visits, else nil.
func (l *learner[T]) interrupted(ctx context.Context) *train.Result[T] {
	if ctx.Err() == nil || l.updates == 0 {
		return nil
	}
	r := l.learned()
	if r.Interrupted = true; l.voters != nil {
		r.Voters, r.Counts = l.voters.w, l.voters.counts
	}
	return r
}

// learned returns what was learned, without what a pass over the rows tells.
func (l *learner[T]) learned() *train.Result[T] {
	w := l.current()
	seconds := time.Since(l.start).Seconds()
	kept, cols := int64(0), l.src.Spec().Cols()
	stride := kernel.Stride[T](cols)
	var last []T
	if l.pocket != nil {
		last = unpad(w, stride, cols)
		w, kept = l.pocket.Best().Weights, l.pocket.Best().Update
	}
	r := &train.Result[T]{Weights: unpad(w, stride, cols), Last: last, Epochs: (l.visits + l.rows - 1) / l.rows, Visits: l.visits,
		Updates: l.updates, Converged: l.converged, Kept: kept, Seconds: seconds}
	if l.pocket != nil {
		r.Candidates, r.RowsScored = l.pocket.Judged()
		r.Curve = l.pocket.Curve()
	}
	return r
}

func (l *learner[T]) result(ctx context.Context) (*train.Result[T], error) {
	r := l.learned()
	if _, err := train.EvaluateLoss(ctx, l.src, l.opt.Workers, r); err != nil {
		return nil, err
	}
	if l.voters == nil {
		return r, nil
	}
	if l.updates == 0 {
		return nil, errors.New("every row weighs 0: there is nothing to learn from")
	}
	r.Voters, r.Counts, r.Predicted = l.voters.w, l.voters.counts, nil // of the mean
	var err error
	r.Errors, err = l.voters.errors(ctx, l.src, l.opt.Workers)
	return r, err
}

// An indexed is a learner that visits rows by number.
type indexed[T kernel.Float] struct {
	*learner[T]
	shelf shelf[T]
}

// visit visits the rows of a window, a panel at a time, and prefetches the chunks that are ahead beside them: row i of
// them, in storage order, during visit i. after, unless nil, runs between panels.
func (x *indexed[T]) visit(ctx context.Context, win window[T], after func() error) error {
	stride := kernel.Stride[T](x.src.Spec().Cols())
	panel := min(kernel.ChunkRows, kernel.PanelRows[T](stride))
	for i := 0; i < len(win.rows); {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, lo := i/kernel.ChunkRows, i%kernel.ChunkRows
		hi := min(kernel.ChunkRows, lo+panel)
		var fetch []T
		if c < len(win.ahead) {
			fetch = win.index.Ahead(int(win.ahead[c]), lo, hi, stride)
		}
		rows := win.rows[i:min(len(win.rows), i+hi-lo)]
		var visits, updates int
		if x.vectors != nil {
			visits, updates = win.index.EpochClasses(rows, x.eta, 2*x.margin, x.vectors, x.room(), x.rivals)
		} else if x.byRow() {
			visits, updates = win.index.EpochMargin(rows, x.eta, x.margin, x.w, x.room())
		} else {
			visits, updates = win.index.Epoch(rows, fetch, x.eta, x.w, x.room())
		}
		if x.mean != nil {
			add := func(k int, a, to []T) { win.index.AddAll(rows, x.log[k:][:len(a)], a, to) }
			if x.vectors != nil {
				add = func(k int, a, to []T) {
					for i, a := range a {
						b, r := win.index.At(rows[x.log[k+i]])
						x.vectors.Add(b, r, int(x.rivals[k+i]), a, to)
					}
				}
			}
			if err := x.remember(0, visits, updates, add); err != nil {
				return err
			}
		}
		if err := x.account(ctx, visits, updates, 0); err != nil {
			return err
		}
		i += visits
		if after != nil {
			if err := after(); err != nil {
				return err
			}
		}
	}
	return nil
}

// permuted is an epoch through the permutation that belongs to an epoch.
func (x *indexed[T]) permuted(ctx context.Context, epoch int64, after func() error) error {
	p := train.NewPermutation(int(x.rows), x.opt.Seed, epoch)
	return x.shelf.permuted(ctx, p, func(win window[T]) error { return x.visit(ctx, win, after) })
}

// shuffle is an epoch through a permutation of its own.
func (x *indexed[T]) shuffle(ctx context.Context, epoch int64) error {
	before := x.updates
	err := x.permuted(ctx, epoch, nil)
	if err == nil && x.updates == before {
		x.converged = true
		return errStop
	}
	return err
}

// fixedShuffle is an epoch through the permutation of the first, which is made again: that is hidden behind the visits,
// and keeping it would take memory for each row.
func (x *indexed[T]) fixedShuffle(ctx context.Context, _ int64) error {
	return x.permuted(ctx, 0, func() error {
		if x.quiet >= x.rows {
			return x.settle()
		}
		return nil
	})
}

// random is an epoch of as many draws with replacement as there are rows, from a generator with the seed as its first
// word and the number of the epoch as its second.
func (x *indexed[T]) random(ctx context.Context, epoch int64) error {
	return x.shelf.drawn(ctx, rand.NewPCG(x.opt.Seed, uint64(epoch)), func(win window[T]) error {
		return x.visit(ctx, win, func() error { return x.verify(ctx) })
	})
}

// verify looks at all rows once as many draws as there are rows changed nothing; it ends the training if none of them
// calls for an update.
func (x *indexed[T]) verify(ctx context.Context) error {
	if x.quiet < x.rows {
		return nil
	}
	calls, err := x.callsForUpdate(ctx, x.w)
	if err != nil {
		return err
	}
	if calls {
		x.quiet = 0
		return nil
	}
	return x.settle()
}

// callsForUpdate tells whether some row calls for an update of weights. A row of score 0 does, also where -1, its prediction, is right.
func (l *learner[T]) callsForUpdate(ctx context.Context, w []T) (bool, error) {
	w = slices.Clone(w)
	for b, err := range l.src.Blocks(ctx) {
		if err != nil {
			return false, err
		}
		for r := 0; r < b.Len(); {
			rows, updates := l.epoch(b, r, w, l.log[:1])
			if updates > 0 {
				return true, nil
			}
			r += rows
		}
	}
	return false, nil
}
