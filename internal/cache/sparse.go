package cache

import (
	"cmp"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"halfspace/internal/block"
	"halfspace/kernel"
)

// groupBytes returns the size of a group of sparse rows. elements is the number of elements of all its rows together.
func (l *layout) groupBytes(rows int, elements int64) int64 {
	return int64(rows)*l.leastRow() + elements*int64(4+l.size)
}

// leastRow returns the smallest number of bytes of a row. For sparse rows, it is the size of a row without elements.
func (l *layout) leastRow() int64 {
	if l.isSparse {
		return int64(4 + l.size + l.weight)
	}
	return int64(l.stride+1)*int64(l.size) + int64(l.weight)
}

// groupRows returns the number of rows in group c.
func (l *layout) groupRows(c int) int {
	return int(min(kernel.GroupRows, l.rows-int64(c)*kernel.GroupRows))
}

// place computes the offsets of the groups of sparse rows from their numbers of elements. It returns false unless the
// last group ends where the table begins. No sum overflows, because each group must end within the file.
func (l *layout) place(elements []uint64) bool {
	l.starts = make([]int64, 1, len(elements)+1)
	l.starts[0] = l.first
	at := l.first
	for c, n := range elements {
		if n > uint64(l.end-at) {
			return false
		}
		if at += l.groupBytes(l.groupRows(c), int64(n)); at > l.end {
			return false
		}
		l.starts = append(l.starts, at)
	}
	return at == l.end
}

// elements returns the number of elements in the sparse groups from lo up to, but not including, hi.
func (l *layout) elements(lo, hi int) int64 {
	rows := min(int64(hi)*kernel.GroupRows, l.rows) - int64(lo)*kernel.GroupRows
	return (l.starts[hi] - l.starts[lo] - rows*l.leastRow()) / int64(4+l.size)
}

// mostElements returns the largest number of elements of a sparse block.
func (l *layout) mostElements() (most int64) {
	per := l.blockRows / kernel.GroupRows
	for c := 0; c < l.groups(); c += per {
		most = max(most, l.elements(c, min(c+per, l.groups())))
	}
	return most
}

// A sparseGroup is the pieces of a group of sparse rows, in the order of the file.
type sparseGroup struct {
	counts  []uint32 // number of elements of each row
	columns []uint32
	values  []float32
	labels  []float32
	weights []float64 // nil if rows have no weights
}

func (c *sparseGroup) pieces() [][]byte {
	return [][]byte{bytesOf(c.counts), bytesOf(c.columns), bytesOf(c.values), bytesOf(c.labels), bytesOf(c.weights)}
}

// sum returns the checksum: the XXH3-64 of the last piece, where the XXH3-64 of each piece is seeded with the XXH3-64
// of the piece before it.
func (c *sparseGroup) sum() (h uint64) {
	for i, p := range c.pieces() {
		if i < 4 || c.weights != nil {
			h = xxh3.HashSeed(p, h)
		}
	}
	return h
}

// groupOf returns the rows of a sparse block, which are at most kernel.GroupRows rows.
func groupOf(b *block.Block) *sparseGroup {
	s := b.Sparse
	lo, hi := s.Ptr[0], s.Ptr[b.Len()]
	c := &sparseGroup{columns: s.Idx[lo:hi], values: s.Val[lo:hi], labels: b.Y, weights: b.W}
	for r := range b.Len() {
		c.counts = append(c.counts, uint32(s.Ptr[r+1]-s.Ptr[r]))
	}
	return c
}

// writeSparse writes the groups of a block. It appends their checksums to sums, and their numbers of elements to
// elements.
func writeSparse(w io.Writer, b *block.Block, sums, elements []uint64) (_, _ []uint64, err error) {
	for lo := 0; lo < b.Len() && err == nil; lo += kernel.GroupRows {
		c := groupOf(b.Slice(lo, min(b.Len(), lo+kernel.GroupRows)))
		sums, elements = append(sums, c.sum()), append(elements, uint64(len(c.columns)))
		err = writeAll(w, c.pieces()...)
	}
	return sums, elements, err
}

