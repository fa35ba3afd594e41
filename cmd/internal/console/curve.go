package console

import (
	"halfspace/internal/humanize"
	"halfspace/plot"
	"halfspace/train/learner"
)

// A curve is a figure of a training, epoch by epoch or pass by pass.
type curve struct {
	what    string    // name of the figure
	values  []float64 // means, each over each epochs
	each    int
	sum     float64 // sum over the epochs after the last value
	n       int     // number of these epochs
	updates int64   // updates before the current epoch
	begun   bool

	measured    bool    // first and last are known
	first, last float64 // objectives
}

// mostValues is the largest number of values that a curve keeps: more than the width of a terminal.
const mostValues = 4096

// follow adds the epoch or pass that ends with p. It adds nothing if p isn't the end of one.
func (c *curve) follow(p *learner.Progress) {
	if !c.begun {
		c.begun, c.updates = true, p.Updates
	}
	if p.Sum == nil {
		return
	}
	switch {
	case p.Measure != nil:
		c.what = "objective"
		v := p.Measure.Objective
		if !c.measured {
			c.measured, c.first = true, v
		}
		if plot.Restarted(c.first, c.last, v) {
			c.values, c.sum, c.n, c.each = c.values[:0], 0, 0, 1
		}
		c.last = v
		c.add(v)
	case p.Best >= 0:
		c.what = "fewest errors so far"
		c.add(float64(p.Best))
	default:
		c.what = "updates per epoch"
		c.add(float64(p.Updates - c.updates))
	}
	c.updates = p.Updates
}

func (c *curve) add(v float64) {
	if c.sum, c.n = c.sum+v, c.n+1; c.n < c.each {
		return
	}
	c.values = append(c.values, c.sum/float64(c.n))
	if c.sum, c.n = 0, 0; len(c.values) == mostValues {
		for i := range mostValues / 2 {
			c.values[i] = c.values[2*i]/2 + c.values[2*i+1]/2
		}
		c.values, c.each = c.values[:mostValues/2], 2*c.each
	}
}

// Sparkline returns the curve in one line of at most most characters, with the first and the last value. It returns ""
// if there is no curve, or no room.
func (t *Training) Sparkline(most int) string {
	values := t.curve.values
	if len(values) < 2 {
		return ""
	}
	text := " " + t.curve.what + ", " + number(values[0]) + " to " + number(values[len(values)-1])
	if line := Sparkline(values, most-len(text)); line != "" {
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
