package fit

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/beside"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/train"
)

// OnlineName is the algorithm in models of LearnOnline.
const OnlineName = "online"

// ErrNoRows is returned where there are no rows to learn from.
var ErrNoRows = errors.New("no rows")

// Progressive is the counts after so many rows.
type Progressive struct {
	Rows     int64 `json:"rows"`
	Mistakes int64 `json:"mistakes"` // predictions, each made before the row was learned from, that were wrong
	Updates  int64 `json:"updates"`

	LogLoss *float64 `json:"log_loss,omitempty"` // mean over the rows, each predicted before it was learned from; nil for learners without probabilities
}

// OnlineFit is the result of LearnOnline, with the model. The model has errors and a margin only if the rows could be
// read again, and ctx left time for that.
type OnlineFit struct {
	Model                   *model.Model
	Rows, Mistakes, Updates int64
	Progressive             []Progressive // after 1, 2, 4, 8... rows, and at the end
	UpdateBound             *float64      // most updates of the perceptron from the weights of a model (train.UpdateBoundFrom); nil from zeros, and where no theorem tells
}

// OnlineOptions are the options of LearnOnline. The zero value is Rosenblatt's perceptron.
type OnlineOptions struct {
	Eta     float64          // learning rate, in (0, 1]; 1
	Workers int              // GOMAXPROCS. No result depends on it
	Learner *Learner         // a learner with Stepper, instead of the perceptron with Eta; it makes one pass in file order. nil: the perceptron
	Once    bool             // the rows can be read once only
	Show    func(rows int64) // told how many rows were visited; may be nil
}

// LearnOnline has the perceptron predict each row of two classes, and then learn from it. opt.Learner may name another
// learner, which may take more classes. LearnOnline visits the rows once, in their order. It begins with the weights of a
// model, or with zeros if from is nil. If ctx ends the visits, it returns what was learned so far with ctx's error.
// Errors are ErrNoRows, another number of classes, a model of other columns or classes, sums that overflow, and those of
// src.
func LearnOnline(ctx context.Context, src block.Source, from *model.Model, opt OnlineOptions) (*OnlineFit, error) {
	shared, err := train.Options{Eta: opt.Eta, Workers: opt.Workers}.WithDefaults()
	if err != nil {
		return nil, err
	}
	if opt.Learner != nil {
		if err := opt.Learner.check(); err != nil {
			return nil, err
		}
	}
	if src, err = block.Check(ctx, src, shared.Workers); err != nil {
		return nil, err
	}
	stepper, err := onlineStepper(src.Spec(), float32(shared.Eta), opt.Learner)
	if err != nil {
		return nil, err
	}
	var begin []float64
	if from != nil {
		if err := beginsWith(from, src.Spec()); err != nil {
			return nil, err
		}
		start := train.StartOf(from, -1)
		begin = unpadded(start, src.Spec())
		stepper.Begin(start.Weights, start.State)
	}
	v := &visitor{Source: src, ctx: ctx, Stepper: stepper, learner: opt.Learner, scores: make([][]float32, src.Spec().Vectors()), begin: begin,
		odds: opt.Learner != nil && opt.Learner.HasOdds(), show: opt.Show}
	if err = v.learn(shared.Workers); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if v.r.Rows == 0 {
		return nil, cmp.Or(err, ErrNoRows)
	}
	after, end := beside.After(ctx)
	defer end()
	if bad := v.finish(after, shared, !opt.Once); bad != nil {
		if after.Err() == nil || v.r.Model == nil {
			return nil, bad
		}
		err = ctx.Err()
	}
	return &v.r, err
}

// A visitor is a source that learns from each block before it hands the block on.
type visitor struct {
	block.Source
	train.Stepper
	ctx     context.Context
	learner *Learner  // nil: the perceptron
	odds    bool      // the scores are logarithms of odds
	begin   []float64 // the weights to begin with; nil: zeros
	show    func(rows int64)

	scores [][]float32 // of rows whose log loss isn't added yet
	loss   metrics.Mean

	r           OnlineFit
	square      float64 // the largest of a row's squared norms
	fingerprint string
	err         error
}

// learn visits the rows until they or the context end. It takes the fingerprint of the rows that it visited.
func (v *visitor) learn(workers int) error {
	var err error
	if v.fingerprint, err = block.Fingerprint(context.WithoutCancel(v.ctx), v, workers); err != nil {
		return err
	}
	return v.err
}

// Blocks ends without an error if learning fails; v.err has the error.
func (v *visitor) Blocks(context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range v.Source.Blocks(v.ctx) {
			if v.err = err; err != nil {
				return
			}
			first := v.r.Rows
			v.err = v.visit(b)
			b = b.Slice(0, int(v.r.Rows-first))
			v.square = max(v.square, b.MaxSquaredNorm())
			if !yield(b, nil) || v.err != nil {
				return
			}
		}
	}
}

