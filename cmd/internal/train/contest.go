package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"halfspace/train"

	"halfspace/cmd/internal/console"
	reporting "halfspace/cmd/internal/report"
	"halfspace/internal/humanize"
	"halfspace/plot"
	"halfspace/schema"
)

// A comparison is the JSON object of compare --json.
type comparison struct {
	Rows        int64           `json:"rows"`
	Features    int             `json:"features"`
	Folds       int             `json:"folds"`
	Split       string          `json:"split,omitempty"` // see train.CrossValidation
	Standardize bool            `json:"standardize"`
	Score       string          `json:"score"`    // the score by which the learners are ranked; see train.Scores
	Learners    []contestant    `json:"learners"` // the best first
	LeftOut     []leftOut       `json:"left_out"`
	Baseline    *train.Baseline `json:"baseline"`
	Best        string          `json:"best"`                  // trains it on all rows; empty if no learner has the score
	Interrupted bool            `json:"interrupted,omitempty"` // the learners were judged on only some folds
	Seconds     float64         `json:"seconds"`
}

// A contestant is the result of a learner. Undefined figures are null. With weights of rows or classes, AUC, LogLoss
// and ErrorWeight are by weight.
type contestant struct {
	Options     string    `json:"options"`
	Folds       int       `json:"folds,omitempty"`    // number of folds that were judged, if the comparison was interrupted
	Score       *float64  `json:"score"`              // mean over the folds
	StdError    *float64  `json:"std_error"`          // standard error of Score
	Unranked    string    `json:"unranked,omitempty"` // the reason why there is no score
	Errors      int64     `json:"errors"`             // over all rows, each predicted by a model of the other folds
	ErrorWeight *float64  `json:"error_weight,omitempty"`
	Accuracy    float64   `json:"accuracy"`
	AUC         *float64  `json:"auc"` // mean over the folds; with more than two classes, mean of each class versus the rest
	LogLoss     *float64  `json:"log_loss"`
	Seconds     float64   `json:"seconds"`       // of one training: the mean over the folds
	Total       float64   `json:"total_seconds"` // of all trainings and of judging their models
	folds       []float64 // the score of each fold
}

type leftOut struct {
	Options string `json:"options"`
	Reason  string `json:"reason"`
}

// nobody returns the error for the case that no learner was judged.
func (c *comparison) nobody() error {
	var reasons []string
	for _, l := range c.LeftOut {
		reasons = append(reasons, l.name()+": "+l.Reason)
	}
	return fmt.Errorf("no learner was judged: %s", strings.Join(reasons, "; "))
}

func (l *leftOut) name() string    { return strings.TrimPrefix(l.Options, "--algo ") }
func (l *contestant) name() string { return strings.TrimPrefix(l.Options, "--algo ") }

// add adds the results of a cross-validation, and sorts the learners by the score, then by the log loss. Equal learners
// keep their order.
func (c *comparison) add(names []string, cv *train.CrossValidation) {
	c.Score = cv.Score
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.Errors == nil {
			c.LeftOut = append(c.LeftOut, leftOut{names[i], whyLeftOut(names[i], p)})
			continue
		}
		folds := len(p.FoldAccuracy)
		l := contestant{Options: names[i], Score: p.Score, StdError: p.StdError, Unranked: p.Lacks, Errors: *p.Errors, ErrorWeight: p.ErrorWeight, Accuracy: *p.Accuracy,
			AUC: console.Finite(p.Figures.MeanAUC()), LogLoss: console.Finite(p.Figures.LogLoss.Value()),
			Seconds: p.Figures.Seconds / float64(folds), Total: p.Figures.Total, folds: p.FoldScores()}
		if c.Interrupted {
			l.Folds = folds
		}
		if p.Score == nil && p.Lacks == "" {
			l.Unranked = "has no fold in which the score is defined"
		}
		c.Learners = append(c.Learners, l)
	}
	slices.SortStableFunc(c.Learners, func(x, y contestant) int {
		if train.Greatest(c.Score) {
			return cmp.Or(least(y.Score, x.Score), ranked(x.Score, y.Score), least(x.LogLoss, y.LogLoss), ranked(x.LogLoss, y.LogLoss))
		}
		return cmp.Or(least(x.Score, y.Score), ranked(x.Score, y.Score), least(x.LogLoss, y.LogLoss), ranked(x.LogLoss, y.LogLoss))
	})
}

// least compares two figures, if both exist, and returns 0 otherwise.
func least(x, y *float64) int {
	if x == nil || y == nil {
		return 0
	}
	return cmp.Compare(*x, *y)
}

// ranked orders a figure that exists before a figure that doesn't.
func ranked(x, y *float64) int {
	switch {
	case x != nil && y == nil:
		return -1
	case x == nil && y != nil:
		return 1
	}
	return 0
}

// whyLeftOut returns the reason why a learner has no result.
func whyLeftOut(name string, p *train.Point) string {
	if slow := (*train.TooSlow)(nil); errors.As(p.Failure(), &slow) {
		return fmt.Sprintf("%v: name it with --algo %s to judge it anyway", slow, strings.Fields(name)[1])
	}
	return cmp.Or(console.AsTyped(p.Failed), "interrupted before its first fold was judged")
}

