package logistic

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/internal/microkernel"
	"halfspace/kernel/f64"
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
	err := jointPass.sum(ctx, p, w, func(s jointSums) {
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

// jointChunk returns the function that makes the pass of joint on one chunk.
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

// softmax sets losses to the losses of rows of more than two classes, and adds them to r one after another. It sets the
// rows' factors in the gradients. scores has linalg.PanelRows elements for each class. softmax replaces the scores by
// the probabilities of the classes.
//
// Let s_m be the greatest score of a row, e_k = exp(s_k - s_m), and rest the sum of e_k over the k other than m. The
// loss is log(1 + rest) - (s_y - s_m). The factor of class k is e_k/(1 + rest), minus 1 if k is y. Loss and factor are
// multiplied by the sample weight.
func softmax(scores []float64, y []float32, weights, factors, losses []float64, r *sums) {
	var best [softmaxRows]int
	var own, rest [softmaxRows]float64
	centreScores(scores, y, weights, best[:], own[:], r)
	n := len(y)
	for k := range len(scores) / softmaxRows {
		e := scores[k*softmaxRows:][:n]
		f64.Exp(e, e)
		for i, v := range e {
			if k != best[i] {
				rest[i] += v
			}
		}
	}
	for k := range len(scores) / softmaxRows {
		at := k/linalg.PanelCols*softmaxRows*linalg.PanelCols + k%linalg.PanelCols
		for i, v := range scores[k*softmaxRows:][:n] {
			sum := 1 + rest[i]
			v /= sum
			scores[k*softmaxRows+i] = v
			switch {
			case int(y[i]) != k:
			case best[i] == k: // 1/sum - 1
				v = -rest[i] / sum
			default:
				v--
			}
			if weights != nil {
				v *= weights[i]
			}
			factors[at+i*linalg.PanelCols] = v
		}
	}
	f64.Log1p(rest[:n], rest[:n])
	for i, v := range rest[:n] {
		if v -= own[i]; weights != nil {
			v = float64(v * weights[i])
		}
		losses[i] = v
		r.Loss += v
	}
}

// softmaxRows is the largest number of rows in one call of softmax.
const softmaxRows = linalg.PanelRows

// centreScores subtracts the greatest score of each row from all scores of the row. It sets best to the class with that
// score, and own to the remaining score of the row's own class. It updates r.Margin and r.LargestScore.
func centreScores(scores []float64, y []float32, weights []float64, best []int, own []float64, r *sums) {
	classes := len(scores) / softmaxRows
	for i, y := range y {
		class := int(y)
		other, lowest := math.Inf(-1), math.Inf(1) // the greatest score of another class, and the least score of all classes
		for k := range classes {
			s := scores[k*softmaxRows+i]
			lowest = min(lowest, s)
			if s > scores[best[i]*softmaxRows+i] {
				best[i] = k
			}
			if k != class && s > other {
				other = s
			}
		}
		greatest := scores[best[i]*softmaxRows+i]
		own[i] = scores[class*softmaxRows+i] - greatest
		if weights == nil || weights[i] > 0 {
			r.Margin = min(r.Margin, scores[class*softmaxRows+i]-other)
			r.LargestScore = max(r.LargestScore, greatest-lowest)
		}
		for k := range classes {
			scores[k*softmaxRows+i] -= greatest
		}
	}
}
