package perceptron

import (
	"context"
	"errors"

	"halfspace/internal/checkpoint"
	"halfspace/pocket"
	"halfspace/train/learner"
)

// mark gives the state of the training to the checkpoint.
func (l *training) mark() {
	visits := l.visits
	if l.shards != nil {
		visits += l.shards.Visited()
	}
	l.opt.Checkpoint.Mark(l.epoch, visits, l.state)
}

// state saves or restores the state of the training: between two stretches, or in the work that follows a stretch.
func (l *training) state(w *checkpoint.Walk) {
	w.Clock(&l.start)
	for _, v := range []*int64{&l.visits, &l.updates, &l.streak, &l.epoch, &l.at, &l.before} {
		w.Int(v)
	}
	for _, v := range []*bool{&l.converged, &l.decayed, &l.over} {
		w.Bool(v)
	}
	if l.at < 0 || l.at > l.rows || l.streak < 0 {
		w.Fail(errors.New("it is at no row"))
	}
	checkpoint.Values(w, l.w)
	if l.shards != nil {
		w.Float(&l.mixed)
		l.shards.State(w, l.epoch)
	}
	if l.mean != nil {
		l.mean.state(w)
	}
	if l.voters != nil {
		l.voters.state(w)
	}
	if l.keeper != nil {
		l.keeper.state(w)
	}
}

func (m *mean) state(w *checkpoint.Walk) {
	checkpoint.Values(w, m.late)
	checkpoint.Values(w, m.sum)
	w.Int(&m.span)
}

func (v *voters) state(w *checkpoint.Walk) {
	checkpoint.Slice(w, &v.w)
	checkpoint.Slice(w, &v.counts)
	if len(v.w) != len(v.counts)*v.stride {
		w.Fail(errors.New("weights of voters are missing"))
	}
}

func (k *keeper) state(w *checkpoint.Walk) {
	w.Count(&k.found)
	w.Int(&k.stale)
	k.State(w)
}

func (j *classJudge) State(w *checkpoint.Walk) {
	w.Clock(&j.start)
	w.Int(&j.judged)
	checkpoint.Values(w, j.last)
	if w.Reading() {
		j.best.Weights = nil // it may share memory with j.last
	}
	j.best.State(w, len(j.last))
	checkpoint.List(w, &j.curve, func(p *pocket.Point) { p.State(w) })
}

// goOn makes up for the work between the last stretch and the next one, which an interrupt may have left out. If that
// work was done, goOn changes nothing. It returns errStop if no stretch follows.
func (l *training) goOn(ctx context.Context) error {
	if l.over {
		return errStop
	}
	if l.keeper != nil && l.updates > 0 {
		if err := l.keeper.ended(l.keeper.Settle(ctx)); err != nil {
			return err
		}
	}
	if err := l.checkUpdates(); err != nil {
		return err
	}
	switch l.opt.Order {
	case learner.Cyclic, learner.FixedShuffle:
		return l.checkStreak()
	case learner.Random:
		return l.verify(ctx)
	}
	return nil
}
