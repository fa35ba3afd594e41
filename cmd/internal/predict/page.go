package predict

import (
	"fmt"
	"math"
	"time"

	"halfspace/cmd/internal/console"
	reporting "halfspace/cmd/internal/report"
	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/plot"
)

// page returns the reports as an HTML page.
func (o *evalOptions) page(a *console.App, models []*model.Model, reports []*evalReport, paths []string, total time.Duration) *plot.Page {
	first := reports[0]
	p := &plot.Page{Title: "Evaluation of " + first.Model, Lead: fmt.Sprintf("%s of %d classes.", humanize.Plural(first.Rows, "row"), len(first.Classes))}
	if len(reports) > 1 {
		p.Title, p.Sections = fmt.Sprintf("Evaluation of %d models", len(reports)), compared(reports, o)
	}
	var hashes [][2]string
	var roc, pr []plot.Curve
	for i, r := range reports {
		result := reporting.Result(r.sheet(o))
		if len(reports) > 1 {
			result.Heading += " of " + r.Model
		}
		p.Sections = append(p.Sections, result)
		hashes = append(hashes, reporting.Hash(models[i], r.Model)...)
		if r.AUC != nil && len(r.drawnROC) > 0 {
			name := r.Model
			if len(reports) == 1 {
				name = ""
			}
			average := math.NaN()
			if r.AveragePrecision != nil {
				average = *r.AveragePrecision
			}
			roc, pr = append(roc, plot.Curve{Name: name, Points: r.drawnROC, Figure: *r.AUC}), append(pr, plot.Curve{Name: name, Points: r.drawnPR, Figure: average})
		}
	}
	pictures := plot.Section{Heading: "Pictures"}
	if roc != nil {
		pictures.Figures = append(pictures.Figures, plot.ROC(roc...), plot.PrecisionRecall(pr...))
	}
	for i, r := range reports {
		for _, f := range r.figures(models[i]) {
			if len(reports) > 1 {
				f.Title += " of " + r.Model
			}
			pictures.Figures = append(pictures.Figures, f)
		}
	}
	if pictures.Figures != nil {
		p.Sections = append(p.Sections, pictures)
	}
	var classes [][2]string
	for i, c := range first.Classes {
		classes = append(classes, [2]string{"class " + c.Text, humanize.Plural(first.PerClass[i].Rows, "row")})
	}
	p.Sections = append(p.Sections, reporting.Data(a, paths, classes))
	for i, r := range reports {
		misses := r.misses(models[i])
		if o.threshold.By != "" || misses == nil { // the misses are for the model's own threshold
			continue
		}
		if len(reports) > 1 {
			misses.Heading += " of " + r.Model
		}
		p.Sections = append(p.Sections, *misses)
	}
	p.Sections = append(p.Sections, o.stages(reports, total), o.reporting.Asked(), o.reporting.Repeat(hashes...))
	return p
}

// stages returns the section of the times. The rows are read once for each model.
func (o *evalOptions) stages(reports []*evalReport, total time.Duration) plot.Section {
	load, score := reporting.Stage{Name: "load", Cores: o.Workers}, reporting.Stage{Name: "score", Cores: o.Workers}
	for _, r := range reports {
		load.Rows += r.Rows
		load.Seconds += r.loading.Seconds()
		score.Seconds += r.scoring.Seconds()
	}
	stages := []reporting.Stage{load}
	if score.Rows = load.Rows; score.Seconds > 0 { // scoring on other processes isn't timed
		stages = append(stages, score)
	}
	return reporting.Time(stages, total.Seconds(), nil)
}

// compared returns the section that compares several models.
func compared(reports []*evalReport, o *evalOptions) []plot.Section {
	rows := sideBySide(reports, o)
	return []plot.Section{{Heading: "Side by side", Tables: []plot.Table{{Caption: "Models and the baseline", Head: rows[0], Rows: rows[1:]}}}}
}

// figures returns the pictures of a model: the calibration of two classes, the confusion and the curves of more than
// two classes, and the weights.
func (r *evalReport) figures(m *model.Model) (all []*plot.Figure) {
	if r.calibration != nil {
		all = append(all, plot.Calibration(r.calibration.Bins()))
	}
	if len(r.Classes) > 2 {
		all = append(all, plot.Confusion(r.Classes, r.Confusion))
	}
	if r.classROC != nil {
		roc, pr := plot.ROC(r.classROC...), plot.PrecisionRecall(r.classPR...)
		roc.Subtitle, pr.Subtitle = "of each class versus the rest", "of each class versus the rest"
		if n := len(r.classROC); n < len(r.Classes) {
			roc.Subtitle += fmt.Sprintf("; the %d classes with the least AUC", n)
			pr.Subtitle = roc.Subtitle
		}
		all = append(all, roc, pr)
	}
	for class := range min(plot.MostClasses, len(m.Weights)) {
		if w := plot.Weights(m, class); w != nil {
			all = append(all, w)
		}
	}
	return all
}

// page returns the report of online as an HTML page.
func (o *onlineOptions) page(a *console.App, m *model.Model, r *onlineReport, paths []string) *plot.Page {
	result := reporting.Result(r.sheet())
	result.Tables[0].Caption = "Mistakes so far"
	var rows, mistakes []float64
	for _, p := range r.Progressive {
		rows, mistakes = append(rows, float64(p.Rows)), append(mistakes, float64(p.Mistakes))
	}
	pictures := plot.Section{Heading: "Pictures", Figures: []*plot.Figure{plot.Mistakes(rows, mistakes)}}
	if w := plot.Weights(m, 0); w != nil && len(m.Weights) == 1 {
		pictures.Figures = append(pictures.Figures, w)
	}
	o.reporting.Interrupted = r.Interrupted
	return &plot.Page{Title: "Learning online", Lead: "Each row was predicted, then learned from.",
		Sections: []plot.Section{result, pictures, reporting.Data(a, paths, [][2]string{{"rows", humanize.Count(r.Rows)}, {"label", m.Label}}), reporting.Time(r.stages, r.total, nil), o.reporting.Asked(), o.reporting.Repeat(reporting.Hash(m, o.out)...)}}
}
