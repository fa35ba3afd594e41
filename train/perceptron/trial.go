package perceptron

import "time"

// A trial finds out whether visits take less time with lookouts than without.
type trial struct {
	with   bool       // lookouts are in use
	cost   [2]float64 // seconds of a visit, without lookouts and with them
	visits int        // visits in the span
	looked int        // visits in the span at the last read of the clock
	start  time.Time  // start of the span; zero: no span has begun
	wait   int        // spans until the slower way is tried again
	spans  int        // first value of wait after the last trial
}

const (
	spanRows    = 1 << 15
	lookRows    = 1 << 12          // visits between two reads of the clock in a span with lookouts
	leastSpan   = time.Millisecond // so long that waking the lookouts takes a small part of it
	mostWaiting = 256              // most spans between two trials of the slower way
	// mostSlower is the most that a cost may be relative to the cost before: other programs sometimes stop a core.
	mostSlower = 1.25
)

// visited counts n visits. After enough visits it ends the span, and decides about the next span. A span with lookouts
// ends early once it has taken as long as a span without them.
func (t *trial) visited(n int) {
	t.visits += n
	if t.start.IsZero() {
		t.visits, t.looked, t.start = 0, 0, time.Now()
		return
	}
	if t.visits < spanRows && (!t.with || t.visits-t.looked < lookRows) {
		return
	}
	t.looked = t.visits
	took := time.Since(t.start)
	if took < leastSpan || t.visits < spanRows && took.Seconds() < spanRows*t.cost[0] {
		return
	}
	t.ended(took.Seconds() / float64(t.visits))
	t.stop()
	t.visited(0)
}

// stop ends the span without a result.
func (t *trial) stop() { t.visits, t.start = 0, time.Time{} }

// ended stores the cost of a visit in the last span, and chooses the way for the next span.
func (t *trial) ended(cost float64) {
	way := 0
	if t.with {
		way = 1
	}
	if before := t.cost[way]; before > 0 {
		cost = min(cost, mostSlower*before)
	}
	t.cost[way] = cost
	better := t.cost[1] < 0.95*t.cost[0]
	switch {
	case t.with == better && t.wait == 0: // time to try the other way
		t.with = !t.with
	case t.with == better:
		t.wait--
	default: // the tried way is slower, or the other way has become slower
		t.with = better
		t.spans = min(mostWaiting, 2*t.spans+1)
		t.wait = t.spans
	}
}

// cost returns the seconds of a visit without lookouts.
func (x *lookouts) cost() float64 {
	if x.pays.cost[0] == 0 {
		return unknownCost
	}
	return x.pays.cost[0]
}

// gap returns the mean number of visits between two updates.
func (x *lookouts) gap() float64 { return x.visits / (x.updates + 1) }

// rare tells whether updates are rare enough for lookouts to pay.
func (x *lookouts) rare() bool { return x.gap()*x.cost() >= leastGap }

// pay tells whether to search with lookouts.
func (x *lookouts) pay() bool { return x != nil && (forced != nil || x.pays.with && x.rare()) }

// saw counts the visits and updates of a stretch for the decision whether lookouts pay.
func (x *lookouts) saw(visits, updates int) {
	if x == nil {
		return
	}
	if x.pays.cost[0] == 0 || x.rare() {
		x.pays.visited(visits)
	} else {
		x.pays.stop()
	}
	x.visits, x.updates = x.visits+float64(visits), x.updates+float64(updates)
	if x.visits > 2*gapVisits {
		x.visits, x.updates = x.visits/2, x.updates/2
	}
}
