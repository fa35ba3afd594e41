// Package writer converts Arrow records to the bytes of Parquet, CSV, svmlight or Arrow IPC files.
package writer

import (
	"errors"
	"io"
	"math"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"halfspace/dataset/internal/column"
)

// GroupBytes is the largest number of bytes of values in a row group or an Arrow record.
const GroupBytes = 64 << 20

// An Encoder converts records of one schema to the bytes of a file. The file itself must keep the errors of writing
// to it, because an Encoder may lose them.
type Encoder interface {
	Write(rec arrow.Record) error
	Finish() error
}

// A grouping cuts rows into groups of at most maxRows rows and MaxBytes bytes, but of at least one row. The cuts
// depend only on the rows, not on the records in which they come.
type grouping struct {
	maxRows, MaxBytes int64
	rows, bytes       int64 // rows and bytes of the group that is being filled
}

// A rowRange is consecutive rows of a record: lo up to, but not including, hi.
type rowRange struct {
	lo, hi int64
	bytes  int64 // of their values
	first  bool  // they begin a group
}

// cut divides the rows of columns into ranges that each belong to one group, and calls write with each range.
func (g *grouping) cut(columns []arrow.Array, rows int64, write func(part rowRange) error) error {
	size := sizeOfRows(columns)
	for lo := int64(0); lo < rows; {
		most := min(rows-lo, g.maxRows-g.rows)
		n := int64(sort.Search(int(most), func(i int) bool { return g.bytes+size(int(lo), int(lo)+i+1) > g.MaxBytes }))
		if n == 0 && g.rows > 0 { // the group is full
			g.rows, g.bytes = 0, 0
			continue
		}
		n = max(1, n)
		part := rowRange{lo, lo + n, size(int(lo), int(lo+n)), g.rows == 0}
		if err := write(part); err != nil {
			return err
		}
		g.rows, g.bytes, lo = g.rows+n, g.bytes+part.bytes, lo+n
	}
	return nil
}

// sizeOfRows returns the sizes of the rows of columns together.
func sizeOfRows(columns []arrow.Array) column.SizeOfRows {
	fixed := int64(0) // bytes of a row in the columns whose values all have the same size
	var others []column.SizeOfRows
	for _, c := range columns {
		switch c.(type) {
		case array.BinaryLike, array.ListLike:
			others = append(others, column.RowSizes(c))
		default:
			fixed += column.RowSizes(c)(0, 1)
		}
	}
	return func(lo, hi int) int64 {
		bytes := fixed * int64(hi-lo)
		for _, of := range others {
			bytes += of(lo, hi)
		}
		return bytes
	}
}

// IPC writes an Arrow IPC file.
type IPC struct {
	file     *ipc.FileWriter
	schema   *arrow.Schema
	MaxBytes int64 // maximum bytes of a record
}

// NewIPC begins an Arrow IPC file with the given schema.
func NewIPC(out io.Writer, schema *arrow.Schema) (Encoder, error) {
	w, err := ipc.NewFileWriter(&Counted{Writer: out}, ipc.WithSchema(schema))
	return IPC{w, schema, GroupBytes}, err
}

func (e IPC) Write(rec arrow.Record) error {
	same := array.NewRecord(e.schema, rec.Columns(), rec.NumRows()) // the metadata of rec's fields may differ
	defer same.Release()
	records := grouping{maxRows: math.MaxInt32, MaxBytes: e.MaxBytes}
	return records.cut(same.Columns(), same.NumRows(), func(of rowRange) error {
		part := same.NewSlice(of.lo, of.hi)
		defer part.Release()
		return e.file.Write(part)
	})
}

func (e IPC) Finish() error { return e.file.Close() }

// Counted is a writer that counts its bytes. Arrow requests the count by Tell, or by a Seek of 0 bytes.
type Counted struct {
	io.Writer
	n int64
}

func (c *Counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

// Tell returns the number of bytes written.
func (c *Counted) Tell() int64 { return c.n }

// Seek returns the number of bytes written. It returns an error for every other position.
func (c *Counted) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("this file can't be written out of order")
	}
	return c.n, nil
}
