package writer

import (
	"errors"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// IPC writes an Arrow IPC file.
type IPC struct {
	file     *ipc.FileWriter
	MaxBytes int64 // maximum bytes of a record
}

// NewIPC begins an Arrow IPC file with the given schema.
func NewIPC(out io.Writer, schema *arrow.Schema) (Encoder, error) {
	w, err := ipc.NewFileWriter(&Counted{Writer: out}, ipc.WithSchema(schema))
	return IPC{w, GroupBytes}, err
}

func (e IPC) Write(rec arrow.Record) error {
	records := grouping{maxRows: math.MaxInt32, MaxBytes: e.MaxBytes}
	return records.cut(rec, func(part arrow.Record, _ bool) error { return e.file.Write(part) })
}

func (e IPC) Finish() error { return e.file.Close() }

// Counted is a writer that counts its bytes. Arrow requests the count by a Seek of 0 bytes.
type Counted struct {
	io.Writer
	n int64
}

// Write writes p and counts its bytes.
func (c *Counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

// Seek returns the number of bytes written. It returns an error for every other position.
func (c *Counted) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("this file can't be written out of order")
	}
	return c.n, nil
}
