package plot

import (
	"fmt"
	"math"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/metrics"
)

// Learning draws a trace. columns are the columns of the table of a trace file, by name. For a perceptron it draws
// the norm of the weights and the product with the reference, between the bounds of the convergence theorem. For any
// other learner it draws the objective after each pass. It returns nil if columns lacks these figures.
func Learning(columns map[string][]float64) *Figure {
	if !hasNumber(columns["norm"]) {
		return passes(columns)
	}
	t := columns["update"]
	f := &Figure{Title: "Updates of the perceptron", X: Axis{Name: "update"}, Y: Axis{Name: "length", includesZero: true}, Series: []Series{
		{Name: "norm of w", X: t, Y: columns["norm"]}, {Name: "upper bound", Dash: 1, X: t, Y: columns["upper"]}}}
	f.Subtitle = "|w| stays below the dashed line, which grows with the root of the updates"
	if hasNumber(columns["dot"]) {
		f.Series = append(f.Series, Series{Name: "w·u", Colour: 1, X: t, Y: columns["dot"]},
			Series{Name: "lower bound", Colour: 1, Dash: 1, X: t, Y: columns["lower"]})
		f.Subtitle += ", and |w| is at least w·u"
	}
	if lower := columns["lower"]; hasNumber(lower) {
		f.Subtitle = "w·u is at least the lower bound, and |w| at most the upper one: they meet, so updates end"
	}
	f.Series = slices.DeleteFunc(f.Series, func(s Series) bool { return !hasNumber(s.Y) })
	last := len(t) - 1
	f.Text = fmt.Sprintf("After update %s the norm of the weights is %s.", humanize.Count(int64(t[last])),
		humanize.Real(columns["norm"][last]))
	return f
}

// hasNumber tells whether at least one value isn't NaN.
func hasNumber(values []float64) bool {
	return slices.ContainsFunc(values, func(v float64) bool { return v == v })
}

// passes draws the objective of a solver after each pass, with the gap and the norm of the gradient if they are known,
// on a logarithmic scale.
func passes(columns map[string][]float64) *Figure {
	t, objective := columns["pass"], columns["objective"]
	if len(t) == 0 || !hasNumber(objective) {
		return nil
	}
	f := &Figure{Title: "Passes over the rows", X: Axis{Name: "pass"}, Y: Axis{Name: "value", Log: true},
		Subtitle: "on a logarithmic scale"}
	from := restart(objective)
	if from > 0 {
		f.Subtitle = fmt.Sprintf("on a logarithmic scale, from pass %s on, where another method began again at the "+
			"first weights", humanize.Count(int64(t[from])))
	}
	t, objective = t[from:], objective[from:]
	f.Series = []Series{{Name: "objective", X: t, Y: log10(objective)}}
	if gap := columns["gap"][min(from, len(columns["gap"])):]; hasNumber(gap) {
		f.Series = append(f.Series, Series{Name: "gap: most that is left", Colour: 1, X: t, Y: log10(gap)})
	}
	if g := columns["gradient"][min(from, len(columns["gradient"])):]; hasNumber(g) {
		f.Series = append(f.Series, Series{Name: "norm of the gradient", Colour: 2, Dash: 1, X: t, Y: log10(g)})
	}
	last := len(t) - 1
	for last > 0 && objective[last] != objective[last] {
		last--
	}
	f.Text = fmt.Sprintf("After pass %s the objective is %s.", humanize.Count(int64(t[last])), humanize.Real(objective[last]))
	return f
}

// restart returns the last index at which the objective returns to its first value after lower values: the solver
// dropped its steps and began again. It returns 0 if that didn't happen.
func restart(objective []float64) int {
	for i := len(objective) - 1; i > 0; i-- {
		if HasRestarted(objective[0], objective[i-1], objective[i]) {
			return i
		}
	}
	return 0
}

// HasRestarted tells whether a training began again at its first weights. first and last are its first and last
// objective so far, and next is the next objective.
func HasRestarted(first, last, next float64) bool {
	const same, lower = 1e-12, 1e-3 // relative differences
	return math.Abs(next-first) <= same*math.Abs(first) && last < next-lower*math.Abs(next)
}

