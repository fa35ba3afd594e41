package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

const mostScoreChange = 0.5 // certify bounds the gap if the step changes no score by more than this

// A verdict is a proof about weights: how far their objective is above the optimum at most.
type verdict struct {
	sums               // at the weights
	factored           // the factor of the Hessian at the weights; none without a Hessian
	step     []float64 // H^-1 g
	norm     float64   // sqrt(g' H^-1 g)
	gap      float64   // the objective is above the optimum by at most this
	// gapLostByRounding tells that the gap of the exact weights is small enough, but not the gap of the rounded weights.
	gapLostByRounding bool
	optimumExists     bool
}

// isGapSmall tells whether the gap is at most 1e-6 of the objective.
func (v *verdict) isGapSmall() bool { return v.gap <= optimize.ConvergedGap*v.Objective }

// zeroSums are sums over the rows for dualGap: the gradient at zero weights, and the sum of the rows.
type zeroSums struct{ gradient, total []float64 }

// atZero makes two passes for the sums that are nil.
func (p *problem) atZero(ctx context.Context, z *zeroSums) error {
	if z.gradient == nil {
		var at sums
		if err := p.pass(ctx, p.zeros(), false, &at); err != nil {
			return err
		}
		z.gradient = at.Gradient
	}
	if z.total == nil {
		sc, err := p.scaling(ctx)
		if err != nil {
			return err
		}
		z.total = sc.ColumnSums
	}
	return nil
}

// audit judges the rounded weights of a model, given the exact weights before rounding, by their Hessians. If these
// don't bound the gap, and there is a penalty, the dual problem bounds it. Without a penalty, audit returns an error if
// it finds that a plane separates the rows.
func (p *problem) audit(ctx context.Context, exact, rounded []float64, zero *zeroSums) (*verdict, error) {
	v, err := p.certify(ctx, rounded)
	if err != nil || v.isGapSmall() {
		return v, err
	}
	at := v
	if !slices.Equal(exact, rounded) {
		if at, err = p.certify(ctx, exact); err != nil {
			return nil, err
		}
	}
	if p.l2 > 0 && !at.isGapSmall() {
		if err := p.boundByDual(ctx, exact, at, zero); err != nil {
			return nil, err
		}
	}
	if v.compare(at); v.isGapSmall() || p.l2 > 0 || at.optimumExists {
		return v, nil
	}
	direction := negated(at.step)
	if err := p.checkSeparated(ctx, direction); err != nil || p.vectors > 1 {
		return v, err
	}
	return v, p.checkSeparatedNear(ctx, direction)
}

// auditByDual judges the rounded weights without a Hessian: by the dual problem if there is a penalty. Without a
// penalty, the gap stays unknown, and auditByDual returns an error if the exact weights separate the rows.
func (p *problem) auditByDual(ctx context.Context, exact, rounded []float64, zero *zeroSums) (*verdict, error) {
	v, err := p.dualVerdict(ctx, rounded, zero)
	if err != nil {
		return nil, err
	}
	if p.l2 == 0 {
		return v, p.checkSeparated(ctx, exact)
	}
	if v.isGapSmall() || slices.Equal(exact, rounded) {
		return v, nil
	}
	at, err := p.dualVerdict(ctx, exact, zero)
	if err == nil {
		v.compare(at)
	}
	return v, err
}

// compare lowers the gap to the bound that the verdict on the exact weights gives.
func (v *verdict) compare(exact *verdict) {
	v.gap = min(v.gap, max(exact.gap, v.Objective-(exact.Objective-exact.gap)))
	v.optimumExists = v.optimumExists || exact.optimumExists
	v.gapLostByRounding = !v.isGapSmall() && exact.isGapSmall()
}

