// Package checkpoint saves the states of trainings in a directory, so that a training that was stopped can go on. The
// result is the same, bit for bit, as if it had never stopped.
package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"halfspace/internal/lock"
	"halfspace/internal/say"
)

// DefaultEvery is the time between two checkpoints, and LeastEvery is the least.
const (
	DefaultEvery = time.Minute
	LeastEvery   = time.Millisecond
)

// Options say where and when a run is saved.
type Options struct {
	Dir    string            // of the checkpoints, the last two of which are kept; Open makes it
	Every  time.Duration     // time between two checkpoints, LeastEvery or more; DefaultEvery
	Epochs int64             // epochs between two checkpoints, in place of a time; 0: a time
	Resume bool              // go on from the last checkpoint in Dir
	Note   func(text string) // told what is worth knowing; may be nil
}

// A Run is a training, or several of different classes, whose states are saved. Its methods do nothing if it is nil.
// Several goroutines may call them at once.
type Run struct {
	opt     Options
	resumed bool
	lock    *lock.Held // of the folder

	mu      sync.Mutex
	timer   *time.Timer // nil: checkpoints are due after epochs
	closed  bool
	due     bool // the time for a checkpoint has come
	now     image
	was     []fact // of the checkpoint that the run goes on from
	early   bool   // that has no part of a learner: all facts may not be known
	parts   map[int64]*Part
	changed bool          // the states aren't those that were saved last
	kept    string        // file of the last checkpoint of this run; "": none
	began   int64         // number of the checkpoint that was found at the start; 0: none
	written int           // checkpoints
	at      int64         // visits of the checkpoint that the run goes on from: the most of a part
	from    int64         // when that was saved
	before  time.Duration // of learning, until then
	start   time.Time     // of learning in this run; zero: it hasn't begun
	told    sync.Once
	odd     sync.Once // tells of a state that can't be saved
	stays   sync.Once // tells of an older checkpoint that can't be removed
	failed  bool      // the last checkpoint couldn't be written
}

// ErrUnfinished is the error of Open if there are checkpoints of a run that didn't finish, and Options.Resume isn't set.
var ErrUnfinished = errors.New("a training that didn't finish")

// Open begins a run, or goes on with that whose checkpoints are in opt.Dir. If the newest one is damaged, it takes the
// one before. Without any it begins anew. Call Close at the end.
func Open(opt Options) (*Run, error) {
	if opt.Every == 0 {
		opt.Every = DefaultEvery
	}
	if opt.Every < LeastEvery || opt.Epochs < 0 || opt.Dir == "" {
		return nil, fmt.Errorf("checkpoints in %q, every %v or %d epochs: name a folder, and use %v or more, or a positive number", opt.Dir, opt.Every, opt.Epochs, LeastEvery)
	}
	if err := os.MkdirAll(opt.Dir, 0o777); err != nil {
		return nil, unkept(err)
	}
	held, err := lock.Take(opt.Dir)
	if err != nil {
		if _, bare := err.(*fs.PathError); bare { // others say what to do
			err = unkept(err)
		}
		return nil, err
	}
	r := &Run{opt: opt, lock: held, parts: map[int64]*Part{}}
	if err := r.begin(); err != nil {
		held.Release()
		return nil, err
	}
	if opt.Epochs == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.timer = time.AfterFunc(opt.Every, r.tick)
	}
	return r, nil
}

// unkept returns the error of a folder that can't have checkpoints.
func unkept(err error) error {
	return fmt.Errorf("no checkpoints can be kept: %w: name another folder", err)
}

// begin looks for checkpoints in the folder, and takes the states from the last one to resume.
func (r *Run) begin() error {
	opt := r.opt
	from, last, err := newest(opt.Dir, r.note)
	if err != nil {
		return err
	}
	if r.now.number = last; from != nil {
		r.began = from.number
	}
	switch {
	case !opt.Resume && last > 0 && !(from != nil && from.finished && from.number == last):
		return fmt.Errorf("%s has checkpoints of %w: resume it, or name an empty folder", opt.Dir, ErrUnfinished)
	case opt.Resume && last > 0 && from == nil:
		return fmt.Errorf("%s has no checkpoint that can be used: restore one, or name an empty folder", opt.Dir)
	case opt.Resume && from == nil:
		r.note(opt.Dir + " has no checkpoint: the training begins at the start")
	case opt.Resume:
		r.goOn(from)
	}
	return nil
}

// goOn takes over the states of an image.
func (r *Run) goOn(from *image) {
	r.resumed, r.was, r.kept = true, from.facts, filepath.Join(r.opt.Dir, name(from.number))
	r.early = len(from.parts) > 0 && !slices.ContainsFunc(from.parts, func(rec record) bool { return rec.id >= 0 })
	for _, rec := range from.parts {
		r.parts[rec.id] = &Part{run: r, now: rec, last: rec.epochs, from: rec.state}
		r.at = max(r.at, rec.visits)
	}
	r.from, r.before = from.saved, max(0, time.Duration(from.spent))
}

