package optimize

import (
	"context"
	"math"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	leastBatches            = 8  // least number of batches of chunks, unless there are fewer chunks
	batchElementsPerColumn  = 16 // a larger batch has this number of elements for each column
	columnsPerListedElement = 4  // a batch with fewer elements than columns divided by this lists the columns it touches
)

// A table is rows, and work memory for sums over batches of their chunks.
type table struct {
	src         block.Source
	workers     int
	cols        int
	isDense     bool          // the sums have the order of dense rows; see dense.go
	forms       []form        // form of each chunk; nil if unknown
	batches     []batch       // nil: each chunk is a batch
	chunks      []block.Chunk // chunks of rows in memory, once there are batches
	scratch     sync.Pool     // holds *scratch
	zeroVectors sync.Pool     // holds *[]float64: zeros for all columns
}

func newTable(src block.Source, workers int) *table {
	t := &table{src: src, workers: workers, cols: src.Spec().Cols()}
	t.scratch.New = func() any { return &scratch{sums: make([]float64, t.cols), squares: make([]float64, t.cols)} }
	return t
}

// A scratch is the work memory for the rows of a batch. Its sums are 0 between batches. For a batch with far fewer
// elements than there are columns, it lists the touched columns, and the batchSums have only these. So the time and the
// memory of the batchSums don't depend on the number of columns.
type scratch struct {
	sums, squares  []float64 // for each column
	hasAllColumns  bool      // see batch.HasAllColumns; touchedColumns isn't used
	touchedColumns []uint32  // if hasAllColumns is false: columns of sums and squares that may not be 0; a column may occur twice
	reader         linalg.SparseReader
	dense          *panelRows // for dense rows; nil: there were none

	z, factor, curvature, loss [block.ChunkRows]float64
}

// A batchSums is the sums over the rows of a batch.
type batchSums struct {
	point         // without vectors; from another process, scores has the scores of some of the rows
	radius        float64
	elements      int64    // number of elements, from the first pass, whose batches are chunks
	visitedRows   int64    // number of visited rows
	columns       []uint32 // columns of sums and squares; nil: all columns
	sums, squares []float64
}

func (p *batchSums) Fields() []any {
	return []any{&p.point, &p.radius, &p.elements, &p.visitedRows, &p.columns, &p.sums, &p.squares}
}

// A point is weights, and the sums that a pass over the rows computes at them.
type point struct {
	W               []float64
	Loss            float64
	Objective       float64
	SmoothObjective float64    // function that the steps minimise: the objective, or the objective with a smooth form of the loss
	Weight          float64    // sum of the sample weights
	Gradient        []float64  // gradient of the objective
	Diagonal        []float64  // diagonal of the Hessian
	Scores          []float64  // scores of the rows
	Curvature       []float64  // curvature of each row's loss times its sample weight
	Duals           [2]float64 // sum of the dual variables of each class
	Margins         [2]float64 // sum of dual variable times margin of each class
	Entropies       [2]float64 // part of each class in the dual objective
}

// reset sets the sums to 0. It allocates their memory, for the given numbers of columns and rows, at its first call.
func (p *point) reset(cols, rows int) {
	if p.Gradient == nil {
		p.Gradient, p.Diagonal, p.Curvature = make([]float64, cols), make([]float64, cols), make([]float64, rows)
	}
	clear(p.Gradient)
	clear(p.Diagonal)
	*p = point{W: p.W, Scores: p.Scores, Gradient: p.Gradient, Diagonal: p.Diagonal, Curvature: p.Curvature}
}

// A form is how the rows of a chunk are read. All forms give the same elements, without zeros, because the order of a
// sum depends on the number of elements before each element.
type form struct {
	elements int // number of elements that aren't 0
	// rows, for a dense chunk of which at most a quarter of the elements aren't 0, is a copy without zeros. Otherwise it
	// is nil.
	rows *kernel.SparseRows
}

// read returns a reader of the rows of a chunk.
func (t *table) read(c *scratch, chunk block.Chunk) *linalg.SparseReader {
	var f form
	if t.forms != nil {
		f = t.forms[chunk.Number]
	}
	switch {
	case f.rows != nil:
		c.reader.Read(f.rows)
	case t.forms == nil || chunk.Centring != nil:
		c.reader.Begin(chunk)
	case chunk.Sparse == nil:
		c.reader.ReadDense(chunk, f.elements == chunk.Len()*chunk.Cols)
	default:
		c.reader.ReadSparse(chunk, f.elements == int(chunk.Sparse.Ptr[chunk.Len()]-chunk.Sparse.Ptr[0]))
	}
	return &c.reader
}

// storeForm stores the form of a chunk. If a dense chunk in memory has many zeros, storeForm copies its nonzero
// elements, because skipping zeros would take most of the time of a pass.
func (t *table) storeForm(chunk block.Chunk) {
	f := &t.forms[chunk.Number]
	f.elements = linalg.Elements(chunk)
	if chunk.Sparse != nil || chunk.Centring != nil {
		return
	}
	if _, stay := t.src.(*block.Data); stay && !linalg.AreDense(int64(f.elements), int64(chunk.Len()), chunk.Stride) {
		f.rows = linalg.SparseRows(chunk, false, &kernel.SparseRows{Ptr: make([]int64, 0, chunk.Len()+1),
			Idx: make([]uint32, 0, f.elements), Val: make([]float32, 0, f.elements)})
	}
}

