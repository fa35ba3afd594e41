package truncated

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/train"
)

// A search is the state of a task.
type search[T kernel.Float] struct {
	*Task[T]
	cols, features int
	at             point
	lower          float64 // the greatest dual objective so far
	radius         float64 // the largest norm of a row's features; known after the first pass, as are y and weights
	y, weights     []float64
	passes, steps  int64
	scratch        sync.Pool // of *scratch[T]
	spare          sync.Pool // of []float64: zeros for all columns
	start          time.Time
}

// A scratch is what the rows of a run need. Its sums are zeros between runs. If a run has fewer elements than there are
// columns, it yields the columns that it touched. So its time and memory don't depend on the columns.
type scratch[T kernel.Float] struct {
	sums, squares []float64 // by column
	touched       []uint32  // columns of sums and squares that may be other than 0; some are there twice
	packed        kernel.SparseRows[T]

	z, factor, curvature, loss, y [block.RunRows]float64
}

func newScratch[T kernel.Float](cols int) *scratch[T] {
	return &scratch[T]{sums: make([]float64, cols), squares: make([]float64, cols)}
}

// A part is sums over the rows of a run.
type part struct {
	point         // without vectors
	radius        float64
	columns       []uint32 // of the sums; nil if they are of all columns
	sums, squares []float64
}

// rows returns the rows of a run in CSR form, without zeros: the order of a sum depends on the number of elements before.
func (c *scratch[T]) rows(run block.Run[T]) *kernel.SparseRows[T] {
	s, n := run.Sparse, run.Len()
	if s != nil && !slices.Contains(s.Val[s.Ptr[0]:s.Ptr[n]], 0) {
		return s
	}
	p := &c.packed
	p.Ptr, p.Idx, p.Val = append(p.Ptr[:0], 0), p.Idx[:0], p.Val[:0]
	for r := range n {
		if s != nil {
			columns, values := s.Row(r)
			for k, v := range values {
				if v != 0 {
					p.Idx, p.Val = append(p.Idx, columns[k]), append(p.Val, v)
				}
			}
			p.Ptr = append(p.Ptr, int64(len(p.Idx)))
			continue
		}
		for i, v := range run.X[r*run.Stride:][:run.Cols] {
			if v != 0 {
				p.Idx, p.Val = append(p.Idx, uint32(i)), append(p.Val, v)
			}
		}
		p.Ptr = append(p.Ptr, int64(len(p.Idx)))
	}
	return p
}

// score returns the product of a row with w.
func score[T kernel.Float](columns []uint32, values []T, w []float64) float64 {
	var a, b, c, d float64
	values = values[:len(columns)]
	k := 0
	for ; k+4 <= len(columns); k += 4 {
		i, v := columns[k:k+4:k+4], values[k:k+4:k+4]
		a += float64(float64(v[0]) * w[i[0]])
		b += float64(float64(v[1]) * w[i[1]])
		c += float64(float64(v[2]) * w[i[2]])
		d += float64(float64(v[3]) * w[i[3]])
	}
	for ; k < len(columns); k++ {
		a += float64(float64(values[k]) * w[columns[k]])
	}
	return (a + c) + (b + d)
}

// many tells whether rows have so many elements that most columns are touched.
func (s *search[T]) many(rows *kernel.SparseRows[T]) bool {
	n := rows.Len()
	return n > 0 && rows.Ptr[n]-rows.Ptr[0] >= int64(s.cols)
}

// zeros returns a vector of zeros for all columns.
func (s *search[T]) zeros() []float64 {
	if v, ok := s.spare.Get().(*[]float64); ok {
		return *v
	}
	return make([]float64, s.cols)
}

// addTo adds sums of a part to a vector for all columns. It takes the memory of vectors back.
func (s *search[T]) addTo(out []float64, p *part, sums []float64) {
	if p.columns == nil {
		kernel.Axpy(out, 1, sums)
		clear(sums)
		s.spare.Put(&sums)
		return
	}
	for k, i := range p.columns {
		out[i] += sums[k]
	}
}

// take moves the sums to a part. all says that most columns were touched.
func (s *search[T]) take(c *scratch[T], p *part, all, squares bool) {
	if all {
		p.sums, c.sums = c.sums, s.zeros()
		if squares {
			p.squares, c.squares = c.squares, s.zeros()
		}
		return
	}
	p.columns, p.sums = make([]uint32, 0, len(c.touched)+1), make([]float64, 0, len(c.touched))
	if squares {
		p.squares = make([]float64, 0, len(c.touched))
	}
	for _, i := range c.touched {
		if c.sums[i] == 0 && c.squares[i] == 0 {
			continue // it was there before
		}
		p.columns, p.sums = append(p.columns, i), append(p.sums, c.sums[i])
		if squares {
			p.squares = append(p.squares, c.squares[i])
		}
		c.sums[i], c.squares[i] = 0, 0
	}
	c.touched = c.touched[:0]
}

