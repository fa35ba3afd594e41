package kernelperceptron

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// errStop ends the epochs: every binary classifier has finished.
var errStop = errors.New("finished")

// A learner is the state of a training.
type training struct {
	data     *block.Data
	x        *gram.Rows
	opt      Settings
	mercer   gram.Kernel
	eta      float32
	weights  []float64 // sample weights; nil if all are 1
	n        int
	binaries []*binary       // one for two classes, otherwise one for each class versus the rest
	whole    *gram.Symmetric // all inner products; nil if there is a cache
	cache    *gram.RowCache

	epoch  int64 // number of finished epochs
	window int   // number of the window of the next visit, in an epoch with windows
	place  int   // place in the epoch at which that window begins
	inside bool  // the classifiers know their next mistakes in the rest of the epoch, which has no windows

	start, reported time.Time
	multiplied      time.Duration // time for the inner products of all rows
}

// A binary is the state of one binary classifier.
type binary struct {
	y      []float32 // -1 and +1
	scores []float32 // scores of all rows; NaN for rows with a sample weight of 0, which are never mistakes

	pending   updates // updates that the scores of rows outside the window lack, in the order of mistakes
	mistakes  []mistake
	visits    int64
	streak    int64 // visits since the last mistake
	next      int   // place of its next mistake
	before    int   // number of mistakes before this epoch
	done      bool
	converged bool
}

// A mistake is a row and the number, from 1, of the visit that found the row on the wrong side.
type mistake struct {
	row   uint32
	visit int64
}

func newLearner(ctx context.Context, data *block.Data, opt Settings) (*training, error) {
	l := &training{data: data, x: gram.FeaturesOf(data), opt: opt, eta: float32(opt.Eta), n: int(data.Rows()), start: time.Now()}
	if l.eta == 0 {
		return nil, fmt.Errorf("eta is %v: too small for %T", opt.Eta, l.eta)
	}
	classes := len(data.Spec().Classes)
	if classes <= 2 {
		if err := learner.TwoClasses(data.Spec()); err != nil {
			return nil, err
		}
		classes = 1
	}
	for c := range classes {
		m := &binary{y: block.Alloc[float32](l.n), scores: block.Alloc[float32](l.n)}
		for b := range data.Blocks(ctx) {
			if b == nil || b.Y == nil {
				return nil, errors.Join(ctx.Err(), block.ErrNoLabels)
			}
			own := m.y[b.First:][:b.Len()]
			if copy(own, b.Y); classes > 1 {
				learner.Relabel(own, own, c, classes)
			}
			for i := range own {
				if b.Weight(i) == 0 {
					m.scores[int(b.First)+i] = float32(math.NaN())
				}
			}
			if c == 0 {
				l.weights = append(l.weights, b.W...)
			}
		}
		l.binaries = append(l.binaries, m)
	}
	l.mercer = opt.Kernel
	l.mercer.Bias = data.Spec().Bias
	if err := l.multiply(ctx); err != nil {
		return nil, err
	}
	l.multiplied = time.Since(l.start)
	return l, nil
}

// step returns the increase of the alpha of row i by a mistake.
func (l *training) step(i uint32) float32 {
	if l.weights == nil {
		return l.eta
	}
	return float32(float64(l.eta) * l.weights[i])
}

// multiply computes the inner products of all rows, or makes a cache for them if they don't fit in opt.Memory.
func (l *training) multiply(ctx context.Context) (err error) {
	if bytes := Bytes(l.n); l.opt.Memory > 0 && bytes > l.opt.Memory {
		l.cache, err = gram.NewRowCache(l.x, l.mercer, l.opt.Memory, l.opt.Workers)
		return err
	}
	if l.whole, err = gram.NewSymmetric(l.n, gram.Full); err != nil {
		return err
	}
	if err = gram.Gram(ctx, l.whole, l.x, l.mercer, l.opt.Workers); err != nil && ctx.Err() != nil {
		return &learner.Unfinished{Far: "no row was visited, since the Gram matrix was not finished", Err: ctx.Err()}
	}
	return err
}

// row returns the kernel of row i with each row. ahead yields the rows that are probably needed next.
func (l *training) row(ctx context.Context, i int, ahead iter.Seq[uint32]) ([]float32, error) {
	if l.whole != nil {
		return l.whole.Data[i*l.whole.Stride:][:l.n], ctx.Err()
	}
	return l.cache.Row(ctx, i, ahead)
}

