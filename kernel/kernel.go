// Package kernel is the one door to the assembly: it detects the CPU, checks every length, and calls the kernel of the
// active instruction set. Package asm states what each kernel computes, operation by operation; the bits of a result
// don't depend on the instruction set.
//
// Lengths are checked before anything is written; a wrong one is a bug of the caller and panics with a constant. Calls
// are safe for concurrent use as long as no two of them write the same memory. Assembly can't be preempted, so hand a
// kernel a panel of rows (PanelRows), not a whole data set.
package kernel

import (
	"math"
	"slices"
	"unsafe"

	"halfspace/asm/ref"
	"halfspace/internal/race"
)

// Float is the element type of vectors and rows.
type Float interface{ float32 | float64 }

// rowAlign is what the length of a row in bytes is a multiple of.
const rowAlign = 32

// ChunkRows is how many rows each chunk of Rows holds.
const ChunkRows = ref.ChunkRows

// panelBytes bounds the work of one kernel call: it fits the second-level cache and takes microseconds.
const panelBytes = 128 << 10

// Stride returns the length of a row of cols columns in elements: cols, rounded up to a multiple of 32 bytes.
func Stride[T Float](cols int) int {
	per := rowAlign / int(unsafe.Sizeof(T(0)))
	return (cols + per - 1) / per * per
}

// PanelRows returns how many rows of a stride make a panel, the work of one kernel call: a power of two, at least one.
func PanelRows[T Float](stride int) int {
	rows := 1
	for rows*2*stride*int(unsafe.Sizeof(T(0))) <= panelBytes && rows < 4096 {
		rows *= 2
	}
	return rows
}

// Dot returns the dot product of x and y, which have the same length. No elements give 0.
func Dot[T Float](x, y []T) T {
	if len(x) != len(y) {
		panicLengths(len(x), len(y))
	}
	race.Read(x)
	race.Read(y)
	// The level is looked at here, not in a function between: a short product costs little more than its calls.
	switch {
	case level == Generic && is32[T]():
		return T(ref.DotF32(f32(x), f32(y)))
	case level == Generic:
		return T(ref.DotF64(f64(x), f64(y)))
	case is32[T]():
		return T(dotF32(f32(x), f32(y)))
	}
	return T(dotF64(f64(x), f64(y)))
}

func panicLengths(x, y int) {
	if y < x {
		panic("kernel: short y")
	}
	panic("kernel: short x")
}

// Axpy adds a*x to y: y[i] = fma(a, x[i], y[i]). y is as long as x or longer, and doesn't overlap x unless it is x.
func Axpy[T Float](a T, x, y []T) {
	if len(y) < len(x) {
		panic("kernel: short y")
	}
	y = y[:len(x)]
	race.Read(x)
	race.Write(y)
	if is32[T]() {
		axpyF32(float32(a), f32(x), f32(y))
		return
	}
	axpyF64(float64(a), f64(x), f64(y))
}

// Axpy4 is Axpy of four vectors, one after the other: it adds a[k]*x[k] to y for k from 0 to 3, and reads y once. Each vector
// is as long as y or longer, and doesn't overlap it.
func Axpy4[T Float](a []T, x [][]T, y []T) {
	if len(a) != 4 || len(x) != 4 {
		panic("kernel: not four vectors")
	}
	for _, v := range x {
		if len(v) < len(y) {
			panic("kernel: short x")
		}
		race.Read(v[:len(y)])
	}
	race.Write(y)
	if is32[T]() {
		axpy4F32(f32(a), f32s(x), f32(y))
		return
	}
	axpy4F64(f64(a), f64s(x), f64(y))
}

