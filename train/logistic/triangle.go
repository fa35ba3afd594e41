package logistic

import (
	"cmp"
	"context"
	"math"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/train/learner"
)

// root makes a pass over the rows. It returns the triangle R of the square root of the loss's Hessian at w, in the
// order of compact: R'R is the Hessian without the penalty. If w is nil, R is the triangle of the rows, each times the
// square root of its sample weight.
func (p *problem) root(ctx context.Context, w []float64) (*linalg.Triangle, error) {
	all := linalg.NewTriangle(p.rootSize(w))
	err := rootPass.sum(ctx, p, w, all.Merge)
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

// factorise computes the factor of the Hessian at w. If rounding errors of the Hessian may matter, it makes a pass over
// the rows and computes the factor without squares.
func (s *solver) factorise(ctx context.Context, w, hessian []float64) (err error) {
	n := s.vectors * s.cols
	if s.factor, s.ridge, err = linalg.FactoriseWithout(ctx, hessian, n, s.staysZero); s.factor == nil {
		return cmp.Or(err, learner.OverflowError())
	}
	if s.factorIsSharp = s.needsTriangle(s.factor, s.ridge, n); !s.factorIsSharp {
		return nil
	}
	t, err := s.root(ctx, w)
	if err != nil {
		return err
	}
	if s.factor, s.ridge, err = linalg.FactorTriangle(ctx, s.penaliseRoot(t, s.vectors), n, s.staysZero); s.factor == nil {
		return cmp.Or(err, learner.OverflowError())
	}
	return nil
}

// needsTriangle tells whether a factor of a matrix of n rows must come from a triangle, and the triangle isn't too
// large.
func (s *solver) needsTriangle(f *linalg.Factor, ridge float64, n int) bool {
	return n <= linalg.MostTriangle && (ridge > 0 || f.IsBlurred())
}

// factoriseMoments returns the factor of the Hessian at zero weights, for the weights of one class.
func (s *solver) factoriseMoments(ctx context.Context, hessian []float64) (*linalg.Factor, error) {
	out := s.staysZero[:min(len(s.staysZero), s.cols)]
	f, ridge, err := linalg.FactoriseWithout(ctx, hessian, s.cols, out)
	if f != nil && s.needsTriangle(f, ridge, s.cols) {
		var t *linalg.Triangle
		if t, err = s.root(ctx, nil); err != nil {
			return nil, err
		}
		scaled := t.Elements()
		for i := range scaled {
			scaled[i] *= math.Sqrt(s.zeroCurvature())
		}
		f, _, err = linalg.FactorTriangle(ctx, s.penaliseRoot(t, 1), s.cols, out)
	}
	if f == nil {
		return nil, cmp.Or(err, learner.OverflowError())
	}
	return f, nil
}

// zeroCurvature returns the second derivative of a row's loss by the score of a class, at zero weights.
func (p *problem) zeroCurvature() float64 {
	k := float64(max(2, p.vectors))
	return (1 - 1/k) / k
}

// findDependent finds the columns that depend on other columns, given the Hessian at zero weights. With a penalty it
// finds none: the weights of dependent columns are then determined. The triangle of the rows, and then each row, must
// confirm every column that the Hessian suggests.
func (s *solver) findDependent(ctx context.Context, hessian []float64) (err error) {
	s.knowsDependent, s.dependent, s.dependenceIsInexact = true, nil, false
	if s.l2 > 0 {
		return nil
	}
	bias := s.cols - 1
	if s.penalised() == s.cols {
		bias = -1
	}
	at := func(i, j int) float64 { return hessian[i*(i+1)/2+j] }
	sizes := make([]float64, s.cols)
	for i := range s.penalised() {
		square := at(i, i)
		if s.pivots != nil {
			p := s.pivots[i]
			square += float64(2*p*at(bias, i)) + float64(float64(p*p)*at(bias, bias))
		}
		sizes[i] = math.Sqrt(max(0, square))
	}
	found, err := linalg.DependentColumns(ctx, hessian, s.cols, bias, sizes, elementError)
	if found == nil || s.cols > linalg.MostTriangle {
		return err
	}
	t, err := s.root(ctx, nil)
	if err != nil {
		return err
	}
	for i := range sizes {
		sizes[i] /= math.Sqrt(s.zeroCurvature())
	}
	claims, err := linalg.Claims(ctx, t.Elements(), s.cols, bias, sizes, elementError)
	if err != nil {
		return err
	}
	if err := s.confirm(ctx, t.Elements(), claims); err != nil {
		return err
	}
	s.leaveOutDependent()
	return nil
}
