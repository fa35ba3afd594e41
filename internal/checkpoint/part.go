package checkpoint

import (
	"fmt"
	"sync/atomic"
	"time"
)

// mostStateAge is the longest time between two states that Pass takes.
const mostStateAge = time.Second

// A Part is one training of a run whose state is saved: the only training, or the training of one class versus the
// rest. A learner calls Load once, before it trains. Then it uses one of two ways:
//
//   - It calls Due between visits, Mark if Due returns true, and Mark before it returns the error of a context.
//   - It calls Pass after each pass over the rows. If the learner then returns the error of a context, the state that
//     Pass took last is saved.
//
// All methods do nothing if the part is nil. Only the goroutine of the learner may call them.
type Part struct {
	run         *Run
	isDue       atomic.Bool
	record      record    // guarded by run.mu
	epochsAtDue int64     // epochs when the previous checkpoint was due
	takenAt     time.Time // when the state was taken
	savedState  []byte    // the saved state to resume from; nil: none
	addedState  func(*Walk)
}

// AddState makes the part save a second state together with the learner's state. Call it before Load and Mark.
func (p *Part) AddState(state func(*Walk)) {
	if p != nil {
		p.addedState = state
	}
}

func (p *Part) bothStates(state func(*Walk)) func(*Walk) {
	return func(w *Walk) {
		if p.addedState != nil {
			p.addedState(w)
		}
		state(w)
	}
}

// Load sets the state of a learner to the saved state. It returns false if there is no saved state.
func (p *Part) Load(state func(*Walk)) (loaded bool, err error) {
	if p == nil || p.savedState == nil {
		return false, nil
	}
	if err := Read(p.savedState, p.bothStates(state)); err != nil {
		return false, fmt.Errorf("the checkpoint in %s isn't one of this training: %w: name an empty folder", p.run.opt.Dir, err)
	}
	p.savedState = nil
	p.run.noteResumption()
	return true, nil
}

// Named is state with a name before it. Reading fails if another name is there.
func Named(name string, state func(*Walk)) func(*Walk) {
	return func(w *Walk) {
		got := name
		if w.Text(&got); got != name {
			w.Fail(fmt.Errorf("it is of the solver %q, not %q", got, name))
		}
		state(w)
	}
}

// SavedName returns the name of the saved state, which Named wrote, or "" if there is no saved state.
func (p *Part) SavedName() (name string) {
	if p != nil && p.savedState != nil {
		Read(p.savedState, p.bothStates(func(w *Walk) { w.Text(&name) })) // an error says that more follows
	}
	return name
}

// TimeBefore returns Run.TimeBefore. It is for a learner whose state has no Clock.
func (p *Part) TimeBefore() time.Duration {
	if p == nil {
		return 0
	}
	return p.run.TimeBefore()
}

// Due returns true if a checkpoint is due after the given number of whole epochs. It takes almost no time.
func (p *Part) Due(epochs int64) bool {
	if p == nil {
		return false
	}
	if every := p.run.opt.Epochs; every > 0 {
		return epochs/every > p.epochsAtDue/every
	}
	return p.isDue.Load()
}

// Mark saves the state of a learner in the part, after the given numbers of whole epochs and visits. If a checkpoint
// is due in the run, Mark also writes the checkpoint. If writing the state fails because Read would reject it, the
// part keeps the state before.
func (p *Part) Mark(epochs, visits int64, state func(*Walk)) {
	if p == nil {
		return
	}
	data, err := write(p.bothStates(state), len(p.record.state)+1<<10)
	p.takenAt = time.Now()
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	due := p.run.isDue || p.run.opt.Epochs > 0 && p.Due(epochs)
	p.isDue.Store(false)
	if due {
		p.epochsAtDue = epochs
	}
	if err != nil {
		p.run.stateNote.Do(func() {
			p.run.note(fmt.Sprintf("the state can't be saved: %v; the training goes on with the one before", err))
		})
		return
	}
	p.record.epochs, p.record.visits, p.record.state = epochs, visits, data
	if r := p.run; !r.start.IsZero() {
		r.image.trainingTime = int64(r.timeBefore + time.Since(r.start))
	}
	if p.run.hasChanged = true; due {
		p.run.write()
	}
}

// Pass is Mark, but does nothing unless a checkpoint is due or the last state is at least a second old. A state may
// be large and a pass short, so saving the state after every pass would be slow.
func (p *Part) Pass(epochs, visits int64, state func(*Walk)) {
	if p != nil && (p.Due(epochs) || time.Since(p.takenAt) >= min(mostStateAge, p.run.opt.Every)) {
		p.Mark(epochs, visits, state)
	}
}
