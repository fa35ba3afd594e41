package perceptron

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"halfspace/kernel"
)

// Where mistakes are rare, most rows are scored to find that they are right. Those scores need no order. So other
// goroutines, the lookouts, score the next stretches ahead with the weights that there are. Rows before the first mistake of
// a stretch stay right as long as no row before them changes the weights. The training goroutine then need not score them
// again. From the first mistake on it visits the rows itself. So the path of the weights is the same to the last bit.
//
// Lookouts don't pay where mistakes are frequent, where one core reads as fast as all, or where other programs keep the
// cores busy. So spans of visits are timed, with lookouts and without them.

const (
	lookoutRate  = 0.4      // share of the last stretches with updates below which lookouts pay
	lookoutBytes = 64 << 10 // most bytes of the weights that each lookout copies after an update
	mostLookouts = 15
	lookoutSpins = 1 << 15 // looks at a counter before a goroutine gives way: some 20 us
)

// forced has lookouts score ahead all the time. Tests set it.
var forced bool

// A lookouts is the goroutines that score ahead in a course: rows at positions from 0 on, in the order of the visits. Its
// methods do nothing if it is nil.
type lookouts[T kernel.Float] struct {
	each    []*lookout[T]
	g       errgroup.Group // of the goroutines, which begin when there is something to score
	began   bool
	pays    trial
	rate    float64                  // share of the last stretches that had updates
	version int64                    // changes whenever the weights do
	length  int                      // of the course
	next    func(at int) *stretch[T] // the stretch from a position on
}

// A lookout scores one stretch after another.
type lookout[T kernel.Float] struct {
	rule  rule[T]
	w     []T
	log   [1]uint32
	asked atomic.Int64 // stretches to score so far
	done  atomic.Int64 // of these, how many are scored
	idle  atomic.Bool  // it waits for wake
	wake  chan struct{}
	quit  bool

	s        *stretch[T] // to score
	from, to int         // its positions in the course
	clean    int         // rows at its beginning that are right
	version  int64       // of the weights
	copied   int64       // version that w is a copy of; -1 for none
	open     bool        // the training goroutine hasn't made use of it
}

// newLookouts returns lookouts for a training. It returns nil if none would pay.
func newLookouts[T kernel.Float](l *learner[T]) *lookouts[T] {
	n := l.opt.Workers - 1
	if !forced {
		n = min(n, runtime.GOMAXPROCS(0)-1)
	}
	if n < 1 || l.shards != nil || len(l.w)*int(unsafe.Sizeof(T(0))) > lookoutBytes {
		return nil
	}
	x := &lookouts[T]{rate: 1}
	for range min(n, mostLookouts) {
		o := &lookout[T]{rule: l.rule, w: make([]T, len(l.w)), wake: make(chan struct{}, 1), copied: -1}
		o.rule.steps = nil
		if l.rule.scores != nil {
			o.rule.scores, o.rule.rivals = make([]T, len(l.rule.scores)), make([]uint32, 1)
		}
		x.each = append(x.each, o)
	}
	return x
}

// stop ends the goroutines.
func (x *lookouts[T]) stop() {
	if x == nil || !x.began {
		return
	}
	x.end()
	for _, o := range x.each {
		o.quit = true
		o.ask()
	}
	_ = x.g.Wait() // no error
}

// begin begins a course of some length. next returns the stretch from a position on.
func (x *lookouts[T]) begin(length int, next func(at int) *stretch[T]) {
	if x != nil {
		x.length, x.next = length, next
		x.version++
	}
}

// end ends a course: nothing reads its rows any more.
func (x *lookouts[T]) end() {
	if x == nil {
		return
	}
	for _, o := range x.each {
		for !o.finished() {
			runtime.Gosched()
		}
		o.open = false
	}
}

// known returns how many of n rows from a position on are known to be right.
func (x *lookouts[T]) known(at, n int) (rows int) {
	if x == nil {
		return 0
	}
	for {
		o := x.covers(at + rows)
		if o == nil || !o.await() {
			return rows
		}
		right := o.from + o.clean
		if right >= at+n {
			o.open = right > at+n
			return n
		}
		o.open = false
		rows = max(rows, right-at)
		if right < o.to {
			return rows
		}
	}
}

// covers returns the lookout whose stretch has a position, or nil.
func (x *lookouts[T]) covers(at int) *lookout[T] {
	for _, o := range x.each {
		if o.open && o.version == x.version && o.from <= at && at < o.to {
			return o
		}
	}
	return nil
}

