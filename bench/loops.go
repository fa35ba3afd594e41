package bench

// The loops call kernels on fixed shapes: Run times them, TestCounts counts their instructions. The shapes are the same on
// every computer. The operands of a loop lie in the first- or second-level cache of today's processors, unless
// loop.InMemory is set.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// A loop is a kernel with its arguments.
type loop struct {
	Name         string  // function, element type and shape, such as "Dot/type=float32/n=2048"
	Bytes, Flops float64 // least number of bytes that Run reads, and its flops; both 0: bench doesn't time the loop
	InMemory     bool    // the operands are larger than caches
	Run          func()  // calls the kernel; the first call may make the operands
}

// Function returns the name of the kernel that does the work.
func (l *loop) Function() string {
	name, _, _ := strings.Cut(l.Name, "/")
	if name == "Errors" {
		return "Bounds"
	}
	return name
}

// loopData holds operands that several loops share, on every level. Each is made when a loop first needs it.
type loopData struct {
	rows   map[[2]int]*block.Data
	floats []float32
}

// NoisyRows returns rows of normal features in memory; a tenth of the labels is flipped.
func (d *loopData) NoisyRows(rows, features int) *block.Data {
	k := [2]int{rows, features}
	if d.rows == nil {
		d.rows = map[[2]int]*block.Data{}
	}
	if d.rows[k] == nil {
		d.rows[k] = SyntheticRows(Synthetic{Rows: int64(rows), Features: features, Noise: 0.1, Seed: 1})
	}
	return d.rows[k]
}

func (d *loopData) normals(n int) []float32 {
	if len(d.floats) < n {
		d.floats = normals[float32](n)
	}
	return d.floats[:n]
}

// Loops returns the loops for the active level, which must not change while they run.
func (d *loopData) Loops() []loop {
	const features, cached, memory = 28, 1024, 1_000_000 // 128 KiB and 122 MiB
	wide := append(d.epochs(16, 256), d.epochIndexed(16, 256))
	for i := range wide {
		wide[i].Bytes, wide[i].Flops = 0, 0 // only counted
	}
	return slices.Concat(vectors(), d.epochs(cached, features), d.epochs(memory, features), d.errors(256, features),
		[]loop{d.epochIndexed(cached, features), d.epochIndexed(memory, features)}, elementary(), tiles(),
		d.moves(features), wide, scores64(), sparseLoops())
}

