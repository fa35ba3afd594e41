// Package kernelperceptron trains perceptrons in their dual form, on inner products of rows or on a Mercer kernel in their place.
package kernelperceptron

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/kernel/f64"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train/learner"
)

// Options are the options of Train.
type Options struct {
	Order      learner.Order // Cyclic
	Epochs     int64         // most passes over the rows; 100
	MaxUpdates int64         // most updates; no limit
	Eta        float64       // learning rate, in (0, 1]; 1

	Form   learner.Form // Last
	Kernel gram.Kernel  // linear; a Degree of 0 is 3, and a Gamma of 0 is 1/features; Bias is ignored
	Memory int64        // most bytes for inner products; 0: enough for the inner products of all pairs of rows
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Result is the result of a training, and its figures.
type Result struct {
	// Result has Weights if the kernel is linear and the form isn't learner.Voted: for more than two classes one vector
	// for each class. Otherwise Expansion is set, and Radius and Norm are norms in the kernel's feature space. Norm,
	// Margin and Loss are 0 with learner.Voted; Margin is also 0 with more than two classes. Visits is the largest number
	// of visits of a binary classifier, and Updates the sum over the classifiers.
	learner.Result
	Expansion *model.Expansion
	Bias      []float64 // for each binary classifier: the sum of alpha_i y_i of its last or its averaged weights

	Mistakes     []int64 // n_i: number of visits that found row i on the wrong side; alpha_i = n_i eta times the sample weight
	GramSeconds  float64 // seconds for the matrix of all inner products, included in Seconds
	ComputedRows int64   // computed rows of inner products; a cache that is too small computes rows again
}

// GramBytes returns the bytes of memory for the inner products of all pairs of rows.
func GramBytes(rows int) int64 {
	n, err := gram.Elements(rows, gram.Full)
	if err != nil {
		return math.MaxInt64
	}
	return int64(n) * 4
}

// Train runs the dual form of the perceptron learning algorithm on rows in memory. Labels are -1 and +1, or class
// numbers.
//
// Given rows x_i and labels y_i, it looks for alpha_i = n_i eta >= 0 with y_i (sum over j of alpha_j y_j k(x_j, x_i) +
// b) > 0 for all i. b is the sum of alpha_j y_j, or 0 without a bias. A visit that finds a row on the wrong side adds
// eta to the row's alpha (Rosenblatt 1958; with a kernel k Aizerman, Braverman & Rozonoer 1964). In the same order of
// rows, the perceptron on the weights w = sum of alpha_i y_i x_i makes the same mistakes. The training stops by the
// same rules; see package perceptron. For voted and averaged forms see Freund & Schapire, "Large Margin Classification
// Using the Perceptron Algorithm", Machine Learning 37(3), 1999.
//
// The sample weight of a row multiplies the row's increase of alpha and its share of the loss. A row with a sample
// weight of 0 changes nothing.
//
// Train keeps the scores of all rows up to date. A visit reads a score. A mistake adds a row of the matrix of k(x_i,
// x_j) + 1 to the scores. Train computes the whole matrix first if it fits in opt.Memory. If not, a gram.RowCache
// computes rows of the matrix when they are needed. More than two classes are learned one versus the rest on the same
// matrix, each as if it were alone. opt.MaxUpdates limits the updates of each class.
//
// The result doesn't depend on opt.Workers or opt.Memory. Errors: options out of range, no rows, fewer than two
// classes, too little memory for one row of the matrix, scores that overflow, and ctx's error.
func Train(ctx context.Context, data *block.Data, opt Settings) (*Result, error) {
	checked, err := mercerLearner.Begin(ctx, data, &opt)
	if err != nil {
		return nil, err
	}
	data = checked.(*block.Data)
	if opt.Memory < 0 {
		return nil, message.WrongValue("memory", opt.Memory, "a number of bytes, or 0 for no limit")
	}
	if data.Rows() > math.MaxInt32 {
		return nil, fmt.Errorf("there are %d rows, and dual training takes up to %d: take fewer", data.Rows(), math.MaxInt32)
	}
	l, err := newLearner(ctx, data, opt)
	if err != nil {
		return nil, err
	}
	after, end := parallel.Grace(ctx)
	defer end()
	return l.conclude(ctx, after, l.Run(ctx))
}

// conclude returns the result of the training until err, which may be ctx's error. It computes the figures unless after
// ends.
func (l *training) conclude(ctx, after context.Context, err error) (*Result, error) {
	if err != nil && (ctx.Err() == nil || l.Updates == 0) {
		return nil, err
	}
	r, wide := l.result()
	if wide != nil {
		return nil, wide
	}
	if late := l.evaluate(after, r); late != nil {
		if after.Err() == nil {
			return nil, late
		}
		r.Errors, r.Loss, r.NotEvaluated, err = 0, 0, true, ctx.Err()
	}
	if err != nil {
		r.Interrupted, r.Converged = true, false
	}
	return r, err
}

// kernelFunction returns the kernel for rows with a number of features, without the bias: the expansion has a bias of
// its own.
func (o *Settings) kernelFunction(features int) gram.Kernel {
	k := o.Kernel
	if k.Kind == gram.Linear {
		return gram.Kernel{Kind: gram.Linear}
	}
	if k.Bias = false; k.Gamma == 0 {
		k.Gamma = 1 / float64(features)
	}
	if k.Kind == gram.RBF {
		k.Degree, k.Coef0 = 0, 0
	}
	return k
}

// givesWeights tells whether the result is weights and not an expansion.
func (o *Settings) givesWeights() bool {
	return o.Kernel.Kind == gram.Linear && o.Form != learner.Voted
}

// result returns the result without the figures of evaluate.
func (l *training) result() (*Result, error) {
	r := &Result{Result: *l.ResultSoFar(), Mistakes: make([]int64, l.n), GramSeconds: l.productTime.Seconds(), ComputedRows: int64(l.n)}
	r.Converged = true
	for _, m := range l.binaries {
		r.Converged = r.Converged && m.converged
		for _, k := range m.mistakes {
			r.Mistakes[k.row]++
		}
	}
	if l.cache != nil {
		r.ComputedRows = l.cache.ComputedRows()
	}
	var support []uint32
	for i, n := range r.Mistakes {
		if n > 0 {
			support = append(support, uint32(i))
		}
	}
	return r, l.collapse(r, support)
}

// collapse computes the weights, or the expansion, from the mistakes. It returns an error if no file may hold the expansion.
func (l *training) collapse(r *Result, support []uint32) error {
	spec := l.data.Spec()
	coefficients := make([][]float64, len(l.binaries))
	for c, m := range l.binaries {
		coefficients[c] = l.coefficients(m, support)
		b := 0.0
		for _, v := range coefficients[c] {
			b += v
		}
		if !spec.Bias {
			b = 0
		}
		r.Bias = append(r.Bias, float64(float32(b)))
		if l.opt.givesWeights() {
			r.Weights = append(r.Weights, l.rowSum(coefficients[c], support)...)
			if spec.Bias {
				r.Weights = append(r.Weights, float32(b))
			}
		}
	}
	if l.opt.givesWeights() {
		return nil
	}
	if bytes := 4 * int64(len(support)) * int64(spec.Width()); bytes > model.MaxFileBytes {
		return message.Errorf("the model has %s of %s, which take %s, and its file may have %s: train on fewer rows or features, "+
			"or use --kernel linear", humanize.Plural(int64(len(support)), "row"), humanize.Plural(int64(spec.Width()), "feature"),
			humanize.Size(bytes), humanize.Size(model.MaxFileBytes))
	}
	e := &model.Expansion{Kernel: l.opt.Kernel, Support: model.Pack(l.x.Values(support))}
	place := make(map[uint32]uint32, len(support))
	for k, i := range support {
		e.Rows = append(e.Rows, int64(i))
		place[i] = uint32(k)
	}
	for c, m := range l.binaries {
		e.Coefficients = append(e.Coefficients, model.Pack(learner.RoundToFloat32(coefficients[c])))
		if l.opt.Form == learner.Voted {
			e.Votes = append(e.Votes, l.votes(m, place))
		}
	}
	if l.opt.Form == learner.Voted && slices.ContainsFunc(l.weights, func(w float64) bool { return w != 1 }) {
		var steps []float32
		for _, i := range support {
			steps = append(steps, l.step(i))
		}
		e.Steps = model.Pack(steps)
	}
	r.Expansion = e
	return nil
}

// coefficients returns y_i alpha_i of the rows of support, or with learner.Averaged their means over all visits.
func (l *training) coefficients(m *binary, support []uint32) []float64 {
	sums := make(map[uint32]int64, len(support))
	over, visits := 1.0, l.visits(m)
	for _, k := range m.mistakes {
		if l.opt.Form == learner.Averaged {
			sums[k.row] += visits - k.visit + 1 // the update counts from this visit to the last
		} else {
			sums[k.row]++
		}
	}
	if l.opt.Form == learner.Averaged {
		over = float64(visits)
	}
	out := make([]float64, len(support))
	for k, i := range support {
		out[k] = float64(m.y[i]) * float64(l.step(i)) * (float64(sums[i]) / over)
	}
	return out
}

func (l *training) visits(m *binary) int64 {
	if m.done {
		return m.lastVisit
	}
	return l.Visits
}

// votes returns each mistake with the number of visits that the weights after it survived. place maps rows to support
// vectors.
func (l *training) votes(m *binary, place map[uint32]uint32) model.Votes {
	rows, survived := make([]uint32, len(m.mistakes)), make([]int64, len(m.mistakes))
	next := l.visits(m) + 1
	for k := len(m.mistakes) - 1; k >= 0; k-- {
		rows[k], survived[k] = place[m.mistakes[k].row], next-m.mistakes[k].visit
		next = m.mistakes[k].visit
	}
	return model.Votes{Mistakes: model.Pack(rows), Survived: model.Pack(survived)}
}

// rowSum returns the sum of the rows of support times their coefficients. It sums in row order within a chunk, then over
// the chunks.
func (l *training) rowSum(coefficients []float64, support []uint32) []float32 {
	d := l.data.Spec().Width()
	w, part := make([]float64, d), make([]float64, d)
	for lo := 0; lo < len(support); {
		hi := lo
		for hi < len(support) && support[hi]/block.ChunkRows == support[lo]/block.ChunkRows {
			hi++
		}
		clear(part)
		for k, a := range coefficients[lo:hi] {
			l.x.Add(part, a, int(support[lo+k]))
		}
		f64.Axpy(w, 1, part)
		lo = hi
	}
	return learner.RoundToFloat32(w)
}

// Model returns the weights or the expansion as a model of the columns of spec. The model doesn't describe the
// training.
func (r *Result) Model(spec *schema.Spec) *model.Model {
	m := model.New(spec, r.Weights)
	if len(spec.Classes) > 2 {
		m.Options.Multiclass = model.OneVersusRest
	}
	if r.Expansion != nil {
		m.Expansion = r.Expansion
		if spec.Bias {
			m.Bias = r.Bias
		}
	}
	return m
}

// evaluate scores the rows and sets the errors, radius, norm, margin and loss of r. It returns an error if scores
// overflow.
func (l *training) evaluate(ctx context.Context, r *Result) error {
	scorer, err := predict.NewScorer(r.Model(l.data.Spec()), l.opt.Workers)
	if err != nil {
		return err
	}
	square, margin, bad := 0.0, math.Inf(1), false
	e, norm := cmp.Or(r.Expansion, &model.Expansion{}), 0.0 // norm is the squared norm: the sum of coefficients times scores
	var coefficients [][]float32
	for _, c := range e.Coefficients {
		coefficients = append(coefficients, model.Unpack[float32](c))
	}
	for b, err := range l.data.Blocks(ctx) {
		if err != nil {
			return err
		}
		scores, err := scorer.Scores(ctx, b)
		if err != nil {
			return err
		}
		for i, y := range b.Y {
			if len(scores) == 1 && (scores[0][i] > 0) != (y > 0) || len(scores) > 1 && predict.PredictedClass(scores, i, 0) != int(y) {
				r.Errors++
			}
			if k, has := slices.BinarySearch(e.Rows, b.First+int64(i)); has {
				for c, a := range coefficients {
					norm = math.FMA(float64(a[k]), float64(scores[c][i]), norm)
				}
			}
			for c, m := range l.binaries {
				right := float64(float64(m.y[b.First+int64(i)]) * float64(scores[c][i]))
				bad = bad || right-right != 0
				margin = min(margin, right)
				r.Loss += float64(max(0, -right) * b.Weight(i))
			}
		}
		if r.Expansion == nil {
			square = max(square, b.MaxSquaredNorm())
		}
	}
	if r.Expansion != nil {
		diagonal, err := gram.Diagonal(l.x, l.kernelFunction)
		if err != nil {
			return err
		}
		square = float64(slices.Max(diagonal))
	}
	r.Radius, r.Norm = math.Sqrt(square), learner.Norm(r.Weights)
	if r.Expansion != nil {
		r.Norm = math.Sqrt(max(0, norm))
	}
	if l.opt.Form == learner.Voted {
		r.Loss, r.Norm = 0, 0
	} else if margin > 0 && len(l.binaries) == 1 {
		r.Margin = margin / r.Norm
	}
	if sum := r.Norm + r.Radius + r.Loss; bad || sum-sum != 0 {
		return learner.OverflowError()
	}
	return nil
}
