package bench

import (
	"fmt"
	"slices"

	"halfspace/kernel"
	"halfspace/train/learner"
)

// A shuffle is rows in memory, in the order of a shuffled epoch.
type shuffle struct {
	rows    *kernel.Rows
	order   *learner.Permutation
	windows [][]uint32 // row numbers
	weights []float32
	log     []uint32
}

func newShuffle(d *data, n int64) (*shuffle, error) {
	index, err := d.noisy(n).Index()
	if err != nil {
		return nil, err
	}
	s := &shuffle{rows: index.Rows(), order: learner.NewPermutation(int(n), 3, 0), log: make([]uint32, kernel.EighthRows), weights: make([]float32, 32)}
	for k := range s.order.Windows() {
		s.windows = append(s.windows, s.order.Rows(nil, k))
	}
	return s, nil
}

// epoch visits all rows. With each ChunkRows visits it prefetches a chunk of the next window.
func (s *shuffle) epoch() {
	for k, window := range s.windows {
		next := s.order.Window(k + 1)
		for part := range slices.Chunk(window, kernel.EighthRows) {
			var ahead []float32
			if len(next) > 0 {
				ahead, next = s.rows.Chunk(int(next[0])), next[1:]
			}
			for len(part) > 0 {
				visits, _ := kernel.EpochIndexed(s.weights, s.log, s.rows, part, ahead, 1, 0)
				part = part[visits:]
			}
		}
	}
}

// shuffled returns the item of the epoch by row numbers, in a cache and in memory.
func (d *data) shuffled() []*Item {
	var all []*Item
	for _, n := range []int64{cachedRows, memoryRows} {
		var s *shuffle
		bytes := float64(n) * (32 + 1) * 4
		i := calls(fmt.Sprintf("EpochIndexed/type=float32/rows=%d/d=%d", n, features), bytes, 2*float64(n)*(features+1), "float32", nil)
		i.run = func() (err error) {
			if s == nil {
				if s, err = newShuffle(d, n); err != nil {
					return err
				}
			}
			s.epoch()
			return nil
		}
		all = append(all, i)
	}
	return all
}