// normals returns the same n normal numbers in each call.
func normals[T float32 | float64](n int) []T {
	rng := rand.New(rand.NewPCG(1, 1))
	x := block.Alloc[T](n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// magnitudes returns the absolute values of the numbers of normals, and signs their signs.
func magnitudes[T float32 | float64](n int) []T { return mapNumbers[T](n, math.Abs) }
func signs[T float32 | float64](n int) []T {
	return mapNumbers[T](n, func(v float64) float64 { return math.Copysign(1, v) })
}

func mapNumbers[T float32 | float64](n int, f func(float64) float64) []T {
	x := normals[T](n)
	for i, v := range x {
		x[i] = T(f(float64(v)))
	}
	return x
}

// vectors returns the loops over one or two vectors that fill the first-level cache.
func vectors() []loop {
	const n, wide = 2048, 1024
	x, y, powers := normals[float32](n), normals[float32](n), make([]float32, n)
	u, v, positive := normals[float64](wide), normals[float64](wide), magnitudes[float32](n)
	return []loop{
		{Name: fmt.Sprintf("Dot/type=float32/n=%d", n), Bytes: 2 * n * 4, Flops: 2 * n, Run: func() { kernel.Dot(x, y) }},
		{Name: fmt.Sprintf("Axpy/type=float32/n=%d", n), Bytes: 2 * n * 4, Flops: 2 * n, Run: func() { kernel.Axpy(y, 1e-9, x) }},
		{Name: fmt.Sprintf("Dot/type=float64/n=%d", wide), Bytes: 2 * wide * 8, Flops: 2 * wide, Run: func() { f64.Dot(u, v) }},
		{Name: fmt.Sprintf("Axpy/type=float64/n=%d", wide), Bytes: 2 * wide * 8, Flops: 2 * wide, Run: func() { f64.Axpy(v, 1e-9, u) }},
		{Name: "Peak/type=float32", Run: func() { microkernel.Peak(100) }},
		{Name: fmt.Sprintf("Exp/type=float32/n=%d", n), Run: func() { kernel.Exp(powers, positive) }},
	}
}

// panels calls f with panels of noisy rows.
func (d *loopData) panels(rows, features int, f func(x, y []float32)) {
	for b := range d.NoisyRows(rows, features).Blocks(context.Background()) { // in memory: Blocks gives no error
		panel := kernel.PanelRows(b.Stride)
		for lo := 0; lo < b.Len(); lo += panel {
			hi := min(b.Len(), lo+panel)
			f(b.X[lo*b.Stride:hi*b.Stride], b.Y[lo:hi])
		}
	}
}

// loopShape returns the end of the names of loops over rows with a bias, and their bytes and flops.
func loopShape(rows, features int) (name string, bytes, flops float64) {
	return fmt.Sprintf("/type=float32/rows=%d/d=%d", rows, features),
		float64(rows) * float64(kernel.Stride(features+1)) * 4, 2 * float64(rows) * float64(features+1)
}

// epochs returns the loops that take rows in their order.
func (d *loopData) epochs(rows, features int) []loop {
	stride := kernel.Stride(features + 1)
	name, bytes, flops := loopShape(rows, features)
	w, out, log := normals[float32](stride), make([]float32, 4096), make([]uint32, 4096)
	clear(w[features+1:])
	return []loop{
		{"Scores" + name, bytes, flops, rows >= 1e6, func() {
			d.panels(rows, features, func(x, y []float32) { kernel.Scores(out[:len(y)], x, w) })
		}},
		{"Epoch" + name, bytes + float64(rows)*4, flops, rows >= 1e6, func() {
			d.panels(rows, features, func(x, y []float32) { kernel.Epoch(w, log, x, y, 1, 0) })
		}},
	}
}

// epochIndexed returns the loop of a shuffled epoch. With the visits of a group it prefetches a group of the next
// window.
func (d *loopData) epochIndexed(n, features int) loop {
	var rows *kernel.Rows
	var windows [][]uint32 // row numbers
	order := learner.NewPermutation(n, 3, 0)
	w, log := make([]float32, kernel.Stride(features+1)), make([]uint32, kernel.GroupRows)
	name, bytes, flops := loopShape(n, features)
	return loop{"EpochIndexed" + name, bytes + float64(n)*4, flops, n >= 1e6, func() {
		if rows == nil {
			index, err := d.NoisyRows(n, features).Index()
			if err != nil {
				panic(err) // rows in memory with labels have an index
			}
			rows = index.Rows()
			for k := range order.Windows() {
				windows = append(windows, order.Rows(nil, k))
			}
		}
		for k, window := range windows {
			next := order.Window(k + 1)
			for group := range slices.Chunk(window, kernel.GroupRows) {
				var ahead []float32
				if len(next) > 0 {
					ahead, next = rows.Group(int(next[0])), next[1:]
				}
				for len(group) > 0 {
					visits, _ := kernel.EpochIndexed(w, log, rows, group, ahead, 1, 0)
					group = group[visits:]
				}
			}
		}
	}}
}

// errors returns the loops that count the errors of many candidates on noisy rows.
func (d *loopData) errors(rows, features int) []loop {
	const candidates = 64
	stride := kernel.Stride(features + 1)
	name := fmt.Sprintf("/type=float32/rows=%d/candidates=%d/d=%d", rows, candidates, features)
	c, counts, weights := kernel.NewErrorCounter(normals[float32](candidates*stride), features+1),
		make([]int64, candidates), make([]int32, rows)
	for i := range weights {
		weights[i] = int32(i)
	}
	return []loop{
		{Name: "Errors" + name, Bytes: float64(rows * stride * 4), Flops: float64(2 * rows * candidates * (features + 1)), Run: func() {
			d.panels(rows, features, func(x, y []float32) { c.Errors(counts, x, y) })
		}},
		{Name: "ErrorWeights" + name, Run: func() {
			d.panels(rows, features, func(x, y []float32) { c.ErrorWeights(counts, x, y, weights) })
		}},
	}
}

// elementary returns the loops of elementary functions. Flops are the operations of asm/ref; a fused multiply-add counts
// as two.
func elementary() []loop {
	const n, ofExp, ofSigmoid, ofLog1p, ofLogistic = 1024, 38, 40, 34, 80
	x, size, labels, y := normals[float64](n), magnitudes[float64](n), signs[float64](n), make([]float64, n)
	z, factor, curvature, loss := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	name := fmt.Sprintf("/type=float64/n=%d", n)
	return []loop{
		{Name: "Exp" + name, Bytes: 2 * n * 8, Flops: ofExp * n, Run: func() { f64.Exp(y, x) }},
		{Name: "Sigmoid" + name, Bytes: 2 * n * 8, Flops: ofSigmoid * n, Run: func() { f64.Sigmoid(y, x) }},
		{Name: "Log1p" + name, Bytes: 2 * n * 8, Flops: ofLog1p * n, Run: func() { f64.Log1p(y, size) }},
		{Name: "Logistic" + name, Bytes: 5 * n * 8, Flops: ofLogistic * n, Run: func() {
			copy(z, x)
			f64.Logistic(z, factor, curvature, loss, labels)
		}},
	}
}

// tiles returns the micro-kernels of matrix products, whose panels fit the second-level cache.
func tiles() []loop {
	const depth, panels, rows, cols = 256, 16, 32, microkernel.BlockCols
	mr, nr := microkernel.TileShape()
	a, b, c := normals[float32](panels*mr*depth), normals[float32](nr*depth), make([]float32, panels*mr*nr)
	u, sums, scaled := normals[float64](rows*cols), make([]float64, cols*cols), make([]float64, cols*rows)
	x, factors := normals[float32](cols*rows), magnitudes[float64](rows)
	return []loop{
		{Name: "Tile/type=float32", Bytes: 4 * float64(len(a)+len(b)+2*len(c)), Flops: 2 * float64(len(c)*depth),
			Run: func() { microkernel.Tile(c, nr, 0, a, b, true) }},
		{Name: fmt.Sprintf("RankKUpdate/type=float64/rows=%d", rows), Bytes: (2*rows + 2*cols) * cols * 8, Flops: 2 * rows * cols * cols,
			Run: func() { microkernel.RankKUpdate(sums, u, u, cols, true) }},
		{Name: fmt.Sprintf("ScaleRows/type=float32/rows=%d", rows), Run: func() { microkernel.ScaleRows(scaled, x, factors, cols, cols) }},
	}
}

// moves returns the loops that move vectors and columns, and the loop over vectors in memory.
func (d *loopData) moves(features int) []loop {
	const n, panel = 1 << 24, 1 << 15
	each := func(f func(x, y []float32)) {
		both := d.normals(2 * n)
		for lo := 0; lo < n; lo += panel {
			f(both[lo:lo+panel], both[n+lo:n+lo+panel])
		}
	}
	all := []loop{
		{fmt.Sprintf("Dot/type=float32/n=%d", n), 2 * n * 4, 2 * n, true, func() { each(func(x, y []float32) { kernel.Dot(x, y) }) }},
		{fmt.Sprintf("CopyNonTemporal/type=float32/n=%d", n), n * 4, 0, true,
			func() { each(func(x, y []float32) { microkernel.CopyNonTemporal(y, x) }) }},
	}
	for _, rows := range []int{256, 1 << 19} {
		cols, stride := features+1, kernel.Stride(features+1)
		name, _, _ := loopShape(rows, features)
		var dst []float32
		all = append(all, loop{"Transpose" + name, float64(rows * (cols + stride) * 4), 0, rows > 256, func() {
			if dst == nil {
				dst = block.Alloc[float32](rows * stride)
			}
			columns, spacing := make([][]float32, cols), rows+3*16 // equal offsets in a page would compete for cache sets
			x := d.normals(cols * spacing)
			for lo := 0; lo < rows; lo += 256 {
				for c := range columns {
					columns[c] = x[c*spacing+lo:][:256]
				}
				kernel.Transpose(dst[lo*stride:(lo+256)*stride], stride, columns)
			}
		}})
	}
	return all
}

// scores64 returns the loops that score rows of float64.
func scores64() (all []loop) {
	for _, columns := range []int{28, 256} {
		stride := f64.Stride(columns)
		n := 2048 / stride
		x, w, out := normals[float64](n*stride), normals[float64](stride), make([]float64, n)
		all = append(all, loop{Name: fmt.Sprintf("Scores/type=float64/rows=%d/d=%d", n, columns), Run: func() { f64.Scores(out, x, w) }})
	}
	return all
}
