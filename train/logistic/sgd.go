package logistic

import (
	"cmp"
	"context"
	"crypto/sha256"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/train/internal/online"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

const (
	batchRows       = linalg.PanelRows
	lateWeight      = 4    // the greater lateWeight, the less early steps count in the mean
	leastScale      = 1e-6 // a smaller scale is made 1
	leastProgress   = 1e-4 // an epoch is stale if its loss isn't below the least loss so far by this times the least loss
	convergedGapSGD = 1e-3 // a result has converged if its gap is at most this times the objective
	mostStaleEpochs = 3    // consecutive stale epochs that end the training
)

// A descent is a training, or the epoch of a shard, by averaged stochastic gradient descent.
//
// A step takes m rows: the next 32, or one if there are more than 16,384 columns. Let n be the number of all rows, and
// v the number of visits before the step. Let g be the gradient of the loss of the m rows plus m/n of the penalty. The
// step changes the weights w by -eta n/m P g/sqrt(1 + v/n). In the variables of scaling, P is 1/(1 + D) for D columns;
// each has a second derivative of up to 1. With more than 16,384 columns, P is 1/(n R/4 + l2), where R is the mean
// squared norm of a row. The result is a mean of w in which a step has a share of 4m/(v + 4m), and all steps before it
// share the rest (Shamir and Zhang, "Stochastic Gradient Descent for Non-smooth Optimization", 2013, section 4).
//
// A step on one row costs a few operations for each element of the row. w is scale times last, so the penalty changes
// only scale (Bottou, "Stochastic Gradient Descent Tricks", 2012, section 5.1). The mean of w is (mean + shift
// last)/growth, so a step changes mean only where it changes last (Xu, "Towards Optimal One Pass Large Scale Learning
// with Averaged Stochastic Gradient Descent", 2011, section 6.1). For a step on 32 rows, scale and growth are 1, and
// shift is 0.
//
// With S shards, v counts the visits of one shard, and S v replaces v in the size of a step. After an epoch, w and its
// mean become the means over the shards (Zinkevich, Weimer, Smola and Li, "Parallelized Stochastic Gradient Descent",
// NIPS 2010, which mixes once; Stich, "Local SGD Converges Fast and Communicates Little", ICLR 2019, which mixes
// repeatedly).
//
// A learner.Stepper learns from a stream, which has no length. A descent isn't one, because it needs n and a pass for
// the scaling before its first step. It is a rule of online training instead, with shards, orders and checkpoints.
//
// An epoch is stale if the loss of its visits isn't below the least loss so far by 1e-4 of that loss. A training ends
// after opt.Epochs, or after three consecutive stale epochs if the objective is proven to be within 1e-3 of the
// optimum.
type descent struct {
	*problem
	scaling
	opt        *Settings
	stepRows   int
	last, mean []float64
	numbers    [numberCount]float64
	g, move    []float64 // of a step on 32 rows
	gather     online.Gatherer

	// The fields below belong to a training.
	t       *online.Training
	bound   *bound  // of the last weights
	boundAt float64 // visits before the last bound
	seconds float64 // of the training before it
}

// The elements of numbers.
const (
	visits   = iota
	rowCount // n
	rate     // eta n P, without the scaling
	scale
	shift
	growth
	epochLoss   // loss of the visits in this epoch; after a mix, the mean over the shards
	leastLoss   // least loss of an epoch
	staleEpochs // consecutive stale epochs
	numberCount
)

// sgd is logistic regression by SGD alone. It has the options of Learner.
var sgd = online.Sharded(withAlgorithm(Learner, sgdAlgorithm{}))

func withAlgorithm(l *learner.Learner, a learner.Algorithm) *learner.Learner {
	c := *l
	c.Algorithm = a
	return &c
}

// sgdAlgorithm is the algorithm of SGD.
type sgdAlgorithm struct{ algorithm }

func (sgdAlgorithm) Rule(ctx context.Context, t *online.Training) (online.Rule, error) {
	return newDescent(ctx, t)
}

func (sgdAlgorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	return online.Learn(ctx, sgd, task)
}

func newDescent(ctx context.Context, t *online.Training) (online.Rule, error) {
	opt := t.Task.Settings.(*Settings)
	d := &descent{problem: newProblem(t.Src, opt.L2, 1), opt: opt, stepRows: 1, t: t, scaling: scaling{Bias: -1}}
	d.last, d.mean = d.zeros(), d.zeros()
	d.numbers[scale], d.numbers[growth], d.numbers[leastLoss] = 1, 1, math.Inf(1)
	if d.penalised() < d.cols {
		d.Bias = d.penalised()
	}
	if !optimize.HasManyColumns(d.cols) {
		d.stepRows, d.g, d.move = batchRows, d.zeros(), d.zeros()
		d.Mean, d.Scale = make([]float64, d.cols), make([]float64, d.cols)
	}
	t.ReportsLastSum = true
	if t.IsShard() {
		return d, nil
	}
	t.Judges = []online.Judge{gapJudge{descent: d}}
	return d, d.begin(ctx)
}

// begin sets the scaling and the rate. It makes a pass over the rows.
func (d *descent) begin(ctx context.Context) error {
	rows, pivots, err := learner.CentredRows(ctx, d.src)
	if err != nil {
		return err
	}
	opt := *d.opt
	opt.Checkpoint, opt.Progress, opt.Epochs = nil, nil, Newton.epochs(d.cols)
	d.bound = &bound{training: newTraining(rows, pivots, opt)}
	s, err := d.bound.scaling(ctx)
	if err != nil {
		return err
	}
	d.bound.zero.total = s.ColumnSums
	n := float64(d.src.Rows())
	d.numbers[rowCount], d.numbers[rate] = n, d.opt.Eta*n/float64(1+d.cols)
	for i, p := range pivots {
		s.Square += float64(p * (2*s.Mean[i] + p))
		s.Mean[i] += p
	}
	copy(d.Mean, s.Mean)
	copy(d.Scale, s.Scale)
	if d.stepRows == 1 {
		d.numbers[rate] = d.opt.Eta / cmp.Or(float64(s.Square/4)+d.l2/n, 1) // if all features are 0, any rate works
	}
	return nil
}

func (d *descent) vectorsOfState() [][]float64 {
	return [][]float64{d.last, d.mean, d.Mean, d.Scale, d.numbers[:]}
}

func (d *descent) State(w *checkpoint.Walk) {
	if d.bound != nil {
		w.Float(&d.bound.lower)
	}
	for _, v := range d.vectorsOfState() {
		checkpoint.Values(w, v)
	}
}

func (d *descent) Begin(_ []float32, vectors [][]float64) {
	for i, v := range d.vectorsOfState() {
		copy(v, vectors[i])
	}
}

func (d *descent) Vectors() [][]float64 {
	d.settle()
	return d.vectorsOfState()
}

func (d *descent) MixShards(shards []online.ShardResult) {
	if len(shards) > 0 {
		d.Begin(nil, online.MeanState(shards))
	}
}

// ShardBytes counts the vectors of the state twice, since they are mixed, and the vectors of a step.
func (d *descent) ShardBytes() int64 {
	return 8 * int64(4*len(d.last)+4*len(d.Mean)+len(d.g)+len(d.move))
}

// exactWeights returns the mean of the weights. The caller must not change it.
func (d *descent) exactWeights() []float64 {
	if d.numbers[shift] == 0 && d.numbers[growth] == 1 {
		return d.mean
	}
	w := d.zeros()
	for i, v := range d.last {
		w[i] = (d.mean[i] + float64(d.numbers[shift]*v)) / d.numbers[growth]
	}
	return w
}

func (d *descent) Weights() []float32 {
	exact, w := d.exactWeights(), make([]float32, d.vectors*kernel.Stride(d.cols))
	for k := range d.vectors {
		for i, v := range exact[k*d.stride:][:d.cols] {
			w[k*kernel.Stride(d.cols)+i] = float32(v)
		}
	}
	return w
}

// settle sets last to the weights, and mean to their mean.
func (d *descent) settle() {
	d.mean = d.exactWeights()
	for i := range d.last {
		d.last[i] *= d.numbers[scale]
	}
	d.numbers[scale], d.numbers[shift], d.numbers[growth] = 1, 0, 1
}

func (d *descent) Visit(_ context.Context, p *online.Panel, log []uint32) (visits, steps int, err error) {
	c := d.takeScratch()
	defer scratches.Put(c)
	b, lo := d.gather.Rows(p)
	for visits < p.Len() {
		b.SliceInto(&c.rows, lo+visits, lo+min(p.Len(), visits+d.stepRows))
		d.step(c, &c.rows)
		visits += c.rows.Len()
		log[steps] = uint32(visits - 1)
		steps++
	}
	return visits, steps, nil
}

func (d *descent) step(c *scratch, rows *block.Block) {
	n, m, sum := &d.numbers, float64(rows.Len()), sums{}
	c.panel.Load(rows)
	d.score(c, d.last, c.scores, rows.Len())
	if n[scale] != 1 {
		for k := 0; k < len(c.scores); k += linalg.PanelRows {
			c.scores[k] *= n[scale]
		}
	}
	d.setFactors(c, rows, c.s[:rows.Len()], &sum)
	n[epochLoss] += sum.Loss
	by := n[rate] / m / math.Sqrt(1+n[visits]*float64(d.opt.Shards)/n[rowCount])
	share := lateWeight * m / (n[visits] + float64(lateWeight*m))
	n[visits] += m
	if d.stepRows == 1 {
		d.moveByRow(c, rows, by, share)
		return
	}
	c.panel.Add()
	d.takeGradient(c, d.g)
	for k := 0; k < len(d.last); k += d.stride {
		f64.Axpy(d.g[k:][:d.penalised()], d.l2*m/n[rowCount], d.last[k:][:d.penalised()])
	}
	for k := 0; k < len(d.g); k += d.stride {
		d.toGradient(d.g[k:])
		copy(d.move[k:][:d.stride], d.g[k:])
		d.toWeights(d.move[k:])
	}
	f64.Axpy(d.last, -by, d.move)
	for i, w := range d.last {
		d.mean[i] += float64((w - d.mean[i]) * share)
	}
}

// moveByRow changes the weights by -by times the gradient of a row, and gives them a share in their mean.
func (d *descent) moveByRow(c *scratch, row *block.Block, by, share float64) {
	n := &d.numbers
	decay := 1 - float64(by*d.l2)/n[rowCount]
	if n[scale] *= decay; n[scale] < leastScale {
		d.settle()
	}
	columns, values := c.reader.Row(row, 0)
	for k := range d.vectors {
		last, mean := d.last[k*d.stride:][:d.stride], d.mean[k*d.stride:][:d.stride]
		if d.Bias >= 0 { // it has no penalty
			x := last[d.Bias]/decay - last[d.Bias]
			last[d.Bias] += x
			mean[d.Bias] -= float64(x * n[shift])
		}
		factor := c.panel.Factors()[k/linalg.PanelCols*linalg.PanelRows*linalg.PanelCols+k%linalg.PanelCols]
		move := -float64(by*factor) / n[scale]
		back := -float64(move * n[shift])
		for i, column := range columns {
			last[column] += float64(move * values[i])
			mean[column] += float64(back * values[i])
		}
	}
	if share < 1 { // else mean is 0
		n[growth] /= 1 - share
	}
	n[shift] += float64(float64(n[growth]*share) * n[scale])
}

// Prepare makes panels of whole batches; see online.Preparer.
func (d *descent) Prepare(p *online.Pass) {
	if d.stepRows > 1 {
		p.LeastDenseRows = batchRows
	}
}

// Sum returns the hash of the state; see online.Summer.
func (d *descent) Sum() func() [sha256.Size]byte { return learner.SumOf(d.vectorsOfState()...) }

// A gapJudge is the online.Judge that ends a training whose gap is proven to be small, and bounds the gap at the end.
type gapJudge struct {
	online.Bystander
	*descent
}

func (d gapJudge) AfterTraining(ctx context.Context) error { return d.boundGap(ctx) }

func (d gapJudge) AfterEpoch(ctx context.Context) error {
	n := &d.numbers
	stale := n[staleEpochs] + 1
	if n[epochLoss] < n[leastLoss]*(1-leastProgress) {
		stale = 0
	}
	if stale == mostStaleEpochs {
		if err := d.boundGap(ctx); err != nil {
			return err
		}
		d.t.Converged, stale = d.bound.isSmall(), 0
	}
	// No error follows, so a call that an interrupt ended can be repeated.
	d.t.Measure = &learner.Measure{Objective: n[epochLoss] * float64(d.opt.Shards), Gradient: math.NaN(), Gap: math.Inf(1)}
	n[staleEpochs], n[leastLoss], n[epochLoss] = stale, min(n[leastLoss], n[epochLoss]), 0
	if d.t.Converged {
		return online.ErrStop
	}
	return nil
}

// boundGap bounds the gap of the present weights, unless it has done so.
func (d *descent) boundGap(ctx context.Context) error {
	if d.boundAt == d.numbers[visits] {
		return nil
	}
	d.seconds = d.t.Elapsed().Seconds()
	w := slices.Clone(d.compact(d.exactWeights()))
	if x := f64.Dot(w, w); x-x != 0 {
		return learner.OverflowError()
	}
	if d.bound.pivots != nil {
		for w := range slices.Chunk(w, d.cols) {
			learner.Recentre(w, d.bound.pivots)
		}
	}
	err := d.bound.find(ctx, w)
	if err == nil {
		d.boundAt = d.numbers[visits]
	}
	return err
}

// OwnResult returns a *Result; see online.Owner.
func (d *descent) OwnResult(r *learner.Result) *learner.TaskResult {
	return &learner.TaskResult{Result: r, OwnResult: d.result(r)}
}

func (d *descent) result(r *learner.Result) *Result {
	own := &Result{Result: *r, Solver: SGD, ExactWeights: d.compact(d.exactWeights()), Gap: math.Inf(1)}
	own.OutOfPasses = own.Epochs >= d.opt.Epochs
	if r.Interrupted {
		return own
	}
	v := d.bound.verdict
	own.Loss, own.Objective, own.Gap, own.Seconds = v.Loss, v.Objective, v.gap, d.seconds
	if d.bound.areInexact { // the weights of the dependent columns could fit their rounding
		own.Gap, own.Converged = math.Inf(1), false
	}
	return own
}

// trainSGD trains by stochastic gradient descent. If ctx ends the training, trainSGD returns the result so far.
func trainSGD(ctx context.Context, task learner.Task, opt *Settings) (*Result, error) {
	done, err := sgd.Train(ctx, &task)
	if done == nil {
		return nil, err
	}
	r := done.OwnResult.(*Result)
	if err != nil {
		after, end := parallel.Grace(ctx)
		defer end()
		p, at := newProblem(task.Rows, opt.L2, opt.Workers), sums{}
		if r.NotEvaluated = p.pass(after, p.spread(r.ExactWeights), false, &at) != nil; !r.NotEvaluated {
			r.Loss, r.Objective = at.Loss, at.Objective
		}
	}
	return r, err
}

// A bound bounds the gap of weights that are near the optimum.
type bound struct {
	*training
	zero  zeroSums
	lower float64 // lower bound of the optimum; 0 if unknown
	knows bool    // dependences are known
}

// isSmall tells whether the gap is at most 1e-3 of the objective.
func (b *bound) isSmall() bool { return b.verdict.gap <= convergedGapSGD*b.verdict.Objective }

// find judges the rounded weights by their Hessian. If that doesn't prove that the gap is small, it finds the optimum
// by Newton's method, and compares the objectives. If the Hessian is too large and there is a penalty, the dual problem
// gives the bound.
func (b *bound) find(ctx context.Context, w []float64) (err error) {
	rounded := b.round(w)
	if !b.hasMatrix() {
		b.verdict, err = b.auditByDual(ctx, w, rounded, &b.zero)
		return err
	}
	if !b.knows {
		if b.dependences, err = b.findDependences(ctx); err != nil {
			return err
		}
		b.leaveOut(b.dependences.columns)
		b.knows = true
	}
	v, err := b.certify(ctx, rounded)
	if b.verdict = v; err != nil || b.isSmall() {
		return err
	}
	if b.lower == 0 {
		b.w = w
		if err := b.newton(ctx, nil); err != nil {
			return err
		}
		b.lower = b.verdict.Objective - b.verdict.gap
		b.verdict = v
	}
	v.gap = min(v.gap, max(0, v.Objective-b.lower))
	return nil
}
