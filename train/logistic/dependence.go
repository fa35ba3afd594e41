package logistic

import (
	"cmp"
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	elementError       = 0x1p-24 // relative rounding error of the elements of columns
	correctionRounds   = 2       // number of times that confirm corrects coefficients
	mostRoundingErrors = 4       // a difference of up to this many rounding errors of the row's elements counts as rounding
	// chanceSquare is the square of 4 standard errors. Differences whose mismatches.relation is smaller don't tell the
	// classes.
	chanceSquare = 16
)

// dependences are the columns that are linear combinations of other columns, up to rounding.
type dependences struct {
	columns    []linalg.Dependence
	areInexact bool // a column differs from its combination by the rounding of its elements
}

// findDependences returns the columns that depend on other columns. With a penalty it returns none: the weights of
// dependent columns are then determined. Columns that don't depend on each other in a sample of the rows don't in all
// rows. The Hessian at zero weights suggests columns. The triangle of the rows, and then each row, must confirm each.
func (p *problem) findDependences(ctx context.Context) (dependences, error) {
	if p.l2 > 0 || p.cols > linalg.MostTriangle {
		return dependences{}, nil
	}
	sample, err := learner.Sample(ctx, p.src)
	if err != nil {
		return dependences{}, err
	}
	if sample != nil {
		few := newProblem(sample, 0, p.workers)
		few.pivots = p.pivots
		if m, err := few.moments(ctx); err == nil {
			if found, err := few.suspectDependences(ctx, m.hessian); found == nil && err == nil {
				return dependences{}, nil
			}
		}
		if ctx.Err() != nil {
			return dependences{}, ctx.Err()
		}
	}
	m, err := p.moments(ctx)
	if err != nil {
		return dependences{}, err
	}
	found, err := p.suspectDependences(ctx, m.hessian)
	if found == nil || err != nil {
		return dependences{}, err
	}
	return p.confirmDependences(ctx, m.hessian)
}

// confirm keeps the claims that hold for each row: the column differs from its combination of columns only by rounding
// errors of the row's elements, and these differences don't tell the classes. The differences of two Unix times have
// that size and may still tell the classes, so their weights count. confirm corrects coefficients that don't hold. r is
// the triangular factor of the rows.
func (p *problem) confirm(ctx context.Context, r []float64, claims []linalg.Claim) (all dependences, err error) {
	out := make([]bool, p.cols)
	for _, c := range claims {
		out[c.Column] = true
		c.Coefficients[c.Column] = -1
	}
	double := float64(float64(p.cols) * 0x1p-49)
	for tried := 0; len(claims) > 0; tried++ {
		found, err := p.check(ctx, claims)
		if err != nil {
			return all, err
		}
		var doubtful []linalg.Claim
		var off [][]float64
		for k, c := range claims {
			switch {
			case found.CentredDifferences[k] <= double:
				all.columns = append(all.columns, c.Dependence)
			case found.LargestDifferences[k] <= mostRoundingErrors*elementError+double && tried == correctionRounds &&
				found.relation(k) < chanceSquare:
				all.columns, all.areInexact = append(all.columns, c.Dependence), true
			default:
				doubtful, off = append(doubtful, c), append(off, found.Sums[k])
			}
		}
		if claims = doubtful; tried == correctionRounds {
			break
		}
		f, _, err := linalg.FactorTriangle(ctx, slices.Clone(r), p.cols, out)
		if f == nil {
			return all, err
		}
		for k, c := range claims {
			c.Correct(f.Solve(off[k]))
			c.Coefficients[c.Column] = -1
		}
	}
	slices.SortFunc(all.columns, func(a, b linalg.Dependence) int { return cmp.Compare(a.Column, b.Column) })
	return all, nil
}

// mismatches are measurements of each claim. LargestDifferences has the largest difference in a row between the column
// and its combination, relative to the sizes of the terms of the original row. CentredDifferences are the same relative
// to the terms of the row minus the pivots: the elements of the original row were rounded before that. Sums are the
// products of the differences with all columns. Slopes are, for each class, the derivative of the loss at zero weights
// by a weight of the differences. Squares are the sums of the squared terms of Slopes.
type mismatches struct {
	LargestDifferences, CentredDifferences []float64
	Sums                                   [][]float64
	Slopes, Squares                        [][]float64
}

// relation returns a statistic of the null hypothesis that the differences of claim k don't tell the classes: the
// largest over the classes of the squared slope divided by its estimated variance. Under the hypothesis, this quotient
// has about the chi-square distribution with one degree of freedom for each class (Rao, "Large sample tests of
// statistical hypotheses concerning several parameters with applications to problems of estimation", 1948).
func (d *mismatches) relation(k int) (most float64) {
	for class, slope := range d.Slopes[k] {
		if slope != 0 {
			most = max(most, float64(slope*slope)/d.Squares[k][class])
		}
	}
	return most
}

