package cli

import (
	"fmt"
	"slices"

	"halfspace/bench"
	"halfspace/cmd/internal/console"
	"halfspace/internal/humanize"
)

// headings are the headings of the groups of items.
var headings = []struct{ group, text string }{
	{bench.Limits, "Limits"}, {bench.Kernels, "Kernels"}, {bench.Loading, "Loading"}, {bench.Trains, "Trainings"},
}

func benchText(r *bench.Report) []byte {
	var s console.Sheet
	s.Line("%s", machine(r))
	s.Line("version %s, measured on %s by %s", r.Version, r.Date, r.Command)
	for _, h := range headings {
		rows := [][]string{{""}}
		levels := slices.DeleteFunc(slices.Clone(r.Machine.Levels), func(l string) bool {
			return !slices.ContainsFunc(r.Items, func(i *bench.Item) bool { return i.Group == h.group && i.Level == l })
		})
		for _, l := range levels {
			rows[0] = append(rows[0], l, "")
		}
		seen := map[string]bool{}
		for _, i := range r.Items {
			if i.Group != h.group || seen[i.Name] {
				continue
			}
			seen[i.Name] = true
			row := []string{bench.Label(i.Name)}
			for _, l := range levels {
				row = append(row, cells(r.Find(i.Name, l))...)
			}
			rows = append(rows, row)
		}
		if len(rows) > 1 {
			s.Line("\n%s", h.text)
			s.Table(rows)
		}
	}
	return s.Bytes()
}

// machine returns the line that describes the computer of a report.
func machine(r *bench.Report) string {
	m := r.Machine
	line := fmt.Sprintf("%s (%s", m.Processor, m.Arch)
	if m.Processor == "" {
		line = "unknown processor (" + m.Arch
	}
	if m.Family > 0 {
		line += fmt.Sprintf(", family %d, model %d", m.Family, m.Model)
	}
	line += "), " + humanize.Plural(int64(m.Workers), "thread")
	for _, c := range []struct {
		name  string
		bytes int
	}{{"L1 data", m.L1DBytes}, {"L2", m.L2Bytes}, {"L3", m.L3Bytes}} {
		if c.bytes > 0 {
			line += ", " + c.name + " " + humanize.Size(int64(c.bytes))
		}
	}
	return line
}

// cells returns the cells of an item: its figure and its share of the limit. For files and trainings the figure is the
// time.
func cells(i *bench.Item) []string {
	switch {
	case i == nil:
		return []string{"-", ""}
	case i.Group == bench.Loading || i.Group == bench.Trains:
		return []string{duration(i.Median), i.ShareText()}
	}
	return []string{i.Text(), i.ShareText()}
}

// duration writes a time with three digits, in s or ms.
func duration(seconds float64) string {
	if seconds >= 0.9995 {
		return fmt.Sprintf("%.3g s", seconds)
	}
	return fmt.Sprintf("%.3g ms", seconds*1e3)
}

// comparison returns the table of several computers.
func comparison(c *bench.Comparison) []byte {
	var s console.Sheet
	for k, r := range c.Reports {
		s.Line("%s: %s, on %s; halfspace %s, %s", c.Names[k], machine(r), r.Best(), r.Version, r.Date)
	}
	for _, h := range headings {
		rows := [][]string{{""}}
		whole := h.group == bench.Loading || h.group == bench.Trains
		for k, name := range c.Names {
			rows[0] = append(rows[0], name, "")
			if whole {
				rows[0] = append(rows[0], "")
			}
			if k > 0 {
				rows[0] = append(rows[0], "ratio")
			}
		}
		for _, row := range c.Rows {
			if row.Group != h.group {
				continue
			}
			line := []string{bench.Label(row.Name)}
			for k, i := range row.Items {
				of, rate, ratio := cells(i), "", ""
				if i != nil {
					rate = i.RowsText()
				}
				if first := row.Items[0]; i != nil && first != nil {
					ratio = fmt.Sprintf("%.2f", i.Rate()/first.Rate())
				}
				if line = append(line, of[0]); whole {
					line = append(line, rate)
				}
				if line = append(line, of[1]); k > 0 {
					line = append(line, ratio)
				}
			}
			rows = append(rows, line)
		}
		if len(rows) > 1 {
			s.Line("\n%s", h.text)
			s.Table(rows)
		}
	}
	s.Line("")
	for k, n := range c.Alone {
		if n > 0 {
			s.Line("Only %s has %s more.", c.Names[k], humanize.Plural(int64(n), "item"))
		}
	}
	switch c.Models {
	case 0:
		s.Line("No training is in all files, so no models were compared.")
	case 1:
		s.Line("All files have the same model of the one training that they share, byte for byte.")
	default:
		s.Line("All files have the same models of the %d trainings that they share, byte for byte.", c.Models)
	}
	return s.Bytes()
}
