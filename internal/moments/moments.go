// Package moments computes the means and standard deviations of features.
package moments

import "math"

// Quantile975 is the number that a standard normal variable is below with the chance 0.975. Intervals of 95 % reach that many
// standard errors to both sides.
const Quantile975 = 1.959963984540054

// Moments are the mean and the variance of a feature. Those of a run come by Welford's method (Technometrics 4(3), 1962);
// runs are combined in row order (Chan, Golub, LeVeque 1979).
type Moments struct{ run, all Run }

// A Run is n numbers, their mean, and the sum of their squared distances to it.
type Run struct{ n, mean, squares float64 }

// Add adds a number to the run. Conversions keep products from being fused with sums.
func (m *Moments) Add(x float64) {
	t := &m.run
	t.n++
	d := x - t.mean
	t.mean += d / t.n
	t.squares += float64(d * (x - t.mean))
}

// EndRuns ends the run of every feature.
func EndRuns(all []Moments) {
	for i := range all {
		m := &all[i]
		m.all = m.all.merge(m.run)
		m.run = Run{}
	}
}

func (t Run) merge(u Run) Run {
	if t.n == 0 || u.n == 0 {
		return Run{t.n + u.n, t.mean + u.mean, t.squares + u.squares}
	}
	n, d := t.n+u.n, u.mean-t.mean
	return Run{n, t.mean + float64(d*(u.n/n)), t.squares + u.squares + float64(float64(d*d)*(float64(t.n*u.n)/n))}
}

// TakeRuns ends the run of every feature and appends it to runs. all doesn't count these runs: AddRun adds them to other moments.
func TakeRuns(runs []Run, all []Moments) []Run {
	for i := range all {
		runs, all[i].run = append(runs, all[i].run), Run{}
	}
	return runs
}

// AddRun adds a run that ended.
func (m *Moments) AddRun(r Run) { m.all = m.all.merge(r) }

// Empty tells whether the runs that ended have no number.
func (m *Moments) Empty() bool { return m.all.n == 0 }

// Mean returns the mean of the runs that ended. what says what is wrong with it, or is "".
func (m *Moments) Mean() (mean float64, what string) {
	if mean = m.all.mean; math.IsNaN(mean) || math.IsInf(mean, 0) {
		what = "its numbers are too large for a mean"
	}
	return mean, what
}

// Scale returns the standard deviation in so many rows, or 1 if all numbers are equal. Rows without a number have the mean.
// what says what is wrong with it, or is "".
func (m *Moments) Scale(rows int64) (scale float64, what string) {
	switch scale = math.Sqrt(m.all.squares / float64(max(1, rows))); {
	case math.IsNaN(scale) || math.IsInf(scale, 0):
		what = "its numbers are too large for a standard deviation"
	case scale == 0:
		scale = 1
	}
	return scale, what
}
