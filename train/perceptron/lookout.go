package perceptron

import (
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/cpu"
)

// Where mistakes are rare, most rows are scored to find that they are right. Those scores need no order. So the training
// goroutine and others, the lookouts, search for the next mistake together: each takes the next piece of the rows that
// nobody has, and scores it with the weights that there are. When all pieces before a mistake are scored, the training
// goroutine visits that row, and the next search begins after it. Rows before the mistake have not changed the weights, and
// so need no visit. The path of the weights is the same to the last bit.
//
// A row that takes t seconds is scored in t/(n+1) with n lookouts. To take a piece of l rows costs a handshake h. An update,
// every r rows in the mean, wastes some l rows of each core. The sum t/(n+1) + h/((n+1)l) + tl/r is least for
// l = sqrt(hr/((n+1)t)).
//
// Lookouts don't pay where mistakes are frequent, where one core reads as fast as all, or where other programs keep the
// cores busy. So spans of visits are timed, with lookouts and without them.

const (
	handshake    = 2e-7     // seconds
	leastGap     = 4e-6     // seconds from one update to the next, or more, for which lookouts may pay
	longest      = 8e-6     // seconds of a piece, or less
	leastPiece   = 16       // rows
	leastShare   = 4        // pieces of a course for each goroutine, or more
	unknownCost  = 5e-9     // seconds of a visit before any were timed
	gapVisits    = 1 << 16  // the gap between updates is the mean of so many visits, or up to twice as many
	inRing       = 64       // pieces from the first one that isn't scored to the last that is taken
	lookoutBytes = 64 << 10 // most bytes of the weights that each lookout copies after an update
	mostLookouts = 15
	patience     = 1 << 14 // looks at a piece before the training goroutine goes on alone: some 10 us
	idleAfter    = 1 << 15 // looks for a piece before a lookout gives its core away: some 20 us
)

// forced has lookouts search all the time, and counts their searches. Tests set it.
var forced *atomic.Int64

// A lookouts is the goroutines that search for mistakes in a course: rows at positions from 0 on, in the order of the
// visits. Its methods do nothing if it is nil.
type lookouts struct {
	each    []*lookout
	own     *lookout       // the training goroutine
	g       errgroup.Group // of the others, which begin with the first search
	began   bool
	pays    trial
	visits  float64 // of the last stretches: gapVisits or up to twice as many
	updates float64 // of these

	length int                            // of the course
	cut    func(at, rows int) (s stretch) // some rows of the course or fewer, from a position on

	on       bool                   // a search goes on
	clean    int                    // position up to which rows are right
	wrong    bool                   // and the row there is a mistake
	count    uint64                 // searches so far
	searches [2]search              // the last ones: a lookout may still have a piece of the one before
	now      atomic.Pointer[search] // the last one
	quit     atomic.Bool
}

// A search is what the goroutines share. They use the atomic numbers at any time. Only the training goroutine uses folded.
// The rest changes only while nobody has a piece.
type search struct {
	w      []float32
	folded int // pieces before the first that isn't scored, or that isn't looked at

	_     cpu.CacheLinePad // what changes with each search is on one line
	taken atomic.Uint64    // number of the search, and in the lower bits how many pieces were taken
	limit atomic.Int64     // number of the first piece that may not be taken yet
	from  int              // position that it began at
	to    int              // and where it ends
	rows  int              // of a piece
	cut   func(at, rows int) (s stretch)

	_      cpu.CacheLinePad
	scored [inRing]struct {
		atomic.Int64 // 0, or 1 more than twice the rows that are right before the first mistake; 1 more if there is one
		_            [56]byte
	}
}

// A lookout scores one piece after another.
type lookout struct {
	all    *lookouts
	rule   rule
	w      []float32
	copied uint64 // number of the search that w is a copy of the weights of; 0 for none
	log    [1]uint32
	idle   atomic.Bool // it waits for wake
	wake   chan struct{}
}

const (
	numbers = 24                 // bits after the number of a search
	over    = 1 << (numbers - 1) // no more pieces may be taken
)

