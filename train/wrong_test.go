package train_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/separable"
	"halfspace/train"
	"halfspace/train/dual"
	"halfspace/train/lda"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

// A program is a source that a program wrote by itself.
type program struct {
	spec   *schema.Spec
	rows   int64
	blocks []*block.Block[float32]
}

func (p *program) Spec() *schema.Spec { return p.spec }
func (p *program) Rows() int64        { return p.rows }
func (p *program) Blocks(context.Context) iter.Seq2[*block.Block[float32], error] {
	return func(yield func(*block.Block[float32], error) bool) {
		for _, b := range p.blocks {
			if !yield(b, nil) {
				return
			}
		}
	}
}

// data returns the same blocks in memory.
func (p *program) data() *block.Data[float32] { return block.NewData(p.spec, p.blocks) }

// A seekable program reads its rows in any order, from what blocks yield.
type seekable struct{ *program }

func (s seekable) ReadRows(rows []uint32, to *block.Block[float32]) error {
	for i, r := range rows {
		for _, b := range s.blocks {
			if at := int64(r) - b.First; at >= 0 && at < int64(b.Len()) {
				copy(to.X[i*to.Stride:(i+1)*to.Stride], b.X[int(at)*b.Stride:])
				if to.Y[i] = 0; int(at) < len(b.Y) {
					to.Y[i] = b.Y[at]
				}
				if to.W != nil && int(at) < len(b.W) {
					to.W[i] = b.W[at]
				}
			}
		}
	}
	return nil
}

func (s seekable) ReadChunk(c int, to *block.Block[float32]) error {
	var rows []uint32
	for r := range min(int64(to.Len()), s.rows-int64(c)*kernel.ChunkRows) {
		rows = append(rows, uint32(int64(c)*kernel.ChunkRows+r))
	}
	return s.ReadRows(rows, to)
}

// programRows returns right rows of three Boolean features and a bias, in blocks of a run, with weights if asked for.
func programRows(rows, classes int, weighted bool) *program {
	spec := &schema.Spec{Features: []string{"a", "b", "c"}, Bias: true, Label: "y", Weighted: weighted}
	for c := range classes {
		spec.Classes = append(spec.Classes, schema.IntClass(int64(c)))
	}
	p := &program{spec: spec, rows: int64(rows)}
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(classes)))
	for first := 0; first < rows; first += block.RunRows {
		b := block.NewFor[float32](spec, int64(first), min(block.RunRows, rows-first))
		for r := range b.Len() {
			row := b.X[r*b.Stride:]
			for c := range 3 {
				row[c] = float32(rng.IntN(2))
			}
			row[3] = 1
			if class := int(row[0]+row[1]) % classes; rng.IntN(20) > 0 {
				b.Y[r] = float32(class)
			} else {
				b.Y[r] = float32(rng.IntN(classes))
			}
			if classes == 2 {
				b.Y[r] = 2*b.Y[r] - 1
			}
			if weighted {
				b.W[r] = float64(1 + rng.IntN(3))
			}
		}
		p.blocks = append(p.blocks, b)
	}
	return p
}

// A learnerCase is a learner with some options. It returns the numbers that it learned.
type learnerCase struct {
	name      string
	classes   []int // that it takes
	weights   bool  // it takes weights of rows
	memory    bool  // it takes rows in memory only
	order     bool  // it visits rows in another order
	unlearned bool  // it learns nothing, and takes any number of classes up to two
	learn     func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error)
}

func wide(w []float32) (out []float64) {
	for _, v := range w {
		out = append(out, float64(v))
	}
	return out
}

