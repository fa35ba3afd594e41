package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/stats"
	"halfspace/internal/train"
	"halfspace/metrics"
	"halfspace/plot"
	"halfspace/schema"
)

// An Evaluation is figures about the predictions of a model: the part of eval --json for one model. Undefined figures
// are null. With sample weights, all figures but rows and errors are by weight.
type Evaluation struct {
	Model            string             `json:"model"`
	Rows             int64              `json:"rows"`
	Weight           *float64           `json:"weight,omitempty"` // total weight of the rows, if they have weights
	Errors           int64              `json:"errors"`
	ErrorWeight      *float64           `json:"error_weight,omitempty"`
	Accuracy         *float64           `json:"accuracy"`
	Interval         *metrics.Interval  `json:"accuracy_95"` // Wilson's interval
	BalancedAccuracy *float64           `json:"balanced_accuracy"`
	F1Macro          *float64           `json:"f1_macro"`
	F1Weighted       *float64           `json:"f1_weighted"`
	AUC              *float64           `json:"auc"`                    // of more than two classes, the mean over class versus rest
	AUCWeighted      *float64           `json:"auc_weighted,omitempty"` // weighted by each class's rows
	AveragePrecision *float64           `json:"average_precision"`
	LogLoss          *float64           `json:"log_loss"`
	Brier            *float64           `json:"brier"`
	Threshold        *float64           `json:"threshold,omitempty"`             // of --threshold, or of the model if it has one
	Probability      *float64           `json:"threshold_probability,omitempty"` // the probability for Threshold
	Cost             *float64           `json:"cost,omitempty"`                  // of all wrong rows, with --threshold cost
	Classes          []schema.Class     `json:"classes"`
	Positive         schema.Class       `json:"positive"`
	Confusion        *metrics.Confusion `json:"confusion"` // [class][predicted class], in the order of classes
	PerClass         []classReport      `json:"per_class"`
	Baseline         *train.Baseline    `json:"baseline"`
	Calibration      []binReport        `json:"calibration,omitempty"` // only for two classes and a model with probabilities
	roc, pr          []plot.Curve       // only with --report; of more than two classes, the curves of classes versus the rest
	Warning          string             `json:"warning,omitempty"` // the model is no better than the baseline
	worstRows        []train.MisclassifiedRow
	calibration      *metrics.Calibration // nil without probabilities
	PositiveClass    int                  `json:"-"` // number of the positive class
}

type classReport struct {
	Class             schema.Class      `json:"class"`
	Rows              int64             `json:"rows"`
	Precision         *float64          `json:"precision"`
	PrecisionInterval *metrics.Interval `json:"precision_95"`
	Recall            *float64          `json:"recall"`
	RecallInterval    *metrics.Interval `json:"recall_95"`
	F1                *float64          `json:"f1"`
	AUC               *float64          `json:"auc,omitempty"` // of the class versus the rest, if there are more than two classes
}

// A binReport describes the rows whose probability of the positive class is above Low and at most High.
type binReport struct {
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	Rows        int64    `json:"rows"`
	Weight      float64  `json:"weight"`
	Probability *float64 `json:"probability"` // mean predicted probability
	Share       *float64 `json:"share"`       // share of the positive rows
}

// finite returns an interval for JSON, or nil (null) if it is undefined.
func finite(i metrics.Interval) *metrics.Interval {
	if i[0] != i[0] {
		return nil
	}
	return &i
}

