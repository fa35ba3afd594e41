package dataset

import (
	"context"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/internal/message"
)

// A Storage is the form in which blocks store rows. The rows and the trained models are the same in every form.
type Storage = plan.Storage

const (
	Dense  = plan.Dense  // every value
	Sparse = plan.Sparse // the values that aren't 0, each with its column
	Auto   = plan.Auto   // sparse if that takes at most 1/8 of the memory; if values weren't counted, from 1,024 features on
)

const mostStandardized = transform.MostStandardized

// learn computes everything that features depend on, and sets the form in which the blocks of a plan store rows. The
// number of features in svmlight files is known before, so learn checks first whether they can be standardized.
func (p *Plan) learn(ctx context.Context) error {
	bound, pool, total, told := p.bound, p.table.pool, p.in.Total(), p.table.opt.progressOf(passColumns)
	if _, is := p.in.(column.PairInput); is {
		if width := bound.Width(); bound.Plan.Standardize && !bound.Plan.KeepWide && width > mostStandardized {
			return message.Errorf("%s: %d features, and standardized rows are dense, with at most %d: use --standardize=false",
				p.in.Name(), width, mostStandardized)
		}
		if err := p.chooseStorage(); err != nil {
			return err
		}
	}
	p.within(0)
	if bound.Unlearned() {
		learned, err := p.processes.learn(ctx, bound, total, pool, told)
		if err == nil && learned == nil {
			p.keepTokens()
			learned, err = bound.Learn(ctx, p.in.Name(), pool, p.in.Batches(ctx, pool, p.table.mem), total, told)
		}
		if p.bound = learned; err != nil {
			return err
		}
	}
	return p.chooseStorage() // for svmlight again, as the number of categories is known now
}

// A columnOmitter is an input that can read some of its columns as nulls.
type columnOmitter interface {
	Without(columns []int) column.Input // nil: the input can't leave columns out
}

// keepTokens makes the pass over the rows keep the words of their texts, if these needn't be read again then.
func (p *Plan) keepTokens() {
	const share = 16 // of the memory that blocks may not take
	if in, is := p.in.(columnOmitter); is && in.Without(nil) != nil {
		p.bound.KeepTokens(column.Limit(p.table.opt.Memory) / share)
	}
}

// withoutTokens returns the input whose columns that the plan has as tokens are nulls.
func (p *Plan) withoutTokens() column.Input {
	if columns := p.bound.TokenColumns(); len(columns) > 0 {
		return p.in.(columnOmitter).Without(columns)
	}
	return p.in
}

// chooseStorage sets the form in which the blocks store rows. It uses the number of values in the rows if they were
// counted, otherwise the maximum that the columns can make.
func (p *Plan) chooseStorage() error {
	bound, rows, width := p.bound, p.in.Total(), int64(p.bound.Width())
	paired, is := p.in.(column.PairInput)
	plain := is && paired.Paired()
	bias := int64(0)
	if bound.Plan.Bias {
		bias = 1
	}
	elements, of := bound.MostElements(), int64(1) // number of elements in of rows
	switch {
	case plain && paired.Pairs() >= 0:
		elements, of = min(paired.Pairs(), rows*width)+rows*bias, rows
		bound.Elements, bound.Counted = elements, true
	case plain:
		elements = 0
	case rows > 0:
		bound.Elements = rows * elements
	}
	if err := transform.SetStorage(bound, p.bound.Plan.Storage, elements, of); err != nil {
		return column.ErrorIn(p.in.Name(), "%w", err)
	}
	return nil
}

// density returns the approximate fraction of the features' values that aren't 0 if the blocks are sparse. data are the
// rows if they are in memory, otherwise nil. density returns 0 for dense blocks, and if the values of svmlight files
// weren't counted.
func (p *Plan) density(data *block.Data) float64 {
	rows, elements := p.in.Total(), p.bound.Elements
	switch {
	case data != nil:
		rows, elements = data.Rows(), block.Elements(data)
	case !p.paired() && (rows <= 0 || elements == 0):
		rows, elements = 1, p.bound.MostElements()
	}
	if !p.bound.Sparse || elements == 0 || rows <= 0 {
		return 0
	}
	if p.bound.Plan.Bias {
		elements -= rows
	}
	return float64(elements) / float64(rows) / float64(p.bound.Width())
}

// isSparse returns true if the blocks are sparse.
func (p *Plan) isSparse() bool { return p.bound.Sparse }

// Bytes returns the bytes of memory that blocks of the given number of rows take, with sample weights if weighted is
// true. For sparse rows, it assumes the mean number of values for each row.
func (p *Plan) Bytes(rows int64, weighted bool) int64 {
	if !p.bound.Sparse {
		return block.Bytes(rows, p.cols(), weighted)
	}
	return block.SparseBytes(rows, p.elements(rows), weighted)
}

// paired returns true if the rows are read as pairs of an index and a value.
func (p *Plan) paired() bool {
	rows, is := p.in.(column.PairInput)
	return is && rows.Paired()
}

// elements returns the mean number of elements of the given number of rows. If it is unknown, elements assumes 100
// elements for each row of pairs, or the maximum that the columns can make.
func (p *Plan) elements(rows int64) int64 {
	if p.bound.Elements == 0 || p.in.Total() <= 0 {
		const usual = 100
		if p.paired() {
			return rows * min(usual, int64(p.cols()))
		}
		return rows * p.bound.MostElements()
	}
	return int64(float64(rows) / float64(p.in.Total()) * float64(p.bound.Elements))
}
