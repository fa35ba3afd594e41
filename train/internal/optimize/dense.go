package optimize

import (
	"context"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
)

// The sums over dense rows have the order of linalg.Panel. A panel has up to linalg.PanelRows rows of a chunk, without those
// that the sum leaves out. Rows count as dense by the number of their elements that aren't 0, however they are stored.

const (
	elementsPerDenseElement = 4   // rows are dense if more than one element in this many isn't 0
	fewChunks               = 4   // with fewer chunks for each worker, the workers share each chunk
	leastSharedColumns      = 256 // they don't share rows of fewer columns
	panelsPerSharer         = 2   // number of panels of a worker between two waits for the other workers
)

// setDense decides whether rows with that many elements that aren't 0 count as dense, and whether the workers share chunks.
func (t *table) setDense(elements, rows int64) {
	t.isDense = elementsPerDenseElement*elements > rows*int64(t.cols)
	chunks, workers := (rows+block.ChunkRows-1)/block.ChunkRows, parallel.Workers(t.workers)
	if _, stay := t.src.(*block.Data); stay && t.isDense && t.cols >= leastSharedColumns && chunks < int64(fewChunks*workers) {
		t.sharers = workers
	}
}

// A panelRows is a panel of some rows of a chunk.
type panelRows struct {
	rows           []int32 // their numbers in the chunk
	panel, squares *linalg.Panel
	slice          block.Block
	scores         [linalg.PanelRows]float64
}

func newPanelRows(cols int) *panelRows {
	return &panelRows{panel: linalg.NewPanel(cols, 1), squares: linalg.NewPanel(cols, 1)}
}

// take chooses the next rows of n with takes(row), from row next on. It returns the number of the row after them.
func (p *panelRows) take(next, n int, takes func(r int) bool) int {
	p.rows = p.rows[:0]
	for ; next < n && len(p.rows) < linalg.PanelRows; next++ {
		if takes(next) {
			p.rows = append(p.rows, int32(next))
		}
	}
	return next
}

// load fills the panel with the chosen rows of a chunk.
func (p *panelRows) load(chunk block.Chunk) {
	n, first := len(p.rows), int(p.rows[0])
	if int(p.rows[n-1]) == first+n-1 {
		chunk.SliceInto(&p.slice, first, first+n)
		p.panel.Load(&p.slice)
		return
	}
	p.panel.Load(gatherRows(chunk, p.rows))
}

// setFactors sets the factors of the rows in a sum.
func (p *panelRows) setFactors(panel *linalg.Panel, factor func(i, row int) float64) {
	factors := panel.Factors()
	for i, r := range p.rows {
		factors[i*linalg.PanelCols] = factor(i, int(r))
	}
}

// panels returns the panels of a scratch for a chunk: one, or several if the workers share the chunk.
func (t *table) panels(c *scratch, chunk block.Chunk) []*panelRows {
	n := 1
	if chunk.Sparse == nil && t.sharers > 1 {
		n = panelsPerSharer * t.sharers
	}
	for len(c.panels) < n {
		c.panels = append(c.panels, newPanelRows(t.cols))
	}
	return c.panels[:n]
}

// eachPanel calls do with panels of the rows of a chunk with takes(row), maybe at the same time, and then add with the panels.
// It returns the number of these rows.
func (t *table) eachPanel(c *scratch, chunk block.Chunk, takes func(r int) bool, do func(*panelRows), add func([]*panelRows)) (n int64) {
	all := t.panels(c, chunk)
	for next := 0; next < chunk.Len(); {
		group := all[:0]
		for len(group) < len(all) && next < chunk.Len() {
			p := all[len(group)]
			if next = p.take(next, chunk.Len(), takes); len(p.rows) > 0 {
				group = all[:len(group)+1]
				n += int64(len(p.rows))
			}
		}
		if len(group) == 1 {
			do(group[0])
		} else { // no error: the context doesn't end
			parallel.For(context.Background(), t.sharers, len(group), func(_, i int) { do(group[i]) })
		}
		if add != nil && len(group) > 0 {
			add(group)
		}
	}
	return n
}

// add adds the sums over the rows of panels, or with squares over the squared rows, to the sums of the first panel.
func (t *table) add(group []*panelRows, squares bool) {
	panels := make([]*linalg.Panel, len(group))
	for i, p := range group {
		if panels[i] = p.panel; squares {
			panels[i] = p.squares
		}
	}
	if len(panels) == 1 {
		panels[0].Add()
		return
	}
	linalg.AddGroup(context.Background(), t.sharers, panels) // no error: the context doesn't end
}

// denseSums is columnSums for dense rows.
func (t *table) denseSums(c *scratch, chunk block.Chunk, factor, curvature []float64) {
	t.eachPanel(c, chunk, func(r int) bool { return factor[r] != 0 || curvature[r] != 0 }, func(p *panelRows) {
		p.load(chunk)
		p.squares.LoadSquares(p.panel)
		p.setFactors(p.panel, func(_, row int) float64 { return factor[row] })
		p.setFactors(p.squares, func(_, row int) float64 { return curvature[row] })
	}, func(group []*panelRows) {
		t.add(group, false)
		t.add(group, true)
	})
}

// denseProduct is product for dense rows. d has linalg.Pad(columns) elements.
func (t *table) denseProduct(c *scratch, chunk block.Chunk, d, curvature, scores []float64) int64 {
	return t.eachPanel(c, chunk, func(r int) bool { return curvature[r] != 0 }, func(p *panelRows) {
		p.writeScores(chunk, d, scores)
		p.setFactors(p.panel, func(i, row int) float64 { return curvature[row] * p.scores[i] })
	}, func(group []*panelRows) { t.add(group, false) })
}

// denseFlatScores is scoreFlatRows for dense rows. d has linalg.Pad(columns) elements.
func (t *table) denseFlatScores(c *scratch, chunk block.Chunk, d, curvature, scores []float64) int64 {
	return t.eachPanel(c, chunk, func(r int) bool { return curvature[r] == 0 }, func(p *panelRows) {
		p.writeScores(chunk, d, scores)
	}, nil)
}

// writeScores loads the rows of a chunk and writes their scores at d to scores.
func (p *panelRows) writeScores(chunk block.Chunk, d, scores []float64) {
	p.load(chunk)
	p.panel.Scores(d, p.scores[:len(p.rows)])
	for i, r := range p.rows {
		scores[r] = p.scores[i]
	}
}

// takeDenseSums is takeSums for dense rows.
func (t *table) takeDenseSums(c *scratch, p *batchSums, squares bool) {
	if len(c.panels) == 0 { // no row of the batch was loaded
		c.panels = append(c.panels, newPanelRows(t.cols))
	}
	p.sums = c.panels[0].panel.Take(0, t.zeros()[:0])
	if squares {
		p.squares = c.panels[0].squares.Take(0, t.zeros()[:0])
	}
}