// NewEvaluation returns the figures of a model's predictions. c is the confusion of the classes, at the threshold of
// the model or at another threshold. pictures asks for the curves of the pictures.
func NewEvaluation(m *model.Model, e *train.Evaluation, c *metrics.Confusion, pictures bool) *Evaluation {
	r := newEvaluation(m, c)
	r.worstRows, r.calibration = e.WorstRows, e.Calibration
	area, average := e.Scores.AUC(), e.Scores.AveragePrecision()
	r.AUC, r.AveragePrecision = console.Finite(area), console.Finite(average)
	r.LogLoss, r.Brier = console.Finite(e.LogLoss()), console.Finite(e.Brier())
	if s := e.ClassScores; s != nil {
		r.AUC, r.AUCWeighted = console.Finite(s.MacroAUC()), console.Finite(s.WeightedAUC())
		for k, area := range s.AUC() {
			r.PerClass[k].AUC = console.Finite(area)
		}
		if pictures {
			r.setClassCurves(s)
		}
	}
	if e.Calibration != nil {
		for _, b := range e.Calibration.Bins() {
			r.Calibration = append(r.Calibration,
				binReport{b.Low, b.High, b.Rows, b.Weight, console.Finite(b.Probability), console.Finite(b.Share)})
		}
	}
	if pictures && len(r.Classes) == 2 {
		r.addCurves("", &e.Scores, plot.MostPoints, area, average)
	}
	return r
}

func newEvaluation(m *model.Model, c *metrics.Confusion) *Evaluation {
	r := &Evaluation{Rows: c.Rows(), Errors: c.Errors(), Accuracy: console.Finite(c.Accuracy()), Interval: finite(c.AccuracyInterval()),
		Classes: m.Classes, Positive: m.Positive, Confusion: c, PositiveClass: m.Spec().PositiveClass(),
		BalancedAccuracy: console.Finite(c.BalancedAccuracy()), F1Macro: console.Finite(c.MacroF1()),
		F1Weighted: console.Finite(c.WeightedF1())}
	if c.HasWeights() {
		r.Weight, r.ErrorWeight = console.Finite(c.Total()), console.Finite(c.ErrorWeight())
	}
	counts := c.Counts()
	for i, class := range m.Classes {
		r.PerClass = append(r.PerClass, classReport{class, counts[i], console.Finite(c.Precision(i)), finite(c.PrecisionInterval(i)),
			console.Finite(c.Recall(i)), finite(c.RecallInterval(i)), console.Finite(c.F1(i)), nil})
	}
	if r.Baseline = train.NewBaseline(m.Classes, counts); c.HasWeights() { // then it is the class with the largest weight
		most := -1.0
		for i, class := range r.PerClass {
			if weight := c.ActualWeight(i); weight > most {
				most = weight
				r.Baseline = &train.Baseline{Class: class.Class, Errors: r.Rows - class.Rows, Accuracy: weight / c.Total()}
			}
		}
	}
	return r
}

// setClassCurves sets the curves of the classes with the smallest AUC, at most plot.MostClasses.
func (r *Evaluation) setClassCurves(s *metrics.ClassScores) {
	areas, drawn := s.AUC(), []int(nil)
	for k, area := range areas {
		if !math.IsNaN(area) {
			drawn = append(drawn, k)
		}
	}
	if len(drawn) > plot.MostClasses {
		slices.SortStableFunc(drawn, func(i, k int) int { return cmp.Compare(areas[i], areas[k]) })
		drawn = drawn[:plot.MostClasses]
	}
	for _, k := range drawn {
		r.addCurves(r.Classes[k].Text, s.Class(k), plot.MostPoints/plot.MostClasses, areas[k], s.Class(k).AveragePrecision())
	}
}

func (r *Evaluation) addCurves(name string, s *metrics.Scores, most int, area, average float64) {
	roc, pr := s.Outline(most)
	r.roc = append(r.roc, plot.Curve{Name: name, Points: roc, Figure: area})
	r.pr = append(r.pr, plot.Curve{Name: name, Points: pr, Figure: average})
}

