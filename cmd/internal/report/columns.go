package report

import (
	"cmp"
	"strings"

	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/plot"
)

// ColumnTable returns the table of the columns of files, and of the features that they become. The first row names the
// columns of the table.
func ColumnTable(p *dataset.Profile) [][]string {
	rows := [][]string{{"column", "type", "missing", "distinct", "range", "examples", "becomes"}}
	for _, c := range p.Columns {
		distinct := humanize.Count(int64(c.Distinct))
		if c.More {
			distinct = "over " + distinct
		}
		rows = append(rows, []string{c.Name, c.Type, humanize.Count(c.Missing), distinct, cmp.Or(c.Range, "-"),
			humanize.FirstCharacters(strings.Join(c.Examples, ", "), 40), c.Becomes})
	}
	return rows
}

// Columns returns the section of the columns of files, and of the features that they become.
func Columns(p *dataset.Profile) plot.Section {
	rows := ColumnTable(p)
	s := plot.Section{Heading: "Columns",
		Text: []string{"The type of each column in the files, its values, and the features that the training " +
			"made of it."}, Tables: []plot.Table{{Caption: "Columns of the files", Head: rows[0], Rows: rows[1:]}}}
	if p.Unlabelled > 0 {
		s.Text = append(s.Text, humanize.Plural(p.Unlabelled, "row")+" without a label, left out.")
	}
	return s
}
