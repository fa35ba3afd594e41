// Package npy reads NumPy arrays.
//
// The functions numpy.save (https://numpy.org/neps/nep-0001-npy-format.html) and scipy.sparse.save_npz write the files.
package npy

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
)

// Magic begins the files of numpy.save.
const Magic = "\x93NUMPY"

// maxHeader is the largest number of bytes of a header's text. The text of an array of numbers has about 100 bytes.
const maxHeader = 64 << 10

// maxText is the largest number of bytes of a text.
const maxText = 1 << 20

// A header describes the elements of an array and their order.
type header struct {
	kind    byte  // of NumPy's dtype: b is boolean, i and u are integers, f is floating point, S is bytes, U is text
	size    int64 // bytes of an element
	swapped bool  // the bytes of a number are in the other order than on this computer
	fortran bool  // the elements of a column are adjacent
	shape   []int64
	offset  int64 // bytes before the first element

	typ arrow.DataType // of the columns
}

// numbers are the types of numbers and booleans, by their kind and size.
var numbers = map[string]arrow.DataType{"b1": arrow.FixedWidthTypes.Boolean,
	"i1": arrow.PrimitiveTypes.Int8, "i2": arrow.PrimitiveTypes.Int16, "i4": arrow.PrimitiveTypes.Int32, "i8": arrow.PrimitiveTypes.Int64,
	"u1": arrow.PrimitiveTypes.Uint8, "u2": arrow.PrimitiveTypes.Uint16, "u4": arrow.PrimitiveTypes.Uint32,
	"u8": arrow.PrimitiveTypes.Uint64,
	"f2": arrow.FixedWidthTypes.Float16, "f4": arrow.PrimitiveTypes.Float32, "f8": arrow.PrimitiveTypes.Float64}

// readHeader reads the header of an array whose file, named path in errors, has size bytes, or -1 if it is unknown.
func readHeader(r io.Reader, path string, size int64) (*header, error) {
	var start [12]byte
	if n, err := io.ReadFull(r, start[:10]); err != nil {
		return nil, startError(path, start[:n], err)
	}
	if string(start[:6]) != Magic {
		return nil, startError(path, start[:], nil)
	}
	length, offset := int64(binary.LittleEndian.Uint16(start[8:])), int64(10)
	switch major := start[6]; {
	case major == 2 || major == 3:
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return nil, truncated(path)
		}
		length, offset = int64(binary.LittleEndian.Uint32(start[8:])), 12
	case major != 1:
		return nil, column.Mark(fmt.Errorf("%s: an array of version %d.%d of the format, and versions 1 to 3 are "+
			"known: save it again by numpy.save", path, major, start[7]), column.ErrFormat)
	}
	if length > maxHeader {
		return nil, damaged(path, fmt.Errorf("a header of %d bytes", length))
	}
	if size >= 0 && offset+length > size {
		return nil, truncated(path)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, truncated(path)
	}
	values, err := parseDict(string(text))
	if err != nil {
		return nil, damaged(path, err)
	}
	h := &header{offset: offset + length}
	switch order := string(values["fortran_order"]); {
	case order != "true" && order != "false":
		return nil, damaged(path, errors.New("a header without fortran_order, which is True or False"))
	case isNone(values["shape"]):
		return nil, damaged(path, errors.New("a header without a shape"))
	}
	h.fortran = string(values["fortran_order"]) == "true"
	if err := h.setShape(values["shape"]); err != nil {
		return nil, damaged(path, err)
	}
	if err := h.setType(path, values["descr"]); err != nil {
		return nil, err
	}
	if h.bytes() < 0 {
		return nil, damaged(path, fmt.Errorf("the shape %s has over 2^63 bytes", h.shapeText()))
	}
	return h, nil
}

// startError returns the error about a file whose first bytes aren't the magic.
func startError(path string, start []byte, err error) error {
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return fmt.Errorf("%s: %w", path, column.ReadError(err))
	case len(start) == 0:
		return fmt.Errorf("%s: the file is empty: write it again", path)
	case err != nil && bytes.HasPrefix([]byte(Magic), start[:min(len(start), len(Magic))]):
		return truncated(path)
	case bytes.HasPrefix(start, []byte("\x1f\x8b")), bytes.HasPrefix(start, []byte("PK")),
		bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")):
		return column.Mark(fmt.Errorf("%s: a compressed array, and arrays are read in place: decompress it", path), column.ErrFormat)
	}
	return column.Mark(fmt.Errorf("%s: not an array of NumPy: write it by numpy.save", path), column.ErrFormat)
}

func damaged(path string, err error) error {
	return column.Mark(fmt.Errorf("%s: the array is damaged (%s): save it again by numpy.save", path,
		column.OneLine(err.Error())), column.ErrDamaged)
}