// Sheet returns the report for people. threshold describes the threshold; "" for none. calibration asks for the
// calibration table.
func (r *Evaluation) Sheet(threshold string, calibration bool) *console.Sheet {
	s := new(console.Sheet)
	pairs := []string{"accuracy", r.accuracyText()}
	if len(r.Classes) == 2 {
		s.Line("%s: %s, positive class %s\n", r.Model, humanize.Plural(r.Rows, "row"), r.Positive)
		c := r.PerClass[r.PositiveClass]
		pairs = append(pairs, "positive", fmt.Sprintf("precision %s%s, recall %s%s", Fixed(c.Precision, 4),
			intervalText(c.PrecisionInterval), Fixed(c.Recall, 4), intervalText(c.RecallInterval)))
	} else {
		s.Line("%s: %s of %d classes\n", r.Model, humanize.Plural(r.Rows, "row"), len(r.Classes))
	}
	pairs = append(pairs, "threshold", threshold)
	if len(r.Classes) == 2 {
		pairs = append(pairs, "AUC", Fixed(r.AUC, 6)+", average precision "+Fixed(r.AveragePrecision, 6))
	} else if r.AUC != nil {
		pairs = append(pairs, "AUC", "macro "+Fixed(r.AUC, 6)+", weighted "+Fixed(r.AUCWeighted, 6)+", of each class versus the rest")
	}
	if r.LogLoss != nil {
		pairs = append(pairs, "log loss", Fixed(r.LogLoss, 6)+", Brier score "+Fixed(r.Brier, 6))
	}
	balanced := "-"
	if r.BalancedAccuracy != nil {
		balanced = humanize.Percent(*r.BalancedAccuracy)
	}
	pairs = append(pairs, "balanced", "accuracy "+balanced+"; F1 macro "+Fixed(r.F1Macro, 4)+", weighted "+Fixed(r.F1Weighted, 4))
	s.Pairs(pairs...)
	s.Line("")
	r.confusionTable(s)
	if calibration {
		s.Line("\nHow often the class %s came true, by its predicted probability:\n", r.Positive)
		s.Table(r.CalibrationTable())
	}
	return s
}

// accuracyText returns the accuracy with its interval, the number of wrong rows, their weight if rows have weights, and the baseline.
func (r *Evaluation) accuracyText() string {
	text := fmt.Sprintf("%s of %s (", humanize.Percent(r.Confusion.Accuracy()), humanize.Plural(r.Rows, "row"))
	if i := r.Interval; i != nil {
		text += fmt.Sprintf("95 %% interval %s to %s; ", humanize.Percent(i[0]), humanize.Percent(i[1]))
	}
	text += humanize.Count(r.Errors) + " wrong"
	if r.Weight != nil {
		text += fmt.Sprintf(", weight %s of %s", humanize.Real(*r.ErrorWeight), humanize.Real(*r.Weight))
	}
	return text + ")" + console.Baseline(r.Baseline)
}

// Verdict says how good the model is, in one sentence.
func (r *Evaluation) Verdict() string {
	text := "Accuracy " + r.accuracyText() + "."
	if r.Warning != "" {
		text += " Warning: " + r.Warning + "."
	}
	return text
}

// Fixed returns a figure with that many decimals, or a dash if it is undefined.
func Fixed(v *float64, decimals int) string {
	if v == nil {
		return "-"
	}
	return humanize.Fixed(*v, decimals)
}

func intervalText(i *metrics.Interval) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", humanize.Fixed(i[0], 4), humanize.Fixed(i[1], 4))
}

