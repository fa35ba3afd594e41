package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/dataset/internal/parquet/page"
	"halfspace/kernel"
	"halfspace/schema"
)

// An Input is files whose columns were found and checked, and whose rows are still to be read.
type Input[T kernel.Float] struct {
	in     input
	sel    *selection
	opt    Options
	pool   pool
	mem    memory.Allocator
	survey *survey // nil before the first
}

// Open looks at files as Load does. It reads rows only where features depend on them: for means, deviations, categories and
// the lengths of lists.
func Open[T kernel.Float](ctx context.Context, paths []string, opt Options) (*Input[T], error) {
	return open[T](ctx, paths, opt, memory.DefaultAllocator)
}

func open[T kernel.Float](ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*Input[T], error) {
	p, err := opt.pool()
	if err != nil {
		return nil, err
	}
	opt.Keep, opt.float = nil, floatType[T]()
	in, err := openInput(ctx, paths, opt, p)
	if err != nil {
		return nil, err
	}
	if in.total() == 0 {
		return nil, fmt.Errorf("%s: no rows: name a file that has some", in.name())
	}
	if text, ok := in.input.(*csvInput); ok && text.none {
		return nil, fmt.Errorf("%s: no rows after the header: name a file with rows, or use --header no if the first line is a row", in.name())
	}
	sel := in.selection()
	files := &Input[T]{in: in.input, sel: sel, opt: opt, pool: p, mem: mem}
	files.within(0)
	if sel.unlearned() {
		if err := sel.learn(ctx, in.name(), p, in.batches(ctx, p, mem), in.total(), opt.Progress); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Rows returns how many rows there are at most, those that are left out for missing values included; -1 where only
// reading tells.
func (in *Input[T]) Rows() int64 { return in.in.total() }

// Most returns no fewer rows than there are, without reading them where their number isn't known; -1 where only reading
// tells.
func (in *Input[T]) Most() int64 {
	return in.in.most()
}

// Count returns Rows, for which it reads the files where only reading tells.
func (in *Input[T]) Count(ctx context.Context) (int64, error) {
	if n := in.Rows(); n >= 0 {
		return n, nil
	}
	s, err := in.surveyed(ctx)
	return s.rows, err
}

// Cols returns the number of columns of the blocks, the bias included.
func (in *Input[T]) Cols() int {
	if in.sel.bias {
		return in.sel.width() + 1
	}
	return in.sel.width()
}

// Load reads the rows into memory.
func (in *Input[T]) Load(ctx context.Context) (*block.Data[T], error) {
	in.within(block.Bytes[T](max(0, in.Rows()), in.Cols(), in.sel.weight >= 0))
	var mem page.Allocator = in.mem
	if in.mem == memory.DefaultAllocator {
		mem = &hugeAllocator{}
	}
	buffers := page.NewPool(mem)
	defer buffers.Close()
	parts, stored := in.parts(ctx, buffers)
	data, err := collect[T](ctx, in.in.name(), in.sel, in.opt, in.pool, in.mem, parts, stored)
	if err == nil {
		in.opt.tell(in.in.notes())
	}
	return data, err
}

// parts returns the rows in one part for all workers, or, where blocks and row groups are enough to keep them busy, in parts for one
// worker each: these wait for nobody, and what they decoded is still in their cache when they transpose it. stored is
// how many bytes the rows take in the files, 0 where that isn't known.
func (in *Input[T]) parts(ctx context.Context, buffers *page.Pool) (parts []part, stored int64) {
	const perWorker = 4
	files, ok := in.in.(*parquetInput)
	if !ok {
		return []part{{0, in.Rows(), func(p pool) iter.Seq2[*batch, error] { return in.in.batches(ctx, p, in.mem) }}}, 0
	}
	files.bound(buffers, cap(in.pool))
	ranges := []rowRange{{0, files.rows}}
	if workers := cap(in.pool); workers > 1 && in.sel.nulls != schema.NullsDrop && files.lanes(workers) == workers {
		if r := files.ranges(perWorker*workers, int64(block.Rows[T](in.Cols()))); len(r) >= 2*workers {
			ranges = r
		}
	}
	for _, r := range ranges {
		only := files.only(r, buffers)
		parts = append(parts, part{r.first, r.last, func(p pool) iter.Seq2[*batch, error] { return only.batches(ctx, p, in.mem) }})
	}
	return parts, files.stored()
}

// Key identifies for a cache the blocks that Open gives of files: it differs where another option, or a file that changed,
// could make them differ. It doesn't read the files.
func Key(paths []string, opt Options) (cache.Key, error) {
	if opt.Nulls == "" {
		opt.Nulls = schema.NullsError
	}
	options, err := json.Marshal(struct {
		Reader int
		Options
	}{readerVersion, opt})
	if err != nil {
		return cache.Key{}, err
	}
	if paths, err = Expand(paths); err != nil {
		return cache.Key{}, err
	}
	key := cache.Key{Options: options}
	for _, p := range paths {
		if p == "-" {
			return key, fmt.Errorf("%s: a cache of standard input could serve no later run: save it and name the file", p)
		}
		info, err := os.Stat(p)
		if err != nil {
			return key, pathError(p, err)
		}
		abs, err := filepath.Abs(p)
		if err != nil {
			return key, pathError(p, err)
		}
		key.Sources = append(key.Sources, cache.Source{Path: abs, Size: info.Size(), Modified: info.ModTime().UnixNano()})
	}
	return key, nil
}

// readerVersion counts the changes of this package that make other blocks of the same files and options.
const readerVersion = 3

// A survey is what a stream must know before its first block.
type survey struct {
	rows   int64 // that are kept
	labels *labels
}

// surveyed reads what a survey takes, once: the label column where that tells, otherwise all selected columns.
func (in *Input[T]) surveyed(ctx context.Context) (survey, error) {
	if in.survey != nil {
		return *in.survey, nil
	}
	s := survey{rows: in.Rows(), labels: newLabels(in.opt.Spec)}
	var err error
	if s.rows < 0 || in.sel.nulls == schema.NullsDrop {
		s.rows, err = in.countKept(ctx, s.labels)
	} else if in.opt.Spec == nil && in.sel.label >= 0 {
		err = in.readLabels(ctx, s.labels, func() bool { return false })
	}
	if err != nil {
		return s, err
	}
	if s.rows == 0 {
		return s, errorIn(in.in.name(), "no rows are left, each has a missing value: exclude columns, or fill them in")
	}
	in.survey = &s
	return s, nil
}

// countKept makes all blocks, and counts their rows.
func (in *Input[T]) countKept(ctx context.Context, l *labels) (int64, error) {
	var b *builder[T]
	b = newBuilder(in.sel, l, in.pool, in.mem, in.Rows(), func(full *block.Block[T], _ []arrow.Array) error {
		b.spare = full
		return nil
	})
	err := b.run(ctx, in.in.batches(ctx, in.pool, in.mem), in.opt.Progress)
	return b.rows, err
}

// readLabels numbers the classes of the label column, which it reads alone where that is less work, until enough says so.
func (in *Input[T]) readLabels(ctx context.Context, l *labels, enough func() bool) error {
	only := in.in.labelOnly()
	label := only.chosen().label
	var numbers []T
	first := int64(0)
	for bt, err := range only.batches(ctx, in.pool, in.mem) {
		if err != nil {
			return err
		}
		numbers = append(numbers[:0], make([]T, bt.rows)...)
		row, what := 0, ""
		err := recovered(func() error {
			row, what = encode(l, bt.columns[label], 0, numbers)
			return nil
		})
		bt.release()
		if err != nil {
			return errorIn(bt.file, "rows %d to %d: damaged data (%w)", first, first+bt.rows-1, err)
		}
		if what != "" {
			return errorIn(bt.file, "column %q, row %d: %s", in.sel.columns[in.sel.label].name, first+int64(row), what)
		}
		first += bt.rows
		if in.opt.Progress != nil {
			in.opt.Progress(first, in.Rows())
		}
		if enough() {
			break
		}
	}
	return nil
}
