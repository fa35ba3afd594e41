package truncated

import (
	"context"
	"math"
	"sync"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

const (
	leastGroups  = 8  // how many groups of runs there are, unless there are fewer runs
	groupColumns = 16 // a larger group has that many elements for each column
)

// A table is rows, and the memory for sums over groups of their runs.
type table struct {
	src     block.Source
	workers int
	cols    int
	forms   []form      // of each run; nil if they aren't known
	groups  []group     // nil: each run is a group
	runs    []block.Run // of rows in memory, once there are groups
	scratch sync.Pool   // of *scratch
	spare   sync.Pool   // of []float64: zeros for all columns
}

func newTable(src block.Source, workers int) *table {
	t := &table{src: src, workers: workers, cols: src.Spec().Cols()}
	t.scratch.New = func() any { return newScratch(t.cols) }
	return t
}

// A scratch is what the rows of a group need. Its sums are zeros between groups. If a group has fewer elements than there
// are columns, it yields the columns that it touched. So its time and memory don't depend on the columns.
type scratch struct {
	sums, squares []float64 // by column
	all           bool      // most columns are touched
	touched       []uint32  // if not all: columns of sums and squares that may be other than 0; some are there twice
	reader        csr.Reader

	z, factor, curvature, loss [block.RunRows]float64
}

func newScratch(cols int) *scratch {
	return &scratch{sums: make([]float64, cols), squares: make([]float64, cols)}
}

// A part is sums over the rows of a group.
type part struct {
	point         // without vectors; from a cluster, scores are those of some of the rows
	radius        float64
	elements      int64    // of the first pass, whose groups are runs
	visited       int64    // rows
	columns       []uint32 // of the sums; nil if they are of all columns
	sums, squares []float64
}

// A form is how the rows of a run are read. All forms give the same elements, without zeros: the order of a sum depends on the
// number of elements before.
type form struct {
	elements int                // that aren't 0
	rows     *kernel.SparseRows // of a dense run: a copy without zeros, or nil. It has at most a quarter of the elements
}

// read begins with the rows of a run.
func (t *table) read(c *scratch, run block.Run) *csr.Reader {
	var f form
	if t.forms != nil {
		f = t.forms[run.Number]
	}
	switch {
	case f.rows != nil:
		c.reader.Read(f.rows)
	case t.forms == nil || run.Centring != nil:
		c.reader.Begin(run)
	case run.Sparse == nil:
		c.reader.ReadDense(run, f.elements == run.Len()*run.Cols)
	default:
		c.reader.ReadSparse(run, f.elements == int(run.Sparse.Ptr[run.Len()]-run.Sparse.Ptr[0]))
	}
	return &c.reader
}

// look learns the form of a run. It copies dense rows in memory that have many zeros, since to look for these takes most of
// the time of a pass.
func (t *table) look(run block.Run) {
	f := &t.forms[run.Number]
	f.elements = csr.Elements(run)
	if run.Sparse != nil || run.Centring != nil {
		return
	}
	if _, stay := t.src.(*block.Data); stay && 4*f.elements <= run.Len()*run.Stride {
		f.rows = csr.Rows(run, false, &kernel.SparseRows{Ptr: make([]int64, 0, run.Len()+1), Idx: make([]uint32, 0, f.elements), Val: make([]float32, 0, f.elements)})
	}
}

// group joins consecutive runs to groups, which depend only on the elements of the runs. Sums are made within a group in
// row order, and then over groups in row order. To add a group's sums to the others takes little of its time.
func (s *search) group(elements []int64) (total int64) {
	have := int64(0)
	for _, n := range elements {
		total += n
	}
	enough := min(total/leastGroups, groupColumns*int64(s.cols))
	for k, n := range elements {
		if have += n; have >= enough || k+1 == len(elements) {
			s.groups = append(s.groups, group{end: k + 1, all: have >= int64(s.cols)})
			have = 0
		}
	}
	return total
}

// A group is runs from the end of the group before to its own.
type group struct {
	end int
	all bool // the runs have so many elements that most columns are touched
}

// pass makes a pass over the rows. It calls do for each run, and merge with the sums of each group.
func (t *table) pass(ctx context.Context, squares bool, do func(*scratch, block.Run, *part), merge func(*part)) error {
	_, stay := t.src.(*block.Data)
	switch {
	case t.groups == nil:
		err := block.ReduceRuns(ctx, t.src, t.workers, func(run block.Run) *part {
			c, p := t.scratch.Get().(*scratch), &part{}
			defer t.scratch.Put(c)
			do(c, run, p)
			t.take(c, p, squares)
			return p
		}, merge)
		return err
	case stay && t.runs == nil:
		for runs, err := range block.Runs(ctx, t.src, math.MaxInt) {
			if err != nil {
				return err
			}
			t.runs = runs
		}
	case !stay:
		return t.stream(ctx, squares, do, merge)
	}
	return parallel.Ordered(ctx, t.workers, len(t.groups), func(g int) *part {
		c, p, first := t.scratch.Get().(*scratch), &part{}, 0
		defer t.scratch.Put(c)
		if g > 0 {
			first = t.groups[g-1].end
		}
		c.all = t.groups[g].all
		for _, run := range t.runs[first:t.groups[g].end] {
			do(c, run, p)
		}
		t.take(c, p, squares)
		return p
	}, merge)
}

// stream is pass over rows that aren't in memory, which takes longer to read than to add up.
func (t *table) stream(ctx context.Context, squares bool, do func(*scratch, block.Run, *part), merge func(*part)) error {
	c, g, p := t.scratch.Get().(*scratch), 0, &part{}
	defer t.scratch.Put(c)
	for runs, err := range block.Runs(ctx, t.src, 1) {
		if err != nil {
			clear(c.sums)
			clear(c.squares)
			c.touched = c.touched[:0]
			return err
		}
		for _, run := range runs {
			c.all = t.groups[g].all
			if do(c, run, p); int(run.Number)+1 == t.groups[g].end {
				t.take(c, p, squares)
				merge(p)
				g, p = g+1, &part{}
			}
		}
	}
	return nil
}

// zeros returns a vector of zeros for all columns.
func (t *table) zeros() []float64 {
	if v, ok := t.spare.Get().(*[]float64); ok {
		return *v
	}
	return make([]float64, t.cols)
}

// addTo adds sums of a part to a vector for all columns. It takes the memory of vectors back.
func (t *table) addTo(out []float64, p *part, sums []float64) {
	if p.columns == nil {
		f64.Axpy(out, 1, sums)
		clear(sums)
		t.spare.Put(&sums)
		return
	}
	for k, i := range p.columns {
		out[i] += sums[k]
	}
}

// take moves the sums to a part.
func (t *table) take(c *scratch, p *part, squares bool) {
	if c.all {
		p.sums, c.sums = c.sums, t.zeros()
		if squares {
			p.squares, c.squares = c.squares, t.zeros()
		}
		return
	}
	p.columns, p.sums = make([]uint32, 0, len(c.touched)+1), make([]float64, 0, len(c.touched))
	if squares {
		p.squares = make([]float64, 0, len(c.touched))
	}
	for _, i := range c.touched {
		if c.sums[i] == 0 && c.squares[i] == 0 {
			continue // it was there before
		}
		p.columns, p.sums = append(p.columns, i), append(p.sums, c.sums[i])
		if squares {
			p.squares = append(p.squares, c.squares[i])
		}
		c.sums[i], c.squares[i] = 0, 0
	}
	c.touched = c.touched[:0]
}

// add adds a row times f to sums, and its squares times curvature to squares.
func add[V float32 | float64](c *scratch, columns []uint32, values []V, f, curvature float64) {
	values = values[:len(columns)]
	if c.all {
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
			c.touched = append(c.touched, i)
		}
		c.sums[i] = sum + float64(f*v)
		c.squares[i] = square + float64(float64(curvature*v)*v)
	}
}

