// Package page reads the values of a column chunk of a Parquet file, page by page. It knows the format's pages, their
// encodings and compressions, and nothing of files, schemas and Arrow.
//
// Nothing that a page says of itself is believed. Every size is compared with the bytes that are there before memory is
// allocated for it, and every count with that of the chunk. A reader keeps a page and a dictionary in memory, so that
// chunks of any size can be read.
package page

import (
	"io"
)

// Type is a physical type, numbered as in the format.
type Type int32

// The physical types of the format. A Boolean is a byte here, 0 or 1.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	Bytes
	FixedBytes
)

var typeNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

func (t Type) String() string { return typeNames[t] }

// Encoding is how values or levels are written, numbered as in the format.
type Encoding int32

// The encodings of the format.
const (
	plain             Encoding = 0
	plainDictionary   Encoding = 2
	rle               Encoding = 3
	bitPacked         Encoding = 4
	deltaBinaryPacked Encoding = 5
	deltaLengthBytes  Encoding = 6
	deltaByteArray    Encoding = 7
	rleDictionary     Encoding = 8
	byteStreamSplit   Encoding = 9
)

// A Chunk says where a column chunk is and what is in it. Offset and Size must lie in the file.
type Chunk struct {
	Type         Type
	Width        int // bytes of a FixedBytes value
	MaxDef       int // greatest definition level: of a value that isn't null
	ListDef      int // of lists: definition level from which on a list has an element; 0: no lists
	MaxList      int // elements that a list may have; 0: 1<<24
	Codec        Codec
	Offset, Size int64 // of its pages, in bytes
	Padding      int64 // bytes of Size that may not belong to them
	Uncompressed int64 // bytes of its pages when they are decompressed, as the metadata claims
	Rows, Values int64 // Values counts nulls, empty lists and elements of lists
}

// width returns the bytes of a value in memory, 0 where they differ.
func (c *Chunk) width() int {
	return [...]int{1, 4, 8, 12, 4, 8, 0, c.Width}[c.Type]
}

// Values are rows of a column, the caller's to release.
type Values struct {
	Rows int
	N    int // values: those of the rows, or the elements of their lists; nulls are counted

	Data    *Buffer // values one after the other; where they are of fixed length zeros stand for nulls
	Made    bool    // Data is what Reader.Convert made
	Offsets *Buffer // of Bytes: where each begins in Data, and where the last ends, as int32
	Valid   *Buffer // a bitmap of the values that aren't null; nil if none is
	Nulls   int

	Lists      *Buffer // of lists: the number of the first value of each, and the number of all values, as int32
	ValidLists *Buffer // as Valid
	NullLists  int
}

// Release gives the memory back. It accepts nil.
func (v *Values) Release() {
	if v == nil {
		return
	}
	for _, b := range []*Buffer{v.Data, v.Offsets, v.Valid, v.Lists, v.ValidLists} {
		b.Release()
	}
	*v = Values{}
}

// Unsupported is an error about data that is sound, but can't be read. It says what to do.
type Unsupported string

// Error returns the text.
func (u Unsupported) Error() string { return string(u) }

// A FileError is an error of the file's.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// readAt fills b.
func readAt(src io.ReaderAt, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF || err == nil {
		err = io.ErrUnexpectedEOF
	}
	return &FileError{err}
}
