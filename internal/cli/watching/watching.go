// Package watching shows trainings as steps of the command.
package watching

import (
	"math"

	"halfspace/fit"
	"halfspace/internal/cli/console"
	"halfspace/internal/say"
	"halfspace/train"
)

// A Training shows how far the training of a learner is, and keeps its curve.
type Training struct {
	bar     *console.Progress
	learner fit.Learner
	measure *train.Measure // the last
	curve   curve
}

// Watch returns the training of a learner that is about to begin.
func Watch(bar *console.Progress, l fit.Learner) *Training {
	return &Training{bar: bar, learner: l, curve: curve{each: 1}}
}

// Show shows how far the training is.
func (t *Training) Show(p train.Progress) {
	t.curve.follow(&p)
	if p.Measure != nil { // which is missing between two passes
		t.measure = p.Measure
	}
	most := maxUpdates(t.learner)
	s := console.Step{Name: "training", Detail: detail(t.learner, &p, t.measure, most), Done: p.Visits, Unit: console.Rows}
	switch {
	case t.learner.Solves: // until it is near the optimum, which nobody knows before
	case most > 0:
		s.Done, s.Total, s.Unit, s.AtMost = p.Updates, most, console.Other, true
	default:
		s.Total, s.AtMost = p.Rows*p.Epochs, true
	}
	t.bar.Show(s)
}

// maxUpdates returns the most updates of a training of a learner; 0 if there is no such limit.
func maxUpdates(l fit.Learner) int64 {
	if !l.Has("max-updates") {
		return 0
	}
	return l.Settings.Shared().MaxUpdates
}

// detail returns what a training has reached: passes, objective and gap of one that solves for an optimum; epochs, updates and fewest errors of
// another.
func detail(l fit.Learner, p *train.Progress, m *train.Measure, mostUpdates int64) string {
	if l.Solves {
		text := "pass " + say.Count(p.Epoch)
		if m != nil {
			text += ", objective " + say.Real(m.Objective)
			if !math.IsInf(m.Gap, 0) {
				text += ", gap " + say.Rough(m.Gap)
			} else if !math.IsNaN(m.Gradient) {
				text += ", gradient " + say.Rough(m.Gradient)
			}
		}
		return text
	}
	text := "epoch " + say.Count(min(p.Epoch+1, p.Epochs)) + " of at most " + say.Count(p.Epochs) + ", " + say.Plural(p.Updates, "update")
	if mostUpdates > 0 {
		text += " of at most " + say.Count(mostUpdates)
	}
	if p.Best >= 0 {
		text += ", best " + say.Plural(p.Best, "error")
	}
	return text
}

// Stage returns a function that shows how far other work of package fit is.
func Stage(bar *console.Progress) func(fit.Stage) {
	return func(s fit.Stage) {
		text := s.Detail
		if s.Training != nil {
			text += ", " + detail(s.Learner, s.Training, s.Training.Measure, maxUpdates(s.Learner))
		}
		if s.Best != "" {
			text += ", best so far " + s.Best
		}
		step := console.Step{Name: s.Name, Detail: text, Done: s.Done, Total: s.Total}
		if s.Rows {
			step.Unit = console.Rows
		}
		bar.Show(step)
	}
}
