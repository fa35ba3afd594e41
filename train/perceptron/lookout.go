package perceptron

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/cpu"

	"halfspace/train/internal/online"
)

// Where mistakes are rare, most rows are scored only to find that they are right. The order of these scores doesn't
// matter. So the training goroutine and other goroutines, the lookouts, search for the next mistake together. Each
// takes the next piece of rows that nobody has taken, and scores it with the present weights. When all pieces before a
// mistake are scored, the training goroutine visits the mistaken row, and the next search begins after it. The rows
// before the mistake have not changed the weights, and so need no visit. The path of the weights is the same to the
// last bit.
//
// A row that takes t seconds is scored in t/(n+1) with n lookouts. Taking a piece of l rows costs a handshake h. An
// update, every r rows in the mean, wastes about l rows of each core. The sum t/(n+1) + h/((n+1)l) + tl/r is least for
// l = sqrt(hr/((n+1)t)).
//
// Lookouts don't pay where mistakes are frequent, where one core reads as fast as all cores, or where other programs
// keep the cores busy. So spans of visits are timed, with lookouts and without them.

const (
	handshake    = 2e-7     // seconds
	leastGap     = 4e-6     // least seconds between two updates for which lookouts may pay
	longest      = 8e-6     // most seconds for a piece
	leastPiece   = 16       // least rows of a piece
	leastShare   = 4        // least number of pieces of a course for each goroutine
	unknownCost  = 5e-9     // seconds of a visit before any visits were timed
	gapVisits    = 1 << 16  // the gap between updates is the mean over this to twice this number of visits
	inRing       = 64       // most pieces from the first piece that isn't scored to the last piece that is taken
	lookoutBytes = 64 << 10 // most bytes of weights; each lookout copies them after an update
	mostLookouts = 15
	patience     = 1 << 14 // checks of a piece before the training goroutine continues alone: about 10 us
	idleAfter    = 1 << 15 // checks for a piece before a lookout gives up its core: about 20 us
)

// forced, if not nil, makes lookouts search all the time, and counts their searches. Tests set it.
var forced *atomic.Int64

// A lookouts is the goroutines that search for mistakes in a course. A course is rows at positions from 0 on, in the
// order of the visits. The methods of a nil lookouts do nothing.
type lookouts struct {
	each    []*lookout
	own     *lookout       // the training goroutine
	g       errgroup.Group // of the other goroutines, which begin with the first search
	began   bool
	pays    trial
	visits  float64 // visits of the last panels: gapVisits to twice gapVisits
	updates float64 // updates in these visits

	length int // rows of the course
	// cut returns a panel of at most the given number of rows of the course, from a position on.
	cut func(at, rows int) (p online.Panel)

	on       bool                   // a search is open
	clean    int                    // rows before this position are right
	wrong    bool                   // the row at position clean is a mistake
	count    uint64                 // number of searches so far
	searches [2]search              // the last two: a lookout may still have a piece of the search before the last
	now      atomic.Pointer[search] // the last search
	quit     atomic.Bool
}

// A search is the data that the goroutines share. Atomic numbers may be used at any time. Only the training goroutine
// uses folded. The other fields change only while no goroutine has a piece.
type search struct {
	w      []float32
	folded int // pieces before the first piece that isn't scored, or whose score isn't read

	_     cpu.CacheLinePad // fields that change with each search are on one cache line
	taken atomic.Uint64    // number of the search, and in the lower bits the number of pieces taken
	limit atomic.Int64     // number of the first piece that may not be taken yet
	from  int              // position of the first row
	to    int              // position after the last row
	rows  int              // rows of a piece
	cut   func(at, rows int) (p online.Panel)

	_      cpu.CacheLinePad
	scored [inRing]struct {
		// 0 if the piece isn't scored. Otherwise 1 + 2 times the number of right rows before the first mistake, + 1 if
		// there is a mistake.
		atomic.Int64
		_ [56]byte
	}
}

// A lookout scores one piece after another.
type lookout struct {
	all    *lookouts
	rule   rule
	w      []float32
	copied uint64 // number of the search whose weights w has; 0: none
	log    [1]uint32
	idle   atomic.Bool // the lookout waits for wake
	wake   chan struct{}
}

