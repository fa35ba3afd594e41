package dataset

import (
	"context"
	"iter"

	"halfspace/dataset/internal/column"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
)

// Load reads a file into memory, or the files of a directory or of a glob; see Expand. For several paths, use Open. The
// files must have the same format, which their extensions determine, or their contents if an extension is unknown.
//
// Labels are +1 for the positive class and -1 for the other class. With more than two classes, labels are the numbers
// of the classes in sorted order, from 0 on.
func Load(ctx context.Context, path string, opt Options) (*block.Data, error) {
	t, err := Examine(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	p, err := t.Plan(ctx, opt)
	if err != nil {
		return nil, err
	}
	return p.Load(ctx)
}

// Load reads the rows of a plan into memory.
func (p *Plan) Load(ctx context.Context) (*block.Data, error) {
	return withPlan(ctx, p, func(p *Plan) (*block.Data, error) { return p.load(ctx) })
}

func (p *Plan) load(ctx context.Context) (*block.Data, error) {
	rows, err := p.rowsToLoad(ctx)
	if err != nil {
		return nil, err
	}
	p.within(p.Bytes(max(0, rows), p.bound.Weight >= 0))
	buffers := parquetfile.NewPool(p.table.mem)
	defer buffers.Close()
	parts, stored := p.parts(ctx, rows, buffers)
	data, err := transform.Collect(ctx, transform.Load{Name: p.in.Name(), Binding: p.bound,
		Pool: p.table.pool, Alloc: p.table.mem, Memory: p.table.opt.Memory, Stored: stored, Progress: p.table.opt.progressOf(PassRows),
		Warn: p.table.opt.Warn}, parts)
	if err == nil {
		p.table.opt.tell(p.in.Notes())
	}
	return data, err
}

// rowsToLoad returns the number of rows to load, or -1 if it is unknown until all are read. If rows are wide, it reads
// the labels to count the rows, because room for too many rows would be large.
func (p *Plan) rowsToLoad(ctx context.Context) (int64, error) {
	const large = 64 << 20
	if p.survey == nil && (p.in.Total() >= 0 || p.Bytes(int64(block.Rows(p.cols())), p.bound.Weight >= 0) < large) {
		return p.in.Total(), nil
	}
	s, err := p.surveyed(ctx)
	return s.rows, err
}

// parts returns the rows as one part for all workers. If there are enough blocks and row groups, it returns several
// parts, each for one worker. Then workers don't wait for each other, and they transpose values that are still in
// their cache. parts also returns the number of bytes of the rows in the files, or 0 if it is unknown.
func (p *Plan) parts(ctx context.Context, rows int64, buffers *parquetfile.Pool) (parts []transform.Part, stored int64) {
	const perWorker = 4
	in := p.withoutTokens()
	if arrays, is := in.(interface{ Stored() int64 }); is {
		stored = arrays.Stored()
	}
	part := func(in column.Input, first, last int64) transform.Part {
		return transform.Part{First: first, Last: last, Batches: func(pool column.Pool) iter.Seq2[*column.Batch, error] {
			return in.Batches(ctx, pool, p.table.mem)
		}}
	}
	files, ok := in.(*parquetfile.Input)
	if !ok {
		return []transform.Part{part(in, 0, rows)}, stored
	}
	workers := cap(p.table.pool)
	files.Bound(buffers, workers)
	ranges := []parquetfile.RowRange{{Last: files.Rows}}
	if workers > 1 && !p.bound.Drops() && files.Lanes(workers) == workers {
		if r := files.Ranges(perWorker*workers, int64(block.Rows(p.cols()))); len(r) >= 2*workers {
			ranges = r
		}
	}
	for _, r := range ranges {
		parts = append(parts, part(files.Part(r, buffers), r.First, r.Last))
	}
	return parts, stored
}
