package pocket

import (
	"errors"

	"halfspace/internal/checkpoint"
)

// State saves or restores the results of the pocket for a checkpoint. The pocket that restores them must be made from
// the same rows, with the same mode.
func (p *Pocket) State(w *checkpoint.Walk) {
	stride := p.judge.stride
	w.Clock(&p.start)
	w.Int(&p.judgedCandidates)
	w.Int(&p.judge.scoreCount)
	checkpoint.Values(w, p.hardRows.sum) // the hard rows are found again
	w.Int(&p.hardRows.judgedCandidates)
	p.best.State(w, stride)
	p.current.State(w, stride)
	checkpoint.List(w, &p.curve, func(point *Point) { point.State(w) })
	checkpoint.List(w, &p.waitingCandidates, func(c *Candidate) { c.State(w, 0) })
	checkpoint.Slice(w, &p.w)
	if len(p.w) != len(p.waitingCandidates)*stride || len(p.curve) == 0 {
		w.Fail(errors.New("weights of candidates are missing"))
	}
}

// State saves or restores a candidate. weights is the number of its weights; 0 leaves them out.
func (c *Candidate) State(w *checkpoint.Walk, weights int) {
	for _, v := range []*int64{&c.Update, &c.Visits, &c.Errors, &c.Streak} {
		w.Int(v)
	}
	w.Float(&c.Weight)
	if weights == 0 {
		return
	}
	if checkpoint.Slice(w, &c.Weights); len(c.Weights) != weights {
		w.Fail(errors.New("weights of a candidate are missing"))
	}
}

// State saves or restores a point.
func (p *Point) State(w *checkpoint.Walk) {
	w.Int(&p.Update)
	w.Int(&p.Visits)
	w.Int(&p.Errors)
	w.Float(&p.Weight)
	w.Float(&p.Seconds)
}
