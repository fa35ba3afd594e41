package optimize

import (
	"context"
	"slices"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/distributed"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// On a cluster, this process keeps the scores, labels, sample weights, curvatures and multipliers of all rows, and
// computes losses. Other processes make the sums over columns. A piece is one or more whole batches, so all sums have
// the order of a single process.

// firstPassChunk is the data of a chunk from the first pass.
type firstPassChunk struct {
	labels
	elements int64 // number of elements that aren't 0
	radius   float64
}

func (l *firstPassChunk) Fields() []any { return []any{&l.labels, &l.elements, &l.radius} }

// lookPass is the first pass on a cluster.
var lookPass = distributed.NewPerChunk("truncated.look", lookChunk)

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

// firstPassRemote is firstPass on a cluster. It reads the labels, weights and sizes of the rows in a separate pass,
// which isn't counted.
func (s *search) firstPassRemote(ctx context.Context) error {
	var elements []int64
	row := 0
	err := distributed.Reduce(ctx, s.Rows, s.Workers, lookPass, s.isExact, nil, func(l *firstPassChunk) {
		for r := range l.Y {
			s.y[row], s.weights[row] = l.at(r)
			row++
		}
		s.batches = append(s.batches, batch{End: len(elements) + 1, HasAllColumns: l.elements >= int64(s.cols)})
		elements, s.radius = append(elements, l.elements), max(s.radius, l.radius)
	})
	if err == nil {
		err = s.evaluate(ctx, &s.pointAtWeights, nil, nil)
	}
	if err != nil || s.isExact {
		return err
	}
	s.batches = nil
	return s.endFirstPass(ctx, elements)
}

// A piece is one or more batches of a pass on a cluster, and the numbers of their chunks and rows.
type piece struct {
	chunks  []int64
	batches []batch // the batches; their ends count from the first chunk of the piece
	lo, hi  int64   // rows lo to hi-1
}

// pieces cuts the batches of rows into pieces. If batches are small, the pieces have nearly the sizes of
// distributed.Consecutive.
func pieces(batches []batch, rows int64) (cut []piece) {
	first, rest := 0, batches
	for _, chunks := range distributed.Consecutive(rows) {
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

// tableOf returns the rows of a piece as a table. It returns distributed.ErrOtherRows if the arguments don't fit the rows.
func tableOf(src distributed.Piece, o *pieceArgs) (*table, error) {
	t, rows := newTable(src.Source, src.Workers), int(src.Rows())
	t.batches, t.isDense = o.Batches, o.IsDense
	before := 0
	for _, g := range o.Batches {
		if g.End <= before {
			return nil, distributed.ErrOtherRows
		}
		before = g.End
	}
	if o.Batches != nil && before != (rows+block.ChunkRows-1)/block.ChunkRows ||
		o.Factor == nil && len(o.Curvature) != rows || o.Curvature != nil && len(o.Curvature) != rows || o.Factor != nil && len(o.Factor) != rows {
		return nil, distributed.ErrOtherRows
	}
	return t, nil
}

// The tasks of the passes over batches. sumsTask and productTask return the sums of each batch of a piece; productTask
// also returns the scores of the rows with a curvature. flatScoresTask returns scores of single rows.
var (
	sumsTask       = distributed.NewOwn("truncated.sums", sumsOf)
	productTask    = distributed.NewOwn("truncated.product", productOf)
	flatScoresTask = distributed.NewOwn("truncated.rest", flatScoresOf)
)

func sumsOf(ctx context.Context, src distributed.Piece, _ struct{}, o *pieceArgs) (parts []*batchSums, err error) {
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

func productOf(ctx context.Context, src distributed.Piece, d []float64, o *pieceArgs) (parts []*batchSums, err error) {
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

func flatScoresOf(ctx context.Context, src distributed.Piece, d []float64, o *pieceArgs) (scores []float64, err error) {
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

// sumsRemote makes the pass of evaluate on the cluster. It calls merge with the sums of each batch.
func (s *search) sumsRemote(ctx context.Context, p *point, merge func(*batchSums)) error {
	factor, rows := make([]float64, s.Rows.Rows()), s.Rows.Rows()
	var parts []*batchSums
	err := parallel.MergeInOrder(ctx, s.Workers, len(s.batches), func(g int) *batchSums {
		c, t, chunk := s.scratch.Get().(*scratch), &batchSums{}, 0
		defer s.scratch.Put(c)
		if g > 0 {
			chunk = s.batches[g-1].End
		}
		for ; chunk < s.batches[g].End; chunk++ {
			first := int64(chunk) * block.ChunkRows
			s.lossSums(c, first, factor[first:min(rows, first+block.ChunkRows)], p, t)
		}
		return t
	}, func(t *batchSums) { parts = append(parts, t) })
	if err != nil {
		return err
	}
	cut := pieces(s.batches, rows)
	return distributed.EachOwn(ctx, s.Rows, sumsTask, struct{}{}, chunksOf(cut), func(i int) *pieceArgs {
		args := &pieceArgs{Batches: cut[i].batches, Factor: factor[cut[i].lo:cut[i].hi], IsDense: s.isDense}
		if !s.isExact {
			args.Curvature = p.Curvature[cut[i].lo:cut[i].hi]
		}
		return args
	}, func(sums []*batchSums) error {
		if len(sums) > len(parts) {
			return distributed.ErrOtherRows
		}
		for _, t := range sums {
			parts[0].columns, parts[0].sums, parts[0].squares = t.columns, t.sums, t.squares
			merge(parts[0])
			parts = parts[1:]
		}
		return nil
	})
}

// productRemote makes the pass of product on the cluster.
func (s *search) productRemote(ctx context.Context, d, scores []float64, merge func(*batchSums)) error {
	cut, row := pieces(s.batches, s.Rows.Rows()), 0
	return distributed.EachOwn(ctx, s.Rows, productTask, d, chunksOf(cut), s.curvatureArgs(cut, s.pointAtWeights.Curvature), func(sums []*batchSums) error {
		for _, t := range sums {
			row = spreadScores(scores, t.Scores, s.pointAtWeights.Curvature, row, false)
			t.visitedRows = int64(len(t.Scores))
			merge(t)
		}
		return nil
	})
}

// scoreFlatRowsRemote makes the pass of scoreFlatRows on the cluster.
func (s *search) scoreFlatRowsRemote(ctx context.Context, d, scores, curvature []float64, merge func(int64)) error {
	cut, row := pieces(s.batches, s.Rows.Rows()), 0
	for i := range cut {
		cut[i].batches = nil
	}
	return distributed.EachOwn(ctx, s.Rows, flatScoresTask, d, chunksOf(cut), s.curvatureArgs(cut, curvature), func(some []float64) error {
		row = spreadScores(scores, some, curvature, row, true)
		merge(int64(len(some)))
		return nil
	})
}

// curvatureArgs returns a function that makes the arguments of piece i: its batches, and the curvatures of its rows.
func (s *search) curvatureArgs(cut []piece, curvature []float64) func(i int) *pieceArgs {
	return func(i int) *pieceArgs {
		return &pieceArgs{IsDense: s.isDense, Batches: cut[i].batches, Curvature: curvature[cut[i].lo:cut[i].hi]}
	}
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
var hessianTask = distributed.NewOwn("truncated.hessian", hessianOf)

func hessianOf(ctx context.Context, src distributed.Piece, _ struct{}, curvature []float64) (products [][]float64, err error) {
	if int64(len(curvature)) != src.Rows() {
		return nil, distributed.ErrOtherRows
	}
	spec := src.Spec()
	err = block.ReduceChunks(ctx, src.Source, src.Workers, func(chunk block.Chunk) []float64 {
		own := curvature[chunk.First:][:chunk.Len()]
		return learner.ScatterChunk(spec, chunk, spec.Cols(), func(_ block.Chunk, s, _ []float64) { copy(s, own) })
	}, func(m []float64) { products = append(products, m) })
	return products, err
}

// hessianRemote adds X' diag(s) X with the curvatures s of the rows to m, on the cluster.
func (s *search) hessianRemote(ctx context.Context, m *gram.Triangle, curvature []float64) error {
	all, rows := distributed.Consecutive(s.Rows.Rows()), s.Rows.Rows()
	return distributed.EachOwn(ctx, s.Rows, hessianTask, struct{}{}, all, func(i int) []float64 {
		lo, hi := distributed.RowsOf(all[i], rows)
		return curvature[lo:hi]
	}, func(products [][]float64) error {
		for _, p := range products {
			f64.Axpy(m.Data, 1, p)
		}
		return nil
	})
}

// nearArgs are the weights and the slope of nearTask, and nearOwn the multipliers of the rows of a piece and the numbers of the
// rows that are near whatever their margins.
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
		Chunks []*nearChunk
		Base   []float64 // multipliers after the pass
	}
)

// nearTask finds the near rows of a piece.
var nearTask = distributed.NewOwn("truncated.near", nearOf)

func nearOf(ctx context.Context, src distributed.Piece, args *nearArgs, own *nearOwn) (r *nearResult, err error) {
	if int64(len(own.Base)) != src.Rows() {
		return nil, distributed.ErrOtherRows
	}
	r = &nearResult{Base: own.Base}
	err = newTable(src.Source, src.Workers).eachNear(ctx, args.W, &smoothHinge{slope: args.Slope, base: own.Base}, own.Kept,
		func(n *nearChunk) { r.Chunks = append(r.Chunks, n) })
	return r, err
}

// eachNearRemote is eachNear on the cluster of src.
func eachNearRemote(ctx context.Context, src block.Source, w []float64, h *smoothHinge, kept []int64, add func(*nearChunk)) error {
	all, next := distributed.Consecutive(src.Rows()), 0
	return distributed.EachOwn(ctx, src, nearTask, &nearArgs{w, h.slope}, all, func(i int) *nearOwn {
		lo, hi := distributed.RowsOf(all[i], src.Rows())
		first, _ := slices.BinarySearch(kept, lo)
		end, _ := slices.BinarySearch(kept, hi)
		own := &nearOwn{Base: h.base[lo:hi]}
		for _, row := range kept[first:end] {
			own.Kept = append(own.Kept, row-lo)
		}
		return own
	}, func(r *nearResult) error {
		lo, hi := distributed.RowsOf(all[next], src.Rows())
		if next++; int64(len(r.Base)) != hi-lo {
			return distributed.ErrOtherRows
		}
		copy(h.base[lo:hi], r.Base)
		for _, n := range r.Chunks {
			for k := range n.numbers {
				n.numbers[k] += lo
			}
			add(n)
		}
		return nil
	})
}

// pickTask returns the rows whose numbers in the piece are the argument: one block for each chunk with a picked row.
var pickTask = distributed.NewOwn("truncated.picked", pickRows)

func pickRows(ctx context.Context, src distributed.Piece, _ struct{}, rows []uint32) (blocks []*block.Block, err error) {
	for chunks, err := range block.Chunks(ctx, src.Source, 1) {
		if err != nil {
			return nil, err
		}
		for _, chunk := range chunks {
			var picked []int32
			for ; len(rows) > 0 && int64(rows[0]) < chunk.First+int64(chunk.Len()); rows = rows[1:] {
				picked = append(picked, int32(int64(rows[0])-chunk.First))
			}
			if picked != nil {
				rows := gatherRows(chunk, picked)
				rows.Y, rows.W = nil, nil
				blocks = append(blocks, rows)
			}
		}
	}
	return blocks, nil
}

// scatterPicked is gram.Scatter with one weight for each row, of which few aren't 0. It fetches the rows with a weight
// from the cluster. Rows of one chunk stay together in a chunk, so the sums have the same order.
func (s *search) scatterPicked(ctx context.Context, m *gram.Triangle, weights []float64) error {
	all := distributed.Consecutive(s.Rows.Rows())
	var blocks []*block.Block
	row := 0
	err := distributed.EachOwn(ctx, s.Rows, pickTask, struct{}{}, all, func(i int) (rows []uint32) {
		lo, hi := distributed.RowsOf(all[i], s.Rows.Rows())
		for r, w := range weights[lo:hi] {
			if w != 0 {
				rows = append(rows, uint32(r))
			}
		}
		return rows
	}, func(chunks []*block.Block) error {
		for _, b := range chunks {
			b = b.Clone() // a copy in aligned memory
			b.First = int64(len(blocks)) * block.ChunkRows
			for range b.Len() {
				for weights[row] == 0 {
					row++
				}
				b.W = append(b.W, weights[row])
				row++
			}
			blocks = append(blocks, b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	rows := block.AssumeValid(block.NewData(s.Rows.Spec(), blocks))
	return gram.Scatter(ctx, m, rows, func(chunk block.Chunk, s, _ []float64) { copy(s, chunk.W) }, s.Workers)
}