// makeBatches joins consecutive chunks to batches, which depend only on the chunks' numbers of elements. It returns the
// number of all elements. Sums are made within a batch in row order, and then over the batches in row order. Adding the
// sums of a batch to the total takes little time compared with making them.
func (t *table) makeBatches(elements []int64) (total int64) {
	have := int64(0)
	for _, n := range elements {
		total += n
	}
	enough := min(total/leastBatches, batchElementsPerColumn*int64(t.cols))
	for k, n := range elements {
		if have += n; have >= enough || k+1 == len(elements) {
			t.batches = append(t.batches, batch{End: k + 1, HasAllColumns: columnsPerListedElement*have >= int64(t.cols)})
			have = 0
		}
	}
	return total
}

// A batch is the chunks from the end of the batch before up to end-1.
type batch struct {
	End           int
	HasAllColumns bool // to list the touched columns takes longer than to add all columns
}

// pass makes a pass over the rows. It calls do for each chunk, and merge with the sums of each batch, in row order.
func (t *table) pass(ctx context.Context, squares bool, do func(*scratch, block.Chunk, *batchSums), merge func(*batchSums)) error {
	_, stay := t.src.(*block.Data)
	switch {
	case t.batches == nil:
		err := block.ReduceChunks(ctx, t.src, t.workers, func(chunk block.Chunk) *batchSums {
			c, p := t.scratch.Get().(*scratch), &batchSums{}
			defer t.scratch.Put(c)
			do(c, chunk, p)
			t.takeSums(c, p, squares)
			return p
		}, merge)
		return err
	case stay && t.chunks == nil:
		for chunks, err := range block.Chunks(ctx, t.src, math.MaxInt) {
			if err != nil {
				return err
			}
			t.chunks = chunks
		}
	case !stay:
		return t.stream(ctx, squares, do, merge)
	}
	return parallel.MergeInOrder(ctx, t.workers, len(t.batches), func(g int) *batchSums {
		c, p, first := t.scratch.Get().(*scratch), &batchSums{}, 0
		defer t.scratch.Put(c)
		if g > 0 {
			first = t.batches[g-1].End
		}
		c.hasAllColumns = t.batches[g].HasAllColumns
		for _, chunk := range t.chunks[first:t.batches[g].End] {
			do(c, chunk, p)
		}
		t.takeSums(c, p, squares)
		return p
	}, merge)
}

// stream is pass over rows that aren't in memory. It uses one goroutine, because reading takes longer than adding.
func (t *table) stream(ctx context.Context, squares bool, do func(*scratch, block.Chunk, *batchSums), merge func(*batchSums)) error {
	c, g, p := t.scratch.Get().(*scratch), 0, &batchSums{}
	for chunks, err := range block.Chunks(ctx, t.src, 1) {
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			c.hasAllColumns = t.batches[g].HasAllColumns
			if do(c, chunk, p); int(chunk.Number)+1 == t.batches[g].End {
				t.takeSums(c, p, squares)
				merge(p)
				g, p = g+1, &batchSums{}
			}
		}
	}
	t.scratch.Put(c)
	return nil
}

// rowNorm returns the norm of a row and the number of its elements, or 0 for a quick norm.
func rowNorm(chunk block.Chunk, rows *linalg.SparseReader, r, features int, isQuick bool) (norm float64, elements int) {
	if isQuick && chunk.Sparse == nil && chunk.Centring == nil {
		return learner.Norm(chunk.X[r*chunk.Stride:][:features]) * (1 + 0x1p-20), 0 // as linalg.NormSparse
	}
	return rows.Norm(r, features)
}

// pad returns d with the zeros at its end that linalg.Panel needs.
func (t *table) pad(d []float64) []float64 {
	padded := make([]float64, linalg.Pad(t.cols))
	copy(padded, d)
	return padded
}

func (t *table) zeros() []float64 {
	if v, ok := t.zeroVectors.Get().(*[]float64); ok {
		return *v
	}
	return make([]float64, t.cols)
}

// addTo adds sums of p to out, a vector for all columns. It keeps the memory of sums that have all columns for reuse.
func (t *table) addTo(out []float64, p *batchSums, sums []float64) {
	if p.columns == nil {
		f64.Axpy(out, 1, sums)
		clear(sums)
		t.zeroVectors.Put(&sums)
		return
	}
	for k, i := range p.columns {
		out[i] += sums[k]
	}
}

