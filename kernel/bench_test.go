package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"halfspace/kernel"
)

// levels runs a benchmark on every level of this machine.
func levels(b *testing.B, run func(b *testing.B)) {
	best := kernel.Active()
	defer kernel.Use(best)
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		b.Run("isa="+l.String(), run)
	}
}

func typeName[T kernel.Float]() string { return fmt.Sprintf("type=f%d", 8*unsafe.Sizeof(T(0))) }

func normals[T kernel.Float](n int) []T {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func BenchmarkDot(b *testing.B) {
	levels(b, func(b *testing.B) {
		benchDot[float32](b)
		benchDot[float64](b)
	})
}

var sink float64

func benchDot[T kernel.Float](b *testing.B) {
	for _, n := range []int{8, 16, 31, 32, 100, 256, 1024, 8192, 1 << 20} {
		x, y := normals[T](n), normals[T](n)
		b.Run(fmt.Sprintf("%s/n=%d", typeName[T](), n), func(b *testing.B) {
			b.SetBytes(int64(2 * n * int(unsafe.Sizeof(T(0)))))
			for b.Loop() {
				sink = float64(kernel.Dot(x, y))
			}
		})
	}
}

// A problem is rows in one piece, a noisy one on which about 13 % of visits update in the long run.
type problem[T kernel.Float] struct {
	cols, stride, rows int
	x, y, w            []T
	log                []uint32
}

func newProblem[T kernel.Float](rows, cols int) *problem[T] {
	stride := kernel.Stride[T](cols + 1)
	p := &problem[T]{cols: cols, stride: stride, rows: rows}
	rng := rand.New(rand.NewPCG(1, 1))
	truth := normals[T](cols)
	p.x, p.y, p.w = make([]T, rows*stride), make([]T, rows), make([]T, stride)
	for r := range rows {
		row := p.x[r*stride:][:stride]
		s := T(0)
		for c := range cols {
			row[c] = T(rng.NormFloat64())
			s += row[c] * truth[c]
		}
		row[cols] = 1
		p.y[r] = T(math.Copysign(1, float64(s)))
		if rng.Float64() < 0.03 {
			p.y[r] = -p.y[r]
		}
	}
	p.log = make([]uint32, kernel.PanelRows[T](stride))
	return p
}

func (p *problem[T]) epoch() (updates int) {
	panel := kernel.PanelRows[T](p.stride)
	for r := 0; r < p.rows; r += panel {
		hi := min(p.rows, r+panel)
		_, u := kernel.Epoch(p.x[r*p.stride:hi*p.stride], p.y[r:hi], 1, p.w, p.log)
		updates += u
	}
	return updates
}

func BenchmarkEpoch(b *testing.B) {
	levels(b, func(b *testing.B) {
		benchEpoch[float32](b)
		benchEpoch[float64](b)
	})
}

func benchEpoch[T kernel.Float](b *testing.B) {
	for _, c := range []struct{ rows, cols int }{{1 << 20, 4}, {1 << 20, 13}, {1000000, 28}, {1 << 19, 64}, {1 << 17, 300}, {1 << 16, 784}} {
		b.Run(fmt.Sprintf("%s/rows=%d/d=%d", typeName[T](), c.rows, c.cols), func(b *testing.B) {
			p := newProblem[T](c.rows, c.cols)
			p.epoch()
			b.SetBytes(int64(c.rows * (c.cols + 2) * int(unsafe.Sizeof(T(0)))))
			updates := 0
			for b.Loop() {
				updates += p.epoch()
			}
			b.ReportMetric(float64(updates)/float64(b.N)/float64(c.rows), "updates/row")
		})
	}
}
