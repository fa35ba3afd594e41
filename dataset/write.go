package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"halfspace/internal/atomicfile"
)

// GroupBytes is the most bytes of values in a row group, or in a record of an Arrow file. A single row may have more. A group
// is in memory until it is full.
const GroupBytes = groupBytes

// groupBytes is GroupBytes.
const groupBytes = 64 << 20

// WriterOptions are choices for Parquet and, one, for svmlight. The zero value of a field stands for its default.
type WriterOptions struct {
	Compression  string            // "snappy", the default, "none", "zstd" or "gzip"
	RowGroupRows int64             // most rows of a row group; 131,072, or fewer with over 256 columns. Its values have at most 64 MiB
	Metadata     map[string]string // key-value metadata of the file
	Label        string            // svmlight: the column of the labels; "label"
}

// Writer writes records to a file, which is there completely once Close has returned nil, and not at all before.
//
// A Parquet writer keeps a row group in memory until it is full, at most GroupBytes.
type Writer struct {
	path   string
	file   *atomicfile.File
	schema *arrow.Schema
	enc    encoder
	err    error // the first error; everything after it fails likewise
	done   bool
}

// An encoder turns records of one schema into the bytes of a file. Errors of the file are the file's own, and last.
type encoder interface {
	write(rec arrow.Record) error
	finish() error
}

// Create starts a file in the format of its extension, that of a Parquet, Arrow IPC or svmlight file or .csv; "-" is CSV
// on standard output, and a pipe or a device without such an extension gets CSV too. In Parquet, columns that schema calls nullable are OPTIONAL, others
// REQUIRED. Errors name path and say what to do.
func Create(path string, schema *arrow.Schema, opt WriterOptions) (*Writer, error) {
	format, err := outputFormat(path)
	if err != nil {
		return nil, err
	}
	if path == "-" {
		path = "/dev/stdout"
	}
	for i, f := range schema.Fields() {
		if schema.FieldIndices(f.Name)[0] != i {
			return nil, fmt.Errorf("%s: two columns are named %q: rename one", path, f.Name)
		}
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, file: file, schema: schema}
	err = w.guard(func() error {
		switch format {
		case formatCSV:
			w.enc, err = newCSVEncoder(file, schema)
		case formatSvmlight:
			w.enc, err = newSvmlightEncoder(file, schema, opt.Label)
		case formatArrow:
			w.enc, err = newArrowEncoder(file, schema)
		default:
			w.enc, err = newParquetEncoder(file, schema, parquetLayout{opt.Compression, opt.RowGroupRows, opt.Metadata})
		}
		return err
	})
	if err != nil {
		file.Abort()
		return nil, err
	}
	return w, nil
}

// outputFormat returns the format to write to path in.
func outputFormat(path string) (format, error) {
	if path == "-" {
		return formatCSV, nil
	}
	ext := strings.ToLower(filepath.Ext(path))
	if f, ok := extensions[ext]; ok && ext != ".tsv" {
		return f, nil
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		return formatCSV, nil
	}
	const known = "use .parquet, .csv, .arrow or .svm, or - for CSV on standard output"
	if ext == "" {
		return "", fmt.Errorf("%s: no extension tells which format to write: %s", path, known)
	}
	return "", fmt.Errorf("%s: files with the extension %q can't be written: %s", path, filepath.Ext(path), known)
}

// Write adds the rows of rec, whose columns have the names and types of the schema. It keeps no reference to rec.
func (w *Writer) Write(rec arrow.Record) error {
	if w.done {
		return fmt.Errorf("%s: %w", w.path, fs.ErrClosed)
	}
	if w.err == nil {
		w.err = w.guard(func() error {
			if err := w.check(rec); err != nil {
				return err
			}
			same := array.NewRecord(w.schema, rec.Columns(), rec.NumRows()) // metadata of rec's fields may differ
			defer same.Release()
			return w.enc.write(same)
		})
	}
	return w.err
}

// check tells whether rec fits the schema. Arrow's writer would write what lies under a null in a required column.
func (w *Writer) check(rec arrow.Record) error {
	if int(rec.NumCols()) != w.schema.NumFields() {
		return fmt.Errorf("a record has %d columns, the file %d", rec.NumCols(), w.schema.NumFields())
	}
	for i, f := range w.schema.Fields() {
		col := rec.Column(i)
		if rec.ColumnName(i) != f.Name || !arrow.TypeEqual(col.DataType(), f.Type) {
			return fmt.Errorf("column %d of a record is %q of type %s, in the file it is %q of type %s",
				i, rec.ColumnName(i), col.DataType(), f.Name, f.Type)
		}
		if !f.Nullable && col.NullN() > 0 {
			return fmt.Errorf("column %q has nulls, and its type in the file allows none", f.Name)
		}
	}
	return nil
}

// Close ends the file and puts it in its place. If it fails, or a Write failed before, no file is left, and one that
// was there before still is. A second call returns what the first did.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	if w.err == nil {
		w.err = w.guard(w.enc.finish)
	}
	if w.err == nil {
		w.err = w.file.Commit()
	}
	w.file.Abort()
	w.done = true
	return w.err
}

// Flush writes the rows so far to a pipe or a device, all of them in CSV, else as far as the format allows. A file gets them
// when it is closed.
func (w *Writer) Flush() error {
	csv, ok := w.enc.(*csvEncoder)
	if w.err == nil && !w.done && ok {
		w.err = w.guard(func() error {
			if err := csv.finish(); err != nil {
				return err
			}
			return w.file.Flush()
		})
	}
	return w.err
}