func learnerCases() []learnerCase {
	walk := func(opt perceptron.Options, order train.Order) func(context.Context, block.Source[float32], int) ([]float64, error) {
		return func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			opt := opt
			opt.Options = train.Options{Order: order, Epochs: 2, Workers: workers}
			if opt.Form == train.Voted {
				opt.MaxUpdates = 200
			}
			r, err := perceptron.Train(ctx, src, opt)
			if err != nil {
				return nil, err
			}
			return append(wide(r.Weights), float64(r.Errors), r.Margin, r.Radius), nil
		}
	}
	log := func(solver logistic.Solver) func(context.Context, block.Source[float32], int) ([]float64, error) {
		return func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			r, err := logistic.Train(ctx, src, logistic.Options{Options: train.Options{Workers: workers, Epochs: 20}, L2: 1, Solver: solver})
			if err != nil {
				return nil, err
			}
			return r.Exact, nil
		}
	}
	vectors := func(loss svm.Loss) func(context.Context, block.Source[float32], int) ([]float64, error) {
		return func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			r, err := svm.Train(ctx, src, svm.Options{Options: train.Options{Workers: workers, Epochs: 20}, Loss: loss})
			if err != nil {
				return nil, err
			}
			return r.Exact, nil
		}
	}
	discriminant := func(shrinkage float64) func(context.Context, block.Source[float32], int) ([]float64, error) {
		return func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			r, err := lda.Train(ctx, src, lda.Options{Options: train.Options{Workers: workers}, Shrinkage: shrinkage})
			if err != nil {
				return nil, err
			}
			return r.Exact, nil
		}
	}
	two, any := []int{2}, []int{2, 3}
	return []learnerCase{
		{"perceptron", any, true, false, false, false, walk(perceptron.Options{}, train.Cyclic)},
		{"perceptron shuffle", any, true, false, true, false, walk(perceptron.Options{}, train.Shuffle)},
		{"perceptron random", any, true, false, true, false, walk(perceptron.Options{}, train.Random)},
		{"averaged", any, true, false, false, false, walk(perceptron.Options{Form: train.Averaged}, train.Cyclic)},
		{"averaged fixed-shuffle", any, true, false, true, false, walk(perceptron.Options{Form: train.Averaged}, train.FixedShuffle)},
		{"voted", two, true, false, false, false, walk(perceptron.Options{Form: train.Voted}, train.Cyclic)},
		{"pocket", two, true, false, false, false, walk(perceptron.Options{Pocket: pocket.Epoch}, train.Cyclic)},
		{"winnow", two, false, false, false, false, func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			r, err := winnow.Train(ctx, src, winnow.Options{Options: train.Options{Workers: workers, Epochs: 2}, Variant: winnow.Balanced})
			if err != nil {
				return nil, err
			}
			return wide(r.Weights), nil
		}},
		{"newton", two, true, false, false, false, log(logistic.Newton)},
		{"lbfgs", any, true, false, false, false, log(logistic.LBFGS)},
		{"sgd", any, true, false, false, false, log(logistic.SGD)},
		{"squared hinge", two, true, false, false, false, vectors(svm.SquaredHinge)},
		{"hinge", two, true, false, false, false, vectors(svm.Hinge)},
		{"lda", any, true, false, false, false, discriminant(0)},
		{"lda shrunk", any, true, false, false, false, discriminant(lda.LedoitWolf)},
		{"dual", any, true, true, false, false, func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			r, err := dual.Train(ctx, src.(*block.Data[float32]), dual.Options{Options: train.Options{Workers: workers, Epochs: 2}, Memory: 1 << 20})
			if err != nil {
				return nil, err
			}
			return wide(r.Weights), nil
		}},
		{"separable", two, false, false, false, true, func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			r, err := separable.Check(ctx, src, separable.Options{Workers: workers})
			if err != nil {
				return nil, err
			}
			return []float64{r.Radius, float64(r.Passes), float64(len(r.Verdict))}, nil
		}},
		{"pocket.Errors", two, false, false, false, true, func(ctx context.Context, src block.Source[float32], workers int) ([]float64, error) {
			w := make([]float32, 16)
			w[0], w[8], w[11] = 1, -1, 0.5
			counts, err := pocket.Errors(ctx, src, w, workers)
			if err != nil {
				return nil, err
			}
			return []float64{float64(counts[0]), float64(counts[1])}, nil
		}},
	}
}

// takes tells whether the learner takes such rows at all.
func (l learnerCase) takes(classes int, weighted bool) bool {
	return slices.Contains(l.classes, classes) && (l.weights || !weighted)
}

// sources returns rows in each form that the learner takes.
func (l learnerCase) sources(p *program) map[string]block.Source[float32] {
	forms := map[string]block.Source[float32]{"memory": p.data()}
	if !l.memory {
		forms["seekable"] = seekable{p}
		if !l.order {
			forms["stream"] = p
		}
	}
	return forms
}

// streamed marks defects of rows as a whole, which a *block.Data can't have.
const streamed = true

