package train

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/metrics"
	"halfspace/predict"
	"halfspace/train/learner"
)

// OnlineName is the algorithm's name in models that the perceptron learned online.
const OnlineName = "online"

// ErrNoRows is the error if there are no rows to learn from.
var ErrNoRows = errors.New("no rows")

// online is Run with Options.Online. Errors: ErrNoRows, a number of classes that the learner doesn't take, a model of
// other columns or classes, sums that overflow, and errors of the rows.
func (s *Session) online(ctx context.Context) (*Outcome, error) {
	l := s.configured(s.Learner)
	if err := s.checkOnline(l); err != nil {
		return nil, err
	}
	src, err := block.Validate(ctx, s.Rows, l.Workers())
	if err != nil {
		return nil, err
	}
	stepper, err := onlineStepper(src.Spec(), l)
	if err != nil {
		return nil, err
	}
	var begin []float64
	if s.Init != nil {
		if err := checkInit(s.Init, src.Spec()); err != nil {
			return nil, err
		}
		start := learner.StartOf(s.Init, -1)
		begin = unpaddedStart(start, src.Spec())
		stepper.Begin(start.Weights, start.State)
	}
	v := &visitor{Source: src, ctx: ctx, Stepper: stepper, learner: l, scores: make([][]float32, src.Spec().Vectors()),
		initialWeights: begin, scoresAreLogOdds: l.HasOdds(), show: s.Online.Show}
	if err = v.learn(l.Workers()); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if v.counts.Rows == 0 {
		return nil, cmp.Or(err, ErrNoRows)
	}
	after, end := parallel.Grace(ctx)
	defer end()
	t := &Outcome{Online: &v.counts}
	if bad := v.finish(after, t, !s.Online.ReadOnce); bad != nil {
		if after.Err() == nil || t.Model == nil {
			return nil, bad
		}
		err = ctx.Err()
	}
	return t, err
}

// checkOnline returns an error if the learner or the options can't be used with Options.Online.
func (s *Session) checkOnline(l Learner) error {
	if err := l.Check(); err != nil {
		return err
	}
	if s.HoldOut != 0 || s.Validation != nil || s.CV.isSet() || s.Weights.hasClassWeights() || s.Output != (Output{}) ||
		s.Checkpoint.Dir != "" || s.Trace != nil {
		return errors.New("online, each row is predicted before it is learned from: leave out rows to validate on, " +
			"folds, weights of classes, outputs, checkpoints and traces")
	}
	if isPerceptron(l) {
		if margin, l2 := l.PerceptronUpdate(l.Settings); margin != 0 || l2 != 0 {
			return errors.New("online, the perceptron has neither a margin nor a penalty: leave them out, or learn passive-aggressive")
		}
	}
	return l.CheckSettings(l.Settings)
}

// A visitor is a source that learns from each block before it yields the block.
type visitor struct {
	block.Source
	learner.Stepper
	ctx              context.Context
	learner          Learner
	scoresAreLogOdds bool      // the scores are logarithms of odds
	initialWeights   []float64 // initial weights; nil: zeros
	show             func(rows int64)

	scores [][]float32 // scores of rows whose log loss isn't added yet
	loss   metrics.Mean

	counts        OnlineCounts
	largestSquare float64 // largest squared norm of a row
	fingerprint   string
	err           error
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
			first := v.counts.Rows
			v.err = v.visit(b)
			b = b.Slice(0, int(v.counts.Rows-first))
			v.largestSquare = max(v.largestSquare, b.MaxSquaredNorm())
			if !yield(b, nil) || v.err != nil {
				return
			}
		}
	}
}

// visit predicts each row with the learner, learns from the row, and counts rows, mistakes and updates.
func (v *visitor) visit(b *block.Block) error {
	r, row, first := &v.counts, make([]float32, len(v.scores)), 0
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
		if v.isWrong(row, y) {
			r.Mistakes++
		}
		if v.scoresAreLogOdds {
			for c, s := range row {
				v.scores[c] = append(v.scores[c], s)
			}
		}
		if r.Rows++; r.Rows&(r.Rows-1) == 0 {
			v.addLosses(b.Y[first : i+1])
			first = i + 1
			v.addCounts()
		}
	}
	v.addLosses(b.Y[first:])
	return nil
}