// confusionTable adds the confusion matrix with the figures of each class.
func (r *Evaluation) confusionTable(s *console.Sheet) {
	figure := func(head string, of func(c *classReport) *float64) console.Column {
		return console.Column{Head: head, Cell: func(i int) string { return Fixed(of(&r.PerClass[i]), 4) }}
	}
	columns := []console.Column{{Head: "class", Cell: func(i int) string { return r.Classes[i].String() }}}
	wide := len(r.Classes) > maxPredicted
	if wide {
		columns = append(columns, console.Column{Head: "rows", Cell: func(i int) string { return humanize.Count(r.PerClass[i].Rows) }},
			console.Column{Head: "right", Cell: func(i int) string { return r.amount(i, i) }})
	} else {
		for k, c := range r.Classes {
			columns = append(columns, console.Column{Head: "predicted " + c.String(), Cell: func(i int) string { return r.amount(i, k) }})
		}
	}
	s.Table(console.Columns(len(r.Classes), append(columns,
		figure("precision", func(c *classReport) *float64 { return c.Precision }),
		figure("recall", func(c *classReport) *float64 { return c.Recall }),
		figure("F1", func(c *classReport) *float64 { return c.F1 }),
		figure("AUC", func(c *classReport) *float64 { return c.AUC }).If(len(r.Classes) > 2 && r.AUC != nil),
		console.Column{Head: "mostly taken for", Cell: r.mostPredictedInstead}.If(wide))...))
	if wide {
		s.Line("%s", message.Translate("\n--json has the whole confusion of classes."))
	}
}

// amount returns the number of rows of class that were predicted as predicted, or their weight if rows have weights.
func (r *Evaluation) amount(class, predicted int) string {
	if r.Weight != nil {
		return humanize.Real(r.Confusion.Weight(class, predicted))
	}
	return humanize.Count(r.Confusion.Count(class, predicted))
}

// CalibrationTable returns the table of the bins that have rows.
func (r *Evaluation) CalibrationTable() [][]string {
	rows := [][]string{{"probability", "rows", "mean", "came true"}}
	for _, b := range r.Calibration {
		if b.Rows > 0 {
			rows = append(rows, []string{fmt.Sprintf("%.1f to %.1f", b.Low, b.High), humanize.Count(b.Rows),
				Fixed(b.Probability, 4), Fixed(b.Share, 4)})
		}
	}
	return rows
}

// maxPredicted is the largest number of classes for which the table has a column per predicted class.
const maxPredicted = 6

// mostPredictedInstead returns the wrong class that was predicted most often for a class, with the number or weight of these rows.
func (r *Evaluation) mostPredictedInstead(class int) string {
	best, most := -1, 0.0
	for other := range r.Classes {
		if w := r.Confusion.Weight(class, other); other != class && w > most {
			best, most = other, w
		}
	}
	if best < 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", r.Classes[best], r.amount(class, best))
}

// ThresholdOrZero returns the threshold for a table: 0 if the report has none.
func (r *Evaluation) ThresholdOrZero() string {
	if r.Threshold == nil {
		return "0"
	}
	return humanize.Exact(*r.Threshold)
}

// CurveFigures returns the pictures of the ROC curves and of the precision-recall curves of two classes. It returns nil if
// there are no curves.
func CurveFigures(reports []*Evaluation) []*plot.Figure {
	var roc, pr []plot.Curve
	for _, r := range reports {
		if r.AUC == nil || len(r.Classes) > 2 || r.roc == nil {
			continue
		}
		if len(reports) > 1 {
			r.roc[0].Name, r.pr[0].Name = r.Model, r.Model
		}
		roc, pr = append(roc, r.roc[0]), append(pr, r.pr[0])
	}
	if roc == nil {
		return nil
	}
	return []*plot.Figure{plot.ROC(roc...), plot.PrecisionRecall(pr...)}
}

// Figures returns the pictures of an evaluation: the calibration of two classes, the confusion and the curves of more than
// two classes.
func (r *Evaluation) Figures() (all []*plot.Figure) {
	if r.calibration != nil {
		all = append(all, plot.Calibration(r.calibration.Bins()))
	}
	if len(r.Classes) > 2 {
		all = append(all, plot.Confusion(r.Classes, r.Confusion))
	}
	if r.roc != nil && len(r.Classes) > 2 {
		roc, pr := plot.ROC(r.roc...), plot.PrecisionRecall(r.pr...)
		roc.Subtitle, pr.Subtitle = "of each class versus the rest", "of each class versus the rest"
		if n := len(r.roc); n < len(r.Classes) {
			roc.Subtitle += fmt.Sprintf("; the %d classes with the least AUC", n)
			pr.Subtitle = roc.Subtitle
		}
		all = append(all, roc, pr)
	}
	return all
}

