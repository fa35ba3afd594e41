package parquet

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

// Encoding is the encoding of values or levels, numbered as in the format.
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

// A Chunk describes a column chunk and its place. Offset and Size must lie in the file.
type Chunk struct {
	Type         Type
	Width        int // bytes of a FixedBytes value
	MaxDef       int // greatest definition level, which a value has that isn't null
	ListDef      int // for lists, definition level from which on a list has an element; 0: no lists
	MaxList      int // maximum number of elements of a list; 0: 1<<24
	Codec        Codec
	Offset, Size int64 // place and bytes of its pages
	Padding      int64 // bytes of Size that may not belong to its pages
	Uncompressed int64 // bytes of its decompressed pages, as the metadata claims
	Rows, Values int64 // Values counts nulls, empty lists and elements of lists
}

// width returns the number of bytes of a value in memory, or 0 if values have different lengths.
func (c *Chunk) width() int {
	return [...]int{1, 4, 8, 12, 4, 8, 0, c.Width}[c.Type]
}

// Values are rows of a column. The caller must release them.
type Values struct {
	Rows int
	N    int // number of values of the rows, or of elements of their lists; nulls are counted

	Data    *Buffer // the values one after the other; a null of fixed length is zeros
	Made    bool    // Reader.Convert made the values in Data
	Offsets *Buffer // for Bytes: as int32, the start of each value in Data, and the end of the last
	Valid   *Buffer // bitmap of the values that aren't null; nil if no value is null
	Nulls   int

	Lists      *Buffer // for lists: as int32, the number of the first value of each list, and the number of all values
	ValidLists *Buffer // bitmap of the lists that aren't null; nil if no list is null
	NullLists  int
}

// Release releases the memory. v may be nil.
func (v *Values) Release() {
	if v == nil {
		return
	}
	for _, b := range []*Buffer{v.Data, v.Offsets, v.Valid, v.Lists, v.ValidLists} {
		b.Release()
	}
	*v = Values{}
}

// Unsupported is an error about data that are valid but can't be read. It names the remedy.
type Unsupported string

// Error returns the text.
func (u Unsupported) Error() string { return string(u) }

// A FileError is an error of reading the file.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// readAt fills b from the file at offset at.
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
