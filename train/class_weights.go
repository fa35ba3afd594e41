package train

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/predict"
	"halfspace/schema"
)

// ClassCounts returns how many rows each class of src has, in the order of its spec. Sample weights don't matter. It
// makes a pass over the rows. It is an error if a label stands for no class.
func ClassCounts(ctx context.Context, src block.Source, workers int) ([]int64, error) {
	spec, err := block.SpecOf(src)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(spec.Classes))
	var unknown error // the first
	err = passes.Reduce(ctx, src, workers, countPass, struct{}{}, countRun(src, struct{}{}), func(f counted) {
		unknown = cmp.Or(unknown, f.err)
		for c := range counts {
			if f.err == nil {
				counts[c] += f.n[c]
			}
		}
	})
	return counts, cmp.Or(err, unknown)
}

// countPass is the pass of ClassCounts.
var countPass = passes.NewPerRun("train.classes", countRun)

// counted is how many rows of each class a run has, or an error.
type counted struct {
	n   []int64
	err error
}

// countRun returns what counts the rows of each class in a run.
func countRun(src block.Source, _ struct{}) func(block.Run) counted {
	spec := src.Spec()
	return func(run block.Run) (f counted) {
		if f.err = run.CheckLabels(spec.Vectors()); f.err != nil {
			return f
		}
		f.n = make([]int64, max(2, len(spec.Classes))) // a spec may name fewer than two classes
		for _, y := range run.Y {
			f.n[ClassOf(y, spec)]++
		}
		return f
	}
}

// BalancedWeights returns a weight for each class of src, in the order of its spec, so that all classes have the same
// total. It is n/(k m) for a class of m rows, among n rows of k classes. BalancedWeights counts rows and ignores sample
// weights, as scikit-learn's "balanced" does. A class without rows has the weight 1. BalancedWeights makes a pass over
// the rows.
func BalancedWeights(ctx context.Context, src block.Source, workers int) ([]float64, error) {
	counts, err := ClassCounts(ctx, src, workers)
	if err != nil {
		return nil, err
	}
	present := int64(0)
	for _, n := range counts {
		if n > 0 {
			present++
		}
	}
	weights := make([]float64, len(counts))
	for c, n := range counts {
		if weights[c] = 1; n > 0 {
			weights[c] = float64(src.Rows()) / float64(present*n)
		}
	}
	return weights, nil
}

// ClassOf returns the number of the class of a row with label y.
func ClassOf(y float32, spec *schema.Spec) int {
	if len(spec.Classes) > 2 {
		return int(y)
	}
	return predict.Class(y, spec.PositiveClass())
}

// WithClassWeights returns the rows of src, each with its sample weight times the weight of its class. classes has a
// weight for each class of src, in the order of its spec. The result is data in memory if src is, and shares all but
// the weights with it. It is a block.Seekable if src is one. A row whose label stands for no class gets the weight NaN,
// which a training refuses.
func WithClassWeights(src block.Source, classes []float64) block.Source {
	spec := *src.Spec()
	spec.Weighted = true
	w := &reweighted{src, &spec, classes}
	switch src := src.(type) {
	case *block.Data:
		var blocks []*block.Block
		for b := range src.Blocks(context.Background()) {
			blocks = append(blocks, w.reweight(b, make([]float64, b.Len())))
		}
		return block.NewData(&spec, blocks)
	case block.Seekable:
		return reweightedFile{w, src}
	}
	return w
}

// A reweighted source is another source with other sample weights.
type reweighted struct {
	block.Source
	spec    *schema.Spec
	classes []float64
}

func (w *reweighted) Spec() *schema.Spec { return w.spec }

const classWeightsView = "train.class-weights"

func init() { passes.NewView(classWeightsView, reweigh) }

func reweigh(src block.Source, classes []float64, _ int) block.Source {
	return WithClassWeights(src, classes)
}

// Remote returns the cluster of the rows; see block.Remote.
func (w *reweighted) Remote() (block.Cluster, []block.View) {
	return passes.Changed(w.Source, classWeightsView, w.classes)
}

// reweight returns the block with its new sample weights, which it writes to buf. buf may be the block's own weights.
func (w *reweighted) reweight(b *block.Block, buf []float64) *block.Block {
	c := *b
	c.W = buf[:b.Len()]
	for r, y := range b.Y {
		weight := math.NaN()
		if class := ClassOf(y, w.spec); class >= 0 && class < len(w.classes) {
			weight = w.classes[class]
		}
		if b.W != nil {
			weight *= b.W[r]
		}
		c.W[r] = weight
	}
	return &c
}

func (w *reweighted) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLoan(w.Lend(ctx))
}

// Lend is Blocks for users of several blocks at once. See block.Lender.
func (w *reweighted) Lend(ctx context.Context) iter.Seq2[block.Loan, error] {
	return block.Change(ctx, w.Source, func(b, spare *block.Block) (*block.Block, error) {
		var weights []float64
		if spare != nil {
			weights = spare.W[:cap(spare.W)]
		}
		if len(weights) < b.Len() {
			weights = make([]float64, b.Len())
		}
		return w.reweight(b, weights), nil
	})
}

// A reweightedFile reads its rows in any order.
type reweightedFile struct {
	*reweighted
	file block.Seekable
}

func (f reweightedFile) Sparse() bool { return f.file.Sparse() }

func (f reweightedFile) ReadChunk(c int, to *block.Block) error {
	rows := min(kernel.ChunkRows, f.Rows()-int64(c)*kernel.ChunkRows)
	return f.read(int(rows), to, func(to *block.Block) error { return f.file.ReadChunk(c, to) })
}

func (f reweightedFile) ReadRows(rows []uint32, to *block.Block) error {
	return f.read(len(rows), to, func(to *block.Block) error { return f.file.ReadRows(rows, to) })
}

// read reads rows to the front of a block and sets their sample weights.
func (f reweightedFile) read(rows int, to *block.Block, read func(to *block.Block) error) error {
	b := *to
	if !f.file.Sparse() {
		b = *to.Slice(0, rows)
	}
	if !f.file.Spec().Weighted {
		b.W = nil
	}
	if err := read(&b); err != nil {
		return err
	}
	if f.file.Sparse() {
		to.Y, to.W = b.Y, slices.Grow(to.W[:0], rows)[:rows]
	}
	f.reweight(&b, to.W)
	return nil
}
