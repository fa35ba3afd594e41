package parquet

import (
	"halfspace/dataset/internal/parquet/page"
)

// Limit bounds the bytes that a pass may take; 0 is no bound.
func (in *Input) Limit(memory int64) { in.Memory = memory }

// pages returns how much of the memory pages may take: a quarter on top may be spare.
func (in *Input) pages() int { return int(in.Memory / 5 * 4) }

// leastRoom is how many bytes of a column's values are read at a time in any case, about.
const leastRoom = 4 << 10

// Bound has a pool keep pages, and the values that so many readers read at a time, within the memory of a pass. Values
// have a quarter of it.
func (in *Input) Bound(buffers *page.Pool, readers int) {
	if buffers.Limit = in.pages(); buffers.Limit > 0 {
		buffers.Room = max(leastRoom, buffers.Limit/4/max(1, readers)/max(1, len(in.Files[0].columns)))
	}
}

// Lanes returns how many row groups, up to most, are read side by side. If each column chunk is a single page, there is
// room for one more: that whose last batch is still in use. If Lanes returns 0, each batch must be released before the
// next one is read.
func (in *Input) Lanes(most int) int {
	if in.Memory == 0 {
		return most
	}
	largest := int64(1)
	for _, f := range in.Files {
		for _, g := range f.Groups {
			bytes := int64(0)
			for _, c := range g.Chunks {
				bytes += min(max(0, c.uncompressed), 1<<40)
				if c.codec != int8(page.Uncompressed) {
					bytes += c.Size
				}
			}
			largest = max(largest, bytes)
		}
	}
	return int(min(int64(most), max(0, int64(in.pages())/largest-1)))
}
