package separability

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// folded returns the rows of a data set times their labels.
func folded(data *block.Data) (z [][]float64) {
	for b := range data.Blocks(context.Background()) {
		for r := range b.Len() {
			row := make([]float64, b.Cols)
			for c, v := range b.X[r*b.Stride:][:b.Cols] {
				row[c] = float64(v) * float64(b.Y[r])
			}
			z = append(z, row)
		}
	}
	return z
}

// holdsOrigin tells exactly whether the origin is a convex combination of the vectors. It is the first phase of the
// simplex method in rational numbers, by Bland's rule. Each coordinate and the sum has an artificial variable.
func holdsOrigin(z [][]float64) bool {
	rows, n := len(z[0])+1, len(z)
	t := make([][]*big.Rat, rows+1) // the last is the objective: the sum of the rows
	basis := make([]int, rows)
	for i := range t {
		t[i] = make([]*big.Rat, n+1)
		for j := range t[i] {
			t[i][j] = new(big.Rat)
		}
	}
	for i := range rows {
		basis[i] = n + i
		for j := range n {
			if i < rows-1 {
				t[i][j].SetFloat64(z[j][i])
			} else {
				t[i][j].SetInt64(1)
			}
			t[rows][j].Add(t[rows][j], t[i][j])
		}
	}
	t[rows-1][n].SetInt64(1)
	t[rows][n].SetInt64(1)
	for {
		enter := -1
		for j := range n {
			if t[rows][j].Sign() > 0 {
				enter = j
				break
			}
		}
		if enter < 0 {
			return t[rows][n].Sign() == 0
		}
		leave := -1
		var ratio *big.Rat
		for i := range rows {
			if t[i][enter].Sign() > 0 {
				q := new(big.Rat).Quo(t[i][n], t[i][enter])
				if leave < 0 || q.Cmp(ratio) < 0 || q.Cmp(ratio) == 0 && basis[i] < basis[leave] {
					leave, ratio = i, q
				}
			}
		}
		basis[leave] = enter
		p := new(big.Rat).Set(t[leave][enter])
		for j := range t[leave] {
			t[leave][j].Quo(t[leave][j], p)
		}
		for i := range t {
			if f := new(big.Rat).Set(t[i][enter]); i != leave && f.Sign() != 0 {
				for j := range t[i] {
					t[i][j].Sub(t[i][j], new(big.Rat).Mul(f, t[leave][j]))
				}
			}
		}
	}
}

// check runs Check and proves its verdict again in rational numbers, with code of this test alone.
func check(t *testing.T, data *block.Data, opt Options) *Result {
	t.Helper()
	r := require.Value(Check(context.Background(), data, opt))(t)
	z := folded(data)
	switch r.Verdict {
	case Separable:
		planes := []*Plane{r.OriginPlane}
		if r.WidestPlane != nil {
			planes = append(planes, r.WidestPlane)
		}
		for _, p := range planes {
			least := math.Inf(1)
			for i, row := range z {
				sum := new(big.Rat)
				for j, v := range row {
					w := rat(p.Weights[j])
					if p.ExactWeights != nil {
						w.SetInt(p.ExactWeights[j])
					}
					sum.Add(sum, w.Mul(w, rat(v)))
				}
				if sum.Sign() <= 0 {
					t.Fatalf("row %d is on the wrong side of %v", i, p)
				}
				f, _ := sum.Float64()
				least = min(least, f)
			}
			if want := least / norm(p.Weights); p == r.OriginPlane && p.ExactWeights == nil &&
				math.Abs(want-p.Margin) > 1e-9*want+1e-14*r.Radius+8*math.SmallestNonzeroFloat64 {
				t.Errorf("margin %v, it is %v", p.Margin, want)
			}
			if !(p.Margin > 0 && p.Margin <= p.MarginBound*(1+1e-9)) {
				t.Errorf("margin %v of at most %v", p.Margin, p.MarginBound)
			}
		}
	case NotSeparable:
		sums := make([]big.Rat, len(z[0]))
		total := new(big.Rat)
		for k, row := range r.Witness.Rows {
			if r.Witness.Weights[k].Sign() <= 0 {
				t.Fatalf("weight %v", r.Witness.Weights[k])
			}
			total.Add(total, r.Witness.Weights[k])
			for j, v := range z[row] {
				sums[j].Add(&sums[j], new(big.Rat).Mul(rat(v), r.Witness.Weights[k]))
			}
		}
		for j := range sums {
			if sums[j].Sign() != 0 {
				t.Fatalf("the witness %v doesn't add up to zero in column %d", r.Witness, j)
			}
		}
		if total.Cmp(big.NewRat(1, 1)) != 0 || len(r.Witness.Rows) > len(z[0])+1 {
			t.Fatalf("witness of %d rows with weights of sum %v", len(r.Witness.Rows), total)
		}
	default:
		if r.Reason == "" {
			t.Error("undecided without a reason")
		}
	}
	return r
}

