// Package checkpoint saves the states of trainings in a directory.
//
// A training that was stopped can resume from the last state. Its result is the same, bit for bit, as if it had never
// stopped.
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

	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// DefaultEvery is the default time between two checkpoints. LeastEvery is the shortest time.
const (
	DefaultEvery = time.Minute
	LeastEvery   = time.Millisecond
)

// Options are the place and the times of the checkpoints of a run.
type Options struct {
	Dir    string            // folder of the checkpoints; Open creates it; the last two checkpoints are kept
	Every  time.Duration     // time between two checkpoints, at least LeastEvery; 0: DefaultEvery
	Epochs int64             // epochs between two checkpoints, used in place of Every; 0: use Every
	Resume bool              // resume from the last checkpoint in Dir
	Note   func(text string) // called with texts for the user; may be nil
}

// A Run is one training, or the trainings of several classes, whose states are saved. Its methods do nothing if the
// Run is nil. Several goroutines may call them at the same time.
type Run struct {
	opt     Options
	resumed bool
	lock    *files.Lock // of the folder

	mu            sync.Mutex
	timer         *time.Timer // nil: checkpoints are due after epochs
	isClosed      bool
	isDue         bool // the time for a checkpoint has come
	image         image
	savedFacts    []fact   // facts of the checkpoint from which the run resumes
	lacksLearner  bool     // this checkpoint has no part of a learner, so some facts may be missing
	newFolders    []string // folders that Open made, the innermost first
	parts         map[int64]*Part
	hasChanged    bool          // some state differs from the last saved checkpoint
	lastFile      string        // file of the last checkpoint of this run; "": none
	firstNumber   int64         // number of the checkpoint that was found at the start; 0: none
	writtenCount  int           // number of checkpoints that this run wrote
	resumedVisits int64         // visits in the checkpoint from which the run resumes: the maximum over its parts
	resumedFrom   int64         // when this checkpoint was saved, in Unix seconds
	timeBefore    time.Duration // training time before this checkpoint
	start         time.Time     // when training began in this run; zero: it hasn't begun
	resumeNote    sync.Once
	stateNote     sync.Once // reports once that a state can't be saved
	removalNote   sync.Once // reports once that an older checkpoint can't be removed
	hasFailed     bool      // the last checkpoint couldn't be written
}

// ErrUnfinished is the error of Open if the folder has checkpoints of a run that didn't finish, and Options.Resume
// isn't set.
var ErrUnfinished = errors.New("a training that didn't finish")

// Open begins a run, or resumes the run whose checkpoints are in opt.Dir if opt.Resume is set. If the newest
// checkpoint is damaged, Open takes the one before. If there is no checkpoint, the run begins at the start. The
// caller must call Close at the end.
func Open(opt Options) (*Run, error) {
	if opt.Every == 0 {
		opt.Every = DefaultEvery
	}
	if opt.Every < LeastEvery || opt.Epochs < 0 || opt.Dir == "" {
		return nil, fmt.Errorf("checkpoints in %q, every %v or %d epochs: name a folder, and use %v or more, or a "+
			"positive number", opt.Dir, opt.Every, opt.Epochs, LeastEvery)
	}
	newFolders := missingFolders(opt.Dir)
	if err := os.MkdirAll(opt.Dir, 0o777); err != nil {
		return nil, folderError(err)
	}
	lock, err := files.TakeLock(opt.Dir)
	if err != nil {
		if _, bare := err.(*fs.PathError); bare { // other errors already name a remedy
			err = folderError(err)
		}
		return nil, err
	}
	r := &Run{opt: opt, lock: lock, parts: map[int64]*Part{}, newFolders: newFolders}
	if err := r.begin(); err != nil {
		lock.Release()
		return nil, err
	}
	if opt.Epochs == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.timer = time.AfterFunc(opt.Every, r.tick)
	}
	return r, nil
}

// missingFolders returns the folders that MkdirAll has to make for a folder, the innermost first.
func missingFolders(dir string) (missing []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = append(missing, dir)
	}
}

// folderError returns the error of a folder that can't hold checkpoints.
func folderError(err error) error {
	return fmt.Errorf("no checkpoints can be kept: %w: name another folder", err)
}

// begin looks for checkpoints in the folder, and loads the last states if the run resumes.
func (r *Run) begin() error {
	opt := r.opt
	from, last, err := newestImage(opt.Dir, r.note)
	if err != nil {
		return err
	}
	if r.image.number = last; from != nil {
		r.firstNumber = from.number
	}
	switch {
	case !opt.Resume && last > 0 && !(from != nil && from.isFinished && from.number == last):
		return fmt.Errorf("%s has checkpoints of %w: resume it, or name an empty folder", opt.Dir, ErrUnfinished)
	case opt.Resume && last > 0 && from == nil:
		return fmt.Errorf("%s has no checkpoint that can be used: restore one, or name an empty folder", opt.Dir)
	case opt.Resume && from == nil:
		r.note(opt.Dir + " has no checkpoint: the training begins at the start")
	case opt.Resume:
		r.restore(from)
	}
	return nil
}

// restore sets the states of the run to the states of an image.
func (r *Run) restore(from *image) {
	r.resumed, r.savedFacts, r.lastFile = true, from.facts, filepath.Join(r.opt.Dir, name(from.number))
	r.lacksLearner = len(from.parts) > 0 && !slices.ContainsFunc(from.parts, func(rec record) bool { return rec.id >= 0 })
	for _, rec := range from.parts {
		r.parts[rec.id] = &Part{run: r, record: rec, epochsAtDue: rec.epochs, savedState: rec.state}
		r.resumedVisits = max(r.resumedVisits, rec.visits)
	}
	r.resumedFrom, r.timeBefore = from.savedAt, max(0, time.Duration(from.trainingTime))
}

