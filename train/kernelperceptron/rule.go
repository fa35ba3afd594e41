package kernelperceptron

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// A training is the online.Rule of the kernel perceptron. It learns all binary classifiers at once.
type training struct {
	*online.Training
	data           *block.Data
	x              *gram.Rows
	opt            Settings
	kernelFunction gram.Kernel
	eta            float32
	weights        []float64 // sample weights; nil if all are 1
	n              int
	binaries       []*binary       // one for two classes, otherwise one for each class versus the rest
	allProducts    *gram.Symmetric // all inner products; nil if there is a cache
	cache          *gram.RowCache

	// The rows of the present window or block; see online.Pass.Enter.
	length  int
	cut     func(at, rows int) online.Panel
	hotRows []rowRange // the rows whose scores an update changes at once

	productTime time.Duration // time for the inner products of all rows
}

// A binary is the state of one binary classifier.
type binary struct {
	y      []float32 // -1 and +1
	scores []float32 // scores of all rows; NaN for rows with a sample weight of 0, which are never mistakes

	pendingUpdates updates // updates that the scores of rows that aren't hot lack, in the order of mistakes
	mistakes       []mistake
	cleanVisit     int64 // number of the visit after which visits without a mistake count
	nextMistake    int   // position of its next mistake in the panel
	mistakesBefore int   // number of mistakes before this epoch
	lastVisit      int64 // number of its last visit, if it is done
	done           bool
	converged      bool
}

// A mistake is a row and the number, from 1, of the visit that found the row on the wrong side.
type mistake struct {
	row   uint32
	visit int64
}

type rowRange struct{ lo, hi int }

// updates are changes of scores by mistakes: for each k, a[k] times row g[k] of the matrix is added.
type updates struct {
	a []float32
	g [][]float32
}

const (
	mostCachedRows  = 8 * kernel.GroupRows // most rows whose scores stay in the first- or second-level cache
	panelElements   = 16 << 10             // most elements of one kernel call
	mostMistakeRows = 16                   // most rows with a mistake in a call of Visit, because their inner products may take long
)

