package checkpoint

import (
	"fmt"
	"sync/atomic"
)

// A Part is one training of a run, whose state is saved: the only one, or that of one class versus the rest. A learner
// calls Load once, before it learns. Then it calls Due between visits and Mark if it says so, or Mark after each pass over
// the rows. It calls Mark before it returns the error of a context, unless its state isn't one to go on from. All
// methods do nothing if the part is nil. Its learner's goroutine calls them.
type Part struct {
	run    *Run
	due    atomic.Bool
	now    record // guarded by run.mu
	last   int64  // epochs at the last checkpoint
	from   []byte // the state to go on from; nil: none
	beside func(*Walk)
}

// Beside has the part save what state walks, beside the state of the learner. It is called before Load and Mark.
func (p *Part) Beside(state func(*Walk)) {
	if p != nil {
		p.beside = state
	}
}

func (p *Part) whole(state func(*Walk)) func(*Walk) {
	return func(w *Walk) {
		if p.beside != nil {
			p.beside(w)
		}
		state(w)
	}
}

// Load sets the state of a learner to the one that was saved. It returns false if there is none.
func (p *Part) Load(state func(*Walk)) (loaded bool, err error) {
	if p == nil || p.from == nil {
		return false, nil
	}
	if err := Read(p.from, p.whole(state)); err != nil {
		return false, fmt.Errorf("the checkpoint in %s isn't one of this training: %w: name an empty folder", p.run.opt.Dir, err)
	}
	p.from = nil
	p.run.tell()
	return true, nil
}

// Refuse returns an error if there are checkpoints, for a method whose state can't be saved.
func (p *Part) Refuse(method string) error {
	if p == nil {
		return nil
	}
	return fmt.Errorf("no checkpoints can be kept of %s: leave them out", method)
}

// Due tells whether a checkpoint is due after so many whole epochs. It takes no time.
func (p *Part) Due(epochs int64) bool {
	if p == nil {
		return false
	}
	if every := p.run.opt.Epochs; every > 0 {
		return epochs/every > p.last/every
	}
	return p.due.Load()
}

// Mark takes the state of a learner after so many whole epochs and visits. It writes a checkpoint if one is due.
func (p *Part) Mark(epochs, visits int64, state func(*Walk)) {
	if p == nil {
		return
	}
	data := Write(p.whole(state))
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.now.epochs, p.now.visits, p.now.state = epochs, visits, data
	p.run.changed = true
	if p.Due(epochs) {
		p.due.Store(false)
		p.last = epochs
		p.run.write()
	}
}