func (l *training) run(ctx context.Context) error {
	l.report(nil)
	defer l.report(nil)
	for l.epoch < l.opt.Epochs {
		if err := l.visits(ctx, l.epoch); err != nil {
			return err
		}
		for _, m := range l.binaries {
			if l.opt.Order == learner.Shuffle && len(m.mistakes) == m.before && !m.done {
				m.done, m.converged = true, true
			}
			m.before = len(m.mistakes)
		}
		l.epoch, l.window, l.place = l.epoch+1, 0, 0
		l.report(l.alphas)
	}
	return nil
}

// visits makes the visits of epoch e that are left, in the order of opt.Order. An epoch has as many visits as there are
// rows. Package perceptron describes random draws.
func (l *training) visits(ctx context.Context, e int64) error {
	if l.opt.Order == learner.Cyclic {
		return l.stretch(ctx, nil, func(k int) []uint32 { return []uint32{uint32(k)} })
	}
	rows := make([]uint32, 0, l.n)
	if l.opt.Order == learner.Random {
		rng := rand.NewPCG(l.opt.Seed, uint64(e))
		for range l.n {
			rows = append(rows, uint32(learner.Draw(rng, uint64(l.n))))
		}
		return l.stretch(ctx, rows, nil)
	}
	if l.opt.Order == learner.FixedShuffle {
		e = 0
	}
	p := learner.NewPermutation(l.n, l.opt.Seed, e)
	for k := range p.Windows() {
		rows = p.Rows(rows, k)
	}
	return l.stretch(ctx, rows, p.Window)
}

// A span is the rows lo to hi-1.
type span struct{ lo, hi int }

// updates are changes of scores by mistakes: for each k, a[k] times row g[k] of the matrix is added.
type updates struct {
	a []float32
	g [][]float32
}

// fewRows is the largest number of rows whose scores stay in the first- or second-level cache.
const fewRows = 8 * kernel.EighthRows

// stretch visits the rows with the given numbers, or all rows in order if rows is nil. chunks returns the numbers of
// the chunks of kernel.EighthRows rows in a window.
//
// During the visits of a window, a mistake updates only the scores of the window's rows. Afterwards all workers update
// the scores of the other rows, each worker in the order of the mistakes. So all workers read the matrix from memory.
//
// A resumed training may have another memory limit. So visits without windows begin at l.place, and once begun they go
// on without windows to the end of the epoch.
func (l *training) stretch(ctx context.Context, rows []uint32, chunks func(window int) []uint32) error {
	if l.inside || l.whole == nil || chunks == nil || l.n <= fewRows {
		return l.visit(ctx, rows, l.place, l.n, []span{{0, l.n}})
	}
	for l.place < l.n {
		l.mark()
		var hot []span
		to := l.place
		for _, c := range chunks(l.window) {
			lo := int(c) * kernel.EighthRows
			hot = append(hot, span{lo, min(l.n, lo+kernel.EighthRows)})
			to += hot[len(hot)-1].hi - lo
		}
		if err := l.visit(ctx, rows, l.place, to, hot); err != nil {
			return err
		}
		if err := l.catchUp(ctx, hot); err != nil {
			return err
		}
		l.window, l.place = l.window+1, to
	}
	return nil
}

// visit makes the visits from place from up to place to. It goes from one mistake of any binary classifier to the next
// mistake. Classifiers with a mistake on the same row share the row's inner products. visit updates only the scores of
// hot rows.
func (l *training) visit(ctx context.Context, rows []uint32, from, to int, hot []span) error {
	if !l.inside {
		for _, m := range l.binaries {
			l.seek(m, rows, from, to)
		}
	}
	l.inside = hot[0] == span{0, l.n} // there are no windows
	for calls := 0; ; calls++ {
		if l.inside && calls%reportCalls == 0 {
			l.mark()
		}
		first, done := l.binaries[0], true
		for _, m := range l.binaries {
			if m.next < first.next {
				first = m
			}
			done = done && m.done
		}
		at := first.next
		if done {
			return errStop
		}
		if at >= to {
			l.inside = false
			return nil
		}
		i := at
		if rows != nil {
			i = int(rows[at])
		}
		g, err := l.row(ctx, i, first.ahead(rows, at+1))
		if err != nil {
			return err
		}
		for _, m := range l.binaries {
			if m.next == at {
				m.visits++
				m.streak = 0
				m.mistakes = append(m.mistakes, mistake{uint32(i), m.visits})
				l.update(m, l.step(uint32(i))*m.y[i], g, hot)
				m.done = int64(len(m.mistakes)) == l.opt.MaxUpdates
				l.seek(m, rows, at+1, to)
			}
		}
		if calls%reportCalls == 0 && time.Since(l.reported) > reportEvery {
			l.report(nil)
		}
	}
}

