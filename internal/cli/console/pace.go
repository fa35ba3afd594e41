package console

import (
	"math"
	"time"
)

// A pace is how fast a step goes: the mean of the past, in which old moments count less and less.
type pace struct {
	begun, at time.Time // of the step, and of the last moment when more was done
	done      int64     // then
	sum, over float64   // what was done in so many seconds, both with fading weights
}

const (
	leastTime  = time.Second      // no rate and no time left is told before
	memoryTime = 10 * time.Second // a moment that long ago counts a third of one now; later in a step, one half of the step ago does
	mostLeft   = 100 * 24 * time.Hour
)

// reach notes how much is done.
func (p *pace) reach(done int64, now time.Time) {
	passed := now.Sub(p.at).Seconds()
	if done <= p.done || passed <= 0 {
		return
	}
	fade := math.Exp(-passed / max(memoryTime, now.Sub(p.begun)/2).Seconds())
	p.sum, p.over = p.sum*fade+float64(done-p.done), p.over*fade+passed
	p.at, p.done = now, done
}

// rate returns how much is done in a second; 0 if that isn't known yet.
func (p *pace) rate() float64 {
	if p.over == 0 {
		return 0
	}
	return p.sum / p.over
}

// left returns the time that is left until total is done. It isn't known where the end isn't, nor if it is very far.
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
