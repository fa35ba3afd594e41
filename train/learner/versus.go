package learner

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/schema"
)

// Relabel sets out[i] to +1 if y[i] is class, and to -1 if y[i] is another class number from 0 to classes-1. It sets
// out[i] to NaN, which a training refuses, if y[i] is no class number. y and out may be the same slice.
func Relabel(y, out []float32, class, classes int) {
	for i, v := range y {
		switch {
		case !(v >= 0 && v < float32(classes) && v == float32(int(v))):
			out[i] = float32(math.NaN())
		case int(v) == class:
			out[i] = 1
		default:
			out[i] = -1
		}
	}
}

// VersusRest returns the rows of src, which has several classes, with two classes: rows of class have the label +1, all
// other rows -1. The features are shared. If src is a *block.Data or a block.Seekable, the result is one too.
func VersusRest(src block.Source, class int) block.Source {
	return versusView.Of(src, class)
}

var versusView = passes.NewView("train.versus", func(before *schema.Spec, class int) passes.Change {
	spec := *before
	own, classes := spec.Classes[class], len(spec.Classes)
	spec.Classes, spec.Positive = []schema.Class{schema.StringClass("not " + own.Text), own}, 1
	return passes.Change{
		Spec: &spec,
		Block: func(b, spare *block.Block) *block.Block {
			v := *b
			if b.Y == nil {
				return &v
			}
			var y []float32
			if spare != nil {
				y = spare.Y[:cap(spare.Y)]
			}
			if len(y) < len(b.Y) {
				y = block.Alloc[float32](len(b.Y))
			}
			v.Y = y[:len(b.Y)]
			Relabel(b.Y, v.Y, class, classes)
			return &v
		},
		Read: func(rows int, to *block.Block, from func(*block.Block) error) error {
			err := from(to)
			y := to.Y[:min(to.Len(), rows)]
			Relabel(y, y, class, classes)
			return err
		},
	}
})

// ClassesAtOnce returns the number of classes that OneVersusRest learns at once if its argument parallelClasses is set:
// 1 or more. workers is 1 or more.
func ClassesAtOnce(src block.Source, workers int) int {
	if _, inMemory := src.(*block.Data); !inMemory {
		return 1
	}
	return max(1, min(workers, len(src.Spec().Classes), (kernel.Stride(src.Spec().Cols())+1)/4))
}

// OneVersusRest calls learn for each class versus the rest. It returns the results in the order of the classes (Rifkin
// and Klautau, "In Defense of One-Vs-All Classification", 2004). The weights of a class don't depend on the other
// trainings.
//
// If parallelClasses is set and the rows are in memory, up to workers classes are learned at once, each with an equal
// share of the workers. Their labels take at most a quarter of the memory of the rows. Otherwise one class is learned
// after another, with all workers. If several classes fail, OneVersusRest returns the error of the first one, with its
// name.
func OneVersusRest[R any](ctx context.Context, src block.Source, workers int, parallelClasses bool,
	learn func(ctx context.Context, class, workers int) (R, error)) ([]R, error) {
	workers, err := parallel.Resolve(workers)
	if err != nil {
		return nil, err
	}
	classes := src.Spec().Classes
	results := make([]R, len(classes))
	side := 1
	if parallelClasses {
		side = ClassesAtOnce(src, workers)
	}
	errs := make([]error, len(classes))
	var failed atomic.Int64 // lowest number of a class that failed; no class after it begins
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
