package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/report"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/train"
	"halfspace/plot"
	"halfspace/schema"
)

// judgedPoints are the points that --grid, --path or compare judged on folds: in JSON, in a table and on a page.
type judgedPoints struct {
	Folds       int             `json:"folds"`
	Split       string          `json:"split,omitempty"` // see train.CrossValidation
	Score       string          `json:"score"`           // the score by which the points are compared; see train.Scores
	Points      []judgedPoint   `json:"learners"`
	LeftOut     []leftOutPoint  `json:"left_out"`
	Baseline    *train.Baseline `json:"baseline"`              // the last row of the table; nil: none
	Interrupted bool            `json:"interrupted,omitempty"` // the points were judged on only some folds

	chosen *train.Point // the model was learned with it; nil: there is no model
}

// A judgedPoint is a learner with options, and its metrics over the folds. Undefined metrics are null. With weights of
// rows or classes, AUC, LogLoss and ErrorWeight are by weight.
type judgedPoint struct {
	Name         string `json:"options"` // as the user types it
	*train.Point        // its own options have no key

	JudgedFolds    int      `json:"folds,omitempty"`    // number of folds that were judged, if the comparison was interrupted
	UnrankedReason string   `json:"unranked,omitempty"` // the reason why there is no score
	AUC            *float64 `json:"auc"`                // mean over the folds; of more classes the mean of each versus the rest
	LogLoss        *float64 `json:"log_loss"`
	Seconds        float64  `json:"seconds"`       // of one training: the mean over the folds
	Total          float64  `json:"total_seconds"` // of all trainings and of judging their models

	nonzeroWeights string // of a path
}

type leftOutPoint struct {
	Name   string `json:"options"`
	Reason string `json:"reason"`
}

// shortName returns the name of a point in texts.
func shortName(name string) string { return strings.TrimPrefix(name, "--algo ") }

// newJudgedPoints returns the points of a grid or of a path.
func newJudgedPoints(cv *train.CrossValidation) *judgedPoints {
	t := new(judgedPoints)
	var names []string
	for _, p := range cv.Points {
		names = append(names, p.Learner.VariedText())
	}
	t.add(names, cv)
	t.chosen = &cv.Points[cv.ChosenPoint]
	return t
}

// add adds the results of a cross-validation; names has the name of each point. Points that weren't judged are left out.
func (t *judgedPoints) add(names []string, cv *train.CrossValidation) {
	t.Folds, t.Split, t.Score = cv.Folds, cv.Split, cv.Score
	for i := range cv.Points {
		p := judgedPoint{Name: names[i], Point: &cv.Points[i], UnrankedReason: cv.Points[i].NoScoreReason}
		folds := len(p.FoldScores())
		if p.Failure() != nil || folds == 0 {
			t.LeftOut = append(t.LeftOut, leftOutPoint{p.Name, whyLeftOut(p.Point)})
			continue
		}
		if f := p.Figures; f != nil {
			p.AUC, p.LogLoss = console.Finite(f.MeanAUC()), console.Finite(f.LogLoss.Value())
			p.Seconds, p.Total = f.Seconds/float64(folds), f.TotalSeconds
		}
		if t.Interrupted {
			p.JudgedFolds = folds
		}
		if p.Score == nil && p.UnrankedReason == "" {
			p.UnrankedReason = "has no fold in which the score is defined"
		}
		t.Points = append(t.Points, p)
	}
}

// whyLeftOut returns the reason why a point has no result.
func whyLeftOut(p *train.Point) string {
	algo := console.Setting("algo", p.Learner.Name, false)
	if slow := (*train.TooSlowError)(nil); errors.As(p.Failure(), &slow) {
		return message.Sprintf("%v: name it with %s to judge it anyway", slow, algo)
	}
	if slow := (*train.OverBudgetError)(nil); errors.As(p.Failure(), &slow) {
		return message.Sprintf("%v: raise --budget, or name it with %s to judge it anyway", slow, algo)
	}
	return cmp.Or(p.FailureText, "interrupted before its first fold was judged")
}

