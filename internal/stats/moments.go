// Package stats computes features from the numbers of a row by their moments.
package stats

import "math"

// Quantile975 is the 0.975 quantile of the standard normal distribution. A 95 % interval extends that many standard
// errors to each side.
const Quantile975 = 1.959963984540054

// Moments compute the mean and the variance of a feature. Within a chunk they use Welford's method (Technometrics 4(3),
// 1962); chunks are combined in row order (Chan, Golub, LeVeque 1979).
type Moments struct{ chunk, all Sums }

// Sums hold the count n of numbers, their mean, and the sum of their squared distances to the mean.
type Sums struct{ n, mean, squares float64 }

// Fields returns pointers to the fields, for the messages to other processes.
func (t *Sums) Fields() []any { return []any{&t.n, &t.mean, &t.squares} }

// Add adds a number to the current chunk. Conversions keep the compiler from fusing products with sums.
func (m *Moments) Add(x float64) {
	t := &m.chunk
	t.n++
	d := x - t.mean
	t.mean += d / t.n
	t.squares += float64(d * (x - t.mean))
}

// FourChunks returns the sums of one to four chunks of values, each as Add makes them of an empty chunk. A chunk has rows
// values. The divisions of a chunk wait for each other; the divisions of four chunks don't.
func FourChunks[F float32 | float64](values []F, rows int) []Sums {
	chunk := func(k int) []F { return values[min(k, len(values)/rows-1)*rows:][:rows] }
	c0, c1, c2, c3 := chunk(0), chunk(1), chunk(2), chunk(3)
	var n, ma, mb, mc, md, sa, sb, sc, sd float64
	for i := range c0 {
		n++
		a, b, c, d := float64(c0[i]), float64(c1[i]), float64(c2[i]), float64(c3[i])
		da, db, dc, dd := a-ma, b-mb, c-mc, d-md
		ma, mb, mc, md = ma+da/n, mb+db/n, mc+dc/n, md+dd/n
		sa, sb, sc, sd = sa+float64(da*(a-ma)), sb+float64(db*(b-mb)), sc+float64(dc*(c-mc)), sd+float64(dd*(d-md))
	}
	return []Sums{{n, ma, sa}, {n, mb, sb}, {n, mc, sc}, {n, md, sd}}[:len(values)/rows]
}

// EndChunk ends the current chunk of every feature, and adds it to the feature's moments.
func EndChunk(all []Moments) {
	for i := range all {
		m := &all[i]
		m.all = m.all.merge(m.chunk)
		m.chunk = Sums{}
	}
}

func (t Sums) merge(u Sums) Sums {
	if t.n == 0 || u.n == 0 {
		return Sums{t.n + u.n, t.mean + u.mean, t.squares + u.squares}
	}
	n, d := t.n+u.n, u.mean-t.mean
	return Sums{n, t.mean + float64(d*(u.n/n)), t.squares + u.squares + float64(float64(d*d)*(float64(t.n*u.n)/n))}
}

// TakeChunk ends the current chunk of every feature and appends it to chunks. It doesn't add them to all: AddChunk adds
// them to other moments.
func TakeChunk(chunks []Sums, all []Moments) []Sums {
	for i := range all {
		chunks, all[i].chunk = append(chunks, all[i].chunk), Sums{}
	}
	return chunks
}

// AddChunk adds a chunk that has ended.
func (m *Moments) AddChunk(r Sums) { m.all = m.all.merge(r) }

// Count returns the number of numbers in the ended chunks.
func (m *Moments) Count() int64 { return int64(m.all.n) }

// IsEmpty tells whether the ended chunks have no numbers.
func (m *Moments) IsEmpty() bool { return m.all.n == 0 }

// Mean returns the mean over the ended chunks. The second result is the reason why the mean can't be used, or "".
func (m *Moments) Mean() (mean float64, what string) {
	if mean = m.all.mean; math.IsNaN(mean) || math.IsInf(mean, 0) {
		what = "its numbers are too large for a mean"
	}
	return mean, what
}

// Scale returns the standard deviation over rows rows, or 1 if all numbers are equal. A row without a number counts
// with the mean. The second result is the reason why the deviation can't be used, or "".
func (m *Moments) Scale(rows int64) (scale float64, what string) {
	switch scale = math.Sqrt(m.all.squares / float64(max(1, rows))); {
	case math.IsNaN(scale) || math.IsInf(scale, 0):
		what = "its numbers are too large for a standard deviation"
	case scale == 0:
		scale = 1
	}
	return scale, what
}
