package kernel

import (
	"slices"

	"halfspace/internal/race"
)

// Scores computes the score of len(out) rows, whose stride is len(w). No rows change nothing.
//
//	for r := range out { out[r] = Dot(row r of x, w) }
func Scores[T Float](out, x, w []T) {
	checkStride[T](len(w))
	checkRows(x, len(out), len(w))
	race.Write(out)
	race.Read(x)
	race.Read(w)
	if len(out) == 0 {
		return
	}
	if is32[T]() {
		scoresF32(f32(out), f32(x), f32(w))
		return
	}
	scoresF64(f64(out), f64(x), f64(w))
}

// Epoch runs the perceptron over len(y) rows, whose stride is len(w). It updates w on each mistake, and writes the row's
// number to log. It stops when log is full. log has room for one number at least. It returns how many rows it visited, and
// how many updates it made; both are 0 if there are no rows.
//
// A row is a mistake if its score, with the sign of y, is at most margin, which is 0 in Rosenblatt's perceptron. The sign
// of y is the row's class. The size of y multiplies the step: 1, or the row's sample weight. A row with y = 0 is logged
// like others, and changes nothing.
//
//	for r := range y {
//		if sign(y[r])*Dot(row r of x, w) <= margin {
//			Axpy(w, eta*y[r], row r of x)
//			log[updates], updates = r, updates+1
//			if updates == len(log) { return r+1, updates }
//		}
//	}
//	return len(y), updates
func Epoch[T Float](w []T, log []uint32, x, y []T, eta, margin T) (rows, updates int) {
	checkStride[T](len(w))
	checkRows(x, len(y), len(w))
	if len(y) == 0 {
		return 0, 0
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	race.Write(w)
	race.Write(log)
	race.Read(x)
	race.Read(y)
	if is32[T]() {
		return epochF32(f32(w), log, f32(x), f32(y), float32(eta), float32(margin))
	}
	return epochF64(f64(w), log, f64(x), f64(y), float64(eta), float64(margin))
}

// Rows addresses the rows of a data set that lies in memory in chunks of ChunkRows rows. The last chunk may be shorter.
type Rows[T Float] struct {
	x, y   [][]T
	n      int
	stride int
}

// NewRows returns the rows whose chunk c has features x[c], of that stride, and labels y[c]. It keeps the chunks.
func NewRows[T Float](x, y [][]T, stride int) *Rows[T] {
	checkStride[T](stride)
	if len(x) != len(y) {
		panic("kernel: x and y have different numbers of chunks")
	}
	n := 0
	for c := range x {
		if len(y[c]) > ChunkRows || len(y[c]) < ChunkRows && c != len(y)-1 {
			panic("kernel: a chunk before the last doesn't have ChunkRows rows")
		}
		if len(x[c])%stride != 0 || len(x[c])/stride != len(y[c]) {
			panic("kernel: a chunk has different numbers of rows and labels")
		}
		n += len(y[c])
	}
	return &Rows[T]{slices.Clone(x), slices.Clone(y), n, stride}
}

// WithLabels returns the same rows with other labels, in chunks as NewRows takes them. It keeps the chunks of y.
func (rows *Rows[T]) WithLabels(y [][]T) *Rows[T] { return NewRows(rows.x, y, rows.stride) }

// Len returns the number of rows.
func (rows *Rows[T]) Len() int { return rows.n }

// Row returns row i, of stride elements, and its label.
func (rows *Rows[T]) Row(i int) (x []T, y T) {
	c, r := uint(i)/ChunkRows, i&(ChunkRows-1)
	return rows.x[c][r*rows.stride : (r+1)*rows.stride], rows.y[c][r]
}

// Chunk returns the features of chunk c.
func (rows *Rows[T]) Chunk(c int) []T { return rows.x[c] }

// EpochIndexed is Epoch in the order of idx, which holds row numbers. It writes positions in idx to log. While it visits
// row idx[i] it prefetches row i of ahead, which has the same stride and any number of rows; ahead changes no result.
func EpochIndexed[T Float](w []T, log []uint32, rows *Rows[T], idx []uint32, ahead []T, eta, margin T) (visits, updates int) {
	if len(w) != rows.stride {
		panic("kernel: length of w is not the stride")
	}
	if !below(idx, uint(rows.n)) {
		panic("kernel: row number out of range")
	}
	if len(ahead)%rows.stride != 0 {
		panic("kernel: length of ahead is not a multiple of the stride")
	}
	if len(idx) == 0 {
		return 0, 0
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	race.Write(w)
	race.Write(log)
	if race.Enabled {
		for _, i := range idx {
			x, _ := rows.Row(int(i))
			race.Read(x)
		}
	}
	if is32[T]() {
		return epochIndexedF32(f32(w), log, f32s(rows.x), f32s(rows.y), idx, f32(ahead), float32(eta), float32(margin))
	}
	return epochIndexedF64(f64(w), log, f64s(rows.x), f64s(rows.y), idx, f64(ahead), float64(eta), float64(margin))
}

// below tells whether every element of idx is less than n. Four maxima at a time keep its cost far below a visit's.
func below(idx []uint32, n uint) bool {
	var a, b, c, d uint32
	i := 0
	for ; i+4 <= len(idx); i += 4 {
		q := idx[i : i+4 : i+4]
		a, b, c, d = max(a, q[0]), max(b, q[1]), max(c, q[2]), max(d, q[3])
	}
	for ; i < len(idx); i++ {
		a = max(a, idx[i])
	}
	return len(idx) == 0 || uint(max(a, b, c, d)) < n
}

// Transpose turns columns of equal length into rows of a stride. It fills each row with zeros up to the stride. There
// is at least one column, and dst holds exactly one row for each element of a column. Columns without elements change
// nothing.
//
//	for r := range len(cols[0]) { for c := range cols { dst[r*stride+c] = cols[c][r] } }
func Transpose[T Float](dst []T, stride int, cols [][]T) {
	checkStride[T](stride)
	if len(cols) == 0 || len(cols) > stride {
		panic("kernel: number of columns is not in 1..stride")
	}
	n := len(cols[0])
	for _, col := range cols {
		if len(col) != n {
			panic("kernel: columns differ in length")
		}
	}
	if len(dst)%stride != 0 || len(dst)/stride != n {
		panic("kernel: length of dst is not rows * stride")
	}
	if n == 0 {
		return
	}
	race.Write(dst)
	if race.Enabled {
		for _, col := range cols {
			race.Read(col)
		}
	}
	if is32[T]() {
		transposeF32(f32(dst), stride, f32s(cols))
		return
	}
	transposeF64(f64(dst), stride, f64s(cols))
}

// MaxSquaredNorm returns the largest squared Euclidean norm of the rows of x, summed in float64. It returns 0 if there
// are no rows, and ignores a norm that is NaN.
//
//	for each row { largest = max(largest, Dot(row, row)) }
func MaxSquaredNorm[T Float](x []T, stride int) float64 {
	checkStride[T](stride)
	if len(x)%stride != 0 {
		panic("kernel: length of x is not a multiple of the stride")
	}
	if len(x) == 0 {
		return 0
	}
	race.Read(x)
	if is32[T]() {
		return maxSquaredNormF32(f32(x), stride)
	}
	return maxSquaredNormF64(f64(x), stride)
}