// sheet returns the report for people.
func (c *comparison) sheet() *console.Sheet {
	s := new(console.Sheet)
	how := "as they are"
	if c.Standardize {
		how = "standardized"
	}
	s.Line("%s of %s, %s, in %s\n", humanize.Plural(c.Rows, "row"), humanize.Plural(int64(c.Features), "feature"), how, foldsOf(c.Folds, c.Split, ", each predicted by a model of "))
	s.Table(c.table())
	if len(c.LeftOut) > 0 || c.last().Unranked != "" {
		s.Line("")
	}
	var lacking []string
	for i, l := range c.Learners {
		if lacking = append(lacking, l.name()); l.Unranked == "" {
			lacking = nil
		} else if i == len(c.Learners)-1 || c.Learners[i+1].Unranked != l.Unranked {
			s.Line("Not ranked by %s: %s: each %s", c.Score, strings.Join(lacking, ", "), l.Unranked)
			lacking = nil
		}
	}
	for _, l := range c.LeftOut {
		s.Line("Left out: %s: %s", l.name(), l.Reason)
	}
	if c.Score == train.ByErrors && c.Learners[0].Accuracy <= c.Baseline.Accuracy {
		s.Line("\nNo learner is better than the baseline.")
	}
	if c.Best == "" {
		s.Line("\nNo learner has the score %s: choose another with --score.", c.Score)
	} else {
		s.WriteString("\nTo learn from all rows with the best:\n\n  " + humanize.Visible(c.Best) + "\n") // never shortened: people copy it
	}
	return s
}

func (c *comparison) last() *contestant { return &c.Learners[len(c.Learners)-1] }

// table returns the table of the learners and the baseline. If the score isn't one of the usual columns, it gets a
// column before the errors.
func (c *comparison) table() [][]string {
	head := []string{"learner", "errors", "accuracy", "AUC", "log loss", "train s", "total s"}
	own, weighted := !slices.Contains([]string{train.ByErrors, train.ByWeight, train.ByAUC, train.ByLogLoss}, c.Score), c.Learners[0].ErrorWeight != nil
	insert := func(row []string, score, weight string) []string {
		if weighted {
			row = slices.Insert(row, 2, weight)
		}
		if own {
			row = slices.Insert(row, 1, score)
		}
		return row
	}
	rows := [][]string{insert(head, scoreNames[c.Score], "weight")}
	for _, l := range c.Learners {
		weight := "-"
		if l.ErrorWeight != nil {
			weight = humanize.Real(*l.ErrorWeight)
		}
		rows = append(rows, insert([]string{l.name(), humanize.Count(l.Errors), humanize.Percent(l.Accuracy), scoreText(l.AUC), scoreText(l.LogLoss), humanize.Fixed(l.Seconds, 3), humanize.Fixed(l.Total, 3)},
			scoreText(l.Score), weight))
	}
	b := c.Baseline
	rows = append(rows, insert([]string{"always " + schema.NameClass(b.Class), humanize.Count(b.Errors), humanize.Percent(b.Accuracy), "-", "-", "-", "-"}, "-", "-"))
	if c.Interrupted {
		rows[0] = append(rows[0], "folds")
		for i, l := range c.Learners {
			rows[i+1] = append(rows[i+1], fmt.Sprintf("%d of %d", l.Folds, c.Folds))
		}
	}
	return rows
}

// page returns the report as an HTML page.
func (c *comparison) page(a *console.App, o *compareOptions, paths []string, counts []int64, classes []schema.Class) *plot.Page {
	result := reporting.Result(c.sheet())
	result.Tables[0].Caption = "Learners, the best first, and the baseline"
	for _, line := range strings.Split(c.sheet().String(), "\n") {
		if strings.HasPrefix(line, "Left out: ") || strings.HasPrefix(line, "Not ranked ") || strings.HasPrefix(line, "No learner ") {
			result.Text = append(result.Text, line)
		}
	}
	p := &plot.Page{Title: "Comparison of learners", Lead: fmt.Sprintf("%s of %s, in %s.", humanize.Plural(c.Rows, "row"), humanize.Plural(int64(c.Features), "feature"), foldsOf(c.Folds, c.Split, ". Each fold is predicted by a model of ")),
		Sections: []plot.Section{result}}
	if c.Best != "" {
		p.Sections = append(p.Sections, plot.Section{Heading: "The best learner", Text: []string{"This command learns from all rows with the best learner:"}, Code: c.Best})
		p.Sections = append(p.Sections, plot.Section{Heading: "Pictures", Figures: []*plot.Figure{c.figure()}})
	}
	data := [][2]string{{"rows", humanize.Count(c.Rows)}, {"features", humanize.Count(int64(c.Features))}}
	for i, class := range classes {
		data = append(data, [2]string{"class " + class.Text, humanize.Plural(counts[i], "row")})
	}
	p.Sections = append(p.Sections, reporting.Data(a, paths, data))
	var stages []reporting.Stage
	for _, l := range c.Learners {
		stages = append(stages, reporting.Stage{Name: l.name(), Seconds: l.Total})
	}
	p.Sections = append(p.Sections, reporting.Time(stages, c.Seconds, nil), o.reporting.Asked(), o.reporting.Repeat())
	return p
}

// figure draws the scores of the ranked learners, with the scores of the folds.
func (c *comparison) figure() *plot.Figure {
	var scores []plot.Score
	for _, l := range c.Learners {
		if l.Score != nil {
			scores = append(scores, plot.Score{Name: strings.TrimSuffix(l.name(), " --order shuffle --epochs 10"), Mean: *l.Score, Folds: l.folds})
		}
	}
	return plot.Scores(c.Score, scores)
}
