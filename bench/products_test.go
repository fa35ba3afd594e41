package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// allCores measures the limits of all cores together once.
var allCores = sync.OnceValue(func() Rates { return MeasureRates(runtime.GOMAXPROCS(0)) })

// rate reports flop/s, and their share of the most that all cores can do together.
func rate(b *testing.B, flops, most float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	if most > 0 {
		b.ReportMetric(100*flops*float64(b.N)/b.Elapsed().Seconds()/most, "%limit")
	}
}

// BenchmarkGram counts N*N*d flops, what a triangle of the products takes. The names with lib= compare
// halfspace on one core with gonum's Syrk and with three loops in Go, which use one core too.
func BenchmarkGram(b *testing.B) {
	for _, c := range []struct{ n, d int }{{8192, 512}, {4096, 2048}, {8192, 64}, {16384, 32}} {
		benchGram(b, c.n, c.d, gram.Packed, gram.Kernel{}, "")
	}
	benchLibraries(b, 2048, 512)
	benchLibraries(b, 2048, 64)
}

// benchLibraries computes a triangle of the products of n rows of d features by three libraries on one core.
func benchLibraries(b *testing.B, n, d int) {
	x, full := normals[float32](n*d), make([]float32, n*n)
	m, err := gram.NewSymmetric(n, gram.Packed)
	if err != nil {
		b.Fatal(err)
	}
	rows := blas32.General{Rows: n, Cols: d, Stride: d, Data: x}
	for _, l := range []struct {
		name string
		run  func() error
	}{
		{"halfspace", func() error { return gram.Gram(context.Background(), m, gram.Dense(x, n, d, d), gram.Kernel{}, 1) }},
		{"gonum", func() error {
			blas32.Syrk(blas.NoTrans, 1, rows, 0, blas32.Symmetric{N: n, Stride: n, Data: full, Uplo: blas.Lower})
			return nil
		}},
		{"go", func() error { plainGram(full, x, n, d); return nil }},
	} {
		b.Run(fmt.Sprintf("n=%d/d=%d/cores=1/lib=%s", n, d, l.name), func(b *testing.B) {
			for b.Loop() {
				if err := l.run(); err != nil {
					b.Fatal(err)
				}
			}
			if l.name != "halfspace" { // all libraries computed the same
				if got, want := float64(full[(n-1)*n+n/2]), float64(m.At(n-1, n/2)); math.Abs(got-want) > 1e-3*float64(d) {
					b.Fatalf("element %d, %d is %v by %s, and %v by halfspace", n-1, n/2, got, l.name, want)
				}
			}
			flops := float64(n) * float64(n) * float64(d)
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			if most := oneCore().FMAF32; most > 0 {
				b.ReportMetric(100*flops*float64(b.N)/b.Elapsed().Seconds()/most, "%limit")
			}
		})
	}
}

// plainGram writes the lower triangle of the products of rows to c, as a Go program without a library does.
func plainGram(c, x []float32, n, d int) {
	for i := range n {
		row := x[i*d : (i+1)*d]
		for j := range i + 1 {
			sum := float32(0)
			for k, v := range x[j*d : (j+1)*d] {
				sum += row[k] * v
			}
			c[i*n+j] = sum
		}
	}
}

// BenchmarkGramForm is BenchmarkGram with both triangles stored, and with the kernels that aren't linear.
func BenchmarkGramForm(b *testing.B) {
	benchGram(b, 8192, 512, gram.Full, gram.Kernel{}, "/storage=full")
	benchGram(b, 8192, 64, gram.Full, gram.Kernel{}, "/storage=full")
	benchGram(b, 8192, 512, gram.Packed, gram.Kernel{Kind: gram.RBF, Gamma: 0.001}, "/kernel=rbf")
	benchGram(b, 8192, 512, gram.Packed, gram.Kernel{Kind: gram.Polynomial, Degree: 4, Gamma: 0.01, Coef0: 1},
		"/kernel=poly")
}

func benchGram(b *testing.B, n, d int, storage gram.Storage, k gram.Kernel, suffix string) {
	b.Run(fmt.Sprintf("n=%d/d=%d%s", n, d, suffix), func(b *testing.B) {
		stride := kernel.Stride(d)
		x := gram.Dense(normals[float32](n*stride), n, d, stride)
		m, err := gram.NewSymmetric(n, storage)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := gram.Gram(context.Background(), m, x, k, runtime.GOMAXPROCS(0)); err != nil {
				b.Fatal(err)
			}
		}
		rate(b, float64(n)*float64(n)*float64(d), allCores().FMAF32)
	})
}

// BenchmarkScatter counts N*d*(d+1) flops, all of float64: X' diag(s) X of weighted rows in memory.
func BenchmarkScatter(b *testing.B) {
	for _, c := range []struct{ n, d int }{{1_000_000, 28}, {200_000, 128}, {20_000, 784}} {
		benchScatter(b, c.n, c.d)
	}
}

func benchScatter(b *testing.B, n, d int) {
	b.Run(fmt.Sprintf("n=%d/d=%d", n, d), func(b *testing.B) {
		var blocks []*block.Block
		for lo := 0; lo < n; lo += block.Rows(d) {
			rows := block.New(int64(lo), min(n-lo, block.Rows(d)), d)
			for r := range rows.Len() {
				for c := range d {
					rows.X[r*rows.Stride+c] = float32((r*7+c*13)%17) / 16
				}
			}
			blocks = append(blocks, rows)
		}
		src := block.NewData(&schema.Spec{Features: make([]string, d)}, blocks)
		m, err := gram.NewTriangle(d)
		if err != nil {
			b.Fatal(err)
		}
		weights := make([]float64, n) // making the weights is no part of the product
		for r := range weights {
			weights[r] = 1 / float64(1+r%97)
		}
		setWeights := func(chunk block.Chunk, s, _ []float64) { copy(s, weights[chunk.First:]) }
		for b.Loop() {
			if err := gram.Scatter(context.Background(), m, src, setWeights, runtime.GOMAXPROCS(0)); err != nil {
				b.Fatal(err)
			}
		}
		rate(b, float64(n)*float64(d)*float64(d+1), allCores().FMAF64)
	})
}
