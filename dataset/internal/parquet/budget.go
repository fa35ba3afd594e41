package parquet

// Limit sets the maximum number of bytes of memory of a pass; 0 means no limit.
func (in *Input) Limit(memory int64) { in.Memory = memory }

// pages returns the number of bytes that pages may use: 4/5 of the memory of a pass. In addition, a quarter of this
// number may be spare.
func (in *Input) pages() int { return int(in.Memory / 5 * 4) }

// leastRoom is the smallest approximate number of bytes of a column's values that are read at a time.
const leastRoom = 4 << 10

// Bound sets the limits of a pool: for pages, and for the values that readers readers read at a time. Together they
// stay within the memory of a pass. Values get a quarter of the limit.
func (in *Input) Bound(buffers *Pool, readers int) {
	if buffers.Limit = in.pages(); buffers.Limit > 0 {
		buffers.Room = max(leastRoom, buffers.Limit/4/max(1, readers)/max(1, len(in.Files[0].columns)))
	}
}

// Lanes returns the number of row groups, at most most, that are read at the same time. If each column chunk is a
// single page, the memory also holds one more row group, whose last batch is still in use. If Lanes returns 0, each
// batch must be released before the next batch is read.
func (in *Input) Lanes(most int) int {
	if in.Memory == 0 {
		return most
	}
	_, largest := in.groupBytes(1 << 40)
	return int(min(int64(most), max(0, int64(in.pages())/largest-1)))
}

// usualPage is the most bytes that usual writers put into a page or into a dictionary: pyarrow, polars and Spark.
const usualPage = 1 << 20

// PageBytes returns about how many bytes of memory the pages of up to most row groups take that are read at the same time: for each column
// a page of usual size, as it is stored and decompressed, and a dictionary.
func (in *Input) PageBytes(most int) int64 {
	groups, largest := in.groupBytes(3 * usualPage)
	return int64(min(groups, most)) * largest
}

// groupBytes returns the number of row groups, and the bytes of the largest one as it is stored and decompressed, of which a column
// counts up to most bytes; at least 1.
func (in *Input) groupBytes(most int64) (groups int, largest int64) {
	largest = 1
	for _, f := range in.Files {
		for _, g := range f.Groups {
			bytes := int64(0)
			for _, c := range g.Chunks {
				all := min(max(0, c.uncompressed), most)
				if c.codec != int8(Uncompressed) {
					all = min(all+c.Size, most)
				}
				bytes += all
			}
			groups, largest = groups+1, max(largest, bytes)
		}
	}
	return groups, largest
}