const (
	numbers = 24                 // bits for the number of pieces, below the number of a search
	over    = 1 << (numbers - 1) // bit: no more pieces may be taken
)

// newLookouts returns lookouts for a training, or nil if none would pay.
func newLookouts(workers int, u *rule, weights int) *lookouts {
	n := workers - 1
	if forced == nil {
		n = min(n, runtime.GOMAXPROCS(0)-1)
	}
	if n < 1 || weights*4 > lookoutBytes {
		return nil
	}
	x := &lookouts{}
	for i := range x.searches {
		x.searches[i].w = make([]float32, weights)
	}
	x.now.Store(&x.searches[0])
	for range 1 + min(n, mostLookouts) {
		o := &lookout{all: x, rule: *u, w: make([]float32, weights), wake: make(chan struct{}, 1)}
		if u.scores != nil {
			o.rule.scores, o.rule.rivals = make([]float32, len(u.scores)), make([]uint32, 1)
		}
		x.each = append(x.each, o)
	}
	x.own, x.each = x.each[0], x.each[1:]
	return x
}

func (x *lookouts) stop() {
	if x == nil || !x.began {
		return
	}
	x.end()
	x.quit.Store(true)
	x.rouse()
	_ = x.g.Wait() // no error
}

// begin begins a course of length rows. cut returns a panel of at most the given number of its rows, from a position
// on.
func (x *lookouts) begin(length int, cut func(at, rows int) online.Panel) {
	if x != nil {
		x.length, x.cut = length, cut
	}
}

// end ends a course. When it returns, no goroutine reads the course's rows.
func (x *lookouts) end() {
	if x == nil {
		return
	}
	x.close()
	for i := range x.searches {
		for !x.searches[i].settled() {
			runtime.Gosched()
		}
	}
}

// piece returns the number of rows of a piece.
func (x *lookouts) piece() int {
	all, cost := float64(len(x.each)+1), x.cost()
	most := min(longest/cost, float64(x.length)/(leastShare*all))
	return max(leastPiece, x.length/(over/2), int(min(most, math.Sqrt(x.gap()*handshake/(all*cost)))))
}

// visit visits rows as rule.visit does, but skips the rows that the lookouts found to be right. The panel begins at
// position at of the course.
func (x *lookouts) visit(u *rule, w []float32, log []uint32, p *online.Panel, at int) (visits, updates int) {
	if x.on && x.clean >= at+p.Len() {
		return p.Len(), 0
	}
	rivals := u.rivals
	defer func() { u.rivals = rivals }()
	for visits < p.Len() && updates < len(log) {
		right, wrong := x.find(at+visits, p.Len()-visits, w)
		if visits += right; visits == p.Len() {
			break
		}
		n := 1
		if !wrong { // the lookouts are busy with an older search
			n = p.Len() - visits
		}
		if rivals != nil {
			u.rivals = rivals[updates:]
		}
		part := p.Cut(visits, visits+n, u.stride)
		v, made := u.visit(w, log[updates:], &part)
		for i := range log[updates : updates+made] {
			log[updates+i] += uint32(visits)
		}
		visits, updates = visits+v, updates+made
		x.close()
	}
	return visits, updates
}

// find returns the number of right rows before the first mistake among the n rows from position at on, and whether a
// mistake follows. If no mistake follows and the number is below n, the lookouts are late.
func (x *lookouts) find(at, n int, w []float32) (right int, wrong bool) {
	if !x.on && !x.open(at, w) {
		return 0, false
	}
	for x.fold(); x.clean < at+n && !x.wrong; x.fold() {
		if !x.own.take() && !x.now.Load().wait() {
			x.close()
			break
		}
	}
	if right = x.clean - at; right >= n {
		return n, false
	}
	return right, x.wrong
}

