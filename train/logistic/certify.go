package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	mostMatrixRows  = 1024 // most weights of all classes for which first-order methods compute a Hessian at the end
	mostScoreChange = 0.5  // certify bounds the gap if the step changes no score by more than this
)

// certify sets gap, an upper bound of the objective at w minus the optimum, and optimumExists, which tells whether an
// optimum exists. It makes a pass with the Hessian H. It makes a second pass if the first doesn't bound the change of
// scores by the step H^-1 g.
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
func (s *solver) certify(ctx context.Context, w []float64) error {
	s.gap, s.optimumExists, s.factorIsFresh = math.Inf(1), false, true
	if err := s.pass(ctx, w, true, &s.at); err != nil {
		return err
	}
	if s.at.Objective-s.at.Objective != 0 {
		return learner.OverflowError()
	}
	if err := s.factorise(ctx, w, s.at.Hessian); err != nil {
		return err
	}
	step := s.step(s.factor)
	s.norm = s.distance(step)
	if s.ridge > 0 {
		return nil
	}
	reach := s.norm * s.at.scoreReach(s.vectors)
	if !(reach <= mostScoreChange) {
		p, err := s.probeBy(ctx, probeArgs{D: s.spread(step)})
		if err != nil {
			return err
		}
		reach = p.Reach
	}
	if !(reach <= mostScoreChange) {
		return nil
	}
	norm, blur := s.norm, 0.0
	if s.factorIsSharp {
		var err error
		if norm, blur, err = s.audit(ctx, w, step); err != nil {
			return err
		}
	}
	s.optimumExists, s.gap = true, float64(norm*norm)/(2*(1-reach))+blur
	return nil
}

// audit returns an upper bound of sqrt(g' H^-1 g), the distance of the weights w from the optimum. step is the Newton
// step d. H is so near a singular matrix that rounding errors of g and d count. audit makes a pass over the rows. With
// the residual r = g - H d, the distance is at most sqrt(d'Hd) + sqrt(r' H^-1 r). audit adds the rounding errors of
// scores, weighted by curvature, and the rounding errors of sums, weighted by the standard errors of their weights.
// blur is the rounding error of the objective.
func (s *solver) audit(ctx context.Context, w, step []float64) (distance, blur float64, err error) {
	d := s.spread(step)
	all := auditSums{Product: s.zeros(), Sizes: s.zeros()}
	args := auditArgs{w, d}
	if err := auditPass.sum(ctx, s.problem, args, all.add); err != nil {
		return 0, 0, err
	}
	rest, sizes := s.compact(s.at.Gradient), s.compact(all.Sizes)
	if s.vectors == 1 {
		rest = slices.Clone(rest)
	}
	for i, v := range s.compact(all.Product) {
		if i%s.cols < s.penalised() {
			k := i/s.cols*s.stride + i%s.cols
			v += float64(s.l2 * d[k])
			all.Square += float64(float64(s.l2*d[k]) * d[k])
			sizes[i] += math.Abs(float64(s.l2 * w[k]))
		}
		if rest[i] -= v; s.staysZero != nil && s.staysZero[i] {
			rest[i] = 0
		}
	}
	inverse, err := s.factor.InverseDiagonal(ctx)
	if err != nil {
		return 0, 0, err
	}
	distance = math.Sqrt(all.Square) + norm(s.factor.Whiten(rest)) + float64(ulp*math.Sqrt(all.ScoreNoise))
	for i, v := range sizes {
		distance += float64(float64(ulp*v) * math.Sqrt(inverse[i]))
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

// auditChunk returns the function that computes the sums of audit for one chunk.
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
func (s *solver) dualGap(w []float64, at *sums, zero, total []float64) float64 {
	bias, k := s.penalised() < s.cols, float64(max(2, s.vectors))
	e, rho := s.mixture(at, zero)
	entropy := at.Loss // sum over the rows of -p log p: the loss minus the dot product of w and the loss's gradient
	square := 0.0
	for v := range s.vectors {
		w, g, zero := w[v*s.stride:], at.Gradient[v*s.stride:], zero[v*s.stride:]
		for i := range s.penalised() {
			of := g[i] - float64(s.l2*w[i])
			entropy -= float64(w[i] * of)
			u := -float64((1-e)*of) - float64(e*zero[i])
			if bias && e > 0 {
				u += float64(float64(e*(1/k-rho[v])) * total[i])
			}
			square += float64(u * u)
		}
		if bias {
			entropy -= float64(w[s.cols-1] * g[s.cols-1])
		}
	}
	return at.Objective + square/(2*s.l2) - float64((1-e)*entropy)
}

func (s *solver) mixture(at *sums, zero []float64) (e float64, rho []float64) {
	if s.penalised() == s.cols {
		return 0, nil
	}
	n, k := at.Weight, float64(max(2, s.vectors))
	var own, sums []float64 // for each class: the weight of its rows, and the sum of its probabilities
	for v := range s.vectors {
		c := n/k - zero[v*s.stride+s.cols-1]
		own, sums = append(own, c), append(sums, c+at.Gradient[v*s.stride+s.cols-1])
	}
	if s.vectors == 1 {
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
