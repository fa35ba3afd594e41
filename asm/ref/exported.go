package ref

// The exported names, one pair for each kernel; package asm documents them.

func DotF32(x, y []float32) float32 {
	return dot(x, y)
}

func DotF64(x, y []float64) float64 {
	return dot(x, y)
}

func AxpyF32(a float32, x, y []float32) {
	axpy(a, x, y)
}

func AxpyF64(a float64, x, y []float64) {
	axpy(a, x, y)
}

func Axpy4F32(a []float32, x [][]float32, y []float32) { axpy4(a, x, y) }

func Axpy4F64(a []float64, x [][]float64, y []float64) { axpy4(a, x, y) }

func WrongF32(y, scores []float32) int { return firstWrong(y, scores) }

func WrongF64(y, scores []float64) int { return firstWrong(y, scores) }

func ScoresF32(x, w, out []float32) {
	scores(x, w, out)
}

func ScoresF64(x, w, out []float64) {
	scores(x, w, out)
}

func EpochF32(x, y []float32, eta float32, w []float32, log []uint32) (rows, updates int) {
	return epoch(x, y, eta, w, log)
}

func EpochF64(x, y []float64, eta float64, w []float64, log []uint32) (rows, updates int) {
	return epoch(x, y, eta, w, log)
}

func EpochIndexedF32(x, y [][]float32, idx []uint32, _ []float32, eta float32, w []float32, log []uint32) (visits, updates int) {
	return epochIndexed(x, y, idx, eta, w, log)
}

func EpochIndexedF64(x, y [][]float64, idx []uint32, _ []float64, eta float64, w []float64, log []uint32) (visits, updates int) {
	return epochIndexed(x, y, idx, eta, w, log)
}

func TransposeF32(dst []float32, stride int, cols [][]float32) {
	transpose(dst, stride, cols)
}

func TransposeF64(dst []float64, stride int, cols [][]float64) {
	transpose(dst, stride, cols)
}

func MaxSquaredNormF32(x []float32, stride int) float64 {
	return maxSquaredNorm(x, stride)
}

func MaxSquaredNormF64(x []float64, stride int) float64 {
	return maxSquaredNorm(x, stride)
}

func PackF32(dst, x, y []float32, stride, cols int) float32 { return pack(dst, x, y, stride, cols) }

func PackF64(dst, x, y []float64, stride, cols int) float64 { return pack(dst, x, y, stride, cols) }

func BoundsF32(x, w, limits []float32, cols int, low, high []int64) {
	bounds(x, w, limits, cols, low, high)
}

func BoundsF64(x, w, limits []float64, cols int, low, high []int64) {
	bounds(x, w, limits, cols, low, high)
}

func TileF32(a, b, c []float32, ldc, grow int, add bool) { tile(a, b, c, ldc, grow, add) }

func TileF64(a, b, c []float64, ldc, grow int, add bool) { tile(a, b, c, ldc, grow, add) }

func WeighF32(dst []float64, x []float32, s []float64, stride, cols int) {
	weigh(dst, x, s, stride, cols)
}

func WeighF64(dst []float64, x []float64, s []float64, stride, cols int) {
	weigh(dst, x, s, stride, cols)
}
