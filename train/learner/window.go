package learner

import "halfspace/kernel"

// WindowRows is the number of rows in a window of a permutation, and of draws in a window of draws.
const WindowRows = WindowEighths * kernel.EighthRows

// WindowsInFlight returns the most windows in memory of a training on a source of the given number of rows that isn't
// in memory. While one window is visited, the next windows are read. shards is the number of shards that learn at the
// same time, at least 1; each shard has its own windows.
func WindowsInFlight(rows, shards int64) int64 { return min(3*shards, (rows+WindowRows-1)/WindowRows) }

// WindowBytes returns the bytes of WindowsInFlight. bytes returns the memory of blocks of a number of rows. A training
// without shards has windows if its order isn't cyclic; a shard in the cyclic order has as many chunks instead.
func WindowBytes(rows, shards int64, bytes func(rows int64) int64) int64 {
	return WindowsInFlight(rows, shards) * bytes(WindowRows)
}
