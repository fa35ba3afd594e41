package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"halfspace/bench/limits"
	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/microkernel"
	"halfspace/internal/synth"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

// The sizes of the kernels' operands: in the first- and second-level cache of today's processors, and in memory. They
// are the same on every computer.
const (
	features   = 28
	cachedRows = 1024      // 128 KiB
	memoryRows = 1_000_000 // 122 MiB
	vector     = 2048
)

// data is the data of the items. Each field is filled when the first item needs it.
type data struct {
	ctx     context.Context
	dir     string // folder of temporary files
	workers int
	rows    map[rowsKey]*block.Data
	floats  []float32         // normal numbers, enough for the longest vector
	hashes  map[string]string // hashes of each learner's model file
}

// A rowsKey identifies rows: noisy rows, or rows of a conjunction.
type rowsKey struct {
	rows        int64
	conjunction int
}

// noisy returns rows of normal features; a tenth of the labels is flipped.
func (d *data) noisy(rows int64) *block.Data { return d.get(rowsKey{rows, 0}) }

func (d *data) get(k rowsKey) *block.Data {
	if d.rows[k] == nil {
		o := synth.Options{Rows: k.rows, Features: features, Conjunction: k.conjunction, Seed: 1}
		if k.conjunction == 0 {
			o.Noise = 0.1
		}
		d.rows[k] = synth.Blocks(o)
		for b := range d.rows[k].Blocks(context.Background()) {
			for r := 0; k.conjunction > 0 && r < b.Len(); r++ {
				for c, x := range b.X[r*b.Stride:][:features] {
					b.X[r*b.Stride+c] = (x + 1) / 2 // 0 or 1, which Winnow learns from
				}
			}
		}
	}
	return d.rows[k]
}

// place returns the name of the smallest cache of this computer that holds that many bytes, or DRAM.
func place(bytes float64) string { return limits.Detected().Level(int(bytes)) }

// calls returns an item of a kernel on one core. Its bytes lie in the smallest cache that holds them. name begins with
// the name of the function.
func calls(name string, bytes, flops float64, float string, f func()) *Item {
	i := &Item{Group: Kernels, Name: name, Cores: 1, Bytes: bytes, Flops: flops, memory: place(bytes), float: "FMA-" + float,
		run: func() error { f(); return nil }}
	function, _, _ := strings.Cut(name, "/")
	return i.on(function)
}

// on sets the item's level: the instruction set of the code that these functions of package asm run at the active
// level.
func (i *Item) on(functions ...string) *Item {
	i.Level = microkernel.Form(functions...).String()
	return i
}

// kernels returns the kernel items on one core.
func (d *data) kernels() []*Item {
	all := slices.Concat(vectors(), d.rowKernels(), d.shuffled(), elementary(), tiles())
	return append(all, d.inMemory()...)
}

