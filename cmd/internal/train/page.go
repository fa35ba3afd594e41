package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/report"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/plot"
)

func (r *Report) sheet(o *trainOptions, m *model.Model) *console.Sheet {
	s := new(console.Sheet)
	s.Line("%s: %s of %s, %s\n", r.Algorithm, humanize.Plural(r.Rows, "row"),
		humanize.Plural(int64(r.Features), "feature"), console.Classes(m))
	s.Pairs(slices.Concat(r.facts(o, m), r.machine())...)
	r.addPoints(s)
	if advice := r.advice(o); advice != "" {
		s.Line("")
		for line := range strings.SplitSeq(advice, "\n") {
			s.Line("%s", line)
		}
	}
	return s
}

// addPoints adds the table of the grid or of the path, if there is one.
func (r *Report) addPoints(s *console.Sheet) {
	t, what := r.judgedPoints(), "The grid, each point"
	if t == nil {
		return
	}
	if r.Path != nil {
		what = fmt.Sprintf("The path, %d of its %s, each", len(t.Points), humanize.Plural(int64(len(r.Path.Points)), "point"))
	}
	s.Line("\n%s evaluated in %d folds; * is what the model was learned with:\n", what, t.Folds)
	t.addTo(s)
}

// judgedPoints returns the points of the grid or of the path, or nil if there is one point at most.
func (r *Report) judgedPoints() *judgedPoints {
	switch p := r.Path; {
	case p != nil:
		t := newJudgedPoints(p.CrossValidation)
		every, kept := (len(t.Points)+mostPathRows-1)/mostPathRows, []judgedPoint(nil)
		for i := range t.Points {
			t.Points[i].nonzeroWeights = humanize.Count(int64(p.Points[i].NonzeroWeights))
			if i%every == 0 || i == p.ChosenPoint || i == p.PointWithinError {
				kept = append(kept, t.Points[i])
			}
		}
		t.Points = kept
		return t
	case r.CrossValidation != nil && len(r.CrossValidation.Points) > 1:
		return newJudgedPoints(r.CrossValidation)
	}
	return nil
}

// mostPathRows is the number of points of a path from which the table has only some of them.
const mostPathRows = 20

func (t *trainer) page(ctx context.Context, r *Report, f *train.Outcome, paths, validation []string) (*plot.Page, error) {
	m, inputs := f.Model, slices.Concat(paths, validation)
	judged, err := t.heldOut(ctx, f, paths, validation)
	if err != nil {
		return nil, err
	}
	columns, err := t.columns(ctx, paths)
	if err != nil {
		return nil, err
	}
	facts := new(console.Sheet)
	facts.Pairs(r.facts(t.trainOptions, m)...)
	machine := new(console.Sheet)
	machine.Pairs(r.machine()...)
	result := report.Result(facts)
	if advice := r.advice(t.trainOptions); advice != "" {
		result.Text = strings.Split(advice, "\n")
	}
	data := [][2]string{{"rows", humanize.Count(r.Rows)}, {"features", humanize.Count(int64(r.Features))}, {"label", m.Label}}
	if f.Profile != nil {
		for i, c := range m.Classes {
			data = append(data, [2]string{"class " + c.Text,
				fmt.Sprintf("%s, %s", humanize.Plural(f.Profile.Counts[i], "row"),
					humanize.Percent(float64(f.Profile.Counts[i])/float64(r.Rows)))})
		}
	}
	hashes := append([][2]string{{"fingerprint of the rows", m.Data.Fingerprint}}, report.Hash(m, t.out)...)
	t.reporting.Interrupted = r.Interrupted
	o := t.trainOptions
	p := &plot.Page{Title: report.Title(m.Label, o.learner.FullName), Lead: r.verdict(m)}
	p.Sections = []plot.Section{result}
	if points := r.judgedPoints(); points != nil {
		p.Sections = append(p.Sections, points.section())
	}
	p.Sections = slices.Concat(p.Sections, judged, report.Weights(m))
	if figures := t.figures(r, m); figures != nil {
		p.Sections = append(p.Sections, plot.Section{Heading: "Training history", Figures: figures})
	}
	p.Sections = append(append(p.Sections, report.Data(t.App, inputs, data)), columns...)
	p.Sections = append(p.Sections, t.follower.Rows()...)
	p.Sections = append(p.Sections, t.reporting.OptionsSection(),
		plot.Section{Heading: "Time", Facts: machine.Facts}, t.reporting.RepeatSection(hashes...))
	return p, nil
}