// tell notes where the run goes on, once.
func (r *Run) tell() {
	r.told.Do(func() {
		far := "the training goes on after " + say.Plural(r.at, "visit")
		if r.early {
			far = "what was judged is kept"
		}
		r.note(fmt.Sprintf("%s, as saved in %s on %s", far, r.opt.Dir, time.Unix(r.from, 0).Format(time.DateTime)))
	})
}

func (r *Run) note(text string) {
	if r.opt.Note != nil {
		r.opt.Note(text)
	}
}

// tick makes a checkpoint due, now and after each time that the options say. Each part takes its state then. The first one
// writes them all; those of the others are written the next time.
func (r *Run) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	for _, p := range r.parts {
		p.due.Store(true)
	}
	r.due = true
	r.timer.Reset(r.opt.Every)
}

// Close ends the run. It saves nothing.
func (r *Run) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed = true; r.timer != nil {
		r.timer.Stop()
	}
	r.lock.Release()
}

// Saved tells whether there is a checkpoint to go on from.
func (r *Run) Saved() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept != ""
}

// Resumed returns how many visits the checkpoint had from which the run goes on: the most of a part. ok is false if the run
// began anew, or the checkpoint has no part of a learner.
func (r *Run) Resumed() (visits int64, ok bool) {
	if r == nil {
		return 0, false
	}
	return r.at, r.resumed && !r.early
}

// Before returns the time of learning before the checkpoint that the run goes on from.
func (r *Run) Before() time.Duration {
	if r == nil {
		return 0
	}
	return r.before
}

// Same records data or an option by its name. It is an error if the run goes on from a checkpoint with another value.
// All calls come before the first checkpoint that has the part of a learner.
func (r *Run) Same(name, value string) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.facts = append(r.now.facts, fact{name, value}); !r.resumed {
		return nil
	}
	i := slices.IndexFunc(r.was, func(f fact) bool { return f.name == name })
	if i >= 0 && r.was[i].value == value || i < 0 && r.early {
		return nil
	}
	was := "was not given"
	if i >= 0 {
		was = "was " + quote(r.was[i].value)
	}
	return fmt.Errorf("%s: the training can't go on: %s is %s, and %s before: change that back, or name an empty folder", r.opt.Dir, name, quote(value), was)
}

// quote returns a value as an error shows it.
func quote(value string) string {
	if value == "" || say.Line(value) != value {
		return fmt.Sprintf("%q", say.Short(value, 80))
	}
	return say.Short(value, 80)
}

// Part returns the part of that number, which may have a state from a checkpoint. Those of learners have 0 and above.
func (r *Run) Part(id int64) *Part {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if id >= 0 && r.start.IsZero() {
		r.start = time.Now()
	}
	if r.parts[id] == nil {
		r.parts[id] = &Part{run: r, now: record{id: id}}
	}
	return r.parts[id]
}

// Save writes a checkpoint of the states that the parts gave last, unless it was written before.
func (r *Run) Save() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.changed {
		return nil
	}
	return r.save()
}

// Finish writes a checkpoint that says that the run ended and its result was kept. A run that goes on from it has the
// result again, after little work.
func (r *Run) Finish() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.finished = true
	return r.save()
}

// save writes a checkpoint and removes older ones.
func (r *Run) save() error {
	r.now.parts = r.now.parts[:0]
	for _, p := range r.parts {
		if p.now.state != nil {
			r.now.parts = append(r.now.parts, p.now)
		}
	}
	slices.SortFunc(r.now.parts, func(a, b record) int { return int(a.id - b.id) })
	r.now.saved = time.Now().Unix()
	r.now.number++
	path := filepath.Join(r.opt.Dir, name(r.now.number))
	if err := r.now.save(path); err != nil {
		return err
	}
	before := r.kept
	r.kept, r.changed = path, false
	r.written++
	if err := r.tidy(path, before); err != nil {
		r.stays.Do(func() { r.note(fmt.Sprintf("older checkpoints can't be removed: %v; new ones are written", err)) })
	}
	return nil
}

// tidy removes all checkpoints but the last two. Damaged ones that were newer than the one at the start stay until two are written.
func (r *Run) tidy(last, before string) error {
	numbers, err := list(r.opt.Dir)
	for _, n := range numbers {
		file := filepath.Join(r.opt.Dir, name(n))
		if file != last && file != before && (n <= r.began || r.written > 1) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}

// write writes a checkpoint that is due. If that fails, it says so once: the training goes on, and the checkpoint before is kept.
func (r *Run) write() {
	r.due = false
	err := r.save()
	if err != nil && !r.failed {
		r.note(fmt.Sprintf("%v; the training goes on without a new checkpoint", err))
	}
	r.failed = err != nil
}
