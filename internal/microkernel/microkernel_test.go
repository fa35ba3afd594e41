package microkernel_test

import (
	"slices"
	"testing"

	"halfspace/internal/kerneltest"
	"halfspace/internal/microkernel"
)

// TestPanics calls every function with wrong lengths. It must panic with a constant, before it writes anything.
func TestPanics(t *testing.T) {
	const stride = 16
	x := slices.Repeat([]float32{1}, 4*stride)
	mr, nr := microkernel.TileShape()
	long := make([]float32, 4*mr*nr)
	wide := make([]float64, 32*32)
	kerneltest.CheckMisuses(t, len(x), []kerneltest.Misuse[float32]{
		{"microkernel: panels don't have mr and nr elements for each k", func(dst []float32) { microkernel.Tile(dst, nr, 0, x[:mr*2-1], x[:nr], true) }},
		{"microkernel: panels don't have mr and nr elements for each k", func(dst []float32) { microkernel.Tile(dst, nr, 0, long[:mr*2], long[:nr*2-1], true) }},
		{"microkernel: short c", func(dst []float32) { microkernel.Tile(make([]float32, mr*nr-1), nr, 0, long[:mr], long[:nr], true) }},
		{"microkernel: short c", func(dst []float32) { microkernel.Tile(make([]float32, mr*nr), nr+1, 0, long[:mr], long[:nr], true) }},
		{"microkernel: short c", func(dst []float32) { microkernel.Tile(make([]float32, mr*nr), nr-1, 0, long[:mr], long[:nr], true) }},
		{"microkernel: panels don't have mr and nr elements for each k", func(dst []float32) { microkernel.Tile(dst, nr, 0, long[:mr], nil, true) }},
		{"microkernel: short c", func(dst []float32) { microkernel.Tile(make([]float32, 2*mr*nr-1), nr, 0, long[:2*mr], long[:nr], true) }},
		{"microkernel: short c", func(dst []float32) { microkernel.Tile(nil, nr, 0, long[:mr], long[:nr], true) }},
		{"microkernel: short c", func(dst []float32) {
			microkernel.Tile(make([]float32, mr*nr+(mr-1)*(mr-2)/2-1), nr, 1, long[:mr], long[:nr], true)
		}},
		{"microkernel: short c", func(dst []float32) { microkernel.Tile(make([]float32, mr*nr), nr, -1, long[:mr], long[:nr], true) }},
		{"microkernel: number of columns is not a multiple of 4 in 4..32", func(dst []float32) { microkernel.ScaleRows(wide, x, wide[:1], 16, 6) }},
		{"microkernel: number of columns is not a multiple of 4 in 4..32", func(dst []float32) { microkernel.ScaleRows(wide, x, wide[:1], 64, 36) }},
		{"microkernel: stride is less than the columns", func(dst []float32) { microkernel.ScaleRows(wide, x, wide[:1], 7, 8) }},
		{"microkernel: short x", func(dst []float32) { microkernel.ScaleRows(wide, x[:63], wide[:4], 16, 16) }},
		{"microkernel: short dst", func(dst []float32) { microkernel.ScaleRows(wide[:4*32-1], x, wide[:4], 16, 16) }},
		{"microkernel: a and b have different numbers of rows of 32 columns", func(dst []float32) { microkernel.RankKUpdate(wide, wide[:32], wide[:64], 4, true) }},
		{"microkernel: a and b have different numbers of rows of 32 columns", func(dst []float32) { microkernel.RankKUpdate(wide, wide[:33], wide[:33], 4, true) }},
		{"microkernel: number of rows is neither 1 nor a multiple of 4 in 4..32", func(dst []float32) { microkernel.RankKUpdate(wide, wide[:32], wide[:32], 3, true) }},
		{"microkernel: length of c is not 32 * 32", func(dst []float32) { microkernel.RankKUpdate(wide[:32*32-1], wide[:32], wide[:32], 4, true) }},
		{"microkernel: short dst", func(dst []float32) { microkernel.CopyNonTemporal(dst[1:], x) }},
		{"microkernel: short src", func(dst []float32) { microkernel.CopyNonTemporal(dst, x[1:]) }},
	})
}
