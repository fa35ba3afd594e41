package optimize

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/parallel"
	"halfspace/kernel/f64"
)

const (
	slowViolations    = 0.5   // a round of coordinate descent is slow if more than this times the sum of violations is left
	faceResidual      = 0.05  // conjugate gradients stop at a residual of this times the first residual
	firstFaceProducts = 4     // most products with the Hessian in the first call of face
	leastFaceProducts = 2     // least value of that limit
	mostFaceProducts  = 40    // greatest value of that limit
	noiseCurvature    = 1e-6  // a curvature below this times the curvature of the Hessian's diagonal is rounding error
	leastCurvature    = 1e-12 // summand of a second derivative, so that it is above 0
	mostFaceTrials    = 8     // most trials of a step of face, each half the one before
)

// A model is the quadratic model of the objective for a step of a net, over some of the columns. The places are these
// columns, in the order in which a round visits them. A place has the elements of its column in rows with a curvature,
// each times the root of the curvature, so the Hessian is X'X of these elements. The elements and the scores are
// float32 to need less memory traffic. The step is then less precise, but the gradient at the next weights is float64,
// and the next step corrects the errors. Float32 overflows at 3.4e38, so each column is divided by a power of two, and
// so are all roots.
type model struct {
	*net
	columns                     []int
	size                        int64 // number of elements of the columns
	places                      []place
	allPlaces                   []int // all places
	row                         []uint32
	val                         []float32
	z                           []float32 // scores of the step so far
	directionScores, faceScores []float32 // scores of a direction of conjugate gradients, and of the step of face
}

// A place is the state of a column in a model.
type place struct {
	first, end          int64   // elements of the column
	gradient            float64 // of the loss, at the start of the step
	scale               float64 // the elements are divided by this power of two
	curvature           float64 // second derivative of the model
	startWeight, weight float64 // weight at the start of the step, and now
	slope               float64 // derivative of the model without the l1 penalty, from the last call of slopes
}

// begin starts a step for the columns.
func (m *model) begin(ctx context.Context, columns []int) error {
	if m.row == nil {
		n, rows := m.elements.count(), len(m.Scores)
		m.row, m.val = make([]uint32, n), make([]float32, n)
		m.z, m.directionScores, m.faceScores = make([]float32, rows), make([]float32, rows), make([]float32, rows)
	}
	clear(m.z)
	m.columns, m.places, m.allPlaces = columns, slices.Grow(m.places[:0], len(columns)), m.allPlaces[:0]
	at := make([]uint32, len(m.W)) // the place of each column plus 1, or 0
	total := int64(0)
	for p, j := range columns {
		at[j] = uint32(p) + 1
		m.places = append(m.places, place{first: total, gradient: m.gradient[j], startWeight: m.W[j], weight: m.W[j]})
		m.allPlaces = append(m.allPlaces, p)
		total += m.elements.size(j)
	}
	return m.elements.eachColumn(ctx, m.Workers, func(j int) {
		if at[j] == 0 {
			return
		}
		p := &m.places[at[j]-1]
		p.scale = m.scales[j]
		n, square := m.elements.scaledColumn(j, p.scale, m.roots, m.row[p.first:], m.val[p.first:])
		p.end, p.curvature = p.first+int64(n), float64(square*p.scale*p.scale*m.unit*m.unit)+leastCurvature
		if j < m.features {
			p.curvature += m.L2
		}
	})
}

// isBias tells whether a place is the bias.
func (m *model) isBias(p int) bool { return m.columns[p] >= m.features }