// normals returns n normal numbers.
func normals[T float32 | float64](n int) []T {
	rng := rand.New(rand.NewPCG(1, 1))
	x := block.Alloc[T](n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// vectors returns the kernels of two vectors in the first-level cache.
func vectors() []*Item {
	const n, wide = vector, vector / 2
	x, y := normals[float32](n), normals[float32](n)
	u, v := normals[float64](wide), normals[float64](wide)
	name, wideName := fmt.Sprintf("/type=float32/n=%d", n), fmt.Sprintf("/type=float64/n=%d", wide)
	return []*Item{
		calls("Dot"+name, 2*n*4, 2*n, "float32", func() { kernel.Dot(x, y) }),
		calls("Axpy"+name, 2*n*4, 2*n, "float32", func() { kernel.Axpy(y, 1e-9, x) }),
		calls("Dot"+wideName, 2*wide*8, 2*wide, "float64", func() { f64.Dot(u, v) }),
		calls("Axpy"+wideName, 2*wide*8, 2*wide, "float64", func() { f64.Axpy(v, 1e-9, u) }),
	}
}

// rowKernels returns the kernels of rows, in the second-level cache and in memory.
func (d *data) rowKernels() []*Item {
	var all []*Item
	for _, n := range []int64{cachedRows, memoryRows} {
		const cols, stride = features + 1, 32
		name := fmt.Sprintf("/type=float32/rows=%d/d=%d", n, features)
		w, out, log := normals[float32](stride), make([]float32, 4096), make([]uint32, 4096)
		clear(w[cols:])
		bytes, flops := float64(n)*stride*4, 2*float64(n)*cols
		all = append(all,
			calls("Scores"+name, bytes, flops, "float32", func() {
				d.panels(n, func(x, y []float32) { kernel.Scores(out[:len(y)], x, w) })
			}),
			calls("Epoch"+name, bytes+float64(n)*4, flops, "float32", func() {
				d.panels(n, func(x, y []float32) { kernel.Epoch(w, log, x, y, 1, 0) })
			}))
	}
	const candidates, rows = 64, 256
	c, counts := kernel.NewCandidates(normals[float32](candidates*32), features+1), make([]int64, candidates)
	return append(all, calls(fmt.Sprintf("Errors/type=float32/rows=%d/candidates=%d/d=%d", rows, candidates, features), rows*32*4, 2*rows*candidates*(features+1), "float32", func() {
		d.panels(rows, func(x, y []float32) { c.Errors(counts, x, y) })
	}).on("Bounds"))
}

// panels calls f with panels of the first n noisy rows.
func (d *data) panels(n int64, f func(x, y []float32)) {
	for b := range d.noisy(max(n, cachedRows)).Blocks(context.Background()) { // in memory: Blocks gives no error
		panel := kernel.PanelRows(b.Stride)
		for lo := 0; lo < b.Len() && b.First+int64(lo) < n; lo += panel {
			hi := min(b.Len(), lo+panel, int(n-b.First))
			f(b.X[lo*b.Stride:hi*b.Stride], b.Y[lo:hi])
		}
	}
}

// elementary returns the kernels of elementary functions. Flops are the operations of asm/ref; a fused multiply-add
// counts as two.
func elementary() []*Item {
	const n, ofExp, ofSigmoid, ofLog1p, ofLogistic = 1024, 38, 40, 34, 80
	x, y, labels := normals[float64](n), make([]float64, n), make([]float64, n)
	z, factor, curvature, loss := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	size := make([]float64, n)
	for i, v := range x {
		labels[i], size[i] = math.Copysign(1, v), math.Abs(v)
	}
	name := fmt.Sprintf("/type=float64/n=%d", n)
	return []*Item{
		calls("Exp"+name, 2*n*8, ofExp*n, "float64", func() { f64.Exp(y, x) }),
		calls("Sigmoid"+name, 2*n*8, ofSigmoid*n, "float64", func() { f64.Sigmoid(y, x) }),
		calls("Log1p"+name, 2*n*8, ofLog1p*n, "float64", func() { f64.Log1p(y, size) }),
		calls("Logistic"+name, 5*n*8, ofLogistic*n, "float64", func() { copy(z, x); f64.Logistic(z, factor, curvature, loss, labels) }),
	}
}

// tiles returns the micro-kernels of matrix products, whose panels fit the second-level cache.
func tiles() []*Item {
	const depth, panels, rows, cols = 256, 16, 32, microkernel.BlockCols
	mr, nr := microkernel.TileShape()
	a, b, c := normals[float32](panels*mr*depth), normals[float32](nr*depth), make([]float32, panels*mr*nr)
	products := float64(panels * mr * nr * depth)
	u, sums := normals[float64](rows*cols), make([]float64, cols*cols)
	return []*Item{
		calls("Tile/type=float32", 4*float64(len(a)+len(b)+2*len(c)), 2*products, "float32", func() { microkernel.Tile(c, nr, 0, a, b, true) }),
		calls(fmt.Sprintf("RankKUpdate/type=float64/rows=%d", rows), (2*rows+2*cols)*cols*8, 2*rows*cols*cols, "float64", func() {
			microkernel.RankKUpdate(sums, u, u, cols, true)
		}),
	}
}

// inMemory returns the kernels that move vectors and columns.
func (d *data) inMemory() []*Item {
	const n, panel = 1 << 24, 1 << 15
	vectors := func() (x, y []float32) {
		if d.floats == nil {
			d.floats = normals[float32](2 * n)
		}
		return d.floats[:n], d.floats[n:]
	}
	each := func(f func(x, y []float32)) {
		x, y := vectors()
		for lo := 0; lo < n; lo += panel {
			f(x[lo:lo+panel], y[lo:lo+panel])
		}
	}
	copied := calls(fmt.Sprintf("CopyNonTemporal/type=float32/n=%d", n), n*4, 0, "float32", func() { each(func(x, y []float32) { microkernel.CopyNonTemporal(y, x) }) })
	all := []*Item{calls(fmt.Sprintf("Dot/type=float32/n=%d", n), 2*n*4, 2*n, "float32", func() {
		each(func(x, y []float32) { kernel.Dot(x, y) })
	}), copied}
	for _, rows := range []int{256, 1 << 19} {
		const cols, stride = features + 1, 32
		var dst []float32
		all = append(all, calls(fmt.Sprintf("Transpose/type=float32/rows=%d/d=%d", rows, features), float64(rows)*(cols+stride)*4, 0, "float32", func() {
			x, _ := vectors()
			if dst == nil {
				dst = block.Alloc[float32](rows * stride)
			}
			columns, spacing := make([][]float32, cols), rows+3*16 // equal offsets in a page would compete for cache sets
			for lo := 0; lo < rows; lo += 256 {
				for c := range columns {
					columns[c] = x[c*spacing+lo:][:256]
				}
				kernel.Transpose(dst[lo*stride:(lo+256)*stride], stride, columns)
			}
		}))
	}
	return all
}

// matrices returns the products of matrices on all cores.
func (d *data) matrices() []*Item {
	const n, depth, scattered = 1024, 512, 400_000
	var x *gram.Rows
	m, err := gram.NewSymmetric(n, gram.Packed)
	products := &Item{Group: Kernels, Name: fmt.Sprintf("Gram/type=float32/n=%d/d=%d", n, depth), Cores: d.workers, Bytes: n*depth*4 + n*n/2*4, memory: "L3",
		Flops: n * n * depth, float: "FMA-float32", run: func() error {
			if x == nil {
				x = gram.Dense(normals[float32](n*depth), n, depth, depth)
			}
			if err != nil {
				return err
			}
			return gram.Gram(d.ctx, m, x, gram.Kernel{}, d.workers)
		}}
	s, sErr := gram.NewTriangle(features + 1)
	bytes := float64(scattered) * 32 * 4
	scatter := &Item{Group: Kernels, Name: fmt.Sprintf("Scatter/type=float32/rows=%d/d=%d", scattered, features), Cores: d.workers, Bytes: bytes, memory: place(bytes),
		Flops: scattered * (features + 1) * (features + 2), float: "FMA-float64", run: func() error {
			if sErr != nil {
				return sErr
			}
			return gram.Scatter(d.ctx, s, d.noisy(scattered), nil, d.workers)
		}}
	return []*Item{products.on("Tile"), scatter.on("RankKUpdate")}
}
