//go:build (!amd64 && !arm64) || noasm

package kernel

import "halfspace/asm/ref"

// detected returns the levels beyond Generic; this build has none.
func detected() []Level { return nil }

func dotF32(x, y []float32) float32 {
	return ref.DotF32(x, y)
}

func dotF64(x, y []float64) float64 {
	return ref.DotF64(x, y)
}

func axpyF32(a float32, x, y []float32) {
	ref.AxpyF32(a, x, y)
}

func axpyF64(a float64, x, y []float64) {
	ref.AxpyF64(a, x, y)
}

func axpy4F32(a []float32, x [][]float32, y []float32) {
	ref.Axpy4F32(a, x, y)
}

func wrongF32(y, scores []float32) int {
	return ref.WrongF32(y, scores)
}

func axpy4F64(a []float64, x [][]float64, y []float64) {
	ref.Axpy4F64(a, x, y)
}

func wrongF64(y, scores []float64) int {
	return ref.WrongF64(y, scores)
}

func scoresF32(x, w, out []float32) {
	ref.ScoresF32(x, w, out)
}

func scoresF64(x, w, out []float64) {
	ref.ScoresF64(x, w, out)
}

func epochF32(x, y []float32, eta float32, w []float32, log []uint32) (int, int) {
	return ref.EpochF32(x, y, eta, w, log)
}

func epochF64(x, y []float64, eta float64, w []float64, log []uint32) (int, int) {
	return ref.EpochF64(x, y, eta, w, log)
}

func epochIndexedF32(x, y [][]float32, idx []uint32, ahead []float32, eta float32, w []float32, log []uint32) (int, int) {
	return ref.EpochIndexedF32(x, y, idx, ahead, eta, w, log)
}

func epochIndexedF64(x, y [][]float64, idx []uint32, ahead []float64, eta float64, w []float64, log []uint32) (int, int) {
	return ref.EpochIndexedF64(x, y, idx, ahead, eta, w, log)
}

func transposeF32(dst []float32, stride int, cols [][]float32) {
	ref.TransposeF32(dst, stride, cols)
}

func transposeF64(dst []float64, stride int, cols [][]float64) {
	ref.TransposeF64(dst, stride, cols)
}

func maxSquaredNormF32(x []float32, stride int) float64 {
	return ref.MaxSquaredNormF32(x, stride)
}

func maxSquaredNormF64(x []float64, stride int) float64 {
	return ref.MaxSquaredNormF64(x, stride)
}

func packF32(dst, x, y []float32, stride, cols int) float32 {
	return ref.PackF32(dst, x, y, stride, cols)
}

func packF64(dst, x, y []float64, stride, cols int) float64 {
	return ref.PackF64(dst, x, y, stride, cols)
}

func boundsF32(x, w, limits []float32, cols int, low, high []int64) {
	ref.BoundsF32(x, w, limits, cols, low, high)
}

func boundsF64(x, w, limits []float64, cols int, low, high []int64) {
	ref.BoundsF64(x, w, limits, cols, low, high)
}

func boundsShapeF32() (mr, nr int) {
	return ref.BoundsMRF32, ref.BoundsNRF32
}

func boundsShapeF64() (mr, nr int) {
	return ref.BoundsMRF64, ref.BoundsNRF64
}

func tileF32(a, b, c []float32, ldc, grow int, add bool) {
	ref.TileF32(a, b, c, ldc, grow, add)
}

func tileF64(a, b, c []float64, ldc, grow int, add bool) {
	ref.TileF64(a, b, c, ldc, grow, add)
}

func tileShapeF32() (mr, nr int) {
	return ref.MRF32, ref.NRF32
}

func tileShapeF64() (mr, nr int) {
	return ref.MRF64, ref.NRF64
}

func weighF32(dst []float64, x []float32, s []float64, stride, cols int) {
	ref.WeighF32(dst, x, s, stride, cols)
}

func weighF64(dst []float64, x []float64, s []float64, stride, cols int) {
	ref.WeighF64(dst, x, s, stride, cols)
}

func outer(a, b, c []float64, rows int, square bool) { ref.OuterF64(a, b, c, rows, square) }

func copyPast(dst, src []float32) { copy(dst, src) }

func fence() {}
