package encode

import ()

// moments are the mean and the variance of a feature. Those of a run come by Welford's method (Technometrics 4(3), 1962);
// runs are combined in row order (Chan, Golub, LeVeque 1979).
type moments struct{ run, all tally }

// A tally is n numbers, their mean, and the sum of their squared distances to it.
type tally struct{ n, mean, squares float64 }

// Add adds a number to the run. Conversions keep products from being fused with sums.
func (m *moments) Add(x float64) {
	t := &m.run
	t.n++
	d := x - t.mean
	t.mean += d / t.n
	t.squares += float64(d * (x - t.mean))
}

// endRuns ends the run of every feature.
func endRuns(all []moments) {
	for i := range all {
		m := &all[i]
		m.all = m.all.merge(m.run)
		m.run = tally{}
	}
}

func (t tally) merge(u tally) tally {
	if t.n == 0 || u.n == 0 {
		return tally{t.n + u.n, t.mean + u.mean, t.squares + u.squares}
	}
	n, d := t.n+u.n, u.mean-t.mean
	return tally{n, t.mean + float64(d*(u.n/n)), t.squares + u.squares + float64(float64(d*d)*(float64(t.n*u.n)/n))}
}
