package separability

import (
	"context"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/kernel"
	"halfspace/schema"
)

// wide returns sparse rows of so many elements, with a bias, and labels of a random plane.
func wide(rows, cols, elements int) *block.Data {
	rng := rand.New(rand.NewPCG(3, 3))
	spec := &schema.Spec{Features: make([]string, cols-1), Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	truth := make([]float64, cols)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	b := &block.Block{Cols: cols, Stride: kernel.Stride(cols), Sparse: &kernel.SparseRows{Ptr: []int64{0}}}
	s := b.Sparse
	for range rows {
		score := 0.0
		for k := range elements {
			c := k*((cols-1)/elements) + rng.IntN((cols-1)/elements)
			s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, float32(rng.NormFloat64()))
			score += truth[c] * float64(s.Val[len(s.Val)-1])
		}
		s.Idx, s.Val, s.Ptr = append(s.Idx, uint32(cols-1)), append(s.Val, 1), append(s.Ptr, int64(len(s.Idx)+1))
		y := float32(1)
		if score < 0 {
			y = -1
		}
		b.Y = append(b.Y, y)
	}
	return block.NewData(spec, []*block.Block{b})
}

// TestRefine: with many columns, a search for larger margins that is cut short still has the verdict. Its margins are no
// larger than those of the whole search, and its bounds no smaller. Fewer columns are searched to the end.
func TestRefine(t *testing.T) {
	const rows = 60
	search := func(cols int, refine int64) *Result {
		data := wide(rows, cols, 10)
		opt := Options{Workers: 2, MaxPasses: 1000}
		radius := require.Value(largestNorm(t.Context(), data, opt.Workers))(t)
		s := newSearcher(data, opt, radius)
		s.refineWork = refine
		r := require.Value(s.check(context.Background()))(t)
		if r.Verdict != Separable || r.WidestPlane == nil {
			t.Fatalf("%d columns: %s, widest plane %v", cols, r.Verdict, r.WidestPlane)
		}
		return r
	}
	const few, many = 1000, 4200
	for _, cols := range []int{few, many} {
		whole, short := search(cols, refineWork), search(cols, 1<<20)
		if whole.OriginPlane.MarginBound > 1.001*whole.OriginPlane.Margin ||
			whole.WidestPlane.MarginBound > 1.001*whole.WidestPlane.Margin {
			t.Errorf("%d columns: the whole search ends with margins %v and %v", cols, whole.OriginPlane, whole.WidestPlane)
		}
		for i, pair := range [][2]*Plane{{whole.OriginPlane, short.OriginPlane}, {whole.WidestPlane, short.WidestPlane}} {
			best, p := pair[0], pair[1]
			if p.Margin > best.MarginBound*(1+1e-9) || p.MarginBound < best.Margin*(1-1e-9) {
				t.Errorf("%d columns, plane %d: margin %v, at most %v, where %v is the largest",
					cols, i, p.Margin, p.MarginBound, best.Margin)
			}
			if cut := p.MarginBound > 1.001*p.Margin; cut != (cols == many) {
				t.Errorf("%d columns, plane %d: margin %v, at most %v: cut short %t", cols, i, p.Margin, p.MarginBound, cut)
			}
		}
	}
}
