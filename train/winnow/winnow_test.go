package winnow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

const literals = 3 // of the disjunctions

// disjunction yields rows of d features that are 1 with probability 1/4, and a bias. The label is the disjunction of
// the first features: positive with probability 0.58.
func disjunction(d, rows int, seed uint64, visit func(x []float32, y float32)) {
	rng := rand.New(rand.NewPCG(seed, uint64(d)))
	x := make([]float32, kernel.Stride(d+1))
	for range rows {
		for c := 0; c < d; c += 64 {
			for bits, i := rng.Uint64()&rng.Uint64(), c; i < min(d, c+64); i++ {
				x[i] = float32(bits & 1)
				bits >>= 1
			}
		}
		x[d] = 1
		y := float32(-1)
		if slices.Contains(x[:literals], 1) {
			y = 1
		}
		visit(x, y)
	}
}

// winnowMistakes returns the mistakes of a variant in one pass over a disjunction of d features.
func winnowMistakes(variant Variant, d, rows int, seed uint64) (mistakes int) {
	opt := Settings{Options: Options{Variant: variant, Alpha: 1.5, Threshold: float64(d) / 2}}
	if variant == Winnow1 {
		opt.Alpha = 2
	}
	r := newStartRule(d+1, opt)
	r.Training = new(online.Training)
	disjunction(d, rows, seed, func(x []float32, y float32) {
		_, updates, err := r.Visit(context.Background(), &online.Panel{Block: &block.Block{Cols: d + 1, Stride: len(x), X: x, Y: []float32{y}}, Hi: 1}, make([]uint32, 1))
		if err != nil {
			panic(err)
		}
		mistakes += updates
	})
	return mistakes
}

// perceptronMistakes returns the perceptron's mistakes. It predicts by the sign of w.x + b.
func perceptronMistakes(d, rows int, seed uint64) (mistakes int) {
	w := make([]float32, kernel.Stride(d+1))
	disjunction(d, rows, seed, func(x []float32, y float32) {
		if y*kernel.Dot(x, w) <= 0 {
			kernel.Axpy(w, y, x)
			mistakes++
		}
	})
	return mistakes
}

// mistakeBound is Littlestone's (1988), theorems 7 and 9, with theta d/2, and alpha 2 (Winnow1) or 1.5 (Winnow2).
func mistakeBound(variant Variant, d int) float64 {
	theta := float64(d) / 2
	if variant == Winnow1 {
		return 2*literals*(math.Log2(theta)+1) + 2
	}
	return 8*2 + literals*(5+14*math.Log(theta))
}

// TestMistakes learns a disjunction of three of 2^4 to 2^16 features. Winnow's mistakes stay below Littlestone's bounds
// and grow with the logarithm. The perceptron's grow with the number of features.
func TestMistakes(t *testing.T) {
	most := 16
	if require.Small() {
		most = 13
	}
	for _, variant := range []Variant{Winnow1, Winnow2} {
		var mistakes []int
		for e := 4; e <= most; e++ {
			n := winnowMistakes(variant, 1<<e, 3000, 1)
			if float64(n) > mistakeBound(variant, 1<<e) {
				t.Errorf("%s makes %d mistakes among 2^%d features, the bound is %.0f", variant, n, e, mistakeBound(variant, 1<<e))
			}
			mistakes = append(mistakes, n)
		}
		// Each doubling costs about as much as the last: the second half costs at most twice the first.
		first, half, last := mistakes[0], mistakes[len(mistakes)/2], mistakes[len(mistakes)-1]
		if half <= first || last <= half || last-half > 2*(half-first) {
			t.Errorf("%s: mistakes for 2^4 to 2^%d features are %v", variant, most, mistakes)
		}
	}
	previous := 0
	for d := 1 << 6; d <= 1<<11; d *= 2 {
		n := perceptronMistakes(d, 8*d, 1)
		if ratio := float64(n) / float64(previous); previous > 0 && (ratio < 1.6 || ratio > 2.4) {
			t.Errorf("the perceptron makes %d mistakes among %d features, and %d among half of them", n, d, previous)
		}
		previous = n
	}
}