// round minimises over one weight after another, at the active places. It removes weights of 0 from active whose slope
// is below L1 by more than limit. It returns the sum of the violations, and the largest violation.
func (m *model) round(active *[]int, limit float64) (sum, most float64) {
	left := (*active)[:0]
	for _, i := range *active {
		p, j := &m.places[i], m.columns[i]
		m.VisitedElements += p.end - p.first
		slope, w := p.gradient+m.dot(p, m.z), p.weight
		if j < m.features {
			slope += float64(m.L2 * w)
			if w == 0 && m.pull(-slope) < m.L1-limit {
				continue
			}
		}
		left = append(left, i)
		v := m.violation(j, w, slope)
		sum, most = sum+float64(v*m.violationWeight(j)), max(most, v)
		to := m.bestWeight(j, w, slope, p.curvature)
		if by := to - w; by != 0 {
			p.weight = to
			m.add(p, m.z, by)
		}
	}
	*active = left
	return sum, most
}

// dot returns the dot product of the column of a place and z, both without their divisors.
func (m *model) dot(p *place, z []float32) float64 {
	rows, values := m.row[p.first:p.end], m.val[p.first:p.end]
	var a, b, c, d float64
	values = values[:len(rows)]
	k := 0
	for ; k+4 <= len(rows); k += 4 {
		i, v := rows[k:k+4:k+4], values[k:k+4:k+4]
		a += float64(float32(v[0] * z[i[0]]))
		b += float64(float32(v[1] * z[i[1]]))
		c += float64(float32(v[2] * z[i[2]]))
		d += float64(float32(v[3] * z[i[3]]))
	}
	for ; k < len(rows); k++ {
		a += float64(float32(values[k] * z[rows[k]]))
	}
	return float64(p.scale * m.unit * m.unit * ((a + c) + (b + d)))
}

// add adds by times the column of a place to z.
func (m *model) add(p *place, z []float32, by float64) {
	rows, values, factor := m.row[p.first:p.end], m.val[p.first:p.end], float32(by*p.scale)
	values = values[:len(rows)]
	for k, r := range rows {
		z[r] += float32(factor * values[k])
	}
}

// dots sets out to the dot products of the places on and z.
func (m *model) dots(ctx context.Context, out []float64, on []int, z []float32) error {
	var ends []int
	size := int64(0)
	for i, p := range on {
		size += m.places[p].end - m.places[p].first
		if size >= taskElements || i+1 == len(on) {
			ends, size = append(ends, i+1), 0
		}
	}
	return parallel.For(ctx, m.Workers, len(ends), func(_, task int) {
		first := 0
		if task > 0 {
			first = ends[task-1]
		}
		for i := first; i < ends[task]; i++ {
			out[i] = m.dot(&m.places[on[i]], z)
		}
	})
}

// slopes computes the slope of each place, and returns the sum of the violations.
func (m *model) slopes(ctx context.Context) (sum float64, err error) {
	dots := make([]float64, len(m.allPlaces))
	err = m.dots(ctx, dots, m.allPlaces, m.z)
	for i, dot := range dots {
		p := &m.places[i]
		if p.slope = p.gradient + dot; !m.isBias(i) {
			p.slope += float64(m.L2 * p.weight)
		}
		sum += float64(m.violation(m.columns[i], p.weight, p.slope) * m.violationWeight(m.columns[i]))
	}
	return sum, err
}

// value returns the change of the model's objective since the start of the step.
func (m *model) value() (sum float64) {
	for i := range m.places {
		p := &m.places[i]
		d := p.weight - p.startWeight
		change := float64(p.gradient * d)
		if !m.isBias(i) {
			change += float64(m.L1*(math.Abs(p.weight)-math.Abs(p.startWeight))) + float64(m.L2/2*float64(d*(p.weight+p.startWeight)))
		}
		sum += change
	}
	square := 0.0
	for _, z := range m.z {
		square += float64(float64(z) * float64(z))
	}
	return sum + float64(square*m.unit*m.unit/2)
}

