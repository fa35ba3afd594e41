package dual

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/kernel"
	"halfspace/predict"
	"halfspace/train"
)

// errStop ends the epochs: every machine is done.
var errStop = errors.New("finished")

// A learner is the state of a training.
type learner[T kernel.Float] struct {
	data     *block.Data[T]
	x        *gram.Rows[T]
	opt      Options
	mercer   gram.Mercer
	eta      T
	weigh    []float64 // the rows' weights; nil if each weighs 1
	n        int
	machines []*machine[T] // one for two classes, else one for each
	whole    *gram.Symmetric[T]
	cache    *gram.RowCache[T] // or that

	start, multiplied, reported time.Time
}

// A machine tells one class from the others.
type machine[T kernel.Float] struct {
	y      []T // -1 and +1
	scores []T // of all rows; NaN for those that weigh 0, which are never wrong

	mistakes  []mistake
	visits    int64
	quiet     int64 // visits since the last mistake
	next      int   // where in the stretch its next mistake is
	done      bool
	converged bool
}

// A mistake is a row and the visit, from 1, at which it was on the wrong side.
type mistake struct {
	row   uint32
	visit int64
}

func newLearner[T kernel.Float](ctx context.Context, data *block.Data[T], opt Options) (*learner[T], error) {
	l := &learner[T]{data: data, x: gram.FeaturesOf(data), opt: opt, eta: T(opt.Eta), n: int(data.Rows()), start: time.Now()}
	if l.eta == 0 {
		return nil, fmt.Errorf("eta is %v: too small for %T", opt.Eta, l.eta)
	}
	classes := len(data.Spec().Classes)
	if classes <= 2 {
		if err := train.TwoClasses(data.Spec()); err != nil {
			return nil, err
		}
		classes = 1
	}
	for c := range classes {
		m := &machine[T]{y: block.Alloc[T](l.n), scores: block.Alloc[T](l.n)}
		for b := range data.Blocks(ctx) {
			if b == nil || b.Y == nil {
				return nil, errors.Join(ctx.Err(), block.ErrNoLabels)
			}
			own := m.y[b.First:][:b.Len()]
			if copy(own, b.Y); classes > 1 {
				train.Relabel(own, own, c)
			}
			for i := range own {
				if b.Weight(i) == 0 {
					m.scores[int(b.First)+i] = T(math.NaN())
				}
			}
			if c == 0 {
				l.weigh = append(l.weigh, b.W...)
			}
		}
		l.machines = append(l.machines, m)
	}
	l.mercer = predict.Mercer(opt.Kernel)
	l.mercer.Bias = data.Spec().Bias
	if err := l.multiply(ctx); err != nil {
		return nil, err
	}
	l.multiplied = time.Now()
	return l, nil
}

// step returns what a mistake adds to the alpha of row i.
func (l *learner[T]) step(i uint32) T {
	if l.weigh == nil {
		return l.eta
	}
	return T(float64(l.eta) * l.weigh[i])
}

// multiply computes the inner products of all rows, if there is room for them.
func (l *learner[T]) multiply(ctx context.Context) (err error) {
	if bytes := Bytes[T](l.n); l.opt.Memory > 0 && bytes > l.opt.Memory {
		l.cache, err = gram.NewRowCache(l.x, l.mercer, l.opt.Memory, l.opt.Workers)
		return err
	}
	if l.whole, err = gram.NewSymmetric[T](l.n, gram.Full); err != nil {
		return err
	}
	return gram.Gram(ctx, l.whole, l.x, l.mercer, l.opt.Workers)
}

// row returns the kernel of row i with all rows. Those of ahead will probably be wanted next.
func (l *learner[T]) row(ctx context.Context, i int, ahead iter.Seq[uint32]) ([]T, error) {
	if l.whole != nil {
		return l.whole.Data[i*l.whole.Stride:][:l.n], ctx.Err()
	}
	return l.cache.Row(ctx, i, ahead)
}

func (l *learner[T]) run(ctx context.Context) error {
	l.report()
	defer l.report()
	for e := range l.opt.Epochs {
		var before []int
		for _, m := range l.machines {
			before = append(before, len(m.mistakes))
		}
		if err := l.epoch(ctx, e); err != nil {
			return err
		}
		for c, m := range l.machines {
			if l.opt.Order == train.Shuffle && len(m.mistakes) == before[c] && !m.done {
				m.done, m.converged = true, true
			}
		}
		l.report()
	}
	return nil
}