// Wrong returns the first i with y[i]*scores[i] <= 0, the first row that calls for an update, or len(y) if there is none. y and
// scores have the same length.
func Wrong[T Float](y, scores []T) int {
	if len(y) != len(scores) {
		if len(y) < len(scores) {
			panic("kernel: short y")
		}
		panic("kernel: short scores")
	}
	race.Read(y)
	race.Read(scores)
	if is32[T]() {
		return wrongF32(f32(y), f32(scores))
	}
	return wrongF64(f64(y), f64(scores))
}

// Scores computes out[r] = Dot(row r of x, w) for len(out) rows of stride len(w).
func Scores[T Float](x, w, out []T) {
	checkStride[T](len(w))
	x = exact(x, len(out), len(w))
	if len(out) == 0 {
		return
	}
	race.Read(x)
	race.Read(w)
	race.Write(out)
	if is32[T]() {
		scoresF32(f32(x), f32(w), f32(out))
		return
	}
	scoresF64(f64(x), f64(w), f64(out))
}

// Epoch runs the perceptron over len(y) rows of stride len(w): it updates w with eta*y[r] times the row where the sign
// of y[r] times the row's score is <= 0, writes r to log, and returns when the rows are done or log is full. It returns
// how many rows it visited and how many of log's elements it wrote. y has no zeros; log has room for one at least.
func Epoch[T Float](x, y []T, eta T, w []T, log []uint32) (rows, updates int) {
	checkStride[T](len(w))
	x = exact(x, len(y), len(w))
	if len(y) == 0 {
		return 0, 0
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	race.Read(x)
	race.Read(y)
	race.Write(w)
	race.Write(log)
	if is32[T]() {
		return epochF32(f32(x), f32(y), float32(eta), f32(w), log)
	}
	return epochF64(f64(x), f64(y), float64(eta), f64(w), log)
}

// Rows addresses the rows of a data set that lies in memory in chunks of ChunkRows rows; the last may be shorter.
type Rows[T Float] struct {
	x, y   [][]T
	n      int
	stride int
}

// NewRows returns the rows whose chunk c has features x[c] (of that stride) and labels y[c]. It keeps the chunks.
func NewRows[T Float](x, y [][]T, stride int) *Rows[T] {
	checkStride[T](stride)
	if len(x) != len(y) {
		panic("kernel: as many chunks of labels as of rows are needed")
	}
	n := 0
	for c := range x {
		if len(y[c]) > ChunkRows || len(y[c]) < ChunkRows && c != len(y)-1 {
			panic("kernel: a chunk but the last has ChunkRows rows")
		}
		if len(x[c])%stride != 0 || len(x[c])/stride != len(y[c]) {
			panic("kernel: a chunk has as many rows as labels")
		}
		n += len(y[c])
	}
	return &Rows[T]{slices.Clone(x), slices.Clone(y), n, stride}
}

// Row returns row i, of stride elements, and its label.
func (rows *Rows[T]) Row(i int) (x []T, y T) {
	c, r := uint(i)/ChunkRows, i&(ChunkRows-1)
	return rows.x[c][r*rows.stride : (r+1)*rows.stride], rows.y[c][r]
}

// Chunk returns the features of chunk c.
func (rows *Rows[T]) Chunk(c int) []T { return rows.x[c] }

// EpochIndexed is Epoch in the order of idx, which holds row numbers. What it writes to log are positions in idx. Row i
// of ahead is prefetched while idx[i] is visited; ahead may have any number of rows and changes no result.
func EpochIndexed[T Float](rows *Rows[T], idx []uint32, ahead []T, eta T, w []T, log []uint32) (visits, updates int) {
	if len(w) != rows.stride {
		panic("kernel: length of w is not the stride")
	}
	if !below(idx, uint(rows.n)) {
		panic("kernel: row number out of range")
	}
	if len(idx) == 0 {
		return 0, 0
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	if race.Enabled {
		for _, i := range idx {
			x, _ := rows.Row(int(i))
			race.Read(x)
		}
	}
	race.Write(w)
	race.Write(log)
	if is32[T]() {
		return epochIndexedF32(f32s(rows.x), f32s(rows.y), idx, f32(ahead), float32(eta), f32(w), log)
	}
	return epochIndexedF64(f64s(rows.x), f64s(rows.y), idx, f64(ahead), float64(eta), f64(w), log)
}

// below tells whether every element of idx is less than n. Four maxima at a time keep it far below the cost of a visit.
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

// Transpose turns columns of equal length into rows: dst[r*stride+c] = cols[c][r], and zeros in columns len(cols) to
// stride. dst has exactly one row for each element of a column.
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
	if race.Enabled {
		for _, col := range cols {
			race.Read(col)
		}
	}
	race.Write(dst)
	if is32[T]() {
		transposeF32(f32(dst), stride, f32s(cols))
		return
	}
	transposeF64(f64(dst), stride, f64s(cols))
}

// TileShape returns the rows and columns of the tile that Tile computes at the active level.
func TileShape[T Float]() (mr, nr int) {
	if is32[T]() {
		return tileShapeF32()
	}
	return tileShapeF64()
}

// Tile multiplies packed panels of mr rows, one after the other in a, by one of nr columns: panels of a hold mr elements
// for each k, b holds nr. Row i of the products becomes row i of c, or is added to it: nr columns. Row 1 begins ldc elements
// after row 0, and each one after that grow more after the one before it, as in a packed triangle. The sum over k starts at
// zero and is added to c as a whole. c doesn't overlap a and b.
func Tile[T Float](a, b, c []T, ldc, grow int, add bool) {
	mr, nr := TileShape[T]()
	if len(b) == 0 || len(b)%nr != 0 || len(a)%(len(b)/nr*mr) != 0 {
		panic("kernel: panels don't have mr and nr elements for each k")
	}
	if len(a) == 0 {
		return
	}
	rows := len(a) / (len(b) / nr)
	if ldc < nr || grow < 0 || len(c) < nr || (len(c)-nr)/ldc < rows-1 || grow > 0 && (len(c)-nr-(rows-1)*ldc)/grow < (rows-1)*(rows-2)/2 {
		panic("kernel: short c")
	}
	race.Read(a)
	race.Read(b)
	for r := 0; race.Enabled && r < rows; r++ {
		race.Write(c[r*ldc+r*(r-1)/2*grow:][:nr])
	}
	if is32[T]() {
		tileF32(f32(a), f32(b), f32(c), ldc, grow, add)
		return
	}
	tileF64(f64(a), f64(b), f64(c), ldc, grow, add)
}

// MaxSquaredNorm returns the largest squared Euclidean norm among the rows of x, summed in float64; 0 without rows.
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

func checkStride[T Float](stride int) {
	if stride <= 0 || stride > math.MaxInt/8 || stride*int(unsafe.Sizeof(T(0)))%rowAlign != 0 {
		panic("kernel: stride is not a positive multiple of 32 bytes")
	}
}

// exact slices x to rows*stride elements; the division keeps a product that overflows from passing the check.
func exact[T Float](x []T, rows, stride int) []T {
	if len(x)/stride < rows {
		panic("kernel: short x")
	}
	return x[:rows*stride]
}

func is32[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// The casts below name a slice by its element type where is32 has told which it is.

func f32[T Float](x []T) []float32      { return *(*[]float32)(unsafe.Pointer(&x)) }
func f64[T Float](x []T) []float64      { return *(*[]float64)(unsafe.Pointer(&x)) }
func f32s[T Float](x [][]T) [][]float32 { return *(*[][]float32)(unsafe.Pointer(&x)) }
func f64s[T Float](x [][]T) [][]float64 { return *(*[][]float64)(unsafe.Pointer(&x)) }

// SparseRows is rows in CSR form, scored and learned from in pure Go with the lanes and the fold of Dot: a result equals
// that of the same rows in dense form, save for the sign of a score of zero.
type SparseRows[T Float] = ref.SparseRows[T]
