package train

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/schema"
)

// Relabel sets out to +1 where the class number in y is class, and to -1 elsewhere. If y isn't a class number below
// classes, out is NaN, which a training refuses. y and out may be the same slice.
func Relabel[T kernel.Float](y, out []T, class, classes int) {
	for i, v := range y {
		switch {
		case !(v >= 0 && v < T(classes) && v == T(int(v))):
			out[i] = T(math.NaN())
		case int(v) == class:
			out[i] = 1
		default:
			out[i] = -1
		}
	}
}

// Versus returns the rows of src, which has several classes, with two classes: the rows of class are +1 and the rest
// are -1. The features are shared. The result is data in memory if src is, and a block.Seekable if src is one.
func Versus[T kernel.Float](src block.Source[T], class int) block.Source[T] {
	spec := *src.Spec()
	own, classes := spec.Classes[class], len(spec.Classes)
	spec.Classes, spec.Positive = []schema.Class{schema.StringClass("not " + own.Text), own}, 1
	switch src := src.(type) {
	case *block.Data[T]:
		var blocks []*block.Block[T]
		for b := range src.Blocks(context.Background()) {
			blocks = append(blocks, versus(b, class, classes, block.Alloc[T](len(b.Y))))
		}
		return block.NewData(&spec, blocks)
	case block.Seekable[T]:
		return seekableVersus[T]{one[T]{src, &spec, class, classes}, src}
	}
	return one[T]{src, &spec, class, classes}
}

// versus returns a block that shares b's features, with labels in y.
func versus[T kernel.Float](b *block.Block[T], class, classes int, y []T) *block.Block[T] {
	v := *b
	if b.Y != nil {
		v.Y = y[:len(b.Y)]
		Relabel(b.Y, v.Y, class, classes)
	}
	return &v
}

// A one is the rows of one class versus the rest.
type one[T kernel.Float] struct {
	block.Source[T]
	spec           *schema.Spec
	class, classes int
}

func (s one[T]) Spec() *schema.Spec { return s.spec }

const versusView = "train.versus"

func init() {
	passes.NewView(versusView, versusOf[float32])
	passes.NewView(versusView, versusOf[float64])
}

func versusOf[T kernel.Float](src block.Source[T], class, _ int) block.Source[T] {
	return Versus(src, class)
}

// Remote returns the cluster of the rows; see block.Remote.
func (s one[T]) Remote() (block.Cluster, []block.View) {
	return passes.Changed(s.Source, versusView, s.class)
}

func (s one[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return block.EachLoan(s.Lend(ctx))
}

// Lend is Blocks for users of several blocks at once. See block.Lender.
func (s one[T]) Lend(ctx context.Context) iter.Seq2[block.Loan[T], error] {
	return block.Change(ctx, s.Source, func(b, spare *block.Block[T]) (*block.Block[T], error) {
		var y []T
		if spare != nil {
			y = spare.Y[:cap(spare.Y)]
		}
		if len(y) < len(b.Y) {
			y = make([]T, len(b.Y))
		}
		return versus(b, s.class, s.classes, y), nil
	})
}

// A seekableVersus also reads its rows in any order.
type seekableVersus[T kernel.Float] struct {
	one[T]
	from block.Seekable[T]
}

func (s seekableVersus[T]) Sparse() bool { return s.from.Sparse() }

func (s seekableVersus[T]) ReadChunk(c int, to *block.Block[T]) error {
	err := s.from.ReadChunk(c, to)
	y := to.Y[:min(to.Len(), kernel.ChunkRows)]
	Relabel(y, y, s.class, s.classes)
	return err
}

func (s seekableVersus[T]) ReadRows(rows []uint32, to *block.Block[T]) error {
	err := s.from.ReadRows(rows, to)
	y := to.Y[:min(to.Len(), len(rows))]
	Relabel(y, y, s.class, s.classes)
	return err
}

// Beside returns how many classes OneVersusRest learns at once, with its argument beside set: 1 or more. workers is 1 or more.
func Beside[T kernel.Float](src block.Source[T], workers int) int {
	if _, inMemory := src.(*block.Data[T]); !inMemory {
		return 1
	}
	return max(1, min(workers, len(src.Spec().Classes), (kernel.Stride[T](src.Spec().Cols())+1)/4))
}

// OneVersusRest calls learn for each class versus the rest. It returns the results in the order of the classes (Rifkin
// and Klautau, "In Defense of One-Vs-All Classification", 2004). Each class gets the weights that it gets alone.
//
// If beside is set and the rows are in memory, up to workers classes are learned at once, each with a share of the
// workers. Their labels take at most a quarter of the memory of the rows. Otherwise one class is learned after another,
// with all workers. An error names its class, the first of several.
func OneVersusRest[T kernel.Float, R any](ctx context.Context, src block.Source[T], workers int, beside bool,
	learn func(ctx context.Context, class, workers int) (R, error)) ([]R, error) {
	workers, err := parallel.Resolve(workers)
	if err != nil {
		return nil, err
	}
	classes := src.Spec().Classes
	results := make([]R, len(classes))
	side := 1
	if beside {
		side = Beside(src, workers)
	}
	errs := make([]error, len(classes))
	var failed atomic.Int64 // number of a failed class; no class after it begins
	failed.Store(int64(len(classes)))
	var g errgroup.Group
	g.SetLimit(side)
	for class := range classes {
		g.Go(func() (err error) {
			if int64(class) > failed.Load() {
				return nil
			}
			if results[class], err = learn(ctx, class, max(1, workers/side)); err != nil {
				errs[class] = err
				for f := failed.Load(); int64(class) < f && !failed.CompareAndSwap(f, int64(class)); f = failed.Load() {
				}
			}
			return nil
		})
	}
	g.Wait() // no error
	for class, err := range errs {
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("class %s versus the rest: %w", schema.NameClass(classes[class]), err)
		}
	}
	return results, nil
}
