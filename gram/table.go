package gram

import "halfspace/internal/microkernel"

// The sizes of blocks, after Goto and van de Geijn (2008) and BLIS. MR and NR of the micro-kernel depend on the
// instruction set (microkernel.TileShape); they divide MC and NB for every instruction set.
//
//   - KC: columns of a panel. A panel of NR rows stays in the first-level cache while MC rows pass: 16 KiB.
//   - MC: rows that a worker packs at a time. MC x KC elements stay in the second-level cache: 144 KiB of float32.
//   - NB: columns of the result that a worker computes at a time. MC x NB elements stay in the second-level cache until
//     all panels are added.
//   - NC: packed rows that all workers share: at most ncBytes, which stream from the third-level cache or from memory.
//
// KC and NB are the same for every instruction set, because sums are cut there: inner products every KC columns, and
// sums over columns of the result (Expand, Combine) every NB columns. NC cuts no sum.
const (
	kc      = 256
	mc      = 144
	nb      = 384
	ncBytes = 32 << 20
)

// A table is the sizes of blocks for an instruction set and a number of columns.
type table struct{ mr, nr, nc int }

func tableFor(cols int) table {
	var t table
	t.mr, t.nr = microkernel.TileShape()
	t.nc = max(1, ncBytes/4/max(1, cols)/nb) * nb
	return t
}

// up returns n rounded up to a multiple of m.
func up(n, m int) int { return (n + m - 1) / m * m }