// data returns rows of a disjunction, with a share of the labels flipped.
func data(d, rows int, flips float64) *block.Data {
	spec := &schema.Spec{Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Positive: 1}
	for c := range d {
		spec.Features = append(spec.Features, fmt.Sprintf("x%d", c))
	}
	b := block.New(0, rows, d+1)
	rng, r := rand.New(rand.NewPCG(9, 9)), 0
	disjunction(d, rows, 2, func(x []float32, y float32) {
		for c, v := range x[:b.Cols] {
			b.X[r*b.Stride+c] = float32(v)
		}
		if b.Y[r] = float32(y); rng.Float64() < flips {
			b.Y[r] = -b.Y[r]
		}
		r++
	})
	return block.NewData(spec, []*block.Block{b})
}

// literalWinnow is Winnow as in Littlestone's table, with sets of features.
func literalWinnow(b *block.Block, variant Variant, alpha float32, epochs int) (w []float32, updates int64) {
	d := b.Cols - 1
	u, v := make([]float32, d+1), make([]float32, d+1)
	for c := range u {
		u[c], v[c] = 1, 1
	}
	theta := float32(d) / 2
	if variant != Balanced {
		clear(v)
		u[d] = 0
	} else {
		theta = 0
	}
	for range epochs {
		for r, y := range b.Y {
			x := b.X[r*b.Stride:][:d+1]
			sum := float32(0)
			for c := range x {
				sum += x[c] * (u[c] - v[c])
			}
			if (sum > theta) == (y > 0) {
				continue
			}
			updates++
			for c := range x {
				switch {
				case x[c] == 0:
				case y > 0:
					u[c], v[c] = u[c]*alpha, v[c]/alpha
				case variant == Winnow1:
					u[c] = 0
				default:
					u[c], v[c] = u[c]/alpha, v[c]*alpha
				}
			}
		}
	}
	for c := range u {
		w = append(w, u[c]-v[c])
	}
	if variant != Balanced {
		w[d] = -theta
	}
	return w, updates
}

// TestLiteral has noisy rows and an alpha of 2, for which every number is exact.
func TestLiteral(t *testing.T) {
	src := data(20, 300, 0.05)
	for b := range src.Blocks(context.Background()) {
		for _, variant := range Variants {
			want, updates := literalWinnow(b, variant, 2, 3)
			for workers := 1; workers < 4; workers++ {
				r := require.Value(Train(context.Background(), src, Settings{Options: Options{Epochs: 3, Variant: variant, Alpha: 2}, Run: learner.Run{Workers: workers}}))(t)
				if !slices.Equal(r.Weights, want) || r.Updates != updates || r.Visits != 900 || r.Converged || r.Errors == 0 {
					t.Errorf("%s: weights %v, %d updates, want %v, %d", variant, r.Weights, r.Updates, want, updates)
				}
			}
		}
	}
}

// TestLearns: disjunctions are learned without an error on every instruction set.
func TestLearns(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	src := data(200, 1000, 0)
	for _, variant := range Variants {
		var want []float32
		for _, level := range kernel.Levels() {
			kernel.Use(level)
			r := require.Value(Train(context.Background(), src, Settings{Options: Options{Variant: variant}}))(t)
			if want == nil {
				want = r.Weights
			}
			if !r.Converged || r.Errors != 0 || !slices.Equal(r.Weights, want) || variant == Winnow1 && float64(r.Updates) > mistakeBound(Winnow1, 200) {
				t.Errorf("%s on %s: %+v", variant, level, r)
			}
		}
	}
}

// TestStoredZeros: sparse rows that store zeros, -0 too, learn the weights of dense rows.
func TestStoredZeros(t *testing.T) {
	dense := data(20, 500, 0.05)
	var blocks []*block.Block
	for b := range dense.Blocks(t.Context()) {
		s := &kernel.SparseRows{Ptr: []int64{0}}
		for r := range b.Len() {
			for c, v := range b.X[r*b.Stride:][:b.Cols] {
				if v == 0 {
					v = float32(math.Copysign(0, float64(c%2)-1))
				}
				s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		blocks = append(blocks, &block.Block{First: b.First, Cols: b.Cols, Stride: b.Stride, Sparse: s, Y: b.Y})
	}
	for _, variant := range []Variant{Winnow1, Winnow2, Balanced} {
		opt := Settings{Options: Options{Variant: variant}}
		want := require.Value(Train(t.Context(), dense, opt))(t)
		got, err := Train(t.Context(), block.NewData(dense.Spec(), blocks), opt)
		if err != nil || !slices.Equal(got.Weights, want.Weights) || want.Updates == 0 {
			t.Errorf("%s: stored zeros change the weights, or error %v", variant, err)
		}
	}
}
