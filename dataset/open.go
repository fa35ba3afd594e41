// Package dataset converts data files to rows for learners.
//
// It reads and writes the formats Parquet, CSV, svmlight, Arrow IPC and NumPy, and reads JSON Lines and SciPy's sparse matrices.
//
//   - [Load] reads a file into memory.
//   - [Open] examines the columns of files. The methods of its [Input] then load the rows or make a [Stream], a source that
//     reads the files in each pass.
//   - [Scan] yields the rows of files, with the columns that Options.Keep names, for predictions.
//   - [Convert] writes files in another format.
//   - Columns of several files are matched by name. A column that some files lack is null in their rows.
//   - Folders such as country=de/day=2026-01-31 in the paths of files name columns, as Hive writes them. Their types follow from all
//     paths: whole numbers, numbers, dates or text. A file may have the same column if each of its values is the folder's.
//   - [Inspect] describes a file, and [Create] writes one.
package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/column"
	parquetfile "halfspace/dataset/internal/parquet"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/cache"
	"halfspace/internal/files"
	"halfspace/schema"
)

// within limits the memory of later passes; blocks is the number of bytes that their blocks take.
func (in *Input) within(blocks int64) { column.Within(in.in, in.opt.Memory, blocks) }

// An Input is a set of files whose columns are known and checked. Its rows weren't read yet.
type Input struct {
	in     column.Input
	sel    *transform.Selection
	opt    Options
	pool   column.Pool
	mem    memory.Allocator
	survey *survey // nil before surveyed
	others *others // nil: this process reads all rows
	loaded int64   // number of rows that Load read

	hopeful bool // only the first rows were examined for the options of Prepare
}

// Open finds and checks the columns of files, as Load does. It reads rows only if features depend on them: for means,
// deviations, categories and the lengths of lists.
func Open(ctx context.Context, paths []string, opt Options) (*Input, error) {
	return open(ctx, paths, opt, memory.DefaultAllocator)
}

// open is Open with an allocator. If a later row contradicts the type that the first rows of a column suggest, open opens the files again
// with a column of text.
func open(ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*Input, error) {
	p, err := column.PoolOf(opt.Workers)
	if err != nil {
		return nil, err
	}
	opt.Keep, opt.Memory = opt.asked, column.Limit(opt.Memory)
	if opt.opened == nil {
		if opt.opened, err = openFiles(ctx, paths, opt); err != nil {
			return nil, err
		}
	}
	opt.float, opt.counts = arrow.PrimitiveTypes.Float32, opt.Storage.Widest() > schema.MaxFeatures && !slices.Contains(opt.opened.paths(), "-")
	if opt.Rejects != nil && opt.Spec == nil {
		if _, err := opt.widest(ctx, p); err != nil { // it finds the rejects
			return nil, err
		}
	}
	in, err := openAs(ctx, opt, p, mem)
	if !opt.contradicts(err) {
		return in, err
	}
	if err := opt.findTexts(ctx, p, err); err != nil {
		return nil, err
	}
	return openAs(ctx, opt, p, mem)
}

// openAs opens files whose columns have the types of the first rows, or text if they are in opt.texts.
func openAs(ctx context.Context, opt Options, p column.Pool, mem memory.Allocator) (_ *Input, err error) {
	hopeful := false
	switch {
	case !opt.Prepare || opt.prepared:
	case opt.Spec != nil:
		opt.unlabelled = true
	default:
		if hopeful, err = opt.prepare(ctx, p, mem, opt.asked != nil || opt.LearnedFrom != ""); err != nil {
			return nil, err
		}
	}
	in, err := openInput(ctx, opt, p)
	if err != nil {
		return nil, err
	}
	if in.Total() == 0 {
		return nil, fmt.Errorf("%s: no rows: name a file that has some", in.Name())
	}
	if text, ok := in.reader.(*textfile.CSV); ok && text.None {
		if text.LeftOut() {
			return nil, fmt.Errorf("%s: no line is a row: %s has the reasons", in.Name(), opt.Rejects.Path())
		}
		return nil, fmt.Errorf("%s: no rows after the header: name a file with rows, or use --header no if the first line is a row", in.Name())
	}
	opt.versions = in.versions
	opt.end = in.end()
	far := othersOf(in, opt)
	if err := learn(ctx, in, &opt, p, mem, far); err != nil {
		return nil, err
	}
	opened := &Input{in: in.Input, sel: in.selection(), opt: opt, pool: p, mem: mem, others: far, hopeful: hopeful}
	if opened.sel.Gaps {
		_, err = opened.again(ctx, nil)
	}
	return opened, err
}