// verdict says how good the model is, in one sentence or two.
func (r *Report) verdict(m *model.Model) string {
	text := r.heldOutAccuracy()
	switch {
	case text != "":
		text = "Accuracy " + text + "."
	case r.TrainErrors != nil:
		text = "Accuracy " + console.Accuracy(*r.TrainErrors, r.Rows, "the "+humanize.Plural(r.Rows, "training row"), r.Baseline) + "." +
			message.Sprintf(" New rows may fare worse: --validation 0.2 holds some out.")
	default:
		text = "The errors were not counted."
	}
	if r.Warning != "" {
		text += " Warning: " + r.Warning + "."
	}
	return text
}

// heldOut returns the sections on held-out rows: their figures, and the most wrong rows. It returns nil if there are none.
func (t *trainer) heldOut(ctx context.Context, f *train.Outcome, paths, validation []string) (all []plot.Section, err error) {
	h, m := f.HeldOut, f.Model
	if h == nil {
		return nil, nil
	}
	if t.parts != nil {
		h.NumberWorstRows(t.parts)
	}
	e := report.NewEvaluation(m, h.Evaluation, h.Confusion, true)
	s := report.Result(e.Sheet(console.KeptThreshold(m), e.Calibration != nil))
	s.Heading, s.Text = "On held-out rows", t.heldOutText(h, m)
	s.Figures = append(report.CurveFigures([]*report.Evaluation{e}), e.Figures()...)
	var learned []float64
	var wrong, judged []int64
	for _, p := range h.LearningCurve {
		learned, wrong, judged = append(learned, float64(p.Rows)), append(wrong, p.HeldOutErrors.Errors),
			append(judged, p.HeldOutErrors.Rows)
	}
	if len(learned) > 1 {
		s.Figures = append(s.Figures, plot.Samples(learned, wrong, judged))
	}
	all = append(all, s)
	var values *report.Values
	if t.Engine == nil {
		if len(validation) > 0 {
			paths = validation
		}
		opt := t.OptionsFor(t.bar, m.Spec(), len(validation) > 0)
		if values, err = e.NewValues(ctx, m, opt, paths); err != nil {
			return nil, err
		}
	}
	if misses := e.WorstErrors(m, values); misses != nil {
		all = append(all, *misses)
	}
	return all, nil
}

// heldOutText says which rows were held out, and why their figures may look too good.
func (t *trainer) heldOutText(h *train.HeldOutEvaluation, m *model.Model) (text []string) {
	n := humanize.Plural(h.Confusion.Rows(), "row")
	switch {
	case h.Folds > 0:
		text = append(text, fmt.Sprintf("%s, each predicted by a model that didn't learn from it: %s. The scores of "+
			"the folds are pooled.", n, foldsOf(h.Folds, h.Split, ", each predicted by a model of ")))
		if t.calibrates() {
			text = append(text, "The models of the folds have no calibration, and so no probabilities.")
		}
	case t.share > 0:
		text = append(text, message.Sprintf("%s that --validation %s held out of the rows to learn from.", n, t.trainOptions.validation))
	default:
		text = append(text, message.Sprintf("%s of --validation %s, which the training did not learn from.", n, t.trainOptions.validation))
	}
	if h.Folds == 0 && t.learner.ChoosesByValidation {
		text = append(text, m.Algorithm+" kept the weights with the fewest errors on these rows, so that their "+
			"metrics look better than those of new rows.")
	}
	if len(t.axes) > 0 || t.path > 0 {
		text = append(text, "The options were chosen by these rows too, so that their metrics look a little better than those of new rows.")
	}
	if h.HasRoundedScores {
		text = append(text, "The curves, the AUC and the average precision come from a histogram of the scores, since there are many.")
	}
	if len(h.LearningCurve) > 1 && h.Folds > 0 {
		text = append(text, "The learning curve is that of the first fold.")
	}
	return text
}

// columns returns the section of the columns of the files, and of the features that they became. It returns nil if the
// columns weren't prepared.
func (t *trainer) columns(ctx context.Context, paths []string) ([]plot.Section, error) {
	if t.Engine != nil {
		return nil, nil
	}
	p, err := t.Examine(ctx, paths, t.bar)
	if p == nil || err != nil {
		return nil, err
	}
	return []plot.Section{report.Columns(p)}, nil
}

// figures returns the pictures of a training: its trace, the errors of the pocket, and the dual coefficients.
func (t *trainer) figures(r *Report, m *model.Model) []*plot.Figure {
	figures := t.follower.Figures(m.Classes)
	var updates, errors []float64
	for _, p := range r.Curve {
		updates, errors = append(updates, float64(p.Update)), append(errors, float64(p.Errors))
	}
	if best := plot.KeptErrors(updates, errors); best != nil && (m.Algorithm != "pocket" || t.tracing.file == "") {
		figures = append(figures, best)
	}
	for class := range plot.MostClasses {
		if a := plot.Alphas(m, class); a != nil {
			figures = append(figures, a)
		}
	}
	return figures
}
