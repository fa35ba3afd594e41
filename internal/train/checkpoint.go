package train

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/internal/passes"
)

// open tells the checkpoint, if there is one, which options and rows the training has. It returns an error if the
// training resumes from a checkpoint of other options or rows. It returns the fingerprint of the rows, or "" without a
// checkpoint. profile is as in fingerprint.
func (j *job) open(ctx context.Context, profile *DataProfile) (sum string, err error) {
	run := j.opt.State
	if run == nil {
		return "", nil
	}
	for _, f := range j.facts() {
		if err := run.CheckFact(f[0], f[1]); err != nil {
			return "", err
		}
	}
	begin, err := sumOf(j.opt.Init)
	if err == nil {
		err = run.CheckFact("the model to begin with", begin)
	}
	if err != nil {
		return "", err
	}
	if sum, err = sameRows(ctx, run, j.src, j.Workers(), profile); err != nil {
		return "", err
	}
	held := "none"
	if j.validation != nil {
		of, err := passes.Fingerprint(ctx, j.validation, j.Workers())
		if err != nil {
			return "", err
		}
		held = fmt.Sprintf("%s of %d", of, j.validation.Rows())
	}
	if err := run.CheckFact("the fingerprint of the rows to validate on", held); err != nil {
		return "", err
	}
	spec := j.src.Spec()
	zeros := model.New(spec, make([]float32, spec.Vectors()*spec.Cols()))
	if len(spec.Classes) > 2 {
		zeros.Options.Multiclass = model.OneVersusRest // any way of training several classes
	}
	columns, err := sumOf(zeros)
	if err != nil {
		return "", err
	}
	return sum, run.CheckFact("the sum of the names and the preprocessing of columns", columns)
}

// sameRows tells the checkpoint which rows the training has, and returns their fingerprint. profile is as in fingerprint.
func sameRows(ctx context.Context, run *checkpoint.Run, rows block.Source, workers int, profile *DataProfile) (string, error) {
	sum, err := fingerprint(ctx, rows, workers, profile)
	if err != nil {
		return "", err
	}
	return sum, run.CheckFact("the fingerprint of the rows", fmt.Sprintf("%s of %d", sum, rows.Rows()))
}

// sumOf returns the sum of a model as text, or "none" if m is nil.
func sumOf(m *model.Model) (string, error) {
	if m == nil {
		return "none", nil
	}
	sum, err := m.Sum()
	text, _ := sum.MarshalText() // no error
	return string(text), err
}

// facts returns the names and the values of the options that determine the result of a training.
func (j *job) facts() (all [][2]string) {
	add := func(name string, value any) { all = append(all, [2]string{name, fmt.Sprint(value)}) }
	add("the learner", j.Name)
	add("the type of numbers", model.Float32)
	for i := range j.Options {
		if o := &j.Options[i]; j.Has(o.Name) {
			add(o.Name, o.Text(j.Settings))
		}
	}
	add("seed", j.Settings.RunOptions().Seed)
	add("multiclass", j.opt.Multiclass)
	add("the hold-out share", j.opt.HoldOut)
	add("the threshold", j.opt.Output.Threshold)
	add("the sum of groups and times", j.opt.Split.sum())
	add("the column of sample weights", j.opt.Weights.Column)
	weights := "balanced"
	if !j.opt.Weights.Balanced {
		weights = fmt.Sprint(j.opt.Weights.Classes) // in the order of the classes
	}
	add("the weights of classes", weights)
	folds, points := 0, 0
	if j.opt.CrossValidation != nil {
		folds = j.opt.CrossValidation.Folds
	}
	if j.opt.Path != nil {
		points = len(j.opt.Path.Points)
	}
	add("the number of folds", folds)
	add("the number of penalties of the path", points)
	return all
}

// save writes a checkpoint if ctx has ended the training.
func (o *Session) save(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	if err := o.State.Save(); err != nil {
		o.note(err.Error() + "; the checkpoint before is kept")
	}
}