// WorstErrors returns the section of the rows that were most wrong, or nil if there are none. values are the rows in the
// files; without them, the section has the values of features.
func (r *Evaluation) WorstErrors(m *model.Model, values *Values) *plot.Section {
	if len(r.worstRows) == 0 {
		return nil
	}
	t := plot.Table{Caption: "Wrong rows whose scores are farthest from " + r.ThresholdOrZero(),
		Head: []string{"row", "class", "predicted", "score"}}
	odds := !math.IsNaN(r.worstRows[0].Probability)
	if len(r.Classes) > 2 {
		t.Head[3] = "difference of scores"
		if t.Caption = "Wrong rows whose predicted class is farthest above their own"; odds {
			t.Caption = "Wrong rows with the least probabilities of their class"
		}
	}
	if odds {
		t.Head = append(t.Head, "probability of the class")
	}
	for _, miss := range r.worstRows {
		row := []string{"-", r.Classes[miss.Class].Text, r.Classes[miss.Predicted].Text, humanize.Real(miss.Score)}
		if miss.Row >= 0 {
			row[0] = humanize.Count(miss.Row)
		}
		if odds {
			row = append(row, humanize.Real(miss.Probability))
		}
		t.Rows = append(t.Rows, row)
	}
	s := &plot.Section{Heading: "Worst errors"}
	if values != nil {
		s.Text = append(s.Text, values.add(&t, r.worstRows))
	} else {
		s.Text = append(s.Text, "Rows are numbered from 0 in the order of the files. Rows that were skipped have no number.")
		s.Text = append(s.Text, addFeatures(&t, m, r.worstRows)...)
	}
	s.Tables = []plot.Table{t}
	return s
}

// addFeatures adds to the table of wrong rows the values of the features that moved their scores most.
func addFeatures(t *plot.Table, m *model.Model, worst []train.MisclassifiedRow) (text []string) {
	shown := shownFeatures(m, worst)
	for _, i := range shown {
		t.Head = append(t.Head, m.FeatureName(i))
	}
	if len(shown) < m.Width() && shown != nil {
		text = []string{"Of the features, those are shown that moved the scores of these rows most."}
	}
	scale := stats.NewMaker(m.Spec())
	for k, miss := range worst {
		for _, i := range shown {
			center, deviation := scale.Scale(i)
			value := 0.0
			if at, ok := slices.BinarySearchFunc(miss.Features, i,
				func(v train.Value, i int) int { return cmp.Compare(v.Feature, i) }); ok {
				value = miss.Features[at].Value
			}
			t.Rows[k] = append(t.Rows[k], humanize.Real(value*deviation+center))
		}
	}
	return text
}

// Values are rows in the files, by their numbers.
type Values struct {
	columns        []string
	featureColumns int // number of columns that are features
	rows           map[int64]dataset.Row
}

// mostShownColumns is the largest number of columns that are shown for a wrong row.
const mostShownColumns = 12

