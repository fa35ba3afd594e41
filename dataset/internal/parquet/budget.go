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

// usualPage is the largest number of bytes that pyarrow, polars and Spark put into a page or into a dictionary by default.
const usualPage = 1 << 20

// PageBytes estimates the memory of pages in bytes while at most mostGroups row groups are read at a time: for each column
// a page of usualPage bytes, compressed and decompressed, and a dictionary.
func (in *Input) PageBytes(mostGroups int) int64 {
	groups, largest := in.groupBytes(3 * usualPage)
	return int64(min(groups, mostGroups)) * largest
}

// groupBytes returns the number of row groups, and the bytes of the largest one, compressed and decompressed. A column
// counts at most mostColumn bytes. largestBytes is at least 1.
func (in *Input) groupBytes(mostColumn int64) (groups int, largestBytes int64) {
	largestBytes = 1
	for _, f := range in.Files {
		for _, g := range f.Groups {
			bytes := int64(0)
			for _, c := range g.Chunks {
				column := min(max(0, c.uncompressed), mostColumn)
				if c.codec != int8(Uncompressed) {
					column = min(column+c.Size, mostColumn)
				}
				bytes += column
			}
			groups, largestBytes = groups+1, max(largestBytes, bytes)
		}
	}
	return groups, largestBytes
}