// defects are ways for rows to be wrong, and what the error says.
var defects = []struct {
	name, want        string
	classes           int
	weighted, streams bool
	spoil             func(p *program)
}{
	{"uneven blocks", "multiple of 4096 rows", 2, false, false, func(p *program) { p.cut(0, 4000) }},
	{"uneven blocks of weighted rows", "multiple of 4096 rows", 2, true, false, func(p *program) { p.cut(1, 4) }},
	{"uneven blocks of classes", "multiple of 4096 rows", 3, false, false, func(p *program) { p.cut(0, 1) }},
	{"First of zero", "block 1: its First is 0, and the blocks before it have 4096 rows", 2, false, false, func(p *program) { p.blocks[1].First = 0 }},
	{"First beyond", "its First is 1000", 2, false, false, func(p *program) { p.blocks[2].First = 1000000 }},
	{"First not of zero", "block 0: its First is 8", 2, false, false, func(p *program) { p.blocks[0].First = 8 }},
	{"stride", "its stride is 16, and that of 4 columns is 8", 2, false, false, func(p *program) { p.blocks[1].Stride = 16 }},
	{"stride of zero", "its stride is 0", 2, false, false, func(p *program) { p.blocks[1].Stride, p.blocks[1].First = 0, 4096 }},
	{"stride of columns", "its stride is 4", 2, false, false, func(p *program) { p.blocks[0].Stride = 4 }},
	{"columns", "it has 3 columns, and 4 are described", 2, false, false, func(p *program) { p.blocks[1].Cols = 3 }},
	{"too many features", "4 columns, and 5 are described", 2, false, false, func(p *program) { p.spec.Features = append(p.spec.Features, "d") }},
	{"part of a row", "whole rows", 2, false, false, func(p *program) { p.blocks[1].X = p.blocks[1].X[:8*4096-3] }},
	{"nil block", "block 1: it is nil", 2, false, false, func(p *program) { p.blocks[1] = nil }},
	{"block without rows", "its stride is 0", 2, false, false, func(p *program) { p.blocks[1] = &block.Block[float32]{Cols: 4, First: 4096} }},
	{"short labels", "4095 labels for 4096 rows", 2, false, false, func(p *program) { p.blocks[1].Y = p.blocks[1].Y[:4095] }},
	{"short labels of classes", "4000 labels for 4096 rows", 3, false, false, func(p *program) { p.blocks[0].Y = p.blocks[0].Y[:4000] }},
	{"no labels", "no labels", 2, false, false, func(p *program) { p.blocks[1].Y = nil }},
	{"no labels of classes", "no labels", 3, false, false, func(p *program) { p.blocks[0].Y = nil }},
	{"labels 0 and 1", "the label is 0, and labels other than -1 and +1", 2, false, false, func(p *program) { p.relabel(func(y float32) float32 { return max(0, y) }) }},
	{"labels 1 and 2", "the label is 2, and labels other than -1 and +1", 2, false, false, func(p *program) { p.relabel(func(y float32) float32 { return (y + 3) / 2 }) }},
	{"label NaN", "the label is NaN", 2, false, false, func(p *program) { p.blocks[2].Y[5] = float32(math.NaN()) }},
	{"label near 1", "other than -1 and +1", 2, false, false, func(p *program) { p.blocks[0].Y[5] = math.Nextafter32(1, 2) }},
	{"class numbers from 1", "block 0, row", 3, false, false, func(p *program) { p.relabel(func(y float32) float32 { return y + 1 }) }},
	{"class number beyond", "the label is 3, and labels other than the class numbers 0 to 2", 3, false, false, func(p *program) { p.blocks[1].Y[7] = 3 }},
	{"class number below", "block 1, row 4103: the label is -1", 3, false, false, func(p *program) { p.blocks[1].Y[7] = -1 }},
	{"class number between", "the label is 0.5", 3, false, false, func(p *program) { p.blocks[2].Y[0] = 0.5 }},
	{"class number NaN", "the label is NaN", 3, false, false, func(p *program) { p.blocks[0].Y[0] = float32(math.NaN()) }},
	{"short weights", "4095 weights for 4096 rows", 2, true, false, func(p *program) { p.blocks[1].W = p.blocks[1].W[1:] }},
	{"no weights", "Spec.Weighted is true", 2, true, false, func(p *program) { p.blocks[1].W = nil }},
	{"no weights of the first block", "Spec.Weighted is true", 2, true, false, func(p *program) { p.blocks[0].W = nil }},
	{"weights that Spec doesn't tell of", "Spec.Weighted is false", 2, true, false, func(p *program) { p.spec.Weighted = false }},
	{"negative weight", "row 5000: the weight is -1", 2, true, false, func(p *program) { p.blocks[1].W[5000-4096] = -1 }},
	{"weight NaN", "the weight is NaN", 2, true, false, func(p *program) { p.blocks[1].W[0] = math.NaN() }},
	{"infinite weight", "the weight is +Inf", 2, true, false, func(p *program) { p.blocks[2].W[0] = math.Inf(1) }},
	{"dirty padding", "element 7 of it is 3, after its 4 columns", 2, false, false, func(p *program) { p.blocks[1].X[8*9+7] = 3 }},
	{"bias in the padding", "(the bias): it is 0", 2, false, false, func(p *program) { p.bias(0, 1) }},
	{"no bias", "row 0, column 3 (the bias): it is 0", 2, false, false, func(p *program) { p.bias(0, 0) }},
	{"scaled bias", "(the bias): it is 0.5", 3, false, false, func(p *program) { p.bias(0.5, 0) }},
	{"feature NaN", `block 2, row 8195, column 1 ("b"): NaN is not a finite number`, 2, false, false, func(p *program) { p.blocks[2].X[8*3+1] = float32(math.NaN()) }},
	{"infinite feature", "-Inf is not a finite number", 3, false, false, func(p *program) { p.blocks[0].X[0] = float32(math.Inf(-1)) }},
	{"dense and sparse blocks", "all blocks have one form", 2, false, false, func(p *program) { p.sparse(1) }},
	{"sparse column beyond", "has column 4 after", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Idx[9] = 4 }},
	{"sparse column far beyond", "columns ascend from 0 to 3", 3, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[2].Sparse.Idx[9] = 1 << 31 }},
	{"sparse column twice", "columns ascend from 0 to 3", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Idx[1] = p.blocks[1].Sparse.Idx[0] }},
	{"sparse rows turned round", "its row", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Ptr[5] = 1 << 40 }},
	{"short sparse values", "columns for", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Val = p.blocks[1].Sparse.Val[:7] }},
	{"sparse rows without a bias", "(the bias): it is 0", 2, false, false, func(p *program) {
		p.bias(0, 0)
		p.sparse(0, 1, 2)
	}},
	{"sparse feature NaN", "NaN is not a finite number", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[0].Sparse.Val[0] = float32(math.NaN()) }},
	{"no Spec", "no Spec", 2, false, false, func(p *program) { p.spec = nil }},
	{"no columns", "no columns", 2, false, false, func(p *program) { p.spec.Features, p.spec.Bias = nil, false }},
	{"no classes", "Spec.Classes", 2, false, false, func(p *program) { p.spec.Classes = nil }},
	{"one class", "only class", 2, false, false, func(p *program) { p.spec.Classes = p.spec.Classes[:1] }},
	{"positive class beyond", "Spec.Positive is 2", 2, false, false, func(p *program) { p.spec.Positive = 2 }},
	{"unknown number of rows", "says that it has -1", 2, false, streamed, func(p *program) { p.rows = -1 }},
	{"fewer rows than it has", "the source has only", 2, false, streamed, func(p *program) { p.rows-- }},
	{"more rows than it has", "the source ended after 10000 of 10001 rows", 2, false, streamed, func(p *program) { p.rows++ }},
	{"fewer rows of classes", "the source has only", 3, false, streamed, func(p *program) { p.rows = 4096 }},
}

