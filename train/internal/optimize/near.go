package optimize

import (
	"context"
	"slices"

	"halfspace/block"
)

// A nearChunk is the near rows of a chunk, and sums over its rows.
type nearChunk struct {
	rows         *block.Block
	base, scores []float64 // of each near row
	numbers      []int64
	nearWeights  [2]float64 // sum of the sample weights of the near rows of each class
	duals        [2]float64 // sum of the dual variables of the other rows of each class
	fixed        batchSums  // sum of dual variable times label times row of these rows
	loss, weight float64    // sums over all rows
}

func (n *nearChunk) Fields() []any {
	return []any{&n.rows, &n.base, &n.scores, &n.numbers, &n.nearWeights[0], &n.nearWeights[1], &n.duals[0], &n.duals[1], &n.fixed,
		&n.loss, &n.weight}
}

// eachNear makes a pass over all rows, and calls add with each chunk, in row order. kept are the numbers of rows that
// are near whatever their margins. It sets the multiplier of each row to its dual variable.
func (t *table) eachNear(ctx context.Context, w []float64, h *smoothHinge, kept []int64, add func(*nearChunk)) error {
	padded := t.pad(w)
	t.isDense = t.cols <= mostDenseColumns
	return block.ReduceChunks(ctx, t.src, t.workers, func(chunk block.Chunk) *nearChunk {
		first, _ := slices.BinarySearch(kept, chunk.First)
		return t.nearOfChunk(chunk, padded, h, kept[first:])
	}, add)
}

// nearOfChunk returns the near rows of a chunk. kept is the numbers of rows that are near whatever their margins, from
// the first row of the chunk on.
func (t *table) nearOfChunk(chunk block.Chunk, w []float64, h *smoothHinge, kept []int64) *nearChunk {
	c, n := t.scratch.Get().(*scratch), &nearChunk{}
	defer t.scratch.Put(c)
	var picked []int32
	t.visit(c, chunk, w, func(r int) bool { return chunk.Weight(r) > 0 }, c.z[:], func(r int, z float64) float64 {
		row, y, weight := chunk.First+int64(r), float64(chunk.Y[r]), chunk.Weight(r)
		u, class := 1-float64(z*y), classOf(y)
		n.loss += float64(max(0, u) * weight)
		n.weight += weight
		was := h.base[row]
		a := h.dual(row, u)
		h.base[row] = a
		for len(kept) > 0 && kept[0] < row {
			kept = kept[1:]
		}
		isKept := len(kept) > 0 && kept[0] == row
		if leaves := a != was && (was == 0 || was == 1); leaves || isKept || a > 0 && a < 1 || h.isNear(u) {
			n.base, n.scores, n.numbers = append(n.base, a), append(n.scores, z), append(n.numbers, row)
			n.nearWeights[class] += weight
			picked = append(picked, int32(r))
			return 0
		}
		n.duals[class] += float64(a * weight)
		return float64(float64(a*weight) * y)
	})
	n.rows = gatherRows(chunk, picked)
	t.takeSums(c, &n.fixed, false)
	return n
}
