package block

import (
	"context"
	"errors"
	"iter"

	"halfspace/internal/stats"
	"halfspace/schema"
)

// A generator makes rows. It calls yield with the features and the label of each row, and returns when there are no
// more rows or when yield returns false. yield copies x, so the generator may reuse its memory for the next row.
// Every call of a generator must make the same rows in the same order. If a generator returns an error, the pass ends
// with this error.
type generator[F float32 | float64, L Label] = func(yield func(x []F, label L) bool) error

// FromGenerator is documented in package halfspace/block. It calls rows once for each pass, the pass that counts the rows included.
func FromGenerator[F float32 | float64, L Label](ctx context.Context, rows func(yield func(x []F, label L) bool) error,
	opt RowOptions) (Source, error) {
	g := &generatedRows[F, L]{generate: rows, labels: newLabels[L](opt.Spec), weights: opt.Weights}
	if err := g.survey(ctx, &opt); err != nil {
		return nil, err
	}
	if err := opt.checkWeights(int(g.rows)); err != nil {
		return nil, err
	}
	var err error
	if g.values, err = g.labels.finish(g.spec, opt.Positive); err != nil {
		return nil, err
	}
	if !opt.Standardize || opt.Spec != nil {
		return AssumeValid(g), nil
	}
	specs, err := standardizedSpecs(ctx, g.spec, g.labels, rows, []func(int) bool{everyRow})
	if err != nil {
		return nil, err
	}
	return refittableSource{&checkedSource{g.withSpec(specs[0]), nil}, g.refit}, nil
}

// withSpec returns g with the preprocessing of spec.
func (g *generatedRows[F, L]) withSpec(spec *schema.Spec) *generatedRows[F, L] {
	again := *g
	again.spec, again.maker = spec, stats.NewMaker(spec)
	return &again
}

// refit computes the means and deviations again; see Data.Refit.
func (g *generatedRows[F, L]) refit(ctx context.Context,
	choices []func(class int) bool) (all []func(context.Context) (Source, error), err error) {
	specs, err := standardizedSpecs(ctx, g.spec, g.labels, g.generate, choices)
	for _, s := range specs {
		all = append(all, func(context.Context) (Source, error) { return AssumeValid(g.withSpec(s)), nil })
	}
	return all, err
}

// generatedRows is the source that FromGenerator returns.
type generatedRows[F float32 | float64, L Label] struct {
	generate generator[F, L]
	spec     *schema.Spec
	maker    *stats.Maker // of the spec's features
	rows     int64
	labels   *labels[L]
	values   []float64 // see labels.finish
	weights  []float64
}

func (g *generatedRows[F, L]) Spec() *schema.Spec { return g.spec }

func (g *generatedRows[F, L]) Rows() int64 { return g.rows }

// survey makes the first pass. It checks and counts the rows, and collects the classes.
func (g *generatedRows[F, L]) survey(ctx context.Context, opt *RowOptions) error {
	var row *Block
	var wrong error
	err := g.generate(func(x []F, label L) bool {
		if wrong == nil && g.rows%ChunkRows == 0 {
			wrong = ctx.Err()
		}
		if wrong != nil {
			return false
		}
		if row == nil {
			if g.spec, wrong = opt.spec(len(x), -1); wrong != nil {
				return false
			}
			row, g.maker = New(0, 1, g.spec.Cols()), stats.NewMaker(g.spec)
		}
		row.First = g.rows
		if opt.Standardize && opt.Spec == nil {
			wrong = checkFinite(g.rows, g.spec, x)
		} else {
			wrong = put(row, 0, g.spec, g.maker, x)
		}
		if wrong != nil {
			return false
		}
		if _, err := g.labels.number(label); err != nil {
			wrong = rowErrorf(g.rows, "", "%w", err)
			return false
		}
		g.rows++
		return true
	})
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		return err
	case g.rows == 0:
		return errNoRows
	}
	return nil
}

// errChanged is the error if a generator makes other rows than in the first pass.
var errChanged = errors.New("the rows differ from those of the first pass: each pass must have the same")

// Blocks calls the generator once and yields its rows in one block, which is refilled after each yield.
func (g *generatedRows[F, L]) Blocks(ctx context.Context) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		p := g.newPass(ctx, yield)
		err := g.generate(p.add)
		switch {
		case p.isStopped:
			return
		case p.err != nil:
			err = p.err
		case err == nil && p.rows != g.rows:
			err = rowErrorf(p.rows, "", "it is missing: %w", errChanged)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// A pass fills a block with the rows of a generator, one row at a time.
type pass[F float32 | float64, L Label] struct {
	*generatedRows[F, L]
	ctx       context.Context
	yield     func(*Block, error) bool
	block     *Block
	blockRows int   // rows that were put into the block
	rows      int64 // rows of the pass so far
	isStopped bool  // yield returned false
	err       error
}

func (g *generatedRows[F, L]) newPass(ctx context.Context, yield func(*Block, error) bool) *pass[F, L] {
	b := NewFor(g.spec, 0, int(min(g.rows, int64(Rows(g.spec.Cols())))))
	return &pass[F, L]{generatedRows: g, ctx: ctx, yield: yield, block: b}
}

// add puts a row into the block, and yields the block when it is full or has the last row. It returns false if the
// generator must stop.
func (p *pass[F, L]) add(x []F, label L) bool {
	if p.isStopped || p.err != nil {
		return false
	}
	if p.err = p.put(x, label); p.err != nil {
		return false
	}
	p.blockRows, p.rows = p.blockRows+1, p.rows+1
	if p.blockRows < p.block.Len() && p.rows < p.generatedRows.rows {
		return true
	}
	if p.err = p.ctx.Err(); p.err != nil {
		return false
	}
	p.isStopped = !p.yield(p.block.Slice(0, p.blockRows), nil)
	p.block.First, p.blockRows = p.rows, 0
	return !p.isStopped
}

func (p *pass[F, L]) put(x []F, label L) error {
	n, ok := p.labels.numbers[label]
	if !ok || p.rows == p.generatedRows.rows {
		return rowErrorf(p.rows, "", "%w", errChanged)
	}
	p.block.Y[p.blockRows] = float32(p.values[n])
	if p.weights != nil {
		p.block.W[p.blockRows] = p.weights[p.rows]
	}
	return put(p.block, p.blockRows, p.spec, p.maker, x)
}
