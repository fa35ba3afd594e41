// Package pocket keeps the best of many candidate weights.
//
// The pocket algorithm (Gallant, "Perceptron-based learning algorithms", 1990) runs the perceptron and keeps the
// weights that make the fewest errors. The perceptron's path doesn't depend on the kept weights. So candidates are
// collected in batches, and one parallel pass over the whole data set judges a batch.
package pocket

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
)

// Errors returns, for each candidate, the number of rows whose prediction isn't their label. The prediction is +1 if
// the score is > 0, and -1 otherwise. w holds the candidates, each with the stride of a block. workers is the number of
// goroutines that compute at once; 0 stands for every core. The counts don't depend on workers. Errors: a length of w
// that isn't a multiple of the stride, elements of w after a candidate's columns that aren't 0, a negative number of
// workers, rows that block.Validate refuses, errors of src, and ctx's error.
func Errors(ctx context.Context, src block.Source, w []float32, workers int) ([]int64, error) {
	j, err := judgeOf(ctx, src, workers)
	if err != nil {
		return nil, err
	}
	if len(w)%j.stride != 0 {
		return nil, fmt.Errorf("%d weights aren't a multiple of the stride %d, see kernel.Stride", len(w), j.stride)
	}
	for i := range len(w) / j.stride {
		if cols := src.Spec().Cols(); !isZero(w[i*j.stride:][cols:j.stride]) {
			return nil, fmt.Errorf("candidate %d isn't 0 after its %d columns", i, cols)
		}
	}
	j.begin(w)
	err = j.pass(ctx, selection{}, math.MaxInt64)
	return j.counts, err
}

// judgeOf returns a judge of candidates on the valid rows of src. It returns an error if labels are class numbers, whose
// signs have no meaning.
func judgeOf(ctx context.Context, src block.Source, workers int) (*judge, error) {
	workers, err := parallel.Resolve(workers)
	if err == nil {
		src, err = block.Validate(ctx, src, workers)
	}
	if err != nil {
		return nil, err
	}
	if n := len(src.Spec().Classes); n > 2 {
		return nil, fmt.Errorf("there are %d classes, and a pocket judges weights of two: take one class versus the rest", n)
	}
	return newJudge(src, workers), nil
}

// A Mode says which weights on a perceptron's path a pocket judges.
type Mode string

const (
	// Exact judges the weights after every update.
	Exact Mode = "exact"
	// Ratchet judges weights only when they have survived more consecutive visits than the kept weights had when they
	// were judged: the pocket algorithm with ratchet (Gallant 1990).
	Ratchet Mode = "ratchet"
	// Epoch judges the weights at the end of each epoch.
	Epoch Mode = "epoch"
)

// Modes lists every mode, the default first.
var Modes = []Mode{Exact, Ratchet, Epoch}

// A Pocket keeps the first of the candidates with the fewest errors. The zero vector is the first candidate; see
// LeaveZeros.
//
// The result is the same as with the literal algorithm, which counts the errors of each candidate on all rows at once.
// Candidates are judged in batches, in the order in which they were offered. A candidate is dropped once its errors on
// some rows reach the errors, on all rows, of the best candidate before the batch. Only a candidate with fewer errors
// replaces the best candidate.
//
// If rows have sample weights, the sum of the sample weights of wrong rows takes the place of the number of errors. It
// is summed within a chunk in row order, then over the chunks in row order. Lower bounds of the sums drop most candidates
// first.
type Pocket struct {
	mode              Mode
	judge             *judge
	hardRows          *hardRows
	hasWeights        bool // rows have sample weights
	inProcess         bool // this process counts the errors
	best              Candidate
	curve             []Point
	current           Candidate   // Ratchet: the present weights of the perceptron; Epoch: the weights judged last
	waitingCandidates []Candidate // without Weights, which are in w
	w                 []float32
	judgedCandidates  int64
	keepsNonzero      bool // weights other than zeros are kept rather than zeros
	start             time.Time
}

// A Candidate is weights on a perceptron's path.
type Candidate struct {
	Weights []float32
	Update  int64 // number of the update that made the weights, from 1; 0 for the initial zeros
	Visits  int64 // rows visited when the weights were offered
	Errors  int64
	Weight  float64 // sum of the sample weights of wrong rows; Errors if all are 1
	Streak  int64   // Ratchet: consecutive visits that the weights had survived by then
}

// A Point of the learning curve is the finding of better weights.
type Point struct {
	Update  int64   `json:"update"` // number of the update that made the weights; 0 for the initial zeros
	Visits  int64   `json:"visits"` // rows visited when the weights were offered
	Errors  int64   `json:"errors"`
	Weight  float64 `json:"weight,omitempty"` // sum of the sample weights of wrong rows, if rows have sample weights
	Seconds float64 `json:"seconds"`          // seconds from New until the weights were judged
}

const (
	leastBatch = 8    // candidates of the first batch
	mostBatch  = 1024 // most candidates that are judged together
	batchBytes = 1 << 20
)