// dualVerdict returns the verdict of the dual problem at w. The gap is +Inf without a penalty.
func (p *problem) dualVerdict(ctx context.Context, w []float64, zero *zeroSums) (*verdict, error) {
	v := &verdict{gap: math.Inf(1)}
	if err := p.pass(ctx, p.spread(w), false, &v.sums); err != nil {
		return nil, err
	}
	if v.Objective-v.Objective != 0 {
		return nil, learner.OverflowError()
	}
	if p.l2 == 0 {
		return v, nil
	}
	return v, p.boundByDual(ctx, w, v, zero)
}

// boundByDual lowers the gap of v, a verdict at w, to the bound of the dual problem.
func (p *problem) boundByDual(ctx context.Context, w []float64, v *verdict, zero *zeroSums) error {
	if err := p.atZero(ctx, zero); err != nil {
		return err
	}
	v.gap = min(v.gap, p.dualGap(p.spread(w), &v.sums, zero))
	return nil
}

// certify bounds the gap at w, and tells whether an optimum exists. It makes a pass with the Hessian H. It makes a
// second pass if the first doesn't bound the change of scores by the step H^-1 g.
//
// Let d = H^-1 g be the step. Let c be the sample weight of a row, p the probability of the class that isn't the row's
// class, and a = c p the row's dual variable. Change each a by c p(1-p) y x.d. If |x.d| is less than 1 for all rows,
// the result is a point of the dual problem, because g - H d = 0. The same holds for more classes. All a are then above
// 0, and the sum of their rows y x is 0. So an optimum exists by duality. Let z be the greatest |x.d|. Between the two
// points, the second derivative of the entropy is at most 1/(1-z) times the second derivative at p. So the gap between
// the objectives is at most g'd / (2 (1-z)).
//
// No such bound exists if a plane separates all rows that aren't on it. Then each Newton step adds 1 to the scores of
// the rows off the plane, however short the step is in the norm of H.
func (p *problem) certify(ctx context.Context, w []float64) (*verdict, error) {
	v, padded := &verdict{gap: math.Inf(1)}, p.spread(w)
	err := p.pass(ctx, padded, true, &v.sums)
	if err == nil && v.Objective-v.Objective != 0 {
		err = learner.OverflowError()
	}
	if err == nil {
		v.factored, err = p.factorise(ctx, padded, v.Hessian)
	}
	if err != nil {
		return nil, err
	}
	gradient := p.compact(v.Gradient)
	v.step = p.balance(v.factor.Solve(gradient))
	if v.norm = math.Sqrt(max(0, f64.Dot(gradient, v.step))); v.ridge > 0 {
		return v, nil
	}
	reach := v.norm * v.scoreReach(p.vectors)
	if !(reach <= mostScoreChange) {
		changes, err := p.probeBy(ctx, probeArgs{D: p.spread(v.step)})
		if err != nil {
			return nil, err
		}
		reach = changes.Reach
	}
	if !(reach <= mostScoreChange) {
		return v, nil
	}
	norm, blur := v.norm, 0.0
	if v.isSharp {
		if norm, blur, err = p.roundingAudit(ctx, padded, v); err != nil {
			return nil, err
		}
	}
	v.optimumExists, v.gap = true, float64(norm*norm)/(2*(1-reach))+blur
	return v, nil
}

func negated(v []float64) []float64 {
	n := make([]float64, len(v))
	f64.Axpy(n, -1, v)
	return n
}