// NewValues reads the rows that were most wrong from the files, with the columns of the strongest weights. opt are the
// options with which the files were read. It returns nil if the files can't be read again.
func (r *Evaluation) NewValues(ctx context.Context, m *model.Model, opt dataset.Options, paths []string) (*Values, error) {
	var names []string
	for _, t := range m.Terms() {
		of := []schema.Part{{Name: t.Column.Name}}
		if t.Column.Kind == schema.CrossColumn {
			of = t.Column.Of
		}
		for _, part := range of {
			if t.Column.Kind != schema.NumberedColumn && !slices.Contains(names, part.Name) {
				names = append(names, part.Name)
			}
		}
		if len(names) > 1000 { // later columns are weak
			break
		}
	}
	v := &Values{featureColumns: len(names)}
	shown := names[:min(len(names), mostShownColumns)]
	for _, c := range m.Spec().Columns() { // in the order of the files
		if slices.Contains(shown, c.Name) && !slices.Contains(v.columns, c.Name) {
			v.columns = append(v.columns, c.Name)
		}
	}
	for _, name := range shown {
		if !slices.Contains(v.columns, name) {
			v.columns = append(v.columns, name)
		}
	}
	var numbers []int64
	for _, miss := range r.worstRows {
		if miss.Row >= 0 {
			numbers = append(numbers, miss.Row)
		}
	}
	if len(numbers) == 0 || slices.Contains(paths, "-") {
		return nil, nil
	}
	var err error
	v.rows, err = opt.Values(ctx, paths, v.columns, numbers)
	return v, err
}

// add adds to the table of wrong rows their places and their values in the files.
func (v *Values) add(t *plot.Table, worst []train.MisclassifiedRow) (text string) {
	var files []string
	for _, row := range v.rows {
		if !slices.Contains(files, row.File) {
			files = append(files, row.File)
		}
	}
	columns := v.columns
	for _, row := range v.rows {
		if len(row.Values) != len(columns) { // svmlight has no columns
			columns, v.featureColumns = []string{"features"}, 0
		}
	}
	for i, miss := range worst {
		row, ok := v.rows[miss.Row]
		if ok {
			t.Rows[i][0] = humanize.Count(row.Row)
		} else {
			row.Values = make([]string, len(columns))
		}
		for k := range row.Values {
			row.Values[k] = humanize.WithoutMiddle(row.Values[k], 80)
		}
		if len(files) > 1 {
			t.Rows[i] = slices.Insert(t.Rows[i], 1, row.File)
		}
		t.Rows[i] = append(t.Rows[i], row.Values...)
	}
	if text = "Rows are numbered from 0 in each file."; len(files) > 1 {
		t.Head = slices.Insert(t.Head, 1, "file")
	}
	if t.Head = append(t.Head, columns...); len(v.columns) < v.featureColumns {
		text += fmt.Sprintf(" Of %d columns, those with the strongest weights are shown.", v.featureColumns)
	}
	return text + " The values are those of the file."
}

// mostShownFeatures is the largest number of features that are shown for a wrong row.
const mostShownFeatures = 8

// shownFeatures returns the features with the largest sums of |weight * value| over wrong rows, at most mostShownFeatures, in
// ascending order. For a model without weights it sums |value|. It returns nil if the values aren't known.
func shownFeatures(m *model.Model, worst []train.MisclassifiedRow) (shown []int) {
	positive, moved := m.Spec().PositiveClass(), map[int]float64{}
	for _, miss := range worst {
		for _, v := range miss.Features {
			moved[v.Feature] += math.Abs(v.Value * weightOf(m, v.Feature, miss.Class, miss.Predicted, positive))
		}
	}
	for i := range moved {
		shown = append(shown, i)
	}
	slices.SortFunc(shown, func(a, b int) int { return cmp.Or(cmp.Compare(moved[b], moved[a]), cmp.Compare(a, b)) })
	shown = shown[:min(len(shown), mostShownFeatures)]
	slices.Sort(shown)
	return shown
}

// weightOf returns the weight of a feature in the difference of two scores: the score of the predicted class minus the
// score of the row's class. It returns 1 for a model without weights.
func weightOf(m *model.Model, feature, class, predicted, positive int) float64 {
	switch {
	case len(m.Weights) == 0:
		return 1
	case len(m.Weights) == 1 && predicted == positive:
		return m.Weights[0][feature]
	case len(m.Weights) == 1:
		return -m.Weights[0][feature]
	}
	return m.Weights[predicted][feature] - m.Weights[class][feature]
}
