package linalg

import (
	"context"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

const (
	// PanelCols is the distance from the factors of a row to the factors of the next row, and the number of factors
	// that lie together.
	PanelCols = cols
)

const (
	cols             = microkernel.BlockCols
	lanes            = 16 // lanes of kernel.Dot
	panelSize        = PanelRows * cols
	blockSize        = cols * cols
	mostSumsOneByOne = 3 // a rank-k update computes up to this many sums faster one by one
	partsPerWorker   = 4 // AddGroup cuts the columns into this number of parts for each worker
)

// A Panel is a few rows of a block as float64, after the block's centring, in blocks of columns. Sparse rows stay
// sparse. It isn't safe for concurrent use.
type Panel struct {
	cols, rows     int
	sums           int
	wide           []float64
	ones, scores   []float64
	factors        []float64          // ends with a row that belongs to no panel; see Add
	dense          [][]float64        // for each PanelCols sums and each block of columns, a block of sums, whose first rows count
	sparse         *kernel.SparseRows // nil if the rows are dense
	picked         kernel.SparseRows  // memory of LoadRows
	isCentred      bool               // the sparse rows are in ptr, idx and val
	ptr            []int              // start of the elements of each centred row, and the end of the last row
	idx            []uint32
	val            []float64
	scatteredSums  [][]float64 // each sum over sparse rows
	part           []float64   // the sum over the rows of this panel
	touchedColumns []uint32    // columns of part that may differ from 0
}

// NewPanel returns a panel for rows of that many columns. It computes sums weighted sums over rows at a time.
func NewPanel(columns, sums int) *Panel {
	p := &Panel{cols: columns, sums: sums, ones: make([]float64, PanelRows), scores: make([]float64, PanelRows),
		factors: block.Alloc[float64]((sums+cols-1)/cols*panelSize + cols)}
	for i := range p.ones {
		p.ones[i] = 1
	}
	return p
}

// Pad returns the length of weights for that many columns, including the zeros at the end.
func Pad(columns int) int { return (columns + cols - 1) / cols * cols }

// Load fills the panel with rows, at most PanelRows. It keeps a reference to sparse rows until the next Load.
func (p *Panel) Load(rows *block.Block) {
	p.rows, p.sparse = rows.Len(), rows.Sparse
	if p.sparse != nil {
		if p.isCentred = rows.Centring != nil; p.isCentred {
			p.beginCentred()
			for r := range p.rows {
				p.centre(rows, r)
			}
		}
		return
	}
	p.makeWide()
	WidenPanel(p.wide, rows.X, p.ones[:p.rows], rows.Stride, p.cols, Pad(p.cols)/cols, rows.Centring)
}

// LoadRows fills the panel with the rows of a block that have the given numbers, in ascending order.
func (p *Panel) LoadRows(from *block.Block, numbers []int32) {
	p.rows, p.sparse, p.isCentred = len(numbers), nil, false
	switch {
	case from.Sparse == nil:
		p.makeWide()
		WidenRows(p.wide, from, numbers, p.ones, p.cols, Pad(p.cols)/cols)
	case from.Centring != nil:
		p.sparse, p.isCentred = from.Sparse, true
		p.beginCentred()
		for _, r := range numbers {
			p.centre(from, int(r))
		}
	default:
		to := &p.picked
		to.Ptr, to.Idx, to.Val = append(to.Ptr[:0], 0), to.Idx[:0], to.Val[:0]
		for _, r := range numbers {
			columns, values := from.Sparse.Row(int(r))
			to.Idx, to.Val = append(to.Idx, columns...), append(to.Val, values...)
			to.Ptr = append(to.Ptr, int64(len(to.Idx)))
		}
		p.sparse = to
	}
}

func (p *Panel) makeWide() {
	if p.wide == nil {
		p.wide = block.Alloc[float64](Pad(p.cols) * PanelRows)
	}
}

func (p *Panel) beginCentred() { p.ptr, p.idx, p.val = append(p.ptr[:0], 0), p.idx[:0], p.val[:0] }

// centre appends row r of a sparse block with a centring.
func (p *Panel) centre(rows *block.Block, r int) {
	p.idx, p.val = AppendCentred(rows, r, p.idx, p.val)
	p.ptr = append(p.ptr, len(p.idx))
}

// LoadSquares fills the panel with the squares of the elements of another panel's rows, which have as many columns.
func (p *Panel) LoadSquares(of *Panel) {
	p.rows, p.sparse = of.rows, of.sparse
	if p.sparse == nil {
		p.makeWide()
		for j := 0; j < len(of.wide); j += panelSize {
			squares := p.wide[j:][:p.rows*cols]
			for i, v := range of.wide[j:][:len(squares)] {
				squares[i] = v * v
			}
		}
		return
	}
	p.isCentred, p.ptr, p.idx, p.val = true, append(p.ptr[:0], 0), p.idx[:0], p.val[:0]
	for r := range p.rows {
		if of.isCentred {
			appendSquares(p, of.idx[of.ptr[r]:of.ptr[r+1]], of.val[of.ptr[r]:of.ptr[r+1]])
		} else {
			columns, values := of.sparse.Row(r)
			appendSquares(p, columns, values)
		}
	}
}

// appendSquares appends the squares of a sparse row.
func appendSquares[T float32 | float64](p *Panel, columns []uint32, values []T) {
	p.idx = append(p.idx, columns...)
	for _, v := range values {
		p.val = append(p.val, float64(v)*float64(v))
	}
	p.ptr = append(p.ptr, len(p.idx))
}

// row returns the columns and the values of a sparse row of a centred block.
func (p *Panel) row(r int) ([]uint32, []float64) {
	return p.idx[p.ptr[r]:p.ptr[r+1]], p.val[p.ptr[r]:p.ptr[r+1]]
}

// Scores writes each row's dot product with w, of Pad(columns) elements, to out: the sum over blocks of 32 columns, in
// order, of their dot products.
func (p *Panel) Scores(w, out []float64) {
	if p.sparse != nil {
		for r := range out {
			if p.isCentred {
				columns, values := p.row(r)
				out[r] = sparseScore(columns, values, w)
			} else {
				columns, values := p.sparse.Row(r)
				out[r] = sparseScore(columns, values, w)
			}
		}
		return
	}
	for j := 0; j < len(w); j += cols {
		x := p.wide[j*PanelRows:][:p.rows*cols]
		if j == 0 {
			f64.Scores(out, x, w[:cols])
			continue
		}
		f64.Scores(p.scores[:p.rows], x, w[j:j+cols])
		f64.Axpy(out, 1, p.scores[:p.rows])
	}
}

// sparseScore returns the score of a sparse row, summed in the order of dense rows. Elements that aren't stored would
// add zeros.
func sparseScore[T float32 | float64](columns []uint32, values []T, w []float64) (score float64) {
	for k := 0; k < len(columns); {
		first, c := columns[k]/cols, columns[k]
		if k+1 == len(columns) || columns[k+1]/cols != first { // the only element in its block
			score += float64(float64(values[k]) * w[c])
			k++
			continue
		}
		var lane [lanes]float64
		for ; k < len(columns) && columns[k]/cols == first; k++ {
			c := columns[k]
			lane[c%lanes] = math.FMA(float64(values[k]), w[c], lane[c%lanes])
		}
		for h := lanes / 2; h > 0; h /= 2 {
			for j := range h {
				lane[j] += lane[j+h]
			}
		}
		score += lane[0]
	}
	return score
}

// Factors returns the factors of the rows, which the caller sets before Add. Factor k of row r is element
// k/PanelCols*PanelRows*PanelCols + r*PanelCols + k%PanelCols. Factors beyond the number of sums stay 0.
func (p *Panel) Factors() []float64 { return p.factors }

// Add adds the sum over the rows of the panel of factor k times the row to sum k, for each k.
func (p *Panel) Add() {
	if p.sparse != nil {
		p.scatter()
		return
	}
	p.makeSums()
	p.addTo(p, 0, Pad(p.cols)/cols)
}

func (p *Panel) makeSums() {
	for len(p.dense) < len(p.factors)/panelSize {
		p.dense = append(p.dense, block.Alloc[float64](Pad(p.cols)*cols+mostSumsOneByOne*cols))
	}
}

// AddGroup is Add for several panels of dense rows, one after another, to the sums of the first panel. It uses up to
// workers goroutines, each for its own columns. The sums are the sums of one panel that is loaded with the rows of each
// panel in turn.
func AddGroup(ctx context.Context, workers int, panels []*Panel) error {
	first := panels[0]
	first.makeSums()
	blocks := Pad(first.cols) / cols
	parts := min(blocks, workers*partsPerWorker)
	return parallel.For(ctx, workers, parts, func(_, part int) {
		for _, p := range panels {
			p.addTo(first, part*blocks/parts, (part+1)*blocks/parts)
		}
	})
}

// addTo adds the sums over dense rows to the sums of another panel: the blocks of PanelCols columns from first to end.
func (p *Panel) addTo(to *Panel, first, end int) {
	for g, sums := range to.dense {
		n := min(cols, p.sums-g*cols)
		for j := first; j < end; j++ {
			rows := p.wide[j*panelSize:][:p.rows*cols]
			if n > mostSumsOneByOne {
				microkernel.RankKUpdate(sums[j*blockSize:][:blockSize], p.factors[g*panelSize:][:len(rows)], rows, (n+3)/4*4, true)
				continue
			}
			for k := range n {
				microkernel.RankKUpdate(sums[j*blockSize+k*cols:][:blockSize], p.factors[g*panelSize+k:][:len(rows)], rows, 1, true)
			}
		}
	}
}

func (p *Panel) makeScatteredSums() {
	for len(p.scatteredSums) < p.sums {
		p.scatteredSums = append(p.scatteredSums, make([]float64, p.cols))
	}
}

// scatter is Add for sparse rows.
func (p *Panel) scatter() {
	p.makeScatteredSums()
	if p.part == nil {
		p.part = make([]float64, p.cols)
	}
	for k, sum := range p.scatteredSums {
		factors := p.factors[k/cols*panelSize+k%cols:]
		p.touchedColumns = p.touchedColumns[:0]
		for r := range p.rows {
			f := factors[r*cols]
			if p.isCentred {
				columns, values := p.row(r)
				p.touchedColumns = addSparse(p.part, p.touchedColumns, columns, values, f)
			} else {
				columns, values := p.sparse.Row(r)
				p.touchedColumns = addSparse(p.part, p.touchedColumns, columns, values, f)
			}
		}
		for _, c := range p.touchedColumns { // the second visit of a column adds 0
			sum[c] += p.part[c]
			p.part[c] = 0
		}
	}
}

// addSparse adds f times a sparse row to a sum. It appends the columns where the sum was 0 to touched.
func addSparse[T float32 | float64](sum []float64, touched, columns []uint32, values []T, f float64) []uint32 {
	for i, c := range columns {
		v := sum[c]
		if v == 0 {
			touched = append(touched, c)
		}
		sum[c] = math.FMA(f, float64(values[i]), v)
	}
	return touched
}

// Take appends sum k to out and resets it to zeros. The panel forms a sum panel by panel: fma(factor, element, sum)
// from +0 over the rows of a panel, then over panels in order. All rows since the last Take must be dense, or all must
// be sparse.
func (p *Panel) Take(k int, out []float64) []float64 {
	if p.sparse != nil {
		p.makeScatteredSums()
		out = append(out, p.scatteredSums[k]...)
		clear(p.scatteredSums[k])
		return out
	}
	p.makeSums()
	for first := 0; first < p.cols; first += cols {
		sum := p.dense[k/cols][first/cols*blockSize+k%cols*cols:][:cols]
		out = append(out, sum[:min(cols, p.cols-first)]...)
		clear(sum)
	}
	return out
}
