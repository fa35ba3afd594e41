package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
	"halfspace/kernel"
)

// reportLimit reports the share of a limit of one core that a benchmark reached, with amount for each operation. The limits
// are those of the best level, measured in the same run.
func reportLimit(b *testing.B, amount float64, of func(Rates) float64) {
	if most := of(bestLimits()); most > 0 {
		b.ReportMetric(100*amount*float64(b.N)/b.Elapsed().Seconds()/most, "%limit")
	}
}

// oneCore measures the limits of one core once, for all benchmarks of a process.
var oneCore = sync.OnceValue(func() Rates { return MeasureRates(1) })

// bestLimits measures on the best level, whichever is active.
func bestLimits() Rates {
	active := kernel.Active()
	defer kernel.Use(active)
	kernel.Use(kernel.Levels()[len(kernel.Levels())-1])
	return oneCore()
}

// levels runs a benchmark of kernels on every level of this machine. A name has the instruction set of
// the code that runs: functions without a form for a level are not run again.
func levels(b *testing.B, functions []string, run func(b *testing.B)) {
	best := kernel.Active()
	defer kernel.Use(best)
	ran := map[kernel.Level]bool{}
	for _, l := range kernel.Levels() {
		kernel.Use(l)
		if form := microkernel.Form(functions...); !ran[form] {
			ran[form] = true
			b.Run("isa="+form.String(), run)
		}
	}
}

func BenchmarkDot(b *testing.B) {
	levels(b, []string{"Dot"}, benchDot)
}

var sink float32

func benchDot(b *testing.B) {
	for _, n := range []int{8, 16, 31, 32, 100, 256, 512, 1024, 2048, 4096, 8192, 1 << 20, 1 << 25} {
		x, y := normals[float32](n), normals[float32](n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			bytes := 2 * n * 4
			b.SetBytes(int64(bytes))
			for b.Loop() {
				sink = kernel.Dot(x, y)
			}
			reportLimit(b, float64(bytes), bandwidth(float64(bytes)))
		})
	}
}

// A kernelProblem is rows in one piece. On a noisy one, about 13 % of visits update in the long run.
type kernelProblem struct {
	cols, stride, rows int
	x, y, w            []float32
	log                []uint32
}

func newKernelProblem(rows, cols int) *kernelProblem {
	stride := kernel.Stride(cols + 1)
	p := &kernelProblem{cols: cols, stride: stride, rows: rows}
	rng := rand.New(rand.NewPCG(1, 1))
	truth := normals[float32](cols)
	p.x, p.y, p.w = block.Alloc[float32](rows*stride), make([]float32, rows), make([]float32, stride)
	for r := range rows {
		row := p.x[r*stride:][:stride]
		s := float32(0)
		for c := range cols {
			row[c] = float32(rng.NormFloat64())
			s += row[c] * truth[c]
		}
		row[cols] = 1
		p.y[r] = float32(math.Copysign(1, float64(s)))
		if rng.Float64() < 0.03 {
			p.y[r] = -p.y[r]
		}
	}
	p.log = make([]uint32, kernel.PanelRows(stride))
	return p
}

func (p *kernelProblem) epoch() (updates int) {
	panel := kernel.PanelRows(p.stride)
	for r := 0; r < p.rows; r += panel {
		hi := min(p.rows, r+panel)
		_, u := kernel.Epoch(p.w, p.log, p.x[r*p.stride:hi*p.stride], p.y[r:hi], 1, 0)
		updates += u
	}
	return updates
}

func BenchmarkEpoch(b *testing.B) {
	levels(b, []string{"Epoch"}, benchEpoch)
}

func benchEpoch(b *testing.B) {
	for _, c := range []struct{ rows, cols int }{{1 << 22, 4}, {1 << 21, 13}, {1000000, 28},
		{1 << 19, 64}, {1 << 17, 300}, {1 << 16, 784}, {1 << 14, 2000}} {
		b.Run(fmt.Sprintf("rows=%d/d=%d", c.rows, c.cols), func(b *testing.B) {
			p := newKernelProblem(c.rows, c.cols)
			p.epoch()
			bytes := c.rows * (c.cols + 2) * 4
			b.SetBytes(int64(bytes))
			updates := 0
			for b.Loop() {
				updates += p.epoch()
			}
			reportLimit(b, float64(bytes), bandwidth(float64(bytes)))
			b.ReportMetric(float64(updates)/float64(b.N)/float64(c.rows), "updates/row")
		})
	}
}

func BenchmarkErrors(b *testing.B) {
	levels(b, []string{"Bounds"}, benchErrors)
}

// benchErrors judges random candidates on rows in the first-level cache. Flops count the features' products, without
// the bias. Small integers make scores of zero common; such rows are scored twice.
func benchErrors(b *testing.B) {
	const rows, candidates = 256, 64
	for _, d := range []int{4, 13, 28, 60, 300} {
		p := newKernelProblem(rows, d)
		w := normals[float32](candidates * p.stride)
		name := fmt.Sprintf("rows=%d/candidates=%d/d=%d", rows, candidates, d)
		b.Run(name+"/data=normal", func(b *testing.B) { judge(b, p, w, candidates) })
		if d != 28 {
			continue
		}
		for _, v := range [][]float32{p.x, w} {
			for i := range v {
				v[i] = float32(math.Round(float64(v[i])))
			}
		}
		b.Run(name+"/data=integer", func(b *testing.B) { judge(b, p, w, candidates) })
	}
}

