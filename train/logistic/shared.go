package logistic

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
)

const (
	fewChunks          = 4       // with fewer chunks for each worker, the workers share each chunk
	leastSharedColumns = 256     // they don't share rows of fewer columns
	panelsPerWorker    = 2       // most panels of a worker between two waits for the other workers
	groupBytes         = 1 << 25 // most bytes of the panels between two waits, if there are more panels than workers
)

// sharesChunks tells whether a pass goes from chunk to chunk, and all workers share a chunk: if the rows are dense and
// wide, and there are so few chunks that some workers would have nothing to do.
func (p *problem) sharesChunks(ctx context.Context) bool {
	chunks, workers := (p.src.Rows()+block.ChunkRows-1)/block.ChunkRows, parallel.Workers(p.workers)
	cluster, _ := block.RemoteOf(p.src)
	if workers == 1 || chunks >= int64(fewChunks*workers) || p.cols < leastSharedColumns || cluster != nil {
		return false
	}
	for b, err := range p.src.Blocks(ctx) {
		return err == nil && b.Sparse == nil
	}
	return false
}

// sharedChunk is chunk for dense rows, by all workers: each computes the scores of some panels, and then the gradient of
// some columns. Every sum has the order of chunk.
func (p *problem) sharedChunk(chunk block.Chunk, w []float64) sums {
	ctx, workers := context.Background(), parallel.Workers(p.workers)
	r := sums{Margin: math.Inf(1), LeastWeight: math.Inf(1), Gradient: p.zeros()}
	most := max(workers, min(workers*panelsPerWorker, groupBytes/(8*p.stride*linalg.PanelRows)))
	group, panels := make([]*scratch, most), []*linalg.Panel(nil)
	for i := range group {
		group[i] = p.scratch.Get().(*scratch)
		defer p.scratch.Put(group[i])
		panels = append(panels, group[i].panel)
	}
	for first := 0; first < chunk.Len(); first += len(group) * linalg.PanelRows {
		n := min(len(group), (chunk.Len()-first+linalg.PanelRows-1)/linalg.PanelRows)
		parts := make([]sums, n)
		parallel.For(ctx, workers, n, func(_, i int) { // no error: ctx doesn't end
			c, lo := group[i], first+i*linalg.PanelRows
			chunk.SliceInto(&c.rows, lo, min(chunk.Len(), lo+linalg.PanelRows))
			c.panel.Load(&c.rows)
			parts[i].Margin = r.Margin
			p.losses(c, &c.rows, w, c.s[:c.rows.Len()], &parts[i])
		})
		linalg.AddGroup(ctx, workers, panels[:n])
		for i, part := range parts {
			r.Margin, r.LargestScore = min(r.Margin, part.Margin), max(r.LargestScore, part.LargestScore)
			if p.vectors == 1 {
				r.Loss += part.Loss
				continue
			}
			for _, v := range group[i].losses[:group[i].rows.Len()] {
				r.Loss += v
			}
		}
	}
	p.takeGradient(group[0], r.Gradient)
	r.addWeights(chunk.W, chunk.Len())
	return r
}
