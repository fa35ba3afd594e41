package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"halfspace/bench"
	"halfspace/block"
	"halfspace/internal/humanize"
	"halfspace/plot"
)

// A Stage is a timed part of a run.
type Stage struct {
	Name    string
	Seconds float64
	Rows    int64 // rows that it read, each counted each time; 0: not known
	Bytes   int64 // least number of bytes of these rows and of the files that it read; 0: not known
	Cores   int   // largest number of cores that worked at once
}

// A Bandwidth returns the bytes per second that some cores can read together, 0 if that isn't known.
type Bandwidth func(cores int) float64

// Reading returns a Bandwidth that measures the bandwidth of rows in memory, once for each number of cores. If the rows
// of src aren't in memory, it returns 0.
func Reading(src block.Source) Bandwidth {
	data, held := src.(*block.Data)
	known := map[int]float64{}
	return func(cores int) float64 {
		if _, ok := known[cores]; !ok && held {
			var arrays [][]float32
			for b := range data.Blocks(context.Background()) {
				if b.Sparse != nil {
					arrays = append(arrays, b.Sparse.Val)
				} else {
					arrays = append(arrays, b.X)
				}
			}
			known[cores] = bench.ReadRate(arrays, cores)
		}
		return known[cores]
	}
}

// Time returns the section of the times. bandwidth gives the limit for each stage; nil means that it isn't known. The
// rate counts bytes, or rows if the bytes aren't known. The rest of total becomes a stage too. Columns without a figure
// are left out.
func Time(stages []Stage, total float64, bandwidth Bandwidth) plot.Section {
	t := plot.Table{Caption: "Time by stage", Head: []string{"stage", "time", "of the total", "rows", "bytes", "rate", "of the limit"}}
	var used []string // the limits that the table uses
	add := func(s Stage) {
		row := []string{s.Name, humanize.Seconds(s.Seconds), humanize.Percent(s.Seconds / total), "", "", "", ""}
		if s.Rows > 0 {
			row[3] = humanize.Count(s.Rows)
		}
		if s.Bytes > 0 && s.Seconds > 0 {
			rate := float64(s.Bytes) / s.Seconds
			row[4], row[5] = humanize.Size(s.Bytes), perSecond(rate)
			most := 0.0
			if bandwidth != nil {
				most = bandwidth(s.Cores)
			}
			if most > 0 {
				row[6] = humanize.Percent(rate / most)
				if reads := fmt.Sprintf("%s by %s", perSecond(most), humanize.Plural(int64(s.Cores), "core")); !slices.Contains(used, reads) {
					used = append(used, reads)
				}
			}
		} else if s.Rows > 0 && s.Seconds > 0 {
			row[5] = humanize.About(float64(s.Rows)/s.Seconds) + " rows/s"
		}
		t.Rows = append(t.Rows, row)
	}
	rest := total
	for _, s := range stages {
		add(s)
		rest -= s.Seconds
	}
	if rest > 0 {
		add(Stage{Name: "the rest", Seconds: rest})
	}
	add(Stage{Name: "total", Seconds: total})
	section := plot.Section{Heading: "Time", Tables: []plot.Table{withoutEmpty(t)}}
	if used != nil {
		section.Text = []string{"The limit is how fast this computer reads the same rows from memory or from its caches, measured at the end of the run: " +
			strings.Join(used, ", ") + ". A stage far below it waits for arithmetic, or for files."}
	}
	return section
}

// withoutEmpty returns the table without the columns whose cells are all empty.
func withoutEmpty(t plot.Table) plot.Table {
	short := plot.Table{Caption: t.Caption, Rows: make([][]string, len(t.Rows))}
	for c, name := range t.Head {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[c] != "" }) {
			continue
		}
		short.Head = append(short.Head, name)
		for i, row := range t.Rows {
			short.Rows[i] = append(short.Rows[i], row[c])
		}
	}
	return short
}

func perSecond(bytes float64) string { return fmt.Sprintf("%.3g GB/s", bytes/1e9) }
