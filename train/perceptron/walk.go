package perceptron

import (
	"context"
	"math/rand/v2"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// run makes the epochs. It returns errStop if the training ends before the last epoch.
func (l *training) run(ctx context.Context) error {
	epoch, err := l.order()
	if err != nil {
		return err
	}
	l.look = newLookouts(l)
	defer l.look.stop()
	l.report(nil)
	defer l.report(nil)
	if err := l.goOn(ctx); err != nil {
		return err
	}
	for ; l.epoch < l.opt.Epochs; l.endEpoch() {
		if err := epoch(ctx, l.epoch); err != nil {
			return err
		}
		l.decay()
		if l.keeper != nil {
			if err := l.keeper.epochEnded(ctx, l.current(), l.updates, l.visits); err != nil {
				return err
			}
		}
	}
	return nil
}

// endEpoch ends a finished epoch: it sets the counts, reports progress, and saves a checkpoint if one is due.
func (l *training) endEpoch() {
	l.epoch++
	l.at, l.before, l.decayed = 0, l.updates, false
	l.report(learner.SumOf(l.w))
	if l.opt.Checkpoint.Due(l.epoch) {
		l.mark()
	}
}

// order returns the function that makes an epoch in the order of the options.
func (l *training) order() (epoch func(context.Context, int64) error, err error) {
	switch {
	case l.shards != nil:
		return l.shards.epoch, nil
	case l.opt.Order == learner.Cyclic:
		return l.cyclic, nil
	}
	x := &numbered{training: l, steps: map[*block.Index]*steps{}}
	if x.windows, err = online.NewWindows(l.src, l.opt.Options, x.filled); err != nil {
		return nil, err
	}
	switch l.opt.Order {
	case learner.Shuffle:
		return x.shuffle, nil
	case learner.FixedShuffle:
		return x.fixedShuffle, nil
	}
	return x.random, nil
}

// cyclic makes an epoch in file order.
func (l *training) cyclic(ctx context.Context, _ int64) error {
	for b, err := range l.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		if err := l.inOrder(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// inOrder visits the rows of a block that the epoch has not visited yet.
func (l *training) inOrder(ctx context.Context, b *block.Block) error {
	l.look.begin(b.Len(), func(at, rows int) stretch {
		return stretch{block: b, lo: at, hi: min(b.Len(), at+rows)}
	})
	defer l.look.end()
	for r := int(min(max(0, l.at-b.First), int64(b.Len()))); r < b.Len(); {
		visits, err := l.visit(ctx, &stretch{block: b, lo: r, hi: l.reach(b, r)}, r)
		if err != nil {
			return err
		}
		r += visits
		if err := l.checkStreak(); err != nil {
			return err
		}
	}
	return nil
}

// Dense rows are visited a panel at a time, and the end of a panel may end a span of the mean, or the training.
// Stretches of sparse rows are longer, but they end where the panels of the same rows in dense form would end a span or
// the training. So both forms give the same weights and counts.

// sparseRows is the least number of sparse rows in a stretch. The kernel for sparse rows limits the work of a call
// itself.
const sparseRows = kernel.EighthRows

// panelOf returns the number of rows of a stretch, for rows of stride elements.
func panelOf(stride int, sparse bool) int {
	if panel := kernel.PanelRows(stride); !sparse || panel > sparseRows {
		return panel
	}
	return sparseRows
}

// least returns the number of visits that end a span or the training if they make no update.
func (l *training) least() int {
	n := l.rows - l.streak
	if l.mean != nil {
		n = min(n, spanVisits-l.mean.span)
	}
	return int(min(max(n, 1), spanVisits))
}

// reach returns the row after the last row of the stretch that begins at row r of b.
func (l *training) reach(b *block.Block, r int) int {
	panel, hi := panelOf(l.rule.stride, b.Sparse != nil), b.Len()
	if b.Sparse != nil {
		dense := kernel.PanelRows(l.rule.stride)
		hi = min(hi, (r+l.least()+dense-1)/dense*dense)
	}
	return min(hi, r-r%panel+panel)
}

// visit visits the rows of a stretch, which begins at position at of its course. It returns the number of visits, which
// is less than the number of rows if the log became full.
func (l *training) visit(ctx context.Context, s *stretch, at int) (visits int, err error) {
	if l.opt.Checkpoint.Due(l.epoch) {
		l.mark()
	}
	if l.member != nil && l.visits > l.since && l.member.due() {
		return 0, errPause
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if l.tracer != nil {
		copy(l.tracer.w, l.w)
	}
	visits, updates := l.learn(s, at)
	if l.tracer != nil {
		l.trace(s, l.log[:updates])
	}
	if l.mean != nil {
		l.mean.add(&l.rule, s, visits, l.log[:updates], l.w)
	}
	if l.voters != nil {
		if err := l.voters.add(&l.rule, s, visits, l.log[:updates]); err != nil {
			return 0, err
		}
	}
	return visits, l.count(ctx, visits, updates)
}

// learn visits the rows of a stretch, which begins at position at of the course.
func (l *training) learn(s *stretch, at int) (visits, updates int) {
	room := l.room()
	// With little room in the log, rows that update nothing may fill it in a single visit.
	weightless := l.rule.weighted && len(room) < len(l.log)
	if l.look.pay() && !weightless {
		visits, updates = l.look.visit(&l.rule, l.w, room, s, at)
	} else {
		l.look.close()
		visits, updates = l.rule.visit(l.w, room, s)
	}
	if !weightless {
		l.look.saw(visits, updates)
	} else if l.look != nil {
		l.look.pays.stop()
	}
	return visits, updates
}

// room returns the log for the next visit, cut to the number of updates that are still allowed.
func (l *training) room() []uint32 {
	if left := l.opt.MaxUpdates - l.updates; l.opt.MaxUpdates > 0 && left < int64(len(l.log)) {
		return l.log[:left]
	}
	return l.log
}

// count counts the visits to a stretch and its updates, whose positions are in the log.
func (l *training) count(ctx context.Context, visits, updates int) error {
	l.visits += int64(visits)
	l.at += int64(visits)
	l.updates += int64(updates)
	l.streak += int64(visits)
	l.mayReport()
	if updates == 0 {
		return nil
	}
	l.streak = int64(visits) - int64(l.log[updates-1]) - 1
	if l.keeper != nil {
		if err := l.keeper.updated(ctx, l.w, l.updates, l.visits); err != nil {
			return err
		}
	}
	return l.checkUpdates()
}

// checkUpdates returns errStop if the training has made opt.MaxUpdates updates.
func (l *training) checkUpdates() error {
	if l.updates > 0 && l.opt.MaxUpdates > 0 && l.updates >= l.opt.MaxUpdates {
		return errStop
	}
	return nil
}

// checkStreak ends a training that has converged in file order or in one permutation.
func (l *training) checkStreak() error {
	if l.streak >= l.rows {
		return l.finish()
	}
	return nil
}

// finish ends a training that has converged: consecutive visits without an update are as many as there are rows. It
// doesn't count further visits, so that the figures don't depend on the number of rows of a kernel call.
func (l *training) finish() error {
	beyond := l.streak - l.rows
	l.visits -= beyond
	if l.mean != nil {
		l.mean.span -= beyond
	}
	if l.voters != nil {
		l.voters.survive(int(-beyond))
	}
	l.streak = l.rows
	l.converged = true
	return errStop
}

// A numbered is a learner that visits rows by number.
type numbered struct {
	*training
	within  int // number of rows of the next window that are already visited
	windows online.Windows
	steps   map[*block.Index]*steps // steps of the rows of each index; nil if they have no sample weights
}

// filled makes the steps of the rows of an index. It returns the function that computes them again.
func (x *numbered) filled(index *block.Index) (again func()) {
	spec := x.src.Spec()
	s := newSteps(index, x.rule.eta, spec.Weighted && spec.Vectors() == 1)
	x.steps[index] = s
	return s.update
}

// walk visits the rows of a window, a panel at a time. During visit i it prefetches row i, in storage order, of the
// chunks win.Ahead. It calls after between two panels, unless after is nil.
func (x *numbered) walk(ctx context.Context, win online.Window, after func() error) error {
	panel, sparse := min(kernel.EighthRows, kernel.PanelRows(x.rule.stride)), win.Index.Sparse() != nil
	first := x.within
	x.within = 0
	from := func(i, rows int) stretch {
		c, lo := i/kernel.EighthRows, i%kernel.EighthRows
		hi := min(kernel.EighthRows, lo+rows)
		s := stretch{index: win.Index, from: &win, steps: x.steps[win.Index], rows: win.Rows[i:min(len(win.Rows), i+hi-lo)]}
		if c < len(win.Ahead) {
			s.ahead = win.Features(int(win.Ahead[c]), lo, hi, x.rule.stride)
		}
		return s
	}
	x.look.begin(len(win.Rows), from)
	defer x.look.end()
	for i := first; i < len(win.Rows); {
		rows := panel
		if sparse {
			rows = (x.least() + panel - 1) / panel * panel
		}
		s := from(i, rows)
		visits, err := x.visit(ctx, &s, i)
		if err != nil {
			return err
		}
		i += visits
		if after != nil {
			if err := after(); err != nil {
				return err
			}
		}
	}
	return nil
}

// permuted makes an epoch in the order of the permutation of the given epoch.
func (x *numbered) permuted(ctx context.Context, epoch int64, after func() error) error {
	p := learner.NewPermutation(int(x.rows), x.opt.Seed, x.stream+epoch)
	x.within = p.Skip(x.at)
	return x.windows.Permuted(ctx, p, func(win online.Window) error { return x.walk(ctx, win, after) })
}

// shuffle makes an epoch with its own permutation. The training has converged if the epoch makes no update.
func (x *numbered) shuffle(ctx context.Context, epoch int64) error {
	err := x.permuted(ctx, epoch, nil)
	if err == nil && x.updates == x.before {
		x.converged = true
		return errStop
	}
	return err
}

// fixedShuffle makes an epoch in the permutation of the first epoch. It computes the permutation again during the
// visits: keeping it would take memory for each row.
func (x *numbered) fixedShuffle(ctx context.Context, _ int64) error {
	return x.permuted(ctx, 0, x.checkStreak)
}

// random makes an epoch of draws with replacement; there are as many draws as rows. The generator's seed is opt.Seed
// and the number of the epoch.
func (x *numbered) random(ctx context.Context, epoch int64) error {
	x.within = online.WithinDraws(x.rows, x.at)
	return x.windows.Drawn(ctx, rand.NewPCG(x.opt.Seed, uint64(x.stream+epoch)), x.at, func(win online.Window) error {
		return x.walk(ctx, win, func() error { return x.verify(ctx) })
	})
}

// verify makes a pass over all rows once consecutive draws without an update are as many as there are rows. The
// training has converged if the pass finds no row that would update the weights.
func (l *training) verify(ctx context.Context) error {
	if l.streak < l.rows {
		return nil
	}
	some, err := l.someUpdate(ctx, l.w)
	if err != nil {
		return err
	}
	if some {
		l.streak = 0
		return nil
	}
	return l.finish()
}

// someUpdate tells whether any row would update the weights w. A row of class -1 with score 0 would, although its
// prediction is right.
func (l *training) someUpdate(ctx context.Context, w []float32) (bool, error) {
	w = slices.Clone(w)
	for b, err := range l.src.Blocks(ctx) {
		if err != nil {
			return false, err
		}
		panel := panelOf(l.rule.stride, b.Sparse != nil)
		for r := 0; r < b.Len(); {
			s := &stretch{block: b, lo: r, hi: min(b.Len(), r-r%panel+panel)}
			visits, updates := l.rule.visit(w, l.log[:1], s)
			if updates > 0 {
				return true, nil
			}
			r += visits
		}
	}
	return false, nil
}