// evaluate makes a pass over the rows at p.w and completes p.
func (s *search[T]) evaluate(ctx context.Context, p *point) error {
	n, first := s.Rows.Rows(), s.passes == 0
	p.gradient, p.diagonal, p.curvature, p.scores = make([]float64, s.cols), make([]float64, s.cols), make([]float64, n), make([]float64, n)
	if first {
		s.y, s.weights = make([]float64, n), make([]float64, n)
	}
	err := block.ReduceRuns(ctx, s.Rows, s.Workers, func(run block.Run[T]) *part { return s.losses(run, p, first) }, func(t *part) {
		p.loss += t.loss
		p.weight += t.weight
		for k := range p.duals {
			p.duals[k] += t.duals[k]
			p.entropies[k] += t.entropies[k]
		}
		s.radius = max(s.radius, t.radius)
		s.addTo(p.gradient, t, t.sums)
		s.addTo(p.diagonal, t, t.squares)
	})
	if err != nil {
		return err
	}
	p.objective = p.loss
	for i := range s.features {
		p.objective += float64(float64(s.L2/2*p.w[i]) * p.w[i])
		p.gradient[i] += float64(s.L2 * p.w[i])
		p.diagonal[i] += s.L2
	}
	if s.features < s.cols && p.diagonal[s.features] == 0 { // no row has a curvature
		p.diagonal[s.features] = s.L2
	}
	s.passed()
	if p.objective-p.objective != 0 {
		return train.TooLarge[T]()
	}
	s.lower = max(s.lower, p.objective-s.gap(p))
	return nil
}

// losses sums over the rows of a run at p.w, and writes their curvatures to p.
func (s *search[T]) losses(run block.Run[T], p *point, first bool) *part {
	c, t, n := s.scratch.Get().(*scratch[T]), &part{}, run.Len()
	defer s.scratch.Put(c)
	rows := c.rows(run)
	all := s.many(rows)
	for r := range n {
		columns, values := rows.Row(r)
		c.z[r], c.y[r] = score(columns, values, p.w), float64(run.Y[r])
		if first {
			s.y[run.First+int64(r)], s.weights[run.First+int64(r)] = c.y[r], run.Weight(r)
			t.radius = max(t.radius, norm(columns, values, s.features))
		}
	}
	copy(p.scores[run.First:], c.z[:n])
	curvature := p.curvature[run.First:][:n]
	s.Loss(c.z[:n], c.factor[:n], curvature, c.loss[:n], c.y[:n])
	for r := range n {
		weight, class := run.Weight(r), 0
		if c.y[r] > 0 {
			class = 1
		}
		t.weight += weight
		if curvature[r] *= weight; weight == 0 {
			continue
		}
		f := float64(c.factor[r] * weight)
		a := -float64(c.y[r] * f)
		loss := float64(c.loss[r] * weight)
		t.loss += loss
		t.duals[class] += a
		t.entropies[class] += loss + float64(a*c.z[r])
		if f != 0 {
			columns, values := rows.Row(r)
			c.add(columns, values, f, curvature[r], all)
		}
	}
	s.take(c, t, all, true)
	return t
}

// add adds a row times f to sums, and its squares times curvature to squares. It notes the columns unless all is set.
func (c *scratch[T]) add(columns []uint32, values []T, f, curvature float64, all bool) {
	values = values[:len(columns)]
	if all {
		sums, squares := c.sums, c.squares[:len(c.sums)]
		for k, i := range columns {
			v := float64(values[k])
			sums[i] += float64(f * v)
			squares[i] += float64(float64(curvature*v) * v)
		}
		return
	}
	for k, i := range columns {
		v := float64(values[k])
		sum, square := c.sums[i], c.squares[i]
		if sum == 0 && square == 0 {
			c.touched = append(c.touched, i)
		}
		c.sums[i] = sum + float64(f*v)
		c.squares[i] = square + float64(float64(curvature*v)*v)
	}
}

// norm returns the norm of a row's features, not less than it is.
func norm[T kernel.Float](columns []uint32, values []T, features int) float64 {
	square := 0.0
	for k, i := range columns {
		if int(i) < features {
			square += float64(float64(values[k]) * float64(values[k]))
		}
	}
	return math.Sqrt(square) * (1 + 0x1p-20)
}

