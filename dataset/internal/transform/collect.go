package transform

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Part is the rows of an input from First up to, but not including, Last. Last is -1 if the number of rows is
// unknown.
type Part struct {
	First, Last int64
	Batches     func(p column.Pool) iter.Seq2[*column.Batch, error]
}

// A Load describes an input whose rows are read into memory.
type Load struct {
	Name     string // name of the input, for messages
	Binding  *Binding
	Pool     column.Pool
	Alloc    memory.Allocator
	Memory   int64 // maximum number of bytes of the blocks; 0: no limit
	Stored   int64 // number of bytes of the rows in the files; 0: unknown
	Progress func(rows, total int64)
	Warn     func(text string)
}

// Collect reads the parts of an input into a data set in memory. All workers read a single part together. If there
// are several parts, each part is read by one worker.
func Collect(ctx context.Context, in Load, parts []Part) (*block.Data, error) {
	all := NewBuilder(in.Binding, NewLabels(in.Binding.Plan.Spec), in.Pool, in.Alloc, parts[len(parts)-1].Last, nil)
	all.Budget = column.NewBudget(in.Memory)
	if err := all.checkRoom(); err != nil {
		return nil, column.ErrorIn(in.Name, "%w", err)
	}
	all.MakeRoom(in.Stored)
	builders, built := make([]*Builder, len(parts)), make([][]*block.Block, len(parts))
	build := func(i int, p column.Pool, progress func(rows, total int64)) error {
		builders[i] = all.ForRows(NewLabels(in.Binding.Plan.Spec), p, parts[i].First, parts[i].Last,
			func(full *block.Block, _ []arrow.Array) error {
				built[i] = append(built[i], full)
				return nil
			})
		return builders[i].Run(ctx, parts[i].Batches(p), progress)
	}
	var err error
	if len(parts) == 1 {
		err = build(0, in.Pool, in.Progress)
	} else {
		err = buildParts(ctx, in.Pool, parts, build, in.Progress)
	}
	if err != nil {
		return nil, err
	}
	numbers := make([][]int, len(parts)) // for each part, the number of each of its classes in all.Labels
	for i, b := range builders {
		all.Input, all.Rows = all.Input+b.Input-parts[i].First, all.Rows+b.Rows-parts[i].First
		what := ""
		if numbers[i], what = all.Labels.Add(b.Labels); what != "" {
			return nil, column.ErrorIn(in.Name, "column %q: %s", in.Binding.Columns[in.Binding.Label].Name, what)
		}
	}
	spec, err := finish(ctx, in, all, built, numbers)
	if err != nil {
		return nil, err
	}
	all.Warn(in.Warn)
	return block.NewData(spec, slices.Concat(built...)), nil
}

// finish returns the spec of the rows of all parts, and sets the labels in the blocks. numbers[i] has the class
// number among all parts for each class of part i.
func finish(ctx context.Context, in Load, all *Builder, built [][]*block.Block, numbers [][]int) (*schema.Spec, error) {
	if all.Input > 0 && all.unchosen.Load() == all.Input {
		return nil, column.ErrorIn(in.Name, "%w", noneChosen(in.Binding.Plan.Where))
	}
	if err := CheckRows(in.Name, all.Rows, all.Input); err != nil {
		return nil, err
	}
	if err := all.CheckWeights(in.Name); err != nil {
		return nil, err
	}
	spec, signs, err := in.Binding.NewSpec(all.Labels)
	if err != nil {
		return nil, column.ErrorIn(in.Name, "%w", err)
	}
	return spec, in.Pool.Each(ctx, len(built), func(i int) error {
		stands := make([]float64, len(numbers[i]))
		for k, n := range numbers[i] {
			stands[k] = signs[n]
		}
		for _, full := range built[i] {
			Sign(full.Y, stands)
		}
		return nil
	})
}

// noneChosen returns the error that the options choose no row.
func noneChosen(where string) error {
	if where == "" {
		return message.Errorf("no row is chosen by --sample: give more")
	}
	return message.Errorf("no row fulfils --where %q: change the condition", where)
}

// CheckRows returns an error if no rows are kept of the rows of an input.
func CheckRows(name string, kept, rows int64) error {
	switch {
	case kept == 0 && rows > 0:
		return column.ErrorIn(name, "no rows are left of %d, each has a missing value: exclude columns, or fill them in", rows)
	case kept == 0:
		return column.ErrorIn(name, "no rows: give some")
	}
	return nil
}

// buildParts builds several parts at a time, with one worker for each part. If several parts fail, it returns the
// error of the first of them.
func buildParts(ctx context.Context, p column.Pool, parts []Part, build func(i int, p column.Pool, progress func(rows, total int64)) error,
	progress func(rows, total int64)) error {
	read := make(chan int64, len(parts))
	var g errgroup.Group
	g.Go(func() error {
		defer close(read)
		return p.Each(ctx, len(parts), func(i int) error {
			at := parts[i].First
			return build(i, column.NewPool(1), func(rows, _ int64) {
				read <- rows - at
				at = rows
			})
		})
	})
	rows := int64(0)
	for n := range read {
		if rows += n; progress != nil {
			progress(rows, parts[len(parts)-1].Last)
		}
	}
	return g.Wait()
}

// autoShare is the factor by which dense rows must be larger than sparse rows for Auto to choose sparse rows. Kernels
// are several times faster for a dense value than for a sparse value: with the factor 4, trainings took 1.1 to 2.7
// times the processor time.
const autoShare = 8

// wideModel is the number of features from which Auto makes rows sparse if the number of values is unknown.
const wideModel = 1 << 10

// SetStorage sets the form in which the blocks of a binding store rows. elements is the approximate number of
// elements of rows rows, the bias included; 0 means that it is unknown. Auto chooses sparse rows if there are more
// features than a dense row may have, if sparse rows take at most 1/8 of the memory of dense rows, or, if elements is
// 0, from 1,024 features on.
func SetStorage(s *Binding, storage plan.Storage, elements, rows int64) error {
	width := s.Width()
	cols := width
	if s.Plan.Bias {
		cols++
	}
	switch storage {
	case plan.Dense:
	case plan.Sparse:
		s.Sparse = true
	case "", plan.Auto:
		s.Sparse = width > schema.MaxFeatures || elements == 0 && width >= wideModel ||
			elements > 0 && autoShare*block.SparseBytes(rows, elements, false) <= block.Bytes(rows, cols, false)
	default:
		return fmt.Errorf("storage is %q: use auto, dense or sparse", storage)
	}
	if width > schema.MaxFeatures && !s.Sparse {
		return message.Errorf("%d features, and a dense row has at most %d features: use --storage sparse", width, schema.MaxFeatures)
	}
	return nil
}

// Remember reads all batches of a source that can be read only once. It returns the batches, and a sequence that
// yields them any number of times.
func Remember(batches iter.Seq2[*column.Batch, error]) (all []*column.Batch, again iter.Seq2[*column.Batch, error]) {
	for bt, err := range batches {
		if err != nil {
			return all, func(yield func(*column.Batch, error) bool) { yield(nil, err) }
		}
		all = append(all, bt)
	}
	return all, func(yield func(*column.Batch, error) bool) {
		for _, bt := range all {
			for _, a := range bt.Columns {
				a.Retain()
			}
			if !yield(bt, nil) {
				return
			}
		}
	}
}