// cut makes two blocks of one, of which the first has so many rows.
func (p *program) cut(n, rows int) {
	b := p.blocks[n]
	p.blocks = slices.Replace(p.blocks, n, n+1, b.Slice(0, rows), b.Slice(rows, b.Len()))
}

func (p *program) relabel(f func(y float32) float32) {
	for _, b := range p.blocks {
		for r := range b.Y {
			b.Y[r] = f(b.Y[r])
		}
	}
}

// bias sets the bias, and the element after it.
func (p *program) bias(bias, padding float32) {
	for _, b := range p.blocks {
		for r := range b.Len() {
			b.X[r*b.Stride+3], b.X[r*b.Stride+4] = bias, padding
		}
	}
}

// sparse turns blocks into sparse ones.
func (p *program) sparse(blocks ...int) {
	for _, n := range blocks {
		b := p.blocks[n]
		s := &kernel.SparseRows[float32]{Ptr: []int64{0}}
		for r := range b.Len() {
			for c, v := range b.X[r*b.Stride:][:b.Cols] {
				if v != 0 {
					s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
				}
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		p.blocks[n] = &block.Block[float32]{First: b.First, Cols: b.Cols, Stride: b.Stride, Sparse: s, Y: b.Y, W: b.W}
	}
}

// TestWrongRows has every learner refuse every defect with its sentence, in memory, streamed and read in any order, with one worker and
// with three.
func TestWrongRows(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every learner many times, which tells the same of every CPU")
	}
	for _, l := range learnerCases() {
		t.Run(l.name, func(t *testing.T) {
			for _, d := range defects {
				if !l.takes(d.classes, d.weighted) || l.unlearned && (d.name == "no classes" || d.name == "one class") {
					continue
				}
				for _, form := range []string{"memory", "stream", "seekable"} {
					for _, workers := range []int{1, 3} {
						p := programRows(10000, d.classes, d.weighted)
						d.spoil(p)
						src := l.sources(p)[form]
						if src == nil || form == "memory" && d.streams || form == "seekable" && (p.blocks[1] == nil || p.blocks[1].Sparse != nil) {
							continue
						}
						w, err := l.learn(context.Background(), src, workers)
						named := form != "seekable" || !l.order // else the first wrong row that is read is named
						if err == nil || named && !strings.Contains(err.Error(), d.want) {
							t.Errorf("%s, %s, %d workers: learned %v, error %v, want %q", d.name, form, workers, w, err, d.want)
						}
					}
				}
			}
			for name, src := range map[string]block.Source[float32]{"nil": nil, "nil Data": (*block.Data[float32])(nil)} {
				if l.memory && src == nil {
					continue
				}
				if _, err := l.learn(context.Background(), src, 1); err == nil {
					t.Errorf("%s: no error", name)
				}
			}
		})
	}
}

// TestEmptyBlocks: blocks without rows, without labels and weights then, before, between and after others change nothing.
func TestEmptyBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every learner many times, which tells the same of every CPU")
	}
	for _, l := range learnerCases() {
		for _, classes := range l.classes {
			want, err := l.learn(context.Background(), l.sources(programRows(10000, classes, l.weights))["memory"], 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, form := range []string{"memory", "stream", "seekable"} {
				p := programRows(10000, classes, l.weights)
				for _, at := range []int{3, 1, 0} {
					first := min(int64(at)*block.RunRows, p.rows)
					p.blocks = slices.Insert(p.blocks, at, &block.Block[float32]{First: first, Cols: 4, Stride: 8})
				}
				p.blocks = p.blocks[:len(p.blocks)-1]
				src := l.sources(p)[form]
				if src == nil {
					continue
				}
				got, err := l.learn(context.Background(), src, 2)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, %d classes, %s: %v, error %v, want %v", l.name, classes, form, got, err, want)
				}
			}
		}
	}
}

