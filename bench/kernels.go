package bench

import (
	"context"
	"fmt"
	"strings"

	"halfspace/block"
	"halfspace/gram"
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

// place returns the name of the smallest cache of this computer that holds that many bytes, or DRAM.
func place(bytes float64) string { return DetectedCaches().Level(int(bytes)) }

// kernels returns the loops as items of one core. Their bytes lie in the smallest cache that holds them.
func (d *data) kernels() (all []*Item) {
	for _, l := range d.All() {
		if l.Bytes == 0 {
			continue
		}
		i := &Item{Group: Kernels, Name: l.Name, Cores: 1, Bytes: l.Bytes, Flops: l.Flops, memory: place(l.Bytes), float: "FMA-float32",
			run: func() error { l.Run(); return nil }}
		if strings.Contains(l.Name, "float64") {
			i.float = "FMA-float64"
		}
		all = append(all, i.on(l.Function()))
	}
	return all
}

// on sets the item's level: the instruction set of the code that a kernel runs at the active level.
func (i *Item) on(function string) *Item {
	i.Level = microkernel.Form(function).String()
	return i
}

// matrices returns the products of matrices on all cores.
func (d *data) matrices() []*Item {
	const n, depth, scattered = 1024, 512, 400_000
	var x *gram.Rows
	m, err := gram.NewSymmetric(n, gram.Packed)
	products := &Item{Group: Kernels, Name: fmt.Sprintf("Gram/type=float32/n=%d/d=%d", n, depth), Cores: d.workers, Bytes: n*depth*4 + n*n/2*4, memory: "L3",
		Flops: n * n * depth, float: "FMA-float32", run: func() error {
			if err != nil {
				return err
			}
			if x == nil {
				x = gram.Dense(normals[float32](n*depth), n, depth, depth)
			}
			return gram.Gram(d.ctx, m, x, gram.Kernel{}, d.workers)
		}}
	s, sErr := gram.NewTriangle(features + 1)
	const bytes = scattered * 32 * 4
	scatter := &Item{Group: Kernels, Name: fmt.Sprintf("Scatter/type=float32/rows=%d/d=%d", scattered, features), Cores: d.workers, Bytes: bytes, memory: place(bytes),
		Flops: scattered * (features + 1) * (features + 2), float: "FMA-float64", run: func() error {
			if sErr != nil {
				return sErr
			}
			return gram.Scatter(d.ctx, s, d.Noisy(scattered, features), nil, d.workers)
		}}
	return []*Item{products.on("Tile"), scatter.on("RankKUpdate")}
}