// appendGroup reads the rows of group c, appends them to a sparse block, and verifies their checksum.
func (f *File) appendGroup(c int, to *block.Block) error {
	rows, more := f.groupRows(c), int(f.elements(c, c+1))
	s := to.Sparse
	n, have := len(s.Idx), to.Len()
	to.GrowSparse(n + more)
	s.Idx, s.Val = s.Idx[:n+more], s.Val[:n+more]
	to.Y = slices.Grow(to.Y, rows)[:have+rows]
	var counts [kernel.GroupRows]uint32
	group := sparseGroup{counts: counts[:rows], columns: s.Idx[n:], values: s.Val[n:], labels: to.Y[have:]}
	if f.weight > 0 {
		to.W = slices.Grow(to.W, rows)[:have+rows]
		group.weights = to.W[have:]
	}
	at := f.starts[c]
	for _, p := range group.pieces() {
		if err := f.read(p, at); err != nil {
			return err
		}
		at += int64(len(p))
	}
	end := int64(n)
	for _, count := range group.counts {
		end += int64(count)
		s.Ptr = append(s.Ptr, end)
	}
	if group.sum() != f.sums[c] || end != int64(len(s.Idx)) {
		return f.damageError(c)
	}
	return nil
}

// readSparse reads block i of sparse rows.
func (f *File) readSparse(i int, b *buffer) error {
	lo := int64(i) * int64(f.blockRows)
	b.block = b.wholeBlock
	b.block.Clear(lo)
	for c := int(lo / kernel.GroupRows); c < min(f.groups(), int(lo+int64(f.blockRows))/kernel.GroupRows); c++ {
		if err := f.appendGroup(c, b.block); err != nil {
			return err
		}
	}
	return nil
}

// appendRow reads row r and appends it to a sparse block.
func (f *File) appendRow(r int64, to *block.Block) error {
	c, k := int(r/kernel.GroupRows), int(r%kernel.GroupRows)
	rows, all := int64(f.groupRows(c)), f.elements(c, c+1)
	var counts [kernel.GroupRows]uint32
	if err := f.read(bytesOf(counts[:k+1]), f.starts[c]); err != nil {
		return err
	}
	before := int64(0)
	for _, n := range counts[:k] {
		before += int64(n)
	}
	count := int64(counts[k])
	if before+count > all {
		return f.damageError(c)
	}
	s := to.Sparse
	const value = 4 // bytes of a float32
	n, have := len(s.Idx), to.Len()
	if most := n + int(count); most > cap(s.Idx) {
		to.GrowSparse(2 * most)
	}
	s.Idx, s.Val = s.Idx[:n+int(count)], s.Val[:n+int(count)]
	columns := f.starts[c] + 4*rows
	values := columns + 4*all
	labels := values + value*all
	to.Y = append(to.Y, 0)
	s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	err := cmp.Or(f.read(bytesOf(s.Idx[n:]), columns+4*before), f.read(bytesOf(s.Val[n:]), values+value*before),
		f.read(bytesOf(to.Y[have:]), labels+value*int64(k)))
	if f.weight > 0 {
		to.W = append(to.W, 0)
		err = cmp.Or(err, f.read(bytesOf(to.W[have:]), labels+value*rows+int64(f.weight*k)))
	}
	return err
}

func (f *File) Sparse() bool { return f.isSparse }

// Density returns the fraction of the features' values that are stored as elements if the rows are sparse, otherwise
// 0. Values that aren't stored are 0. The bias doesn't count.
func (f *File) Density() float64 {
	if !f.isSparse {
		return 0
	}
	elements := f.elements(0, f.groups())
	if f.spec.Bias {
		elements -= f.rows
	}
	return float64(elements) / float64(f.rows) / float64(f.spec.Width())
}

// Bytes returns the bytes of memory that blocks of the given number of rows take, with sample weights if weighted is
// true. For sparse rows, it assumes the mean number of elements for each row.
func (f *File) Bytes(rows int64, weighted bool) int64 {
	if !f.isSparse {
		return block.Bytes(rows, f.spec.Cols(), weighted)
	}
	return block.SparseBytes(rows, int64(float64(rows)/float64(f.rows)*float64(f.elements(0, f.groups()))), weighted)
}
