package fit

import (
	"context"
	"fmt"

	"halfspace/block"
	"halfspace/model"
)

// open tells the checkpoints, if there are any, which options and rows the training has. It is an error if the training
// goes on from one with others. open returns the fingerprint of the rows, or "" without checkpoints.
func (j *job[T]) open(ctx context.Context, rows block.Source[T]) (print string, err error) {
	run := j.opt.Checkpoint
	if run == nil {
		return "", nil
	}
	for _, f := range j.facts() {
		if err := run.Same(f[0], f[1]); err != nil {
			return "", err
		}
	}
	begin, err := sumOf(j.opt.Init)
	if err == nil {
		err = run.Same("the model to begin with", begin)
	}
	if err != nil {
		return "", err
	}
	if print, err = block.Fingerprint(ctx, rows, j.workers()); err != nil {
		return "", err
	}
	if err := run.Same("the fingerprint of the rows", fmt.Sprintf("%s of %d", print, rows.Rows())); err != nil {
		return "", err
	}
	held := "none"
	if j.validation != nil {
		sum, err := block.Fingerprint(ctx, j.validation, j.workers())
		if err != nil {
			return "", err
		}
		held = fmt.Sprintf("%s of %d", sum, j.validation.Rows())
	}
	if err := run.Same("the fingerprint of the rows to validate on", held); err != nil {
		return "", err
	}
	spec := j.src.Spec()
	zeros := model.New(spec, make([]T, spec.Vectors()*spec.Cols()))
	if len(spec.Classes) > 2 {
		zeros.Options.Multiclass = model.OneVersusRest // whatever way it is
	}
	columns, err := sumOf(zeros)
	if err != nil {
		return "", err
	}
	return print, run.Same("the sum of the names and the preprocessing of columns", columns)
}

// sumOf returns the sum of a model as text, or "none" without a model.
func sumOf(m *model.Model) (string, error) {
	if m == nil {
		return "none", nil
	}
	sum, err := m.Sum()
	text, _ := sum.MarshalText() // no error
	return string(text), err
}

// facts returns names and values of the options that decide what is learned.
func (j *job[T]) facts() (all [][2]string) {
	add := func(name string, value any) { all = append(all, [2]string{name, fmt.Sprint(value)}) }
	add("the learner", j.Name)
	add("the type of numbers", dtypeOf[T]())
	for i := range j.Options {
		if o := &j.Options[i]; j.Has(o.Name) {
			add(o.Name, o.Text(j.Settings))
		}
	}
	add("seed", j.Settings.Shared().Seed)
	add("multiclass", j.opt.Multiclass)
	add("the hold-out share", j.opt.HoldOut)
	add("the column of sample weights", j.opt.Weights)
	weights := "balanced"
	if !j.opt.Balanced {
		weights = fmt.Sprint(j.opt.ClassWeights) // in the order of the classes
	}
	add("the weights of classes", weights)
	folds, points := 0, 0
	if j.opt.Judged != nil {
		folds = j.opt.Judged.Folds
	}
	if j.opt.Path != nil {
		points = len(j.opt.Path.Points)
	}
	add("the number of folds", folds)
	add("the number of penalties of the path", points)
	return all
}

// save writes a checkpoint if ctx ended the training.
func (j *job[T]) save(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	if err := j.opt.Checkpoint.Save(); err != nil {
		j.opt.note(err.Error() + "; the checkpoint before is kept")
	}
}