// product returns the product of the Hessian with a vector.
func (s *search[T]) product(ctx context.Context, d []float64) ([]float64, error) {
	out := make([]float64, s.cols)
	err := block.ReduceRuns(ctx, s.Rows, s.Workers, func(run block.Run[T]) *part { return s.times(run, d) }, func(t *part) {
		s.addTo(out, t, t.sums)
	})
	for i := range s.features {
		out[i] += float64(s.L2 * d[i])
	}
	if err == nil {
		s.passed()
	}
	return out, err
}

// times is product over the rows of a run. Rows without curvature add nothing.
func (s *search[T]) times(run block.Run[T], d []float64) *part {
	c, t := s.scratch.Get().(*scratch[T]), &part{}
	defer s.scratch.Put(c)
	rows := c.rows(run)
	all := s.many(rows)
	for r, curvature := range s.at.curvature[run.First:][:run.Len()] {
		if curvature == 0 {
			continue
		}
		columns, values := rows.Row(r)
		c.addSum(columns, values, float64(curvature*score(columns, values, d)), all)
	}
	s.take(c, t, all, false)
	return t
}

// addSum is add without squares.
func (c *scratch[T]) addSum(columns []uint32, values []T, f float64, all bool) {
	values, sums := values[:len(columns)], c.sums
	if all {
		for k, i := range columns {
			sums[i] += float64(f * float64(values[k]))
		}
		return
	}
	for k, i := range columns {
		sum := sums[i]
		if sum == 0 {
			c.touched = append(c.touched, i)
		}
		sums[i] = sum + float64(f*float64(values[k]))
	}
}

// scores makes a pass over the rows and returns their products with a vector.
func (s *search[T]) scores(ctx context.Context, d []float64) ([]float64, error) {
	out := make([]float64, s.Rows.Rows())
	err := block.ReduceRuns(ctx, s.Rows, s.Workers, func(run block.Run[T]) struct{} {
		c := s.scratch.Get().(*scratch[T])
		defer s.scratch.Put(c)
		rows := c.rows(run)
		for r := range run.Len() {
			columns, values := rows.Row(r)
			out[run.First+int64(r)] = score(columns, values, d)
		}
		return struct{}{}
	}, func(struct{}) {})
	if err == nil {
		s.passed()
	}
	return out, err
}

// slope returns the first and second derivative of the loss by length, at that length along a step whose scores are d.
func (s *search[T]) slope(ctx context.Context, d []float64, length float64) (slope, curvature float64, err error) {
	type pair struct{ slope, curvature float64 }
	err = parallel.Ordered(ctx, s.Workers, (len(d)+block.RunRows-1)/block.RunRows, func(k int) (t pair) {
		c := s.scratch.Get().(*scratch[T])
		defer s.scratch.Put(c)
		lo := k * block.RunRows
		some := d[lo:min(len(d), lo+block.RunRows)]
		n := len(some)
		copy(c.z[:n], s.at.scores[lo:])
		kernel.Axpy(c.z[:n], length, some)
		s.Loss(c.z[:n], c.factor[:n], c.curvature[:n], c.loss[:n], s.y[lo:][:n])
		for i, v := range some {
			if weight := s.weights[lo+i]; weight > 0 {
				t.slope += float64(float64(c.factor[i]*weight) * v)
				t.curvature += float64(float64(float64(c.curvature[i]*weight)*v) * v)
			}
		}
		return t
	}, func(t pair) { slope, curvature = slope+t.slope, curvature+t.curvature })
	return slope, curvature, err
}

// Value makes a pass over the rows and returns the sum of losses at w.
func (t *Task[T]) Value(ctx context.Context, w []float64) (float64, error) {
	s := &search[T]{Task: t, cols: len(w)}
	s.scratch.New = func() any { return newScratch[T](0) }
	total := 0.0
	err := block.ReduceRuns(ctx, t.Rows, t.Workers, func(run block.Run[T]) (sum float64) {
		c, n := s.scratch.Get().(*scratch[T]), run.Len()
		defer s.scratch.Put(c)
		rows := c.rows(run)
		for r := range n {
			columns, values := rows.Row(r)
			c.z[r], c.y[r] = score(columns, values, w), float64(run.Y[r])
		}
		t.Loss(c.z[:n], c.factor[:n], c.curvature[:n], c.loss[:n], c.y[:n])
		for r := range n {
			if weight := run.Weight(r); weight > 0 {
				sum += float64(c.loss[r] * weight)
			}
		}
		return sum
	}, func(sum float64) { total += sum })
	return total, err
}

// passed counts a pass and reports it.
func (s *search[T]) passed() {
	s.passes++
	if s.Progress == nil {
		return
	}
	rows := s.Rows.Rows()
	s.Progress(train.Progress{Epoch: s.passes, Epochs: s.Epochs, Visits: s.passes * rows, Rows: rows, Updates: s.steps, Best: -1, Elapsed: time.Since(s.start)})
}