// epoch is as many visits as there are rows, in the order of opt; see train.Permutation, and package perceptron for random draws.
func (l *learner[T]) epoch(ctx context.Context, e int64) error {
	switch l.opt.Order {
	case train.Cyclic:
		return l.stretch(ctx, nil)
	case train.Random:
		rng, rows := rand.NewPCG(l.opt.Seed, uint64(e)), make([]uint32, l.n)
		for i := range rows {
			rows[i] = uint32(train.Draw(rng, uint64(l.n)))
		}
		return l.stretch(ctx, rows)
	case train.FixedShuffle:
		e = 0
	}
	p, rows := train.NewPermutation(l.n, l.opt.Seed, e), make([]uint32, 0, l.n)
	for k := range p.Windows() {
		rows = p.Rows(rows, k)
	}
	return l.stretch(ctx, rows)
}

// stretch visits rows, those of these numbers or all in order, by going from one mistake to the next: of the machine that makes
// its own first. Machines that make one at the same row share its products.
func (l *learner[T]) stretch(ctx context.Context, rows []uint32) error {
	for _, m := range l.machines {
		l.seek(m, rows, 0)
	}
	for calls := 0; ; calls++ {
		first, done := l.machines[0], true
		for _, m := range l.machines {
			if m.next < first.next {
				first = m
			}
			done = done && m.done
		}
		at := first.next
		if done {
			return errStop
		}
		if at >= l.n {
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
		for _, m := range l.machines {
			if m.next == at {
				m.visits++
				m.quiet = 0
				m.mistakes = append(m.mistakes, mistake{uint32(i), m.visits})
				add(l.step(uint32(i))*m.y[i], g, m.scores)
				m.done = int64(len(m.mistakes)) == l.opt.MaxUpdates
				l.seek(m, rows, at+1)
			}
		}
		if calls%reportCalls == 0 && time.Since(l.reported) > reportEvery {
			l.report()
		}
	}
}

// seek finds the next mistake from some place of the stretch on, and counts the visits before it. It ends the machine's training
// where as many visits in a row as there are rows changed nothing, and, if they were drawn, no row is on the wrong side.
func (l *learner[T]) seek(m *machine[T], rows []uint32, from int) {
	m.next = l.n
	for !m.done {
		at := m.find(rows, from)
		left := l.n - int(m.quiet)
		if l.opt.Order == train.Shuffle || at-from < left {
			m.pass(at - from)
			m.next = at
			return
		}
		m.pass(left)
		from += left
		if l.opt.Order == train.Random && m.find(nil, 0) < l.n {
			m.quiet = 0
			continue
		}
		m.done, m.converged = true, true
	}
}

// pass counts visits without a mistake.
func (m *machine[T]) pass(visits int) {
	m.visits += int64(visits)
	m.quiet += int64(visits)
}

// panel is how many elements a kernel gets at a time.
const panel = 16 << 10

// find returns the first place from some place on that has a row on the wrong side, or the stretch's length.
func (m *machine[T]) find(rows []uint32, from int) int {
	if rows == nil {
		for ; from < len(m.y); from += panel {
			hi := min(len(m.y), from+panel)
			if k := kernel.Wrong(m.y[from:hi], m.scores[from:hi]); k < hi-from {
				return from + k
			}
		}
		return len(m.y)
	}
	for k, i := range rows[from:] {
		if m.y[i]*m.scores[i] <= 0 {
			return from + k
		}
	}
	return len(rows)
}

// ahead yields the rows that are on the wrong side now, from some place on.
func (m *machine[T]) ahead(rows []uint32, from int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for at := m.find(rows, from); at < len(m.y); at = m.find(rows, at+1) {
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

// add adds a times x to y.
func add[T kernel.Float](a T, x, y []T) {
	for lo := 0; lo < len(x); lo += panel {
		hi := min(len(x), lo+panel)
		kernel.Axpy(a, x[lo:hi], y[lo:hi])
	}
}

// reportEvery is the time between two reports of an epoch, and reportCalls the mistakes between two looks at the clock.
const (
	reportEvery = 100 * time.Millisecond
	reportCalls = 16
)

func (l *learner[T]) report() {
	if l.opt.Progress == nil {
		return
	}
	l.reported = time.Now()
	p := train.Progress{Epochs: l.opt.Epochs, Rows: int64(l.n), Best: -1, Elapsed: time.Since(l.start)}
	for _, m := range l.machines {
		p.Visits = max(p.Visits, m.visits)
		p.Updates += int64(len(m.mistakes))
	}
	p.Epoch = p.Visits / p.Rows
	l.opt.Progress(p)
}
