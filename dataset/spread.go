package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/column"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/schema"
)

// LoadRange reads the kept rows from first up to, but not including, last of files with rows kept rows in all. It
// returns them as chunks: blocks of block.ChunkRows rows, whose First is the number of their first row among all rows.
// first must be a multiple of block.ChunkRows. From Parquet files it decodes only the pages with these rows, unless
// rows are dropped. From other files it also reads the rows before them. Options.Spec must be set.
func (in *Input) LoadRange(ctx context.Context, first, last, rows int64) ([]*block.Block, error) {
	switch {
	case in.opt.Spec == nil:
		return nil, errors.New("a range of rows needs Options.Spec, which has the classes")
	case first%block.ChunkRows != 0 || first < 0 || last > rows || first >= last:
		return nil, fmt.Errorf("rows %d to %d of %d are no chunks", first, last, rows)
	}
	batches, at, total := in.in.Batches, int64(0), rows
	if files, ok := in.in.(*parquetfile.Input); ok && !in.sel.Drops() {
		if files.Rows != rows {
			return nil, changed(in.in)
		}
		buffers := parquetfile.NewPool(in.mem)
		defer buffers.Close()
		files.Bound(buffers, cap(in.pool))
		batches, at, total = files.Only(parquetfile.RowRange{First: first, Last: last}, buffers).Batches, first, last
	}
	var chunks []*block.Block
	signs := transform.Signs(in.opt.Spec)
	all := transform.NewBuilder(in.sel, transform.NewLabels(in.opt.Spec), in.pool, in.mem, total, nil)
	b := all.Part(transform.NewLabels(in.opt.Spec), in.pool, at, total, func(full *block.Block, _ []arrow.Array) error {
		end := full.First + int64(full.Len())
		if end <= first {
			return nil
		}
		transform.Sign(full.Y, signs)
		for lo := int(max(0, first-full.First)); lo < full.Len() && full.First+int64(lo) < last; lo += block.ChunkRows {
			chunks = append(chunks, full.Slice(lo, min(full.Len(), lo+block.ChunkRows)))
		}
		if end >= last {
			return transform.ErrEnough
		}
		return nil
	})
	if err := b.Run(ctx, batches(ctx, in.pool, in.mem), nil); err != transform.ErrEnough {
		if err == nil {
			err = changed(in.in)
		}
		return nil, err
	}
	return slices.Clip(chunks), nil
}

// Spread returns the paths and options with which another process on this computer reads the same blocks as in,
// whatever its working directory. spec describes the features and classes of the blocks. If the other process finds
// other versions of the files in object stores, opening them returns an error.
func (in *Input) Spread(spec *schema.Spec) ([]string, Options) {
	opt := Options{Spec: spec, Label: in.opt.Label, SampleWeight: in.opt.SampleWeight, Text: in.opt.Text, Storage: Dense,
		versions: in.opt.versions, unlabelled: in.opt.unlabelled, Where: in.opt.Where, Sample: in.opt.Sample, Limit: in.opt.Limit, end: in.opt.end,
		constants: &in.opt.opened.source.Constants}
	if in.sel.Sparse {
		opt.Storage = Sparse
	}
	if in.opt.Labels != "" {
		opt.Labels = absolute([]string{in.opt.Labels})[0]
	}
	if in.opt.Weights != "" {
		opt.Weights = absolute([]string{in.opt.Weights})[0]
	}
	return absolute(in.opt.opened.paths()), opt
}

// absolute returns paths that don't depend on the working directory. It returns URLs unchanged.
func absolute(paths []string) (all []string) {
	for _, p := range paths {
		if abs, err := files.Abs(p); err == nil && p != "-" {
			p = abs
		}
		all = append(all, p)
	}
	return all
}

// others are the processes of Options.Cluster, and the data with which they open the files. Each of their tasks is
// for a range of the rows.
type others struct {
	cluster block.Cluster
	files   sharedFiles
}

type sharedFiles struct {
	paths  []string
	opt    Options
	ranges []parquetfile.RowRange
}

func (s *sharedFiles) Fields() []any { return []any{&s.paths, &s.opt, &s.ranges} }

// Fields returns pointers to the options that another process needs, for the tasks of Cluster.
func (o *Options) Fields() []any {
	return []any{&o.Label, &o.Labels, &o.Weights, &o.Features, &o.Exclude, &o.Positive, &o.SampleWeight, &o.NoBias, &o.Nulls, &o.Keep, &o.KeepTexts, &o.Workers, &o.Text,
		&o.Memory, &o.Categorical, &o.Cross, &o.HashTexts, &o.Standardize, &o.KeepWide,
		&o.LearnedFrom, &o.versions, &o.Storage, &o.Spec, &o.Live, &o.Prepare, &o.Types, &o.plan, &o.unlabelled, &o.Where, &o.Sample, &o.Limit, &o.end, &o.constants}
}

// rangeChunks is the smallest number of chunks in a range. A page often holds the rows of several chunks, and is decoded
// for each range that has some of these rows. Tests use a smaller number.
var rangeChunks int64 = 32

// mostRanges is the largest number of ranges. With that many ranges, processes of different speeds end at about the
// same time.
const mostRanges = 256