// clone returns a deep copy.
func (p *program) clone() *program {
	spec := *p.spec
	c := &program{spec: &spec, rows: p.rows}
	for _, b := range p.blocks {
		c.blocks = append(c.blocks, b.Clone())
	}
	return c
}

// odd are values that a feature, a label, a weight or padding hardly should have.
var odd = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, -2, 1e-45, 1e30, math.NaN(), math.Inf(1), math.Inf(-1)}

// mutate changes one thing. It tells whether that may be other rows, which are right, too: those are for the caller to leave out.
func (p *program) mutate(rng *rand.Rand) (what string, other bool) {
	n := rng.IntN(len(p.blocks))
	b := p.blocks[n]
	r, value := rng.IntN(b.Len()), odd[rng.IntN(len(odd))]
	set := func(at *float32) bool {
		was := *at
		*at = float32(value)
		return was != *at
	}
	switch rng.IntN(12) {
	case 0:
		return "feature", set(&b.X[r*b.Stride+rng.IntN(3)]) && value-value == 0
	case 1:
		set(&b.X[r*b.Stride+3])
		return "bias", false
	case 2:
		set(&b.X[r*b.Stride+4+rng.IntN(4)])
		return "padding", false
	case 3:
		classes := len(p.spec.Classes)
		right := classes == 2 && math.Abs(value) == 1 || classes > 2 && value >= 0 && value < float64(classes) && value == math.Trunc(value)
		return "label", set(&b.Y[r]) && right
	case 4:
		if b.W == nil {
			return "nothing", false
		}
		was := b.W[r]
		b.W[r] = value
		return "weight", was != value && value >= 0 && value-value == 0
	case 5:
		p.cut(n, []int{r, r / 512 * 512, max(1, b.Len()/2)}[rng.IntN(3)])
		return "two blocks of one", false
	case 6:
		for i := range p.blocks {
			p.sparse(i)
		}
		return "sparse rows", false
	case 7:
		p.sparse(n)
		return "sparse rows of a block", false
	case 8:
		b.First = int64(rng.IntN(3)) * int64(rng.IntN(10000))
		return "First", false
	case 9:
		b.Stride, b.Cols = []int{8, 4, 0, -8, 16}[rng.IntN(5)], []int{4, 3, 0, -1, 5, 4}[rng.IntN(6)]
		return "stride and columns", false
	case 10:
		i := rng.IntN(len(p.blocks))
		if p.blocks[n], p.blocks[i] = p.blocks[i], p.blocks[n]; rng.IntN(2) > 0 {
			p.blocks[n] = nil
		}
		return "order of blocks", false
	}
	b.X, b.Y = b.X[:rng.IntN(len(b.X)+1)], b.Y[:min(len(b.Y), rng.IntN(2*len(b.Y)))]
	return "lengths", false
}