// Rows returns the number of rows, or -1 if it is unknown until all are read. It includes rows that are dropped
// because of missing values.
func (in *Input) Rows() int64 { return in.in.Total() }

// Most returns an upper bound of the number of rows, or -1 if it is unknown until all are read. It reads no rows.
func (in *Input) Most() int64 {
	return in.in.Most()
}

// Count returns the number of kept rows: the rows that Load loads. It reads the files if rows may be dropped, or if
// Rows is unknown.
func (in *Input) Count(ctx context.Context) (int64, error) {
	if n := in.Rows(); n >= 0 && !in.sel.Drops() {
		return n, nil
	}
	s, err := in.surveyed(ctx)
	return s.rows, err
}

// Cols returns the number of columns of the blocks, the bias included.
func (in *Input) Cols() int {
	if in.sel.Bias {
		return in.sel.Width() + 1
	}
	return in.sel.Width()
}

// Load reads the rows into memory.
func (in *Input) Load(ctx context.Context) (*block.Data, error) {
	return retry(ctx, in, func() (*block.Data, error) { return in.load(ctx) })
}

func (in *Input) load(ctx context.Context) (*block.Data, error) {
	rows, err := in.toLoad(ctx)
	if err != nil {
		return nil, err
	}
	in.within(in.Bytes(max(0, rows), in.sel.Weight >= 0))
	buffers := parquetfile.NewPool(in.mem)
	defer buffers.Close()
	parts, stored := in.parts(ctx, rows, buffers)
	data, err := transform.Collect(ctx, transform.Load{Name: in.in.Name(), Choices: in.opt.choices(), Selection: in.sel, Pool: in.pool, Alloc: in.mem,
		Memory: in.opt.Memory, Stored: stored, Progress: in.opt.told(PassRows), Warn: in.opt.Warn}, parts)
	if err != nil {
		return nil, err
	}
	if in.opt.tell(in.in.Notes()); in.sel.Sparse {
		in.sel.Elements, in.loaded = block.Elements(data), data.Rows()
	}
	return data, nil
}

// toLoad returns the number of rows to load, or -1 if it is unknown until all are read. If rows are wide, it reads
// the labels to count the rows, because room for too many rows would be large.
func (in *Input) toLoad(ctx context.Context) (int64, error) {
	const large = 64 << 20
	if in.survey == nil && (in.Rows() >= 0 || in.Bytes(int64(block.Rows(in.Cols())), in.sel.Weight >= 0) < large) {
		return in.Rows(), nil
	}
	s, err := in.surveyed(ctx)
	return s.rows, err
}

// parts returns the rows as one part for all workers. If there are enough blocks and row groups, it returns several
// parts, each for one worker. Then workers don't wait for each other, and they transpose values that are still in
// their cache. parts also returns the number of bytes of the rows in the files, or 0 if it is unknown.
func (in *Input) parts(ctx context.Context, rows int64, buffers *parquetfile.Pool) (parts []transform.Part, stored int64) {
	const perWorker = 4
	if arrays, is := in.in.(interface{ Stored() int64 }); is {
		stored = arrays.Stored()
	}
	files, ok := in.in.(*parquetfile.Input)
	if !ok {
		return []transform.Part{{First: 0, Last: rows, Batches: func(p column.Pool) iter.Seq2[*column.Batch, error] { return in.in.Batches(ctx, p, in.mem) }}}, stored
	}
	files.Bound(buffers, cap(in.pool))
	ranges := []parquetfile.RowRange{{Last: files.Rows}}
	if workers := cap(in.pool); workers > 1 && !in.sel.Drops() && files.Lanes(workers) == workers {
		if r := files.Ranges(perWorker*workers, int64(block.Rows(in.Cols()))); len(r) >= 2*workers {
			ranges = r
		}
	}
	for _, r := range ranges {
		only := files.Only(r, buffers)
		parts = append(parts, transform.Part{First: r.First, Last: r.Last, Batches: func(p column.Pool) iter.Seq2[*column.Batch, error] { return only.Batches(ctx, p, in.mem) }})
	}
	return parts, stored
}

