package block

import (
	"unsafe"

	"halfspace/kernel"
	"halfspace/schema"
)

// NewSparse returns a sparse block without rows that has room for the given numbers of rows and elements. An element
// is a value with its column. AppendRow adds rows.
func NewSparse(first int64, rows, elements, cols int) *Block {
	b := &Block{First: first, Cols: cols, Stride: kernel.Stride(cols), Y: make([]float32, 0, rows)}
	b.Sparse = &kernel.SparseRows{Ptr: make([]int64, 1, rows+1)}
	b.GrowSparse(elements)
	return b
}

// NewSparseFor is NewSparse for the columns of spec. The block also has room for sample weights if spec.Weighted is
// set.
func NewSparseFor(spec *schema.Spec, first int64, rows, elements int) *Block {
	b := NewSparse(first, rows, elements, spec.Cols())
	if spec.Weighted {
		b.W = make([]float64, 0, rows)
	}
	return b
}

// GrowSparse makes room for the given number of elements in all rows of a sparse block together. It copies the
// elements if there was less room.
func (b *Block) GrowSparse(elements int) {
	s := b.Sparse
	if elements <= min(cap(s.Idx), cap(s.Val)) {
		return
	}
	s.Idx = append(columnNumbers(elements)[:0], s.Idx...)
	s.Val = append(Alloc[float32](elements)[:0], s.Val...)
}

// columnNumbers is Alloc for n column numbers.
func columnNumbers(n int) []uint32 {
	words := Alloc[float32](n) // float32 and uint32 have the same size
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// AppendRow appends row r of from, with its label and weight, in the same form and with the same centring. b may be a zero
// value.
func (b *Block) AppendRow(from *Block, r int) {
	b.Cols, b.Stride, b.Centring = from.Cols, from.Stride, from.Centring
	if from.Sparse == nil {
		b.X = append(b.X, from.X[r*from.Stride:(r+1)*from.Stride]...)
	} else {
		b.appendSparse(from.Sparse.Row(r))
	}
	if from.Y != nil {
		b.Y = append(b.Y, from.Y[r])
	}
	if from.W != nil {
		b.W = append(b.W, from.W[r])
	}
}

func (b *Block) appendSparse(columns []uint32, values []float32) {
	if b.Sparse == nil {
		b.Sparse = &kernel.SparseRows{Ptr: []int64{0}}
	}
	s := b.Sparse
	if n := len(s.Idx) + len(columns); n > min(cap(s.Idx), cap(s.Val)) {
		b.GrowSparse(2 * n)
	}
	s.Idx, s.Val = append(s.Idx, columns...), append(s.Val, values...)
	s.Ptr = append(s.Ptr, int64(len(s.Idx)))
}

// Gather returns a copy of the rows with the given numbers in b.
func (b *Block) Gather(rows []int) *Block {
	to := &Block{}
	if b.Sparse == nil {
		to.X, to.Y = make([]float32, 0, len(rows)*b.Stride), make([]float32, 0, len(rows))
	}
	for _, r := range rows {
		to.AppendRow(b, r)
	}
	return to
}

// Clear removes the rows of a sparse block and keeps its memory. The next row that is added has the number first.
func (b *Block) Clear(first int64) {
	s := b.Sparse
	b.First, b.Y, b.W = first, b.Y[:0], b.W[:0]
	s.Ptr, s.Idx, s.Val = append(s.Ptr[:0], 0), s.Idx[:0], s.Val[:0]
}

// SparseBytes is Bytes for sparse rows. elements is the number of elements of all rows together, the bias included.
func SparseBytes(rows, elements int64, weighted bool) int64 {
	value := int64(4)
	each := value + 8 // the label, and the offset of the row's first element
	if weighted {
		each += 8
	}
	return rows*each + elements*(value+4)
}

// Elements returns the number of elements in the sparse blocks of a data set.
func Elements(d *Data) int64 {
	n := int64(0)
	for _, b := range d.blocks {
		if b.Sparse != nil {
			n += int64(len(b.Sparse.Idx))
		}
	}
	return n
}

// MemoryBytes returns the bytes of memory that the blocks of src take if they are in memory. For another source it returns
// the bytes that the same number of dense rows would take.
func MemoryBytes(src Source, weighted bool) int64 {
	d, ok := src.(*Data)
	if !ok || len(d.blocks) == 0 || d.blocks[0].Sparse == nil {
		return Bytes(src.Rows(), src.Spec().Cols(), weighted)
	}
	return SparseBytes(d.rows, Elements(d), weighted)
}