// addTo adds the table, and the points that have no place in it.
func (t *judgedPoints) addTo(s *console.Sheet) {
	s.Table(t.table())
	for i, line := range t.remarks() {
		if i == 0 {
			s.Line("")
		}
		s.Line("%s", line)
	}
}

// section returns the section of a page with the table, the points that have no place in it, and a plot of the scores.
func (t *judgedPoints) section() plot.Section {
	s := new(console.Sheet)
	s.Table(t.table())
	if s.Tables[0].Caption = "Metrics in " + foldsOf(t.Folds, t.Split, ", each predicted by a model of "); t.chosen != nil {
		s.Tables[0].Caption += "; * is what the model was learned with"
	}
	return plot.Section{Heading: "Cross-validation", Tables: s.Tables, Text: t.remarks(), Figures: t.figures()}
}

// table returns the table of the points, and the baseline if there is one.
func (t *judgedPoints) table() [][]string {
	b, first, head := cmp.Or(t.Baseline, &train.Baseline{}), &t.Points[0], "options"
	rows, compared, figure := len(t.Points), first.Figures != nil, scoreNames[t.Score]
	if t.Baseline != nil {
		rows, head = rows+1, "learner"
	}
	column := func(head, baseline string, cell func(p *judgedPoint) string) console.Column {
		return console.Column{Head: head, Cell: func(i int) string {
			if i == len(t.Points) {
				return baseline
			}
			return cell(&t.Points[i])
		}}
	}
	return console.Columns(rows,
		column(head, "always "+schema.NameClass(b.Class), func(p *judgedPoint) string { return shortName(p.Name) }),
		column("nonzero", "", func(p *judgedPoint) string { return p.nonzeroWeights }).If(first.nonzeroWeights != ""),
		column("errors", humanize.Count(b.Errors), func(p *judgedPoint) string { return humanize.Count(*p.Errors) }).If(
			first.Errors != nil),
		column("weight", "-", func(p *judgedPoint) string { return humanize.Real(*p.ErrorWeight) }).If(first.ErrorWeight != nil),
		column("accuracy", humanize.Percent(b.Accuracy), func(p *judgedPoint) string { return humanize.Percent(*p.Accuracy) }).If(
			first.Errors != nil),
		column(figure, "-", func(p *judgedPoint) string { return report.Fixed(p.Score, 6) }).If(figure != ""),
		column("std error", "-", func(p *judgedPoint) string { return errorText(t.Score, p.StdError) }),
		column("AUC", "-", func(p *judgedPoint) string { return report.Fixed(p.AUC, 6) }).If(compared && t.Score != train.ByAUC),
		column("log loss", "-", func(p *judgedPoint) string { return report.Fixed(p.LogLoss, 6) }).If(
			compared && t.Score != train.ByLogLoss),
		column("train s", "-", func(p *judgedPoint) string { return humanize.Fixed(p.Seconds, 3) }).If(compared),
		column("total s", "-", func(p *judgedPoint) string { return humanize.Fixed(p.Total, 3) }).If(compared),
		column("folds", "", func(p *judgedPoint) string { return fmt.Sprintf("%d of %d", p.JudgedFolds, t.Folds) }).If(t.Interrupted),
		column("chosen", "", func(p *judgedPoint) string { return map[bool]string{true: "*"}[p.Point == t.chosen] }).If(t.chosen != nil))
}