func truncated(path string) error {
	return column.Mark(fmt.Errorf("%s: the array is truncated: copy or save it again", path), column.ErrDamaged)
}

func isNone(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// setType sets the type of the elements.
func (h *header) setType(path string, descr json.RawMessage) error {
	unfit := func(what, advice string) error {
		return column.Mark(fmt.Errorf("%s: an array of %s, and numbers, booleans or texts are read: %s", path, what,
			advice), column.ErrFormat)
	}
	var text string
	switch {
	case isNone(descr):
		return damaged(path, errors.New("a header without a type"))
	case json.Unmarshal(descr, &text) != nil:
		return unfit("structures", "save its fields as the columns of an array, or write the table as Parquet or CSV")
	case len(text) < 2:
		return damaged(path, fmt.Errorf("the type %q", text))
	}
	order, kind, digits := text[0], text[1], text[2:]
	if !strings.ContainsRune("<>|=", rune(order)) {
		order, kind, digits = '=', text[0], text[1:]
	}
	switch kind {
	case 'O':
		return unfit("Python objects", "save numbers by X.astype(float), or texts by y.astype(str)")
	case 'c':
		return unfit("complex numbers", "save their real and imaginary parts as columns")
	case 'M', 'm':
		return unfit("dates or times", "save their numbers by X.astype('int64')")
	case 'V':
		return unfit("raw bytes", "save numbers")
	}
	size, err := strconv.ParseUint(digits, 10, 31)
	if kind == '?' {
		kind, size, err = 'b', 1, nil
	}
	count := map[byte]int64{'U': 4}[kind]
	h.kind, h.size, h.typ = kind, int64(size)*max(1, count), numbers[fmt.Sprintf("%c%d", kind, size)]
	switch {
	case err != nil:
		return damaged(path, fmt.Errorf("the type %q", text))
	case kind == 'f' && size > 8:
		return unfit("floating-point numbers of "+digits+" bytes", "save them by X.astype('float64')")
	case kind == 'S' || kind == 'U':
		if size == 0 || h.size > maxText {
			return unfit(fmt.Sprintf("texts of %d characters", size), fmt.Sprintf("save texts of 1 to %d characters", maxText/4))
		}
		h.typ = arrow.BinaryTypes.String
	case h.typ == nil:
		return unfit(fmt.Sprintf("the type %q", text), "save numbers by X.astype(float)")
	}
	native := byte('<')
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		native = '>'
	}
	h.swapped = (order == '<' || order == '>') && order != native && kind != 'S' && (h.size > 1 || kind == 'U')
	return nil
}

// bytes returns the number of bytes of all elements, or -1 if it is 2^63 or more.
func (h *header) bytes() int64 {
	n := h.size
	for _, d := range h.shape {
		if d == 0 {
			return 0
		}
	}
	for _, d := range h.shape {
		if n > math.MaxInt64/2/d {
			return -1
		}
		n *= d
	}
	return n
}

// shapeText returns the shape as Python shows it.
func (h *header) shapeText() string {
	var parts []string
	for _, d := range h.shape {
		parts = append(parts, strconv.FormatInt(d, 10))
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

var errLiteral = errors.New("a header that is no dictionary of Python")

// parseDict reads the dictionary of a header: as JSON, with the words and brackets of JSON in place of Python's.
func parseDict(text string) (dict map[string]json.RawMessage, err error) {
	text = strings.NewReplacer("'", `"`, "(", "[", ")", "]", "True", "true", "False", "false", "None",
		"null").Replace(strings.Trim(text, " \n\x00"))
	text = regexp.MustCompile(`,\s*([\]}])`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(`(\d)L\b`).ReplaceAllString(text, "$1") // Python 2 wrote an L
	if json.Unmarshal([]byte(text), &dict) != nil || dict == nil {
		return nil, errLiteral
	}
	return dict, nil
}

// setShape sets the shape, which is a tuple of whole numbers.
func (h *header) setShape(tuple json.RawMessage) error {
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(tuple, &h.shape)
	switch {
	case errors.As(err, &wrong) && strings.HasPrefix(wrong.Value, "number "):
		return errLiteral
	case err != nil || h.shape == nil || len(h.shape) > 32 || slices.ContainsFunc(h.shape, func(n int64) bool { return n < 0 }):
		return errors.New("a shape that isn't a tuple of whole numbers of 0 or more")
	}
	return nil
}

// headerBytes is the number of bytes of the headers that Header returns, whatever the shape.
const headerBytes = 128

// Header returns the header of an array in rows, whose elements have the type descr of NumPy.
func Header(descr string, shape ...int64) []byte {
	h := &header{shape: shape}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, h.shapeText())
	b := append([]byte(Magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, headerBytes-10)
	return append(append(b, text...), strings.Repeat(" ", headerBytes-len(b)-len(text)-1)+"\n"...)
}
