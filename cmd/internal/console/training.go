package console

import (
	"math"
	"slices"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/train"
	"halfspace/plot"
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
	return &Training{bar: bar, learner: l, curve: curve{epochsPerValue: 1}}
}

func (t *Training) Show(p learner.Progress) {
	t.curve.follow(&p)
	if p.Measure != nil { // missing between two passes
		t.measure = p.Measure
	}
	most := maxUpdates(t.learner)
	s := Step{Name: "training", Detail: detail(t.learner, &p, t.measure, most), Done: p.Visits, CountsRows: true}
	switch {
	case t.learner.IsBatch(): // it ends near the optimum, which isn't known before
	case most > 0:
		s.Done, s.Total, s.CountsRows, s.MayEndEarly = p.Updates, most, false, true
	default:
		s.Total, s.MayEndEarly = p.Rows*p.Epochs, true
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
	if l.IsBatch() {
		text := "pass " + humanize.Count(p.Epoch)
		if m != nil {
			text += ", objective " + humanize.Real(m.Objective)
			if !math.IsInf(m.Gap, 0) {
				text += ", gap " + humanize.ThreeDigits(m.Gap)
			} else if !math.IsNaN(m.Gradient) {
				text += ", gradient " + humanize.ThreeDigits(m.Gradient)
			}
		}
		return text
	}
	text := "epoch " + humanize.Count(min(p.Epoch+1, p.Epochs)) + " of at most " + humanize.Count(p.Epochs) + ", " +
		humanize.Plural(p.Updates, "update")
	if mostUpdates > 0 {
		text += " of at most " + humanize.Count(mostUpdates)
	}
	if p.BestErrors >= 0 {
		text += ", best " + humanize.Plural(p.BestErrors, "error")
	}
	return text
}

// Stage returns a function that shows the progress of other stages of package train.
func Stage(bar *Progress) func(train.Stage) {
	return func(s train.Stage) {
		step := Step{Name: s.Name, Detail: s.Detail, Done: s.Done, Total: s.Total, CountsRows: s.Rows}
		if s.Training != nil {
			step.Detail += ", " + detail(s.Learner, s.Training, s.Training.Measure, maxUpdates(s.Learner))
		}
		if s.Best != "" {
			step.Detail += ", best so far " + s.Best
		}
		bar.Show(step)
	}
}

// A curve is a figure of a training, epoch by epoch or pass by pass.
type curve struct {
	figure         string    // name of the figure
	values         []float64 // means, each over each epochs
	epochsPerValue int
	sum            float64 // sum over the epochs after the last value
	pendingEpochs  int     // number of these epochs
	updates        int64   // updates before the current epoch
	hasBegun       bool

	hasObjectives bool    // first and last are known
	first, last   float64 // objectives
}

// mostValues is the largest number of values that a curve keeps: more than the width of a terminal.
const mostValues = 4096

// follow adds the epoch or pass that ends with p. It adds nothing if p isn't the end of one.
func (c *curve) follow(p *learner.Progress) {
	if !c.hasBegun {
		c.hasBegun, c.updates = true, p.Updates
	}
	if p.Sum == nil {
		return
	}
	switch {
	case p.Measure != nil:
		c.figure = "objective"
		v := p.Measure.Objective
		if !c.hasObjectives {
			c.hasObjectives, c.first = true, v
		}
		if plot.HasRestarted(c.first, c.last, v) {
			c.values, c.sum, c.pendingEpochs, c.epochsPerValue = c.values[:0], 0, 0, 1
		}
		c.last = v
		c.add(v)
	case p.BestErrors >= 0:
		c.figure = "fewest errors so far"
		c.add(float64(p.BestErrors))
	default:
		c.figure = "updates per epoch"
		c.add(float64(p.Updates - c.updates))
	}
	c.updates = p.Updates
}

func (c *curve) add(v float64) {
	if c.sum, c.pendingEpochs = c.sum+v, c.pendingEpochs+1; c.pendingEpochs < c.epochsPerValue {
		return
	}
	c.values = append(c.values, c.sum/float64(c.pendingEpochs))
	if c.sum, c.pendingEpochs = 0, 0; len(c.values) == mostValues {
		for i := range mostValues / 2 {
			c.values[i] = c.values[2*i]/2 + c.values[2*i+1]/2
		}
		c.values, c.epochsPerValue = c.values[:mostValues/2], 2*c.epochsPerValue
	}
}

// Sparkline returns the curve in one line of at most most characters, with the first and the last value. It returns ""
// if there is no curve, or no room.
func (t *Training) Sparkline(most int) string {
	values := t.curve.values
	if len(values) < 2 {
		return ""
	}
	text := " " + t.curve.figure + ", " + number(values[0]) + " to " + number(values[len(values)-1])
	if line := sparkline(values, most-len(text)); line != "" {
		return line + text
	}
	return ""
}

// number writes a value: an integer with commas, any other number with a few digits.
func number(v float64) string {
	if v == float64(int64(v)) {
		return humanize.Count(int64(v))
	}
	return humanize.Real(v)
}

// levels are the heights of a sparkline, the lowest first.
var levels = []rune("▁▂▃▄▅▆▇█")

// sparkline draws a curve in one line of at most most characters. If there are more values than characters, each
// character shows a mean. It returns "" for a flat curve, a curve that isn't finite, and fewer than two values or
// characters.
func sparkline(values []float64, most int) string {
	if most < 2 || len(values) < 2 {
		return ""
	}
	n := min(most, len(values))
	means := make([]float64, n)
	for i := range means {
		part := values[i*len(values)/n : (i+1)*len(values)/n]
		for _, v := range part {
			means[i] += v / float64(len(part))
		}
	}
	low, high := slices.Min(means), slices.Max(means)
	if !(low < high) || high-low-(high-low) != 0 {
		return ""
	}
	var s strings.Builder
	for _, v := range means {
		s.WriteRune(levels[min(len(levels)-1, int((v-low)/(high-low)*float64(len(levels))))])
	}
	return s.String()
}
