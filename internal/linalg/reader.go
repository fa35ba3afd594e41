package linalg

import (
	"halfspace/internal/block"
	"halfspace/kernel"
)

// A SparseReader yields the rows of chunks without zeros, like SparseRows. It packs dense rows, and rows of centred blocks, one by
// one in memory that stays in the first-level cache. It isn't safe for concurrent use.
type SparseReader struct {
	sparse     *kernel.SparseRows // nil if the rows are dense or centred
	packed     kernel.SparseRows
	chunk      block.Chunk
	lacksZeros bool // no element of the dense rows is 0
	isCentred  bool // the rows belong to a centred block
	idx        []uint32
	allColumns []uint32 // the number of each column
	val        []float32
	rows       WideReader // reads centred blocks
}

// Begin starts with the rows of a chunk. It checks by itself whether they have zeros.
func (r *SparseReader) Begin(chunk block.Chunk) {
	switch {
	case chunk.Centring != nil:
		r.ReadCentred(chunk)
	case chunk.Sparse != nil:
		r.ReadSparse(chunk, CleanSparse(chunk))
	default:
		r.ReadDense(chunk, false)
	}
}

// Read starts with rows in CSR form that have no zeros.
func (r *SparseReader) Read(rows *kernel.SparseRows) { r.sparse, r.isCentred = rows, false }

// ReadSparse starts with the rows of a sparse chunk. clean says that no stored element is 0.
func (r *SparseReader) ReadSparse(chunk block.Chunk, clean bool) {
	r.Read(SparseRows(chunk, clean, &r.packed))
}

// ReadDense starts with the rows of a dense chunk. full says that no element is 0.
func (r *SparseReader) ReadDense(chunk block.Chunk, full bool) {
	r.sparse, r.chunk, r.lacksZeros, r.isCentred = nil, chunk, full, false
	if len(r.allColumns) == chunk.Cols {
		return
	}
	r.idx, r.val, r.allColumns = make([]uint32, chunk.Cols), make([]float32, chunk.Cols), make([]uint32, chunk.Cols)
	for i := range r.allColumns {
		r.allColumns[i] = uint32(i)
	}
}

// ReadCentred starts with the rows of a chunk of a centred block.
func (r *SparseReader) ReadCentred(chunk block.Chunk) {
	r.sparse, r.chunk, r.isCentred = nil, chunk, true
}

// IsCentred tells whether the rows belong to a centred block. If they do, read them with CentredRow, otherwise with
// Row.
func (r *SparseReader) IsCentred() bool { return r.isCentred }

// Row returns the columns and the values of row k. They are valid until the next call.
func (r *SparseReader) Row(k int) ([]uint32, []float32) {
	if r.sparse != nil {
		return r.sparse.Row(k)
	}
	x := r.chunk.X[k*r.chunk.Stride:][:r.chunk.Cols]
	if r.lacksZeros {
		return r.allColumns, x
	}
	n := pack(r.idx, r.val, x)
	return r.idx[:n], r.val[:n]
}

// CentredRow is Row for rows of a centred block.
func (r *SparseReader) CentredRow(k int) ([]uint32, []float64) {
	columns, values := r.rows.Row(r.chunk.Block, k)
	if len(r.idx) < len(columns) {
		r.idx = make([]uint32, len(columns))
	}
	n := 0
	for i, v := range values {
		r.idx[n], values[n] = columns[i], v
		more := 0
		if v != 0 {
			more = 1
		}
		n += more
	}
	return r.idx[:n], values[:n]
}

// Score returns the dot product of row k with w, summed as by ScoreSparse.
func (r *SparseReader) Score(k int, w []float64) float64 {
	if r.IsCentred() {
		columns, values := r.CentredRow(k)
		return ScoreSparse(columns, values, w)
	}
	columns, values := r.Row(k)
	return ScoreSparse(columns, values, w)
}

// Norm returns the norm of row k, computed as by NormSparse, and the number of elements in the row.
func (r *SparseReader) Norm(k, first int) (norm float64, elements int) {
	if r.IsCentred() {
		columns, values := r.CentredRow(k)
		return NormSparse(columns, values, first), len(columns)
	}
	columns, values := r.Row(k)
	return NormSparse(columns, values, first), len(columns)
}

// pack writes the elements of a dense row that aren't 0, and returns their number. It writes every element, and
// advances only past those that aren't 0: a branch would often be predicted wrong.
func pack(idx []uint32, val, x []float32) (n int) {
	idx, val = idx[:len(x)], val[:len(x)]
	for i, v := range x {
		idx[n], val[n] = uint32(i), v
		more := 0
		if v != 0 {
			more = 1
		}
		n += more
	}
	return n
}

// AreDense tells whether more than a quarter of the elements of rows isn't 0: n of rows x cols.
func AreDense(n, rows int64, cols int) bool { return 4*n > rows*int64(cols) }

// Elements returns the number of elements of a chunk that aren't 0.
func Elements(chunk block.Chunk) (n int) {
	if chunk.Centring == nil {
		if chunk.Sparse != nil {
			return nonzeros(chunk.Sparse.Val[chunk.Sparse.Ptr[0]:chunk.Sparse.Ptr[chunk.Len()]])
		}
		for r := range chunk.Len() {
			n += nonzeros(chunk.X[r*chunk.Stride:][:chunk.Cols])
		}
		return n
	}
	var r SparseReader
	r.Begin(chunk)
	for k := range chunk.Len() {
		columns, _ := r.CentredRow(k)
		n += len(columns)
	}
	return n
}

func nonzeros(values []float32) (n int) {
	for _, v := range values {
		if v != 0 {
			n++
		}
	}
	return n
}
