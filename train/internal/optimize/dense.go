package optimize

import (
	"halfspace/internal/block"
	"halfspace/internal/linalg"
)

// The sums over dense rows have the order of linalg.Panel. A panel has up to linalg.PanelRows rows of a chunk, without
// those that the sum leaves out. Rows count as dense by the number of their elements that aren't 0, however they are
// stored.

const mostDenseColumns = 8192 // a panel of more columns, with its sums, takes more than caches hold

// areDense tells whether rows with that many elements that aren't 0 count as dense.
func areDense(elements, rows int64, cols int) bool {
	return cols <= mostDenseColumns && linalg.AreDense(elements, rows, cols)
}

// A panelRows is a panel of some rows of a chunk, with sums over such panels.
type panelRows struct {
	rows           []int32 // their numbers in the chunk
	panel, squares *linalg.Panel
	scores         [linalg.PanelRows]float64
}

func newPanelRows(cols int) *panelRows {
	return &panelRows{panel: linalg.NewPanel(cols, 1), squares: linalg.NewPanel(cols, 1)}
}

// each calls do once the panel has the next rows of a chunk with takes(row), until there are no more. It returns the
// number of these rows.
func (p *panelRows) each(chunk block.Chunk, takes func(r int) bool, do func()) (n int64) {
	for next := 0; next < chunk.Len(); {
		for p.rows = p.rows[:0]; next < chunk.Len() && len(p.rows) < linalg.PanelRows; next++ {
			if takes(next) {
				p.rows = append(p.rows, int32(next))
			}
		}
		if len(p.rows) > 0 {
			n += int64(len(p.rows))
			p.panel.LoadRows(chunk.Block, p.rows)
			do()
		}
	}
	return n
}

// sums adds factor times row to the sums, and unless curvature is nil, curvature times squared row to the squares.
func (p *panelRows) sums(chunk block.Chunk, factor, curvature []float64) {
	takes := func(r int) bool { return factor[r] != 0 || curvature != nil && curvature[r] != 0 }
	p.each(chunk, takes, func() {
		p.setFactors(p.panel, func(_, row int) float64 { return factor[row] })
		p.panel.Add()
		if curvature == nil {
			return
		}
		p.squares.LoadSquares(p.panel)
		p.setFactors(p.squares, func(_, row int) float64 { return curvature[row] })
		p.squares.Add()
	})
}

// visit is table.visit for dense rows.
func (p *panelRows) visit(chunk block.Chunk, d []float64, takes func(r int) bool, scores []float64,
	factor func(r int, score float64) float64) int64 {
	return p.each(chunk, takes, func() {
		p.panel.Scores(d, p.scores[:len(p.rows)])
		for i, r := range p.rows {
			scores[r] = p.scores[i]
		}
		if factor != nil {
			p.setFactors(p.panel, func(i, row int) float64 { return factor(row, p.scores[i]) })
			p.panel.Add()
		}
	})
}

// setFactors sets the factors of the rows in a sum.
func (p *panelRows) setFactors(panel *linalg.Panel, factor func(i, row int) float64) {
	factors := panel.Factors()
	for i, r := range p.rows {
		factors[i*linalg.PanelCols] = factor(i, int(r))
	}
}
