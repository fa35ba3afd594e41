package inspecting

import (
	"fmt"

	"halfspace/internal/cli/console"
	"halfspace/internal/cli/reporting"
	"halfspace/internal/say"
	"halfspace/model"
	"halfspace/plot"
	"halfspace/report"
)

// page returns the verdict as a page of HTML.
func (o *checkOptions) page(a *console.App, r *CheckReport, paths []string) *report.Page {
	verdict := "Undecided: no plane and no witness were found."
	switch {
	case r.Separable != nil && *r.Separable:
		verdict = "A plane separates the classes. That is proved in exact arithmetic."
	case r.Separable != nil:
		verdict = "No plane separates the classes. That is proved in exact arithmetic."
	}
	p := &report.Page{Title: "Separable or not", Lead: verdict, Sections: []report.Section{reporting.Result(r.sheet())}}
	if r.PlaneReport != nil && len(r.Features) > 0 {
		m := &model.Model{Features: r.Features, Weights: [][]float64{r.Weights}}
		if f := plot.Weights(m, 0); f != nil {
			f.Title, f.Subtitle = "Weights of the plane", "of the largest margin, of features as they are"
			p.Sections = append(p.Sections, report.Section{Heading: "Pictures", Figures: []*plot.Figure{f}})
		}
	}
	data := [][2]string{{"rows", say.Count(r.Rows)}}
	for _, c := range r.Classes {
		data = append(data, [2]string{"class", c.Text})
	}
	p.Sections = append(p.Sections, reporting.Data(a, paths, data), o.reporting.Asked(), o.reporting.Repeat([2]string{"numbers", fmt.Sprintf("%s, %s", r.Dtype, r.ISA)}))
	return p
}
