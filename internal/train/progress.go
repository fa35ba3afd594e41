package train

import (
	"cmp"
	"fmt"
	"sync"

	"halfspace/internal/humanize"
	"halfspace/train/learner"
)

// A Stage is the progress of work other than learning.
type Stage struct {
	Name        string // name of the work, such as "cross-validating"
	Detail      string // position in the work, such as "fold 2 of 5, l2=0.1"
	Done, Total int64  // trainings or rows done, and their total number; Total is 0 if unknown
	Rows        bool   // Done and Total count rows
	Best        string // the best result so far; "" if there is none

	// Training, if not nil, is the progress of the present training of Learner. Its Sum is nil.
	Training *learner.Progress
	Learner  Learner
}

func (o *Options) stage(s Stage) {
	if o.Stage != nil {
		o.Stage(s)
	}
}

// watch reports a stage. It returns the Progress function for the training of a learner at that stage, or nil if
// opt.Stage is nil.
func (o *Options) watch(s Stage, l Learner) func(learner.Progress) {
	if o.Stage == nil {
		return nil
	}
	o.Stage(s)
	s.Learner = l
	return func(p learner.Progress) {
		p.Sum, s.Training = nil, &p
		o.Stage(s)
	}
}

// watchFold reports that a learner begins with a fold. It returns the Progress function for the training.
func (c *crossState) watchFold(l Learner, fold int) func(learner.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opt.watch(c.stage(fold, cmp.Or(l.VariedText(), l.Name)), l)
}

// stage returns the stage of a fold, with the number of trainings done and a text for the present work.
func (c *crossState) stage(fold int, what string) Stage {
	s := Stage{Name: "cross-validating", Detail: fmt.Sprintf("fold %d of %d, %s", fold+1, c.Folds, what),
		Total: int64(c.Folds * len(c.learners)), Best: c.bestSoFar()}
	for i := range c.Points {
		if s.Done += int64(len(c.Points[i].FoldAccuracy)); c.Points[i].failure != nil { // a failed point trains on no further fold
			s.Done += int64(c.Folds - len(c.Points[i].FoldAccuracy))
		}
	}
	return s
}

// bestSoFar returns the best mean score of a point over its judged folds, or "" if no fold is judged.
func (c *crossState) bestSoFar() string {
	best, text := 0.0, ""
	for i := range c.Points {
		p := &c.Points[i]
		mean, _ := p.verdict.mean()
		cost := mean
		if GreatestIsBest(c.Score) {
			cost = -mean
		}
		if p.failure != nil || cost != cost || text != "" && cost >= best {
			continue
		}
		if best, text = cost, c.Score+" "+humanize.Real(mean); c.Score == ByErrors || c.Score == ByWeight {
			text = humanize.Percent(mean) + " wrong"
		}
		if len(c.Points) > 1 {
			text += " with " + cmp.Or(p.Learner.VariedText(), p.Learner.Name)
		}
	}
	return text
}

// sharedProgress is the progress of the trainings of several classes. Its figures are sums over the classes.
type sharedProgress struct {
	mu      sync.Mutex
	show    func(learner.Progress)
	classes []learner.Progress
}

// class returns the Progress function of one class, or nil if show is nil.
func (s *sharedProgress) class(class int) func(learner.Progress) {
	if s.show == nil {
		return nil
	}
	return func(p learner.Progress) { s.report(class, p) }
}

func (s *sharedProgress) report(class int, p learner.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.classes[class] = p
	all := learner.Progress{Epochs: p.Epochs * int64(len(s.classes)), Rows: p.Rows, BestErrors: -1, Elapsed: p.Elapsed}
	for _, p := range s.classes {
		all.Epoch += p.Epoch
		all.Visits += p.Visits
		all.Updates += p.Updates
	}
	s.show(all)
}
