package dualdescent

import (
	"math"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
)

// elements are the elements of a row that aren't 0, without the bias.
type elements struct {
	columns []uint32
	values  []float32
	centred []float64 // the values of a row of a centred block, whose values are nil
}

func (e *elements) value(k int) float64 {
	if e.centred != nil {
		return e.centred[k]
	}
	return float64(e.values[k])
}

// addScores adds the dot products of the row with some vectors to z, an element for each. w has the elements of all
// vectors for each column in turn.
func (e *elements) addScores(z, w []float64) {
	switch n := len(z); {
	case n > 1:
		for k, c := range e.columns {
			f64.Axpy(z, e.value(k), w[int(c)*n:][:n])
		}
	case e.centred != nil:
		z[0] += linalg.ScoreSparse(e.columns, e.centred, w)
	default:
		z[0] += linalg.ScoreSparse(e.columns, e.values, w)
	}
}

// addTo adds the row times by[k] to vector k of w.
func (e *elements) addTo(w, by []float64) {
	switch n := len(by); {
	case n > 1:
		for k, c := range e.columns {
			f64.Axpy(w[int(c)*n:][:n], e.value(k), by)
		}
	case e.centred != nil:
		linalg.AddSparse(w, e.columns, e.centred, by[0])
	default:
		linalg.AddSparse(w, e.columns, e.values, by[0])
	}
}

func (e *elements) square() (sum float64) {
	for k := range e.columns {
		sum += float64(e.value(k) * e.value(k))
	}
	return sum
}

// A keptChunk is the rows of a chunk in memory. Either their elements are kept, or a reader packs dense rows one by
// one.
type keptChunk struct {
	dense    *linalg.SparseReader // nil: the elements are kept
	ptr      []int64              // row r has the elements from ptr[r] to ptr[r+1]
	elements elements
}

// keep returns the rows of a chunk. It copies them unless they stay in memory and need no packing.
func keep(chunk block.Chunk, staysInMemory bool) (c keptChunk) {
	reader := &linalg.SparseReader{}
	if full := chunk.Len() * chunk.Cols; chunk.Centring == nil && chunk.Sparse == nil {
		if n := linalg.Elements(chunk); linalg.AreDense(int64(n), int64(chunk.Len()), chunk.Cols) {
			if !staysInMemory {
				chunk.Block = chunk.Clone()
			}
			reader.ReadDense(chunk, n == full)
			return keptChunk{dense: reader}
		}
	}
	if staysInMemory && chunk.Centring == nil && linalg.CleanSparse(chunk) {
		return keptChunk{ptr: chunk.Sparse.Ptr, elements: elements{columns: chunk.Sparse.Idx, values: chunk.Sparse.Val}}
	}
	c.ptr = []int64{0}
	reader.Begin(chunk)
	for r := range chunk.Len() {
		var columns []uint32
		if reader.IsCentred() {
			var values []float64
			columns, values = reader.CentredRow(r)
			c.elements.centred = append(c.elements.centred, values...)
		} else {
			var values []float32
			columns, values = reader.Row(r)
			c.elements.values = append(c.elements.values, values...)
		}
		c.elements.columns = append(c.elements.columns, columns...)
		c.ptr = append(c.ptr, int64(len(c.elements.columns)))
	}
	return c
}

// row returns row r. The row of a dense chunk is valid until the next call. With a bias, the last element of each row
// is the bias, and row leaves it out.
func (c *keptChunk) row(r int, biased bool) (e elements) {
	if c.dense != nil {
		e.columns, e.values = c.dense.Row(r)
	} else {
		lo, hi := c.ptr[r], c.ptr[r+1]
		if e.columns = c.elements.columns[lo:hi]; c.elements.centred != nil {
			e.centred = c.elements.centred[lo:hi]
		} else {
			e.values = c.elements.values[lo:hi]
		}
	}
	if biased {
		e.columns = e.columns[:len(e.columns)-1]
	}
	return e
}

// touch loads a number of each cache line of row r if its elements are kept, and returns the sum of their bits. The
// loads of several rows wait for the memory together, and the loads of a visit would wait one after the other.
func (c *keptChunk) touch(r int) (sum uint32) {
	if c.dense != nil || c.elements.centred != nil {
		return 0
	}
	columns := c.elements.columns[c.ptr[r]:c.ptr[r+1]]
	values := c.elements.values[c.ptr[r]:][:len(columns)]
	for k := 0; k < len(columns); k += 16 {
		sum += columns[k] + math.Float32bits(values[k])
	}
	return sum
}
