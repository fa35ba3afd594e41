package predict

import (
	"fmt"
	"slices"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/report"
	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/metrics"
	"halfspace/plot"
	"halfspace/schema"
)

// evalReports is the JSON object of eval --json: the figures of the first model, and a list with the figures of every
// model.
type evalReports struct {
	*evalReport
	Models []*evalReport `json:"models"`
}

type evalReport struct {
	*report.Evaluation
	roc, pr []metrics.Point // only with --roc and --pr
	values  *report.Values  // only with --report
}

// modelTable returns a table with one line for each model. If all models have the same baseline, the last line is the
// baseline.
func modelTable(reports []*evalReport, o *evalOptions) [][]string {
	column := func(head string, cell func(r *evalReport) string) console.Column {
		return console.Column{Head: head, Cell: func(i int) string { return cell(reports[i]) }}
	}
	rows := console.Columns(len(reports),
		column("model", func(r *evalReport) string { return r.Model }),
		column("rows", func(r *evalReport) string { return humanize.Count(r.Rows) }),
		column("errors", func(r *evalReport) string { return humanize.Count(r.Errors) }),
		column("accuracy", func(r *evalReport) string { return humanize.Percent(r.Confusion.Accuracy()) }),
		column("95 % interval", func(r *evalReport) string {
			if r.Interval == nil {
				return "-"
			}
			return humanize.Percent(r.Interval[0]) + " to " + humanize.Percent(r.Interval[1])
		}),
		column("AUC", func(r *evalReport) string { return report.Fixed(r.AUC, 6) }),
		column("avg precision", func(r *evalReport) string { return report.Fixed(r.AveragePrecision, 6) }),
		column("log loss", func(r *evalReport) string { return report.Fixed(r.LogLoss, 6) }),
		column("Brier", func(r *evalReport) string { return report.Fixed(r.Brier, 6) }),
		column("threshold", func(r *evalReport) string { return r.ThresholdOrZero() }).If(slices.ContainsFunc(reports,
			func(r *evalReport) bool { return r.Threshold != nil })))
	if b := reports[0].Baseline; !slices.ContainsFunc(reports,
		func(r *evalReport) bool { return r.Rows != reports[0].Rows || *r.Baseline != *b }) {
		row := slices.Repeat([]string{"-"}, len(rows[0]))
		copy(row, []string{"always " + schema.NameClass(b.Class), humanize.Count(reports[0].Rows),
			humanize.Count(b.Errors), humanize.Percent(b.Accuracy)})
		rows = append(rows, row)
	}
	return rows
}

// compare returns the report on several models for people.
func compare(reports []*evalReport, o *evalOptions) *console.Sheet {
	s := new(console.Sheet)
	s.Table(modelTable(reports, o))
	if o.calibration {
		for _, r := range reports {
			s.Line("\n%s: how often the class %s came true, by its predicted probability:\n", r.Model, r.Positive)
			s.Table(r.CalibrationTable())
		}
	}
	return s
}

func (o *evalOptions) page(a *console.App, models []*model.Model, reports []*evalReport, paths []string) *plot.Page {
	first := reports[0]
	p := &plot.Page{Title: report.Title(models[0].Label, "evaluation of "+first.Model),
		Lead: first.Verdict()}
	if len(reports) > 1 {
		p.Title = report.Title(models[0].Label, fmt.Sprintf("evaluation of %d models", len(reports)))
		p.Lead = fmt.Sprintf("%s of %d classes.", humanize.Plural(first.Rows, "row"), len(first.Classes))
		rows := modelTable(reports, o)
		p.Sections = []plot.Section{{Heading: "Side by side",
			Tables: []plot.Table{{Caption: "Models and the baseline", Head: rows[0], Rows: rows[1:]}}}}
	}
	of := func(r *evalReport) string {
		if len(reports) == 1 {
			return ""
		}
		return " of " + r.Model
	}
	var hashes, classes [][2]string
	var evaluations []*report.Evaluation
	for _, r := range reports {
		evaluations = append(evaluations, r.Evaluation)
	}
	var hard, weights []plot.Section
	pictures := plot.Section{Heading: "Plots", Figures: report.CurveFigures(evaluations)}
	for i, r := range reports {
		result := report.Result(r.Sheet(o.thresholdText(r), o.calibration))
		result.Heading += of(r)
		p.Sections = append(p.Sections, result)
		hashes = append(hashes, report.Hash(models[i], r.Model)...)
		for _, f := range r.Figures() {
			f.Title += of(r)
			pictures.Figures = append(pictures.Figures, f)
		}
		for _, w := range report.Weights(models[i]) {
			w.Heading += of(r)
			weights = append(weights, w)
		}
		// the misses are for the model's own threshold
		if misses := r.WorstErrors(models[i], r.values); o.threshold.By == "" && misses != nil {
			misses.Heading += of(r)
			hard = append(hard, *misses)
		}
	}
	if pictures.Figures != nil {
		p.Sections = append(p.Sections, pictures)
	}
	for i, c := range first.Classes {
		classes = append(classes, [2]string{"class " + c.Text, humanize.Plural(first.PerClass[i].Rows, "row")})
	}
	p.Sections = slices.Concat(p.Sections, hard, weights, []plot.Section{report.Data(a, paths, classes)})
	p.Sections = append(p.Sections, o.reporting.OptionsSection(), o.reporting.RepeatSection(hashes...))
	return p
}