// New returns a pocket that judges on the rows of src. It holds the zero vector, which predicts -1 for every row.
// workers is as for Errors.
func New(ctx context.Context, src block.Source, mode Mode, workers int) (*Pocket, error) {
	if !slices.Contains(Modes, mode) {
		return nil, fmt.Errorf("unknown pocket %q: use one of %v", mode, Modes)
	}
	j, err := judgeOf(ctx, src, workers)
	if err != nil {
		return nil, err
	}
	src, workers = j.src, j.workers
	p := &Pocket{mode: mode, judge: j, start: time.Now()}
	p.current.Weights = make([]float32, p.judge.stride)
	p.hasWeights = src.Spec().Weighted
	var zeros Candidate
	if p.inProcess = passes.InProcess(src); !p.inProcess {
		p.hardRows = newUnmarkedRows(src, workers)
		p.judge.begin(p.current.Weights)
		p.hardRows.total, err = p.judge.countRemote(ctx)
		zeros.Errors, zeros.Weight = p.judge.counts[0], p.judge.weights[0]
		p.judge.scoreCount = 0
	} else {
		var quantum float64
		p.hardRows, zeros.Errors, quantum, err = newHardRows(ctx, src, workers)
		p.judge.errorCounter.SetQuantum(quantum)
		zeros.Weight = float64(zeros.Errors)
	}
	if err == nil && p.hasWeights && p.inProcess {
		p.judge.begin(p.current.Weights)
		err = p.judge.passWeighted(ctx, math.Inf(1))
		zeros.Weight, p.judge.scoreCount = p.judge.weights[0], 0
	}
	if err == nil && math.IsInf(p.hardRows.total, 1) {
		err = errors.New("the sum of the sample weights overflows: scale them down")
	}
	if err != nil {
		return nil, err
	}
	p.keep(zeros, p.current.Weights)
	return p, nil
}

// LeaveZeros makes the pocket keep weights other than zeros once there are any, even if they make more errors. Zero
// weights give every row the score 0. In one-versus-rest this score beats every negative score of the other classes, so
// most rows would be predicted to be of that class. Call LeaveZeros before any candidate is judged.
func (p *Pocket) LeaveZeros() {
	p.keepsNonzero = true
	p.best.Errors, p.best.Weight = math.MaxInt64, math.Inf(1)
}

// Best returns the best judged candidate so far.
func (p *Pocket) Best() Candidate { return p.best }

// Curve returns a point for each time that the best candidate improved, the zero vector first.
func (p *Pocket) Curve() []Point { return p.curve }

// Judged returns the number of judged candidates, and the number of rows scored for them. A row counts once for each
// candidate that it was scored for.
func (p *Pocket) Judged() (candidates, rows int64) {
	if p.judge == nil {
		return 0, 0
	}
	return p.judgedCandidates, p.judge.scoreCount
}

// check returns an error unless w is the weights of one candidate, with the stride of a block.
func (p *Pocket) check(w []float32) error {
	if p.judge == nil {
		return errNoRows
	}
	if len(w) != p.judge.stride {
		return fmt.Errorf("there are %d weights, and a candidate has %d: the stride of its columns, see kernel.Stride",
			len(w), p.judge.stride)
	}
	if cols := p.judge.src.Spec().Cols(); !isZero(w[cols:]) {
		return fmt.Errorf("the candidate isn't 0 after its %d columns", cols)
	}
	return nil
}

var errNoRows = errors.New("the pocket has no rows: make it by New")

// AfterUpdate offers the weights after an update, with the numbers of updates and visits so far. It judges the waiting
// candidates once they make a batch. In the mode Epoch it only checks w. It returns an error if w hasn't the stride of
// a block, or isn't 0 after the columns.
func (p *Pocket) AfterUpdate(ctx context.Context, w []float32, update, visits int64) error {
	if err := p.check(w); err != nil {
		return err
	}
	switch p.mode {
	case Exact:
		return p.offer(ctx, Candidate{Update: update, Visits: visits}, w)
	case Ratchet:
		err := p.endStreak(ctx, visits-1)
		p.current.Update, p.current.Visits = update, visits
		copy(p.current.Weights, w)
		return err
	}
	return nil
}

// AfterEpoch offers the weights at the end of an epoch, with the numbers of updates and visits so far. Its errors are
// the errors of AfterUpdate.
func (p *Pocket) AfterEpoch(ctx context.Context, w []float32, updates, visits int64) error {
	if err := p.check(w); err != nil {
		return err
	}
	if p.mode != Epoch || slices.Equal(w, p.current.Weights) {
		return nil
	}
	copy(p.current.Weights, w)
	return p.offer(ctx, Candidate{Update: updates, Visits: visits}, w)
}

