package train

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"halfspace/internal/model"
	"halfspace/train/learner"
)

// learn trains. If ctx ends the training, learn returns the model of the weights so far, or nil, with ctx's error. A
// final pass over the rows may then run until after ends. The model has no fingerprints.
func (j *job) learn(ctx, after context.Context) (*Outcome, error) {
	one := *j
	if j.opt.Weights.hasClassWeights() {
		var err error
		if one.classWeights, err = weightsOf(ctx, &j.opt.Weights, j.src, j.Workers()); err != nil {
			return nil, err
		}
		one.src = learner.WithClassWeights(j.src, one.classWeights)
		if j.validation != nil {
			one.validation = learner.WithClassWeights(j.validation, one.classWeights)
		}
	}
	how := one.learnAtOnce
	if j.classes() > 2 && !j.learnsJointly() && !j.VersusRest {
		how = one.eachVersusRest
	}
	f, err := how(ctx, after)
	if f != nil {
		f.Model.Options.ClassWeight = one.classWeights
	}
	return f, err
}

// eachVersusRest trains each class versus the rest, and joins the models.
func (j *job) eachVersusRest(ctx, after context.Context) (*Outcome, error) {
	start := time.Now()
	shared := &sharedProgress{show: j.Settings.RunOptions().Progress, classes: make([]learner.Progress, j.classes())}
	var trained atomic.Int64 // number of trained classes
	binary, err := learner.OneVersusRest(ctx, j.src, j.Workers(), j.learnsClassesAtOnce(),
		func(ctx context.Context, class, workers int) (*Outcome, error) {
			one := j.ofClass(class)
			one.Learner = j.WithWorkers(workers, shared.class(class))
			f, err := one.learnAtOnce(ctx, after)
			if err == nil {
				trained.Add(1)
			}
			if f != nil {
				err = nil // the other classes may have weights too
			}
			return f, err
		})
	interrupted := ctx.Err()
	if err != nil && interrupted != nil {
		return nil, &learner.UnfinishedError{Position: fmt.Sprintf("%d of %d classes were trained, and a model "+
			"needs all", trained.Load(), j.classes()), Err: interrupted}
	}
	if err != nil {
		return nil, err
	}
	all := sumResults(binary)
	if n := len(all.LastWeights); n > 0 && n == len(all.Weights) {
		judges := j.src
		if j.validation != nil {
			judges = j.validation
		}
		if chosen, err := learner.ChooseVectors(after, judges, j.Workers(), all.Weights, all.LastWeights); err == nil {
			all.Weights = chosen
		} else if after.Err() == nil {
			return nil, err
		}
	}
	all.Seconds = (j.opt.State.TimeBefore() + time.Since(start)).Seconds()
	late := learner.Evaluate(after, j.src, j.Workers(), all)
	if late != nil && after.Err() == nil {
		return nil, late
	}
	all.NotEvaluated = all.NotEvaluated || late != nil
	all.Margin = 0 // it belongs to a single binary classifier
	whole := joinModels(j.model(all), binary)
	if whole.Voters != nil {
		var wrong ErrorCount
		if wrong, late = CountErrors(after, whole, j.src, j.Workers()); late != nil && after.Err() == nil {
			return nil, late
		}
		all.Errors, all.PredictedRows = wrong.Errors, nil // these were counted with the mean of the voters
	}
	if late != nil { // also if only the voters' errors are unknown
		whole.Training.Errors, all.PredictedRows = nil, nil
	}
	return &Outcome{Model: whole, Result: all, Visits: sumVisits(binary)}, cmp.Or(interrupted, late)
}

// learnsClassesAtOnce tells whether several classes versus the rest may be trained at the same time.
func (j *job) learnsClassesAtOnce() bool { return !j.IsBatch() && j.opt.Trace == nil }

