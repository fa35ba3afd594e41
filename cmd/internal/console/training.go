package console

import (
	"math"

	"halfspace/train"

	"halfspace/internal/humanize"
	"halfspace/train/learner"
)

// A Training shows the progress of a learner's training, and keeps its curve.
type Training struct {
	bar     *Progress
	learner train.Learner
	measure *learner.Measure // the last measure
	curve   curve
}

// Watch returns the Training of a learner that is about to begin.
func Watch(bar *Progress, l train.Learner) *Training {
	return &Training{bar: bar, learner: l, curve: curve{each: 1}}
}

// Show shows the progress p.
func (t *Training) Show(p learner.Progress) {
	t.curve.follow(&p)
	if p.Measure != nil { // missing between two passes
		t.measure = p.Measure
	}
	most := maxUpdates(t.learner)
	s := Step{Name: "training", Detail: detail(t.learner, &p, t.measure, most), Done: p.Visits, Unit: Rows}
	switch {
	case t.learner.Solves: // it ends near the optimum, which isn't known before
	case most > 0:
		s.Done, s.Total, s.Unit, s.AtMost = p.Updates, most, Other, true
	default:
		s.Total, s.AtMost = p.Rows*p.Epochs, true
	}
	t.bar.Show(s)
}

// maxUpdates returns the largest number of updates that a learner's training may make; 0 if there is no limit.
func maxUpdates(l train.Learner) int64 {
	if !l.Has("max-updates") {
		return 0
	}
	return l.Settings.Shared().MaxUpdates
}

// detail returns the state of a training. For a learner that solves for an optimum that is passes, objective and gap;
// for any other learner it is epochs, updates and fewest errors.
func detail(l train.Learner, p *learner.Progress, m *learner.Measure, mostUpdates int64) string {
	if l.Solves {
		text := "pass " + humanize.Count(p.Epoch)
		if m != nil {
			text += ", objective " + humanize.Real(m.Objective)
			if !math.IsInf(m.Gap, 0) {
				text += ", gap " + humanize.Rough(m.Gap)
			} else if !math.IsNaN(m.Gradient) {
				text += ", gradient " + humanize.Rough(m.Gradient)
			}
		}
		return text
	}
	text := "epoch " + humanize.Count(min(p.Epoch+1, p.Epochs)) + " of at most " + humanize.Count(p.Epochs) + ", " + humanize.Plural(p.Updates, "update")
	if mostUpdates > 0 {
		text += " of at most " + humanize.Count(mostUpdates)
	}
	if p.Best >= 0 {
		text += ", best " + humanize.Plural(p.Best, "error")
	}
	return text
}

// Stage returns a function that shows the progress of other stages of package train.
func Stage(bar *Progress) func(train.Stage) {
	return func(s train.Stage) {
		text := s.Detail
		if s.Training != nil {
			text += ", " + detail(s.Learner, s.Training, s.Training.Measure, maxUpdates(s.Learner))
		}
		if s.Best != "" {
			text += ", best so far " + s.Best
		}
		step := Step{Name: s.Name, Detail: text, Done: s.Done, Total: s.Total}
		if s.Rows {
			step.Unit = Rows
		}
		bar.Show(step)
	}
}
