package inspect

import (
	"fmt"

	"halfspace/cmd/internal/console"
	reporting "halfspace/cmd/internal/report"
	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/plot"
)

// page returns the verdict as an HTML page. held is the number of bytes that the rows take.
func (o *checkOptions) page(a *console.App, r *CheckReport, paths []string, held int64, bandwidth reporting.Bandwidth) *plot.Page {
	verdict := "Undecided: no plane and no witness were found."
	switch {
	case r.Separable != nil && *r.Separable:
		verdict = "A plane separates the classes. That is proved in exact arithmetic."
	case r.Separable != nil:
		verdict = "No plane separates the classes. That is proved in exact arithmetic."
	}
	p := &plot.Page{Title: "Separable or not", Lead: verdict, Sections: []plot.Section{reporting.Result(r.sheet())}}
	if r.PlaneReport != nil && len(r.Features) > 0 {
		m := &model.Model{Features: r.Features, Weights: [][]float64{r.Weights}}
		if f := plot.Weights(m, 0); f != nil {
			f.Title, f.Subtitle = "Weights of the plane", "of the largest margin, of features as they are"
			p.Sections = append(p.Sections, plot.Section{Heading: "Pictures", Figures: []*plot.Figure{f}})
		}
	}
	if f := r.witnessFigure(); f != nil {
		p.Sections = append(p.Sections, plot.Section{Heading: "Pictures", Figures: []*plot.Figure{f}})
	}
	data := [][2]string{{"rows", humanize.Count(r.Rows)}}
	for _, c := range r.Classes {
		data = append(data, [2]string{"class", c.Text})
	}
	p.Sections = append(p.Sections, reporting.Data(a, paths, data), r.stages(reporting.Bytes(paths), held, bandwidth), o.reporting.Asked(), o.reporting.Repeat([2]string{"numbers", fmt.Sprintf("%s, %s", r.Dtype, r.ISA)}))
	return p
}

// A witnessRow is a row of the witness.
type witnessRow struct {
	Row    int64  `json:"row"`
	Label  int    `json:"label"`  // -1 or +1
	Weight string `json:"weight"` // a fraction
	weight float64
}

// witnessFigure draws the witness. It returns nil if there is none.
func (r *CheckReport) witnessFigure() *plot.Figure {
	if len(r.Witness) == 0 {
		return nil
	}
	var rows []int64
	var labels []int
	var weights []float64
	for _, w := range r.Witness {
		rows, labels, weights = append(rows, w.Row), append(labels, w.Label), append(weights, w.weight)
	}
	names := [2]string{r.Classes[0].Text, r.Positive.Text}
	if r.Classes[0].Text == r.Positive.Text {
		names[0] = r.Classes[1].Text
	}
	if len(r.Classes) > 2 {
		names[0] = "other classes"
	}
	return plot.Witness(rows, labels, weights, names)
}

// stages returns the section of the times. Each pass reads all rows.
func (r *CheckReport) stages(files, held int64, bandwidth reporting.Bandwidth) plot.Section {
	load := reporting.Stage{Name: "load", Seconds: r.Seconds.Load, Cores: r.Workers}
	if !r.Streamed {
		load.Rows, load.Bytes = r.Rows, files+held
	}
	check := reporting.Stage{Name: "check", Seconds: r.Seconds.Check, Rows: r.Passes * r.Rows, Bytes: r.Passes * held, Cores: r.Workers}
	return reporting.Time([]reporting.Stage{load, check}, r.Seconds.Total, bandwidth)
}
