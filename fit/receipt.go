package fit

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train"
)

// A trail is the sums of the weights after each epoch, by class. Trainings of several classes may add to it at once.
type trail struct {
	mu sync.Mutex
	of map[int][]model.Sum
}

func (t *trail) add(class int, sum model.Sum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[int][]model.Sum{}
	}
	t.of[class] = append(t.of[class], sum)
}

// sums returns the sums in the order of the classes.
func (t *trail) sums() []model.ClassSums {
	all := []model.ClassSums{}
	for class, weights := range t.of {
		all = append(all, model.ClassSums{Class: class, Weights: weights})
	}
	slices.SortFunc(all, func(a, b model.ClassSums) int { return cmp.Compare(a.Class, b.Class) })
	return all
}

// state walks the sums of a class.
func (t *trail) state(class int, w *checkpoint.Walk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[int][]model.Sum{}
	}
	sums := t.of[class]
	checkpoint.List(w, &sums, func(s *model.Sum) { checkpoint.Values(w, s[:]) })
	if len(sums) > 0 {
		t.of[class] = sums
	}
}

// watched returns the settings of a training whose progress goes to the trail too, if there is one, and whose state is
// saved if there are checkpoints.
func (j *job[T]) watched() train.Settings {
	if j.trail == nil {
		return j.Settings
	}
	s := train.CopySettings(j.Settings)
	s.Shared().Checkpoint = j.opt.Checkpoint.Part(int64(j.class))
	s.Shared().Checkpoint.Beside(func(w *checkpoint.Walk) { j.trail.state(j.class, w) })
	show := s.Shared().Progress
	s.Shared().Progress = func(p train.Progress) {
		if p.Sum != nil {
			j.trail.add(j.class, p.Sum())
		}
		if show != nil {
			show(p)
		}
	}
	return s
}

// receipt fills in opt.Receipt.
func (j *job[T]) receipt(ctx context.Context, m *model.Model) (err error) {
	r := j.opt.Receipt
	if r.Model, err = m.Sum(); err != nil {
		return err
	}
	if r.Rows, err = SumRows(ctx, j.src, j.workers()); err != nil {
		return err
	}
	if j.validation != nil {
		held, err := SumRows(ctx, j.validation, j.workers())
		if err != nil {
			return err
		}
		r.Validation = &held
	}
	r.Epochs = j.trail.sums()
	return nil
}

// SumRows returns the sums of the rows of src for a receipt.
func SumRows[T kernel.Float](ctx context.Context, src block.Source[T], workers int) (model.RowSums, error) {
	sums, err := block.RunSums(ctx, src, workers)
	runs := make([]model.Sum, len(sums))
	for i, s := range sums {
		runs[i] = s
	}
	return model.NewRowSums(src.Rows(), block.RunRows, runs), err
}
