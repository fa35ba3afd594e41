package writer

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/npy"
)

// A Patcher is a file whose first bytes can be replaced.
type Patcher interface {
	io.Writer
	Patch(p []byte) error
}

// numpyEncoder writes an array of NumPy in rows. A single column becomes an array of one dimension. Columns of different types become
// float64.
type numpyEncoder struct {
	out   Patcher
	typ   arrow.DataType // of all columns
	descr string         // NumPy's name of the type
	size  int            // bytes of an element
	cols  int
	rows  int64
	buf   []byte
}

// numpyTypes are NumPy's names of the types of Arrow.
var numpyTypes = map[arrow.Type]string{arrow.BOOL: "|b1", arrow.INT8: "|i1", arrow.INT16: "<i2", arrow.INT32: "<i4",
	arrow.INT64: "<i8", arrow.UINT8: "|u1",
	arrow.UINT16: "<u2", arrow.UINT32: "<u4", arrow.UINT64: "<u8", arrow.FLOAT16: "<f2", arrow.FLOAT32: "<f4", arrow.FLOAT64: "<f8"}

// NewNumPy begins a file of numpy.save. texts are all texts that a column of text may have; such a column must be the only one.
func NewNumPy(out Patcher, schema *arrow.Schema, texts []string) (Encoder, error) {
	fields := schema.Fields()
	e := &numpyEncoder{out: out, cols: len(fields)}
	for i, f := range fields {
		switch text := f.Type.ID() == arrow.STRING && len(texts) > 0; {
		case text && len(fields) == 1:
			e.typ = f.Type
			e.setTexts(texts)
		case !Numeric(f.Type):
			return nil, fmt.Errorf("column %q is %s, and an array holds numbers: leave it out", f.Name, column.Describe(f.Type))
		case i == 0:
			e.setType(f.Type)
		case !arrow.TypeEqual(e.typ, f.Type):
			e.setType(arrow.PrimitiveTypes.Float64)
		}
	}
	if e.cols == 0 {
		return nil, fmt.Errorf("no columns, and an array has one or more")
	}
	_, err := out.Write(e.header())
	return e, err
}

func (e *numpyEncoder) setType(t arrow.DataType) {
	e.typ, e.descr, e.size = t, numpyTypes[t.ID()], max(1, t.(arrow.FixedWidthDataType).Bytes())
}

// setTexts sets the size of an element to the most characters of a text.
func (e *numpyEncoder) setTexts(texts []string) {
	most := 1
	for _, text := range texts {
		most = max(most, utf8.RuneCountInString(text))
	}
	e.descr, e.size = fmt.Sprintf("<U%d", most), 4*most
}

func (e *numpyEncoder) header() []byte {
	if e.cols == 1 {
		return npy.Header(e.descr, e.rows)
	}
	return npy.Header(e.descr, e.rows, int64(e.cols))
}

func (e *numpyEncoder) Write(rec arrow.Record) error {
	row := e.size * e.cols
	e.buf = append(e.buf[:0], make([]byte, int(rec.NumRows())*row)...)
	for k, col := range rec.Columns() {
		if err := e.put(e.buf[k*e.size:], row, col, rec.ColumnName(k)); err != nil {
			return err
		}
	}
	e.rows += rec.NumRows()
	_, err := e.out.Write(e.buf)
	return err
}

// Finish writes the number of rows to the header.
func (e *numpyEncoder) Finish() error { return e.out.Patch(e.header()) }

// put writes a column to dst, a value every row bytes.
func (e *numpyEncoder) put(dst []byte, row int, col arrow.Array, name string) error {
	floating := arrow.IsFloating(e.typ.ID()) && e.size > 2
	for i := 0; col.NullN() > 0 && !floating && i < col.Len(); i++ {
		if col.IsNull(i) {
			return fmt.Errorf("column %q, row %d: null, which an array of %s can't hold: fill the value in, or write "+
				".parquet or .csv", name, e.rows+int64(i), e.descr)
		}
	}
	switch col := col.(type) {
	case *array.String:
		for i := range col.Len() {
			for at, c := range []rune(col.Value(i)) {
				if 4*at >= e.size {
					return fmt.Errorf("column %q, row %d: a text of more than %d characters", name, e.rows+int64(i), e.size/4)
				}
				binary.LittleEndian.PutUint32(dst[i*row+4*at:], uint32(c))
			}
		}
		return nil
	case *array.Boolean:
		if e.typ.ID() == arrow.BOOL {
			for i := range col.Len() {
				if col.Value(i) {
					dst[i*row] = 1
				}
			}
			return nil
		}
	}
	if e.typ.ID() == arrow.FLOAT64 {
		return e.putFloats(dst, row, col, name)
	}
	e.putFixed(dst, row, col)
	return nil
}

// putFloats writes numbers as float64, and nulls as NaN.
func (e *numpyEncoder) putFloats(dst []byte, row int, col arrow.Array, name string) error {
	v, err := column.NewView64(col)
	if err != nil {
		return err
	}
	values, lost := v.Read(0, col.Len(), make([]float64, col.Len()))
	if lost != column.None {
		return fmt.Errorf("column %q: float64, the type of an array with columns of several types, blurs its numbers: leave it out", name)
	}
	for i, x := range values {
		if col.IsNull(i) {
			x = math.NaN()
		}
		binary.LittleEndian.PutUint64(dst[i*row:], math.Float64bits(x))
	}
	return nil
}

// putFixed writes numbers in the type that they have, and nulls as NaN.
func (e *numpyEncoder) putFixed(dst []byte, row int, col arrow.Array) {
	from := column.FixedBytes(col)
	for i := range col.Len() {
		to := dst[i*row:][:e.size]
		if copy(to, from[i*e.size:]); binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
			slices.Reverse(to)
		}
		if col.IsNull(i) { // only float32 has nulls here
			binary.LittleEndian.PutUint32(to, math.Float32bits(float32(math.NaN())))
		}
	}
}
