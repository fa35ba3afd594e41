package train

import (
	"cmp"
	"context"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
)

// Run is documented in package halfspace/train.
func Run(ctx context.Context, src block.Source, l Learner, opt Options) (*Outcome, error) {
	return (&Session{Options: opt, Rows: src, Learner: l}).Run(ctx)
}

// Run makes the steps that have no result yet, and the training; see the function Run.
func (s *Session) Run(ctx context.Context) (_ *Outcome, err error) {
	if s.Online != nil {
		return s.online(ctx)
	}
	if s.Checkpoint.Dir == "" || s.State != nil {
		return s.run(ctx)
	}
	one := *s
	if one.State, err = checkpoint.Open(s.Checkpoint); err != nil {
		return nil, err
	}
	defer one.State.Close()
	t, err := one.run(ctx)
	if err == nil {
		err = one.State.Finish()
	}
	return t, err
}

func (s *Session) run(ctx context.Context) (*Outcome, error) {
	l := s.configured(s.Learner)
	if err := s.checkTraining(l); err != nil {
		return nil, err
	}
	src, err := checkSource(ctx, s.Rows, l)
	if err != nil {
		return nil, err
	}
	validation := s.Validation
	if validation != nil {
		if validation, err = checkSource(ctx, validation, l); err == nil {
			err = checkSameSpec(validation.Spec(), src.Spec())
		}
		if err != nil {
			return nil, err
		}
		validation = withoutRefit(validation)
	}
	one := *s
	one.Rows = src
	var parts *Parts // of a share that is held out
	if s.HoldOut > 0 && validation == nil {
		if parts, err = HoldOutRows(ctx, src, l, s.Options); err != nil {
			return nil, err
		}
		defer parts.Close()
		one.Rows, validation = parts.KeptRows, parts.HeldRows
	}
	if s.Path == nil && s.CV.Path > 0 {
		err = one.FollowPath(ctx)
	} else if s.CV.Path == 0 && s.CV.isSet() && s.CrossValidation == nil {
		err = one.CrossValidate(ctx)
	}
	if err == nil && s.Output.Calibrate != "" && s.Calibration == nil {
		err = one.Calibrate(ctx)
	}
	if err == nil && s.Output.Threshold.NeedsRows() && s.ChosenThreshold == nil {
		err = one.ChooseThreshold(ctx)
	}
	if err == nil && s.Output.HeldOut && s.CV.isSet() {
		err = one.PoolFolds(ctx)
	}
	if err != nil {
		return nil, err
	}
	return one.learn(ctx, withoutRefit(one.Rows), parts, validation, one.configured(one.Learner))
}

// learn learns, and writes to the model which rows it learned from and was judged on. parts is nil, or the hold-out of a
// share of all rows.
func (s *Session) learn(ctx context.Context, src block.Source, parts *Parts, validation block.Source, l Learner) (*Outcome, error) {
	held := block.MemoryBytes(src, src.Spec().Weighted || s.Weights.hasClassWeights())
	first := s.firstPassOf(src)
	if first != nil {
		src = first
	}
	j := &job{Learner: l, opt: s, src: src, validation: validation, heldBytes: held}
	if s.Output.Receipt != nil || s.State != nil {
		j.trail = new(trail)
	}
	var made *DataProfile // the pass for the fingerprint makes it
	if s.Profile == nil {
		made = newDataProfile(src.Spec())
	}
	sum, err := j.open(ctx, made)
	if err != nil {
		return nil, err
	}
	after, end := parallel.Grace(ctx)
	defer end()
	f, interrupted := j.learn(ctx, after)
	s.save(ctx)
	if f == nil {
		return nil, interrupted
	}
	m := f.Model
	f.CrossValidation = s.CrossValidation
	s.addJudgement(m)
	m.Data.Rows, m.Data.Lake, m.Calibration = src.Rows(), s.Output.Lake, s.Calibration
	if late := s.setThreshold(after, m, src, l.Workers()); late != nil && after.Err() == nil {
		return nil, late
	}
	if taken, profile := first.result(); taken != "" {
		sum, made = taken, profile
	}
	if m.Data.Fingerprint = sum; sum == "" {
		s.stage(Stage{Name: "taking the fingerprint of the rows"})
		m.Data.Fingerprint, err = fingerprint(after, src, l.Workers(), made)
	}
	if err == nil && validation != nil {
		f.Validation, f.ValidationCounts, err = validate(after, m, validation, l.Workers())
	}
	if f.HeldOut = s.HeldOut; err == nil && interrupted == nil && validation != nil && s.Output.HeldOut {
		if f.HeldOut, err = j.judgeHeldOut(ctx, m, parts); err != nil && ctx.Err() != nil {
			f.HeldOut, err, interrupted = nil, nil, ctx.Err()
		}
	}
	if err != nil && after.Err() == nil {
		return nil, err
	}
	if f.Profile = s.Profile; m.Data.Fingerprint != "" && f.Profile == nil {
		f.Profile = made
	}
	if s.Output.Receipt != nil && interrupted == nil && err == nil {
		err = j.receipt(ctx, m)
	}
	return f, cmp.Or(interrupted, err)
}

// addJudgement writes the cross-validation and the path that were made before to a model.
func (o *Session) addJudgement(m *model.Model) {
	if cv := o.CrossValidation; cv != nil {
		m.Training.CrossValidation = &model.CrossValidation{Folds: cv.Folds, Errors: *cv.Points[cv.ChosenPoint].Errors}
	}
	if o.Path != nil {
		m.Training.Path = &o.Path.Path
	}
}

// receipt sets the fields of Output.Receipt.
func (j *job) receipt(ctx context.Context, m *model.Model) (err error) {
	r := j.opt.Output.Receipt
	if r.Model, err = m.Sum(); err != nil {
		return err
	}
	if r.Rows, err = SumRows(ctx, j.src, j.Workers()); err != nil {
		return err
	}
	if j.validation != nil {
		held, err := SumRows(ctx, j.validation, j.Workers())
		if err != nil {
			return err
		}
		r.Validation = &held
	}
	r.Epochs = j.trail.sums()
	return nil
}