// update adds a times row g of the matrix to the scores of hot rows, and stores it in pending for the other rows.
func (l *training) update(m *binary, a float32, g []float32, hot []span) {
	rows := 0
	for _, s := range hot {
		for lo := s.lo; lo < s.hi; lo += panel {
			hi := min(s.hi, lo+panel)
			kernel.Axpy(m.scores[lo:hi], a, g[lo:hi])
		}
		rows += s.hi - s.lo
	}
	if rows < l.n {
		m.pending.a, m.pending.g = append(m.pending.a, a), append(m.pending.g, g)
	}
}

// catchUp adds the pending updates to the scores of all rows that aren't hot.
func (l *training) catchUp(ctx context.Context, hot []span) error {
	slices.SortFunc(hot, func(a, b span) int { return a.lo - b.lo })
	var cold []span
	part, from := min(panel, (l.n+l.opt.Workers-1)/l.opt.Workers), 0
	for _, h := range append(hot, span{l.n, l.n}) {
		for ; from < h.lo; from = min(h.lo, from+part) {
			cold = append(cold, span{from, min(h.lo, from+part)})
		}
		from = h.hi
	}
	err := parallel.For(ctx, l.opt.Workers, len(cold), func(_, task int) {
		for _, m := range l.binaries {
			m.pending.add(m.scores, cold[task])
		}
	})
	for _, m := range l.binaries {
		clear(m.pending.g)
		m.pending.a, m.pending.g = m.pending.a[:0], m.pending.g[:0]
	}
	return err
}

// add adds the updates to the scores of the given rows, in order. It adds four rows of the matrix at a time, which is
// twice as fast as one at a time.
func (u *updates) add(scores []float32, rows span) {
	y, x := scores[rows.lo:rows.hi], make([][]float32, 4)
	k := 0
	for ; k+4 <= len(u.a); k += 4 {
		for j := range x {
			x[j] = u.g[k+j][rows.lo:rows.hi]
		}
		kernel.Axpy4(y, u.a[k:k+4], x)
	}
	for ; k < len(u.a); k++ {
		kernel.Axpy(y, u.a[k], u.g[k][rows.lo:rows.hi])
	}
}

// seek finds the next mistake between two places, and counts the visits before it. A classifier has converged once
// consecutive visits without a mistake are as many as there are rows. With random draws, a pass over all rows must then
// also find no row on the wrong side.
func (l *training) seek(m *binary, rows []uint32, from, to int) {
	m.next = to
	for !m.done {
		at := m.find(rows, from, to)
		left := l.n - int(m.streak)
		if l.opt.Order == learner.Shuffle || at-from < left {
			m.pass(at - from)
			m.next = at
			return
		}
		m.pass(left)
		from += left
		if l.opt.Order == learner.Random && m.find(nil, 0, l.n) < l.n {
			m.streak = 0
			continue
		}
		m.done, m.converged = true, true
	}
}

// pass counts visits without a mistake.
func (m *binary) pass(visits int) {
	m.visits += int64(visits)
	m.streak += int64(visits)
}

// panel is the number of elements of one kernel call.
const panel = 16 << 10

// find returns the first place in [from, to) whose row is on the wrong side, or to if there is none.
func (m *binary) find(rows []uint32, from, to int) int {
	if rows == nil {
		for ; from < to; from += panel {
			hi := min(to, from+panel)
			if k := kernel.FirstMistake(m.y[from:hi], m.scores[from:hi]); k < hi-from {
				return from + k
			}
		}
		return to
	}
	for k, i := range rows[from:to] {
		if m.y[i]*m.scores[i] <= 0 {
			return from + k
		}
	}
	return to
}

// ahead yields the rows at places from on that are on the wrong side now.
func (m *binary) ahead(rows []uint32, from int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for at := m.find(rows, from, len(m.y)); at < len(m.y); at = m.find(rows, at+1, len(m.y)) {
			i := uint32(at)
			if rows != nil {
				i = rows[at]
			}
			if !yield(i) {
				return
			}
		}
	}
}
