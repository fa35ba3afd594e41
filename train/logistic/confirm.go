package logistic

import (
	"cmp"
	"context"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/distributed"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
)

const (
	correctionRounds   = 2 // number of times that confirm corrects coefficients
	mostRoundingErrors = 4 // a difference of up to this many rounding errors of the row's elements counts as rounding
	// chanceSquare is the square of 4 standard errors. Differences whose mismatches.relation is smaller don't tell the
	// classes.
	chanceSquare = 16
)

// confirm keeps the claims that hold for each row: the column differs from its combination of columns only by rounding
// errors of the row's elements, and these differences don't tell the classes. The differences of two Unix times have
// that size and may still tell the classes, so their weights count. confirm corrects coefficients that don't hold. r is
// the triangular factor of the rows.
func (s *solver) confirm(ctx context.Context, r []float64, claims []linalg.Claim) error {
	out := make([]bool, s.cols)
	for _, c := range claims {
		out[c.Column] = true
		c.Coefficients[c.Column] = -1
	}
	double := float64(float64(s.cols) * 0x1p-49)
	for tried := 0; len(claims) > 0; tried++ {
		found, err := s.check(ctx, claims)
		if err != nil {
			return err
		}
		var doubtful []linalg.Claim
		var off [][]float64
		for k, c := range claims {
			switch {
			case found.CentredDifferences[k] <= double:
				s.dependent = append(s.dependent, c.Dependence)
			case found.LargestDifferences[k] <= mostRoundingErrors*elementError+double && tried == correctionRounds &&
				found.relation(k) < chanceSquare:
				s.dependent, s.dependenceIsInexact = append(s.dependent, c.Dependence), true
			default:
				doubtful, off = append(doubtful, c), append(off, found.Sums[k])
			}
		}
		if claims = doubtful; tried == correctionRounds {
			break
		}
		f, _, err := linalg.FactorTriangle(ctx, slices.Clone(r), s.cols, out)
		if f == nil {
			return err
		}
		for k, c := range claims {
			c.Correct(f.Solve(off[k]))
			c.Coefficients[c.Column] = -1
		}
	}
	slices.SortFunc(s.dependent, func(a, b linalg.Dependence) int { return cmp.Compare(a.Column, b.Column) })
	return nil
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
func (s *solver) check(ctx context.Context, claims []linalg.Claim) (*mismatches, error) {
	args := claimArgs{Pivots: s.pivots}
	for _, c := range claims {
		args.Coefficients = append(args.Coefficients, c.Coefficients)
	}
	all := newMismatches(len(claims), s.cols, s.vectors)
	return all, distributed.Reduce(ctx, s.src, s.workers, checkPass, args, checkChunk(s.src, args), func(d *mismatches) {
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

var checkPass = distributed.NewPerChunk("logistic.check", checkChunk)

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
