package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/microkernel"
)

const features = 28 // of all rows; with the bias and padding a row has 32 numbers

// data is the data of the items. Each field is filled when the first item needs it.
type data struct {
	loopData
	ctx     context.Context
	dir     string // folder of temporary files
	workers int
	binary  map[int]*block.Data // rows of a conjunction, by its number of variables
	hashes  map[string]string   // hashes of each learner's model file
}

func newData(ctx context.Context, dir string, workers int) *data {
	return &data{ctx: ctx, dir: dir, workers: workers, binary: map[int]*block.Data{}, hashes: map[string]string{}}
}

// conjunction returns rows of features 0 and 1, which Winnow learns from.
func (d *data) conjunction(rows, variables int) *block.Data {
	if d.binary[variables] == nil {
		made := SyntheticRows(Synthetic{Rows: int64(rows), Features: features, Conjunction: variables, Seed: 1})
		for b := range made.Blocks(context.Background()) { // in memory: Blocks gives no error
			for r := range b.Len() {
				for c, x := range b.X[r*b.Stride:][:features] {
					b.X[r*b.Stride+c] = (x + 1) / 2
				}
			}
		}
		d.binary[variables] = made
	}
	return d.binary[variables]
}

// bandwidth returns the limit of work that reads that many bytes: the bandwidth of the smallest cache of this computer
// that holds the bytes, or of memory.
func bandwidth(bytes float64) func(Rates) float64 {
	level := DetectedCaches().Level(int(bytes))
	return func(l Rates) float64 { return l.Bandwidth(level) }
}

func fmaF32(l Rates) float64 { return l.FMAF32 }
func fmaF64(l Rates) float64 { return l.FMAF64 }

// kernels returns the loops as items of one core. Their bytes lie in the smallest cache that holds them.
func (d *data) kernels() (all []*item) {
	for _, l := range d.Loops() {
		if l.Bytes == 0 {
			continue
		}
		i := &item{group: "kernel", name: l.Name, level: microkernel.Form(l.Function()), cores: 1, bytes: l.Bytes, flops: l.Flops,
			run: func() (time.Duration, error) { l.Run(); return 0, nil }}
		switch {
		case l.Flops <= l.Bytes:
			i.limit = bandwidth(l.Bytes)
		case strings.Contains(l.Name, "float64"):
			i.limit = fmaF64
		default:
			i.limit = fmaF32
		}
		all = append(all, i)
	}
	return all
}

// matrices returns the products of matrices on all cores.
func (d *data) matrices() []*item {
	const n, depth, scattered = 1024, 512, 400_000
	var x *gram.Rows
	m, err := gram.NewSymmetric(n, gram.Packed)
	products := &item{group: "kernel", name: fmt.Sprintf("Gram/type=float32/n=%d/d=%d", n, depth),
		level: microkernel.Form("Tile"), cores: d.workers,
		flops: n * n * depth, limit: fmaF32, run: func() (time.Duration, error) {
			if err != nil {
				return 0, err
			}
			if x == nil {
				x = gram.Dense(normals[float32](n*depth), n, depth, depth)
			}
			return 0, gram.Gram(d.ctx, m, x, gram.Kernel{}, d.workers)
		}}
	s, sErr := gram.NewTriangle(features + 1)
	scatter := &item{group: "kernel", name: fmt.Sprintf("Scatter/type=float32/rows=%d/d=%d", scattered, features),
		level: microkernel.Form("RankKUpdate"), cores: d.workers,
		flops: scattered * (features + 1) * (features + 2), limit: fmaF64, run: func() (time.Duration, error) {
			if sErr != nil {
				return 0, sErr
			}
			return 0, gram.Scatter(d.ctx, s, d.NoisyRows(scattered, features), nil, d.workers)
		}}
	return []*item{products, scatter}
}
