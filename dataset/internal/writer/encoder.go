// Package writer turns Arrow records into the bytes of Parquet, CSV, svmlight and Arrow IPC files.
package writer

import (
	"github.com/apache/arrow/go/v17/arrow"
)

// GroupBytes is GroupBytes.
const GroupBytes = 64 << 20

// An Encoder turns records of one schema into the bytes of a file. Errors of the file are the file's own, and last.
type Encoder interface {
	Write(rec arrow.Record) error
	Finish() error
}
