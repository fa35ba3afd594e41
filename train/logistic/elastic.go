package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/dense"
	"halfspace/internal/passes"
	"halfspace/internal/widen"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/coordinate"
	"halfspace/train/elastic"
	"halfspace/train/truncated"
)

// checkElastic returns an error if l1 can't be had with rows and a solver like these.
func checkElastic(opt *Options, spec *schema.Spec) error {
	_, why := opt.refuses()
	switch {
	case !(opt.L1 >= 0) || math.IsInf(opt.L1, 0):
		return fmt.Errorf("l1 is %v: use a penalty of 0 or more", opt.L1)
	case !opt.elastic():
		return nil
	case why != "":
		return errors.New(why)
	case len(spec.Classes) > 2:
		return fmt.Errorf("column %q: l1 and nonnegative take two classes: learn one class versus the rest", spec.Label)
	}
	return nil
}

// refuses returns an option that l1 can't be used with, and why.
func (o *Options) refuses() (option, why string) {
	if o.NonNegative && o.L1 == 0 && o.L2 == 0 {
		return "nonnegative", "nonnegative needs a penalty: set l2 or l1 above 0"
	}
	if o.Solver == "" || o.Solver == Auto || o.Solver == Newton || !o.elastic() {
		return "", ""
	}
	return "solver", fmt.Sprintf("solver is %s, and %s takes newton alone: leave one of them out", o.Solver, o.asked())
}

// elastic tells whether package elastic finds the weights.
func (o *Options) elastic() bool { return o.L1 > 0 || o.NonNegative }

// asked names the option for which it does.
func (o *Options) asked() string {
	if o.L1 > 0 {
		return "l1"
	}
	return "nonnegative"
}

func (o *Options) penalty() elastic.Penalty {
	return elastic.Penalty{L1: o.L1, L2: o.L2, NonNegative: o.NonNegative}
}

// learnElastic is learn with a penalty l1.
func learnElastic(ctx context.Context, src block.Source, pivots []float64, opt Options) (*Result, error) {
	task := elasticTask(src, opt)
	task.Round = func(w []float64) { train.RoundCentred(w, pivots) }
	learn := task.Learn
	if wide(src.Spec().Cols()) {
		net := netOf(src, opt)
		net.Round, learn = task.Round, net.Learn
	}
	s, err := learn(ctx)
	if s == nil {
		return nil, err
	}
	return &Result{Result: elastic.Result(s, pivots, src.Rows()), Solver: Newton, Exact: s.Exact, Objective: s.Objective, Gap: s.Gap, Rounded: s.Rounded}, err
}

// netOf returns the task of minimising with a penalty l1 for more columns than a Hessian may have.
func netOf(src block.Source, opt Options) *coordinate.Net {
	return &coordinate.Net{Penalty: opt.penalty(), Options: opt.Options, Rows: src, Loss: f64.Logistic}
}

func elasticTask(src block.Source, opt Options) *elastic.Task {
	return &elastic.Task{Penalty: opt.penalty(), Options: opt.Options, Rows: src,
		Of: func(src block.Source) elastic.Loss { return &rowLoss{problem: newProblem(src, 0, opt.Workers)} }}
}

// Path returns the minima for up to n falling penalties l1, or for those that are given; see elastic.Task. Weights are
// not rounded to float32.
func Path(ctx context.Context, src block.Source, opt Options, n int, penalties []float64) ([]*elastic.Stage, error) {
	opt.L1 = 1
	if opt.Epochs == 0 {
		opt.Epochs = Newton.epochs(src.Spec().Cols())
	}
	src, err := block.Check(ctx, src, opt.Workers)
	if err == nil {
		err = checkElastic(&opt, src.Spec())
	}
	if err == nil {
		opt.Options, err = opt.Options.WithDefaults()
	}
	if err != nil {
		return nil, err
	}
	return elastic.Centred(ctx, src, func(src block.Source) ([]*elastic.Stage, error) {
		if wide(src.Spec().Cols()) {
			return netOf(src, opt).Path(ctx, n, penalties)
		}
		return elasticTask(src, opt).Path(ctx, n, penalties)
	})
}

// SumLosses sums the losses of rows at each of several weights.
func SumLosses(ctx context.Context, src block.Source, opt Options, weights [][]float64) ([]float64, error) {
	if wide(src.Spec().Cols()) {
		return (&truncated.Task{Options: opt.Options, Rows: src, Loss: f64.Logistic}).Values(ctx, weights)
	}
	return (&rowLoss{problem: newProblem(src, 0, opt.Workers)}).Losses(ctx, weights)
}

// rowLoss is the loss of rows as package elastic takes it.
type rowLoss struct {
	*problem
	widest []float64 // the greatest absolute value of each column; nil before the first pass
}

// Losses makes a pass over the rows and sums their losses at each of several weights.
func (l *rowLoss) Losses(ctx context.Context, all [][]float64) ([]float64, error) {
	total, padded := make([]float64, len(all)), make([][]float64, len(all))
	for i, w := range all {
		padded[i] = l.spread(w)
	}
	err := passes.Reduce(ctx, l.src, l.workers, lossesPass, padded, l.lossesRun(padded), func(of []float64) { f64.Axpy(total, 1, of) })
	return total, err
}

// lossesPass is the pass of Losses.
var lossesPass = passes.NewPerRun("logistic.losses", lossesRun)

