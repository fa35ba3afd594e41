package kernel

import "halfspace/internal/race"

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
