package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/writer"
	"halfspace/internal/files"
	"halfspace/internal/parallel"
)

// GroupBytes is the largest number of bytes of values in a row group, or in a record of an Arrow file. A single row
// may have more. A group is in memory until it is full.
const GroupBytes = writer.GroupBytes

// WriterOptions are options for Parquet, and some for text. The zero value of a field means the default.
type WriterOptions struct {
	Compression  string            // "snappy" (default), "none", "zstd" or "gzip"
	RowGroupRows int64             // maximum rows of a row group of up to 64 MiB; default: 131,072, fewer with over 256 columns
	Metadata     map[string]string // key-value metadata of the file
	Label        string            // for svmlight: the label column; default: "label"
	Workers      int               // for text: number of goroutines that format a record; 0: GOMAXPROCS
	Texts        []string          // for NumPy: all texts that a column of text may have
	Memory       int64             // limit in bytes, of which a row group of Parquet takes at most 1/8; 0: none
	Copied       int               // number of columns, from the first on, that come from a file
	Warn         func(text string) // called when the file is closed, if text changes values of copied columns
}

// Writer writes records to a file. The file exists only after Close has returned nil, and is complete then.
//
// A Parquet writer keeps a row group in memory until it is full, at most GroupBytes.
type Writer struct {
	path   string
	file   *files.File
	schema *arrow.Schema
	enc    writer.Encoder
	err    error // the first error; all later calls return it
	done   bool

	copied int          // number of columns that noteOthers examines; 0 unless the file is text
	others map[int]bool // the copied columns whose text gives other numbers as float64
	warn   func(string)
}

// Create begins a Parquet, Arrow IPC, NumPy, svmlight, JSON Lines or CSV file, by the extension of path. "-" means CSV on standard
// output. A pipe or a device without one of these extensions gets CSV too. In Parquet, nullable columns of schema are
// OPTIONAL, and other columns are REQUIRED. An error names path and the remedy. After ctx has ended, writing Parquet
// returns an error, and no call waits for the reader of a pipe.
func Create(ctx context.Context, path string, schema *arrow.Schema, opt WriterOptions) (*Writer, error) {
	format, err := outputFormat(path)
	if err != nil {
		return nil, err
	}
	if opt.Workers, err = parallel.Resolve(opt.Workers); err != nil {
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
	file, err := files.CreateContext(ctx, path)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, file: file, schema: schema, others: map[int]bool{}, warn: opt.Warn}
	if format.isText() {
		w.copied = min(opt.Copied, schema.NumFields())
	}
	err = w.guard(func() error {
		switch format {
		case formatCSV:
			w.enc, err = writer.NewCSV(file, schema, opt.Workers)
		case formatJSON:
			w.enc, err = writer.NewJSON(file, schema, opt.Workers)
		case formatSvmlight:
			w.enc, err = writer.NewSvmlight(file, schema, opt.Label, opt.Workers)
		case formatArrow:
			w.enc, err = writer.NewIPC(file, schema)
		case formatNumPy:
			w.enc, err = writer.NewNumPy(file, schema, opt.Texts)
		default:
			w.enc, err = writer.NewParquet(ctx, file, schema, writer.ParquetOptions{Compression: opt.Compression,
				GroupRows: opt.RowGroupRows, Metadata: opt.Metadata, Memory: opt.Memory})
		}
		return err
	})
	if err != nil {
		file.Abort()
		return nil, err
	}
	return w, nil
}

// WritesCSV returns true if Create writes CSV to path.
func WritesCSV(path string) bool {
	f, err := outputFormat(path)
	return err == nil && f == formatCSV
}

// WritesDictionaries returns true if a column with a dictionary becomes a column of its values in the file that Create writes
// to path.
func WritesDictionaries(path string) bool {
	f, err := outputFormat(path)
	return err == nil && (f == formatCSV || f == formatJSON || f == formatParquet)
}

// outputFormat returns the format in which to write to path.
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
	const known = "use .parquet, .csv, .jsonl, .arrow, .npy or .svm, or - for CSV on standard output"
	if ext == "" {
		return "", column.Mark(fmt.Errorf("%s: no extension tells which format to write: %s", path, known), ErrFormat)
	}
	return "", column.Mark(fmt.Errorf("%s: files with the extension %q can't be written: %s", path, filepath.Ext(path), known), ErrFormat)
}

// Write adds the rows of rec, whose columns must have the names and types of the schema. It keeps no reference to
// rec.
func (w *Writer) Write(rec arrow.Record) error {
	if w.done {
		return fmt.Errorf("%s: %w", w.path, fs.ErrClosed)
	}
	if w.err == nil {
		w.err = w.guard(func() error {
			if err := w.check(rec); err != nil {
				return err
			}
			return w.enc.Write(rec)
		})
	}
	if w.err == nil {
		w.noteOthers(rec)
	}
	return w.err
}

// check returns an error unless rec fits the schema. If a required column has a null, Arrow's writer would write the
// bytes in the place of the null.
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
			return column.Damage(fmt.Errorf("column %q has nulls, and its type in the file allows none", f.Name))
		}
	}
	return nil
}

// Close completes the file and moves it to its path. If Close fails, or a Write failed before, no new file is left,
// and a file that existed before is unchanged. A second call returns the result of the first.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	if w.err == nil {
		w.err = w.guard(w.enc.Finish)
	}
	if w.err == nil {
		if w.err = w.file.Commit(); w.err == nil {
			w.tellOthers()
		}
	}
	w.file.Abort()
	w.done = true
	return w.err
}

// Flush writes the rows so far to a pipe or a device, if they are CSV. A file gets its rows when it is closed.
func (w *Writer) Flush() error {
	csv, ok := w.enc.(*writer.CSV)
	if w.err == nil && !w.done && ok {
		w.err = w.guard(func() error {
			if err := csv.Finish(); err != nil {
				return err
			}
			return w.file.Flush()
		})
	}
	return w.err
}

// Abort discards the rows written. After Close it does nothing, so that it can be deferred.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.err = fmt.Errorf("%s: %w", w.path, fs.ErrClosed)
	w.file.Abort()
}

// guard runs f and converts a panic of Arrow, which found values that contradict their type, to an error. If the file
// has an error, guard returns this error unchanged instead: Arrow loses some errors of the file, and panics at
// others.
func (w *Writer) guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = column.Damage(errors.New(column.OneLine(fmt.Sprint(r))))
		}
		if w.file.Err() != nil {
			err = w.file.Err()
		} else if err != nil && !errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%s can't be written: %w", w.path, err)
		}
	}()
	return f()
}
