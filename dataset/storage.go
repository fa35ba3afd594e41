package dataset

import (
	"fmt"

	"halfspace/block"
	"halfspace/dataset/internal/encode"
	"halfspace/dataset/internal/frame"
	textfile "halfspace/dataset/internal/text"
	"halfspace/kernel"
	"halfspace/schema"
)

// A Storage says how blocks hold rows. The rows, and all that is learned from them, are the same.
type Storage string

const (
	Dense  Storage = "dense"  // all values
	Sparse Storage = "sparse" // the values that aren't 0, each with its column
	Auto   Storage = "auto"   // sparse if that takes at most an eighth of the memory, or, if nobody counted the values, from 1,024 features on
)

// Storages are all values of Options.Storage.
var Storages = []Storage{Auto, Dense, Sparse}

// autoShare is how many times the memory of sparse rows dense rows must take for Auto to choose sparse ones. Kernels are
// several times faster on a dense value than on a sparse one.
const autoShare = 8

// wideModel is the number of features from which on rows for a model are sparse, if nobody counted their values.
const wideModel = 1 << 10

// widest returns the most features of svmlight rows.
func (opt *Options) widest() int {
	if opt.Storage == Auto || opt.Storage == Sparse {
		return schema.MaxNumbered
	}
	return schema.MaxFeatures
}

// mostStandardized is the most features of svmlight files that are standardized. A block of dense rows has 256 MiB then.
const mostStandardized = 1 << 14

// chooseStorage sets how the blocks of an input hold rows.
func chooseStorage[T kernel.Float](in frame.Input, sel *encode.Selection, opt *Options) error {
	svm, is := in.(*textfile.Svmlight)
	can, rows, width := is && svm.Plain && !opt.Live, in.Total(), int64(sel.Width())
	bias := int64(0)
	if sel.Bias {
		bias = 1
	}
	if can && svm.Pairs() >= 0 {
		sel.Elements = min(svm.Pairs(), rows*width) + rows*bias
	}
	switch opt.Storage {
	case "", Dense:
	case Sparse:
		if sel.Sparse = can; !can {
			return fmt.Errorf("%s: storage is sparse, which is for the numbers of svmlight files as they are: use auto or dense", in.Name())
		}
	case Auto:
		sel.Sparse = can && (sel.Elements > 0 && autoShare*block.SparseBytes[T](rows, sel.Elements, false) <= block.Bytes[T](rows, int(width+bias), false) ||
			svm.Pairs() < 0 && width >= wideModel)
	default:
		return fmt.Errorf("storage is %q: use auto, dense or sparse", opt.Storage)
	}
	if is && opt.Standardize && !opt.KeepWide && width > mostStandardized {
		return fmt.Errorf("%s: %d features, and standardized rows are dense, with at most %d: use --standardize=false, or --algo perceptron, which learns from "+
			"the numbers as they are", in.Name(), width, mostStandardized)
	}
	if width > schema.MaxFeatures && !sel.Sparse {
		return fmt.Errorf("%s: %d features, and a dense row has at most %d: leave larger indices out with --exclude, or let rows be sparse", in.Name(), width, schema.MaxFeatures)
	}
	return nil
}

// Density returns the share of the features' values that aren't 0, about, if the blocks are sparse. It is 0 of dense
// blocks, and if nobody counted the values.
func (in *Input[T]) Density() float64 {
	if !in.sel.Sparse || in.sel.Elements == 0 {
		return 0
	}
	elements := in.sel.Elements
	if in.sel.Bias {
		elements -= in.Rows()
	}
	return float64(elements) / float64(in.Rows()) / float64(in.sel.Width())
}

// Sparse tells whether the blocks are sparse.
func (in *Input[T]) Sparse() bool { return in.sel.Sparse }

// Bytes returns the memory of the blocks of that many rows, with sample weights if weighted is set. Of sparse rows it assumes the mean number of values.
func (in *Input[T]) Bytes(rows int64, weighted bool) int64 {
	if !in.sel.Sparse {
		return block.Bytes[T](rows, in.Cols(), weighted)
	}
	return block.SparseBytes[T](rows, in.elements(rows), weighted)
}

// elements returns how many elements that many rows have in the mean. It assumes 100 a row if nobody counted them.
func (in *Input[T]) elements(rows int64) int64 {
	if in.sel.Elements == 0 || in.Rows() <= 0 {
		const usual = 100
		return rows * min(usual, int64(in.Cols()))
	}
	return int64(float64(rows) / float64(in.Rows()) * float64(in.sel.Elements))
}
