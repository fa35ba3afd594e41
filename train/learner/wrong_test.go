package learner_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/pocket"
	"halfspace/separability"
	"halfspace/train/ftrl"
	"halfspace/train/kernelperceptron"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/passiveaggressive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

// A learnerCase is a learner with some options. It returns the numbers that it learned.
type learnerCase struct {
	name      string
	classes   []int // the numbers of classes that it takes
	weights   bool  // it takes sample weights
	memory    bool  // it takes only rows in memory
	order     bool  // it visits rows in another order
	unlearned bool  // it doesn't learn, and takes up to two classes
	learn     func(ctx context.Context, src block.Source, workers int) ([]float64, error)
}

func widened(w []float32) (out []float64) {
	for _, v := range w {
		out = append(out, float64(v))
	}
	return out
}

func learnerCases() []learnerCase {
	walk := func(opt perceptron.Settings, order learner.Order) func(context.Context, block.Source, int) ([]float64, error) {
		return func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			opt := opt
			opt.Order, opt.Epochs, opt.Workers = order, 2, workers
			if opt.Form == learner.Voted {
				opt.MaxUpdates = 200
			}
			r, err := perceptron.Train(ctx, src, opt)
			if err != nil {
				return nil, err
			}
			return append(widened(r.Weights), float64(r.Errors), r.Margin, r.Radius), nil
		}
	}
	log := func(solver logistic.Solver) func(context.Context, block.Source, int) ([]float64, error) {
		return func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := logistic.Train(ctx, src, logistic.Settings{Options: logistic.Options{Epochs: 20, L2: 1, Solver: solver}, Run: learner.Run{Workers: workers}})
			if err != nil {
				return nil, err
			}
			return r.ExactWeights, nil
		}
	}
	vectors := func(loss svm.Loss) func(context.Context, block.Source, int) ([]float64, error) {
		return func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := svm.Train(ctx, src, svm.Settings{Options: svm.Options{Epochs: 20, Loss: loss}, Run: learner.Run{Workers: workers}})
			if err != nil {
				return nil, err
			}
			return r.ExactWeights, nil
		}
	}
	discriminant := func(shrinkage float64) func(context.Context, block.Source, int) ([]float64, error) {
		return func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := lda.Train(ctx, src, lda.Settings{Options: lda.Options{Shrinkage: shrinkage}, Run: learner.Run{Workers: workers}})
			if err != nil {
				return nil, err
			}
			return r.ExactWeights, nil
		}
	}
	aggressive := func(order learner.Order) func(context.Context, block.Source, int) ([]float64, error) {
		return func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := passiveaggressive.Train(ctx, src, passiveaggressive.Settings{Options: passiveaggressive.Options{Order: order, Epochs: 2}, Run: learner.Run{Workers: workers}})
			if err != nil {
				return nil, err
			}
			return append(widened(r.Weights), r.Loss), nil
		}
	}
	two, both := []int{2}, []int{2, 3}
	return []learnerCase{
		{"perceptron", both, true, false, false, false, walk(perceptron.Settings{}, learner.Cyclic)},
		{"perceptron shuffle", both, true, false, true, false, walk(perceptron.Settings{}, learner.Shuffle)},
		{"perceptron random", both, true, false, true, false, walk(perceptron.Settings{}, learner.Random)},
		{"averaged", both, true, false, false, false, walk(perceptron.Settings{Options: perceptron.Options{Form: learner.Averaged}}, learner.Cyclic)},
		{"averaged fixed-shuffle", both, true, false, true, false, walk(perceptron.Settings{Options: perceptron.Options{Form: learner.Averaged}}, learner.FixedShuffle)},
		{"voted", two, true, false, false, false, walk(perceptron.Settings{Options: perceptron.Options{Form: learner.Voted}}, learner.Cyclic)},
		{"pocket", two, true, false, false, false, walk(perceptron.Settings{Options: perceptron.Options{Pocket: pocket.Epoch}}, learner.Cyclic)},
		{"passive-aggressive", both, true, false, false, false, aggressive(learner.Cyclic)},
		{"passive-aggressive shuffle", both, true, false, true, false, aggressive(learner.Shuffle)},
		{"adagrad fixed-shuffle", two, true, false, true, false, func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := ftrl.TrainAdaGrad(ctx, src, ftrl.AdaGradSettings{AdaGradOptions: ftrl.AdaGradOptions{Order: learner.FixedShuffle, Epochs: 2}, Run: learner.Run{Workers: workers}})
			if err != nil {
				return nil, err
			}
			return append(widened(r.Weights), r.Loss), nil
		}},
		{"winnow", two, false, false, false, false, func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := winnow.Train(ctx, src, winnow.Settings{Options: winnow.Options{Epochs: 2, Variant: winnow.Balanced}, Run: learner.Run{Workers: workers}})
			if err != nil {
				return nil, err
			}
			return widened(r.Weights), nil
		}},
		{"newton", two, true, false, false, false, log(logistic.Newton)},
		{"lbfgs", both, true, false, false, false, log(logistic.LBFGS)},
		{"sgd", both, true, false, false, false, log(logistic.SGD)},
		{"squared hinge", two, true, false, false, false, vectors(svm.SquaredHinge)},
		{"hinge", two, true, false, false, false, vectors(svm.Hinge)},
		{"lda", both, true, false, false, false, discriminant(0)},
		{"lda shrunk", both, true, false, false, false, discriminant(lda.LedoitWolf)},
		{"dual", both, true, true, false, false, func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := kernelperceptron.Train(ctx, src.(*block.Data), kernelperceptron.Settings{Options: kernelperceptron.Options{Epochs: 2, Memory: 1 << 20}, Run: learner.Run{Workers: workers}})
			if err != nil {
				return nil, err
			}
			return widened(r.Weights), nil
		}},
		{"separable", two, false, false, false, true, func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
			r, err := separability.Check(ctx, src, separability.Options{Workers: workers})
			if err != nil {
				return nil, err
			}
			return []float64{r.Radius, float64(r.Passes), float64(len(r.Verdict))}, nil
		}},
		{"pocket.Errors", two, false, false, false, true, func(ctx context.Context, src block.Source, workers int) ([]float64, error) {
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

// takes tells whether the learner takes such rows.
func (l learnerCase) takes(classes int, weighted bool) bool {
	return slices.Contains(l.classes, classes) && (l.weights || !weighted)
}

// sources returns rows in each form that the learner takes.
func (l learnerCase) sources(p *program) map[string]block.Source {
	forms := map[string]block.Source{"memory": p.data()}
	if !l.memory {
		forms["seekable"] = seekable{p}
		if !l.order {
			forms["stream"] = p
		}
	}
	return forms
}

// ofStream marks defects of the source, which a *block.Data can't have.
const ofStream = true

// defects are ways for rows to be wrong, each with its error.
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
	{"block without rows", "its stride is 0", 2, false, false, func(p *program) { p.blocks[1] = &block.Block{Cols: 4, First: 4096} }},
	{"short labels", "4095 labels for 4096 rows", 2, false, false, func(p *program) { p.blocks[1].Y = p.blocks[1].Y[:4095] }},
	{"short labels of classes", "4000 labels for 4096 rows", 3, false, false, func(p *program) { p.blocks[0].Y = p.blocks[0].Y[:4000] }},
	{"no labels", "no labels", 2, false, false, func(p *program) { p.blocks[1].Y = nil }},
	{"no labels of classes", "no labels", 3, false, false, func(p *program) { p.blocks[0].Y = nil }},
	{"labels 0 and 1", "the label is 0: labels of two classes are -1 and +1", 2, false, false, func(p *program) { p.relabel(func(y float32) float32 { return max(0, y) }) }},
	{"labels 1 and 2", "the label is 2: labels of two classes are -1 and +1", 2, false, false, func(p *program) { p.relabel(func(y float32) float32 { return (y + 3) / 2 }) }},
	{"label NaN", "the label is NaN", 2, false, false, func(p *program) { p.blocks[2].Y[5] = float32(math.NaN()) }},
	{"label near 1", "labels of two classes are -1 and +1", 2, false, false, func(p *program) { p.blocks[0].Y[5] = math.Nextafter32(1, 2) }},
	{"class numbers from 1", "block 0, row", 3, false, false, func(p *program) { p.relabel(func(y float32) float32 { return y + 1 }) }},
	{"class number beyond", "the label is 3: labels of 3 classes are the numbers 0 to 2", 3, false, false, func(p *program) { p.blocks[1].Y[7] = 3 }},
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
	{"dirty padding", "element 7, after its 4 columns, is 3", 2, false, false, func(p *program) { p.blocks[1].X[8*9+7] = 3 }},
	{"bias in the padding", "(the bias) is 0", 2, false, false, func(p *program) { p.bias(0, 1) }},
	{"no bias", "row 0: column 3 (the bias) is 0", 2, false, false, func(p *program) { p.bias(0, 0) }},
	{"scaled bias", "(the bias) is 0.5", 3, false, false, func(p *program) { p.bias(0.5, 0) }},
	{"feature NaN", `block 2, column "b", row 8195: NaN is not a finite number`, 2, false, false, func(p *program) { p.blocks[2].X[8*3+1] = float32(math.NaN()) }},
	{"infinite feature", "-Inf is not a finite number", 3, false, false, func(p *program) { p.blocks[0].X[0] = float32(math.Inf(-1)) }},
	{"dense and sparse blocks", "all blocks must have one form", 2, false, false, func(p *program) { p.sparse(1) }},
	{"sparse column beyond", "has column 4 after", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Idx[9] = 4 }},
	{"sparse column far beyond", "columns ascend from 0 to 3", 3, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[2].Sparse.Idx[9] = 1 << 31 }},
	{"sparse column twice", "columns ascend from 0 to 3", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Idx[1] = p.blocks[1].Sparse.Idx[0] }},
	{"sparse rows in descending order", "its row", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Ptr[5] = 1 << 40 }},
	{"short sparse values", "columns for", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[1].Sparse.Val = p.blocks[1].Sparse.Val[:7] }},
	{"sparse rows without a bias", "(the bias) is 0", 2, false, false, func(p *program) {
		p.bias(0, 0)
		p.sparse(0, 1, 2)
	}},
	{"sparse feature NaN", "NaN is not a finite number", 2, false, false, func(p *program) { p.sparse(0, 1, 2); p.blocks[0].Sparse.Val[0] = float32(math.NaN()) }},
	{"no Spec", "no Spec", 2, false, false, func(p *program) { p.spec = nil }},
	{"no columns", "no columns", 2, false, false, func(p *program) { p.spec.Features, p.spec.Bias = nil, false }},
	{"no classes", "Spec.Classes", 2, false, false, func(p *program) { p.spec.Classes = nil }},
	{"one class", "only class", 2, false, false, func(p *program) { p.spec.Classes = p.spec.Classes[:1] }},
	{"positive class beyond", "Spec.Positive is 2", 2, false, false, func(p *program) { p.spec.Positive = 2 }},
	{"no rows", "no rows", 2, false, false, func(p *program) { p.rows, p.blocks = 0, nil }},
	{"unknown number of rows", "Rows is -1", 2, false, ofStream, func(p *program) { p.rows = -1 }},
	{"fewer rows than it has", "the source has only", 2, false, ofStream, func(p *program) { p.rows-- }},
	{"more rows than it has", "the source ended after 10000 of 10001 rows", 2, false, ofStream, func(p *program) { p.rows++ }},
	{"fewer rows of classes", "the source has only", 3, false, ofStream, func(p *program) { p.rows = 4096 }},
}

