package train

import (
	"context"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// A job is the rows to learn from, and the learner and options of the training.
type job struct {
	Learner
	opt             *Session
	src, validation block.Source
	classWeights    []float64 // weights of the classes of src; nil if classes have none
	class           int       // the class, if rows are one class versus the rest
	// versus is the number of classes if the rows are one class versus the rest, and 0 otherwise. parallelTrainings is the
	// number of trainings that run at the same time; 0: only this one.
	versus, parallelTrainings int
	heldBytes                 int64  // bytes of all rows in memory
	trail                     *trail // gets the sums of the weights; nil: not recorded
}

func (j *job) classes() int { return len(j.src.Spec().Classes) }

// learnsJointly tells whether more than two classes are learned together.
func (j *job) learnsJointly() bool {
	return j.opt.Multiclass == model.Joint || j.opt.Multiclass == "" && j.LearnsJointly(j.Settings)
}

// startingPoint returns the initial weights, or nil for zeros.
func (j *job) startingPoint() *learner.Start {
	switch {
	case j.opt.Init == nil:
		return nil
	case j.versus > 0:
		return learner.StartOf(j.opt.Init, j.class)
	}
	return learner.StartOf(j.opt.Init, -1)
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
