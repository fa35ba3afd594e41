// Package dataset converts data files to rows for learners.
//
// It reads and writes the formats Parquet, CSV, svmlight, Arrow IPC and NumPy, and reads JSON Lines and SciPy's sparse matrices.
//
//   - [Load] reads a file into memory.
//   - [Open] opens the rows of files as a [Budget] says: in memory, as a [Stream] that reads the files in each pass, or from
//     a cache. It does three steps, each of which returns a complete value: [Examine] finds the files and their format, a
//     [Table]; [Table.Plan] decides the use of each column and row, a [Plan]; [Plan.Open] returns the [Rows].
//   - [Scan] yields the rows of files, with the columns that Options.Keep names, for predictions.
//   - [Convert] writes files in another format.
//   - Columns of several files are matched by name. A column that some files lack is null in their rows.
//   - Folders such as country=de/day=2026-01-31 in the paths of files name columns, as Hive writes them. Their types follow from all
//     paths: whole numbers, numbers, dates or text. A file may have the same column if each of its values is the folder's.
//   - [Inspect] describes a file, and [Create] writes one.
package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/lake"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
)

// A Table is files of one format that were examined. [Table.Plan] decides the use of their columns and rows. Standard
// input keeps its text for later passes.
type Table struct {
	format     format
	source     *source.Source
	opt        tableOptions
	pool       column.Pool
	mem        memory.Allocator
	heads      *textfile.Heads  // of CSV
	laterTexts []textfile.Later // columns with a text in a later row that the type of the first rows can't hold
	readsLater bool             // all rows were read, and laterTexts has all such columns
}

// tableOptions are the options that a table keeps.
type tableOptions struct {
	fileOptions
	listener
}

// fileOptions are the options of Examine, which [Options] describe.
type fileOptions struct {
	Text            TextOptions
	Labels, Weights string
	Workers         int
	Memory          int64
	Rejects         *Rejects
	Live            bool
	Raw             bool
	Version         string
}

// A listener gets the notes and the progress of reading a table.
type listener struct {
	Warn     func(text string)
	Progress func(pass Pass, rows, total int64)
}

func (opt Options) ofTable() tableOptions {
	return tableOptions{fileOptions{opt.Text, opt.Labels, opt.Weights, opt.Workers, opt.Memory, opt.Rejects, opt.Live,
		opt.Raw, opt.Version}, listener{opt.Warn, opt.Progress}}
}

// checkSame returns an error if options about files differ from the options of Examine.
func (t *Table) checkSame(opt Options) error {
	given := opt.ofTable().fileOptions
	given.Workers = cmp.Or(given.Workers, t.opt.Workers)
	if given.Memory <= 0 {
		given.Memory = t.opt.Memory
	}
	if !reflect.DeepEqual(given, t.opt.fileOptions) {
		return errors.New("the options Text, Labels, Weights, Workers, Memory, Rejects, Live, Raw and Version must equal those " +
			"given to Examine: pass the same Options to both")
	}
	return nil
}

// Examine lists files and finds their format. paths are files, folders, globs, URLs, or "-" for standard input; see
// [Expand]. Of the options, it uses Text, Labels, Weights, Memory, Workers, Rejects, End,
// Live, Raw, Version, Warn and Progress.
func Examine(ctx context.Context, paths []string, opt Options) (*Table, error) {
	return examineWith(ctx, paths, opt, memory.DefaultAllocator)
}

// examineWith is Examine for rows that take memory of an allocator.
func examineWith(ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*Table, error) {
	src, err := lake.List(ctx, paths, rank, opt.choice())
	if err != nil {
		return nil, err
	}
	opt.ofTable().tell(src.Notes)
	return examine(ctx, src, opt, mem)
}

// examine finds the format of files. It doesn't read a file whose name has the extension of Parquet. A file without a
// byte has the format of the others.
func examine(ctx context.Context, src *source.Source, opt Options, mem memory.Allocator) (*Table, error) {
	pool, err := column.PoolOf(opt.Workers)
	if err != nil {
		return nil, err
	}
	opt.Memory = column.Limit(opt.Memory)
	t := &Table{source: src, opt: opt.ofTable(), pool: pool, mem: mem, heads: new(textfile.Heads)}
	var lead *source.File // the first file of a known format
	var empty error
	for _, file := range src.Files {
		f, err := formatOf(ctx, file, opt)
		if errors.Is(err, errEmpty) {
			empty = cmp.Or(empty, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		noPipe := f == formatParquet || f == formatNumPy || f == formatCSR
		if file.Path == "-" && (noPipe || len(src.Files) > 1) {
			return nil, errStandardInput(f)
		}
		if lead == nil {
			t.format, lead = f, file
		}
		if f != t.format {
			return nil, column.Mark(fmt.Errorf("%s is %s, but %s is %s: read files of one format at a time, or convert them",
				file.Path, f, lead.Path, t.format), ErrFormat)
		}
	}
	if empty != nil && !t.format.isText() {
		return nil, empty
	}
	t.opt.tell(t.opt.unused(t.format))
	return t, nil
}

func (t *Table) paths() []string { return source.Paths(t.source.Files) }

// withListener returns the table whose notes and progress another listener gets.
func (t *Table) withListener(l listener) *Table {
	own := *t
	own.opt.listener = l
	return &own
}

// withoutNotes returns the table without notes.
func (t *Table) withoutNotes() *Table { return t.withListener(listener{Progress: t.opt.Progress}) }