// TestWrongRows: every learner refuses every defect with its error. Rows are in memory, streamed, or read in any order,
// with one worker and with three. Small tests try each defect in one form, with one number of workers.
func TestWrongRows(t *testing.T) {
	for i, l := range learnerCases() {
		t.Run(l.name, func(t *testing.T) {
			for k, d := range defects {
				if !l.takes(d.classes, d.weighted) || l.unlearned && (d.name == "no classes" || d.name == "one class") || l.name == "pocket.Errors" && d.name == "no rows" {
					continue
				}
				for n := range 6 {
					if require.Small() && n != (i+k)%6 {
						continue
					}
					form, workers := []string{"memory", "stream", "seekable"}[n%3], 1+2*(n/3)
					p := programRows(10000, d.classes, d.weighted)
					d.spoil(p)
					sources := l.sources(p)
					if sources[form] == nil || form == "memory" && d.streams || form == "seekable" && (len(p.blocks) == 0 || p.blocks[1] == nil || p.blocks[1].Sparse != nil) {
						if form = "memory"; !require.Small() || d.streams {
							continue
						}
					}
					w, err := l.learn(context.Background(), sources[form], workers)
					named := form != "seekable" || !l.order // otherwise the error names the first wrong row that is read
					if err == nil || named && !strings.Contains(err.Error(), d.want) {
						t.Errorf("%s, %s, %d workers: learned %v, error %v, want %q", d.name, form, workers, w, err, d.want)
					}
				}
			}
			for name, src := range map[string]block.Source{"nil": nil, "nil Data": (*block.Data)(nil)} {
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

// TestEmptyBlocks: blocks without rows change nothing, wherever they are. They have no labels and weights.
func TestEmptyBlocks(t *testing.T) {
	if require.Small() {
		t.Skip("trains every learner many times, which tells the same of every CPU")
	}
	for _, l := range learnerCases() {
		for _, classes := range l.classes {
			want := require.Value(l.learn(context.Background(), l.sources(programRows(10000, classes, l.weights))["memory"], 2))(t)
			for _, form := range []string{"memory", "stream", "seekable"} {
				p := programRows(10000, classes, l.weights)
				for _, at := range []int{3, 1, 0} {
					first := min(int64(at)*block.ChunkRows, p.rows)
					p.blocks = slices.Insert(p.blocks, at, &block.Block{First: first, Cols: 4, Stride: 8})
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