// check makes a pass over the rows and returns the mismatches of the claims.
func (p *problem) check(ctx context.Context, claims []linalg.Claim) (*mismatches, error) {
	args := claimArgs{Pivots: p.pivots}
	for _, c := range claims {
		args.Coefficients = append(args.Coefficients, c.Coefficients)
	}
	all := newMismatches(len(claims), p.cols, p.vectors)
	return all, checkPass.Reduce(ctx, p.src, p.workers, args, func(d *mismatches) {
		for k := range all.LargestDifferences {
			all.LargestDifferences[k], all.CentredDifferences[k] = max(all.LargestDifferences[k],
				d.LargestDifferences[k]), max(all.CentredDifferences[k], d.CentredDifferences[k])
			f64.Axpy(all.Sums[k], 1, d.Sums[k])
			f64.Axpy(all.Slopes[k], 1, d.Slopes[k])
			f64.Axpy(all.Squares[k], 1, d.Squares[k])
		}
	})
}

func newMismatches(claims, cols, vectors int) *mismatches {
	d := &mismatches{LargestDifferences: make([]float64, claims), CentredDifferences: make([]float64, claims)}
	for range claims {
		d.Sums = append(d.Sums, make([]float64, cols))
		d.Slopes, d.Squares = append(d.Slopes, make([]float64, vectors)), append(d.Squares, make([]float64, vectors))
	}
	return d
}

// addSlopes adds a row with label y. difference is the row's difference for claim k times its sample weight.
func (d *mismatches) addSlopes(k int, y, difference float64) {
	slopes := d.Slopes[k]
	for class := range slopes {
		slope := float64(difference * y)
		if len(slopes) > 1 {
			slope = -difference / float64(len(slopes))
			if y == float64(class) {
				slope += difference
			}
		}
		slopes[class] += slope
		d.Squares[k][class] += float64(slope * slope)
	}
}

var checkPass = passes.New("logistic.check", checkChunk)

// claimArgs are the coefficients of each claim, with -1 for its column, and the pivots that were subtracted from the
// columns, or nil.
type claimArgs struct {
	Coefficients [][]float64
	Pivots       []float64
}

func checkChunk(src block.Source, args claimArgs) func(block.Chunk) *mismatches {
	cols, vectors := src.Spec().Cols(), newProblem(src, 0, 1).vectors
	return func(chunk block.Chunk) *mismatches {
		d, row := newMismatches(len(args.Coefficients), cols, vectors), make([]float64, cols)
		for r := range chunk.Len() {
			weight := chunk.Weight(r)
			if weight == 0 {
				continue
			}
			linalg.Widen(chunk.Block, r, row)
			for k, coefficients := range args.Coefficients {
				off, terms, own := 0.0, 0.0, 0.0
				for c, f := range coefficients {
					if f == 0 {
						continue
					}
					size := math.Abs(row[c])
					own += float64(math.Abs(f) * size)
					if args.Pivots != nil {
						size = max(size, math.Abs(row[c]+args.Pivots[c]))
					}
					off, terms = math.FMA(f, row[c], off), terms+float64(math.Abs(f)*size)
				}
				if off != 0 {
					d.LargestDifferences[k], d.CentredDifferences[k] = max(d.LargestDifferences[k],
						math.Abs(off)/terms), max(d.CentredDifferences[k], math.Abs(off)/own)
					f64.Axpy(d.Sums[k], float64(weight*off), row)
					d.addSlopes(k, float64(chunk.Y[r]), float64(weight*off))
				}
			}
		}
		return d
	}
}

// originalSizes returns the norm of each column of the original rows times the root of zeroCurvature, given the Hessian
// at zero weights. The norm of the bias is 0.
func (p *problem) originalSizes(hessian []float64) []float64 {
	bias, sizes := p.bias(), make([]float64, p.cols)
	at := func(i, j int) float64 { return hessian[i*(i+1)/2+j] }
	for i := range p.penalised() {
		square := at(i, i)
		if p.pivots != nil {
			pivot := p.pivots[i]
			square += float64(2*pivot*at(bias, i)) + float64(float64(pivot*pivot)*at(bias, bias))
		}
		sizes[i] = math.Sqrt(max(0, square))
	}
	return sizes
}

// suspectDependences returns the dependences that the Hessian at zero weights suggests.
func (p *problem) suspectDependences(ctx context.Context, hessian []float64) ([]linalg.Dependence, error) {
	return linalg.DependentColumns(ctx, hessian, p.cols, p.bias(), p.originalSizes(hessian), elementError)
}

// confirmDependences returns the dependences that the triangle of the rows, and then each row, confirm.
func (p *problem) confirmDependences(ctx context.Context, hessian []float64) (dependences, error) {
	t, err := p.root(ctx, nil)
	if err != nil {
		return dependences{}, err
	}
	sizes := p.originalSizes(hessian)
	for i := range sizes {
		sizes[i] /= math.Sqrt(p.zeroCurvature())
	}
	claims, err := linalg.Claims(ctx, t.Elements(), p.cols, p.bias(), sizes, elementError)
	if err != nil {
		return dependences{}, err
	}
	return p.confirm(ctx, t.Elements(), claims)
}
