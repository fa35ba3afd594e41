// Package winnow learns from Boolean features by multiplying weights.
package winnow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/message"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// A Variant is a way to update weights.
type Variant string

const (
	// Winnow2 divides the weights of the features of a false positive.
	Winnow2 Variant = "winnow2"
	// Winnow1 sets these weights to zero, for disjunctions without noise.
	Winnow1 Variant = "winnow1"
	// Balanced has a second vector of weights, for the negative class, so that weights may be negative.
	Balanced Variant = "balanced"
)

// Variants lists every variant, the default first.
var Variants = []Variant{Winnow2, Winnow1, Balanced}

// Options are the options of Train, which visits the rows in the order of the source. The zero value of a field stands for its
// default.
type Options struct {
	Epochs     int64 // most passes over the rows; 100
	MaxUpdates int64 // most updates; no limit

	Variant   Variant // Winnow2
	Alpha     float64 // factor of an update, above 1; 2 for Winnow1, 1.5 otherwise
	Threshold float64 // theta of Winnow1 and Winnow2, above 0; half the number of features, or of literals
	Literals  bool    // learn a weight for each feature x and one for not x; features are 0 and 1, or -1 and 1
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Train runs Winnow on rows with a bias column, features of 0 and 1, and labels -1 and +1.
//
// Objective: weights w with w.x > theta for the positive rows and for no other rows. All weights are 1 at first. A
// mistake changes the weights of the features that are 1 in the row. If the row is positive, they are multiplied by
// alpha. If the row is negative, they are divided by alpha (Winnow2) or set to 0 (Winnow1).
//
// On a disjunction of k of d features, in any order of rows, the number of mistakes is bounded (Littlestone, "Learning
// quickly when irrelevant attributes abound", 1988, theorems 7 and 9): Winnow1 makes at most alpha k (log_alpha theta +
// 1) + d/theta mistakes; Winnow2 with alpha 1.5 makes at most 8 d/theta + k (5 + 14 ln theta). That is O(k log d). The
// perceptron may need a number of mistakes that is linear in d (Kivinen, Warmuth and Auer 1997).
//
// Balanced has weights u - v, including the bias, and no threshold. All elements of u and v are 1 at first. A mistake
// on a positive row multiplies u by alpha and divides v by alpha; a mistake on a negative row does the opposite. Only
// elements of features that are 1 in the row, and of the bias, change.
//
// In the result the weight of the bias is -theta, so that the scores of positive rows are above 0.
//
// With opt.Literals, x and not x are features of 0 and 1 with separate weights, so the number of features doubles. A
// column of the rows holds 0 and 1, or -1 and 1; the lesser number means false. The result has weights of the columns
// that give the same scores. The weight of a column of 0 and 1 is the weight of x minus the weight of not x. The weight
// of a column of -1 and 1 is half of that difference. A negative weight speaks for not x.
//
// Train stops after as many consecutive visits without a mistake as there are rows, or when opt.Epochs or
// opt.MaxUpdates is reached. The weights don't depend on opt.Workers. Errors: options out of range, no rows, sample
// weights, no bias, classes other than two, other features, weights that overflow, errors of src, and ctx's error.
func Train(ctx context.Context, src block.Source, opt Settings) (*learner.Result, error) {
	return online.Train(ctx, Learner, src, &opt)
}

// A rule is the online.Rule of Winnow.
type rule struct {
	*online.Training
	spec        *schema.Spec
	w           []float32 // weights that score rows
	u, v        []float32 // weights of Balanced; w is their difference
	literals    *pairs    // nil unless Options.Literals
	raiseFactor float32   // factor of a promotion
	lowerFactor float32   // factor of a demotion
	weightCount int       // number of elements of w that may change
}

func newRule(ctx context.Context, t *online.Training) (online.Rule, error) {
	spec := t.Src.Spec()
	if err := learner.TwoClasses(spec); err != nil {
		return nil, err
	}
	switch {
	case spec.Weighted:
		return nil, errors.New("rows have weights, which winnow doesn't use: leave them out")
	case !spec.Bias:
		return nil, errors.New("winnow has a threshold: it needs the bias")
	}
	opt := *t.Task.Settings.(*Settings)
	attributes := spec.Width()
	if opt.Literals {
		attributes *= 2
	}
	if opt.Alpha == 0 {
		if opt.Alpha = 1.5; opt.Variant == Winnow1 {
			opt.Alpha = 2
		}
	}
	if opt.Variant == Balanced && opt.Threshold != 0 {
		return nil, message.WrongValue("threshold", opt.Threshold, "a number above 0, and none for balanced")
	}
	if opt.Threshold == 0 && opt.Variant != Balanced {
		opt.Threshold = float64(attributes) / 2
	}
	r := newStartRule(spec.Cols(), opt)
	r.Training, r.spec = t, spec
	t.Streak, t.OneUpdatePerPanel, t.ReportsLastSum = &online.Streak{}, true, true
	if opt.Literals {
		signed, err := findSigned(ctx, t.Src)
		if err != nil {
			return nil, err
		}
		r.literals = newLiterals(r.w, signed, opt)
	}
	return r, nil
}

// newStartRule returns the rule before its first visit.
func newStartRule(cols int, opt Settings) *rule {
	r := &rule{w: block.Alloc[float32](kernel.Stride(cols)), raiseFactor: float32(opt.Alpha),
		lowerFactor: float32(1 / opt.Alpha), weightCount: cols - 1}
	if opt.Variant == Winnow1 {
		r.lowerFactor = 0
	}
	if opt.Variant == Balanced {
		r.weightCount = cols
		r.u, r.v = ones(cols), ones(cols)
		return r
	}
	copy(r.w, ones(r.weightCount))
	r.w[cols-1] = float32(-opt.Threshold)
	return r
}

func ones(n int) []float32 { return slices.Repeat([]float32{1}, n) }

func (r *rule) Weights() []float32 { return r.w }

func (r *rule) State(w *checkpoint.Walk) {
	vectors := [][]float32{r.w, r.u, r.v}
	if r.literals != nil {
		vectors = append(vectors, r.literals.u, r.literals.v)
	}
	for _, v := range vectors {
		checkpoint.Values(w, v)
	}
}

// Visit visits rows up to the first mistake, and learns from the mistake. A kernel scores all rows that Visit may
// visit. Without a mistake the number of rows to score doubles, up to 256. With a mistake it becomes the number of
// visits.
func (r *rule) Visit(_ context.Context, p *online.Panel, log []uint32) (visits, updates int, err error) {
	b := p.Block
	for ; visits < p.Len() && updates < len(log); visits++ {
		row := p.Lo + visits
		score := b.Dot(row, r.w)
		if r.Epoch == 0 && r.literals == nil {
			if err := r.checkRow(b, row); err != nil {
				return 0, 0, err
			}
		}
		if positive := b.Y[row] > 0; (score > 0) != positive {
			r.learn(b, row, positive)
			log[updates] = uint32(visits)
			updates++
		}
	}
	return visits, updates, nil
}

// areBooleans returns true if each value is 0, -0 or 1. It has no branch on a value, which would often be mispredicted.
func areBooleans(row []float32) bool {
	other := uint64(0)
	for _, v := range row {
		bits := math.Float32bits(v)
		other |= uint64(bits&^(1<<31)) * uint64(bits^math.Float32bits(1)) // 0 if one of the factors is
	}
	return other == 0
}

// checkRow returns an error unless all features of row i are 0 or 1.
func (r *rule) checkRow(b *block.Block, i int) error {
	if b.Sparse == nil && areBooleans(b.X[i*b.Stride:][:b.Cols]) {
		return nil
	}
	for c, v := range b.Elements(i) {
		if v != 0 && v != 1 {
			advice := "leave others out"
			if v == -1 {
				advice = message.Sprintf("use --literals, or leave others out")
			}
			return &message.RowError{Row: b.First + int64(i), Column: r.spec.FeatureName(c),
				Err: fmt.Errorf("%v is neither 0 nor 1: winnow learns from Boolean features; %s", v, advice)}
		}
	}
	return nil
}

// learn changes the weights of the features of row i, which is a mistake. positive tells whether its label is +1.
func (r *rule) learn(b *block.Block, i int, positive bool) {
	factor, against := r.raiseFactor, r.lowerFactor
	if !positive {
		factor, against = against, factor
	}
	if r.literals != nil {
		r.literals.learn(r.w, b, i, factor, against)
		return
	}
	if b.Sparse == nil {
		r.learnDense(b.X[i*b.Stride:][:r.weightCount], factor, against)
		return
	}
	columns, values := b.Sparse.Row(i)
	for k, c := range columns {
		if values[k] != 0 { // a stored value may be -0
			r.multiply(int(c), factor, against)
		}
	}
}

// learnDense is learn for a dense row. It takes factors by the bits of a value, since a branch on 0 or 1 is often mispredicted: bit 29
// is 1 in float32's 1, and 0 in its zeros.
func (r *rule) learnDense(row []float32, factor, against float32) {
	factors, others := [2]float32{1, factor}, [2]float32{1, against}
	w := r.w[:len(row)]
	if r.u == nil {
		for c, v := range row {
			w[c] *= factors[math.Float32bits(v)>>29&1]
		}
		return
	}
	u, minus := r.u[:len(row)], r.v[:len(row)]
	for c, v := range row {
		bit := math.Float32bits(v) >> 29 & 1
		u[c], minus[c] = float32(u[c]*factors[bit]), float32(minus[c]*others[bit])
		w[c] = u[c] - minus[c]
	}
}

// multiply changes the weight of column c. It leaves the bias of Winnow1 and Winnow2 unchanged.
func (r *rule) multiply(c int, factor, against float32) {
	switch {
	case r.u != nil:
		r.u[c] *= factor
		r.v[c] *= against
		r.w[c] = r.u[c] - r.v[c]
	case c < r.weightCount:
		r.w[c] *= factor
	}
}
