package measure

import (
	"context"
	"fmt"
	"math/rand/v2"

	"halfspace/kernel"
)

// windowChunks is the number of chunks whose rows are visited in a random order together.
const windowChunks = 8

// A shuffle is rows in memory, in the order of a shuffled epoch: the chunks in a random order, and the rows of each window
// of chunks.
type shuffle struct {
	rows    *kernel.Rows[float32]
	chunks  []int    // in the order of visits
	visits  []uint32 // row numbers, window after window
	weights []float32
	log     []uint32
}

func newShuffle(d *data, n int64) *shuffle {
	s := &shuffle{log: make([]uint32, kernel.ChunkRows), weights: make([]float32, 32)}
	var x, y [][]float32
	for b := range d.noisy(n).Blocks(context.Background()) { // of whole chunks, but the last one
		for lo := 0; lo < b.Len(); lo += kernel.ChunkRows {
			hi := min(b.Len(), lo+kernel.ChunkRows)
			x, y = append(x, b.X[lo*b.Stride:hi*b.Stride]), append(y, b.Y[lo:hi])
		}
	}
	s.rows = kernel.NewRows(x, y, 32)
	rng := rand.New(rand.NewPCG(3, 3))
	s.chunks = rng.Perm(len(x))
	for lo := 0; lo < len(s.chunks); lo += windowChunks {
		first := len(s.visits)
		for _, c := range s.chunks[lo:min(len(s.chunks), lo+windowChunks)] {
			for r := range y[c] {
				s.visits = append(s.visits, uint32(c*kernel.ChunkRows+r))
			}
		}
		window := s.visits[first:]
		rng.Shuffle(len(window), func(i, j int) { window[i], window[j] = window[j], window[i] })
	}
	return s
}

// epoch visits all rows. With each chunk's worth of visits it prefetches a chunk of the next window.
func (s *shuffle) epoch() {
	for lo := 0; lo < len(s.visits); lo += kernel.ChunkRows {
		var ahead []float32
		if next := lo/kernel.ChunkRows + windowChunks; next < len(s.chunks) {
			ahead = s.rows.Chunk(s.chunks[next])
		}
		for part := s.visits[lo:min(len(s.visits), lo+kernel.ChunkRows)]; len(part) > 0; {
			visits, _ := kernel.EpochIndexed(s.weights, s.log, s.rows, part, ahead, 1, 0)
			part = part[visits:]
		}
	}
}

// shuffled is the epoch by row numbers, in a cache and in memory.
func (d *data) shuffled() []*Item {
	var all []*Item
	for _, n := range []int64{cachedRows, memoryRows} {
		var s *shuffle
		bytes := float64(n) * (32 + 1) * 4
		all = append(all, calls(fmt.Sprintf("EpochIndexed/type=float32/rows=%d/d=%d", n, features), bytes, 2*float64(n)*(features+1), "float32", func() {
			if s == nil {
				s = newShuffle(d, n)
			}
			s.epoch()
		}).stage("EpochIndexedF32/28", float64(n)))
	}
	return all
}
