package block

import (
	"math"

	"halfspace/internal/message"
	"halfspace/kernel"
)

// Index gives access to the rows of a data set in any order.
type Index struct {
	dense  *kernel.Rows        // nil if rows are sparse
	sparse *kernel.SparseIndex // nil if rows are dense
	groups []group             // kernel.GroupRows rows each, except the last
}

// A group is the block that holds the rows of a group, and the number of the group's first row within this block.
type group struct {
	block *Block
	first int
}

// Index returns an index of all rows. It returns an error if there are more than math.MaxUint32 rows, if there are no
// labels, or if Validate would reject the layout of a block.
func (d *Data) Index() (*Index, error) {
	if d.rows > math.MaxUint32 {
		return nil, message.Errorf("there are %d rows, and orders other than cyclic take up to %d: use --order cyclic",
			d.rows, uint32(math.MaxUint32))
	}
	if len(d.blocks) == 0 {
		return &Index{}, nil
	}
	l, err := newLayout(d)
	if err != nil {
		return nil, err
	}
	index := &Index{}
	var x, y [][]float32
	var rows []*kernel.SparseRows
	for n, b := range d.blocks {
		if err := l.next(n, b); err != nil {
			return nil, err
		}
		if b.Y == nil && b.Len() > 0 {
			return nil, ErrNoLabels
		}
		for lo := 0; lo < b.Len(); lo += kernel.GroupRows {
			hi := min(b.Len(), lo+kernel.GroupRows)
			index.groups = append(index.groups, group{b, lo})
			y = append(y, b.Y[lo:hi])
			if some := b.Slice(lo, hi); b.Sparse == nil {
				x = append(x, some.X)
			} else {
				rows = append(rows, some.Sparse)
			}
		}
	}
	if l.isSparse {
		index.sparse = kernel.NewSparseIndex(rows, y)
	} else {
		index.dense = kernel.NewRows(x, y, l.stride)
	}
	return index, nil
}

// NewSparseIndex returns an index over groups of sparse rows. Call Renew after other rows were read into them. Each
// block is one that NewSparseFor returned, and holds one group. NewSparseIndex appends rows without elements to a
// block with fewer than kernel.GroupRows rows.
func NewSparseIndex(groups []*Block) *Index {
	x := &Index{}
	var rows []*kernel.SparseRows
	var y [][]float32
	for _, b := range groups {
		b.fillGroup()
		x.groups = append(x.groups, group{b, 0})
		rows, y = append(rows, b.Sparse), append(y, b.Y)
	}
	x.sparse = kernel.NewSparseIndex(rows, y)
	return x
}

// Renew updates an index that NewSparseIndex returned, after other rows were read into the blocks of its groups.
func (x *Index) Renew() {
	for c, of := range x.groups {
		of.block.fillGroup()
		x.sparse.Set(c, of.block.Sparse, of.block.Y)
	}
}

// fillGroup appends rows without elements until the block has kernel.GroupRows rows.
func (b *Block) fillGroup() {
	for b.Len() < kernel.GroupRows {
		b.Sparse.Ptr = append(b.Sparse.Ptr, int64(len(b.Sparse.Idx)))
		b.Y = append(b.Y, 0)
		if b.W != nil {
			b.W = append(b.W, 0)
		}
	}
}

// At returns the block that holds row id, and the number of the row within this block.
func (x *Index) At(id uint32) (b *Block, r int) {
	c := x.groups[id/kernel.GroupRows]
	return c.block, c.first + int(id%kernel.GroupRows)
}

// Rows returns the rows in the form that kernel.EpochIndexed takes. It returns nil if the rows are sparse or there
// are none.
func (x *Index) Rows() *kernel.Rows { return x.dense }

// Sparse returns the rows as a kernel.SparseIndex. It returns nil if the rows are dense or there are none.
func (x *Index) Sparse() *kernel.SparseIndex { return x.sparse }
