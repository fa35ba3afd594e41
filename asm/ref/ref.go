// Package ref is the pure-Go twin of every kernel. It is the oracle of the tests, and the fallback on any CPU.
//
// Each function has the name, the signature and, bit for bit, the results of the assembly in the packages avx2, avx512
// and neon. Package asm states the contract. The functions check nothing: callers check lengths before. Rows are
// float32; solvers use the loops over float64.
package ref

import (
	"math"
	"unsafe"
)

// float is the element type of vectors and rows.
type float interface{ float32 | float64 }

// lanesF32 and lanesF64 are the lanes of a dot product: 128 bytes of either type.
const (
	lanesF32 = 32
	lanesF64 = 16
)

// GroupRows is the number of rows in one element of the x and y that EpochIndexed takes.
const GroupRows = 512

func is32[T float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// fma returns x*y + z rounded once.
func fma[T float](x, y, z T) T {
	if is32[T]() {
		return T(fma32(float32(x), float32(y), float32(z)))
	}
	return T(math.FMA(float64(x), float64(y), float64(z)))
}

// dot follows the order of asm/README.md: L lanes, then halves folded. It works on whole chunks of L elements and pads
// the tail with zeros. So a lane of -0 becomes +0 there, as in the assembly.
func dot[T float](x, y []T) T {
	if is32[T]() {
		var lane [lanesF32]T
		accumulate(lane[:], x, y)
		return fold(lane[:])
	}
	var lane [lanesF64]T
	accumulate(lane[:], x, y)
	return fold(lane[:])
}

func accumulate[T float](lane, x, y []T) {
	for len(x) > 0 {
		n := min(len(x), len(lane))
		xs, ys := x[:n], y[:n]
		for j := range xs {
			lane[j] = fma(xs[j], ys[j], lane[j])
		}
		for j := n; j < len(lane); j++ {
			lane[j] += 0
		}
		x, y = x[n:], y[n:]
	}
}

func fold[T float](lane []T) T {
	for h := len(lane) / 2; h > 0; h /= 2 {
		for j := range h {
			lane[j] += lane[j+h]
		}
	}
	return lane[0]
}

func axpy[T float](y []T, a T, x []T) {
	for i, v := range x {
		y[i] = fma(a, v, y[i])
	}
}

func Axpy4F32(y, a []float32, x [][]float32) {
	for k := range 4 {
		axpy(y, a[k], x[k][:len(y)])
	}
}

func FirstMistakeF32(y, scores []float32) int {
	for i, v := range y {
		if v*scores[i] <= 0 {
			return i
		}
	}
	return len(y)
}

func scores[T float](out, x, w []T) {
	stride := len(w)
	for r := range out {
		out[r] = dot(x[r*stride:(r+1)*stride], w)
	}
}

// mistake tells whether the perceptron makes a mistake on a row of label y and score s: y's sign times s is at most
// margin. A score of NaN is no mistake.
func mistake(y, s, margin float32) bool {
	if math.Signbit(float64(y)) {
		s = -s
	}
	return s <= margin
}

func EpochF32(w []float32, log []uint32, x, y []float32, eta, margin float32) (rows, updates int) {
	return EpochAveragedF32(w, nil, log, x, y, eta, margin, 0)
}

// EpochAveragedF32 leaves out the sum late if it is nil.
func EpochAveragedF32(w, late []float32, log []uint32, x, y []float32, eta, margin float32,
	visits int) (rows, updates int) {
	stride := len(w)
	for r, label := range y {
		row := x[r*stride : (r+1)*stride]
		if !mistake(label, dot(row, w), margin) {
			continue
		}
		if late != nil {
			axpy(late, float32(visits+r)*eta*label, row)
		}
		axpy(w, eta*label, row)
		log[updates] = uint32(r)
		updates++
		if updates == len(log) {
			return r + 1, updates
		}
	}
	return len(y), updates
}

func EpochPassiveF32(w []float32, log []uint32, x, y []float32, most, slack float64) (rows, updates int) {
	stride := len(w)
	for r, label := range y {
		row := x[r*stride : (r+1)*stride]
		loss := 1 - float64(label*dot(row, w))
		if !(loss > 0) {
			continue
		}
		square := MaxSquaredNormF32(row, stride)
		size := min(most, loss/(square+slack))
		if square == 0 || size == 0 {
			continue
		}
		axpy(w, label*float32(size), row)
		log[updates] = uint32(r)
		updates++
		if updates == len(log) {
			return r + 1, updates
		}
	}
	return len(y), updates
}

func EpochAdaptiveF32(w []float32, log []uint32, z, n, root []float64, x, y []float32, weights, l1, l2 []float64,
	inverse, beta float64, hinge bool) (rows, updates int) {
	stride := len(w)
	for r, label := range y {
		row := x[r*stride : (r+1)*stride]
		margin, slope := float64(label*dot(row, w)), [1]float64{1}
		if hinge && !(margin < 1) {
			continue
		}
		if !hinge {
			slope[0] = -margin
			SigmoidF64(slope[:], slope[:])
		}
		g := float64(-float64(label) * slope[0])
		if weights != nil {
			g = float64(g * weights[r])
		}
		if g == 0 {
			continue
		}
		for c, v := range row {
			if v != 0 {
				adapt(&w[c], &z[c], &n[c], &root[c], float64(g*float64(v)), l1[c], l2[c], inverse, beta)
			}
		}
		log[updates] = uint32(r)
		updates++
		if updates == len(log) {
			return r + 1, updates
		}
	}
	return len(y), updates
}

// adapt updates a column with the gradient g.
func adapt(w *float32, z, n, root *float64, g, l1, l2, inverse, beta float64) {
	*n += float64(g * g)
	r := math.Sqrt(*n)
	*z += g - float64(float64((r-*root)*inverse)*float64(*w))
	*root, *w = r, 0
	if size := math.Abs(*z); size > l1 {
		*w = float32(math.Copysign((size-l1)/(float64((beta+r)*inverse)+l2), -*z))
	}
}

func EpochIndexedF32(w []float32, log []uint32, x, y [][]float32, idx []uint32, _ []float32, eta, margin float32) (visits, updates int) {
	stride := len(w)
	for i, id := range idx {
		group, r := id/GroupRows, int(id%GroupRows)
		row := x[group][r*stride : (r+1)*stride]
		label := y[group][r]
		if !mistake(label, dot(row, w), margin) {
			continue
		}
		axpy(w, eta*label, row)
		log[updates] = uint32(i)
		updates++
		if updates == len(log) {
			return i + 1, updates
		}
	}
	return len(idx), updates
}

func TransposeF32(dst []float32, stride int, cols [][]float32) {
	clear(dst)
	for c, col := range cols {
		for r, v := range col {
			dst[r*stride+c] = v
		}
	}
}

func MaxSquaredNormF32(x []float32, stride int) float64 {
	largest := 0.0
	for ; len(x) >= stride; x = x[stride:] {
		var lane [lanesF64]float64
		for i, v := range x[:stride] {
			j := i % lanesF64
			lane[j] = math.FMA(float64(v), float64(v), lane[j])
		}
		if n := fold(lane[:]); n > largest {
			largest = n
		}
	}
	return largest
}

// BoundsMRF32 and BoundsNRF32 are the candidates and rows of a tile of Bounds. Pack packs rows in groups of
// BoundsNRF32.
const (
	BoundsMRF32, BoundsNRF32 = boundsMR, boundsNR

	boundsMR, boundsNR = 1, 4
)

func PackF32(dst, x, y []float32, stride, cols int) (largest float32) {
	for r, label := range y {
		row := x[r*stride:][:cols]
		group := dst[r/boundsNR*boundsNR*cols:]
		var norm float32
		for c, v := range row {
			if math.Signbit(float64(label)) {
				v = -v
			}
			norm = fma(v, v, norm)
			group[c*boundsNR+r%boundsNR] = v
		}
		if norm > largest {
			largest = norm
		}
	}
	return largest
}

func BoundsF32(low, high []int64, x, w, limits []float32, cols int) {
	for ; len(x) >= boundsNR*cols && len(x) > 0; x = x[boundsNR*cols:] {
		for i, limit := range limits {
			for r := range boundsNR {
				score := boundsScore(x, w[i*cols:], r, cols)
				if score < -limit {
					low[i]++
				}
				if !(score > limit) {
					high[i]++
				}
			}
		}
	}
}

func BoundsWeightedF32(low []int64, x []float32, weights []int32, w, limits []float32, cols int) {
	for ; len(x) >= boundsNR*cols && len(x) > 0; x, weights = x[boundsNR*cols:], weights[boundsNR:] {
		for i, limit := range limits {
			for r, weight := range weights[:boundsNR] {
				if boundsScore(x, w[i*cols:], r, cols) < -limit {
					low[i] += int64(weight)
				}
			}
		}
	}
}

// boundsScore returns the score of row r of a packed group.
func boundsScore(group, w []float32, r, cols int) (score float32) {
	for c := range cols {
		score = fma(group[c*boundsNR+r], w[c], score)
	}
	return score
}

// MRF32 and NRF32 are the rows and columns of the output tile that one step of Tile computes.
const (
	MRF32, NRF32 = mr, nr

	mr, nr = 4, 4
)

func TileF32(c []float32, ldc, grow int, a, b []float32, add bool) {
	row := 0
	size := len(b) / nr * mr // elements of one panel of a
	for ; len(a) > 0; a = a[size:] {
		var acc [mr * nr]float32
		for k := range len(b) / nr {
			for i := range mr {
				for j := range nr {
					acc[i*nr+j] = fma(a[k*mr+i], b[k*nr+j], acc[i*nr+j])
				}
			}
		}
		for i := range mr {
			for j := range nr {
				if add {
					acc[i*nr+j] += c[row+j]
				}
				c[row+j] = acc[i*nr+j]
			}
			row, ldc = row+ldc, ldc+grow
		}
	}
}

// RoundF32 is the number of fused multiply-adds in one round of Peak: 0, since pure Go has no Peak.
const RoundF32 = 0

// BlockCols is the number of columns of a row that ScaleRows writes and RankKUpdate reads.
const BlockCols = 32

func ScaleRowsF32(dst []float64, x []float32, s []float64, stride, cols int) {
	for r, weight := range s {
		root := math.Sqrt(weight)
		for c, v := range x[r*stride:][:cols] {
			dst[r*BlockCols+c] = root * float64(v)
		}
	}
}

func RankKUpdateF64(c, a, b []float64, rows int, square bool) {
	for i := range rows {
		cols := i + 1
		if square {
			cols = BlockCols
		}
		var acc [BlockCols]float64
		for k := 0; k < len(b); k += BlockCols {
			v := a[k+i]
			for j, u := range b[k:][:cols] {
				acc[j] = math.FMA(v, u, acc[j])
			}
		}
		for j := range cols {
			c[i*BlockCols+j] += acc[j]
		}
	}
}

func StandardizeF32(dst, x []float32, center, scale float64) { standardize(dst, x, center, scale) }

func StandardizeF64(dst []float32, x []float64, center, scale float64) {
	standardize(dst, x, center, scale)
}

func NarrowF64(dst []float32, x []float64) (all uint64) {
	for i, v := range x {
		dst[i] = float32(v)
		m := math.Abs(v)
		all |= math.Float64bits(m)
		if m != 0 && !(m >= 0x1p-126 && m < 1<<24) {
			all |= 1 << 63
		}
	}
	return all
}

func NarrowWholeF32(dst []float32, x []int64) (all uint64) {
	const shifted = 0x1.8p52 // to its bits, integers of up to 51 bits can be added
	for i, v := range x {
		dst[i] = float32(math.Float64frombits(math.Float64bits(shifted)+uint64(v)) - shifted)
		all |= uint64(v ^ v>>63)
	}
	return all
}

func standardize[T float](dst []float32, x []T, center, scale float64) {
	for i, v := range x {
		dst[i] = float32((float64(v) - center) / scale)
	}
}