// newLookouts returns lookouts for a training. It returns nil if none would pay.
func newLookouts(l *learner) *lookouts {
	n := l.opt.Workers - 1
	if forced == nil {
		n = min(n, runtime.GOMAXPROCS(0)-1)
	}
	if n < 1 || l.shards != nil || len(l.w)*4 > lookoutBytes {
		return nil
	}
	x := &lookouts{}
	for i := range x.searches {
		x.searches[i].w = make([]float32, len(l.w))
	}
	x.now.Store(&x.searches[0])
	for range 1 + min(n, mostLookouts) {
		o := &lookout{all: x, rule: l.rule, w: make([]float32, len(l.w)), wake: make(chan struct{}, 1)}
		o.rule.steps = nil
		if l.rule.scores != nil {
			o.rule.scores, o.rule.rivals = make([]float32, len(l.rule.scores)), make([]uint32, 1)
		}
		x.each = append(x.each, o)
	}
	x.own, x.each = x.each[0], x.each[1:]
	return x
}

// stop ends the goroutines.
func (x *lookouts) stop() {
	if x == nil || !x.began {
		return
	}
	x.end()
	x.quit.Store(true)
	x.rouse()
	_ = x.g.Wait() // no error
}

// begin begins a course of some length. cut returns a number of its rows or fewer, from a position on.
func (x *lookouts) begin(length int, cut func(at, rows int) stretch) {
	if x != nil {
		x.length, x.cut = length, cut
	}
}

// end ends a course: nothing reads its rows any more.
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

// piece returns the rows of a piece.
func (x *lookouts) piece() int {
	all, cost := float64(len(x.each)+1), x.cost()
	most := min(longest/cost, float64(x.length)/(leastShare*all))
	return max(leastPiece, x.length/(over/2), int(min(most, math.Sqrt(x.gap()*handshake/(all*cost)))))
}

// visit visits rows as rule.visit does, but for those that are found to be right. The stretch begins at a position of the
// course.
func (x *lookouts) visit(u *rule, w []float32, log []uint32, s *stretch, at int) (visits, updates int) {
	if x.on && x.clean >= at+s.len() {
		return s.len(), 0
	}
	rivals := u.rivals
	defer func() { u.rivals = rivals }()
	for visits < s.len() && updates < len(log) {
		right, wrong := x.find(at+visits, s.len()-visits, w)
		if visits += right; visits == s.len() {
			break
		}
		n := 1
		if !wrong { // the lookouts are busy with an older search
			n = s.len() - visits
		}
		if rivals != nil {
			u.rivals = rivals[updates:]
		}
		part := s.part(visits, visits+n, u.stride)
		v, made := u.visit(w, log[updates:], &part)
		for i := range log[updates : updates+made] {
			log[updates+i] += uint32(visits)
		}
		visits, updates = visits+v, updates+made
		x.close()
	}
	return visits, updates
}

// find returns how many of n rows from a position on are right, and whether the one after them is wrong. If it is not, and
// there are fewer than n, the lookouts are late.
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

// open begins a search at a position, with the weights w. It returns false if a lookout still has a piece of the last but
// one.
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

// close ends a search: no more pieces are taken.
func (x *lookouts) close() {
	if x != nil && x.on {
		x.on = false
		x.now.Load().close()
	}
}

// fold goes over the pieces at the front that are scored, up to the first mistake.
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

// wait waits some time for the piece at the front, and tells whether it is scored.
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

// close has no more pieces taken.
func (s *search) close() { s.taken.Or(over) }

// settled tells whether all pieces of a closed search are scored.
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

// run scores pieces until it is told to quit. It gives its core away if there is none for long.
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

// free returns the number of the next piece of a search, and the value of taken that has it. It returns false if there is
// none.
func (s *search) free() (piece int64, taken uint64, is bool) {
	taken = s.taken.Load()
	piece = int64(taken & (over - 1))
	return piece, taken, taken&over == 0 && piece < s.limit.Load()
}

// take scores the next piece, if there is one.
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

// score counts the rows of a piece before the first one that updates the weights. A row with a sample weight of 0 that is
// wrong counts as one that does.
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
