package ref

// The exported names, one pair for each kernel; package asm documents them.

func DotF32(x, y []float32) float32 { return dot(x, y) }

func DotF64(x, y []float64) float64 { return dot(x, y) }

func AxpyF32(y []float32, a float32, x []float32) { axpy(y, a, x) }

func AxpyF64(y []float64, a float64, x []float64) { axpy(y, a, x) }

func Axpy4F32(y, a []float32, x [][]float32) { axpy4(y, a, x) }

func Axpy4F64(y, a []float64, x [][]float64) { axpy4(y, a, x) }

func FirstMistakeF32(y, scores []float32) int { return firstMistake(y, scores) }

func FirstMistakeF64(y, scores []float64) int { return firstMistake(y, scores) }

func ScoresF32(out, x, w []float32) { scores(out, x, w) }

func ScoresF64(out, x, w []float64) { scores(out, x, w) }

func EpochF32(w []float32, log []uint32, x, y []float32, eta, margin float32) (rows, updates int) {
	return epoch(w, log, x, y, eta, margin)
}

func EpochF64(w []float64, log []uint32, x, y []float64, eta, margin float64) (rows, updates int) {
	return epoch(w, log, x, y, eta, margin)
}

func EpochIndexedF32(w []float32, log []uint32, x, y [][]float32, idx []uint32, _ []float32, eta, margin float32) (visits, updates int) {
	return epochIndexed(w, log, x, y, idx, eta, margin)
}

func EpochIndexedF64(w []float64, log []uint32, x, y [][]float64, idx []uint32, _ []float64, eta, margin float64) (visits, updates int) {
	return epochIndexed(w, log, x, y, idx, eta, margin)
}

func TransposeF32(dst []float32, stride int, cols [][]float32) { transpose(dst, stride, cols) }

func TransposeF64(dst []float64, stride int, cols [][]float64) { transpose(dst, stride, cols) }

func MaxSquaredNormF32(x []float32, stride int) float64 { return maxSquaredNorm(x, stride) }

func MaxSquaredNormF64(x []float64, stride int) float64 { return maxSquaredNorm(x, stride) }

func SparseScoresF32(out []float32, ptr []int64, idx []uint32, val, w []float32) int {
	return sparseScores(out, ptr, idx, val, w)
}

func SparseScoresF64(out []float64, ptr []int64, idx []uint32, val, w []float64) int {
	return sparseScores(out, ptr, idx, val, w)
}

func SparseScores8F32(out []float32, ptr []int64, idx []uint32, val, w []float32) int {
	return sparseScores8(out, ptr, idx, val, w)
}

func SparseScores8F64(out []float64, ptr []int64, idx []uint32, val, w []float64) int {
	return sparseScores8(out, ptr, idx, val, w)
}

func SparseEpochF32(w []float32, log []uint32, ptr []int64, idx []uint32, val, y []float32, eta, margin float32) (rows, updates int) {
	return sparseEpoch(w, log, ptr, idx, val, y, eta, margin)
}

func SparseEpochF64(w []float64, log []uint32, ptr []int64, idx []uint32, val, y []float64, eta, margin float64) (rows, updates int) {
	return sparseEpoch(w, log, ptr, idx, val, y, eta, margin)
}

func SparseEpochIndexedF32(w []float32, log []uint32, ptr [][]int64, idx [][]uint32, val, y [][]float32, rows []uint32, eta, margin float32) (visits, updates int) {
	return sparseEpochIndexed(w, log, ptr, idx, val, y, rows, eta, margin)
}

func SparseEpochIndexedF64(w []float64, log []uint32, ptr [][]int64, idx [][]uint32, val, y [][]float64, rows []uint32, eta, margin float64) (visits, updates int) {
	return sparseEpochIndexed(w, log, ptr, idx, val, y, rows, eta, margin)
}

func SparseAddF32(w []float32, a float32, idx []uint32, val []float32) int {
	return sparseAdd(w, a, idx, val)
}

func SparseAddF64(w []float64, a float64, idx []uint32, val []float64) int {
	return sparseAdd(w, a, idx, val)
}

func PackF32(dst, x, y []float32, stride, cols int) float32 { return pack(dst, x, y, stride, cols) }

func PackF64(dst, x, y []float64, stride, cols int) float64 { return pack(dst, x, y, stride, cols) }

func BoundsF32(low, high []int64, x, w, limits []float32, cols int) {
	bounds(low, high, x, w, limits, cols)
}

func BoundsF64(low, high []int64, x, w, limits []float64, cols int) {
	bounds(low, high, x, w, limits, cols)
}

func BoundsWeightedF32(low []int64, x []float32, weights []int32, w, limits []float32, cols int) {
	boundsWeighted(low, x, weights, w, limits, cols)
}

func BoundsWeightedF64(low []int64, x []float64, weights []int64, w, limits []float64, cols int) {
	boundsWeighted(low, x, weights, w, limits, cols)
}

func TileF32(c []float32, ldc, grow int, a, b []float32, add bool) { tile(c, ldc, grow, a, b, add) }

func TileF64(c []float64, ldc, grow int, a, b []float64, add bool) { tile(c, ldc, grow, a, b, add) }

func ScaleRowsF32(dst []float64, x []float32, s []float64, stride, cols int) {
	scaleRows(dst, x, s, stride, cols)
}

func ScaleRowsF64(dst []float64, x []float64, s []float64, stride, cols int) {
	scaleRows(dst, x, s, stride, cols)
}

func ExpF32(y, x []float32) { exp(y, x) }

func ExpF64(y, x []float64) { exp(y, x) }

func SigmoidF32(y, x []float32) { sigmoid(y, x) }

func SigmoidF64(y, x []float64) { sigmoid(y, x) }

func Log1pF32(y, x []float32) { log1p(y, x) }

func Log1pF64(y, x []float64) { log1p(y, x) }

// CopyNonTemporalF32 is copy: pure Go has no non-temporal stores.
func CopyNonTemporalF32(dst, src []float32) { copy(dst, src) }
