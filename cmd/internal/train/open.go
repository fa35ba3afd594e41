package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/dataset"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/train/learner"
)

// openHeld opens the rows of paths, and returns the paths: see holdLakes.
func (t *trainer) openHeld(ctx context.Context, paths, validation []string) (held, heldOut []string, err error) {
	if paths, validation, err = t.holdLakes(ctx, t.App, t.checkpoints, paths, validation); err == nil {
		err = t.recordFileStates(ctx, slices.Concat(paths, validation))
	}
	if err == nil {
		err = t.open(ctx, paths, validation)
	}
	return paths, validation, err
}

// lakeFact is the name of the versions of lake tables in a checkpoint.
const lakeFact = "the version of the lake table"

// holdLakes returns the paths of a training, with the versions of lake tables of the checkpoint that it resumes from. If the user
// named other versions, it returns an error.
func (o *trainOptions) holdLakes(ctx context.Context, a *console.App, saved *checkpoint.Run, paths, validation []string) (
	held, heldOut []string, err error) {
	all := slices.Concat(paths, validation)
	now := dataset.LakeVersions(all)
	if before := saved.SavedFact(lakeFact); before != "" && before != now && !o.namesVersions(all) {
		if all, err = dataset.AtLakeVersions(ctx, all, before); err != nil {
			return nil, nil, message.Errorf("--resume: the training reads version %s of the table: %w", before, err)
		}
		a.Note("--resume reads the same version of the table as before, %s; the newest is %s", before, now)
		now = dataset.LakeVersions(all)
	}
	if now != "" {
		err = saved.CheckFact(lakeFact, now)
	}
	return all[:len(paths)], all[len(paths):], err
}

// namesVersions returns true if the user named the version of a lake table.
func (o *trainOptions) namesVersions(paths []string) bool {
	return o.Data.Version != "" || slices.ContainsFunc(paths, func(p string) bool {
		return slices.Contains(append(slices.Clone(o.args), o.validation), p)
	})
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

// openValidation opens the validation rows, if there are any: the rows of paths, or the share that --validation holds out
// of the training rows.
func (t *trainer) openValidation(ctx context.Context, paths []string) (err error) {
	if t.share == 0 {
		if t.validation = new(dataset.Rows); len(paths) > 0 {
			t.validation, err = flags.OpenValidation(ctx, t.App, &t.Options, paths, t.data, t.bar)
		}
		return err
	}
	opt, all := t.fitOptions(), t.data
	opt.HoldOut = t.share
	parts, err := train.HoldOutRows(ctx, all.Source, t.learner, opt)
	if errors.Is(err, train.ErrEmptyShare) {
		return message.Errorf("%s of %s %w: take another share, or another --seed", t.trainOptions.validation,
			humanize.Plural(all.Rows(), "row"), err)
	}
	if err != nil {
		return err
	}
	t.parts = parts
	t.data, t.validation = dataset.NewRows(parts.KeptRows, nil), dataset.NewRows(parts.HeldRows, parts.Close)
	t.data.Density = all.Density
	return all.Close()
}
