package writer

import (
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
)

// A grouping cuts rows into groups of at most maxRows rows and MaxBytes bytes, but of at least one row. The cuts
// depend only on the rows, not on the records in which they come.
type grouping struct {
	maxRows, MaxBytes int64
	rows, bytes       int64 // rows and bytes of the group that is being filled
}

// cut divides rec into parts that each belong to one group, and calls write with each part. first is true if the part
// begins a group.
func (g *grouping) cut(rec arrow.Record, write func(part arrow.Record, first bool) error) error {
	size := recordSizes(rec)
	for lo, all := int64(0), rec.NumRows(); lo < all; {
		most := min(all-lo, g.maxRows-g.rows)
		n := int64(sort.Search(int(most), func(i int) bool { return g.bytes+size(int(lo), int(lo)+i+1) > g.MaxBytes }))
		if n == 0 && g.rows > 0 { // the group is full
			g.rows, g.bytes = 0, 0
			continue
		}
		n = max(1, n)
		part := rec.NewSlice(lo, lo+n)
		err := write(part, g.rows == 0)
		part.Release()
		if err != nil {
			return err
		}
		g.rows, g.bytes, lo = g.rows+n, g.bytes+size(int(lo), int(lo+n)), lo+n
	}
	return nil
}

// recordSizes returns the function that computes the sizes of a record's rows.
func recordSizes(rec arrow.Record) column.SizeOfRows {
	sizes := make([]column.SizeOfRows, rec.NumCols())
	for i, col := range rec.Columns() {
		sizes[i] = column.RowSizes(col)
	}
	return func(lo, hi int) (bytes int64) {
		for _, of := range sizes {
			bytes += of(lo, hi)
		}
		return bytes
	}
}
