package console

import (
	"math"
	"time"
)

// A pace is the rate of a step: a mean in which older intervals count less and less.
type pace struct {
	begun, at time.Time // when the step began, and when done grew last
	done      int64     // the value at that time
	sum, over float64   // the amount done, and the seconds that it took, both with fading weights
}

const (
	leastTime  = time.Second      // no rate and no time left is shown before
	memoryTime = 10 * time.Second // an interval this long ago counts about a third; later, half of the step's time replaces it
	mostLeft   = 100 * 24 * time.Hour
)

// reach notes the amount that is done now.
func (p *pace) reach(done int64, now time.Time) {
	passed := now.Sub(p.at).Seconds()
	if done <= p.done || passed <= 0 {
		return
	}
	fade := math.Exp(-passed / max(memoryTime, now.Sub(p.begun)/2).Seconds())
	p.sum, p.over = p.sum*fade+float64(done-p.done), p.over*fade+passed
	p.at, p.done = now, done
}

// rate returns the amount done per second; 0 if it isn't known yet.
func (p *pace) rate() float64 {
	if p.over == 0 {
		return 0
	}
	return p.sum / p.over
}

// left returns the time until total is done. known is false if total or the rate isn't known, or if the time exceeds
// mostLeft.
func (p *pace) left(total int64, now time.Time) (left time.Duration, known bool) {
	rate := p.rate()
	if total <= 0 || rate == 0 {
		return 0, false
	}
	seconds := float64(total-p.done)/rate - now.Sub(p.at).Seconds()
	if seconds > mostLeft.Seconds() {
		return 0, false
	}
	return max(0, time.Duration(seconds*float64(time.Second))), true
}
