// Package writer converts Arrow records to the bytes of Parquet, CSV, svmlight or Arrow IPC files.
package writer

import (
	"github.com/apache/arrow/go/v17/arrow"
)

// GroupBytes is the largest number of bytes of values in a row group or an Arrow record.
const GroupBytes = 64 << 20

// An Encoder converts records of one schema to the bytes of a file. The file itself must keep the errors of writing
// to it, because an Encoder may lose them.
type Encoder interface {
	Write(rec arrow.Record) error
	Finish() error
}
