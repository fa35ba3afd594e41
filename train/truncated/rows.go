package truncated

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

const (
	leastGroups  = 8  // how many groups of runs there are, unless there are fewer runs
	groupColumns = 16 // a larger group has that many elements for each column
)

// A scratch is what the rows of a group need. Its sums are zeros between groups. If a group has fewer elements than there
// are columns, it yields the columns that it touched. So its time and memory don't depend on the columns.
type scratch[T kernel.Float] struct {
	sums, squares []float64 // by column
	all           bool      // most columns are touched
	touched       []uint32  // if not all: columns of sums and squares that may be other than 0; some are there twice
	packed        kernel.SparseRows[T]
	reader        csr.Reader[T]

	z, factor, curvature, loss [block.RunRows]float64
}

func newScratch[T kernel.Float](cols int) *scratch[T] {
	return &scratch[T]{sums: make([]float64, cols), squares: make([]float64, cols)}
}

// A part is sums over the rows of a group.
type part struct {
	point         // without vectors
	radius        float64
	elements      int64    // of the first pass, whose groups are runs
	visited       int64    // rows
	columns       []uint32 // of the sums; nil if they are of all columns
	sums, squares []float64
}

// A form is how the rows of a run are read. All forms give the same elements, without zeros: the order of a sum depends on the
// number of elements before.
type form[T kernel.Float] struct {
	elements int                   // that aren't 0
	rows     *kernel.SparseRows[T] // of a dense run: a copy without zeros, or nil. It has at most a quarter of the elements
}

// read begins with the rows of a run.
func (s *search[T]) read(c *scratch[T], run block.Run[T]) *csr.Reader[T] {
	f := &s.forms[run.Number]
	switch {
	case f.rows != nil:
		c.reader.Read(f.rows)
	case run.Sparse == nil:
		c.reader.ReadDense(run, f.elements == run.Len()*run.Cols)
	case f.elements == int(run.Sparse.Ptr[run.Len()]-run.Sparse.Ptr[0]):
		c.reader.Read(run.Sparse)
	default:
		c.reader.Read(csr.Rows(run, false, &c.packed))
	}
	return &c.reader
}

// look learns the form of a run. It copies dense rows in memory that have many zeros, since to look for these takes most of
// the time of a pass.
func (s *search[T]) look(run block.Run[T]) {
	f := &s.forms[run.Number]
	if run.Sparse != nil {
		for _, v := range run.Sparse.Val[run.Sparse.Ptr[0]:run.Sparse.Ptr[run.Len()]] {
			if v != 0 {
				f.elements++
			}
		}
		return
	}
	f.elements = csr.Elements(run)
	if _, stay := s.Rows.(*block.Data[T]); stay && 4*f.elements <= run.Len()*run.Stride {
		f.rows = csr.Rows(run, false, &kernel.SparseRows[T]{Ptr: make([]int64, 0, run.Len()+1), Idx: make([]uint32, 0, f.elements), Val: make([]T, 0, f.elements)})
	}
}

// group joins consecutive runs to groups, which depend only on the elements of the runs. Sums are made within a group in
// row order, and then over groups in row order. To add a group's sums to the others takes little of its time.
func (s *search[T]) group(elements []int64) (total int64) {
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
func (s *search[T]) pass(ctx context.Context, squares bool, do func(*scratch[T], block.Run[T], *part), merge func(*part)) error {
	_, stay := s.Rows.(*block.Data[T])
	switch {
	case s.groups == nil:
		err := block.ReduceRuns(ctx, s.Rows, s.Workers, func(run block.Run[T]) *part {
			c, t := s.scratch.Get().(*scratch[T]), &part{}
			defer s.scratch.Put(c)
			do(c, run, t)
			s.take(c, t, squares)
			return t
		}, merge)
		return err
	case stay && s.runs == nil:
		for runs, err := range block.Runs(ctx, s.Rows, math.MaxInt) {
			if err != nil {
				return err
			}
			s.runs = runs
		}
	case !stay:
		return s.stream(ctx, squares, do, merge)
	}
	return parallel.Ordered(ctx, s.Workers, len(s.groups), func(g int) *part {
		c, t, first := s.scratch.Get().(*scratch[T]), &part{}, 0
		defer s.scratch.Put(c)
		if g > 0 {
			first = s.groups[g-1].end
		}
		c.all = s.groups[g].all
		for _, run := range s.runs[first:s.groups[g].end] {
			do(c, run, t)
		}
		s.take(c, t, squares)
		return t
	}, merge)
}

// stream is pass over rows that aren't in memory, which takes longer to read than to add up.
func (s *search[T]) stream(ctx context.Context, squares bool, do func(*scratch[T], block.Run[T], *part), merge func(*part)) error {
	c, g, t := s.scratch.Get().(*scratch[T]), 0, &part{}
	defer s.scratch.Put(c)
	for runs, err := range block.Runs(ctx, s.Rows, 1) {
		if err != nil {
			clear(c.sums)
			clear(c.squares)
			c.touched = c.touched[:0]
			return err
		}
		for _, run := range runs {
			c.all = s.groups[g].all
			if do(c, run, t); int(run.Number)+1 == s.groups[g].end {
				s.take(c, t, squares)
				merge(t)
				g, t = g+1, &part{}
			}
		}
	}
	return nil
}

// zeros returns a vector of zeros for all columns.
func (s *search[T]) zeros() []float64 {
	if v, ok := s.spare.Get().(*[]float64); ok {
		return *v
	}
	return make([]float64, s.cols)
}

// addTo adds sums of a part to a vector for all columns. It takes the memory of vectors back.
func (s *search[T]) addTo(out []float64, p *part, sums []float64) {
	if p.columns == nil {
		kernel.Axpy(out, 1, sums)
		clear(sums)
		s.spare.Put(&sums)
		return
	}
	for k, i := range p.columns {
		out[i] += sums[k]
	}
}

// take moves the sums to a part.
func (s *search[T]) take(c *scratch[T], p *part, squares bool) {
	if c.all {
		p.sums, c.sums = c.sums, s.zeros()
		if squares {
			p.squares, c.squares = c.squares, s.zeros()
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
func (c *scratch[T]) add(columns []uint32, values []T, f, curvature float64) {
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
func (c *scratch[T]) addSum(columns []uint32, values []T, f float64) {
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
