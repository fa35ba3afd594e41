package npy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestTranspose: the transposition by tiles moves the same bits as the plain one, for every number of rows beside the tiles' borders, for
// all columns, some, and in another order.
func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, cols := range []int{1, 2, 7, 8, 9, 28, 31, 64, 511, 513, maxTileColumns} {
		tile := min(max(tileElements/cols, 32), 8*maxTileColumns/cols) &^ 7
		for _, rows := range []int{1, 7, 8, 9, tile - 1, tile, tile + 1, 2*tile + 3} {
			lines := make([]uint32, rows*cols)
			for i := range lines {
				lines[i] = r.Uint32()
			}
			for _, columns := range [][]int{r.Perm(cols), r.Perm(cols)[:1+cols/2], {cols - 1}} {
				want, got := make([]uint32, rows*len(columns)), make([]uint32, rows*len(columns))
				transpose(want, lines, cols, columns)
				transposeTiles(floats(got), floats(lines), cols, columns)
				if !slices.Equal(got, want) {
					t.Fatalf("%d rows, %d of %d columns: other numbers", rows, len(columns), cols)
				}
			}
		}
	}
}

func floats(v []uint32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

func BenchmarkTranspose(b *testing.B) {
	for _, cols := range []int{4, 28, 128, 784} {
		rows := 2 << 20 / 4 / cols &^ 4095
		if rows == 0 {
			rows = 2 << 20 / 4 / cols
		}
		lines, values, columns := make([]uint32, rows*cols), make([]uint32, rows*cols), make([]int, cols)
		for k := range columns {
			columns[k] = k
		}
		for name, f := range map[string]func(){
			"plain": func() { transpose(values, lines, cols, columns) },
			"tiles": func() { transposeTiles(floats(values), floats(lines), cols, columns) },
		} {
			b.Run(fmt.Sprintf("%d/%s", cols, name), func(b *testing.B) {
				b.SetBytes(int64(4 * len(lines)))
				for b.Loop() {
					f()
				}
			})
		}
	}
}