// open begins a search at a position, with the weights w. It returns false if a lookout still has a piece of the search
// before the last.
func (x *lookouts) open(at int, w []float32) bool {
	s := &x.searches[x.count%2]
	if !s.settled() {
		return false
	}
	if x.count++; forced != nil {
		forced.Add(1)
	}
	copy(s.w, w)
	s.from, s.to, s.rows, s.cut, s.folded = at, x.length, x.piece(), x.cut, 0
	s.limit.Store(int64(min(s.pieces(), inRing)))
	s.taken.Store(x.count << numbers)
	x.on, x.clean, x.wrong = true, at, false
	x.now.Store(s)
	x.rouse()
	if !x.began {
		x.began = true
		for _, o := range x.each {
			x.g.Go(o.run)
		}
	}
	return true
}

// close ends the open search: no more pieces are taken.
func (x *lookouts) close() {
	if x != nil && x.on {
		x.on = false
		x.now.Load().close()
	}
}

// fold reads the scores of the pieces at the front, up to the first piece that isn't scored, or has a mistake.
func (x *lookouts) fold() {
	s := x.now.Load()
	for !x.wrong {
		v := s.scored[s.folded%inRing].Swap(0)
		if v == 0 {
			break
		}
		s.folded++
		x.clean += int(v-1) / 2
		x.wrong = (v-1)%2 == 1
	}
	if limit := int64(min(s.pieces(), s.folded+inRing)); limit != s.limit.Load() {
		s.limit.Store(limit)
		x.rouse()
	}
}

// wait waits about 10 us for the piece at the front, and tells whether it is scored.
func (s *search) wait() bool {
	front := &s.scored[s.folded%inRing]
	for range patience {
		if front.Load() != 0 {
			return true
		}
	}
	return false
}

func (s *search) pieces() int { return (s.to - s.from + s.rows - 1) / s.rows }

// close prevents goroutines from taking more pieces.
func (s *search) close() { s.taken.Or(over) }

// settled tells whether all taken pieces of a closed search are scored.
func (s *search) settled() bool {
	for last := int(s.taken.Load() & (over - 1)); s.folded < last; s.folded++ {
		if s.scored[s.folded%inRing].Swap(0) == 0 {
			return false
		}
	}
	return true
}

// rouse wakes the lookouts that sleep.
func (x *lookouts) rouse() {
	for _, o := range x.each {
		if o.idle.Load() && o.idle.CompareAndSwap(true, false) {
			o.wake <- struct{}{}
		}
	}
}

// run scores pieces until quit is set. It gives up its core if it finds no piece for about 20 us.
func (o *lookout) run() error {
	for spins := 0; !o.all.quit.Load(); spins++ {
		if o.take() {
			spins = 0
		}
		if spins < idleAfter {
			continue
		}
		o.idle.Store(true)
		if _, _, is := o.all.now.Load().free(); !is && !o.all.quit.Load() || !o.idle.CompareAndSwap(true, false) {
			<-o.wake
		}
		spins = 0
	}
	return nil
}

// free returns the number of the next piece of a search, and the value of taken for which that piece is free. It
// returns false if no piece is free.
func (s *search) free() (piece int64, taken uint64, is bool) {
	taken = s.taken.Load()
	piece = int64(taken & (over - 1))
	return piece, taken, taken&over == 0 && piece < s.limit.Load()
}

// take scores the next piece. It returns false if no piece is free.
func (o *lookout) take() bool {
	s := o.all.now.Load()
	for {
		piece, taken, is := s.free()
		if !is {
			return false
		}
		if s.taken.CompareAndSwap(taken, taken+1) {
			o.score(s, int(piece), taken>>numbers)
			return true
		}
	}
}

// score counts the rows of a piece before the first row that updates the weights. A wrong row with a sample weight of 0
// counts as a row that updates the weights.
func (o *lookout) score(s *search, piece int, number uint64) {
	visit := o.rule.visit
	if o.rule.scores == nil {
		visit = o.rule.epoch
	}
	if o.copied != number {
		copy(o.w, s.w)
		o.copied = number
	}
	at := s.from + piece*s.rows
	right, wrong := 0, 0
	for to := min(s.to, at+s.rows); at < to && wrong == 0; {
		rows, visits := s.cut(at, to-at), 0
		visits, wrong = visit(o.w, o.log[:], &rows)
		right, at = right+visits-wrong, at+visits
	}
	if wrong > 0 {
		o.copied = 0
	}
	s.scored[piece%inRing].Store(int64(1 + 2*right + wrong))
}

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
