package train

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// A trail is the sums of the weights after each epoch, by class. Trainings of several classes may add to it
// concurrently.
type trail struct {
	mu      sync.Mutex
	byClass map[int][]model.Sum
}

func (t *trail) add(class int, sum model.Sum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byClass == nil {
		t.byClass = map[int][]model.Sum{}
	}
	t.byClass[class] = append(t.byClass[class], sum)
}

// sums returns the sums in the order of the classes.
func (t *trail) sums() []model.ClassSums {
	all := []model.ClassSums{}
	for class, weights := range t.byClass {
		all = append(all, model.ClassSums{Class: class, Weights: weights})
	}
	slices.SortFunc(all, func(a, b model.ClassSums) int { return cmp.Compare(a.Class, b.Class) })
	return all
}

// state saves or restores the sums of a class.
func (t *trail) state(class int, w *checkpoint.Walk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byClass == nil {
		t.byClass = map[int][]model.Sum{}
	}
	sums := t.byClass[class]
	checkpoint.List(w, &sums, func(s *model.Sum) { checkpoint.Values(w, s[:]) })
	if len(sums) > 0 {
		t.byClass[class] = sums
	}
}

// tracedSettings returns watchedSettings with a Trace that reports to opt.Trace. The recorder is nil unless the learner
// is a perceptron that reports each update: a perceptron without shards.
func (j *job) tracedSettings(ctx context.Context) (learner.Settings, *recorder, error) {
	s := j.watchedSettings()
	o := j.opt.Trace
	if o == nil {
		return s, nil, nil
	}
	class := -1
	if j.versus > 0 {
		class = j.class
	}
	s = s.Copy()
	own, is := s.(*perceptron.Settings)
	if !is || own.Shards > 1 { // each shard has its own updates
		show := s.RunOptions().Progress
		s.RunOptions().Progress = func(p learner.Progress) {
			if p.Sum != nil {
				o.Point(passPoint(p, class))
			}
			if show != nil {
				show(p)
			}
		}
		return s, nil, nil
	}
	of := *o
	if n := j.src.Spec().Cols(); j.versus > 0 && len(of.Reference) == n*j.versus {
		of.Reference = of.Reference[j.class*n:][:n]
	}
	options := recorderOptions{Class: class, Eta: own.Eta, Margin: own.Margin, TheoremHolds: own.L2 == 0 && !j.src.Spec().Weighted,
		CountsErrors: own.Pocket != "", Workers: j.Workers(), InitialWeights: unpaddedStart(j.startingPoint(), j.src.Spec())}
	r, err := newRecorder(ctx, block.AssumeValid(j.src), &of, options)
	if err != nil {
		return nil, nil, err
	}
	s.RunOptions().Trace, s.RunOptions().TraceEvery = r.Update, o.UpdatesPerPoint
	return s, r, nil
}

// unpaddedStart returns the weights of a start without padding, or nil if begin is nil.
func unpaddedStart(begin *learner.Start, spec *schema.Spec) (w []float64) {
	if begin == nil {
		return nil
	}
	cols := spec.Cols()
	for v := range slices.Chunk(begin.Weights, kernel.Stride(cols)) {
		for _, x := range v[:cols] {
			w = append(w, float64(x))
		}
	}
	return w
}

// watchedSettings returns the settings of a training. If there is a trail, the training also reports its sums to the
// trail, and its checkpoints include the trail.
func (j *job) watchedSettings() learner.Settings {
	if j.trail == nil {
		return j.Settings
	}
	s := j.Settings.Copy()
	s.RunOptions().Checkpoint = j.opt.State.Part(int64(j.class))
	s.RunOptions().Checkpoint.AddState(func(w *checkpoint.Walk) { j.trail.state(j.class, w) })
	show := s.RunOptions().Progress
	s.RunOptions().Progress = func(p learner.Progress) {
		if p.Sum != nil {
			j.trail.add(j.class, p.Sum())
		}
		if show != nil {
			show(p)
		}
	}
	return s
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

// SumRows returns the sums of the rows of src for a receipt.
func SumRows(ctx context.Context, src block.Source, workers int) (model.RowSums, error) {
	if _, err := block.SpecOf(src); err != nil {
		return model.RowSums{}, err
	}
	sums, err := block.ChunkSums(ctx, src, workers)
	chunks := make([]model.Sum, len(sums))
	for i, s := range sums {
		chunks[i] = s
	}
	return model.NewRowSums(src.Rows(), block.ChunkRows, chunks), err
}
