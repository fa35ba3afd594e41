package lda

import (
	"context"
	"math"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/learner"
)

// moments are sums over rows: the products of columns, and for each class the sample weights and the sums of columns.
type moments struct {
	products *gram.Triangle
	classSums
}

type classSums struct {
	N    []float64 // sum of sample weights of each class
	Sums [][]float64
}

func classOf(y float32, classes int) int {
	if classes == 2 {
		return int(y+1) / 2 // from -1 and +1, without a branch that is hard to predict
	}
	return int(y)
}

// sumMoments computes the moments in one pass over the rows. If only isn't allClasses, it takes only rows of that
// class. Each row gets one more element for each class, which is 1 for the row's class and 0 for the others. So the
// products include the sums of columns for each class.
func sumMoments(ctx context.Context, src block.Source, workers, only int) (*moments, error) {
	cols, k := src.Spec().Cols(), len(src.Spec().Classes)
	products, err := gram.NewTriangle(cols + k)
	if err != nil {
		return nil, err
	}
	m := &moments{products, classSums{N: make([]float64, k), Sums: make([][]float64, k)}}
	if err := momentsPass.Reduce(ctx, products, src, workers, only, m.add); err != nil {
		return nil, err
	}
	for class := range k {
		for i := range cols {
			m.Sums[class] = append(m.Sums[class], products.At(cols+class, i))
		}
	}
	return m, nil
}

const allClasses = -1 // value of only: all classes

// momentsPass is the pass of sumMoments. Its argument is only.
var momentsPass = learner.NewScatterPass("lda.moments", classifier)

// classifier returns the function that sums the sample weights of each class in a chunk. It sets s to the weights of the
// rows in the products, and f to 1 for each row's class.
func classifier(src block.Source, only int) func(chunk block.Chunk, s, f []float64) classSums {
	k := len(src.Spec().Classes)
	return func(chunk block.Chunk, s, f []float64) classSums {
		c := classSums{N: make([]float64, k)}
		clear(s)
		clear(f)
		for i, y := range chunk.Y {
			if class := classOf(y, k); only == allClasses || class == only {
				s[i], f[i*k+class] = chunk.Weight(i), 1
				c.N[class] += s[i]
			}
		}
		return c
	}
}

func (c *classSums) add(d classSums) {
	f64.Axpy(c.N, 1, d.N)
}

// rows returns the number of rows of all classes, a row with sample weight k counted as k rows.
func (c *classSums) rows() (n float64) {
	for _, v := range c.N {
		n += v
	}
	return n
}

// means returns the mean of each column in a class, or zeros if the class has no rows.
func (m *moments) means(class int) []float64 {
	means := make([]float64, len(m.Sums[class]))
	for i, v := range m.Sums[class] {
		if m.N[class] > 0 {
			means[i] = v / m.N[class]
		}
	}
	return means
}

// covariance returns the covariance within classes of the first d columns: the rows of its lower triangle. It tells
// whether any column varies. A variance that is negative by rounding becomes 0.
func (m *moments) covariance(d int) (s []float64, varies bool) {
	n := m.rows()
	means := make([][]float64, len(m.N))
	for class := range means {
		means[class] = m.means(class)
	}
	for i := range d {
		for j := range i + 1 {
			v := m.products.At(i, j)
			for class, means := range means {
				v = math.FMA(-m.Sums[class][i], means[j], v)
			}
			if i == j {
				v = max(0, v)
				varies = varies || v != 0
			}
			s = append(s, v/n)
		}
	}
	return s, varies
}

// centre returns the mean of each of the first d columns over all rows.
func (m *moments) centre(d int) []float64 {
	means := make([]float64, d)
	for i := range means {
		for class := range m.Sums {
			means[i] += m.Sums[class][i]
		}
		means[i] /= m.rows()
	}
	return means
}

// farMeans returns one number for each of the first d columns: its mean if its variance within classes loses more than
// six digits by cancellation, and 0 otherwise. It returns nil if all numbers are 0.
func (m *moments) farMeans(d int) []float64 {
	var means []float64
	s, _ := m.covariance(d)
	n, centre := m.rows(), m.centre(d)
	for i := range d {
		if all := m.products.At(i, i) / n; s[i*(i+1)/2+i] < 1e-6*all {
			if means == nil {
				means = make([]float64, d)
			}
			means[i] = centre[i]
		}
	}
	return means
}

// shiftView subtracts a vector, whose elements are float32 numbers, from the rows.
var shiftView = passes.NewView("lda.shift", func(_ *schema.Spec, by []float64) passes.Change {
	return passes.Change{Block: func(b, _ *block.Block) *block.Block {
		c, row := block.New(b.First, b.Len(), b.Cols), make([]float64, b.Cols)
		c.Y, c.W = b.Y, b.W
		for r := range b.Len() {
			linalg.Widen(b, r, row)
			to := c.X[r*c.Stride:]
			for i, v := range row {
				to[i] = float32(v)
			}
			for i, v := range by {
				to[i] -= float32(v)
			}
		}
		return c
	}}
})

// A solver solves equations with a covariance.
type solver interface {
	Solve(b []float64) []float64
}

// factorise returns the factor of the covariance s within classes, and the ridge that it added. m are the moments of
// the rows. If s loses too many digits by its squares, factorise finds the factor without squares in a pass over the
// rows, and calls passed after it. If s is singular, the ridge stands for the variance in the directions without
// variance alone: a ridge on the whole diagonal would multiply the rounding of s by 1/ridge.
func factorise(ctx context.Context, src block.Source, opt Settings, m *moments, s []float64,
	passed func()) (solver, float64, error) {
	d := src.Spec().Width()
	f, ridge, err := linalg.Factorise(ctx, s, d)
	if err != nil || f == nil {
		return nil, 0, err
	}
	if opt.Shrinkage != 0 || d > linalg.MostTriangle || ridge == 0 && !f.IsBlurred() {
		return f, ridge, err
	}
	var args rootArgs
	for class := range m.N {
		args.Means = append(args.Means, m.means(class)[:d])
	}
	t := linalg.NewTriangle(d)
	if err := rootPass.Reduce(ctx, src, opt.Workers, args, t.Merge); err != nil {
		return nil, 0, err
	}
	passed()
	r := t.Elements()
	for i := range r {
		r[i] /= math.Sqrt(m.rows())
	}
	sharp, none, err := linalg.FactorTriangle(ctx, r, d, nil)
	switch {
	case err != nil:
		return nil, 0, err
	case sharp != nil && none == 0:
		return sharp, 0, nil
	case ridge == 0:
		return f, 0, nil
	}
	singular, err := linalg.FactoriseRank(ctx, s, d, ridge)
	return singular, ridge, err
}

type rootArgs struct{ Means [][]float64 }

var rootPass = passes.New("lda.root", rootChunk)

// rootChunk returns the function that computes the triangular factor of a chunk. Its rows are the rows of the chunk
// minus the means of their classes, each times the square root of its sample weight.
func rootChunk(src block.Source, args rootArgs) func(block.Chunk) []float64 {
	classes, d := len(args.Means), src.Spec().Width()
	return func(chunk block.Chunk) []float64 {
		t, row := linalg.NewTriangle(d), make([]float64, src.Spec().Cols())
		for r, y := range chunk.Y {
			class, root := classOf(y, classes), math.Sqrt(chunk.Weight(r))
			if root == 0 {
				continue
			}
			linalg.Widen(chunk.Block, r, row)
			to := t.Next()
			for i, v := range row[:d] {
				t.Set(to, i, float64(root*(v-args.Means[class][i])))
			}
		}
		return t.Elements()
	}
}
