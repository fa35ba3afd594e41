package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/cmd/internal/report"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
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
	t.seconds.Train = fitted.Result.Seconds
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

// unfinished returns err. For an interrupt it adds to the message how far the training was.
func unfinished(a *console.App, err error) error {
	if u := (*learner.UnfinishedError)(nil); errors.As(err, &u) {
		a.KeptFiles += ": " + u.Position
	}
	return err
}

// A trainer is open rows, and the options of the training.
type trainer struct {
	*console.App
	*trainOptions
	bar              *console.Progress
	data, validation *dataset.Rows
	l1Path           *train.Path        // nil without --path
	parts            *train.Parts       // the hold-out of --validation SHARE; nil: none
	survey           *train.DataProfile // survey of rows in memory; for a stream, the first pass of the training makes the survey
	checkpoints      *checkpoint.Run    // nil without --checkpoint
	seconds          trainSeconds
	follower         *report.Follower  // nil if the report follows no training
	training         *console.Training // the last training, over all rows
	traceError       error             // error of the trace, which doesn't end the training
}

func (t *trainer) inMemory() bool {
	_, is := t.data.Source.(*block.Data)
	return is
}

func (t *trainer) closeData() {
	t.data.Close()
	t.validation.Close()
	t.data, t.validation = nil, nil
}

// open opens the training rows and the hold-out rows, and notes properties of the rows that spoil a training.
func (t *trainer) open(ctx context.Context, paths, validationPaths []string) (err error) {
	t.lakeVersions = dataset.LakeVersions(paths)
	if t.holdsBack() {
		if t.split, err = flags.ReadSplit(ctx, t.App, &t.Options, paths, t.bar); err != nil {
			return err
		}
	}
	t.data, err = flags.OpenRows(ctx, t.App, &t.Options, paths, t.bar)
	if errors.Is(err, dataset.ErrNoWeights) {
		return console.Usagef("--sample-weight %s: %w", t.Options.Data.SampleWeight, err)
	}
	if err != nil {
		return err
	}
	t.limitShards(t.App)
	spec := t.data.Spec()
	if len(spec.Classes) <= 2 {
		if err := learner.TwoClasses(spec); err != nil {
			return fmt.Errorf("%s: %w", humanize.Files(paths), err)
		}
	}
	noteClasses(t.App, t.trainOptions, spec)
	t.setWordsL2(spec)
	if err := model.New(spec, make([]float32, spec.Vectors()*spec.Cols())).Check(); err != nil {
		return fmt.Errorf("a model can't be made of this data: %w", err) // some name is wrong, which no training changes
	}
	noteVectors(t.App, t.trainOptions, spec)
	if err := t.openValidation(ctx, validationPaths); err != nil {
		return console.OfValidation(err, validationPaths)
	}
	if t.inMemory() {
		t.bar.Show(console.Step{Name: "looking at the rows"})
		if t.survey, err = train.NewDataProfile(ctx, t.data.Source); err != nil {
			return err
		}
		noteSurvey(t.App, t.trainOptions, spec, t.survey)
	}
	return nil
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

// fitOptions returns the options for package train.
func (t *trainer) fitOptions() train.Options {
	opt := t.trainingOptions()
	opt.Output.Lake = t.data.Lake
	opt.Watch = train.Watch{Note: t.Warn, Stage: console.Stage(t.bar)}
	return opt
}

// trainingOptions returns the options for package train that need no rows.
func (o *trainOptions) trainingOptions() train.Options {
	opt := train.Options{Weights: train.Weights{Balanced: o.isBalanced, Classes: o.weights, Column: o.Data.SampleWeight},
		CV:     train.CV{Folds: o.folds, Grid: o.axes, Path: o.path, OneStandardError: o.usesOneError, Score: o.figure()},
		Memory: o.Storage.Memory.Bytes, Init: o.initModel, Split: o.split,
		Output: train.Output{Threshold: o.threshold, HeldOut: o.reporting.File != ""}}
	if o.calibrates() {
		opt.Output.Calibrate = o.calibrate
	}
	if o.multiclass != autoName {
		opt.Multiclass = o.multiclass
	}
	return opt
}
