package dataset

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/transform"
)

// A Storage is the form in which blocks store rows. The rows and the trained models are the same in every form.
type Storage = transform.Storage

const (
	Dense  = transform.Dense  // every value
	Sparse = transform.Sparse // the values that aren't 0, each with its column
	Auto   = transform.Auto   // sparse if that takes at most 1/8 of the memory; if values weren't counted, from 1,024 features on
)

const mostStandardized = transform.MostStandardized

// learn computes everything that features depend on, and sets the form in which the blocks of an input store rows.
// The number of features in svmlight files is known before, so learn checks first whether they can be standardized.
func learn(ctx context.Context, in *openedInput, opt *Options, p column.Pool, mem memory.Allocator, far *others) error {
	sel := in.selection()
	if _, is := in.Input.(column.PairInput); is {
		if width := sel.Width(); opt.Standardize && !opt.KeepWide && width > mostStandardized {
			return fmt.Errorf("%s: %d features, and standardized rows are dense, with at most %d: use --standardize=false", in.Name(), width, mostStandardized)
		}
		if err := chooseStorage(in.Input, sel, opt); err != nil {
			return err
		}
	}
	column.Within(in.Input, opt.Memory, 0)
	if sel.Unmeasured() {
		if err := sel.MeasureLists(ctx, in.Name(), p, in.Batches(ctx, p, mem), in.Total(), opt.told(passColumns)); err != nil {
			return err
		}
	}
	if done, err := far.learn(ctx, sel, in.Total(), p, opt.told(passColumns)); done || err != nil {
		return cmp.Or(err, chooseStorage(in.Input, sel, opt))
	}
	if sel.Unlearned() {
		if err := sel.Learn(ctx, in.Name(), p, in.Batches(ctx, p, mem), in.Total(), opt.told(passColumns)); err != nil {
			return err
		}
	}
	return chooseStorage(in.Input, sel, opt) // for svmlight again, as the number of categories is known now
}

// chooseStorage sets the form in which the blocks of an input store rows. It uses the number of values in the rows if
// they were counted, otherwise the maximum that the columns can make.
func chooseStorage(in column.Input, sel *transform.Selection, opt *Options) error {
	paired, is := in.(column.PairInput)
	plain, rows, width := is && paired.Paired(), in.Total(), int64(sel.Width())
	bias := int64(0)
	if sel.Bias {
		bias = 1
	}
	elements, of := sel.MostElements(), int64(1) // number of elements in of rows
	switch {
	case plain && paired.Pairs() >= 0:
		elements, of = min(paired.Pairs(), rows*width)+rows*bias, rows
		sel.Elements, sel.Counted = elements, true
	case plain:
		elements = 0
	case rows > 0:
		sel.Elements = rows * elements
	}
	if err := transform.SetStorage(sel, opt.Storage, elements, of); err != nil {
		return column.ErrorIn(in.Name(), "%w", err)
	}
	return nil
}

// Density returns the approximate fraction of the features' values that aren't 0 if the blocks are sparse. It returns
// 0 for dense blocks, and if the values of svmlight files weren't counted. Before Load, zeros in columns of numbers
// count as other values.
func (in *Input) Density() float64 {
	rows, elements := cmp.Or(in.loaded, in.Rows()), in.sel.Elements
	if !in.paired() && (rows <= 0 || elements == 0) {
		rows, elements = 1, in.sel.MostElements()
	}
	if !in.sel.Sparse || elements == 0 || rows <= 0 {
		return 0
	}
	if in.sel.Bias {
		elements -= rows
	}
	return float64(elements) / float64(rows) / float64(in.sel.Width())
}

// Sparse returns true if the blocks are sparse.
func (in *Input) Sparse() bool { return in.sel.Sparse }

// Bytes returns the bytes of memory that blocks of the given number of rows take, with sample weights if weighted is
// true. For sparse rows, it assumes the mean number of values for each row.
func (in *Input) Bytes(rows int64, weighted bool) int64 {
	if !in.sel.Sparse {
		return block.Bytes(rows, in.Cols(), weighted)
	}
	return block.SparseBytes(rows, in.elements(rows), weighted)
}

// paired returns true if the rows are read as pairs of an index and a value.
func (in *Input) paired() bool {
	rows, is := in.in.(column.PairInput)
	return is && rows.Paired()
}

// elements returns the mean number of elements of the given number of rows. If it is unknown, elements assumes 100
// elements for each row of pairs, or the maximum that the columns can make.
func (in *Input) elements(rows int64) int64 {
	if in.sel.Elements == 0 || in.Rows() <= 0 {
		const usual = 100
		if in.paired() {
			return rows * min(usual, int64(in.Cols()))
		}
		return rows * in.sel.MostElements()
	}
	return int64(float64(rows) / float64(in.Rows()) * float64(in.sel.Elements))
}
