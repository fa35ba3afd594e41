package report

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/kernel"
	"halfspace/plot"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train/learner"
)

const (
	mostPoints       = 5000     // largest number of rows in a picture of points
	leastFigureBytes = 48 << 20 // bytes that figures about rows may take even if --memory is smaller
)

// room returns an error if a picture's data about rows takes more than half of the memory, and more than leastFigureBytes.
func (p *picture) room(rows, bytes int64) error {
	if limit := p.memory.Limit(); bytes > max(leastFigureBytes, limit/2) {
		return message.Errorf("the scores of %s take at least %s of memory: give more than %s with --memory, or draw a part of the files",
			humanize.Plural(rows, "row"), humanize.Size(bytes), humanize.Size(limit))
	}
	return nil
}

// scan reads the labelled rows of the data with the features of a model.
func scan(p *picture, m *model.Model, fn func(b *block.Block) error) error {
	bar := p.NewProgress(p.Progress)
	defer bar.End()
	memory, undo := p.memory.Hold()
	defer undo()
	rows := int64(0)
	opt := p.data.Options
	opt.Spec, opt.Label, opt.Workers, opt.Storage, opt.Memory = m.Spec(), cmp.Or(opt.Label, m.Label), p.Workers, dataset.Auto, memory
	opt.Warn, opt.Progress, opt.DropUnlabelled = p.Warn, bar.Reading("reading"), true
	err := dataset.Scan(p.ctx, p.args, opt, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
		rows += int64(b.Len())
		return fn(b)
	})
	if err == nil && rows == 0 {
		err = fmt.Errorf("%s: no rows with a label: name data that has some", humanize.Files(p.args))
	}
	return err
}

// judge evaluates all models and calls use for each, with the name of its curve. It returns an error if the data lacks a
// class that the picture needs: the negative or the positive one.
func (p *picture) judge(negatives, positives bool, use func(e *train.Evaluation, name string)) error {
	for i, m := range p.loadedModels {
		e, err := train.NewEvaluation(m, p.Workers)
		if err != nil {
			return err
		}
		err = scan(p, m, func(b *block.Block) error {
			if err := e.Add(p.ctx, b); err != nil {
				return err
			}
			return p.room(e.Confusion.Rows(), e.Scores.Bytes())
		})
		if err != nil {
			return err
		}
		for class, rows := range e.Confusion.Counts() {
			if is := class == m.Spec().PositiveClass(); rows == 0 && (is && positives || !is && negatives) {
				return fmt.Errorf("%s: no row is of class %s, and the picture needs some: name data of this class too",
					humanize.Files(p.args), m.Classes[class].Text)
			}
		}
		name := ""
		if len(p.loadedModels) > 1 {
			name = p.models[i]
		}
		use(e, name)
	}
	return nil
}

func (p *picture) roc() (*plot.Figure, error) {
	var curves []plot.Curve
	err := p.judge(true, true, func(e *train.Evaluation, name string) {
		points, _ := e.Scores.Outline(plot.MostPoints)
		curves = append(curves, plot.Curve{Name: name, Points: points, Figure: e.Scores.AUC()})
	})
	if err != nil {
		return nil, err
	}
	return plot.ROC(curves...), nil
}

func (p *picture) precisionRecall() (*plot.Figure, error) {
	var curves []plot.Curve
	err := p.judge(false, true, func(e *train.Evaluation, name string) {
		_, points := e.Scores.Outline(plot.MostPoints)
		curves = append(curves, plot.Curve{Name: name, Points: points, Figure: e.Scores.AveragePrecision()})
	})
	if err != nil {
		return nil, err
	}
	return plot.PrecisionRecall(curves...), nil
}

func (p *picture) calibration() (f *plot.Figure, err error) {
	if m := p.loadedModels[0]; !m.HasProbabilities() {
		return nil, fmt.Errorf("%s: %s", p.models[0], console.NoProbabilities(m))
	}
	err = p.judge(false, false, func(e *train.Evaluation, _ string) { f = plot.Calibration(e.Calibration.Bins()) })
	return f, err
}

func (p *picture) margins() (*plot.Figure, error) {
	m := p.loadedModels[0]
	scorer, err := predict.NewScorer(m, p.Workers)
	if err != nil {
		return nil, err
	}
	norm := 1.0
	if len(m.Weights) == 1 {
		w := m.Weights[0]
		if m.FitBias {
			w = append(append([]float64(nil), w...), m.Bias[0])
		}
		if n := learner.Norm(w); n > 0 {
			norm = n
		}
	}
	var all []float64
	var wrong []bool
	positive := m.Spec().PositiveClass()
	err = scan(p, m, func(b *block.Block) error {
		scores, err := scorer.Scores(p.ctx, b)
		if err != nil {
			return err
		}
		for r, y := range b.Y {
			all = append(all, float64(y)*float64(scores[0][r])/norm)
			class := predict.PredictedClassAbove(scores, r, positive, m.ScoreThreshold())
			wrong = append(wrong, class != predict.Class(y, positive))
		}
		const each = 9 * 9 / 4 // bytes of a margin and of wrong, in slices that are in memory twice while they grow
		return p.room(int64(len(all)), each*int64(len(all)))
	})
	if err != nil {
		return nil, err
	}
	return plot.Margins(all, wrong), nil
}

func (p *picture) line() (*plot.Figure, error) {
	m := p.loadedModels[0]
	if m.Expansion != nil {
		return nil, message.Errorf("%s: plot line needs a linear model, and a model of --algo %s has a kernel: train "+
			"another learner", p.models[0], m.Algorithm)
	}
	if m.Width() == 2 && len(m.Weights) != 1 {
		return nil, message.Errorf("%s: plot line needs one vector of weights, which a model of --algo %s does not "+
			"have: train another learner", p.models[0], m.Algorithm)
	}
	if m.Width() != 2 {
		return nil, message.Errorf("%s: plot line needs a linear model of two features, and it has %d: train with "+
			"--features A,B", p.models[0], m.Width())
	}
	spec := m.Spec()
	r := &plot.Rows{Weights: [3]float64{m.Weights[0][0], m.Weights[0][1]},
		Classes: [2]string{m.Classes[1-spec.PositiveClass()].Text, m.Classes[spec.PositiveClass()].Text}}
	if m.FitBias {
		r.Weights[2] = m.Bias[0]
	}
	r.Weights[2] -= m.ScoreThreshold()
	for i := range r.Names {
		if r.Names[i] = m.FeatureName(i); m.Preprocessing != nil && m.Preprocessing.Standardized() {
			r.Names[i] += " (standardized)"
		}
	}
	left := int64(0)
	row := make([]float32, 2)
	err := scan(p, m, func(b *block.Block) error {
		stride := kernel.Stride(b.Cols)
		for k := range b.Len() {
			if len(r.X) == mostPoints {
				left += int64(b.Len() - k)
				break
			}
			for i := range row {
				unit := make([]float32, stride)
				unit[i] = 1
				row[i] = b.Dot(k, unit)
			}
			r.X, r.Y, r.Positive = append(r.X, float64(row[0])), append(r.Y, float64(row[1])), append(r.Positive, b.Y[k] > 0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if left > 0 {
		p.Note("the picture has the first %s rows of %s", humanize.Count(mostPoints), humanize.Count(mostPoints+left))
	}
	if p.trace != "" {
		if r.Path, r.Updates, r.VisitedRows, err = p.planes(m); err != nil {
			return nil, err
		}
	}
	return plot.Plane(r), nil
}
