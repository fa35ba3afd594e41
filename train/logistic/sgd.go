package logistic

import (
	"context"
	"crypto/sha256"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/kernel/f64"
	"halfspace/train/internal/online"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

const (
	batchRows       = linalg.PanelRows
	averageAge      = 3    // weight of early weights in the mean: the greater averageAge, the less they count
	leastProgress   = 1e-4 // an epoch is stale if its loss isn't below the least loss so far by this times the least loss
	mostStaleEpochs = 3    // consecutive stale epochs that end the training
)

// descend comes near the optimum by averaged stochastic gradient descent, in the order opt.Order.
//
// Step t, from 0, takes the next 32 rows. Let g be the gradient of n/32 times their loss plus the penalty, in the
// variables v of a scaling. Then v = v - eta_t g, with eta_t = eta/(1 + D)/sqrt(1 + t/T). T is the number of steps in
// an epoch. D is the number of columns; each has a second derivative of up to 1 in v. The result is a mean of v in
// which step t has a share of 4/(t + 4), and all steps before it share the rest (Shamir and Zhang, "Stochastic Gradient
// Descent for Non-smooth Optimization", 2013, section 4). Rows of more than 16,384 columns have other steps; see
// lazyWalk.
//
// With opt.Shards above 1, the rows are cut into opt.Shards shards. In each epoch the shards take steps apart, all from
// the same v and the same mean of v. After the epoch, both become the means over the shards (Zinkevich, Weimer, Smola
// and Li, "Parallelized Stochastic Gradient Descent", NIPS 2010, which mixes once; Stich, "Local SGD Converges Fast and
// Communicates Little", ICLR 2019, which mixes repeatedly). As in these papers, t counts the steps of one shard. T is
// the average number of steps of a shard in an epoch. n stays the number of all rows, so a step has the same share of
// the penalty as without shards.
//
// An epoch is stale if the loss of its visits isn't below the least loss so far by 1e-4 of that loss. descend ends
// after opt.Epochs, or after three consecutive stale epochs if the objective is proven to be within 1e-3 of the
// optimum.
func (s *solver) descend(ctx context.Context) error {
	if s.pivots != nil && s.opt.Order != learner.Cyclic {
		return message.Errorf("sgd in the --order %s takes no columns far from zero: use --standardize, or use "+
			"--order cyclic", s.opt.Order)
	}
	sc, err := s.scaling(ctx)
	if err != nil {
		return err
	}
	by := s.newMover(sc, stepPosition{0, float64(s.src.Rows()), float64(s.src.Rows()) / float64(s.opt.Shards)})
	epoch, err := s.epoch(sc, by)
	if err != nil {
		return err
	}
	s.rowTotal = sc.ColumnSums
	if s.descent = by; s.takeResumed() {
		if err := s.opt.Checkpoint.Read(s.descentState, by.state); err != nil {
			return err
		}
	}
	for ; s.epochs < s.opt.Epochs; s.epochs++ {
		s.mark()
		s.report(nil)
		var sum sums
		if err := epoch(ctx, &sum); err != nil {
			by.mean(s.w) // the weights so far, for an interrupted training
			s.balanceWeights()
			return err
		}
		s.passes++
		s.measure = &learner.Measure{Objective: sum.Loss, Gradient: math.NaN(), Gap: math.Inf(1)}
		s.report(by.sum())
		if s.epochs > 0 && !(sum.Loss < s.leastLoss*(1-leastProgress)) {
			s.staleEpochs++
		} else {
			s.staleEpochs = 0
		}
		if s.epochs == 0 || sum.Loss < s.leastLoss {
			s.leastLoss = sum.Loss
		}
		if s.staleEpochs < mostStaleEpochs && s.passes < s.opt.Epochs {
			continue
		}
		by.mean(s.w)
		s.balanceWeights()
		if x := f64.Dot(s.w, s.w); x-x != 0 {
			return learner.OverflowError()
		}
		if err := s.boundGap(ctx); err != nil {
			return err
		}
		if s.converged = s.staleEpochs >= mostStaleEpochs && s.gap <= convergedGapSGD*s.at.Objective; s.converged {
			break
		}
		s.staleEpochs = 0
	}
	s.report(nil)
	return nil
}

// visit calls learn with the rows of an epoch: 32 rows at a time, or one row if the order isn't cyclic and there are
// more than 16,384 columns. pass makes passes over the rows of src. learn may use the scratch c until it returns.
func (s *solver) visit(ctx context.Context, src block.Source, pass *online.Pass, epoch int64,
	learn func(part *block.Block, c *scratch)) error {
	c := s.scratch.Get().(*scratch)
	defer s.scratch.Put(c)
	if s.opt.Order != learner.Cyclic {
		return s.visitOrdered(ctx, pass, epoch, func(part *block.Block) { learn(part, c) })
	}
	for chunks, err := range block.Chunks(ctx, src, 1) {
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			for lo := 0; lo < chunk.Len(); lo += batchRows {
				learn(chunk.Slice(lo, min(chunk.Len(), lo+batchRows)), c)
			}
		}
	}
	return nil
}