func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// agree compares the verdict with exact linear programming.
func agree(t *testing.T, data *block.Data) *Result {
	t.Helper()
	r := check(t, data, Options{Workers: 1})
	want := Separable
	if holdsOrigin(folded(data)) {
		want = NotSeparable
	}
	if r.Verdict != want {
		t.Errorf("%s (%s), exact linear programming says %s: %.300s", r.Verdict, r.Reason, want, fmt.Sprint(folded(data)))
	}
	return r
}

// trials returns how many random problems a test makes.
func trials(n int) int {
	if require.Small() {
		return n / 5
	}
	return n
}

// TestAgainstExactProgramming has small random problems, many of them at the border. Some values lie on a coarse grid,
// so that rows repeat, also with both labels, lie on lines, or are all zero. Others are tenths, whose lines are
// straight up to rounding.
func TestAgainstExactProgramming(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	verdicts := map[Verdict]int{}
	for trial := range trials(600) {
		n, d := 1+rng.IntN(12), 1+rng.IntN(4)
		if trial%5 == 4 {
			n, d = n+d, d+4
		}
		grid := 1 + rng.IntN(3)
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			for j := range x[i] {
				switch v := float64(rng.IntN(2*grid+1) - grid); trial % 3 {
				case 0:
					x[i][j] = v
				case 1:
					x[i][j] = v / 10
				case 2:
					x[i][j] = rng.NormFloat64()
				}
			}
			y[i] = float64(2*rng.IntN(2) - 1)
		}
		verdicts[agree(t, testproblems.Dense(x, y, trial%2 == 0)).Verdict]++
		if t.Failed() {
			return
		}
	}
	t.Log(verdicts)
	if verdicts[Separable] < trials(200) || verdicts[NotSeparable] < trials(200) {
		t.Errorf("%v: too few of a kind", verdicts)
	}
}

// TestThinMargins has rows at both sides of a random plane. The nearest have margins down to 1e-7 of the radius, or are
// on the wrong side by as little.
func TestThinMargins(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	verdicts := map[Verdict]int{}
	for trial := range trials(200) {
		n, d := 20+rng.IntN(20), 1+rng.IntN(4)
		w := make([]float64, d)
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		margin := math.Pow(10, -1-float64(trial%7))
		if trial%3 == 0 {
			margin = -margin
		}
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			score, square := 0.0, 0.0
			for j := range w {
				x[i][j] = rng.NormFloat64()
				score += w[j] * x[i][j]
				square += w[j] * w[j]
			}
			y[i] = float64(2*rng.IntN(2) - 1)
			want := y[i] * margin
			if rng.IntN(3) == 0 {
				want = y[i] * (margin + rng.ExpFloat64())
			}
			for j := range w {
				x[i][j] += (want - score) * w[j] / square
			}
		}
		verdicts[agree(t, testproblems.Dense(x, y, trial%2 == 0)).Verdict]++
	}
	t.Log(verdicts)
}