// log10 returns the base-10 logarithms of values, with NaN for values that aren't positive.
func log10(values []float64) (logs []float64) {
	for _, v := range values {
		if v > 0 {
			logs = append(logs, math.Log10(v))
		} else {
			logs = append(logs, math.NaN())
		}
	}
	return logs
}

// Errors draws the errors of the weights after each update, and the errors of the best weights so far, which a pocket
// keeps. It returns nil if the trace has no errors.
func Errors(columns map[string][]float64) *Figure {
	t, errors := columns["update"], columns["errors"]
	if len(t) == 0 || !hasNumber(errors) {
		return nil
	}
	best, least := make([]float64, len(errors)), math.Inf(1)
	for i, e := range errors {
		if e < least {
			least = e
		}
		best[i] = least
	}
	return &Figure{Title: "Errors of the pocket", Subtitle: "rows that the weights are wrong on, after each update",
		X: Axis{Name: "update"}, Y: Axis{Name: "errors", includesZero: true},
		Series: []Series{{Name: "weights of the update", Colour: 5, X: t, Y: errors},
			{Name: "best so far", Shape: Steps, Colour: 1, X: t, Y: best}},
		Text: fmt.Sprintf("The fewest errors are %s, after %s.", humanize.Count(int64(least)),
			humanize.Plural(int64(len(t)), "traced update"))}
}

// KeptErrors draws the errors of the weights that a pocket kept, for a training without a trace. It returns nil for
// fewer than two points.
func KeptErrors(updates, errors []float64) *Figure {
	if len(updates) < 2 {
		return nil
	}
	last := len(updates) - 1
	return &Figure{Title: "Best weights so far",
		Subtitle: "errors of the weights that are kept, by the update that made them", X: Axis{Name: "update"},
		Y:      Axis{Name: "errors", includesZero: true},
		Series: []Series{{Shape: Steps, X: updates, Y: errors}}, Height: 320,
		Text: fmt.Sprintf("Errors fall from %s to %s after %s.", humanize.Count(int64(errors[0])),
			humanize.Count(int64(errors[last])), humanize.Plural(int64(updates[last]), "update"))}
}

// Mistakes draws the share of mistakes among the first rows. Package train counts mistakes at powers of two.
func Mistakes(rows, mistakes []float64) *Figure {
	f := &Figure{Title: "Mistakes so far", Subtitle: "share of wrong predictions, made before learning",
		X: Axis{Name: "rows, on a logarithmic scale", Log: true},
		Y: Axis{Name: "share", includesZero: true}, Series: []Series{{X: log10(rows)}}}
	for i, n := range rows {
		f.Series[0].Y = append(f.Series[0].Y, mistakes[i]/n)
	}
	if last := len(rows) - 1; last >= 0 {
		f.Text = fmt.Sprintf("%s among %s.", humanize.Plural(int64(mistakes[last]), "mistake"), humanize.Plural(int64(rows[last]), "row"))
	}
	return f
}

// Samples draws a learning curve: the share of wrong rows among judged held-out rows, for models of more and more rows.
func Samples(rows []float64, wrong, judged []int64) *Figure {
	f := &Figure{Title: "Learning curve", Subtitle: "wrong held-out rows of models of more and more rows, with 95 % " +
		"intervals (Wilson)", X: Axis{Name: "rows to learn from, on a logarithmic scale", Log: true},
		Y: Axis{Name: "share of wrong rows", includesZero: true}}
	s := Series{Shape: Dots, X: log10(rows)}
	for i, n := range wrong {
		share := float64(n) / float64(judged[i])
		ends := metrics.Wilson(share, float64(judged[i]))
		s.Y = append(s.Y, share)
		f.Series = append(f.Series, Series{X: []float64{s.X[i], s.X[i]}, Y: ends[:]})
		f.Text += fmt.Sprintf("%s: %s wrong. ", humanize.Plural(int64(rows[i]), "row"), humanize.Percent(share))
	}
	f.Series = append(f.Series, Series{X: s.X, Y: s.Y}, s)
	return f
}
