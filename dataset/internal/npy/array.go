package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/files"
	"halfspace/kernel"
)

// An Array is the rows of a file. An array of one dimension has a single column.
type Array struct {
	*header
	path       string
	info       os.FileInfo // when the header was read
	rows, cols int64
}

// openArray reads the header of the array in a file, and checks it against the file's size.
func openArray(path string, info os.FileInfo) (*Array, error) {
	f, err := source.Reopen(path, info)
	if err != nil {
		return nil, column.PathError(path, err)
	}
	defer f.Close()
	h, err := readHeader(io.NewSectionReader(f, 0, info.Size()), path, info.Size())
	if err != nil {
		return nil, err
	}
	a := &Array{header: h, path: path, info: info}
	return a, a.checkSize(info.Size())
}

// checkSize sets the numbers of rows and columns. It returns an error unless the elements fill the file.
func (a *Array) checkSize(size int64) error {
	unfit := func(advice string) error {
		return column.Mark(fmt.Errorf("%s: an array of shape %s, and a table has two dimensions: %s", a.path,
			a.shapeText(), advice), column.ErrFormat)
	}
	switch len(a.shape) {
	case 0:
		return unfit("save an array with a row for each example")
	case 1:
		a.rows, a.cols = a.shape[0], 1
	case 2:
		a.rows, a.cols = a.shape[0], a.shape[1]
	default:
		return unfit("save X.reshape(len(X), -1)")
	}
	switch need := a.offset + a.bytes(); {
	case a.rows == 0:
		return fmt.Errorf("%s: no rows in an array of shape %s: save an array that has some", a.path, a.shapeText())
	case a.cols == 0:
		return fmt.Errorf("%s: no columns in an array of shape %s: save an array that has some", a.path, a.shapeText())
	case need > size:
		return column.Mark(fmt.Errorf("%s: the array is truncated: its shape %s takes %d bytes, and the file has %d: "+
			"copy or save it again", a.path, a.shapeText(), need, size), column.ErrDamaged)
	case need < size:
		return column.Mark(fmt.Errorf("%s: %d bytes stand behind the array, whose shape is %s: save one array "+
			"in the file", a.path, size-need, a.shapeText()), column.ErrDamaged)
	}
	return nil
}

// read returns the given columns in the rows from lo up to, but not including, hi.
func (a *Array) read(lo, hi int64, columns []int) (all []arrow.Array, err error) {
	f, err := source.Reopen(a.path, a.info)
	if err != nil {
		return nil, column.PathError(a.path, err)
	}
	defer f.Close()
	each := (hi - lo) * a.size
	s := column.NewSlab(each * int64(len(columns)))
	defer s.Done()
	values := s.Bytes(each * int64(len(columns)))
	if a.fortran || a.cols == 1 {
		for k := 0; err == nil && k < len(columns); k++ {
			err = a.readAt(f, values[int64(k)*each:][:each], (int64(columns[k])*a.rows+lo)*a.size)
		}
	} else {
		rows := column.NewSlab(each * a.cols)
		defer rows.Done()
		lines := rows.Bytes(each * a.cols)
		if err = a.readAt(f, lines, lo*a.cols*a.size); err == nil {
			a.transpose(values, lines, columns)
		}
	}
	if err == nil {
		err = column.Unchanged(a.path, files.CurrentInfo(a.path, f), a.info)
	}
	if err != nil {
		return nil, err
	}
	return a.toArrows(s, values, len(columns), lo)
}