// TestMutated changes right rows at random, twice: a learner returns an error, or what it learns of the rows that are right.
func TestMutated(t *testing.T) {
	rounds := uint64(400)
	if testing.Short() {
		rounds = 100
	}
	cases, clean, outcomes := learnerCases(), map[string][]float64{}, map[bool]int{}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 16))
		l := cases[rng.IntN(len(cases))]
		classes, weighted, workers := l.classes[rng.IntN(len(l.classes))], l.weights && rng.IntN(2) > 0, 1+2*rng.IntN(2)
		rows := block.RunRows + 300
		if l.memory || l.unlearned { // which take long
			rows = 300
		}
		right := programRows(rows, classes, weighted)
		key := fmt.Sprint(l.name, classes, weighted)
		if clean[key] == nil {
			w, err := l.learn(context.Background(), right.data(), workers)
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			clean[key] = w
		}
		p := right.clone()
		what, other := p.mutate(rng)
		if other || l.memory && what == "sparse rows" {
			continue
		}
		for form, src := range l.sources(p) {
			if form == "seekable" && (slices.Contains(p.blocks, nil) || slices.ContainsFunc(p.blocks, func(b *block.Block[float32]) bool { return b.Sparse != nil || b.Stride < 8 })) {
				continue
			}
			w, err := l.learn(context.Background(), src, workers)
			outcomes[err == nil]++
			if err == nil && !slices.Equal(w, clean[key]) {
				t.Errorf("seed %d, %s, %s, %s: learned %v, want %v or an error", seed, key, what, form, w, clean[key])
			}
		}
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("learned and refused: %v", outcomes)
	}
}

