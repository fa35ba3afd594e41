package dataset

import "halfspace/dataset/internal/parquet/page"

// leastReading is how much memory reading may take in any case, and so what a process takes beside its blocks.
const leastReading = 48 << 20

// within bounds the memory of the passes over an input that follow: beside is what else takes some, such as blocks. Memory
// is that of Options.
func within(in input, memory, beside int64) {
	if memory > 0 {
		in.limit(max(leastReading, memory-beside))
	}
}

// within bounds the memory of the passes that follow: blocks are the bytes that their blocks take.
func (in *Input[T]) within(blocks int64) { within(in.in, in.opt.Memory, blocks) }

func (in *parquetInput) limit(memory int64)  { in.memory = memory }
func (in *csvInput) limit(memory int64)      { in.memory = memory }
func (in *svmlightInput) limit(memory int64) { in.memory = memory }
func (in *arrowInput) limit(memory int64)    { in.memory = memory }

// pages returns how much of the memory pages may take: a quarter on top may be spare.
func (in *parquetInput) pages() int { return int(in.memory / 5 * 4) }

// leastRoom is how many bytes of a column's values are read at a time in any case, about.
const leastRoom = 4 << 10

// bound has a pool keep pages, and the values that so many readers read at a time, within the memory of a pass: values have a
// quarter of it.
func (in *parquetInput) bound(buffers *page.Pool, readers int) {
	if buffers.Limit = in.pages(); buffers.Limit > 0 {
		buffers.Room = max(leastRoom, buffers.Limit/4/max(1, readers)/max(1, len(in.sel.columns)))
	}
}

// lanes returns how many row groups of up to so many are read side by side: as many as there is room for if each column
// chunk is a single page, one less for the row group whose last batch is still in use. Where that is 0 each batch must be
// released before the next one is read.
func (in *parquetInput) lanes(most int) int {
	if in.memory == 0 {
		return most
	}
	largest := int64(1)
	for _, f := range in.files {
		for _, g := range f.groups {
			bytes := int64(0)
			for _, c := range g.chunks {
				bytes += min(max(0, c.uncompressed), 1<<40)
				if c.codec != int8(page.Uncompressed) {
					bytes += c.size
				}
			}
			largest = max(largest, bytes)
		}
	}
	return int(min(int64(most), max(0, int64(in.pages())/largest-1)))
}