// toArrows returns the columns in values, which is memory of s, as Arrow arrays. first is the number of their first row.
func (a *Array) toArrows(s *column.Slab, values []byte, columns int, first int64) (all []arrow.Array, err error) {
	each := len(values) / max(1, columns)
	for k := range columns {
		one, err := a.toArrow(s, values[k*each:][:each], first)
		if err != nil {
			for _, a := range all {
				a.Release()
			}
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// readAt reads elements from byte at of the array on.
func (a *Array) readAt(f io.ReaderAt, p []byte, at int64) error {
	_, err := f.ReadAt(p, a.offset+at)
	switch {
	case err == io.EOF:
		return truncated(a.path)
	case err != nil:
		return fmt.Errorf("%s: %w", a.path, column.ReadError(err))
	}
	return nil
}

// transpose writes the given columns of lines, which are whole rows, to values, column by column.
func (a *Array) transpose(values, lines []byte, columns []int) {
	switch {
	case a.size == 4 && a.kind != 'U' && a.kind != 'S' && a.cols >= 8 && a.cols <= maxTileColumns && len(columns) > int(a.cols)/4:
		transposeTiles(as[float32](values), as[float32](lines), int(a.cols), columns)
	case a.size == 4 && a.kind != 'U' && a.kind != 'S':
		transpose(as[uint32](values), as[uint32](lines), int(a.cols), columns)
	case a.size == 8 && a.kind != 'U' && a.kind != 'S':
		transpose(as[uint64](values), as[uint64](lines), int(a.cols), columns)
	default:
		size, rows := int(a.size), len(lines)/int(a.size*a.cols)
		for k, c := range columns {
			to, from := values[k*rows*size:][:rows*size], lines[c*size:]
			for r := range rows {
				copy(to[r*size:][:size], from[r*size*int(a.cols):])
			}
		}
	}
}

// as returns bytes from the start of an allocation as numbers.
func as[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// transposeTiles is transpose by the kernel, for up to maxTileColumns columns. It keeps the bits of numbers of any type of four bytes.
func transposeTiles(values, lines []float32, cols int, columns []int) {
	rows := len(lines) / cols
	tile := max(tileElements/cols, 32)
	tile = min(tile, 8*maxTileColumns/cols, rows+7) &^ 7
	turned, each := make([]float32, tile*cols), make([][]float32, 0, tile)
	for lo := 0; lo < rows; lo += tile {
		n := min(tile, rows-lo)
		each = each[:0]
		for r := range n {
			each = append(each, lines[(lo+r)*cols:][:cols])
		}
		kernel.Transpose(turned, tile, each)
		for k, c := range columns {
			copy(values[k*rows+lo:][:n], turned[c*tile:])
		}
	}
}

const (
	tileElements   = 4 << 10 // of a tile of rows that stays in the first-level cache
	maxTileColumns = 4 << 10
)

// transpose goes through tiles of rows that stay in the cache.
func transpose[T any](values, lines []T, cols int, columns []int) {
	rows := len(lines) / cols
	tile := max(8, tileElements/cols)
	for lo := 0; lo < rows; lo += tile {
		hi := min(rows, lo+tile)
		for k, c := range columns {
			from := lines[lo*cols+c:]
			to := values[k*rows+lo : k*rows+hi]
			for r, at := 0, 0; r < len(to); r, at = r+1, at+cols {
				to[r] = from[at]
			}
		}
	}
}

// toArrow returns elements as an Arrow array. The elements are memory of s, which the array may keep in use. first is the number of
// their first row, for errors.
func (a *Array) toArrow(s *column.Slab, values []byte, first int64) (arrow.Array, error) {
	n := len(values) / int(a.size)
	var buffer *memory.Buffer
	switch {
	case a.kind == 'U' || a.kind == 'S':
		return a.texts(values, first)
	case a.kind == 'b':
		bitmap := make([]byte, (n+7)/8)
		for i, v := range values {
			if v != 0 {
				bitmap[i/8] |= 1 << (i % 8)
			}
		}
		buffer = memory.NewBufferBytes(bitmap)
	default:
		if a.swapped {
			a.swap(values)
		}
		buffer = s.Buffer(values)
		defer buffer.Release() // data retains it
	}
	data := array.NewData(a.typ, n, []*memory.Buffer{nil, buffer}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

func (a *Array) swap(values []byte) {
	for i := int64(0); i < int64(len(values)); i += a.size {
		v := values[i : i+a.size]
		for j, k := 0, len(v)-1; j < k; j, k = j+1, k-1 {
			v[j], v[k] = v[k], v[j]
		}
	}
}

// texts returns texts, which are filled up with zeros to their size.
func (a *Array) texts(values []byte, first int64) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(values) / int(a.size))
	var text []byte
	for i := int64(0); i < int64(len(values))/a.size; i++ {
		v := values[i*a.size : (i+1)*a.size]
		err := error(nil)
		if a.kind == 'U' {
			v, err = a.utf8(text[:0], v)
			text = v
		}
		if v = bytes.TrimRight(v, "\x00"); err != nil || !utf8.Valid(v) {
			return nil, column.Mark(fmt.Errorf("%s: row %d: a text that isn't Unicode: save it by y.astype(str)",
				a.path, first+i), column.ErrDamaged)
		}
		b.Append(string(v))
	}
	return b.NewArray(), nil
}

// utf8 appends a text of UTF-32 to dst.
func (a *Array) utf8(dst, v []byte) ([]byte, error) {
	for ; len(v) >= 4; v = v[4:] {
		c := binary.NativeEndian.Uint32(v)
		if a.swapped {
			c = bits.ReverseBytes32(c)
		}
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return dst, errors.New("no character")
		}
		dst = utf8.AppendRune(dst, rune(c))
	}
	return dst, nil
}