func judge(b *testing.B, p *kernelProblem, w []float32, candidates int) {
	for i := range w {
		if i%p.stride > p.cols {
			w[i] = 0
		}
	}
	c, counts := kernel.NewErrorCounter(w, p.cols+1), make([]int64, candidates)
	for b.Loop() {
		c.Errors(counts, p.x, p.y)
	}
	flops := 2 * float64(p.rows*candidates*p.cols)
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	reportLimit(b, flops, fmaF32)
}

func BenchmarkTile(b *testing.B) {
	levels(b, []string{"Tile"}, benchTile)
}

// benchTile multiplies panels that fit the second-level cache: a block of mc x kc against a panel of kc x nr.
func benchTile(b *testing.B) {
	mr, nr := microkernel.TileShape()
	const kc, panels = 256, 16
	b.Run(fmt.Sprintf("mr=%d/nr=%d/kc=%d", mr, nr, kc), func(b *testing.B) {
		x, y, c := normals[float32](panels*mr*kc), normals[float32](nr*kc), make([]float32, panels*mr*nr)
		for b.Loop() {
			microkernel.Tile(c, nr, 0, x, y, true)
		}
		flops := 2 * float64(panels*mr*nr*kc)
		b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		reportLimit(b, flops, fmaF32)
	})
}

func BenchmarkTranspose(b *testing.B) {
	levels(b, []string{"Transpose"}, benchTranspose)
}

// benchTranspose turns 28 columns and a bias into rows, as loading does, in the first- and second-level cache and in
// memory. %copy is its rate as a part of copy's between arrays of the rows' size, taken in turns. Columns begin at
// different offsets in a page. At equal offsets their lines would compete for a few sets of the cache.
func benchTranspose(b *testing.B) {
	const cols = 29
	for _, rows := range []int{256, 2048, 1 << 20} {
		b.Run(fmt.Sprintf("rows=%d/d=28", rows), func(b *testing.B) {
			all, stride := normals[float32](rows*cols), kernel.Stride(cols)
			spacing := rows + 3*64/4
			dst, src, copied := block.Alloc[float32](rows*stride), block.Alloc[float32](spacing*cols), block.Alloc[float32](spacing*cols)
			copy(src, all)
			panel := min(rows, kernel.PanelRows(stride))
			columns := make([][]float32, cols)
			var transposing, copying time.Duration
			for b.Loop() {
				start := time.Now()
				for r := 0; r < rows; r += panel {
					for c := range columns {
						columns[c] = src[c*spacing+r : c*spacing+r+panel]
					}
					kernel.Transpose(dst[r*stride:(r+panel)*stride], stride, columns)
				}
				half := time.Now()
				copy(copied, src)
				transposing, copying = transposing+half.Sub(start), copying+time.Since(half)
			}
			bytes := float64(rows * cols * 4)
			b.ReportMetric(bytes*float64(b.N)/transposing.Seconds()/1e6, "MB/s")
			b.ReportMetric(100*copying.Seconds()/transposing.Seconds(), "%copy")
		})
	}
}

// BenchmarkEpochIndexed visits all rows in the order of shuffle. It permutes groups, and then rows in windows of 8
// groups. It prefetches the next window in storage order. The permutation is made beforehand; bench/ and
// train/perceptron time both.
func BenchmarkEpochIndexed(b *testing.B) {
	levels(b, []string{"EpochIndexed"}, benchEpochIndexed)
}

func benchEpochIndexed(b *testing.B) {
	const n, cols = 1000000, 28
	b.Run(fmt.Sprintf("rows=%d/d=%d", n, cols), func(b *testing.B) {
		p := newKernelProblem(n, cols)
		var x, y [][]float32
		for lo := 0; lo < n; lo += kernel.GroupRows {
			hi := min(n, lo+kernel.GroupRows)
			x, y = append(x, p.x[lo*p.stride:hi*p.stride]), append(y, p.y[lo:hi])
		}
		rows := kernel.NewRows(x, y, p.stride)
		windows := shuffledWindows(n)
		p.epoch()
		for b.Loop() {
			for i, idx := range windows {
				next := windows[(i+1)%len(windows)]
				visitWindow(p, rows, idx, next, x)
			}
		}
		bytes := n * (cols + 2) * 4
		b.SetBytes(int64(bytes))
		reportLimit(b, float64(bytes), bandwidth(float64(bytes)))
	})
}

// A window is row numbers in the order of visits, and the groups that they come from.
type window struct {
	idx    []uint32
	groups []int
}

func shuffledWindows(n int) (windows []window) {
	rng := rand.New(rand.NewPCG(3, 3))
	groups := rng.Perm((n + kernel.GroupRows - 1) / kernel.GroupRows)
	for lo := 0; lo < len(groups); lo += 8 {
		w := window{groups: groups[lo:min(len(groups), lo+8)]}
		for _, c := range w.groups {
			for r := c * kernel.GroupRows; r < min(n, (c+1)*kernel.GroupRows); r++ {
				w.idx = append(w.idx, uint32(r))
			}
		}
		rng.Shuffle(len(w.idx), func(i, j int) { w.idx[i], w.idx[j] = w.idx[j], w.idx[i] })
		windows = append(windows, w)
	}
	return windows
}

// visitWindow visits a window, a group's worth of rows at a time. Meanwhile it prefetches groups of the next window.
func visitWindow(p *kernelProblem, rows *kernel.Rows, w, next window, x [][]float32) {
	for k, lo := 0, 0; lo < len(w.idx); k, lo = k+1, lo+kernel.GroupRows {
		var ahead []float32
		if k < len(next.groups) {
			ahead = x[next.groups[k]]
		}
		part := w.idx[lo:min(len(w.idx), lo+kernel.GroupRows)]
		for len(part) > 0 {
			visits, _ := kernel.EpochIndexed(p.w, p.log, rows, part, ahead, 1, 0)
			part = part[visits:]
		}
	}
}