// roundingAudit returns an upper bound of sqrt(g' H^-1 g), the distance of the weights w from the optimum. v has the
// Newton step d. H is so near a singular matrix that rounding errors of g and d count. roundingAudit makes a pass over
// the rows. With the residual r = g - H d, the distance is at most sqrt(d'Hd) + sqrt(r' H^-1 r). It adds the rounding
// errors of scores, weighted by curvature, and the rounding errors of sums, weighted by the standard errors of their
// weights. blur is the rounding error of the objective.
func (p *problem) roundingAudit(ctx context.Context, w []float64, v *verdict) (distance, blur float64, err error) {
	d := p.spread(v.step)
	all := auditSums{Product: p.zeros(), Sizes: p.zeros()}
	args := auditArgs{w, d}
	if err := auditPass.Reduce(ctx, p.src, p.workers, args, all.add); err != nil {
		return 0, 0, err
	}
	rest, sizes := p.compact(v.Gradient), p.compact(all.Sizes)
	if p.vectors == 1 {
		rest = slices.Clone(rest)
	}
	for i, product := range p.compact(all.Product) {
		if i%p.cols < p.penalised() {
			k := i/p.cols*p.stride + i%p.cols
			product += float64(p.l2 * d[k])
			all.Square += float64(float64(p.l2*d[k]) * d[k])
			sizes[i] += math.Abs(float64(p.l2 * w[k]))
		}
		if rest[i] -= product; p.staysZero != nil && p.staysZero[i] {
			rest[i] = 0
		}
	}
	inverse, err := v.factor.InverseDiagonal(ctx)
	if err != nil {
		return 0, 0, err
	}
	distance = math.Sqrt(all.Square) + learner.Norm(v.factor.Whiten(rest)) + float64(ulp*math.Sqrt(all.ScoreNoise))
	for i, size := range sizes {
		distance += float64(float64(ulp*size) * math.Sqrt(inverse[i]))
	}
	return distance, float64(ulp * math.Sqrt(all.Losses)), nil
}

// ulp times the sizes of a sum's terms bounds the rounding error of the sum, because rounding errors mostly have
// opposite signs.
const ulp = 0x1p-50

// auditSums are sums over rows for the weights w and a direction d. The slices have the layout of the weights.
type auditSums struct {
	Product    []float64 // X' D X d, where D is the curvature of the losses
	Sizes      []float64 // sums of the absolute terms of the gradient
	Square     float64   // d' X' D X d
	ScoreNoise float64   // sum over the rows of curvature times the squared size of the score's terms
	Losses     float64   // the same with the squared slope of the loss in place of the curvature
}

type auditArgs struct{ W, D []float64 }

var auditPass = newPass("logistic.audit", (*problem).auditChunk)

func (a *auditSums) add(b auditSums) {
	f64.Axpy(a.Product, 1, b.Product)
	f64.Axpy(a.Sizes, 1, b.Sizes)
	a.Square += b.Square
	a.ScoreNoise += b.ScoreNoise
	a.Losses += b.Losses
}

// auditChunk returns the function that computes the sums of roundingAudit for one chunk.
func (p *problem) auditChunk(args auditArgs) func(block.Chunk) auditSums {
	return func(chunk block.Chunk) auditSums {
		a := auditSums{Product: p.zeros(), Sizes: p.zeros()}
		changes, row := make([]float64, p.vectors*linalg.PanelRows), make([]float64, p.vectors)
		p.panels(chunk, func(c *scratch, _ int, rows *block.Block) {
			n := rows.Len()
			p.losses(c, rows, args.W, c.s[:n], &sums{})
			p.score(c, args.D, changes, n)
			for r := range n {
				p.auditRow(c, rows, r, changes, row, args.W, &a)
			}
		})
		return a
	}
}