// noteResumption reports the point from which the run resumes. It does so once.
func (r *Run) noteResumption() {
	r.resumeNote.Do(func() {
		far := "the training goes on after " + humanize.Plural(r.resumedVisits, "visit")
		if r.lacksLearner {
			far = "what was judged is kept"
		}
		r.note(fmt.Sprintf("%s, as saved in %s on %s", far, r.opt.Dir, time.Unix(r.resumedFrom, 0).Format(time.DateTime)))
	})
}

func (r *Run) note(text string) {
	if r.opt.Note != nil {
		r.opt.Note(text)
	}
}

// tick makes a checkpoint due, and starts the timer for the next checkpoint. Each part then saves its state in the
// run. The first part that does so writes a checkpoint with the latest states of all parts; newer states of the other
// parts are in the next checkpoint.
func (r *Run) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed {
		return
	}
	for _, p := range r.parts {
		p.isDue.Store(true)
	}
	r.isDue = true
	r.timer.Reset(r.opt.Every)
}

// Close ends the run. It writes no checkpoint.
func (r *Run) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed = true; r.timer != nil {
		r.timer.Stop()
	}
	r.lock.Release()
	if len(r.parts) == 0 && r.lastFile == "" { // the training never began: leave no new folder
		for _, dir := range r.newFolders {
			os.Remove(dir) // fails unless it is empty
		}
	}
}

// HasCheckpoint returns true if there is a checkpoint to resume from.
func (r *Run) HasCheckpoint() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastFile != ""
}

// ResumedVisits returns the number of visits in the checkpoint from which the run resumed: the maximum over its parts. ok
// is false if the run began at the start, or if the checkpoint has no part of a learner.
func (r *Run) ResumedVisits() (visits int64, ok bool) {
	if r == nil {
		return 0, false
	}
	return r.resumedVisits, r.resumed && !r.lacksLearner
}

// TimeBefore returns the training time before the checkpoint from which the run resumed.
func (r *Run) TimeBefore() time.Duration {
	if r == nil {
		return 0
	}
	return r.timeBefore
}

// CheckFact records the value of an option or of a property of the data under a name. It returns an error if the run
// resumes from a checkpoint with another value. All calls must come before the first checkpoint that has the part of
// a learner.
func (r *Run) CheckFact(name, value string) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.image.facts = append(r.image.facts, fact{name, value}); !r.resumed {
		return nil
	}
	i := slices.IndexFunc(r.savedFacts, func(f fact) bool { return f.name == name })
	if i >= 0 && r.savedFacts[i].value == value || i < 0 && r.lacksLearner {
		return nil
	}
	was := "was not given"
	if i >= 0 {
		was = "was " + quote(r.savedFacts[i].value)
	}
	return message.Located(fmt.Errorf("%s: the training can't go on: %s is %s, and %s before: change that back, or "+
		"name an empty folder", r.opt.Dir, name, quote(value), was))
}

// SavedFact returns the value of a fact in the checkpoint from which the run resumes, or "".
func (r *Run) SavedFact(name string) string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.savedFacts {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// quote returns a value in the form that errors show.
func quote(value string) string {
	if value == "" || humanize.Line(value) != value {
		return fmt.Sprintf("%q", humanize.WithoutMiddle(value, 80))
	}
	return humanize.WithoutMiddle(value, 80)
}

// Part returns the part with the given number, which may have a state from a checkpoint. Parts of learners have the
// numbers 0 and above.
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
		r.parts[id] = &Part{run: r, record: record{id: id}}
	}
	return r.parts[id]
}

// Save writes a checkpoint of the latest states of all parts. It does nothing if no state changed since the last
// checkpoint.
func (r *Run) Save() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hasChanged {
		return nil
	}
	return r.save()
}

// Finish writes a checkpoint that marks the run as ended, with its result saved. A run that resumes from this
// checkpoint gets the result again with little work.
func (r *Run) Finish() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.image.isFinished = true
	return r.save()
}

// save writes a checkpoint and removes older checkpoints.
func (r *Run) save() error {
	r.image.parts = r.image.parts[:0]
	for _, p := range r.parts {
		if p.record.state != nil {
			r.image.parts = append(r.image.parts, p.record)
		}
	}
	slices.SortFunc(r.image.parts, func(a, b record) int { return int(a.id - b.id) })
	r.image.savedAt = time.Now().Unix()
	r.image.number++
	path := filepath.Join(r.opt.Dir, name(r.image.number))
	if err := r.image.save(path); err != nil {
		return err
	}
	before := r.lastFile
	r.lastFile, r.hasChanged = path, false
	r.writtenCount++
	if err := r.tidy(path, before); err != nil {
		r.removalNote.Do(func() { r.note(fmt.Sprintf("older checkpoints can't be removed: %v; new ones are written", err)) })
	}
	return nil
}

// tidy removes all checkpoints except the last two. If damaged checkpoints at the start were newer than the usable
// one, they stay until the run has written two.
func (r *Run) tidy(last, before string) error {
	numbers, err := list(r.opt.Dir)
	for _, n := range numbers {
		file := filepath.Join(r.opt.Dir, name(n))
		if file != last && file != before && (n <= r.firstNumber || r.writtenCount > 1) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}

// write writes a checkpoint that is due. It reports a failure, unless the checkpoint before failed too. The training
// then goes on, and the last written checkpoint is kept.
func (r *Run) write() {
	r.isDue = false
	err := r.save()
	if err != nil && !r.hasFailed {
		r.note(fmt.Sprintf("%v; the training goes on without a new checkpoint", err))
	}
	r.hasFailed = err != nil
}