// visitOrdered is visit for orders other than the order of the source. It copies the rows of a batch.
func (s *solver) visitOrdered(ctx context.Context, pass *online.Pass, epoch int64, learn func(part *block.Block)) error {
	part := &block.Block{}
	take := func() {
		if part.Len() > 0 {
			learn(part)
		}
		if part.Sparse != nil {
			part.Clear(0)
		}
		part.X, part.Y, part.W = part.X[:0], part.Y[:0], part.W[:0]
	}
	err := pass.Epoch(ctx, epoch, 0, func(p *online.Panel, _ int) (int, error) {
		for i := range p.Len() {
			b, r := p.At(i)
			if optimize.HasManyColumns(s.cols) { // a step takes one row
				learn(b.Slice(r, r+1))
			} else if learner.AppendRow(part, b, r); part.Len() == batchRows {
				take()
			}
		}
		return p.Len(), nil
	})
	if err == nil {
		take()
	}
	return err
}

// A walk is the state of averaged stochastic gradient descent with steps on 32 rows.
type walk struct {
	*solver
	*scaling
	*stepPosition
	v, average []float64 // variables of the scaling, and their mean
	w, g       []float64 // weights, and the gradient in v
}

func (a *walk) mean(w []float64) { a.weights(a.average, w, a.stride) }

func (a *walk) sum() func() [sha256.Size]byte { return learner.SumOf(a.v) }

// learn takes one step of descend on a batch.
func (a *walk) learn(part *block.Block, c *scratch, sum *sums) {
	t := float64(a.Step)
	a.weights(a.v, a.w, a.stride)
	c.panel.Load(part)
	a.losses(c, part, a.w, c.s[:part.Len()], sum)
	c.panel.Add()
	a.takeGradient(c, a.g)
	share := float64(part.Len()) / a.AllRows
	for k := 0; k < len(a.w); k += a.stride {
		f64.Axpy(a.g[k:][:a.penalised()], a.l2*share, a.w[k:][:a.penalised()])
	}
	a.gradient(a.g, a.stride)
	perEpoch := (a.EpochRows + batchRows - 1) / batchRows
	eta := a.opt.Eta / float64(1+a.cols) / math.Sqrt(1+t/perEpoch) / share
	f64.Axpy(a.v, -eta, a.g)
	for i, x := range a.v {
		a.average[i] += float64((x - a.average[i]) * ((averageAge + 1) / (t + averageAge + 1)))
	}
	a.Step++
}

// boundGap bounds the gap of the rounded weights by their Hessian. If that bound isn't below the goal, boundGap finds
// the optimum by Newton's method, and compares the objectives. If the Hessian is too large and there is a penalty, the
// dual problem gives a bound.
func (s *solver) boundGap(ctx context.Context) error {
	if !s.hasMatrix() {
		if s.zeroGradient == nil && s.opt.L2 > 0 {
			var at sums
			if err := s.pass(ctx, s.zeros(), false, &at); err != nil {
				return err
			}
			s.zeroGradient = at.Gradient
		}
		_, err := s.boundDual(ctx)
		return err
	}
	if !s.knowsDependent {
		if _, err := s.moments(ctx); err != nil {
			return err
		}
	}
	if err := s.certify(ctx, s.roundedWeights()); err != nil {
		return err
	}
	if s.gap <= convergedGapSGD*s.at.Objective {
		return nil
	}
	if s.lowerBound == 0 {
		other := newSolver(s.src, s.opt)
		other.w, other.round, other.pivots = slices.Clone(s.w), s.round, s.pivots
		other.knowsDependent, other.staysZero = true, s.staysZero
		other.opt.Epochs, other.opt.Progress, other.opt.Checkpoint = Newton.epochs(s.cols), nil, nil
		if _, err := other.minimise(ctx); err != nil {
			return err
		}
		if err := other.finish(ctx); err != nil {
			return err
		}
		s.lowerBound = other.at.Objective - other.gap
	}
	s.gap = min(s.gap, max(0, s.at.Objective-s.lowerBound))
	return nil
}

// A lazyWalk is the state of averaged stochastic gradient descent on rows of many columns. A step takes one row. It
// costs a few operations for each element of the row that isn't 0.
//
// Step t changes the weights w by -eta_t (g + l2/n w), where g is the gradient of the row's loss. eta_t is eta/(R/4 +
// l2/n)/sqrt(1 + t/n) for n rows with a mean squared norm of R. w is scale times u, so the penalty changes only scale
// (Bottou, "Stochastic Gradient Descent Tricks", 2012, section 5.1). The mean of w is (v + shift u)/growth, so a step
// changes v only where it changes u (Xu, "Towards Optimal One Pass Large Scale Learning with Averaged Stochastic
// Gradient Descent", 2011, section 6.1). The shares of the steps in the mean are the same as in descend. Biases have no
// penalty, and their own mean.
type lazyWalk struct {
	*solver
	*stepPosition
	// uv has, for each vector of weights, u and v of each column alternately; u and v of the bias stay 0.
	uv                   []float64
	scale, shift, growth float64
	bias, meanBias       []float64
	firstRate            float64 // eta_0
	features             int

	columns []uint32 // columns of the row's elements that aren't 0
	values  []float64
}

