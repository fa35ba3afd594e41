package cli

import (
	"fmt"
	"strings"

	"halfspace/bench"
	"halfspace/plot"
)

// roofline draws the items of the best instruction set under the limits: blue for one core, green for all cores.
func roofline(r *bench.Report) string {
	level := r.Best()
	p := &plot.Roofline{Title: "Roofline: " + r.Machine.Processor, Subtitle: fmt.Sprintf("on %s: one core in blue, %d cores in green; the limits are those of one core", level, r.Machine.Workers),
		Notes: []string{machine(r), "halfspace " + r.Version + ", " + r.Date + " (" + r.Command + ")"}}
	limits := func(names ...string) (all []plot.Limit) {
		for _, of := range names {
			if i := r.Find(bench.LimitName(of, 1), level); i != nil {
				all = append(all, plot.Limit{Name: of, Rate: i.Value})
			}
		}
		return all
	}
	p.Slopes, p.Peaks = limits("L1", "L2", "L3", "DRAM"), limits("FMA-float32", "FMA-float64")
	for _, i := range r.Items {
		if i != r.Fastest(i.Name) || i.Group == bench.Limits || i.Flops == 0 || i.Bytes == 0 {
			continue
		}
		point := plot.Computation{Name: short(i.Name), Intensity: i.Flops / i.Bytes, Rate: i.Flops / i.Median}
		if i.Cores > 1 {
			point.Colour = 2
		}
		p.Points = append(p.Points, point)
	}
	return p.SVG(plot.Auto)
}

// bars draws a comparison. The bar of the fastest computer is the longest.
func bars(c *bench.Comparison) string {
	b := &plot.BarChart{Title: "The same work on " + strings.Join(c.Names, ", "), Subtitle: "rates: more is better; in parentheses the share of the computer's own limit"}
	for _, row := range c.Rows {
		if row.Group == bench.Limits {
			continue
		}
		most := 0.0
		for _, i := range row.Items {
			if i != nil {
				most = max(most, i.Rate())
			}
		}
		g := plot.BarGroup{Name: short(row.Name)}
		for k, i := range row.Items {
			if i == nil {
				continue
			}
			label := c.Names[k] + ": " + cells(i)[0]
			if i.Limit != "" {
				label += fmt.Sprintf(" (%.0f %%)", 100*i.Share)
			}
			g.Bars = append(g.Bars, plot.Bar{Length: i.Rate() / most, Label: label, Strong: i.Rate() == most, Colour: plot.Colour(k)})
		}
		b.Groups = append(b.Groups, g)
	}
	for k, r := range c.Reports {
		b.Notes = append(b.Notes, fmt.Sprintf("%s: %s, on %s, %s", c.Names[k], machine(r), r.Best(), r.Date))
	}
	return b.SVG(plot.Auto)
}

// short returns the label of an item. It leaves out the sizes of trainings and files, since each has only one size.
func short(name string) string {
	for _, group := range []string{"Train/", "Load/"} {
		if strings.HasPrefix(name, group) {
			name, _, _ = strings.Cut(name, "/rows=")
		}
	}
	return bench.Label(name)
}
