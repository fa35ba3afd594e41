package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// mostAhead is the most rows that are scored before the first of them is visited.
const mostAhead = 256

// A learner is the state of a training.
type training struct {
	src      block.Source
	rows     int64 // number of rows of src
	opt      Options
	r        *learner.Result
	w        []float32 // weights that score rows
	u, v     []float32 // weights of Balanced; w is their difference
	literals *pairs    // nil unless opt.Literals
	raise    float32   // factor of a promotion
	lower    float32   // factor of a demotion
	weights  int       // number of elements of w that may change
	streak   int64     // visits since the last mistake
	ahead    int       // number of rows to score at once
	scores   [mostAhead]float32
	start    time.Time
	done     int64 // number of finished epochs
}

func (l *training) mark() { l.opt.Checkpoint.Mark(l.done, l.r.Visits, l.state) }

// state saves or restores the state of the training between two calls of visit. The position inside an epoch follows
// from the visits.
func (l *training) state(w *checkpoint.Walk) {
	w.Clock(&l.start)
	for _, v := range []*int64{&l.done, &l.r.Visits, &l.r.Updates, &l.streak} {
		w.Int(v)
	}
	if w.Count(&l.ahead); l.ahead < 1 || l.ahead > mostAhead || l.streak < 0 || l.streak > l.rows || l.at() < 0 || l.at() > l.rows {
		w.Fail(errors.New("it is at no row"))
	}
	vectors := [][]float32{l.w, l.u, l.v}
	if l.literals != nil {
		vectors = append(vectors, l.literals.u, l.literals.v)
	}
	for _, v := range vectors {
		checkpoint.Values(w, v)
	}
}

// at returns the number of visits in the present epoch.
func (l *training) at() int64 { return l.r.Visits - l.done*l.rows }

func newLearner(cols int, opt Options) *training {
	l := &training{opt: opt, r: new(learner.Result), start: time.Now(), w: block.Alloc[float32](kernel.Stride(cols)),
		raise: float32(opt.Alpha), lower: float32(1 / opt.Alpha), weights: cols - 1, ahead: 1}
	if opt.Variant == Winnow1 {
		l.lower = 0
	}
	if opt.Variant == Balanced {
		l.weights = cols
		l.u, l.v = ones(cols), ones(cols)
		return l
	}
	for c := range l.weights {
		l.w[c] = 1
	}
	l.w[cols-1] = float32(-opt.Threshold)
	return l
}

func ones(n int) []float32 { return slices.Repeat([]float32{1}, n) }

// epoch visits the remaining rows of an epoch in the order of the source. It ends early when the training is over.
func (l *training) epoch(ctx context.Context) error {
	at := l.at()
	for b, err := range l.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		for i, asked := int(min(max(0, at-b.First), int64(b.Len()))), -1; i < b.Len() && !l.over(); {
			if l.opt.Checkpoint.Due(l.done) {
				l.mark()
			}
			if i/1024 != asked {
				if asked = i / 1024; ctx.Err() != nil {
					return ctx.Err()
				}
			}
			visits, err := l.visit(b, i)
			if err != nil {
				return err
			}
			i += visits
		}
		if l.over() {
			return nil
		}
	}
	return nil
}

// visit visits rows of b from row lo on, up to the first mistake, and learns from the mistake. It returns the number of
// visits. A kernel scores all rows that visit may visit. Without a mistake the number of rows to score doubles, up to
// 256. With a mistake it becomes the number of visits.
func (l *training) visit(b *block.Block, lo int) (visits int, err error) {
	part := b.Slice(lo, lo+int(min(int64(b.Len()-lo), int64(l.ahead), l.rows-l.streak)))
	scores := l.scores[:part.Len()]
	part.Scores(l.w, scores)
	for i, score := range scores {
		if l.done == 0 && l.literals == nil {
			if err := l.checkRow(part, i); err != nil {
				return 0, err
			}
		}
		l.r.Visits++
		l.streak++
		if positive := part.Y[i] > 0; (score > 0) != positive {
			l.learn(part, i, positive)
			l.r.Updates++
			l.streak, l.ahead = 0, i+1
			return i + 1, nil
		}
	}
	l.ahead = min(2*l.ahead, mostAhead)
	return len(scores), nil
}

// checkRow returns an error unless all features of row r are 0 or 1.
func (l *training) checkRow(b *block.Block, r int) error {
	wrong := func(v float32) bool { return v != 0 && v != 1 }
	if b.Sparse != nil {
		columns, values := b.Sparse.Row(r)
		if k := slices.IndexFunc(values, wrong); k >= 0 {
			return l.notBoolean(int(columns[k]), b.First+int64(r), values[k])
		}
		return nil
	}
	x := b.X[r*b.Stride:][:b.Cols]
	if c := slices.IndexFunc(x, wrong); c >= 0 {
		return l.notBoolean(c, b.First+int64(r), x[c])
	}
	return nil
}

func (l *training) notBoolean(column int, row int64, v float32) error {
	advice := "leave others out"
	if v == -1 {
		advice = "learn literals, or leave others out"
	}
	return fmt.Errorf("column %q, row %d: %v is neither 0 nor 1: winnow learns from Boolean features; %s",
		l.src.Spec().FeatureName(column), row, v, advice)
}

// learn changes the weights of the features of row r, which is a mistake. positive tells whether its label is +1.
func (l *training) learn(b *block.Block, r int, positive bool) {
	factor, against := l.raise, l.lower
	if !positive {
		factor, against = against, factor
	}
	if l.literals != nil {
		l.literals.learn(l.w, b, r, factor, against)
		return
	}
	if b.Sparse != nil {
		columns, values := b.Sparse.Row(r)
		for k, c := range columns {
			if values[k] != 0 { // a stored value may be -0
				l.multiply(int(c), factor, against)
			}
		}
		return
	}
	for c, v := range b.X[r*b.Stride:][:l.weights] {
		if v != 0 {
			l.multiply(c, factor, against)
		}
	}
}

// multiply changes the weight of column c. It leaves the bias of Winnow1 and Winnow2 unchanged.
func (l *training) multiply(c int, factor, against float32) {
	switch {
	case l.u != nil:
		l.u[c] *= factor
		l.v[c] *= against
		l.w[c] = l.u[c] - l.v[c]
	case c < l.weights:
		l.w[c] *= factor
	}
}