// Abort discards what was written. After Close it does nothing, so it can be deferred.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.err = fmt.Errorf("%s: %w", w.path, fs.ErrClosed)
	w.file.Abort()
}

// guard runs f and turns a panic of Arrow's into an error. An error of the file comes first and speaks for itself:
// Arrow loses some, and panics at others.
func (w *Writer) guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		if w.file.Err() != nil {
			err = w.file.Err()
		} else if err != nil {
			err = fmt.Errorf("%s can't be written: %w", w.path, err)
		}
	}()
	return f()
}

// arrowEncoder writes an Arrow IPC file.
type arrowEncoder struct {
	*ipc.FileWriter
	maxBytes int64 // of a record
}

func newArrowEncoder(out io.Writer, schema *arrow.Schema) (encoder, error) {
	w, err := ipc.NewFileWriter(&counted{Writer: out}, ipc.WithSchema(schema))
	return arrowEncoder{w, groupBytes}, err
}

func (e arrowEncoder) write(rec arrow.Record) error {
	records := grouping{maxRows: math.MaxInt32, maxBytes: e.maxBytes}
	return records.cut(rec, func(part arrow.Record, _ bool) error { return e.Write(part) })
}

func (e arrowEncoder) finish() error { return e.Close() }

// counted is a writer that knows its place, for which Arrow asks by seeking from there to there.
type counted struct {
	io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *counted) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("this file can't be written out of order")
	}
	return c.n, nil
}

// csvEncoder writes a header, then a line for each row: floats in the shortest form that parses back to the same value,
// nulls empty, text in quotes where needed, and always where it would be read as a null.
type csvEncoder struct {
	out io.Writer
	buf []byte
}

// csvFlush is how many bytes of lines are written at a time, about.
const csvFlush = 64 << 10

func newCSVEncoder(out io.Writer, schema *arrow.Schema) (encoder, error) {
	e := &csvEncoder{out: out}
	for i, f := range schema.Fields() {
		if arrow.IsNested(f.Type.ID()) {
			return nil, fmt.Errorf("column %q is %s, and CSV has none: leave it out, or write .parquet or .arrow", f.Name, describe(f.Type))
		}
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = appendText(e.buf, f.Name)
	}
	e.buf = append(e.buf, '\n')
	return e, nil
}

func (e *csvEncoder) write(rec arrow.Record) error {
	cells := make([]cell, rec.NumCols())
	for i, col := range rec.Columns() {
		cells[i] = cellOf(col)
	}
	for r := range int(rec.NumRows()) {
		for i, cell := range cells {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			if !rec.Column(i).IsNull(r) {
				e.buf = cell(e.buf, r)
			} else if len(cells) == 1 {
				e.buf = append(e.buf, `""`...) // readers skip an empty line
			}
		}
		e.buf = append(e.buf, '\n')
		if len(e.buf) >= csvFlush {
			if err := e.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *csvEncoder) finish() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// A cell appends value i of a column to buf.
type cell func(buf []byte, i int) []byte

func cellOf(col arrow.Array) cell {
	switch col := col.(type) {
	case *array.Float64:
		return floatCell(col.Float64Values(), 64)
	case *array.Float32:
		return floatCell(col.Float32Values(), 32)
	case *array.Int8:
		return intCell(col.Int8Values())
	case *array.Int16:
		return intCell(col.Int16Values())
	case *array.Int32:
		return intCell(col.Int32Values())
	case *array.Int64:
		return intCell(col.Int64Values())
	case *array.Boolean:
		return func(buf []byte, i int) []byte { return strconv.AppendBool(buf, col.Value(i)) }
	case *array.String:
		return func(buf []byte, i int) []byte { return appendText(buf, col.Value(i)) }
	case *array.Timestamp:
		if typ := col.DataType().(*arrow.TimestampType); typ.TimeZone == "" { // which Arrow spells as UTC
			return func(buf []byte, i int) []byte { return appendText(buf, strings.TrimSuffix(col.ValueStr(i), "Z")) }
		}
	case *array.Dictionary:
		value := cellOf(col.Dictionary())
		return func(buf []byte, i int) []byte { return value(buf, col.GetValueIndex(i)) }
	}
	return func(buf []byte, i int) []byte { return appendText(buf, col.ValueStr(i)) }
}

func floatCell[T float32 | float64](values []T, bits int) cell {
	return func(buf []byte, i int) []byte {
		v, format := float64(values[i]), byte('g')
		if v == math.Trunc(v) && math.Abs(v) < 1e15 { // as it was written: 20000000, not 2e+07
			format = 'f'
		}
		return strconv.AppendFloat(buf, v, format, -1, bits)
	}
}

func intCell[T int8 | int16 | int32 | int64](values []T) cell {
	return func(buf []byte, i int) []byte { return strconv.AppendInt(buf, int64(values[i]), 10) }
}

// appendText appends s as RFC 4180 has it. Spaces at the ends are quoted too, since some readers trim them.
func appendText(buf []byte, s string) []byte {
	if !isNull([]byte(s)) && !strings.ContainsAny(s, ",\"\r\n") && strings.TrimSpace(s) == s {
		return append(buf, s...)
	}
	buf = append(buf, '"')
	buf = append(buf, strings.ReplaceAll(s, `"`, `""`)...)
	return append(buf, '"')
}