// TestSmall has cases that can be checked by hand.
func TestSmall(t *testing.T) {
	for _, c := range []struct {
		name string
		x    [][]float64
		y    []float64
		bias bool
		want Verdict
	}{
		{"one row", [][]float64{{2}}, []float64{1}, true, Separable},
		{"one row of zeros", [][]float64{{0, 0}}, []float64{-1}, true, Separable},
		{"one row of zeros, no bias", [][]float64{{0, 0}}, []float64{1}, false, NotSeparable},
		{"one class", [][]float64{{1}, {-1}, {3}}, []float64{1, 1, 1}, true, Separable},
		{"one class, no bias", [][]float64{{1}, {-1}}, []float64{-1, -1}, false, NotSeparable},
		{"a row with both labels", [][]float64{{1, 2}, {1, 2}, {5, 5}}, []float64{1, -1, 1}, true, NotSeparable},
		{"and and", [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []float64{-1, -1, -1, 1}, true, Separable},
		{"exclusive or", [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []float64{-1, 1, 1, -1}, true, NotSeparable},
		{"between", [][]float64{{0}, {1}, {2}}, []float64{1, -1, 1}, true, NotSeparable},
		{"touching", [][]float64{{0, 0}, {2, 2}, {1, 1}}, []float64{1, 1, -1}, true, NotSeparable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := agree(t, testproblems.Dense(c.x, c.y, c.bias)); r.Verdict != c.want {
				t.Errorf("%s, not %s", r.Verdict, c.want)
			}
		})
	}
}

// TestThinnest has margins that only exact arithmetic finds. They are at most 2^-60, and at least the margin of the
// reported weights.
func TestThinnest(t *testing.T) {
	e := 0x1p-60
	x := [][]float64{{1, e}, {-1, e}, {1, 3 * e}, {-0.5, 7 * e}}
	for _, extra := range [][]float64{{1, 1}, {-1, 0.5}, {0.25, 2 * e}} {
		x = append(x, extra)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = 1
		}
		r := agree(t, testproblems.Dense(x, y, false))
		p := r.OriginPlane
		least := math.Inf(1)
		for _, row := range x {
			sum := new(big.Rat)
			for j, v := range row {
				w := rat(p.Weights[j])
				if p.ExactWeights != nil {
					w.SetInt(p.ExactWeights[j])
				}
				sum.Add(sum, w.Mul(w, rat(v)))
			}
			f, _ := sum.Float64()
			least = min(least, f)
		}
		square := 0.0
		for j, v := range p.Weights {
			if p.ExactWeights != nil {
				v, _ = new(big.Float).SetInt(p.ExactWeights[j]).Float64()
			}
			square += v * v
		}
		if want := least / math.Sqrt(square); math.Abs(want-p.Margin) > 1e-9*want || p.Margin > e {
			t.Errorf("margin %v, it is %v", p.Margin, want)
		}
	}
	// This row makes the rest not separable, by as little.
	r := agree(t, testproblems.Dense(append(x, []float64{0, -e * 0x1p-40}), []float64{1, 1, 1, 1, 1, 1, 1, 1}, false))
	if r.Verdict != NotSeparable {
		t.Error(r.Verdict)
	}
}

// TestMargins has margins that geometry gives. The text book's rows (3,3)+, (4,3)+, (1,1)- are as far apart as (3,3)
// and (1,1).
func TestMargins(t *testing.T) {
	r := check(t, testproblems.Dense([][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}, true), Options{})
	if got, want := r.WidestPlane.Margin, math.Sqrt2; math.Abs(got-want) > 1e-6 {
		t.Errorf("widest margin %v, want %v", got, want)
	}
	// The nearest point of the hull of (3,3,1), (4,3,1), (-1,-1,-1) lies on the segment from the first to the last. It
	// is (3,3,1) - s (4,4,2) with s = 26/36, of squared length 19 - 26*26/36.
	if got, want := r.OriginPlane.Margin, math.Sqrt(19-26.0*26/36); math.Abs(got-want) > 1e-6 {
		t.Errorf("margin through the origin %v, want %v", got, want)
	}
	if r.Radius != math.Sqrt(26) {
		t.Errorf("radius %v", r.Radius)
	}
}