// ofClass returns the job of one class versus the rest.
func (j *job) ofClass(class int) *job {
	one := *j
	one.class, one.versus, one.src = class, j.classes(), learner.VersusRest(j.src, class)
	if j.validation != nil {
		one.validation = learner.VersusRest(j.validation, class)
	}
	if j.learnsClassesAtOnce() {
		one.parallelTrainings = max(1, j.parallelTrainings) * learner.ClassesAtOnce(j.src, j.Workers())
	}
	return &one
}

// sharedProgress is the progress of the trainings of several classes. Its figures are sums over the classes.
type sharedProgress struct {
	mu      sync.Mutex
	show    func(learner.Progress)
	classes []learner.Progress
}

// class returns the Progress function of one class, or nil if show is nil.
func (s *sharedProgress) class(class int) func(learner.Progress) {
	if s.show == nil {
		return nil
	}
	return func(p learner.Progress) { s.report(class, p) }
}

func (s *sharedProgress) report(class int, p learner.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.classes[class] = p
	all := learner.Progress{Epochs: p.Epochs * int64(len(s.classes)), Rows: p.Rows, BestErrors: -1, Elapsed: p.Elapsed}
	for _, p := range s.classes {
		all.Epoch += p.Epoch
		all.Visits += p.Visits
		all.Updates += p.Updates
	}
	s.show(all)
}

func sumVisits(binary []*Outcome) (visits int64) {
	for _, f := range binary {
		visits += f.Visits
	}
	return visits
}

// sumResults adds up the figures of the trainings of all classes.
func sumResults(binary []*Outcome) *learner.Result {
	all := &learner.Result{Converged: true}
	for _, f := range binary {
		r := f.Result
		all.LastWeights = append(all.LastWeights, r.LastWeights...)
		all.Interrupted, all.NotEvaluated = all.Interrupted || r.Interrupted, all.NotEvaluated || r.NotEvaluated
		all.Weights = append(all.Weights, r.Weights...)
		all.Epochs, all.Visits = max(all.Epochs, r.Epochs), max(all.Visits, r.Visits)
		all.Updates += r.Updates
		all.Loss += r.Loss
		all.Converged = all.Converged && r.Converged
		all.OutOfPasses = all.OutOfPasses || r.OutOfPasses && !r.Converged
		all.Candidates += r.Candidates
		all.RowsScored += r.RowsScored
	}
	return all
}

// joinModels adds the fields that the models of each class versus the rest keep to whole, the model of all classes. It
// returns whole.
func joinModels(whole *model.Model, binary []*Outcome) *model.Model {
	way := whole.Options.Multiclass
	whole.Options = binary[0].Model.Options // with the chosen solver
	whole.Options.Multiclass = way
	var optima []*model.Optimum
	for _, f := range binary {
		t := &f.Model.Training
		whole.Training.Ridge = max(whole.Training.Ridge, t.Ridge)
		whole.Training.Dependences = t.Dependences // the same in all models
		optima = append(optima, t.Optimum)
		if f.Model.State != nil {
			whole.State = whole.State.Append(f.Model.State)
		}
		if v := f.Model.Voters; v != nil {
			if whole.Voters == nil {
				whole.Voters = new(model.Voters)
			}
			whole.Voters.Sizes = append(whole.Voters.Sizes, len(v.Counts))
			whole.Voters.Counts, whole.Voters.Weights = append(whole.Voters.Counts, v.Counts...), append(whole.Voters.Weights, v.Weights...)
		}
	}
	whole.Training.Optimum = sumOptima(optima)
	return whole
}

// sumOptima adds up the optima of several trainings. It returns nil if an optimum is unknown.
func sumOptima(optima []*model.Optimum) *model.Optimum {
	sum := new(model.Optimum)
	for _, o := range optima {
		if o == nil {
			return nil
		}
		sum.Objective, sum.Gap = sum.Objective+o.Objective, sum.Gap+o.Gap
		sum.MetBeforeRounding = sum.MetBeforeRounding || o.MetBeforeRounding
	}
	return sum
}
