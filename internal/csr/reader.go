package csr

import (
	"halfspace/block"
	"halfspace/internal/widen"
	"halfspace/kernel"
)

// A Reader yields the rows of runs without zeros, like Rows. It packs dense rows, and rows of centred blocks, one by
// one in memory that stays in the first-level cache. It isn't safe for concurrent use.
type Reader struct {
	sparse  *kernel.SparseRows // nil if the rows are dense or centred
	packed  kernel.SparseRows
	run     block.Chunk
	full    bool // no element of the dense rows is 0
	centred bool // the rows belong to a centred block
	idx     []uint32
	every   []uint32 // the number of each column
	val     []float32
	rows    widen.Reader // reads centred blocks
}

// Begin starts with the rows of a run. It checks by itself whether they have zeros.
func (r *Reader) Begin(run block.Chunk) {
	switch {
	case run.Centring != nil:
		r.ReadCentred(run)
	case run.Sparse != nil:
		r.ReadSparse(run, Clean(run))
	default:
		r.ReadDense(run, false)
	}
}

// Read starts with rows in CSR form that have no zeros.
func (r *Reader) Read(rows *kernel.SparseRows) { r.sparse, r.centred = rows, false }

// ReadSparse starts with the rows of a sparse run. clean says that no stored element is 0.
func (r *Reader) ReadSparse(run block.Chunk, clean bool) { r.Read(Rows(run, clean, &r.packed)) }

// ReadDense starts with the rows of a dense run. full says that no element is 0.
func (r *Reader) ReadDense(run block.Chunk, full bool) {
	r.sparse, r.run, r.full, r.centred = nil, run, full, false
	if len(r.every) == run.Cols {
		return
	}
	r.idx, r.val, r.every = make([]uint32, run.Cols), make([]float32, run.Cols), make([]uint32, run.Cols)
	for i := range r.every {
		r.every[i] = uint32(i)
	}
}

// ReadCentred starts with the rows of a run of a centred block.
func (r *Reader) ReadCentred(run block.Chunk) { r.sparse, r.run, r.centred = nil, run, true }

// Centred tells whether the rows belong to a centred block. If they do, read them with CentredRow, otherwise with Row.
func (r *Reader) Centred() bool { return r.centred }

// Row returns the columns and the values of row k. They are valid until the next call.
func (r *Reader) Row(k int) ([]uint32, []float32) {
	if r.sparse != nil {
		return r.sparse.Row(k)
	}
	x := r.run.X[k*r.run.Stride:][:r.run.Cols]
	if r.full {
		return r.every, x
	}
	n := pack(r.idx, r.val, x)
	return r.idx[:n], r.val[:n]
}

// CentredRow is Row for rows of a centred block.
func (r *Reader) CentredRow(k int) ([]uint32, []float64) {
	columns, values := r.rows.Row(r.run.Block, k)
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

// Score returns the dot product of row k with w, summed as by the function Score.
func (r *Reader) Score(k int, w []float64) float64 {
	if r.Centred() {
		columns, values := r.CentredRow(k)
		return Score(columns, values, w)
	}
	columns, values := r.Row(k)
	return Score(columns, values, w)
}

// Norm returns the norm of row k, computed as by the function Norm, and the number of elements in the row.
func (r *Reader) Norm(k, first int) (norm float64, elements int) {
	if r.Centred() {
		columns, values := r.CentredRow(k)
		return Norm(columns, values, first), len(columns)
	}
	columns, values := r.Row(k)
	return Norm(columns, values, first), len(columns)
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

// Elements returns the number of elements of a run that aren't 0.
func Elements(run block.Chunk) (n int) {
	switch {
	case run.Centring != nil:
		var r Reader
		r.ReadCentred(run)
		for k := range run.Len() {
			columns, _ := r.CentredRow(k)
			n += len(columns)
		}
	case run.Sparse != nil:
		for _, v := range run.Sparse.Val[run.Sparse.Ptr[0]:run.Sparse.Ptr[run.Len()]] {
			if v != 0 {
				n++
			}
		}
	default:
		for r := range run.Len() {
			for _, v := range run.X[r*run.Stride:][:run.Cols] {
				more := 0
				if v != 0 {
					more = 1
				}
				n += more
			}
		}
	}
	return n
}