// AfterTraining offers the weights at the end of the training, with the numbers of updates and visits, and judges the waiting
// candidates. Its errors are the errors of AfterUpdate.
func (p *Pocket) AfterTraining(ctx context.Context, w []float32, updates, visits int64) error {
	if err := p.check(w); err != nil {
		return err
	}
	if p.mode == Ratchet {
		if err := p.endStreak(ctx, visits); err != nil {
			return err
		}
	}
	if err := p.AfterEpoch(ctx, w, updates, visits); err != nil {
		return err
	}
	return p.Judge(ctx)
}

// endStreak ends the consecutive visits that the current weights survived. It offers the weights if these visits are
// more than the best candidate's.
func (p *Pocket) endStreak(ctx context.Context, visits int64) error {
	if c := p.current; visits-c.Visits > p.best.Streak {
		c.Streak = visits - c.Visits
		return p.offer(ctx, c, c.Weights)
	}
	return nil
}

// offer adds a copy of w as a candidate. It judges the waiting candidates once they make a batch.
func (p *Pocket) offer(ctx context.Context, c Candidate, w []float32) error {
	p.waitingCandidates = append(p.waitingCandidates, c)
	if cap(p.w) == 0 && p.mode != Epoch {
		p.w = make([]float32, 0, leastBatch*len(w)) // append would take up to twice as much while it grows
	}
	p.w = append(p.w, w...)
	return p.JudgeBatch(ctx)
}

// JudgeBatch judges the waiting candidates if they make a batch; in the mode Epoch one candidate is a batch. It has work to
// do only after an interrupt.
func (p *Pocket) JudgeBatch(ctx context.Context) error {
	if p.judge == nil {
		return errNoRows
	}
	if p.mode != Epoch && len(p.waitingCandidates) < p.batch() {
		return nil
	}
	return p.Judge(ctx)
}

// batch returns the number of candidates that make a batch: as many as were judged before, within limits. The first
// candidates improve fast, and no candidate is dropped because of a better candidate in its own batch. The mode Epoch
// doesn't use batch, because an epoch takes longer than judging one candidate.
func (p *Pocket) batch() int {
	most := min(mostBatch, batchBytes/p.judge.stride/4)
	return max(leastBatch, int(min(p.judgedCandidates, int64(most))))
}

// Judge judges the waiting candidates now. That doesn't change which weights are kept in the end.
func (p *Pocket) Judge(ctx context.Context) error {
	if p.judge == nil {
		return errNoRows
	}
	if len(p.waitingCandidates) == 0 {
		return nil
	}
	if err := p.count(ctx); err != nil {
		return err
	}
	for i, c := range p.waitingCandidates {
		c.Errors, c.Weight = p.judge.counts[i], float64(p.judge.counts[i])
		if p.hasWeights {
			c.Weight = p.judge.weights[i]
		}
		w := p.w[i*p.judge.stride : (i+1)*p.judge.stride]
		if c.Weight < p.best.Weight && (p.mode != Ratchet || c.Streak > p.best.Streak) && !(p.keepsNonzero && isZero(w)) {
			p.keep(c, w)
		}
	}
	p.judgedCandidates += int64(len(p.waitingCandidates))
	p.waitingCandidates, p.w = p.waitingCandidates[:0], p.w[:0]
	return nil
}

func isZero(w []float32) bool {
	return !slices.ContainsFunc(w, func(v float32) bool { return v != 0 })
}

// keep makes the candidate c with weights w the best.
func (p *Pocket) keep(c Candidate, w []float32) {
	// With Ratchet, the literal algorithm judges weights as soon as their consecutive visits become the most.
	if c.Streak > 0 {
		c.Streak = p.best.Streak + 1
		c.Visits += c.Streak
	}
	c.Weights = slices.Clone(w)
	p.best = c
	point := Point{Update: c.Update, Visits: c.Visits, Errors: c.Errors, Seconds: time.Since(p.start).Seconds()}
	if p.hasWeights {
		point.Weight = c.Weight
	}
	p.curve = append(p.curve, point)
}

// count counts the errors of the waiting candidates, or sums their sample weights, up to the number or sum of the best
// candidate.
func (p *Pocket) count(ctx context.Context) error {
	if !p.inProcess {
		p.judge.begin(p.w)
		_, err := p.judge.countRemote(ctx)
		return err
	}
	selections, err := p.hardRows.selections(ctx, p.w, p.best.Weight)
	if err != nil {
		return err
	}
	p.judge.begin(p.w)
	lastScores := int64(0) // rows scored for the last selection
	for _, rows := range selections {
		before := p.judge.scoreCount
		if p.hasWeights {
			err = p.judge.screen(ctx, rows, p.best.Weight)
		} else {
			err = p.judge.pass(ctx, rows, p.best.Errors)
		}
		if err != nil {
			return err
		}
		lastScores = p.judge.scoreCount - before
	}
	p.hardRows.easyScores += lastScores
	if p.hasWeights {
		return p.judge.countBest(ctx, p.w, p.best.Weight, func(i int) bool {
			return p.mode != Ratchet && !(p.keepsNonzero && isZero(p.w[i*p.judge.stride:(i+1)*p.judge.stride]))
		})
	}
	return nil
}