// TestWrongElsewhere: what else takes rows from programs returns an error where they are wrong, and sets its figures instead of adding
// to them.
func TestWrongElsewhere(t *testing.T) {
	ctx := context.Background()
	r := train.Result[float32]{Weights: []float32{1, 0, 0, -0.5}, Errors: 7, Margin: 5}
	d := programRows(10000, 2, false).data()
	for range 2 {
		if err := train.Evaluate[float32](ctx, d, 2, &r); err != nil {
			t.Fatal(err)
		}
	}
	counts, err := pocket.Errors[float32](ctx, d, append(slices.Clone(r.Weights), 0, 0, 0, 0), 2)
	if err != nil || r.Errors != counts[0] || r.Margin != 0 {
		t.Errorf("evaluated twice: errors %d, margin %v, want %v and 0, %v", r.Errors, r.Margin, counts, err)
	}
	unlabelled, numbers := programRows(10000, 2, false), programRows(10000, 3, false)
	unlabelled.blocks[1].Y, numbers.blocks[2].Y[3] = nil, 7
	three := numbers.data()
	for name, c := range map[string]struct {
		want string
		run  func() error
	}{
		"errors without labels": {"no labels", func() error { _, err := pocket.Errors(ctx, unlabelled.data(), make([]float32, 8), 2); return err }},
		"part of a candidate":   {"aren't candidates", func() error { _, err := pocket.Errors(ctx, d, make([]float32, 9), 2); return err }},
		"dirty candidate":       {"other numbers than zeros", func() error { _, err := pocket.Errors(ctx, d, []float32{0, 0, 0, 0, 1, 0, 0, 0}, 2); return err }},
		"pocket of classes": {"3 classes", func() error {
			_, err := pocket.Errors(ctx, programRows(100, 3, false).data(), make([]float32, 8), 2)
			return err
		}},
		"evaluate unlabelled": {"no labels", func() error { return train.Evaluate(ctx, unlabelled.data(), 2, &r) }},
		"evaluate few weights": {"aren't vectors", func() error {
			return train.Evaluate(ctx, d, 2, &train.Result[float32]{Weights: make([]float32, 3)})
		}},
		"evaluate one vector of three": {"1 vectors of weights for 3 classes", func() error {
			return train.Evaluate(ctx, three, 2, &train.Result[float32]{Weights: make([]float32, 4)})
		}},
		"counts of a class beyond": {"the label is 7", func() error { _, err := train.ClassCounts(ctx, three, 2); return err }},
		"weighed class beyond": {"the label is 7", func() error {
			_, err := perceptron.Train(ctx, train.Weigh(three, []float64{1, 2, 3}), perceptron.Options{})
			return err
		}},
		"too few class weights": {"the weight is NaN", func() error {
			_, err := perceptron.Train(ctx, train.Weigh(d, []float64{1}), perceptron.Options{})
			return err
		}},
		"class beyond versus the rest": {"the label is NaN", func() error {
			_, err := perceptron.Train(ctx, train.Versus(three, 1), perceptron.Options{})
			return err
		}},
		"other classes to validate on": {"give both the same Spec", func() error {
			v := programRows(100, 2, false)
			v.spec.Positive = schema.FirstClass
			_, err := perceptron.TrainValidated(ctx, d, v.data(), perceptron.Options{})
			return err
		}},
	} {
		if err := c.run(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := gram.NewRowCache(gram.RowsOf(block.NewData[float32](d.Spec(), nil)), gram.Mercer{}, 1<<20, 2); err == nil {
		t.Error("a row cache of no rows: no error")
	}
	short := programRows(10000, 2, false)
	short.blocks[1].X = short.blocks[1].X[:100]
	m, _ := gram.NewSymmetric[float32](4196, gram.Packed)
	if err := gram.Gram(ctx, m, gram.RowsOf(short.data()), gram.Mercer{}, 2); err == nil || !strings.Contains(err.Error(), "whole rows") {
		t.Errorf("the Gram matrix of a short block: %v", err)
	}
}

// TestCheckedOnce: what Check returns isn't checked again, and rows of the caller's stay to be checked.
func TestCheckedOnce(t *testing.T) {
	p := programRows(5000, 2, false)
	d := p.data()
	checked, err := block.Check[float32](context.Background(), d, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.blocks[0].Y[0] = 0
	if again, err := block.Check(context.Background(), checked, 1); err != nil || again != checked {
		t.Errorf("checked again: %v", err)
	}
	if _, err := block.Check[float32](context.Background(), d, 1); err == nil {
		t.Error("rows that were changed after a check pass the next one")
	}
}

// TestBlockVectors: vectors of another length make a block's methods panic with a constant, before anything is written.
func TestBlockVectors(t *testing.T) {
	b := programRows(100, 2, false).blocks[0]
	for name, call := range map[string]func(w []float32){
		"Scores":    func(w []float32) { b.Scores(w, make([]float32, 100)) },
		"Dot":       func(w []float32) { b.Dot(0, w) },
		"Axpy":      func(w []float32) { b.Axpy(w, 1, 0) },
		"RowScores": func(w []float32) { b.RowScores(0, w, make([]float32, 3)) },
	} {
		for _, n := range []int{0, 4, 7, 9, 16} {
			w := make([]float32, n)
			func() {
				defer func() {
					if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "block: ") {
						t.Errorf("%s with %d weights panics with %v", name, n, s)
					}
				}()
				call(w)
			}()
			if slices.ContainsFunc(w, func(v float32) bool { return v != 0 }) {
				t.Errorf("%s wrote %v", name, w)
			}
		}
	}
}