func lossesRun(src block.Source, w [][]float64) func(block.Run) []float64 {
	return newProblem(src, 0, 1).lossesRun(w)
}

// lossesRun returns what sums the losses of a run at each of several weights.
func (l *problem) lossesRun(padded [][]float64) func(block.Run) []float64 {
	return func(run block.Run) []float64 {
		of, c := make([]float64, len(padded)), l.scratch.Get().(*scratch)
		defer l.scratch.Put(c)
		for lo := 0; lo < run.Len(); lo += dense.PanelRows {
			rows := run.Slice(lo, min(run.Len(), lo+dense.PanelRows))
			c.panel.Load(rows)
			for i, w := range padded {
				r := sums{}
				scores := c.scores[:rows.Len()]
				c.panel.Scores(w, scores)
				c.logistic(rows, scores, c.s[:rows.Len()], &r)
				of[i] += r.loss
			}
		}
		return of
	}
}

const surest = 30 // the greatest bias of rows without features

// Alone returns the bias log(p/n) for weights p and n of the classes, and the loss with it.
func (l *rowLoss) Alone(weights [2]float64, biased bool) (bias, loss float64) {
	n, p, odds := weights[0], weights[1], []float64{0}
	if big := max(n, p); biased && n != p {
		odds[0] = big/min(n, p) - 1
		f64.Log1p(odds, odds)
		if bias = min(odds[0], surest); n > p {
			bias = -bias
		}
	}
	e := []float64{bias, -bias}
	f64.Exp(e, e)
	f64.Log1p(e, e)
	return bias, float64(n*e[0]) + float64(p*e[1])
}

// elasticPass is the pass of At.
var elasticPass = train.NewScatterTask("logistic.elastic", elasticRun)

func elasticRun(src block.Source, a elasticArgs) func(block.Run, []float64, []float64) elasticSums {
	return newProblem(src, 0, 1).elasticRun(a.w, a.first)
}

// elasticArgs are weights, and whether this is the first pass.
type elasticArgs struct {
	w     []float64
	first bool
}

// elasticSums are the sums of a run, and in the first pass the greatest absolute value of each column.
type elasticSums struct {
	sums   sums
	widest []float64
}

// elasticRun returns what makes the pass of At on a run.
func (l *problem) elasticRun(w []float64, first bool) func(run block.Run, s, _ []float64) elasticSums {
	return func(run block.Run, s, _ []float64) elasticSums {
		p := elasticSums{sums: l.run(run, w, s, nil)}
		if first {
			p.widest = columnSizes(run, l.cols)
		}
		return p
	}
}

// At makes a pass over the rows.
func (l *rowLoss) At(ctx context.Context, w []float64) (*elastic.Point, error) {
	m, err := gram.NewTriangle(l.cols)
	if err != nil {
		return nil, err
	}
	first, widest, padded := l.widest == nil, make([]float64, l.cols), l.spread(w)
	at := sums{gradient: l.zeros(), margin: math.Inf(1), lightest: math.Inf(1)}
	err = train.ScatterAs(ctx, m, l.src, l.workers, elasticPass, elasticArgs{padded, first}, l.elasticRun(padded, first), func(p elasticSums) {
		at.add(p.sums)
		for i, v := range p.widest {
			widest[i] = max(widest[i], v)
		}
	})
	if err == nil && at.noLabels {
		err = block.ErrNoLabels
	}
	if err == nil && math.IsInf(at.margin, 1) {
		err = errWeightless
	}
	if err != nil {
		return nil, err
	}
	if first {
		l.widest = widest
	}
	p := &elastic.Point{W: slices.Clone(w), Loss: at.loss, Gradient: at.gradient[:l.cols], Hessian: m.Data}
	p.Dual = func(s *elastic.Step) *elastic.Dual { return dualAfter(p, s, l.widest, l.penalised()) }
	return p, nil
}

// columnSizes returns the greatest absolute value of each column of a run.
func columnSizes(run block.Run, cols int) []float64 {
	widest, wide := make([]float64, cols), widen.Reader{}
	for r := range run.Len() {
		columns, values := wide.Row(run.Block, r)
		for k, c := range columns {
			if v := math.Abs(values[k]); v > widest[c] {
				widest[c] = v
			}
		}
	}
	return widest
}

// dualAfter returns the point of the dual problem to which a step leads.
//
// Let c be the sample weight of a row, p the probability of the class that isn't the row's, and a = c p its dual
// variable. The step d changes it by c p(1-p) y x.d, which turns the gradient g of the loss into g + H d. With z the
// greatest |x.d| below 1, all variables stay between 0 and c. On the way, the second derivative of the entropy is at
// most 1/(1-z) times that at p. So the sum of entropies at the end is at least loss - w.(g + H d) - d'Hd / (2 (1-z)). It
// is concave and 0 at 0, so that s times the variables leave at least s times that.
func dualAfter(p *elastic.Point, s *elastic.Step, widest []float64, features int) *elastic.Dual {
	z := 0.0
	for i, d := range s.D {
		z += math.Abs(float64(widest[i] * d))
	}
	if !(z < 1) {
		return nil
	}
	d := &elastic.Dual{Linear: p.Loss - f64.Dot(p.W, s.Slope) - s.Square/(2*(1-z))}
	for _, v := range s.Slope[:features] {
		d.Vector = append(d.Vector, -v)
	}
	return d
}