// visit has the learner predict each row and then learn from it, and counts.
func (v *visitor) visit(b *block.Block) error {
	r, row, first := &v.r, make([]float32, len(v.scores)), 0
	for i, y := range b.Y {
		if i%1024 == 0 {
			if err := v.ctx.Err(); err != nil {
				v.addLosses(b.Y[first:i])
				return err
			}
			if v.show != nil {
				v.show(r.Rows)
			}
		}
		if v.Step(row, b, i, y) {
			r.Updates++
		}
		if v.wrong(row, y) {
			r.Mistakes++
		}
		if v.odds {
			for c, s := range row {
				v.scores[c] = append(v.scores[c], s)
			}
		}
		if r.Rows++; r.Rows&(r.Rows-1) == 0 {
			v.addLosses(b.Y[first : i+1])
			first = i + 1
			v.note()
		}
	}
	v.addLosses(b.Y[first:])
	return nil
}

// wrong tells whether the scores predict another class than the label y.
func (v *visitor) wrong(scores []float32, y float32) bool {
	if len(scores) == 1 {
		return (scores[0] > 0) != (y > 0)
	}
	best := 0
	for c, s := range scores {
		if s > scores[best] {
			best = c
		}
	}
	return best != int(y)
}

// addLosses adds the log losses of rows with these labels, whose scores were kept.
func (v *visitor) addLosses(y []float32) {
	if !v.odds || len(y) == 0 {
		return
	}
	v.loss.Add(predict.LogLosses(v.scores, y, predict.Odds{Positive: v.Spec().PositiveClass(), Way: model.OneVersusRest}), nil)
	for c := range v.scores {
		v.scores[c] = v.scores[c][:0]
	}
}

// note notes the counts so far.
func (v *visitor) note() {
	p := Progressive{Rows: v.r.Rows, Mistakes: v.r.Mistakes, Updates: v.r.Updates}
	if v.odds {
		loss := v.loss.Value()
		p.LogLoss = &loss
	}
	v.r.Progressive = append(v.r.Progressive, p)
}

// finish makes the model. If the rows can be read again, it evaluates the last weights on the rows that were visited.
func (v *visitor) finish(ctx context.Context, opt train.Options, again bool) error {
	r, spec := &v.r, v.Spec()
	if last := r.Progressive[len(r.Progressive)-1]; last.Rows < r.Rows {
		v.note()
	}
	w := v.Weights()
	m := model.New(spec, w)
	m.Algorithm = OnlineName
	m.Options = model.Options{Order: string(train.Cyclic), Epochs: 1, Eta: opt.Eta}
	if v.learner != nil {
		v.learner.describeOnline(m)
		m.State = model.NewState(v.State())
	}
	m.Data = model.Data{Fingerprint: v.fingerprint, Rows: r.Rows}
	radius, norm := math.Sqrt(v.square), train.Norm(w)
	if sum := norm + radius; sum-sum != 0 {
		return train.TooLarge()
	}
	m.Training = model.Training{Rows: r.Rows, Epochs: 1, Visits: r.Rows, Updates: r.Updates, Mistakes: &r.Mistakes, Radius: &radius, Norm: &norm}
	r.Model = m
	if !again {
		return nil
	}
	var learned train.Result
	for w := range slices.Chunk(w, len(w)/spec.Vectors()) {
		learned.Weights = append(learned.Weights, w[:spec.Cols()]...)
	}
	if err := v.evaluate(ctx, opt.Workers, &learned); err != nil {
		return err
	}
	if v.learner != nil && m.Options.Multiclass != model.OneVersusRest { // of one versus the rest, the loss takes a pass for each class
		m.Training.Loss = &learned.Loss
	}
	m.Training.Errors = &learned.Errors
	if learned.Margin > 0 {
		m.Training.Margin = &learned.Margin
	}
	switch {
	case v.learner != nil:
	case v.begin == nil:
		m.Training.MistakeBound = finite(learned.MistakeBound())
	default:
		r.UpdateBound = finite(train.UpdateBoundFrom(&learned, v.begin, 1, 0, opt.Eta))
	}
	return nil
}

// evaluate evaluates weights on the rows that were visited.
func (v *visitor) evaluate(ctx context.Context, workers int, learned *train.Result) error {
	rows := firstRows{v.Source, v.r.Rows}
	if v.learner == nil {
		return train.Evaluate(ctx, rows, workers, learned)
	}
	_, err := train.EvaluateLoss(ctx, rows, workers, learned, v.learner.RowLoss(v.learner.Settings))
	return err
}

// firstRows is the first rows of a source.
type firstRows struct {
	block.Source
	rows int64
}

func (s firstRows) Rows() int64 { return s.rows }

func (s firstRows) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			if err == nil && b.First+int64(b.Len()) > s.rows {
				b = b.Slice(0, int(s.rows-b.First))
			}
			if !yield(b, err) || err != nil || b.First+int64(b.Len()) >= s.rows {
				return
			}
		}
	}
}
