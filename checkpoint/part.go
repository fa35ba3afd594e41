package checkpoint

import (
	"fmt"
	"sync/atomic"
	"time"
)

// fresh is the most time that Pass lets go by between two states that it takes.
const fresh = time.Second

// A Part is one training of a run, whose state is saved: the only one, or that of one class versus the rest. A learner
// calls Load once, before it learns. Then it does one of these:
//
//   - It calls Due between visits, Mark if Due says so, and Mark before it returns the error of a context.
//   - It calls Pass after each pass over the rows. After the error of a context, the state that Pass took last is saved.
//
// All methods do nothing if the part is nil. Its learner's goroutine calls them.
type Part struct {
	run    *Run
	due    atomic.Bool
	now    record    // guarded by run.mu
	last   int64     // epochs when a checkpoint was due last
	taken  time.Time // when the state was taken
	from   []byte    // the state to go on from; nil: none
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
	if err := p.Read(p.from, p.whole(state)); err != nil {
		return false, err
	}
	p.from = nil
	p.run.tell()
	return true, nil
}

// Before returns Run.Before, for a learner whose state has no Clock.
func (p *Part) Before() time.Duration {
	if p == nil {
		return 0
	}
	return p.run.Before()
}

// Read is the function Read for a state that was part of the state of the learner. Its error names the folder.
func (p *Part) Read(data []byte, state func(*Walk)) error {
	if err := Read(data, state); err != nil {
		return fmt.Errorf("the checkpoint in %s isn't one of this training: %w: name an empty folder", p.run.opt.Dir, err)
	}
	return nil
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

// Mark takes the state of a learner after so many whole epochs and visits. It writes a checkpoint if one is due in the run.
// A state that Read would refuse isn't taken: the one before stays.
func (p *Part) Mark(epochs, visits int64, state func(*Walk)) {
	if p == nil {
		return
	}
	data, err := write(p.whole(state), len(p.now.state)+1<<10)
	p.taken = time.Now()
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	due := p.run.due || p.run.opt.Epochs > 0 && p.Due(epochs)
	p.due.Store(false)
	if due {
		p.last = epochs
	}
	if err != nil {
		p.run.odd.Do(func() {
			p.run.note(fmt.Sprintf("the state can't be saved: %v; the training goes on with the one before", err))
		})
		return
	}
	p.now.epochs, p.now.visits, p.now.state = epochs, visits, data
	if r := p.run; !r.start.IsZero() {
		r.now.spent = int64(r.before + time.Since(r.start))
	}
	if p.run.changed = true; due {
		p.run.write()
	}
}

// Pass is Mark, but does nothing unless a checkpoint is due or the last state is a second old. A state may be large, and a pass
// short.
func (p *Part) Pass(epochs, visits int64, state func(*Walk)) {
	if p != nil && (p.Due(epochs) || time.Since(p.taken) >= min(fresh, p.run.opt.Every)) {
		p.Mark(epochs, visits, state)
	}
}