// face goes towards the minimum over the bias and the weights that aren't 0. A weight whose sign would change becomes
// 0. face uses conjugate gradients. They need fewer products with the Hessian than coordinate descent needs rounds, but
// coordinate descent also finds which weights are 0. As long as many signs change, face makes few products.
func (m *model) face(ctx context.Context) error {
	var on []int
	for i := range m.places {
		if m.places[i].weight != 0 || m.isBias(i) {
			on = append(on, i)
		}
	}
	step, err := m.conjugateStep(ctx, on)
	if err != nil {
		return err
	}
	from, z, w := m.value(), slices.Clone(m.z), make([]float64, len(on))
	for k, i := range on {
		w[k] = m.places[i].weight
	}
	for part, tried := 1.0, 0; tried < mostFaceTrials; part, tried = part/2, tried+1 {
		for r, v := range m.faceScores {
			m.z[r] = z[r] + float32(float32(part)*v)
		}
		for k, i := range on {
			p := &m.places[i]
			p.weight = w[k] + float64(part*step[k])
			if !m.isBias(i) && !(float64(p.weight*w[k]) > 0) {
				m.add(p, m.z, -p.weight)
				p.weight = 0
			}
		}
		if m.value() < from {
			if part == 1 {
				m.Products = min(mostFaceProducts, m.Products*2)
			} else {
				m.Products = max(leastFaceProducts, m.Products/2)
			}
			return nil
		}
	}
	m.Products = leastFaceProducts
	copy(m.z, z)
	for k, i := range on {
		m.places[i].weight = w[k]
	}
	return nil
}

// conjugateStep returns a step of the places on towards the minimum of the model with their signs as they are, by
// conjugate gradients, preconditioned by the diagonal of the Hessian. It leaves the scores of the step in faceScores.
func (m *model) conjugateStep(ctx context.Context, on []int) (step []float64, err error) {
	n := len(on)
	step, residual, scaled, direction, product := make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n), make([]float64, n)
	for k, i := range on {
		p := &m.places[i]
		if residual[k] = -p.slope; !m.isBias(i) {
			residual[k] -= math.Copysign(m.L1, p.weight)
		}
	}
	clear(m.faceScores)
	square := m.divide(scaled, residual, on)
	copy(direction, scaled)
	enough := faceResidual * math.Sqrt(square)
	for range m.Products {
		if math.Sqrt(square) <= enough || m.lacksPasses(3*m.size) {
			break
		}
		if err := m.product(ctx, product, direction, on); err != nil {
			return nil, err
		}
		curvature := f64.Dot(direction, product)
		if !(curvature > m.noiseBound(direction, on)) {
			break // the Hessian is singular in float32
		}
		by := square / curvature
		f64.Axpy(step, by, direction)
		f64.Axpy(residual, -by, product)
		for r, v := range m.directionScores {
			m.faceScores[r] += float32(float32(by) * v)
		}
		last := square
		square = m.divide(scaled, residual, on)
		for k, v := range scaled {
			direction[k] = v + float64(square/last*direction[k])
		}
	}
	return step, nil
}

// divide sets d to v divided by the diagonal of the Hessian. It returns the dot product of d and v.
func (m *model) divide(d, v []float64, on []int) (sum float64) {
	for k, i := range on {
		d[k] = v[k] / m.places[i].curvature
		sum += float64(d[k] * v[k])
	}
	return sum
}

// noiseBound returns a bound of the curvature along v below which rounding errors of float32 hide it.
func (m *model) noiseBound(v []float64, on []int) (sum float64) {
	for k, i := range on {
		sum += float64(float64(v[k]*v[k]) * m.places[i].curvature)
	}
	return sum * noiseCurvature
}

// product sets out to the product of the Hessian and v, and along to the scores of v.
func (m *model) product(ctx context.Context, out, v []float64, on []int) error {
	clear(m.directionScores)
	for k, i := range on {
		p := &m.places[i]
		m.VisitedElements += p.end - p.first
		m.add(p, m.directionScores, v[k])
	}
	err := m.dots(ctx, out, on, m.directionScores)
	for k, i := range on {
		if !m.isBias(i) {
			out[k] += float64(m.L2 * v[k])
		}
	}
	return err
}