// addSum is add without squares.
func addSum[V float32 | float64](c *scratch, columns []uint32, values []V, f float64) {
	if c.all {
		csr.Add(c.sums, columns, values, f)
		return
	}
	values, sums := values[:len(columns)], c.sums
	for k, i := range columns {
		sum := sums[i]
		if sum == 0 {
			c.touched = append(c.touched, i)
		}
		sums[i] = sum + float64(f*float64(values[k]))
	}
}

// columnSums adds rows times their factors to the sums, and their squares times their curvatures to those of squares.
func (c *scratch) columnSums(rows *csr.Reader, factor, curvature []float64) {
	for r, f := range factor {
		switch {
		case f == 0 && curvature[r] == 0:
		case rows.Centred():
			columns, values := rows.CentredRow(r)
			add(c, columns, values, f, curvature[r])
		default:
			columns, values := rows.Row(r)
			add(c, columns, values, f, curvature[r])
		}
	}
}

// product adds to the sums the rows times their curvatures and their scores at d. It writes these scores, but none of a row
// without a curvature, and returns how many there are.
func (c *scratch) product(rows *csr.Reader, d, curvature, scores []float64) (n int64) {
	for r, curvature := range curvature {
		if curvature == 0 {
			continue
		}
		n++
		if rows.Centred() {
			columns, values := rows.CentredRow(r)
			scores[r] = csr.Score(columns, values, d)
			addSum(c, columns, values, float64(curvature*scores[r]))
			continue
		}
		columns, values := rows.Row(r)
		scores[r] = csr.Score(columns, values, d)
		addSum(c, columns, values, float64(curvature*scores[r]))
	}
	return n
}

// rest writes the scores at d of the rows without a curvature, and returns how many there are.
func rest(rows *csr.Reader, d, curvature, scores []float64) (n int64) {
	for r, curvature := range curvature {
		if curvature == 0 {
			n++
			scores[r] = rows.Score(r, d)
		}
	}
	return n
}
