//go:build unix

package microkernel_test

import (
	"math"
	"testing"

	"halfspace/internal/kerneltest"
	"halfspace/internal/microkernel"
)

// TestCopyNonTemporal copies to and from every alignment, at the edges of pages that can't be touched.
func TestCopyNonTemporal(t *testing.T) {
	kerneltest.OnLevels(t, testCopyNonTemporal)
}

func testCopyNonTemporal(t *testing.T) {
	dst, src := kerneltest.NewGuardedBuffer(t, 4096), kerneltest.NewGuardedBuffer(t, 4096)
	for n := range 100 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i) + 0.5
		}
		if n > 0 {
			x[0] = float32(math.Inf(1))
		}
		for shift := range 17 {
			for _, back := range []bool{false, true} {
				p := kerneltest.Place{Back: back, Shift: shift}
				got := kerneltest.Put(dst, p, make([]float32, n))
				microkernel.CopyNonTemporal(got, kerneltest.Put(src, kerneltest.Place{Back: !back, Shift: shift % 3}, x))
				microkernel.Fence()
				for i, v := range x {
					if got[i] != v {
						t.Fatalf("n=%d %+v: element %d is %v, want %v", n, p, i, got[i], v)
					}
				}
				if !dst.IsIntact() {
					t.Fatalf("n=%d %+v: wrote outside of the slice", n, p)
				}
			}
		}
	}
}
