package logistic

import (
	"context"
	"math"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/microkernel"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// products are sums of u u' over rows. u is (p_1 x, p_2 x, ...) times the square root of the sample weight, where p_k
// is the probability of class k. They are stored in blocks of 32 x 32, row by row of the lower triangle.
type products struct {
	cols, n int // n is the length of u
	u       []float64
	blocks  []float64
}

const (
	blockColumns  = linalg.PanelCols
	blockElements = blockColumns * blockColumns
)

func newProducts(cols, n int) *products {
	blocks := (n + blockColumns - 1) / blockColumns
	return &products{cols: cols, n: n, u: block.Alloc[float64](blocks * linalg.PanelRows * blockColumns),
		blocks: block.Alloc[float64](blocks * (blocks + 1) / 2 * blockElements)}
}

// addProducts adds the products of the rows of a panel. c.scores has their probabilities of each class.
func addProducts(s *products, rows *block.Block, c *scratch) {
	n := rows.Len()
	if rows.Sparse != nil {
		clear(s.u)
	}
	for r := range n {
		root := math.Sqrt(rows.Weight(r))
		columns, values := c.reader.Row(rows, r)
		for k := range s.n / s.cols {
			f := float64(c.scores[k*linalg.PanelRows+r] * root)
			for i, column := range columns {
				at := k*s.cols + int(column)
				s.u[(at/blockColumns*linalg.PanelRows+r)*blockColumns+at%blockColumns] = f * values[i]
			}
		}
	}
	for i, at := 0, 0; i*blockColumns < s.n; i++ {
		height := min(blockColumns, (s.n-i*blockColumns+3)/4*4)
		a := s.u[i*linalg.PanelRows*blockColumns:][:n*blockColumns]
		for j := range i + 1 {
			microkernel.RankKUpdate(s.blocks[at:][:blockElements], a, s.u[j*linalg.PanelRows*blockColumns:][:n*blockColumns], height, j < i)
			at += blockElements
		}
	}
}

// element returns the sum of the products of elements i and j of u, j <= i.
func (s *products) element(i, j int) float64 {
	bi, bj := i/blockColumns, j/blockColumns
	return s.blocks[(bi*(bi+1)/2+bj)*blockElements+i%blockColumns*blockColumns+j%blockColumns]
}

// jointHessian computes the Hessian of more than two classes with the other sums. Its block for classes k and j other
// than k is -X' diag(p_k p_j) X. Its blocks for k = j make the sum of the blocks in each row of blocks 0. That Hessian
// is singular, because adding one vector to the weights of all classes changes nothing. So jointHessian adds a matrix
// that acts only on such changes. Gradients are orthogonal to them.
func (p *problem) jointHessian(ctx context.Context, w []float64, at *sums) error {
	all := newProducts(p.cols, p.vectors*p.cols)
	err := jointPass.Reduce(ctx, p.src, p.workers, w, func(s jointSums) {
		at.add(s.Sums)
		f64.Axpy(all.blocks, 1, s.Products)
	})
	at.Hessian = all.hessian()
	return err
}

var jointPass = newPass("logistic.joint", (*problem).jointChunk)

// jointSums are the sums of a chunk, and the blocks of its products.
type jointSums struct {
	Sums     sums
	Products []float64
}

// jointChunk returns the function that makes the pass of jointHessian on one chunk.
func (p *problem) jointChunk(w []float64) func(block.Chunk) jointSums {
	return func(chunk block.Chunk) jointSums {
		s := newProducts(p.cols, p.vectors*p.cols)
		return jointSums{p.chunk(chunk, w, nil, s), s.blocks}
	}
}

func (s *products) hessian() []float64 {
	h := make([]float64, s.n*(s.n+1)/2)
	element := func(i, j int) *float64 { return &h[max(i, j)*(max(i, j)+1)/2+min(i, j)] }
	classes := s.n / s.cols
	for i := range s.n {
		for j := range i {
			k, l, a, b := i/s.cols, j/s.cols, i%s.cols, j%s.cols
			if k == l {
				continue
			}
			v := s.element(i, j)
			*element(i, j) -= v
			if b <= a { // once in the lower triangle of the diagonal block of each of the two classes
				*element(k*s.cols+a, k*s.cols+b) += v
				*element(l*s.cols+a, l*s.cols+b) += v
			}
		}
	}
	for a := range s.cols {
		sum := 0.0
		for k := range classes {
			sum += *element(k*s.cols+a, k*s.cols+a)
		}
		for k := range classes {
			for l := range k + 1 {
				*element(k*s.cols+a, l*s.cols+a) += sum / float64(classes*classes)
			}
		}
	}
	return h
}

// pass computes the sums at w. With hessian it also computes the Hessian and, unless at.LargestValues is nil,
// at.LargestValues.
func (p *problem) pass(ctx context.Context, w []float64, hessian bool, at *sums) error {
	*at = sums{Gradient: p.zeros(), Margin: math.Inf(1), LeastWeight: math.Inf(1), Hessian: at.Hessian, LargestValues: at.LargestValues}
	var err error
	switch {
	case hessian && p.vectors > 1:
		err = p.jointHessian(ctx, w, at)
	case hessian:
		var m *gram.Triangle
		if m, err = gram.NewTriangle(p.cols); err == nil {
			err = hessianPass.Reduce(ctx, m, p.src, p.workers, hessianArgs{w, at.LargestValues != nil}, at.add)
			at.Hessian = m.Data
		}
	case p.sharesChunks(ctx):
		err = block.ReduceChunks(ctx, p.src, 1, func(chunk block.Chunk) sums { return p.sharedChunk(chunk, w) }, at.add)
	default:
		err = gradientPass.Reduce(ctx, p.src, p.workers, w, at.add)
	}
	if err == nil && math.IsInf(at.Margin, 1) { // a margin is NaN where scores are NaN
		err = learner.ErrWeightless
	}
	at.Objective = at.Loss
	for k := range p.vectors {
		w, gradient := w[k*p.stride:], at.Gradient[k*p.stride:]
		for i := range p.penalised() {
			at.Objective += float64(float64(p.l2/2*w[i]) * w[i])
			gradient[i] = math.FMA(p.l2, w[i], gradient[i])
			if hessian {
				j := k*p.cols + i
				at.Hessian[j*(j+1)/2+j] += p.l2
			}
		}
	}
	return err
}

// The passes over the rows at given weights.
var (
	gradientPass = newPass("logistic.gradient", func(p *problem, w []float64) func(block.Chunk) sums {
		return func(chunk block.Chunk) sums { return p.chunk(chunk, w, nil, nil) }
	})
	hessianPass = newScatter("logistic.hessian", func(p *problem, a hessianArgs) func(chunk block.Chunk, s, _ []float64) sums {
		return func(chunk block.Chunk, s, _ []float64) sums {
			r := p.chunk(chunk, a.W, s, nil)
			if a.WithLargestValues {
				r.LargestValues = columnSizes(chunk, p.cols)
			}
			return r
		}
	})
)

// hessianArgs are the weights, and whether to compute sums.LargestValues.
type hessianArgs struct {
	W                 []float64
	WithLargestValues bool
}

// chunk returns the sums over the rows of a chunk. With two classes it writes the rows' factors in the Hessian to s,
// unless s is nil. With more classes it adds the rows to products, unless products is nil.
func (p *problem) chunk(chunk block.Chunk, w []float64, s []float64, products *products) sums {
	r := sums{Margin: math.Inf(1), LeastWeight: math.Inf(1), Gradient: p.zeros()}
	p.panels(chunk, func(c *scratch, lo int, rows *block.Block) {
		hessian := c.s[:rows.Len()]
		if s != nil {
			hessian = s[lo:][:rows.Len()]
		}
		p.losses(c, rows, w, hessian, &r)
		c.panel.Add()
		if products != nil {
			addProducts(products, rows, c)
		}
		if lo+rows.Len() == chunk.Len() {
			p.takeGradient(c, r.Gradient)
		}
	})
	r.addWeights(chunk.W, chunk.Len())
	return r
}

const (
	leastSharedColumns = 256     // they don't share rows of fewer columns
	panelsPerWorker    = 2       // most panels of a worker between two waits for the other workers
	groupBytes         = 1 << 25 // most bytes of the panels between two waits, if there are more panels than workers
)

// sharesChunks tells whether a pass goes from chunk to chunk, and all workers share a chunk: if the rows are dense and
// wide, and there are fewer chunks than workers.
func (p *problem) sharesChunks(ctx context.Context) bool {
	chunks, workers := (p.src.Rows()+block.ChunkRows-1)/block.ChunkRows, parallel.Workers(p.workers)
	if workers == 1 || chunks >= int64(workers) || p.cols < leastSharedColumns || !passes.InProcess(p.src) {
		return false
	}
	for b, err := range p.src.Blocks(ctx) {
		return err == nil && b.Sparse == nil
	}
	return false
}

// sharedChunk is chunk for dense rows, by all workers: each computes the scores of some panels, and then the gradient
// of some columns. Every sum has the order of chunk.
func (p *problem) sharedChunk(chunk block.Chunk, w []float64) sums {
	ctx, workers := context.Background(), parallel.Workers(p.workers)
	r := sums{Margin: math.Inf(1), LeastWeight: math.Inf(1), Gradient: p.zeros()}
	most := max(workers, min(workers*panelsPerWorker, groupBytes/(8*p.stride*linalg.PanelRows)))
	group, panels := make([]*scratch, most), []*linalg.Panel(nil)
	for i := range group {
		group[i] = p.takeScratch()
		defer scratches.Put(group[i])
		panels = append(panels, group[i].panel)
	}
	for first := 0; first < chunk.Len(); first += len(group) * linalg.PanelRows {
		n := min(len(group), (chunk.Len()-first+linalg.PanelRows-1)/linalg.PanelRows)
		parts := make([]sums, n)
		parallel.For(ctx, workers, n, func(_, i int) { // no error: ctx doesn't end
			c, lo := group[i], first+i*linalg.PanelRows
			chunk.SliceInto(&c.rows, lo, min(chunk.Len(), lo+linalg.PanelRows))
			c.panel.Load(&c.rows)
			parts[i].Margin = r.Margin
			p.losses(c, &c.rows, w, c.s[:c.rows.Len()], &parts[i])
		})
		linalg.AddGroup(ctx, workers, panels[:n])
		for i, part := range parts {
			r.Margin, r.LargestScore = min(r.Margin, part.Margin), max(r.LargestScore, part.LargestScore)
			if p.vectors == 1 {
				r.Loss += part.Loss
				continue
			}
			for _, v := range group[i].losses[:group[i].rows.Len()] {
				r.Loss += v
			}
		}
	}
	p.takeGradient(group[0], r.Gradient)
	r.addWeights(chunk.W, chunk.Len())
	return r
}

// moments are sums over rows. weight is the sum of the sample weights, and total the sum of the rows times their sample
// weights. hessian is the Hessian of the objective at zero weights: the sum of products of columns times 1/K (1 - 1/K)
// for K classes, plus the penalty.
type moments struct {
	weight  float64
	total   []float64
	hessian []float64 // nil if there are too many columns
}

// moments makes a pass over the rows and returns their moments.
func (p *problem) moments(ctx context.Context) (*moments, error) {
	bound := p.zeroCurvature()
	m, err := gram.NewTriangle(p.cols)
	if err != nil {
		return nil, err
	}
	r := &moments{total: make([]float64, p.cols)}
	if err := momentsPass.Reduce(ctx, m, p.src, p.workers, struct{}{}, func(sum float64) { r.weight += sum }); err != nil {
		return nil, err
	}
	if r.weight == 0 {
		return nil, learner.ErrWeightless
	}
	if p.penalised() < p.cols {
		copy(r.total, m.Data[len(m.Data)-p.cols:])
	}
	for i := range m.Data {
		m.Data[i] *= bound
	}
	for i := range p.penalised() {
		m.Data[i*(i+1)/2+i] += p.l2
	}
	r.hessian = m.Data
	return r, nil
}

var momentsPass = newScatter("logistic.moments", func(*problem, struct{}) func(chunk block.Chunk, weights,
	_ []float64) float64 {
	return weigh
})

// weigh writes the sample weights of a chunk to weights, and returns their sum.
func weigh(chunk block.Chunk, weights, _ []float64) (sum float64) {
	for i := range weights {
		weights[i] = chunk.Weight(i)
		sum += weights[i]
	}
	return sum
}