func newLearner(ctx context.Context, data *block.Data, opt Settings) (*training, error) {
	opt.Kernel = opt.kernelFunction(data.Spec().Width())
	l := &training{data: data, x: gram.FeaturesOf(data), opt: opt, eta: float32(opt.Eta), n: int(data.Rows())}
	l.Training = online.New(data, opt.Shared())
	l.Rule, l.RuleCountsUpdates, l.Opt.MaxUpdates = l, true, 0 // the limit belongs to a classifier
	l.Judges = []online.Judge{permutationJudge{training: l}}
	classes := len(data.Spec().Classes)
	if classes <= 2 {
		if err := learner.TwoClasses(data.Spec()); err != nil {
			return nil, err
		}
		classes = 1
	}
	for c := range classes {
		m := &binary{y: block.Alloc[float32](l.n), scores: block.Alloc[float32](l.n)}
		for b, err := range data.Blocks(ctx) {
			if err != nil {
				return nil, err
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
	l.kernelFunction = opt.Kernel
	l.kernelFunction.Bias = data.Spec().Bias
	err := l.multiply(ctx)
	l.productTime = l.Elapsed()
	return l, err
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
	if bytes := GramBytes(l.n); l.opt.Memory > 0 && bytes > l.opt.Memory {
		l.cache, err = gram.NewRowCache(ctx, l.x, l.kernelFunction, l.opt.Memory, l.opt.Workers)
	} else if l.allProducts, err = gram.NewSymmetric(l.n, gram.Full); err == nil {
		err = gram.Gram(ctx, l.allProducts, l.x, l.kernelFunction, l.opt.Workers)
	}
	if err != nil && ctx.Err() != nil {
		return &learner.UnfinishedError{Position: "no row was visited, since the Gram matrix was not finished", Err: ctx.Err()}
	}
	return err
}

// row returns the kernel of row i with each row. ahead yields the rows that are probably needed next.
func (l *training) row(ctx context.Context, i int, ahead iter.Seq[uint32]) ([]float32, error) {
	if l.allProducts != nil {
		return l.allProducts.Data[i*l.allProducts.Stride:][:l.n], ctx.Err()
	}
	return l.cache.Row(ctx, i, ahead)
}

// Weights returns nil: the classifiers have mistakes in place of weights.
func (l *training) Weights() []float32 { return nil }

// Sum returns the SHA-256 of the dual coefficients: the number of updates of each row, for each class.
func (l *training) Sum() func() [sha256.Size]byte {
	var all [][]uint32
	for _, m := range l.binaries {
		updates := make([]uint32, l.n)
		for _, mistake := range m.mistakes {
			updates[mistake.row]++
		}
		all = append(all, updates)
	}
	return learner.SumOf(all...)
}

// A permutationJudge is the online.Judge that ends classifiers without a mistake in a permutation of all rows.
type permutationJudge struct {
	online.Bystander
	*training
}

func (l permutationJudge) AfterEpoch(context.Context) error {
	for _, m := range l.binaries {
		if l.opt.Order == learner.Shuffle && len(m.mistakes) == m.mistakesBefore && !m.done {
			m.finish(l.Visits, true)
		}
		m.mistakesBefore = len(m.mistakes)
	}
	return nil
}

func (m *binary) finish(visit int64, converged bool) {
	m.done, m.converged, m.lastVisit = true, converged, visit
}

// Prepare makes the panels of a window of a permutation change the scores of the window's rows alone. After the window
// all workers update the scores of the other rows, each worker in the order of the mistakes. So all workers read the
// matrix from memory.
func (l *training) Prepare(p *online.Pass) {
	windows := l.allProducts != nil && l.n > mostCachedRows && (l.opt.Order == learner.Shuffle || l.opt.Order == learner.FixedShuffle)
	p.BeforePanels = func(length int, cut func(at, rows int) online.Panel) {
		l.length, l.cut, l.hotRows = length, cut, []rowRange{{0, l.n}}
		if windows {
			l.hotRows = l.groups()
		}
	}
	p.AfterPanels = l.catchUp
}

// groups returns the rows of the present window in ascending order. A window has whole groups.
func (l *training) groups() (rows []rowRange) {
	var p online.Panel
	for at := 0; at < l.length; at += p.Len() {
		p = l.cut(at, l.length-at)
		for _, i := range p.Rows {
			if lo := int(i) - int(i)%kernel.GroupRows; !slices.ContainsFunc(rows, func(s rowRange) bool { return s.lo == lo }) {
				rows = append(rows, rowRange{lo, min(l.n, lo+kernel.GroupRows)})
			}
		}
	}
	slices.SortFunc(rows, func(a, b rowRange) int { return a.lo - b.lo })
	return rows
}

// Visit goes from one mistake of any classifier in the panel to the next mistake; see online.Rule. Classifiers with a
// mistake on the same row share the row's inner products. Visit updates only the scores of hot rows.
func (l *training) Visit(ctx context.Context, p *online.Panel, _ []uint32) (visits, updates int, err error) {
	for _, m := range l.binaries {
		l.seek(m, p, 0)
	}
	for calls := 0; ; calls++ {
		at, end, done := p.Len(), int64(0), true
		var first *binary
		for _, m := range l.binaries {
			if m.nextMistake < at {
				at, first = m.nextMistake, m
			}
			end, done = max(end, m.lastVisit), done && m.done
		}
		switch {
		case done:
			return int(end - l.Visits), updates, online.ErrStop
		case first == nil:
			return p.Len(), updates, nil
		case calls == mostMistakeRows:
			return visits, updates, nil
		}
		i := uint32(p.Number(at))
		g, err := l.row(ctx, int(i), l.nextWrongRows(first, p.Place+at+1))
		if err != nil {
			return at, updates, err
		}
		visits = at + 1
		for _, m := range l.binaries {
			if m.nextMistake == at {
				m.cleanVisit = l.Visits + int64(visits)
				m.mistakes = append(m.mistakes, mistake{i, m.cleanVisit})
				l.update(m, l.step(i)*m.y[i], g)
				updates++
				if int64(len(m.mistakes)) == l.opt.MaxUpdates {
					m.finish(m.cleanVisit, false)
				}
				l.seek(m, p, visits)
			}
		}
	}
}

// seek finds the next mistake from a position of the panel on. A classifier has converged once consecutive visits
// without a mistake are as many as there are rows. With random draws, a pass over all rows must then also find no row on
// the wrong side.
func (l *training) seek(m *binary, p *online.Panel, from int) {
	m.nextMistake = p.Len()
	for !m.done {
		at, end := m.nextWrong(p, from), int(m.cleanVisit-l.Visits)+l.n
		switch {
		case l.opt.Order == learner.Shuffle || at < end:
			m.nextMistake = at
			return
		case l.opt.Order == learner.Random && m.hasMistake():
			m.cleanVisit, from = l.Visits+int64(end), end
		default:
			m.finish(l.Visits+int64(end), true)
		}
	}
}

// nextWrong returns the first position from a position of the panel on whose row is on the wrong side, or p.Len() if
// there is none.
func (m *binary) nextWrong(p *online.Panel, from int) int {
	if p.Block != nil {
		lo, hi := int(p.Block.First)+p.Lo, int(p.Block.First)+p.Hi
		return from + kernel.FirstMistake(m.y[lo+from:hi], m.scores[lo+from:hi])
	}
	for k, i := range p.Rows[from:] {
		if m.y[i]*m.scores[i] <= 0 {
			return from + k
		}
	}
	return len(p.Rows)
}

// hasMistake tells whether any row is on the wrong side.
func (m *binary) hasMistake() bool {
	for lo := 0; lo < len(m.y); lo += panelElements {
		hi := min(len(m.y), lo+panelElements)
		if kernel.FirstMistake(m.y[lo:hi], m.scores[lo:hi]) < hi-lo {
			return true
		}
	}
	return false
}

// nextWrongRows yields the rows of the present window or block, from a place on, that a classifier has on the wrong
// side now.
func (l *training) nextWrongRows(m *binary, place int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for place < l.length {
			p := l.cut(place, l.length-place)
			for at := m.nextWrong(&p, 0); at < p.Len(); at = m.nextWrong(&p, at+1) {
				if !yield(uint32(p.Number(at))) {
					return
				}
			}
			place += p.Len()
		}
	}
}

// update adds a times row g of the matrix to the scores of hot rows, and stores it in pending for the other rows.
func (l *training) update(m *binary, a float32, g []float32) {
	rows := 0
	for _, s := range l.hotRows {
		for lo := s.lo; lo < s.hi; lo += panelElements {
			hi := min(s.hi, lo+panelElements)
			kernel.Axpy(m.scores[lo:hi], a, g[lo:hi])
		}
		rows += s.hi - s.lo
	}
	if rows < l.n {
		m.pendingUpdates.a, m.pendingUpdates.g = append(m.pendingUpdates.a, a), append(m.pendingUpdates.g, g)
	}
}

// catchUp adds the pending updates to the scores of all rows that aren't hot.
func (l *training) catchUp() {
	if !slices.ContainsFunc(l.binaries, func(m *binary) bool { return len(m.pendingUpdates.a) > 0 }) {
		return
	}
	var cold []rowRange
	part, from := min(panelElements, (l.n+l.opt.Workers-1)/l.opt.Workers), 0
	for _, h := range append(l.hotRows, rowRange{l.n, l.n}) {
		for ; from < h.lo; from = min(h.lo, from+part) {
			cold = append(cold, rowRange{from, min(h.lo, from+part)})
		}
		from = h.hi
	}
	_ = parallel.For(context.Background(), l.opt.Workers, len(cold), func(_, task int) { // no error
		for _, m := range l.binaries {
			m.pendingUpdates.add(m.scores, cold[task])
		}
	})
	for _, m := range l.binaries {
		clear(m.pendingUpdates.g)
		m.pendingUpdates.a, m.pendingUpdates.g = m.pendingUpdates.a[:0], m.pendingUpdates.g[:0]
	}
}

// add adds the updates to the scores of the given rows, in order. It adds four rows of the matrix at a time, which is
// twice as fast as one at a time.
func (u *updates) add(scores []float32, rows rowRange) {
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

// State saves or restores the classifiers; see online.Rule. The inner products are not part of the state.
func (l *training) State(w *checkpoint.Walk) {
	l.catchUp()
	for _, m := range l.binaries {
		m.state(w, l.n)
	}
}

func (m *binary) state(w *checkpoint.Walk, n int) {
	learner.State(w, &m.cleanVisit, &m.lastVisit, &m.mistakesBefore, &m.done, &m.converged, m.scores)
	rows, visits := make([]uint32, len(m.mistakes)), make([]int64, len(m.mistakes))
	for k, mistake := range m.mistakes {
		rows[k], visits[k] = mistake.row, mistake.visit
	}
	checkpoint.Slice(w, &rows)
	checkpoint.Slice(w, &visits)
	if len(rows) != len(visits) || m.cleanVisit < 0 || m.lastVisit < 0 || m.mistakesBefore > len(rows) {
		w.Fail(errors.New("its mistakes don't belong together"))
		return
	}
	m.mistakes = m.mistakes[:0]
	for k, row := range rows {
		if int(row) >= n {
			w.Fail(errors.New("it has another row"))
			return
		}
		m.mistakes = append(m.mistakes, mistake{row, visits[k]})
	}
}
