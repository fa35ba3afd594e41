package train

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"time"

	"halfspace/cmd/internal/console"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/plot"
	"halfspace/train/learner"
)

// trainAs opens the rows, judges the candidates of a grid and trains.
func trainAs(ctx context.Context, a *console.App, o *trainOptions, paths, validationPaths []string) error {
	start := time.Now()
	bar := a.NewProgress(o.Progress)
	defer bar.End()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	saved, err := o.saving.open(a)
	if err != nil {
		return err
	}
	defer saved.Close()
	t := &trainer{App: a, trainOptions: o, bar: bar, checkpoints: saved}
	defer t.closeData()
	if err = o.tracing.resume(a, o.follows(), saved); err == nil {
		paths, validationPaths, err = t.openHeld(ctx, paths, validationPaths)
	}
	if err != nil {
		return err
	}
	t.seconds.Load = time.Since(start).Seconds()
	var receipt *model.Receipt
	if o.receipt != "" {
		receipt = new(model.Receipt)
	}
	fitted, err := t.learn(ctx, receipt)
	defer t.noteSavedCheckpoint()
	if fitted == nil {
		return unfinished(a, err)
	}
	t.seconds.Training = fitted.Result.Seconds
	inputs := slices.Concat(paths, validationPaths)
	if err := t.save(ctx, fitted.Model, fitted.Result, receipt, inputs, err); err != nil {
		return err
	}
	if err == nil {
		if err := saved.Finish(); err != nil {
			a.Note("%v; the training is complete", err)
		}
	}
	bar.End()
	if !t.inMemory() && fitted.Profile != nil {
		noteSurvey(a, o, t.data.Spec(), fitted.Profile)
	}
	t.seconds.Total = time.Since(start).Seconds()
	m, r := fitted.Model, t.newReport(fitted, err != nil)
	if fitted.Profile != nil {
		noteNeverPredicted(a, o, r.NeverPredictedClasses, fitted.Profile.Counts)
	}
	noteUse(a, o, r)
	noteDependent(a, m)
	if err := o.reporting.Write(ctx, func() (*plot.Page, error) { return t.page(ctx, r, fitted, paths, validationPaths) }); err != nil {
		return err
	}
	bad := a.Report(o.json, r, func() *console.Sheet {
		r.curve = t.training.Sparkline(t.UnicodeWidth() - factIndent)
		return r.sheet(o, m)
	})
	return cmp.Or(bad, err, t.traceError)
}

// save writes the model and the receipt, if files are given for them. If the training ended with an error, save writes
// no receipt.
func (t *trainer) save(ctx context.Context, m *model.Model, learned *learner.Result, receipt *model.Receipt,
	paths []string, ended error) error {
	if t.out == "" {
		return nil
	}
	if err := console.SaveModel(ctx, m, t.out); err != nil {
		t.KeptFiles = ": " + err.Error()
		return err
	}
	t.KeptFiles = ": " + t.out + " has the weights so far"
	switch {
	case receipt == nil:
		return nil
	case ended != nil && learned.Interrupted:
		t.Note("--receipt: not written: the training was interrupted, so it can't be repeated")
		return nil
	case ended != nil:
		t.KeptFiles = ": " + t.out + " is complete, its receipt was not written"
		return nil
	}
	return t.saveReceipt(ctx, receipt, paths)
}

// noteSavedCheckpoint adds to the interrupt message that a checkpoint is kept, if there is one.
func (t *trainer) noteSavedCheckpoint() {
	if !t.checkpoints.HasCheckpoint() {
		return
	}
	if t.KeptFiles == "" {
		t.KeptFiles = ": " + t.saving.Dir + " has a checkpoint"
	} else {
		t.KeptFiles += "; " + t.saving.Dir + " has a checkpoint"
	}
	t.KeptFiles += message.Sprintf(", from which --resume goes on")
}

// copiesRows tells whether the learner copies the rows by column: solvers with l1 or nonnegative do so for more columns than a
// Hessian may have.
func (t *trainer) copiesRows() bool {
	const mostHessian = 1 << 14
	l1 := t.learner.Text("l1")
	return t.learner.IsBatch() && t.data.Spec().Cols() > mostHessian && (l1 != "" && l1 != "0" || t.path > 0 ||
		t.learner.Text("nonnegative") == "true")
}

// learn judges the candidates of a grid, if there is one, and trains with the best one. It fills in the receipt, unless
// receipt is nil.
func (t *trainer) learn(ctx context.Context, receipt *model.Receipt) (*train.Outcome, error) {
	s := &train.Session{Options: t.fitOptions(), Rows: t.data, Learner: t.learner, Profile: t.survey, State: t.checkpoints}
	bytes := block.MemoryBytes(t.data.Source, t.Storage.HasWeights)
	switch {
	case t.learner.InMemory:
		if t.holdsFolds() {
			bytes *= 2
		}
		t.Storage.Hold(bytes)
	case t.copiesRows():
		t.Storage.Extend(2 * bytes) // for the elements by column, and for the elements of a step
	case t.learner.IsBatch():
		t.Storage.Extend(bytes / 2) // for copies of dense rows: at most a quarter of the elements, with an index each
	}
	for _, step := range []struct {
		asked   bool
		run     func(context.Context) error
		seconds *float64
	}{
		{t.path > 0, s.FollowPath, &t.seconds.CrossValidation}, {t.path == 0 && t.folds > 0, s.CrossValidate, &t.seconds.CrossValidation},
		{t.calibrates(), s.Calibrate, &t.seconds.Calibration}, {t.choosesThreshold(), s.ChooseThreshold, &t.seconds.Threshold},
		{t.reporting.File != "" && t.folds > 0, s.PoolFolds, &t.seconds.CrossValidation},
	} {
		if !step.asked {
			continue
		}
		begin := time.Now()
		if err := step.run(ctx); err != nil {
			return nil, console.OfLearner(err, t.holdsBack())
		}
		*step.seconds += time.Since(begin).Seconds()
	}
	t.l1Path, t.learner = s.Path, s.Learner
	if s.Path != nil && s.Path.UnprovenPoints() > 0 {
		t.Note("--path: %s of %s did not converge: the duality gap is above 10^-6 of the objective (try more --epochs)",
			humanize.Count(int64(s.Path.UnprovenPoints())), humanize.Plural(int64(len(s.Path.Points)), "point"))
	}
	tracer, err := t.trace(ctx, &s.Options)
	if err != nil {
		return nil, err
	}
	t.training = console.Watch(t.bar, t.learner)
	s.Rows, s.Validation, s.HoldOut, s.Progress, s.Output.Receipt = block.AssumeValid(t.data.Source),
		t.validation.Source, t.share, t.training.Show, receipt
	f, err := s.Run(ctx)
	switch {
	case tracer == nil:
	case f == nil:
		tracer.Abort()
	default:
		if bad := tracer.Close(); bad != nil {
			t.traceError = message.Errorf("--trace: %w", bad)
		}
	}
	if f == nil {
		err = console.OfLearner(err, t.holdsBack())
	}
	return f, err
}
