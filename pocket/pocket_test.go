package pocket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/kernel/limits"
)

func random[T kernel.Float](rows, cols int) *block.Data[T] {
	rng := rand.New(rand.NewPCG(1, uint64(rows)))
	var blocks []*block.Block[T]
	for first, per := 0, block.Rows[T](cols); first < rows; first += per {
		b := block.New[T](int64(first), min(per, rows-first), cols)
		for r := range b.Len() {
			for c := range cols {
				b.X[r*b.Stride+c] = T(rng.NormFloat64())
			}
			b.Y[r] = T(2*rng.IntN(2) - 1)
		}
		blocks = append(blocks, b)
	}
	return block.NewData(&block.Spec{Features: make([]string, cols)}, blocks)
}

// TestErrors holds the counts against a loop over rows and candidates, for several workers.
func TestErrors(t *testing.T) {
	d := random[float32](10000, 13)
	rng := rand.New(rand.NewPCG(2, 2))
	const k, stride = 5, 16
	w := make([]float32, k*stride)
	for c := 1; c < k; c++ {
		for i := range 13 {
			w[c*stride+i] = float32(rng.NormFloat64())
		}
	}
	want := make([]int64, k)
	for b := range d.Blocks(context.Background()) {
		for r := range b.Len() {
			for c := range k {
				if (kernel.Dot(b.X[r*stride:(r+1)*stride], w[c*stride:(c+1)*stride]) > 0) != (b.Y[r] > 0) {
					want[c]++
				}
			}
		}
	}
	for _, workers := range []int{1, 2, 3, 8} {
		got, err := Errors(context.Background(), d, w, workers)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d workers: %v, want %v (error %v)", workers, got, want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Errors(ctx, d, w, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context was cancelled", err)
	}
}

// TestFirstOnTies: of equal candidates the first is kept, and a candidate no better than the initial zeros isn't.
func TestFirstOnTies(t *testing.T) {
	ctx := context.Background()
	d := random[float32](5000, 3)
	p, err := New(ctx, d, 2)
	if err != nil {
		t.Fatal(err)
	}
	zeros := p.Best().Errors
	equal := []float32{0, 0, 0, 0, 0, 0, 0, 0} // as the zeros, that make every row -1
	if err := p.Offer(ctx, equal, 1, 1); err != nil {
		t.Fatal(err)
	}
	if err := p.Judge(ctx); err != nil {
		t.Fatal(err)
	}
	if p.Best().Update != 0 || p.Best().Visits != 0 {
		t.Errorf("update %d is kept, no better than the zeros", p.Best().Update)
	}
	better := []float32{0, 0, 0, 0, 0, 0, 0, 0}
	for i := int64(1); p.Best().Errors == zeros; i++ {
		better[0], better[1] = float32(i%7)-3, float32(i%5)-2
		for range 3 { // thrice the same
			if err := p.Offer(ctx, better, i, 10*i); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Offer(ctx, make([]float32, 8), i, 10*i); err != nil {
			t.Fatal(err)
		}
		if err := p.Judge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	best := p.Best()
	if err := p.Offer(ctx, best.Weights, 1000, 10000); err != nil {
		t.Fatal(err)
	}
	if err := p.Judge(ctx); err != nil {
		t.Fatal(err)
	}
	if p.Best().Update != best.Update || p.Best().Visits != 10*best.Update {
		t.Errorf("kept update %d, visits %d; the first with its errors was %d", p.Best().Update, p.Best().Visits, best.Update)
	}
}

// BenchmarkErrors judges candidates on data that fits no cache. GFLOP/s are those of the features' products, without the
// bias and what filling vectors takes; %limit is of the cores' FMA peak.
func BenchmarkErrors(b *testing.B) {
	const rows, features = 1_000_000, 28
	d := random[float32](rows, features+1)
	for _, k := range []int{1, 32, 64} {
		for _, workers := range []int{1, 2} {
			w := candidates(k, features+1)
			b.Run(fmt.Sprintf("type=f32/n=%d/d=%d/candidates=%d/workers=%d", rows, features, k, workers), func(b *testing.B) {
				for b.Loop() {
					if _, err := Errors(context.Background(), d, w, workers); err != nil {
						b.Fatal(err)
					}
				}
				seconds := b.Elapsed().Seconds() / float64(b.N)
				flops := 2 * rows * features * float64(k) / seconds
				b.ReportMetric(flops/1e9, "GFLOP/s")
				b.ReportMetric(float64(k)/seconds, "candidates/s")
				if l := limits.Measure(workers); l.FMAF32 > 0 {
					b.ReportMetric(100*flops/l.FMAF32, "%limit")
				}
			})
		}
	}
}

// candidates returns k random candidates.
func candidates(k, cols int) []float32 {
	rng := rand.New(rand.NewPCG(3, 3))
	stride := kernel.Stride[float32](cols)
	w := make([]float32, k*stride)
	for i := range w {
		if i%stride < cols {
			w[i] = float32(rng.NormFloat64())
		}
	}
	return w
}
