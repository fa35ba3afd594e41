package gram

import "halfspace/internal/microkernel"

// The sizes of blocks, after Goto and van de Geijn (2008) and BLIS. The micro-kernel's MR and NR are the level's own
// (microkernel.TileShape); they divide MC and NB at every level.
//
//   - KC: columns of a panel. A panel of NR rows stays in the first-level cache while MC rows pass: 16 KiB.
//   - MC: rows that a worker packs at a time. MC x KC elements stay in the second-level cache, 144 KiB of float32.
//   - NB: columns of the result that a worker computes at a time. MC x NB elements stay in the second-level cache until
//     all panels are added.
//   - NC: packed rows that all workers share: at most ncBytes, which stream from the third-level cache or memory.
//
// KC and NB are the same at every level, since sums are cut there: inner products every KC columns, sums over rows of the
// result (Combine, Support.Expand) every NB rows. NC cuts no sum.
const (
	kc      = 256
	mc      = 144
	nb      = 384
	ncBytes = 32 << 20
)

// A table is the sizes of blocks for one level and number of columns.
type table struct{ mr, nr, nc int }

func tableFor(cols int) table {
	var t table
	t.mr, t.nr = microkernel.TileShape()
	t.nc = max(1, ncBytes/4/max(1, cols)/nb) * nb
	return t
}

// up rounds n up to a multiple of m.
func up(n, m int) int { return (n + m - 1) / m * m }