// othersOf returns the other processes, or nil if this process reads the files alone.
func othersOf(in *openedInput, opt Options) *others {
	files, is := in.Input.(*parquetfile.Input)
	if !is || opt.Cluster == nil || opt.Spec != nil || !in.sel.Parted() {
		return nil
	}
	opt.constants = &opt.opened.source.Constants
	o := &others{opt.Cluster, sharedFiles{paths: absolute(opt.opened.paths()), opt: opt}}
	each := max(rangeChunks, files.Rows/block.ChunkRows/mostRanges+1) * block.ChunkRows
	for first := int64(0); first < files.Rows; first += each {
		o.files.ranges = append(o.files.ranges, parquetfile.RowRange{First: first, Last: min(files.Rows, first+each)})
	}
	return o
}

// learn lets the other processes compute everything that the features of sel depend on, and stores the result in sel.
// rows is the number of all rows, for progress. done is false if this process must read the rows itself: there are no
// other processes, or they found an error that this process must find again to report it.
func (o *others) learn(ctx context.Context, sel *transform.Selection, rows int64, p column.Pool, progress func(rows, total int64)) (done bool, err error) {
	if o == nil || !sel.Unlearned() {
		return false, nil
	}
	learned := *sel
	learned.Inputs = slices.Clone(sel.Inputs)
	st, done := transform.NewStatistics(&learned, p), true
	err = distributed.Rowless(ctx, o.cluster, learnTask, o.files, len(o.files.ranges), func(part *transform.Learned) error {
		if done = done && part != nil && st.Merge(part); done && progress != nil {
			progress(st.Input, rows)
		}
		return nil
	})
	if !done || err != nil || st.Finish("") != nil {
		return false, err
	}
	*sel = learned
	return true, nil
}

// allLabels numbers the classes of all kept rows and returns the number of these rows.
func (in *Input) allLabels(ctx context.Context, l *transform.Labels) (rows int64, err error) {
	done := in.others != nil && in.sel.Label >= 0
	if done {
		ranges := in.others.files.ranges
		err = distributed.Rowless(ctx, in.others.cluster, labelsTask, in.others.files, len(ranges), func(part []schema.Class) error {
			_, what := l.Add(&transform.Labels{Classes: part})
			rows, ranges = ranges[0].Last, ranges[1:]
			if done = done && part != nil && what == ""; done && in.opt.Progress != nil {
				in.opt.Progress(passLabels, rows, in.Rows())
			}
			return nil
		})
	}
	if !done && err == nil {
		*l = *transform.NewLabels(in.opt.Spec)
		rows, err = in.readLabels(ctx, l, func() bool { return false })
	}
	return rows, err
}

// learnTask computes everything that features depend on. labelsTask finds the classes, in the order in which they
// appear. If there is an error, their results are nil. Then the process that requested the task reads the files
// itself, and returns the first error.
var (
	learnTask = distributed.New("dataset.learn", func(ctx context.Context, piece distributed.Piece, f sharedFiles) (learned *transform.Learned, err error) {
		return learned, f.read(ctx, piece, func(in *Input) (err error) {
			learned, err = in.sel.LearnPart(ctx, in.pool, in.in.Batches(ctx, in.pool, in.mem))
			return err
		})
	})
	labelsTask = distributed.New("dataset.labels", func(ctx context.Context, piece distributed.Piece, f sharedFiles) (classes []schema.Class, err error) {
		return classes, f.read(ctx, piece, func(in *Input) error {
			l := transform.NewLabels(nil)
			_, err := in.readLabels(ctx, l, func() bool { return false })
			if err == nil {
				classes = l.Classes
			}
			return err
		})
	})
)

// read calls do with the range of a piece. It returns the error of ctx, or an error if the range doesn't exist. It
// doesn't return errors of files.
func (f *sharedFiles) read(ctx context.Context, piece distributed.Piece, do func(*Input) error) error {
	if piece.Number >= len(f.ranges) {
		return errors.New("there is no such range of the rows: the programs of the cluster differ: use the same version everywhere")
	}
	p, err := column.PoolOf(piece.Workers)
	if err != nil {
		return err
	}
	in, err := shared.open(ctx, f, p)
	if err != nil {
		return ctx.Err()
	}
	buffers := parquetfile.NewPool(memory.DefaultAllocator)
	defer buffers.Close()
	files, sel := in.Input.(*parquetfile.Input), *in.sel
	files.Bound(buffers, cap(p))
	sel.Inputs = slices.Clone(sel.Inputs)
	if do(&Input{in: files.Only(f.ranges[piece.Number], buffers), sel: &sel, pool: p, mem: memory.DefaultAllocator}) != nil {
		shared.forget()
	}
	return ctx.Err()
}

// shared keeps the files of the last task open.
var shared lastFiles

type lastFiles struct {
	mu  sync.Mutex
	key string
	in  *openedInput
}

func (l *lastFiles) open(ctx context.Context, f *sharedFiles, p column.Pool) (*openedInput, error) {
	key, err := distributed.Encode(*f)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.in != nil && l.key == string(key) {
		return l.in, nil
	}
	opt := f.opt
	opt.float = arrow.PrimitiveTypes.Float32
	if opt.opened, err = openFiles(ctx, f.paths, opt); err != nil {
		return nil, err
	}
	in, err := openInput(ctx, opt, p)
	if err != nil {
		return nil, err
	}
	files, is := in.Input.(*parquetfile.Input)
	if last := f.ranges[len(f.ranges)-1].Last; !is || files.Rows != last {
		return nil, fmt.Errorf("%s: the files have %d rows here, and %d elsewhere", in.Name(), in.Total(), last)
	}
	column.Within(in.Input, opt.Memory, 0)
	l.key, l.in = string(key), in
	return in, nil
}

// forget makes the next task open its files again.
func (l *lastFiles) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in = nil
}