// auditRow adds row r of a panel to a. changes are the scores of d. product is work memory, one element for each class.
func (p *problem) auditRow(c *scratch, rows *block.Block, r int, changes, product, w []float64, a *auditSums) {
	weight, curvature, mean := rows.Weight(r), c.s[r], 0.0
	if weight == 0 {
		return
	}
	if p.vectors == 1 {
		product[0] = float64(curvature * changes[r])
		a.Square += float64(product[0] * changes[r])
	} else {
		for k := range p.vectors {
			mean += float64(c.scores[k*linalg.PanelRows+r] * changes[k*linalg.PanelRows+r])
		}
		curvature = 0
		for k := range p.vectors {
			probability := float64(c.scores[k*linalg.PanelRows+r] * weight)
			off := changes[k*linalg.PanelRows+r] - mean
			product[k] = float64(probability * off)
			a.Square += float64(product[k] * off)
			curvature += float64(probability * (1 - c.scores[k*linalg.PanelRows+r]))
		}
	}
	terms, steepest := 0.0, 0.0
	columns, values := c.reader.Row(rows, r)
	for k := range p.vectors {
		factor := math.Abs(c.panel.Factors()[k/linalg.PanelCols*linalg.PanelRows*linalg.PanelCols+r*linalg.PanelCols+k%linalg.PanelCols])
		sum := 0.0
		for i, column := range columns {
			at, x := k*p.stride+int(column), values[i]
			a.Product[at] += float64(product[k] * x)
			a.Sizes[at] += float64(factor * math.Abs(x))
			sum += math.Abs(float64(w[at] * x))
		}
		terms, steepest = max(terms, sum), max(steepest, factor)
	}
	a.Losses += float64(float64(steepest*terms) * float64(steepest*terms))
	a.ScoreNoise += float64(float64(curvature*terms) * terms)
}

// scoreReach returns an upper bound of the change of a row's score by a step of norm 1. The curvature of a row's loss
// is at least e^-m/4, where m is the greatest |w.x|. With K classes, each class has a probability of at least e^-m/K.
func (s *sums) scoreReach(vectors int) float64 {
	e := []float64{s.LargestScore / 2}
	f64.Exp(e, e)
	return e[0] * math.Sqrt(float64(max(4, vectors))/s.LeastWeight)
}

// dualGap returns the objective, with sums at, minus the dual objective at a point of the dual problem. The objective
// is above the optimum by at most this difference. The penalty must be above 0. The point consists of the probabilities
// p of the classes for each row. With a bias, the sum of a class's probabilities must be the sample weight of the
// class's rows. So dualGap mixes a small share of one distribution rho into the probabilities of every row: (1-e) p + e
// rho.
//
// zero is, for each class k, the sum over the rows of 1/K - [y = k] times the row. total is the sum of the rows.
func (p *problem) dualGap(w []float64, at *sums, z *zeroSums) float64 {
	bias, k := p.penalised() < p.cols, float64(max(2, p.vectors))
	e, rho := p.mixture(at, z.gradient)
	entropy := at.Loss // sum over the rows of -p log p: the loss minus the dot product of w and the loss's gradient
	square := 0.0
	for v := range p.vectors {
		w, g, zero := w[v*p.stride:], at.Gradient[v*p.stride:], z.gradient[v*p.stride:]
		for i := range p.penalised() {
			of := g[i] - float64(p.l2*w[i])
			entropy -= float64(w[i] * of)
			u := -float64((1-e)*of) - float64(e*zero[i])
			if bias && e > 0 {
				u += float64(float64(e*(1/k-rho[v])) * z.total[i])
			}
			square += float64(u * u)
		}
		if bias {
			entropy -= float64(w[p.cols-1] * g[p.cols-1])
		}
	}
	gap := at.Objective + square/(2*p.l2) - float64((1-e)*entropy)
	if !(gap < at.Objective) { // no better than the bound 0 of the optimum
		return math.Inf(1)
	}
	return max(0, gap)
}

func (p *problem) mixture(at *sums, zero []float64) (e float64, rho []float64) {
	if p.penalised() == p.cols {
		return 0, nil
	}
	n, k := at.Weight, float64(max(2, p.vectors))
	var own, sums []float64 // for each class: the weight of its rows, and the sum of its probabilities
	for v := range p.vectors {
		c := n/k - zero[v*p.stride+p.cols-1]
		own, sums = append(own, c), append(sums, c+at.Gradient[v*p.stride+p.cols-1])
	}
	if p.vectors == 1 {
		own, sums = append(own, n-own[0]), append(sums, n-sums[0])
	}
	for i, sum := range sums {
		e = max(e, 1-own[i]/sum)
	}
	for i, sum := range sums {
		rho = append(rho, (own[i]-float64((1-e)*sum))/float64(e*n))
	}
	return e, rho
}
