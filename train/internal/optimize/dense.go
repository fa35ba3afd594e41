package optimize

import (
	"halfspace/block"
	"halfspace/internal/linalg"
)

// The sums over dense rows have the order of linalg.Panel. A panel has up to linalg.PanelRows rows of a chunk, without those
// that the sum leaves out. Rows count as dense by the number of their elements that aren't 0, however they are stored.

const (
	elementsPerDenseElement = 4    // rows are dense if more than one element in this many isn't 0
	mostDenseColumns        = 8192 // a panel of more columns, with its sums, takes more than caches hold
)

// areDense tells whether rows with that many elements that aren't 0 count as dense.
func areDense(elements, rows int64, cols int) bool {
	return cols <= mostDenseColumns && elementsPerDenseElement*elements > rows*int64(cols)
}

// A panelRows is a panel of some rows of a chunk, with sums over such panels.
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

// eachPanel calls do with panels of the rows of a chunk with takes(row). It returns the number of these rows.
func (c *scratch) eachPanel(chunk block.Chunk, takes func(r int) bool, do func(*panelRows)) (n int64) {
	p := c.panelRows()
	for next := 0; next < chunk.Len(); {
		if next = p.take(next, chunk.Len(), takes); len(p.rows) > 0 {
			n += int64(len(p.rows))
			p.load(chunk)
			do(p)
		}
	}
	return n
}

func (c *scratch) panelRows() *panelRows {
	if c.dense == nil {
		c.dense = newPanelRows(len(c.sums))
	}
	return c.dense
}

// denseSums is columnSums for dense rows.
func (c *scratch) denseSums(chunk block.Chunk, factor, curvature []float64) {
	c.eachPanel(chunk, func(r int) bool { return factor[r] != 0 || curvature[r] != 0 }, func(p *panelRows) {
		p.setFactors(p.panel, func(_, row int) float64 { return factor[row] })
		p.panel.Add()
		p.squares.LoadSquares(p.panel)
		p.setFactors(p.squares, func(_, row int) float64 { return curvature[row] })
		p.squares.Add()
	})
}

// denseProduct is product for dense rows.
func (c *scratch) denseProduct(chunk block.Chunk, d, curvature, scores []float64) int64 {
	return c.eachPanel(chunk, func(r int) bool { return curvature[r] != 0 }, func(p *panelRows) {
		p.writeScores(d, scores)
		p.setFactors(p.panel, func(i, row int) float64 { return curvature[row] * p.scores[i] })
		p.panel.Add()
	})
}

// denseFlatScores is scoreFlatRows for dense rows.
func (c *scratch) denseFlatScores(chunk block.Chunk, d, curvature, scores []float64) int64 {
	return c.eachPanel(chunk, func(r int) bool { return curvature[r] == 0 }, func(p *panelRows) { p.writeScores(d, scores) })
}

// writeScores writes the scores of the rows at d to scores, by their numbers in the chunk.
func (p *panelRows) writeScores(d, scores []float64) {
	p.panel.Scores(d, p.scores[:len(p.rows)])
	for i, r := range p.rows {
		scores[r] = p.scores[i]
	}
}

// takeDenseSums is takeSums for dense rows.
func (t *table) takeDenseSums(c *scratch, p *batchSums, squares bool) {
	rows := c.panelRows()
	p.sums = rows.panel.Take(0, t.zeros()[:0])
	if squares {
		p.squares = rows.squares.Take(0, t.zeros()[:0])
	}
}