// isWrong tells whether the scores predict another class than the label y.
func (v *visitor) isWrong(scores []float32, y float32) bool {
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
	if !v.scoresAreLogOdds || len(y) == 0 {
		return
	}
	v.loss.Add(predict.LogLosses(v.scores, y, predict.Odds{Positive: v.Spec().PositiveClass(), Way: model.OneVersusRest}), nil)
	for c := range v.scores {
		v.scores[c] = v.scores[c][:0]
	}
}

// addCounts appends the counts so far to v.counts.ProgressiveCounts.
func (v *visitor) addCounts() {
	p := ProgressiveCounts{Rows: v.counts.Rows, Mistakes: v.counts.Mistakes, Updates: v.counts.Updates}
	if v.scoresAreLogOdds {
		loss := v.loss.Value()
		p.LogLoss = &loss
	}
	v.counts.ProgressiveCounts = append(v.counts.ProgressiveCounts, p)
}

// finish makes the model. With again, it also evaluates the last weights on the visited rows.
func (v *visitor) finish(ctx context.Context, t *Outcome, again bool) error {
	r, spec, perceptron := &v.counts, v.Spec(), isPerceptron(v.learner)
	eta := v.learner.Settings.Shared().Eta
	if last := r.ProgressiveCounts[len(r.ProgressiveCounts)-1]; last.Rows < r.Rows {
		v.addCounts()
	}
	w := v.Weights()
	m := model.New(spec, w)
	m.Algorithm = OnlineName
	m.Options = model.Options{Order: string(learner.Cyclic), Epochs: 1, Eta: eta}
	if !perceptron {
		describeOnline(v.learner, m)
		m.State = model.NewState(v.State())
	}
	m.Data = model.Data{Fingerprint: v.fingerprint, Rows: r.Rows}
	radius, norm := math.Sqrt(v.largestSquare), learner.Norm(w)
	if sum := norm + radius; sum-sum != 0 {
		return learner.OverflowError()
	}
	m.Training = model.Training{Rows: r.Rows, Epochs: 1, Visits: r.Rows, Updates: r.Updates, Mistakes: &r.Mistakes,
		Radius: &radius, Norm: &norm}
	t.Model = m
	if !again {
		return nil
	}
	var learned learner.Result
	for w := range slices.Chunk(w, len(w)/spec.Vectors()) {
		learned.Weights = append(learned.Weights, w[:spec.Cols()]...)
	}
	if err := v.evaluate(ctx, &learned); err != nil {
		return err
	}
	// With one versus the rest, the loss would take a pass for each class.
	if !perceptron && m.Options.Multiclass != model.OneVersusRest {
		m.Training.Loss = &learned.Loss
	}
	m.Training.Errors = &learned.Errors
	if learned.Margin > 0 {
		m.Training.Margin = &learned.Margin
	}
	switch {
	case !perceptron:
	case v.initialWeights == nil:
		m.Training.MistakeBound = boundOrNil(learned.MistakeBound())
	default:
		t.UpdateBound = boundOrNil(learner.UpdateBoundFrom(&learned, v.initialWeights, 1, 0, eta))
	}
	return nil
}

// evaluate evaluates weights on the visited rows.
func (v *visitor) evaluate(ctx context.Context, learned *learner.Result) error {
	rows := firstRows{v.Source, v.counts.Rows}
	if isPerceptron(v.learner) {
		return learner.Evaluate(ctx, rows, v.learner.Workers(), learned)
	}
	_, err := learner.EvaluateLoss(ctx, rows, v.learner.Workers(), learned, v.learner.RowLoss(v.learner.Settings))
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

// describeOnline writes to a model how l learned it online.
func describeOnline(l Learner, m *model.Model) {
	j := job{Learner: l, opt: &Session{}}
	m.Algorithm, m.Options = l.Name, j.modelOptions()
	m.Options.Order, m.Options.Epochs, m.Options.Seed = string(learner.Cyclic), 1, nil
	if len(m.Classes) > 2 {
		if m.Options.Multiclass = model.OneVersusRest; l.Classes(l.Settings).TogetherByDefault {
			m.Options.Multiclass = model.Joint
		}
	}
}