// takeSums moves the sums from the scratch to p. It takes the squares only if squares is set.
func (t *table) takeSums(c *scratch, p *batchSums, squares bool) {
	if t.isDense {
		rows := t.panelRows(c)
		p.sums = rows.panel.Take(0, t.zeros()[:0])
		if squares {
			p.squares = rows.squares.Take(0, t.zeros()[:0])
		}
		return
	}
	if c.hasAllColumns {
		p.sums, c.sums = c.sums, t.zeros()
		if squares {
			p.squares, c.squares = c.squares, t.zeros()
		}
		return
	}
	p.columns, p.sums = make([]uint32, 0, len(c.touchedColumns)+1), make([]float64, 0, len(c.touchedColumns))
	if squares {
		p.squares = make([]float64, 0, len(c.touchedColumns))
	}
	for _, i := range c.touchedColumns {
		if c.sums[i] == 0 && c.squares[i] == 0 {
			continue // column i occurred before
		}
		p.columns, p.sums = append(p.columns, i), append(p.sums, c.sums[i])
		if squares {
			p.squares = append(p.squares, c.squares[i])
		}
		c.sums[i], c.squares[i] = 0, 0
	}
	c.touchedColumns = c.touchedColumns[:0]
}

// add adds f times a row to c.sums, and curvature times its squares to c.squares.
func add[V float32 | float64](c *scratch, columns []uint32, values []V, f, curvature float64) {
	values = values[:len(columns)]
	if c.hasAllColumns {
		sums, squares := c.sums, c.squares[:len(c.sums)]
		for k, i := range columns {
			v := float64(values[k])
			sums[i] += float64(f * v)
			squares[i] += float64(float64(curvature*v) * v)
		}
		return
	}
	for k, i := range columns {
		v := float64(values[k])
		sum, square := c.sums[i], c.squares[i]
		if sum == 0 && square == 0 {
			c.touchedColumns = append(c.touchedColumns, i)
		}
		c.sums[i] = sum + float64(f*v)
		c.squares[i] = square + float64(float64(curvature*v)*v)
	}
}

// addSum is add without squares.
func addSum[V float32 | float64](c *scratch, columns []uint32, values []V, f float64) {
	if c.hasAllColumns {
		linalg.AddSparse(c.sums, columns, values, f)
		return
	}
	values, sums := values[:len(columns)], c.sums
	for k, i := range columns {
		sum := sums[i]
		if sum == 0 {
			c.touchedColumns = append(c.touchedColumns, i)
		}
		sums[i] = sum + float64(f*float64(values[k]))
	}
}

// columnSums adds factor times row to the sums, and unless curvature is nil, curvature times squared row to the
// squares, for each row of a chunk.
func (t *table) columnSums(c *scratch, chunk block.Chunk, factor, curvature []float64) {
	if t.isDense {
		t.panelRows(c).sums(chunk, factor, curvature)
		return
	}
	rows := t.read(c, chunk)
	for r, f := range factor {
		s := 0.0
		if curvature != nil {
			s = curvature[r]
		}
		switch {
		case f == 0 && s == 0:
		case rows.IsCentred():
			columns, values := rows.CentredRow(r)
			add(c, columns, values, f, s)
		default:
			columns, values := rows.Row(r)
			add(c, columns, values, f, s)
		}
	}
}

// visit writes the scores at d of the rows of a chunk with takes(row) to scores, and returns their number. Unless
// factor is nil, it adds factor(row, score) times row to the sums. d is a result of pad.
func (t *table) visit(c *scratch, chunk block.Chunk, d []float64, takes func(r int) bool, scores []float64,
	factor func(r int, score float64) float64) (n int64) {
	if t.isDense {
		return t.panelRows(c).visit(chunk, d, takes, scores, factor)
	}
	rows := t.read(c, chunk)
	for r := range chunk.Len() {
		if !takes(r) {
			continue
		}
		n++
		if rows.IsCentred() {
			columns, values := rows.CentredRow(r)
			if scores[r] = linalg.ScoreSparse(columns, values, d); factor != nil {
				addSum(c, columns, values, factor(r, scores[r]))
			}
			continue
		}
		columns, values := rows.Row(r)
		if scores[r] = linalg.ScoreSparse(columns, values, d); factor != nil {
			addSum(c, columns, values, factor(r, scores[r]))
		}
	}
	return n
}

// product adds curvature times score at d times row to the sums, for each row with a curvature. It writes the scores of
// these rows to scores, and returns their number. d is a result of pad.
func (t *table) product(c *scratch, chunk block.Chunk, d, curvature, scores []float64) (n int64) {
	return t.visit(c, chunk, d, func(r int) bool { return curvature[r] != 0 }, scores,
		func(r int, score float64) float64 { return curvature[r] * score })
}

// scoreFlatRows writes the scores at d of the rows without a curvature to scores, and returns their number. d is a
// result of pad.
func (t *table) scoreFlatRows(c *scratch, chunk block.Chunk, d, curvature, scores []float64) (n int64) {
	return t.visit(c, chunk, d, func(r int) bool { return curvature[r] == 0 }, scores, nil)
}

func (t *table) panelRows(c *scratch) *panelRows {
	if c.dense == nil {
		c.dense = newPanelRows(t.cols)
	}
	return c.dense
}
