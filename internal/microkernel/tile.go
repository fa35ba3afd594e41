package microkernel

import "halfspace/internal/race"

// TileShape returns the rows and columns of the tile that Tile computes at the active level.
func TileShape() (mr, nr int) {
	return tileShapeF32()
}

// Tile multiplies packed panels of mr rows by one packed panel of nr columns; TileShape returns mr and nr. b holds nr
// elements for each k; there is at least one k. a holds one panel after the other, each with mr elements for each k.
// Without panels in a nothing changes.
//
//	for each panel p of a:
//		acc = zeros
//		for k := range len(b)/nr { acc[i][j] = fma(a[p][k*mr+i], b[k*nr+j], acc[i][j]) for each i, j }
//		r := p*mr + i; at := r*ldc + r*(r-1)/2*grow
//		if add { acc[i][j] += c[at+j] for each i, j }
//		c[at+j] = acc[i][j] for each i, j
//
// Row r of c begins at element at. So row 1 begins ldc elements after row 0, and each later distance is longer by grow,
// as in a packed triangle. c may be longer than its rows.
func Tile(c []float32, ldc, grow int, a, b []float32, add bool) {
	mr, nr := TileShape()
	if len(b) == 0 || len(b)%nr != 0 || len(a)%(len(b)/nr*mr) != 0 {
		panic("microkernel: panels don't have mr and nr elements for each k")
	}
	if len(a) == 0 {
		return
	}
	rows := len(a) / (len(b) / nr)
	if ldc < nr || grow < 0 || len(c) < nr || (len(c)-nr)/ldc < rows-1 || grow > 0 && (len(c)-nr-(rows-1)*ldc)/grow < (rows-1)*(rows-2)/2 {
		panic("microkernel: short c")
	}
	for r := 0; race.Enabled && r < rows; r++ {
		race.Write(c[r*ldc+r*(r-1)/2*grow:][:nr])
	}
	race.Read(a)
	race.Read(b)
	tileF32(c, ldc, grow, a, b, add)
}