// leastScale is the least scale. When scale falls below it, u is multiplied by scale, scale becomes 1, and shift u is
// added to v.
const leastScale = 1e-6

func newLazy(s *solver, square float64, c stepPosition) *lazyWalk {
	size := float64(square/4) + s.l2/c.AllRows
	if size == 0 { // all features are 0: any rate works
		size = 1
	}
	return &lazyWalk{solver: s, stepPosition: &c, uv: make([]float64, 2*s.vectors*s.stride), scale: 1, growth: 1,
		bias: make([]float64, s.vectors), meanBias: make([]float64, s.vectors), features: s.penalised(),
		firstRate: s.opt.Eta / size}
}

func (a *lazyWalk) mean(w []float64) {
	for i := range w {
		w[i] = (a.uv[2*i+1] + float64(a.shift*a.uv[2*i])) / a.growth
	}
	if a.features < a.cols {
		for k, b := range a.meanBias {
			w[k*a.stride+a.features] = b
		}
	}
}

func (a *lazyWalk) sum() func() [sha256.Size]byte {
	return learner.SumOf(a.uv, a.bias, []float64{a.scale, a.shift})
}

// learn takes one step on each row.
func (a *lazyWalk) learn(part *block.Block, c *scratch, sum *sums) {
	for r := range part.Len() {
		a.load(c, part, r)
		for k := range a.vectors {
			c.scores[k*linalg.PanelRows] = float64(a.scale*dotElements(a.columns, a.values, a.vector(k))) + a.bias[k]
		}
		one := block.Block{Y: part.Y[r : r+1]}
		if part.W != nil {
			one.W = part.W[r : r+1]
		}
		if a.vectors == 1 {
			c.logistic(&one, c.scores[:1], c.s[:1], sum)
		} else {
			softmax(c.scores, one.Y, one.W, c.panel.Factors(), c.losses[:1], sum)
		}
		a.step(c.panel.Factors())
	}
}

// load sets columns and values to the elements of row r that aren't 0, without the bias.
func (a *lazyWalk) load(c *scratch, b *block.Block, r int) {
	a.columns, a.values = a.columns[:0], a.values[:0]
	columns, values := c.reader.Row(b, r)
	for k, c := range columns {
		if v := values[k]; v != 0 && int(c) < a.features {
			a.columns, a.values = append(a.columns, c), append(a.values, v)
		}
	}
}

// step changes the weights by the factors of the row, which is the first row of a panel.
func (a *lazyWalk) step(factors []float64) {
	t := float64(a.Step)
	eta := a.firstRate / math.Sqrt(1+t/a.EpochRows)
	if a.scale *= 1 - float64(eta*a.l2)/a.AllRows; a.scale < leastScale {
		a.unscale()
	}
	share := (averageAge + 1) / (t + averageAge + 1)
	for k := range a.vectors {
		move := -float64(eta * factors[k/linalg.PanelCols*linalg.PanelRows*linalg.PanelCols+k%linalg.PanelCols])
		if a.features < a.cols {
			a.bias[k] += move
			a.meanBias[k] += float64((a.bias[k] - a.meanBias[k]) * share)
		}
		if move != 0 {
			a.addRow(a.vector(k), move/a.scale)
		}
	}
	if a.Step > 0 {
		a.growth /= 1 - share
	}
	a.shift += float64(float64(a.growth*share) * a.scale)
	a.Step++
}

// unscale sets u to the weights and scale to 1. The weights and their mean stay the same.
func (a *lazyWalk) unscale() {
	for i := 0; i < len(a.uv); i += 2 {
		a.uv[i+1] += float64(a.shift * a.uv[i])
		a.uv[i] *= a.scale
	}
	a.shift, a.scale = 0, 1
}

// vector returns the elements of uv for vector k of the weights.
func (a *lazyWalk) vector(k int) []float64 { return a.uv[2*k*a.stride:][:2*a.stride] }

// addRow adds by times the row to u. It changes v so that v + shift u stays the same.
func (a *lazyWalk) addRow(uv []float64, by float64) {
	back := -float64(by * a.shift)
	for k, c := range a.columns {
		x := a.values[k]
		both := uv[2*c:][:2]
		both[0] += float64(by * x)
		both[1] += float64(back * x)
	}
}

// dotElements returns the dot product of a row and u. It makes four sums of every fourth element, and then adds them.
func dotElements(columns []uint32, values, uv []float64) float64 {
	var a, b, c, d float64
	values = values[:len(columns)]
	k := 0
	for ; k+4 <= len(columns); k += 4 {
		i, v := columns[k:k+4:k+4], values[k:k+4:k+4]
		a += float64(v[0] * uv[2*i[0]])
		b += float64(v[1] * uv[2*i[1]])
		c += float64(v[2] * uv[2*i[2]])
		d += float64(v[3] * uv[2*i[3]])
	}
	for ; k < len(columns); k++ {
		a += float64(values[k] * uv[2*columns[k]])
	}
	return (a + c) + (b + d)
}