// With returns paths and the files of Labels and Weights.
func (opt Options) With(paths []string) []string {
	all := slices.Clone(paths)
	for _, p := range []string{opt.Labels, opt.Weights} {
		if p != "" {
			all = append(all, p)
		}
	}
	return all
}

// Key identifies the blocks of files for a cache. Keys differ if the options or a change of the files could make the
// blocks differ. Key doesn't read the files.
func (opt Options) Key(ctx context.Context, paths []string) (cache.Key, error) {
	if opt.Nulls == "" {
		opt.Nulls = schema.NullsError
	}
	options, err := json.Marshal(struct {
		Reader  int
		Rejects bool `json:",omitempty"`
		Options
	}{readerVersion, opt.Rejects != nil, opt})
	if err != nil {
		return cache.Key{}, err
	}
	if paths, err = Expand(ctx, paths, nil); err != nil {
		return cache.Key{}, err
	}
	key := cache.Key{Options: options}
	for _, p := range opt.With(paths) {
		if p == "-" {
			return key, fmt.Errorf("%s: a cache of standard input could serve no later run: save it and name the file", p)
		}
		info, err := files.Stat(p)
		if err != nil {
			return key, column.PathError(p, err)
		}
		abs, err := files.Abs(p)
		if err != nil {
			return key, column.PathError(p, err)
		}
		key.Sources = append(key.Sources, cache.SourceOf(abs, info))
	}
	return key, nil
}

// readerVersion counts the changes of this package after which the same files and options give other blocks.
const readerVersion = 6

// A survey is the information that a stream requires before its first block.
type survey struct {
	rows   int64 // number of kept rows
	labels *transform.Labels
}

// surveyed returns the survey of the input, and makes it at the first call.
func (in *Input) surveyed(ctx context.Context) (survey, error) {
	if in.survey != nil {
		return *in.survey, nil
	}
	return retry(ctx, in, func() (survey, error) { return in.count(ctx) })
}

// count reads the labels and counts the kept rows.
func (in *Input) count(ctx context.Context) (survey, error) {
	s := survey{rows: in.Rows(), labels: transform.NewLabels(in.opt.Spec)}
	var err error
	if s.rows < 0 || in.sel.Drops() || in.opt.Spec == nil && in.sel.Label >= 0 {
		s.rows, err = in.allLabels(ctx, s.labels)
	}
	if err != nil {
		return s, err
	}
	if s.rows == 0 {
		return s, column.ErrorIn(in.in.Name(), "no rows are left, each has a missing value: exclude columns, or fill them in")
	}
	in.survey = &s
	return s, nil
}

// readLabels numbers the classes of the kept rows, until enough returns true, and returns the number of these rows.
// If no rows are dropped and that is less work, it reads only the label column.
func (in *Input) readLabels(ctx context.Context, l *transform.Labels, enough func() bool) (rows int64, err error) {
	only, sel := in.in, in.sel
	if sel.Label >= 0 && !sel.Drops() {
		only = in.in.LabelOnly()
		sel = &transform.Selection{Chosen: only.Chosen()}
	}
	err = transform.Each(ctx, only.Batches(ctx, in.pool, in.mem), in.Rows(), in.opt.told(passLabels), func(bt *column.Batch, first int64) error {
		_, kept, err := l.Number(ctx, sel, in.pool, bt, first)
		rows += int64(kept.Len())
		if err == nil && enough() {
			err = transform.ErrEnough
		}
		return err
	})
	return rows, err
}
