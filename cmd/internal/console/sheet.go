package console

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"halfspace/internal/humanize"
	"halfspace/plot"
)

// Finite returns v for JSON, or nil (null) if v is NaN or infinite.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// A Sheet is text for people: lines and tables. Control characters are made visible, and long cells shortened.
type Sheet struct {
	bytes.Buffer
	Facts  [][2]string  // names and values of Pairs
	Tables []plot.Table // a caption is the line of prose before the table, or "Classes"

	lastLine string // the last line of prose
}

const longestCell = 200

func (s *Sheet) Line(format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = humanize.Line(arg)
		case fmt.Stringer:
			args[i] = humanize.Line(arg.String())
		}
	}
	fmt.Fprintf(s, format+"\n", args...)
	s.lastLine = strings.TrimSpace(fmt.Sprintf(format, args...))
}

// Pairs adds aligned lines of a name and a value; cells alternates names and values. A pair whose value is empty is left
// out.
func (s *Sheet) Pairs(cells ...string) {
	t := tabwriter.NewWriter(s, 0, 0, 3, ' ', 0)
	for pair := range slices.Chunk(cells, 2) {
		if pair[1] != "" {
			s.Facts = append(s.Facts, [2]string(pair))
			fmt.Fprintf(t, "  %s\t%s\n", humanize.Line(pair[0]), humanize.Line(pair[1]))
		}
	}
	t.Flush() // to a buffer: no error
}

// Table adds rows of cells. The first column is aligned to the left, the others to the right.
func (s *Sheet) Table(rows [][]string) {
	s.Tables = append(s.Tables, plot.Table{Caption: cmp.Or(strings.TrimSuffix(s.lastLine, ":"), "Classes"), Head: rows[0], Rows: rows[1:]})
	for _, row := range rows {
		for i, cell := range row {
			row[i] = humanize.WithoutMiddle(humanize.Line(cell), longestCell)
		}
	}
	for _, line := range plot.AlignedLines(rows) {
		s.WriteString("  " + line + "\n")
	}
}

// A Column is a column of a table: its name, and its cell in row i.
type Column struct {
	Head string
	Cell func(i int) string
}

// If returns c if it is wanted, otherwise a column that Columns leaves out.
func (c Column) If(wanted bool) Column {
	if !wanted {
		return Column{}
	}
	return c
}

// Columns returns a table of n rows after the row of names. It leaves out columns without a cell function.
func Columns(n int, columns ...Column) [][]string {
	rows := make([][]string, 1+n)
	for _, c := range columns {
		if c.Cell == nil {
			continue
		}
		rows[0] = append(rows[0], c.Head)
		for i := range n {
			rows[1+i] = append(rows[1+i], c.Cell(i))
		}
	}
	return rows
}
