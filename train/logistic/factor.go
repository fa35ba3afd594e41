package logistic

import (
	"cmp"
	"context"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/train/learner"
)

// root makes a pass over the rows. It returns the triangle R of the square root of the loss's Hessian at w, in the
// order of compact: R'R is the Hessian without the penalty. If w is nil, R is the triangle of the rows, each times the
// square root of its sample weight.
func (p *problem) root(ctx context.Context, w []float64) (*linalg.Triangle, error) {
	all := linalg.NewTriangle(p.rootSize(w))
	err := rootPass.Reduce(ctx, p.src, p.workers, w, all.Merge)
	return all, err
}

// rootSize returns the number of columns of the triangle of root.
func (p *problem) rootSize(w []float64) int {
	if w == nil {
		return p.cols
	}
	return p.vectors * p.cols
}

var rootPass = newPass("logistic.root", (*problem).rootChunk)

// rootChunk returns the function that makes the pass of root on one chunk. For more than two classes, the Hessian of a
// row with sample weight c is the sum over the classes m of u u', where u has the part sqrt(c p_m) ([k = m] - p_k) x
// for each class k.
func (p *problem) rootChunk(w []float64) func(block.Chunk) []float64 {
	return func(chunk block.Chunk) []float64 {
		t := linalg.NewTriangle(p.rootSize(w))
		p.panels(chunk, func(c *scratch, _ int, rows *block.Block) {
			s := c.s[:rows.Len()]
			if w != nil {
				p.losses(c, rows, w, s, &sums{})
			}
			for r := range rows.Len() {
				columns, values := c.reader.Row(rows, r)
				switch {
				case w == nil:
					addRow(t, columns, values, math.Sqrt(rows.Weight(r)))
				case p.vectors == 1:
					addRow(t, columns, values, math.Sqrt(s[r]))
				default:
					p.addClasses(t, rows.Weight(r), columns, values, c.scores[r:])
				}
			}
		})
		return t.Elements()
	}
}

// addClasses adds a row with a sample weight, for more than two classes. probabilities[k*linalg.PanelRows] is its
// probability of class k.
func (p *problem) addClasses(t *linalg.Triangle, weight float64, columns []uint32, values, probabilities []float64) {
	for m := range p.vectors {
		root := math.Sqrt(probabilities[m*linalg.PanelRows] * weight)
		if root == 0 {
			continue
		}
		to := t.Next()
		for k := range p.vectors {
			f := -probabilities[k*linalg.PanelRows]
			if k == m {
				f = 0 // 1-p without cancellation
				for l := range p.vectors {
					if l != m {
						f += probabilities[l*linalg.PanelRows]
					}
				}
			}
			setRow(t, to, columns, values, k*p.cols, float64(root*f))
		}
	}
}

func addRow(t *linalg.Triangle, columns []uint32, values []float64, f float64) {
	if f != 0 {
		setRow(t, t.Next(), columns, values, 0, f)
	}
}

// setRow sets the elements of row to of t, from column from on, to a row times f.
func setRow(t *linalg.Triangle, to int, columns []uint32, values []float64, from int, f float64) {
	for k, c := range columns {
		t.Set(to, from+int(c), float64(f*values[k]))
	}
}

// penaliseRoot adds the penalty: the triangle of the loss's Hessian becomes the triangle of the objective's Hessian.
// For more than two classes it also adds the matrix that jointHessian adds, which acts only on changes that are the
// same for all classes.
func (p *problem) penaliseRoot(t *linalg.Triangle, vectors int) []float64 {
	n := vectors * p.cols
	if vectors > 1 {
		r, squares := t.Elements(), make([]float64, p.cols)
		for i := range n {
			for j := i; j < n; j++ {
				squares[j%p.cols] = math.FMA(r[i*n+j], r[i*n+j], squares[j%p.cols])
			}
		}
		for a, square := range squares {
			for k, to := 0, t.Next(); k < vectors; k++ {
				t.Set(to, k*p.cols+a, math.Sqrt(square)/float64(vectors))
			}
		}
	}
	if p.l2 > 0 {
		for i := range n {
			if i%p.cols < p.penalised() {
				t.Set(t.Next(), i, math.Sqrt(p.l2))
			}
		}
	}
	return t.Elements()
}

// A factored is the factor of a Hessian.
type factored struct {
	factor  *linalg.Factor
	ridge   float64 // see linalg.Factorise
	isSharp bool    // factor comes from a triangle, because squares lose its digits
}

// factorise returns the factor of the Hessian at w. If rounding errors of the Hessian may matter, it makes a pass over
// the rows and computes the factor without squares.
func (p *problem) factorise(ctx context.Context, w, hessian []float64) (f factored, err error) {
	n := p.vectors * p.cols
	f.factor, f.ridge, err = linalg.FactoriseWithout(ctx, hessian, n, p.staysZero)
	if f.factor != nil && needsTriangle(f.factor, f.ridge, n) {
		t, err := p.root(ctx, w)
		if err != nil {
			return f, err
		}
		f.isSharp = true
		f.factor, f.ridge, err = linalg.FactorTriangle(ctx, p.penaliseRoot(t, p.vectors), n, p.staysZero)
		if err != nil {
			return f, err
		}
	}
	if f.factor == nil {
		return f, cmp.Or(err, learner.OverflowError())
	}
	return f, err
}

// needsTriangle tells whether a factor of a matrix of n rows must come from a triangle, and the triangle isn't too
// large.
func needsTriangle(f *linalg.Factor, ridge float64, n int) bool {
	return n <= linalg.MostTriangle && (ridge > 0 || f.IsBlurred())
}

// factoriseMoments returns the factor of the Hessian at zero weights, for the weights of one class.
func (p *problem) factoriseMoments(ctx context.Context, hessian []float64) (*linalg.Factor, error) {
	out := p.staysZero[:min(len(p.staysZero), p.cols)]
	f, ridge, err := linalg.FactoriseWithout(ctx, hessian, p.cols, out)
	if f != nil && needsTriangle(f, ridge, p.cols) {
		var t *linalg.Triangle
		if t, err = p.root(ctx, nil); err != nil {
			return nil, err
		}
		scaled := t.Elements()
		for i := range scaled {
			scaled[i] *= math.Sqrt(p.zeroCurvature())
		}
		f, _, err = linalg.FactorTriangle(ctx, p.penaliseRoot(t, 1), p.cols, out)
	}
	if f == nil {
		return nil, cmp.Or(err, learner.OverflowError())
	}
	return f, nil
}