// send has lookouts score the stretches from a position on with the weights w, if that pays.
func (x *lookouts[T]) send(at int, w []T) {
	if x == nil || !forced && (x.rate >= lookoutRate || !x.pays.with) {
		return
	}
	if !x.began {
		x.began = true
		for _, o := range x.each {
			x.g.Go(o.run)
		}
	}
	past := at
	for _, o := range x.each {
		if o.open = o.open && o.version == x.version && o.to > past; o.open {
			at = max(at, o.to)
		}
	}
	for _, o := range x.each {
		if at >= x.length {
			return
		}
		if o.open || !o.finished() {
			continue
		}
		o.s = x.next(at)
		o.from, o.to, o.version, o.open = at, at+o.s.len(), x.version, true
		if o.copied != x.version {
			copy(o.w, w)
			o.copied = x.version
		}
		at = o.to
		o.ask()
	}
}

// saw takes note of how many visits and updates a stretch had.
func (x *lookouts[T]) saw(visits, updates int) {
	if x == nil {
		return
	}
	x.pays.visited(visits)
	had := 0.0
	if updates > 0 {
		had = 1
		x.version++
	}
	x.rate += float64((had - x.rate) / 16)
}

// A trial finds out whether visits take less time with lookouts.
type trial struct {
	with   bool       // lookouts are in use
	cost   [2]float64 // seconds of a visit, without lookouts and with them
	visits int        // of the span
	start  time.Time  // of the span; zero: none has begun
	wait   int        // spans until the slower way is tried again
	spans  int        // how many that wait will be
}

const (
	spanRows    = 1 << 15
	leastSpan   = time.Millisecond // of which waking the lookouts takes little
	mostWaiting = 256              // spans between two trials of the slower way
)

// visited counts visits. It ends a span after enough of them, and decides about the next one.
func (t *trial) visited(n int) {
	if t.visits += n; t.visits < spanRows && !t.start.IsZero() {
		return
	}
	now := time.Now()
	if took := now.Sub(t.start); !t.start.IsZero() {
		if took < leastSpan {
			return
		}
		t.ended(took.Seconds() / float64(t.visits))
	}
	t.start, t.visits = now, 0
}

// ended takes the cost of a visit in the last span.
func (t *trial) ended(cost float64) {
	way := 0
	if t.with {
		way = 1
	}
	t.cost[way] = cost
	better := t.cost[1] < 0.95*t.cost[0]
	switch {
	case t.with == better && t.wait == 0: // it is time to try the other way
		t.with = !t.with
	case t.with == better:
		t.wait--
	default: // the way that was tried is slower, or the other one became so
		t.with = better
		t.spans = min(mostWaiting, 2*t.spans+1)
		t.wait = t.spans
	}
}

// finished tells whether the lookout has scored all that it was asked for.
func (o *lookout[T]) finished() bool { return o.done.Load() == o.asked.Load() }

// await waits some time until the lookout has finished, and tells whether it has.
func (o *lookout[T]) await() bool {
	for range lookoutSpins {
		if o.finished() {
			return true
		}
	}
	return false
}

// ask tells the lookout that there is something to do.
func (o *lookout[T]) ask() {
	o.asked.Add(1)
	if o.idle.CompareAndSwap(true, false) {
		o.wake <- struct{}{}
	}
}

// run scores what it is asked for, until it is told to quit.
func (o *lookout[T]) run() error {
	for n := int64(1); ; n++ {
		o.listen(n)
		if o.quit {
			return nil
		}
		o.score()
		o.done.Store(n)
	}
}

// listen waits for request number n. It gives its core away if that takes long.
func (o *lookout[T]) listen(n int64) {
	for spins := 0; o.asked.Load() < n; spins++ {
		if spins < lookoutSpins {
			continue
		}
		o.idle.Store(true)
		if o.asked.Load() < n || !o.idle.CompareAndSwap(true, false) {
			<-o.wake
		}
	}
}

// score counts the rows before the first one that updates the weights. A row with a sample weight of 0 counts as such.
func (o *lookout[T]) score() {
	visit := o.rule.visit
	if o.rule.scores == nil {
		visit = o.rule.epoch
	}
	visits, updates := visit(o.w, o.log[:], o.s)
	if o.clean = visits - updates; updates > 0 {
		o.copied = -1
	}
}
