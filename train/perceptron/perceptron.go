// Package perceptron trains linear classifiers by the perceptron learning algorithm in all its forms. The forms are the
// last weights, the pocket, the averaged and the voted perceptron.
package perceptron

import (
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train/internal/online"
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
// The sample weight of a row multiplies eta in the row's updates, and the row's share of the loss. A row with a sample
// weight of 0 updates nothing. The bounds hold if all sample weights are 1. The pocket keeps the first weights with the
// smallest sum of sample weights over wrong rows. Errors counts rows.
//
// opt.Shards above 1: the rows are cut into opt.Shards shards. In each epoch the shards learn apart, from the same
// weights, and their weights are mixed after it (McDonald, Hall and Mann 2010). The averaged form is the mean over all visits of
// all shards. A pocket judges the mixed weights at the end of each epoch. opt.MaxUpdates ends the training after the
// epoch that reaches it. Train has converged if no row of any shard updated the weights of an epoch. Votes and traces
// take one shard.
//
// Every order but Cyclic, and more than one shard, need src to be a *block.Data or a block.Seekable. The result doesn't
// depend on opt.Workers. Errors: options out of range, no rows, fewer than two classes, weights that overflow float32,
// errors of src, and ctx's error.
func Train(ctx context.Context, src block.Source, opt Settings) (*learner.Result, error) {
	return TrainValidated(ctx, src, nil, opt)
}

// TrainValidated is Train with a pocket that judges weights on the validation rows, unless validation is nil. These
// rows must have the columns and classes of src. Without opt.Pocket, the pocket judges the weights, or their mean, at
// the end of each epoch. The training ends once weights make no errors on the validation rows, because no weights can
// be better. That isn't convergence.
func TrainValidated(ctx context.Context, src, validation block.Source, opt Settings) (*learner.Result, error) {
	opt, err := opt.withDefaults(validation != nil)
	if err != nil {
		return nil, err
	}
	return online.TrainValidated(ctx, LearnerOf(&opt.Options), src, validation, &opt)
}

// A training is the online.Mixer of the perceptrons.
type training struct {
	*online.Training
	opt    Settings
	rule   rule
	w      []float32 // weights; with several classes one vector for each, in class order
	keeper *keeper   // nil if no weights are judged
	mean   *mean     // nil if the weights aren't averaged
	voters *voters   // nil if the weights don't vote
	tracer *tracer   // nil if no update is traced

	decayedEpochs int64 // number of epochs whose penalty the weights have
}

func newTraining(ctx context.Context, t *online.Training) (_ *training, err error) {
	l := &training{Training: t, opt: *t.Task.Settings.(*Settings)}
	l.opt.MaxUpdates, l.opt.Shards, l.opt.Run = t.Opt.MaxUpdates, t.Opt.Shards, t.Opt.Run // a shard has other values
	validation, versus := t.Task.Validation, t.Task.VersusClasses
	if !t.Learner.ChoosesByValidation {
		validation = nil
	}
	if t.IsShard() {
		l.opt.L2, l.opt.EarlyStop, l.opt.Pocket, validation = 0, 0, "", nil // these options belong to all shards together
	} else if versus > 0 && l.opt.Form == learner.Voted && l.opt.VoterBytes >= 0 {
		if l.opt.VoterBytes == 0 {
			l.opt.VoterBytes = VoterBytes
		}
		l.opt.VoterBytes = max(1, l.opt.VoterBytes/int64(versus)) // all classes share the bytes
	}
	if l.opt, err = l.opt.withDefaults(validation != nil); err != nil {
		return nil, err
	}
	spec := t.Src.Spec()
	if validation != nil {
		if validation, err = checkValidation(ctx, spec, validation, l.opt.Workers); err != nil {
			return nil, err
		}
	}
	vectors := 0
	if l.rule, vectors, err = newRule(spec, &l.opt); err != nil {
		return nil, err
	}
	l.w = block.Alloc[float32](vectors * l.rule.stride)
	if t.Task.Init != nil {
		copy(l.w, t.Task.Init.Weights)
	}
	if l.opt.Form == learner.Averaged || l.opt.Form == learner.Voted {
		l.mean = &mean{lateSum: block.Alloc[float32](len(l.w)), sum: make([]float64, len(l.w))}
	}
	if l.opt.Form == learner.Voted {
		l.voters = &voters{stride: l.rule.stride, mostBytes: l.opt.VoterBytes}
	}
	if l.opt.Trace != nil {
		l.tracer = &tracer{w: make([]float32, len(l.w)), updatesPerPoint: max(1, l.opt.TraceEvery), cols: spec.Cols()}
	}
	t.Streak = &online.Streak{AnyUpdates: func(ctx context.Context) (bool, error) { return l.mayUpdate(ctx, l.w) }, Unvisited: l.unvisited}
	t.OneUpdatePerPanel = l.opt.Pocket != "" && l.opt.Pocket != pocket.Epoch
	l.keeper, err = newKeeper(ctx, t.Src, validation, l.opt, vectors)
	if p, ok := l.keeper.pocket(); ok && versus > 0 {
		p.LeaveZeros()
	}
	if l.opt.L2 > 0 {
		t.Judges = append(t.Judges, decay{training: l})
	}
	if l.keeper != nil {
		t.Judges = append(t.Judges, keeperJudge{l})
	}
	return l, err
}

// newRule returns the rule of the options for rows of a spec, and the number of its vectors of weights.
func newRule(spec *schema.Spec, opt *Settings) (u rule, vectors int, err error) {
	u = rule{eta: float32(opt.Eta), margin: float32(opt.Margin), hasSampleWeights: spec.Weighted, stride: kernel.Stride(spec.Cols())}
	vectors = 1
	if classes := len(spec.Classes); classes > 2 && opt.Pocket == "" && opt.Form != learner.Voted {
		u.scores, u.rivals, vectors = make([]float32, classes), make([]uint32, online.MostRows(u.stride)), classes
	} else if err := learner.TwoClasses(spec); err != nil {
		return u, 0, err
	}
	return u, vectors, nil
}

// Visit visits the rows of a panel; see online.Rule.
func (l *training) Visit(_ context.Context, p *online.Panel, log []uint32) (visits, updates int, err error) {
	if l.tracer != nil {
		copy(l.tracer.w, l.w)
	}
	if l.mean != nil {
		visits, updates = l.mean.visit(&l.rule, l.w, log, p)
	} else {
		visits, updates = l.rule.visit(l.w, log, p)
	}
	if l.tracer != nil {
		l.trace(p, log[:updates])
	}
	if l.voters != nil {
		err = l.voters.add(&l.rule, p, visits, log[:updates])
	}
	return visits, updates, err
}

// Prepare sets the functions of a pass; see online.Preparer.
func (l *training) Prepare(p *online.Pass) {
	// The visits whose sum is added to the mean, or that end the training, if they make no update.
	p.MostSparseRows = func() int64 {
		if l.mean != nil {
			return min(l.VisitsToConverge(), leastVisits-l.mean.visits)
		}
		return l.VisitsToConverge()
	}
	if spec := l.Src.Spec(); spec.Weighted && spec.Vectors() == 1 {
		p.PrepareIndex = func(index *block.Index) (any, func()) {
			s := newSteps(index, l.rule.eta)
			return s, s.update
		}
	}
}

// A decay is the penalty L2: after each epoch, it divides all weights but the bias by 1 + eta l2; see Options.L2.
type decay struct {
	online.Bystander
	*training
}

func (d decay) AfterEpoch(context.Context) error {
	l := d.training
	if l.decayedEpochs > l.Epoch { // an interrupt came after the decay
		return nil
	}
	l.decayedEpochs = l.Epoch + 1
	if l.mean != nil {
		l.mean.end(l.w)
	}
	factor := float32(1 / (1 + float64(l.opt.Eta*l.opt.L2)))
	for v := range slices.Chunk(l.w, l.rule.stride) {
		for i := range v[:l.Src.Spec().Width()] {
			v[i] *= factor
		}
	}
	l.Streak.Reset()
	return nil
}

// presentWeights returns the weights, or with a mean the mean, of a training that ends now.
func (l *training) presentWeights() []float32 {
	if l.mean != nil {
		return l.mean.weights(l.w, l.Visits)
	}
	return l.w
}

func (l *training) Weights() []float32 { return l.w }

func (l *training) State(w *checkpoint.Walk) {
	learner.State(w, &l.decayedEpochs, l.w)
	if m := l.mean; m != nil {
		learner.State(w, m.lateSum, m.sum, &m.visits)
	}
	if l.voters != nil {
		l.voters.state(w)
	}
	if l.keeper != nil {
		l.keeper.state(w)
	}
}

func (l *training) Begin(w []float32, _ [][]float64) { copy(l.w, w) }

// Vectors returns the sum of the weights over the visits, for the mean.
func (l *training) Vectors() [][]float64 {
	if l.mean == nil {
		return nil
	}
	l.mean.end(l.w)
	return [][]float64{l.mean.sum}
}

func (l *training) MixShards(shards []online.ShardResult) {
	for _, p := range shards {
		for _, sum := range p.State {
			f64.Axpy(l.mean.sum, 1, sum)
		}
	}
	l.MixedUpdates += online.Mix(l.w, shards, l.opt.Mix)
}

// ShardBytes counts the weights and the mean.
func (l *training) ShardBytes() int64 {
	each := int64(4)
	if l.mean != nil {
		each += each + 8
	}
	return each * int64(len(l.w))
}

func (l *training) unvisited(visits int64) {
	if l.mean != nil {
		l.mean.visits -= visits
	}
	if l.voters != nil {
		l.voters.addSurvivedVisits(int(-visits))
	}
}

// mayUpdate tells whether any row would update the weights w. A row of class -1 with score 0 would, although its
// prediction is right.
func (l *training) mayUpdate(ctx context.Context, w []float32) (anyUpdates bool, err error) {
	args := mayUpdateArgs{Settings{Options: Options{Eta: l.opt.Eta, Margin: l.opt.Margin, Pocket: l.opt.Pocket, Form: l.opt.Form}}, w}
	err = mayUpdatePass.Reduce(ctx, l.Src, l.opt.Workers, args, func(is bool) { anyUpdates = anyUpdates || is })
	return anyUpdates, err
}

var mayUpdatePass = passes.New("perceptron.some", mayUpdateChunk)

type mayUpdateArgs struct {
	Opt Settings
	W   []float32
}

// mayUpdateChunk returns the function that tells whether a row of a chunk would update the weights.
func mayUpdateChunk(src block.Source, args mayUpdateArgs) func(block.Chunk) bool {
	return func(chunk block.Chunk) bool {
		u, _, _ := newRule(src.Spec(), &args.Opt) // the training has made this rule: no error
		w, log := slices.Clone(args.W), make([]uint32, 1)
		for lo, updates := 0, 0; lo < chunk.Len(); {
			p := online.Panel{Block: chunk.Block, Lo: lo, Hi: min(chunk.Len(), lo+kernel.PanelRows(u.stride))}
			if lo, updates = u.visit(w, log, &p); updates > 0 {
				return true
			}
			lo += p.Lo
		}
		return false
	}
}

// CompleteResult sets the kept weights, and the figures of the pocket; see online.Completer.
func (l *training) CompleteResult(r *learner.Result) {
	r.Weights = l.Unpad(l.presentWeights())
	if l.keeper != nil {
		r.LastWeights = r.Weights
		r.Weights, r.KeptUpdate = l.Unpad(l.keeper.Best().Weights), l.keeper.Best().Update
		r.Candidates, r.RowsScored = l.keeper.Judged()
		r.Curve = l.keeper.Curve()
	}
	if l.voters != nil {
		r.Voters, r.VoterVisits = l.voters.w, l.voters.counts
	}
}

// Evaluate evaluates the weights, and counts the errors of a vote; see online.Evaluator.
func (l *training) Evaluate(ctx context.Context, r *learner.Result) (err error) {
	if err := l.Learner.Evaluate(ctx, l.Src, l.opt.Workers, l.Task.Settings, r); err != nil || l.voters == nil {
		return err
	}
	if l.Updates == 0 {
		return learner.ErrWeightless
	}
	r.PredictedRows = nil // the counts were of the mean
	r.Errors, err = l.voters.errors(ctx, l.Src, l.opt.Workers)
	return err
}

// OwnResult adds the voters to the model; see online.Owner.
func (l *training) OwnResult(r *learner.Result) *learner.TaskResult {
	own := &learner.TaskResult{Result: r, OwnResult: r}
	if l.voters != nil {
		own.AddToModel = func(m *model.Model) { m.Voters = model.NewVoters(l.voters.w, l.voters.counts, l.Src.Spec().Cols()) }
	}
	return own
}
