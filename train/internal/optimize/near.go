package optimize

import (
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/schema"
)

// nearRows are the rows near their kinks, of a chunk or of all chunks, and sums over the other rows.
type nearRows struct {
	blocks       []*block.Block // near rows of each chunk
	base, scores []float64      // of each near row
	numbers      []int64
	nearWeights  [2]float64 // sum of the sample weights of the near rows of each class
	fixed        fixedRows  // the other rows; of a chunk, without the vector
	sums         batchSums  // of a chunk: the vector
	loss, weight float64    // sums over all rows
}

func (n *nearRows) Fields() []any {
	return []any{&n.blocks, &n.base, &n.scores, &n.numbers, &n.nearWeights, &n.fixed, &n.sums, &n.loss, &n.weight}
}

// add adds the next chunk.
func (n *nearRows) add(t *table, c *nearRows) {
	n.loss += c.loss
	n.weight += c.weight
	for class := range n.nearWeights {
		n.fixed.duals[class] += c.fixed.duals[class]
		n.nearWeights[class] += c.nearWeights[class]
	}
	t.addTo(n.fixed.vector, &c.sums, c.sums.sums)
	n.blocks, n.numbers = append(n.blocks, c.blocks...), append(n.numbers, c.numbers...)
	n.base, n.scores = append(n.base, c.base...), append(n.scores, c.scores...)
}

// canBalance tells whether dual variables of the near rows can make the sums of both classes equal.
func (n *nearRows) canBalance() bool {
	duals := n.fixed.duals
	return duals[0] <= duals[1]+n.nearWeights[1] && duals[1] <= duals[0]+n.nearWeights[0]
}

// view returns the near rows in blocks.
func (n *nearRows) view(spec *schema.Spec) *block.Data {
	var blocks []*block.Block
	per, first, total := block.Rows(spec.Cols()), int64(0), len(n.numbers)
	var b *block.Block
	for _, rows := range n.blocks {
		for i := range rows.Y {
			if b == nil || len(b.Y) == per {
				if b = (&block.Block{First: first}); rows.Sparse == nil {
					b.X = make([]float32, 0, min(per, total-int(first))*rows.Stride)
				}
				blocks = append(blocks, b)
			}
			b.AppendRow(rows, i)
			first++
		}
	}
	return block.NewData(spec, blocks)
}

// eachNear makes a pass over all rows, and calls add with each chunk, in row order. kept are the numbers of rows that
// are near whatever their margins. It sets the multiplier of each row to its dual variable.
func (t *table) eachNear(ctx context.Context, w []float64, h *smoothHinge, kept []int64, add func(*nearRows)) error {
	padded := t.pad(w)
	t.isDense = t.cols <= mostDenseColumns
	return block.ReduceChunks(ctx, t.src, t.workers, func(chunk block.Chunk) *nearRows {
		first, _ := slices.BinarySearch(kept, chunk.First)
		return t.nearOfChunk(chunk, padded, h, kept[first:])
	}, add)
}

// nearOfChunk returns the near rows of a chunk. kept is the numbers of rows that are near whatever their margins, from
// the first row of the chunk on.
func (t *table) nearOfChunk(chunk block.Chunk, w []float64, h *smoothHinge, kept []int64) *nearRows {
	c, n := t.scratch.Get().(*scratch), &nearRows{}
	defer t.scratch.Put(c)
	var picked []int
	t.visit(c, chunk, w, func(r int) bool { return chunk.Weight(r) > 0 }, c.z[:], func(r int, z float64) float64 {
		row, y, weight := chunk.First+int64(r), float64(chunk.Y[r]), chunk.Weight(r)
		u, class := 1-float64(z*y), ClassOf(y)
		n.loss += float64(max(0, u) * weight)
		n.weight += weight
		was := h.Base[row]
		a := h.dual(row, u)
		h.Base[row] = a
		for len(kept) > 0 && kept[0] < row {
			kept = kept[1:]
		}
		isKept := len(kept) > 0 && kept[0] == row
		if leaves := a != was && (was == 0 || was == 1); leaves || isKept || a > 0 && a < 1 || h.isNear(u) {
			n.base, n.scores, n.numbers = append(n.base, a), append(n.scores, z), append(n.numbers, row)
			n.nearWeights[class] += weight
			picked = append(picked, r)
			return 0
		}
		n.fixed.duals[class] += float64(a * weight)
		return float64(float64(a*weight) * y)
	})
	n.blocks = []*block.Block{chunk.Gather(picked)}
	t.takeSums(c, &n.sums, false)
	return n
}
