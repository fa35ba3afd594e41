package train

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/train/learner"
)

// OnlineName is the algorithm's name in models of LearnOnline with the perceptron.
const OnlineName = "online"

// ErrNoRows is the error if there are no rows to learn from.
var ErrNoRows = errors.New("no rows")

// Progressive is the counts after a number of rows.
type Progressive struct {
	Rows     int64 `json:"rows"`
	Mistakes int64 `json:"mistakes"` // wrong predictions; each prediction is made before the row is learned from
	Updates  int64 `json:"updates"`

	// LogLoss is the mean log loss over the rows, each predicted before it was learned from. It is nil for learners
	// without probabilities.
	LogLoss *float64 `json:"log_loss,omitempty"`
}

// OnlineFit is the result of LearnOnline. The model has errors and a margin only if the rows could be read again, and
// ctx left time for that.
type OnlineFit struct {
	Model                   *model.Model
	Rows, Mistakes, Updates int64
	Progressive             []Progressive // after 1, 2, 4, 8... rows, and at the end
	// UpdateBound is the most updates of the perceptron from the weights of a model; see learner.UpdateBoundFrom. It is
	// nil if the training begins with zeros, and if no theorem gives a bound.
	UpdateBound *float64
}

// OnlineOptions are the options of LearnOnline. The zero value stands for Rosenblatt's perceptron.
type OnlineOptions struct {
	Eta     float64 // learning rate, in (0, 1]; 1
	Workers int     // most goroutines that run at once; GOMAXPROCS. No result depends on it
	// Learner is a learner with a Stepper, in place of the perceptron with Eta. It makes one pass in file order. nil:
	// the perceptron.
	Learner *Learner
	Once    bool             // the rows can be read only once
	Show    func(rows int64) // called with the number of visited rows; may be nil
}

// LearnOnline predicts each row of two classes with the perceptron, and then learns from the row. opt.Learner may be
// another learner, which may take more classes. LearnOnline visits the rows once, in their order. It begins with the
// weights of the model from, or with zeros if from is nil. If ctx ends the visits, it returns the result so far with
// ctx's error. Errors: ErrNoRows, a number of classes that the learner doesn't take, a model of other columns or
// classes, sums that overflow, and errors of src.
func LearnOnline(ctx context.Context, src block.Source, from *model.Model, opt OnlineOptions) (*OnlineFit, error) {
	shared, err := learner.Options{Eta: opt.Eta, Workers: opt.Workers}.WithDefaults()
	if err != nil {
		return nil, err
	}
	if opt.Learner != nil {
		if err := opt.Learner.check(); err != nil {
			return nil, err
		}
	}
	if src, err = block.Validate(ctx, src, shared.Workers); err != nil {
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
		start := learner.StartOf(from, -1)
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
	after, end := parallel.Grace(ctx)
	defer end()
	if bad := v.finish(after, shared, !opt.Once); bad != nil {
		if after.Err() == nil || v.r.Model == nil {
			return nil, bad
		}
		err = ctx.Err()
	}
	return &v.r, err
}

// A visitor is a source that learns from each block before it yields the block.
type visitor struct {
	block.Source
	learner.Stepper
	ctx     context.Context
	learner *Learner  // nil: the perceptron
	odds    bool      // the scores are logarithms of odds
	begin   []float64 // initial weights; nil: zeros
	show    func(rows int64)

	scores [][]float32 // scores of rows whose log loss isn't added yet
	loss   metrics.Mean

	r           OnlineFit
	square      float64 // largest squared norm of a row
	fingerprint string
	err         error
}

// learn visits the rows until the rows or the context end. It computes the fingerprint of the visited rows.
func (v *visitor) learn(workers int) error {
	var err error
	if v.fingerprint, err = block.Fingerprint(context.WithoutCancel(v.ctx), v, workers); err != nil {
		return err
	}
	return v.err
}

// Blocks yields the visited rows. It ends without an error if learning fails; v.err has the error.
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

// visit predicts each row with the learner, learns from the row, and counts rows, mistakes and updates.
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

// addLosses adds the log losses of the rows with labels y, whose scores are in v.scores.
func (v *visitor) addLosses(y []float32) {
	if !v.odds || len(y) == 0 {
		return
	}
	v.loss.Add(predict.LogLosses(v.scores, y, predict.Odds{Positive: v.Spec().PositiveClass(), Way: model.OneVersusRest}), nil)
	for c := range v.scores {
		v.scores[c] = v.scores[c][:0]
	}
}

// note appends the counts so far to v.r.Progressive.
func (v *visitor) note() {
	p := Progressive{Rows: v.r.Rows, Mistakes: v.r.Mistakes, Updates: v.r.Updates}
	if v.odds {
		loss := v.loss.Value()
		p.LogLoss = &loss
	}
	v.r.Progressive = append(v.r.Progressive, p)
}

// finish makes the model. With again, it also evaluates the last weights on the visited rows.
func (v *visitor) finish(ctx context.Context, opt learner.Options, again bool) error {
	r, spec := &v.r, v.Spec()
	if last := r.Progressive[len(r.Progressive)-1]; last.Rows < r.Rows {
		v.note()
	}
	w := v.Weights()
	m := model.New(spec, w)
	m.Algorithm = OnlineName
	m.Options = model.Options{Order: string(learner.Cyclic), Epochs: 1, Eta: opt.Eta}
	if v.learner != nil {
		v.learner.describeOnline(m)
		m.State = model.NewState(v.State())
	}
	m.Data = model.Data{Fingerprint: v.fingerprint, Rows: r.Rows}
	radius, norm := math.Sqrt(v.square), learner.Norm(w)
	if sum := norm + radius; sum-sum != 0 {
		return learner.TooLarge()
	}
	m.Training = model.Training{Rows: r.Rows, Epochs: 1, Visits: r.Rows, Updates: r.Updates, Mistakes: &r.Mistakes, Radius: &radius, Norm: &norm}
	r.Model = m
	if !again {
		return nil
	}
	var learned learner.Result
	for w := range slices.Chunk(w, len(w)/spec.Vectors()) {
		learned.Weights = append(learned.Weights, w[:spec.Cols()]...)
	}
	if err := v.evaluate(ctx, opt.Workers, &learned); err != nil {
		return err
	}
	// With one versus the rest, the loss would take a pass for each class.
	if v.learner != nil && m.Options.Multiclass != model.OneVersusRest {
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
		r.UpdateBound = finite(learner.UpdateBoundFrom(&learned, v.begin, 1, 0, opt.Eta))
	}
	return nil
}

// evaluate evaluates weights on the visited rows.
func (v *visitor) evaluate(ctx context.Context, workers int, learned *learner.Result) error {
	rows := firstRows{v.Source, v.r.Rows}
	if v.learner == nil {
		return learner.Evaluate(ctx, rows, workers, learned)
	}
	_, err := learner.EvaluateLoss(ctx, rows, workers, learned, v.learner.RowLoss(v.learner.Settings))
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
