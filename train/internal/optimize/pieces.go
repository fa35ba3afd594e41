package optimize

import (
	"context"
	"slices"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// If other processes read the rows, this process keeps the scores, labels, sample weights, curvatures and multipliers of
// all rows, and computes losses. The other processes make the sums over columns. They get the curvatures and factors of
// their rows, not the weights: scores are sums over the steps of the search, and scores computed from the weights would
// differ from them in the last digits. A piece is one or more whole batches, so all sums have the order of a single
// process.

// firstPassChunk is the data of a chunk from the first pass.
type firstPassChunk struct {
	labels
	elements int64 // number of elements that aren't 0
	radius   float64
}

func (l *firstPassChunk) Fields() []any { return []any{&l.labels, &l.elements, &l.radius} }

// lookPass is the first pass.
var lookPass = passes.New("truncated.look", lookChunk)

func lookChunk(src block.Source, isExact bool) func(block.Chunk) *firstPassChunk {
	features := src.Spec().Width()
	return func(chunk block.Chunk) *firstPassChunk {
		var rows linalg.SparseReader
		rows.Begin(chunk)
		l := &firstPassChunk{labels: labelsOf(chunk)}
		for r := range chunk.Len() {
			norm, elements := rowNorm(chunk, &rows, r, features, isExact)
			l.elements += int64(elements)
			l.radius = max(l.radius, norm)
		}
		return l
	}
}

// A piece is one or more batches of a pass, and the numbers of their chunks and rows.
type piece struct {
	chunks  []int64
	batches []batch // the batches; their ends count from the first chunk of the piece
	lo, hi  int64   // rows lo to hi-1
}

// pieces cuts the batches of rows into pieces. If batches are small, the pieces have nearly the sizes of
// passes.Consecutive.
func pieces(batches []batch, rows int64) (cut []piece) {
	first, rest := 0, batches
	for _, chunks := range passes.Consecutive(rows) {
		p, end := piece{lo: int64(first) * block.ChunkRows}, int(chunks[len(chunks)-1])+1
		last := first
		for ; len(rest) > 0 && rest[0].End <= end; rest = rest[1:] {
			last = rest[0].End
			p.batches = append(p.batches, batch{last - first, rest[0].HasAllColumns})
		}
		for ; first < last; first++ {
			p.chunks = append(p.chunks, int64(first))
		}
		if p.hi = min(rows, int64(last)*block.ChunkRows); len(p.chunks) > 0 {
			cut = append(cut, p)
		}
	}
	return cut
}

func chunksOf(cut []piece) (chunks [][]int64) {
	for _, p := range cut {
		chunks = append(chunks, p.chunks)
	}
	return chunks
}

// pieceArgs is the arguments of one piece: its batches, and factors and curvatures of its rows.
type pieceArgs struct {
	Batches           []batch
	Factor, Curvature []float64 // one number for each row; Factor is nil in products, Curvature in sums without squares
	IsDense           bool
}

// tableOf returns the rows of a piece as a table. It returns passes.ErrOtherRows if the arguments don't fit the
// rows.
func tableOf(src passes.Piece, o *pieceArgs) (*table, error) {
	t, rows := newTable(src.Source, src.Workers), int(src.Rows())
	t.batches, t.isDense = o.Batches, o.IsDense
	before := 0
	for _, g := range o.Batches {
		if g.End <= before {
			return nil, passes.ErrOtherRows
		}
		before = g.End
	}
	isWrong := func(v []float64) bool { return v != nil && len(v) != rows }
	if before != (rows+block.ChunkRows-1)/block.ChunkRows || o.Factor == nil && o.Curvature == nil || isWrong(o.Factor) ||
		isWrong(o.Curvature) {
		return nil, passes.ErrOtherRows
	}
	return t, nil
}

// The tasks of the passes over batches. sumsTask and productTask return the sums of each batch of a piece; productTask
// also returns the scores of the rows with a curvature. flatScoresTask returns scores of single rows.
var (
	sumsTask       = passes.NewOwnTask("truncated.sums", sumsOf)
	productTask    = passes.NewOwnTask("truncated.product", productOf)
	flatScoresTask = passes.NewOwnTask("truncated.rest", flatScoresOf)
)

func sumsOf(ctx context.Context, src passes.Piece, _ struct{}, o *pieceArgs) (parts []*batchSums, err error) {
	t, err := tableOf(src, o)
	if err != nil {
		return nil, err
	}
	err = t.pass(ctx, o.Curvature != nil, func(c *scratch, chunk block.Chunk, _ *batchSums) {
		curvature := o.Curvature
		if curvature != nil {
			curvature = curvature[chunk.First:]
		}
		t.columnSums(c, chunk, o.Factor[chunk.First:][:chunk.Len()], curvature)
	}, func(p *batchSums) { parts = append(parts, p) })
	return parts, err
}

func productOf(ctx context.Context, src passes.Piece, d []float64, o *pieceArgs) (parts []*batchSums, err error) {
	t, err := tableOf(src, o)
	if err != nil {
		return nil, err
	}
	d = t.pad(d)
	err = t.pass(ctx, false, func(c *scratch, chunk block.Chunk, p *batchSums) {
		curvature := o.Curvature[chunk.First:][:chunk.Len()]
		t.product(c, chunk, d, curvature, c.z[:])
		p.Scores = appendScores(p.Scores, c.z[:], curvature, false)
	}, func(p *batchSums) { parts = append(parts, p) })
	return parts, err
}

func flatScoresOf(ctx context.Context, src passes.Piece, d []float64, o *pieceArgs) (scores []float64, err error) {
	t, err := tableOf(src, o)
	if err != nil {
		return nil, err
	}
	d = t.pad(d)
	err = block.ReduceChunks(ctx, src.Source, src.Workers, func(chunk block.Chunk) []float64 {
		c := t.scratch.Get().(*scratch)
		defer t.scratch.Put(c)
		curvature := o.Curvature[chunk.First:][:chunk.Len()]
		t.scoreFlatRows(c, chunk, d, curvature, c.z[:])
		return appendScores(nil, c.z[:], curvature, true)
	}, func(z []float64) { scores = append(scores, z...) })
	return scores, err
}

// appendScores appends the scores of the rows without a curvature if flat is set, and of the other rows if not.
func appendScores(some, scores, curvature []float64, flat bool) []float64 {
	for r, c := range curvature {
		if (c == 0) == flat {
			some = append(some, scores[r])
		}
	}
	return some
}

// sumsRemote makes the pass of columnSums in other processes. It calls merge with the sums of each batch. A nil curvature
// makes no squares.
func (t *table) sumsRemote(ctx context.Context, factor, curvature []float64, merge func(*batchSums)) error {
	cut, n := pieces(t.batches, t.src.Rows()), 0
	err := sumsTask.Each(ctx, t.src, struct{}{}, chunksOf(cut), func(i int) *pieceArgs {
		args := t.argsOf(cut[i], curvature)
		args.Factor = factor[cut[i].lo:cut[i].hi]
		return args
	}, func(sums []*batchSums) error {
		if n += len(sums); n > len(t.batches) {
			return passes.ErrOtherRows
		}
		for _, t := range sums {
			merge(t)
		}
		return nil
	})
	if err == nil && n < len(t.batches) {
		err = passes.ErrOtherRows
	}
	return err
}

// productRemote makes the pass of product in other processes.
func (t *table) productRemote(ctx context.Context, d, curvature, scores []float64, merge func(*batchSums)) error {
	cut, row := pieces(t.batches, t.src.Rows()), 0
	return productTask.Each(ctx, t.src, d, chunksOf(cut),
		func(i int) *pieceArgs { return t.argsOf(cut[i], curvature) }, func(sums []*batchSums) error {
			for _, t := range sums {
				row = spreadScores(scores, t.Scores, curvature, row, false)
				t.visitedRows = int64(len(t.Scores))
				merge(t)
			}
			return nil
		})
}

// flatScoresRemote makes the pass of scoreFlatRows in other processes.
func (t *table) flatScoresRemote(ctx context.Context, d, curvature, scores []float64, merge func(int64)) error {
	cut, row := pieces(t.batches, t.src.Rows()), 0
	return flatScoresTask.Each(ctx, t.src, d, chunksOf(cut),
		func(i int) *pieceArgs { return t.argsOf(cut[i], curvature) }, func(some []float64) error {
			row = spreadScores(scores, some, curvature, row, true)
			merge(int64(len(some)))
			return nil
		})
}

// argsOf returns the arguments of a piece: its batches, and the curvatures of its rows.
func (t *table) argsOf(p piece, curvature []float64) *pieceArgs {
	args := &pieceArgs{IsDense: t.isDense, Batches: p.batches}
	if curvature != nil {
		args.Curvature = curvature[p.lo:p.hi]
	}
	return args
}

// spreadScores is the inverse of appendScores: it writes the scores some to scores, from number row on. It returns the
// number of the next row.
func spreadScores(scores, some, curvature []float64, row int, flat bool) int {
	for _, z := range some {
		for (curvature[row] == 0) != flat {
			row++
		}
		scores[row] = z
		row++
	}
	return row
}

// hessianTask returns, for each chunk of a piece, X' diag(s) X with the curvatures s of its rows.
var hessianTask = passes.NewOwnTask("truncated.hessian", hessianOf)

func hessianOf(ctx context.Context, src passes.Piece, _ struct{}, curvature []float64) (products [][]float64, err error) {
	if int64(len(curvature)) != src.Rows() {
		return nil, passes.ErrOtherRows
	}
	spec := src.Spec()
	err = block.ReduceChunks(ctx, src.Source, src.Workers, func(chunk block.Chunk) []float64 {
		own := curvature[chunk.First:][:chunk.Len()]
		return learner.ScatterChunk(spec, chunk, spec.Cols(), func(_ block.Chunk, s, _ []float64) { copy(s, own) })
	}, func(m []float64) { products = append(products, m) })
	return products, err
}

// hessianRemote adds X' diag(s) X with the curvatures s of the rows to m, in other processes.
func (t *table) hessianRemote(ctx context.Context, m *gram.Triangle, curvature []float64) error {
	all, rows := passes.Consecutive(t.src.Rows()), t.src.Rows()
	return hessianTask.Each(ctx, t.src, struct{}{}, all, func(i int) []float64 {
		lo, hi := passes.RowsOf(all[i], rows)
		return curvature[lo:hi]
	}, func(products [][]float64) error {
		for _, p := range products {
			f64.Axpy(m.Data, 1, p)
		}
		return nil
	})
}

// nearArgs are the weights and the slope of nearTask, and nearOwn the multipliers of the rows of a piece and the
// numbers of the rows that are near whatever their margins.
type (
	nearArgs struct {
		W     []float64
		Slope float64
	}
	nearOwn struct {
		Base []float64
		Kept []int64
	}
	nearResult struct {
		Chunks []*nearRows
		Base   []float64 // multipliers after the pass
	}
)

// nearTask finds the near rows of a piece.
var nearTask = passes.NewOwnTask("truncated.near", nearOf)

func nearOf(ctx context.Context, src passes.Piece, args *nearArgs, own *nearOwn) (r *nearResult, err error) {
	if int64(len(own.Base)) != src.Rows() {
		return nil, passes.ErrOtherRows
	}
	r = &nearResult{Base: own.Base}
	err = newTable(src.Source, src.Workers).eachNear(ctx, args.W, &smoothHinge{Slope: args.Slope, Base: own.Base}, own.Kept,
		func(n *nearRows) { r.Chunks = append(r.Chunks, n) })
	return r, err
}

// eachNearRemote is eachNear in the processes that read src.
func eachNearRemote(ctx context.Context, src block.Source, w []float64, h *smoothHinge, kept []int64, add func(*nearRows)) error {
	all, next := passes.Consecutive(src.Rows()), 0
	return nearTask.Each(ctx, src, &nearArgs{w, h.Slope}, all, func(i int) *nearOwn {
		lo, hi := passes.RowsOf(all[i], src.Rows())
		first, _ := slices.BinarySearch(kept, lo)
		end, _ := slices.BinarySearch(kept, hi)
		own := &nearOwn{Base: h.Base[lo:hi]}
		for _, row := range kept[first:end] {
			own.Kept = append(own.Kept, row-lo)
		}
		return own
	}, func(r *nearResult) error {
		lo, hi := passes.RowsOf(all[next], src.Rows())
		if next++; int64(len(r.Base)) != hi-lo {
			return passes.ErrOtherRows
		}
		copy(h.Base[lo:hi], r.Base)
		for _, n := range r.Chunks {
			for k := range n.numbers {
				n.numbers[k] += lo
			}
			add(n)
		}
		return nil
	})
}

// scatterPicked is gram.Scatter with one weight for each row, of which few aren't 0. It gathers the rows with a weight.
// Rows of one chunk stay together in a chunk, so the sums have the same order.
func (t *table) scatterPicked(ctx context.Context, m *gram.Triangle, weights []float64) error {
	var picked []int64
	for row, w := range weights {
		if w != 0 {
			picked = append(picked, int64(row))
		}
	}
	blocks, err := passes.Gather(ctx, t.src, picked)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		b.W = b.W[:0]
		for range b.Len() {
			b.W, picked = append(b.W, weights[picked[0]]), picked[1:]
		}
	}
	rows := block.AssumeValid(block.NewData(t.src.Spec(), blocks))
	return gram.Scatter(ctx, m, rows, func(chunk block.Chunk, s, _ []float64) { copy(s, chunk.W) }, t.workers)
}
