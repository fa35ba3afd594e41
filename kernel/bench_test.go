package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/kernel/limits"
)

// limit reports how much of a limit of one core a benchmark reached, at the rate of amount an operation. The limits are
// those of the best level, measured in the same run.
func limit(b *testing.B, amount float64, of func(limits.Limits) float64) {
	if most := of(bestLimits()); most > 0 {
		b.ReportMetric(100*amount*float64(b.N)/b.Elapsed().Seconds()/most, "%limit")
	}
}

// bestLimits measures on the best level, whichever is active now.
func bestLimits() limits.Limits {
	active := kernel.Active()
	defer kernel.Use(active)
	kernel.Use(kernel.Levels()[len(kernel.Levels())-1])
	return limits.One()
}

// bandwidth is that of the level of memory that an array of so many bytes fits.
func bandwidth(bytes int) func(limits.Limits) float64 {
	return func(l limits.Limits) float64 {
		switch {
		case bytes <= 32<<10:
			return l.L1
		case bytes <= 512<<10:
			return l.L2
		case bytes <= 8<<20:
			return l.L3
		}
		return l.DRAM
	}
}

func fmas[T kernel.Float](l limits.Limits) float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return l.FMAF32
	}
	return l.FMAF64
}

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
			bytes := 2 * n * int(unsafe.Sizeof(T(0)))
			b.SetBytes(int64(bytes))
			for b.Loop() {
				sink = float64(kernel.Dot(x, y))
			}
			limit(b, float64(bytes), bandwidth(bytes))
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
	p.x, p.y, p.w = block.Alloc[T](rows*stride), make([]T, rows), make([]T, stride)
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
	for _, c := range []struct{ rows, cols int }{{1 << 22, 4}, {1 << 21, 13}, {1000000, 28},
		{1 << 19, 64}, {1 << 17, 300}, {1 << 16, 784}, {1 << 14, 2000}} {
		b.Run(fmt.Sprintf("%s/rows=%d/d=%d", typeName[T](), c.rows, c.cols), func(b *testing.B) {
			p := newProblem[T](c.rows, c.cols)
			p.epoch()
			bytes := c.rows * (c.cols + 2) * int(unsafe.Sizeof(T(0)))
			b.SetBytes(int64(bytes))
			updates := 0
			for b.Loop() {
				updates += p.epoch()
			}
			limit(b, float64(bytes), bandwidth(bytes))
			b.ReportMetric(float64(updates)/float64(b.N)/float64(c.rows), "updates/row")
		})
	}
}

func BenchmarkErrors(b *testing.B) {
	levels(b, func(b *testing.B) {
		benchErrors[float32](b)
		benchErrors[float64](b)
	})
}

// benchErrors judges random candidates on rows in the first-level cache. Flops are those of the features' products, without
// the bias. Small integers make scores of zero common, whose rows are scored twice.
func benchErrors[T kernel.Float](b *testing.B) {
	const rows, candidates = 256, 64
	for _, d := range []int{4, 13, 28, 60, 300} {
		p := newProblem[T](rows, d)
		w := normals[T](candidates * p.stride)
		name := fmt.Sprintf("%s/rows=%d/candidates=%d/d=%d", typeName[T](), rows, candidates, d)
		b.Run(name+"/data=normal", func(b *testing.B) { judge(b, p, w, candidates) })
		if d != 28 {
			continue
		}
		for _, v := range [][]T{p.x, w} {
			for i := range v {
				v[i] = T(math.Round(float64(v[i])))
			}
		}
		b.Run(name+"/data=integer", func(b *testing.B) { judge(b, p, w, candidates) })
	}
}

func judge[T kernel.Float](b *testing.B, p *problem[T], w []T, candidates int) {
	for i := range w {
		if i%p.stride > p.cols {
			w[i] = 0
		}
	}
	c, counts := kernel.NewCandidates(w, p.cols+1), make([]int64, candidates)
	for b.Loop() {
		c.Errors(p.x, p.y, counts)
	}
	flops := 2 * float64(p.rows*candidates*p.cols)
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	limit(b, flops, fmas[T])
}

func BenchmarkTile(b *testing.B) {
	levels(b, func(b *testing.B) {
		benchTile[float32](b)
		benchTile[float64](b)
	})
}

// benchTile multiplies panels that fit the second-level cache: a block of mc x kc against a panel of kc x nr.
func benchTile[T kernel.Float](b *testing.B) {
	mr, nr := kernel.TileShape[T]()
	const kc, panels = 256, 16
	b.Run(fmt.Sprintf("%s/mr=%d/nr=%d/kc=%d", typeName[T](), mr, nr, kc), func(b *testing.B) {
		x, y, c := normals[T](panels*mr*kc), normals[T](nr*kc), make([]T, panels*mr*nr)
		for b.Loop() {
			for i := range panels {
				kernel.Tile(x[i*mr*kc:(i+1)*mr*kc], y, c[i*mr*nr:], nr)
			}
		}
		flops := 2 * float64(panels*mr*nr*kc)
		b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		limit(b, flops, fmas[T])
	})
}

func BenchmarkTranspose(b *testing.B) {
	levels(b, func(b *testing.B) {
		benchTranspose[float32](b)
		benchTranspose[float64](b)
	})
}

// benchTranspose turns 28 columns and a bias of a run of rows into rows, as loading does.
func benchTranspose[T kernel.Float](b *testing.B) {
	const rows, cols = 1024, 29
	b.Run(fmt.Sprintf("%s/rows=%d/d=28", typeName[T](), rows), func(b *testing.B) {
		all, stride := normals[T](rows*cols), kernel.Stride[T](cols)
		var columns [][]T
		for c := range cols {
			columns = append(columns, all[c*rows:(c+1)*rows])
		}
		dst := make([]T, rows*stride)
		b.SetBytes(int64(rows * cols * int(unsafe.Sizeof(T(0)))))
		for b.Loop() {
			kernel.Transpose(dst, stride, columns)
		}
	})
}