// remarks returns a line for each reason why points aren't ranked, and for each point that is left out.
func (t *judgedPoints) remarks() (lines []string) {
	var unranked []string
	for i := range t.Points {
		p := &t.Points[i]
		if unranked = append(unranked, shortName(p.Name)); p.UnrankedReason == "" {
			unranked = nil
		} else if i == len(t.Points)-1 || t.Points[i+1].UnrankedReason != p.UnrankedReason {
			lines = append(lines, fmt.Sprintf("Not ranked by %s: %s: each %s", t.Score, strings.Join(unranked, ", "), p.UnrankedReason))
			unranked = nil
		}
	}
	for _, l := range t.LeftOut {
		lines = append(lines, fmt.Sprintf("Left out: %s: %s", shortName(l.Name), l.Reason))
	}
	if !slices.ContainsFunc(t.Points, func(p judgedPoint) bool { return p.Score != nil }) {
		lines = append(lines, message.Sprintf("No learner has the score %s: choose another with --score.", t.Score))
	}
	return lines
}

// mostScores is the largest number of points whose scores are drawn.
const mostScores = 40

// figures returns a picture of the scores of the ranked points, with the scores of the folds.
func (t *judgedPoints) figures() []*plot.Figure {
	var scores []plot.Score
	for _, p := range t.Points {
		if p.Score != nil {
			scores = append(scores, plot.Score{Name: strings.TrimSuffix(shortName(p.Name), " --order shuffle --epochs 10"),
				Mean: *p.Score, Folds: p.FoldScores()})
		}
	}
	if len(scores) == 0 || len(scores) > mostScores {
		return nil
	}
	return []*plot.Figure{plot.Scores(cmp.Or(scoreNames[t.Score], t.Score), scores)}
}

// scoreNames are the names of scores in tables. Errors and weights aren't listed, since they always have columns.
var scoreNames = map[string]string{train.ByLogLoss: "log loss", train.ByAUC: "AUC", train.ByAP: "avg precision",
	train.ByF1: "F1", train.ByMacroF1: "macro F1", train.ByWeightedF1: "weighted F1",
	train.ByBalancedAccuracy: "balanced accuracy", train.ByLoss: "loss"}

// withError returns the value of a score and its standard error, which needs the values of two folds.
func withError(score, off *float64) string {
	if off == nil {
		return report.Fixed(score, 6) + " (defined in one fold: no standard error)"
	}
	return report.Fixed(score, 6) + " +- " + report.Fixed(off, 6)
}

// errorText returns the standard error of a score. For shares of errors it is a percentage, like the accuracy.
func errorText(score string, v *float64) string {
	if v != nil && (score == train.ByErrors || score == train.ByWeight) {
		return humanize.Percent(*v)
	}
	return report.Fixed(v, 6)
}

// foldsOf returns the number of folds and which rows the model of each fold learned from. each is the text between the
// two.
func foldsOf(folds int, split, each string) string {
	switch split {
	case "groups":
		return fmt.Sprintf("%d folds of whole groups%sthe others", folds, each)
	case "time":
		return fmt.Sprintf("%d folds in order of time%sall earlier rows", folds, each)
	}
	return fmt.Sprintf("%d folds%sthe others", folds, each)
}

// weightText returns the weight of wrong rows for people, or "" for nil.
func weightText(weight *float64) string {
	if weight == nil {
		return ""
	}
	return ", weight " + humanize.Real(*weight)
}

// foldsText returns the accuracy of the chosen point, and the range of its folds' accuracies.
func foldsText(cv *train.CrossValidation, b *train.Baseline) string {
	p := &cv.Points[cv.ChosenPoint]
	weight := weightText(p.ErrorWeight)
	if figure := scoreNames[cv.Score]; figure != "" {
		weight += ", " + figure + " " + withError(p.Score, p.StdError)
	}
	rows := fmt.Sprintf("%s in %s", humanize.Plural(cv.Rows, "row"), foldsOf(cv.Folds, cv.Split, ", each predicted by a model of "))
	return fmt.Sprintf("%s; a fold %s to %s%s%s", console.Accuracy(*p.Errors, cv.Rows, rows, nil),
		humanize.Percent(slices.Min(p.FoldAccuracy)), humanize.Percent(slices.Max(p.FoldAccuracy)), weight, console.Baseline(b))
}
