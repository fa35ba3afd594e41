package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/internal/train"
	"halfspace/plot"
	"halfspace/schema"
)

// A Follower collects from a trace the data that a report shows: some points, and the number of updates that each row
// made.
type Follower struct {
	columns     map[string][]float64
	pointStride int64 // one point of each every points is kept
	points      int64
	updates     map[int64]int64 // by row; nil if there are too many rows, or the trace leaves out updates
	hasClasses  bool            // each class has a training; the points are of the first class
}

// mostTracePoints is the largest number of points that are kept, and mostCountedRows the largest number of rows whose updates are
// counted.
const (
	mostTracePoints = 2000
	mostCountedRows = 1 << 20
)

// Follow returns a follower and trace options that send each point to it, and also to opt.To. opt may be nil.
func Follow(opt *train.Trace) (*Follower, *train.Trace) {
	f := &Follower{columns: map[string][]float64{}, pointStride: 1, updates: map[int64]int64{}}
	both := train.Trace{Point: f.add}
	if opt != nil {
		both = *opt
		if opt.UpdatesPerPoint > 1 {
			f.updates = nil
		}
		both.Point = func(p train.TracePoint) {
			f.add(p)
			opt.Point(p)
		}
	}
	return f, &both
}

func (f *Follower) add(p train.TracePoint) {
	if p.Row >= 0 && f.updates != nil {
		if f.updates[p.Row]++; len(f.updates) > mostCountedRows {
			f.updates = nil
		}
	}
	if f.hasClasses = p.Class >= 0; p.Class > 0 {
		return
	}
	if f.points++; f.points%f.pointStride != 0 {
		return
	}
	errors := math.NaN()
	if p.Errors >= 0 {
		errors = float64(p.Errors)
	}
	// A point adds to every column, so that all columns have the same length.
	for name, v := range map[string]float64{"update": float64(p.Update), "pass": float64(p.Epoch),
		"objective": p.Objective, "gap": p.Gap, "gradient": p.Gradient,
		"norm": p.Norm, "upper": p.UpperBound, "dot": p.Dot, "lower": p.LowerBound, "errors": errors} {
		f.columns[name] = append(f.columns[name], v)
	}
	if len(f.columns["update"]) >= mostTracePoints {
		for name, values := range f.columns {
			kept := values[:0]
			for i := 1; i < len(values); i += 2 {
				kept = append(kept, values[i])
			}
			f.columns[name] = kept
		}
		f.pointStride *= 2
	}
}

// Figures returns the pictures of the training. If there are several trainings, it returns the pictures of the first
// class, and the titles name it. It returns nil if f is nil.
func (f *Follower) Figures(classes []schema.Class) (all []*plot.Figure) {
	if f == nil {
		return nil
	}
	for _, figure := range []*plot.Figure{plot.Learning(f.columns), plot.Errors(f.columns)} {
		if figure != nil {
			if f.hasClasses {
				figure.Title += ": class " + classes[0].Text
			}
			all = append(all, figure)
		}
	}
	return all
}

// Rows returns the section of the rows that made the most updates, or nil if no updates are known or f is nil.
func (f *Follower) Rows() []plot.Section {
	if f == nil || len(f.updates) == 0 {
		return nil
	}
	rows := slices.SortedFunc(maps.Keys(f.updates), func(a, b int64) int {
		return cmp.Or(cmp.Compare(f.updates[b], f.updates[a]), cmp.Compare(a, b))
	})
	const shown = 10
	t := plot.Table{Caption: "Rows most often misclassified during the training", Head: []string{"row", "updates"}}
	for _, r := range rows[:min(len(rows), shown)] {
		t.Rows = append(t.Rows, []string{humanize.Count(r), humanize.Count(f.updates[r])})
	}
	return []plot.Section{{Heading: "Hard rows", Tables: []plot.Table{t},
		Text: []string{fmt.Sprintf("%s made updates. Rows are numbered from 0 among those that were learned from.",
			humanize.Plural(int64(len(rows)), "row"))}}}
}
