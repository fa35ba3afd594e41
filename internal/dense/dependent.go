package dense

import (
	"context"
	"math"
	"slices"

	"halfspace/kernel"
)

// A Dependence is a column that is a linear combination of others, up to the rounding of their elements. On is empty if
// the column is zeros.
type Dependence struct {
	Column int
	On     []int // ascending
}

const (
	suspect = 1e-3 // a column with a smaller scaled pivot may be rounding errors
	share   = 1e-4 // a column with a smaller share of the sum isn't named
)

// Dependent returns the columns of X that depend on those before them. The column first, if not negative, comes before
// all others. a is the lower triangle of X'SX in rows, for n columns and weights S. Elements of column i have relative
// errors of up to unit, so that its norm has an error of at most unit*sizes[i]. Sums have errors of up to n 2^-44 of
// the diagonal. Its error is ctx's.
func Dependent(ctx context.Context, a []float64, n, first int, sizes []float64, unit float64) (found []Dependence, err error) {
	at := func(i, j int) float64 { return a[max(i, j)*(max(i, j)+1)/2+min(i, j)] }
	var kept []int
	var rows [][]float64 // of L, for the columns that are kept
	scale := make([]float64, n)
	order := make([]int, 0, n)
	if first >= 0 {
		order = append(order, first)
	}
	for i := range n {
		if i != first {
			order = append(order, i)
		}
	}
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !(at(i, i) > 0) {
			found = append(found, Dependence{Column: i})
			continue
		}
		scale[i] = 1 / math.Sqrt(at(i, i))
		row := make([]float64, len(kept)+1)
		for k, j := range kept {
			v := float64(float64(at(i, j)*scale[i]) * scale[j])
			row[k] = (v - kernel.Dot(row[:k], rows[k][:k])) / rows[k][k]
		}
		k := len(kept)
		pivot := 1 - kernel.Dot(row[:k], row[:k])
		own := float64(sizes[i] * scale[i])
		if pivot <= suspect || own*unit > suspect {
			parts := multiples(rows, row[:k])
			most, all := 0.0, own
			for j, v := range parts {
				most, all = max(most, math.Abs(v)), all+float64(math.Abs(v)*float64(sizes[kept[j]]*scale[kept[j]]))
			}
			if pivot <= float64(n)/(1<<44) || math.Sqrt(pivot) <= unit*all {
				d := Dependence{Column: i}
				for j, v := range parts {
					if math.Abs(v) > share*most {
						d.On = append(d.On, kept[j])
					}
				}
				slices.Sort(d.On)
				found = append(found, d)
				continue
			}
		}
		row[k] = math.Sqrt(pivot)
		kept, rows = append(kept, i), append(rows, row)
	}
	return found, nil
}

// multiples returns x with L'x = b.
func multiples(rows [][]float64, b []float64) []float64 {
	x := slices.Clone(b)
	for i := len(x) - 1; i >= 0; i-- {
		x[i] /= rows[i][i]
		kernel.Axpy(x[:i], -x[i], rows[i][:i])
	}
	return x
}
