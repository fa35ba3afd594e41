package mixing

import (
	"context"
	"errors"
	"iter"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// chunksPerRun is the number of chunks in a run.
const eighthsPerChunk = block.ChunkRows / kernel.EighthRows

// dealable are the rows of a source, in a form from which shards can be made.
type dealable struct {
	src  block.Source
	runs []*block.Block // runs of rows in memory
	file block.Seekable // file of other rows
}

// newDealable returns the rows of src, which must come from block.Validate. It returns an error unless src is a *block.Data or
// a block.Seekable.
func newDealable(src block.Source) (*dealable, error) {
	r := &dealable{src: src}
	switch from := src.(type) {
	case *block.Data:
		for b, err := range from.Blocks(context.Background()) {
			if err != nil {
				return nil, err
			}
			for lo := 0; lo < b.Len(); lo += block.ChunkRows {
				r.runs = append(r.runs, b.Slice(lo, min(b.Len(), lo+block.ChunkRows)))
			}
		}
	case block.Seekable:
		r.file = from
	default:
		return nil, errors.New("shards need the rows in memory or in a cache file")
	}
	return r, nil
}

// Shard returns the rows of the given runs as a source. Its rows are numbered from 0. Each block is a run. Only the
// last run of all rows may be shorter than the other runs, and it must be the last run of the shard.
func (r *dealable) Shard(runs []int64) block.Source {
	if r.file != nil {
		return block.AssumeValid(block.Source(&shardFile{r.file, runs}))
	}
	blocks := make([]*block.Block, len(runs))
	for i, number := range runs {
		b := *r.runs[number]
		b.First = int64(i) * block.ChunkRows
		blocks[i] = &b
	}
	return block.AssumeValid(block.Source(block.NewData(r.src.Spec(), blocks)))
}

// A shardFile is the rows of some runs of a file, as a source.
type shardFile struct {
	block.Seekable
	runs []int64
}

func (f *shardFile) Rows() int64 {
	n := int64(len(f.runs))
	return min(n*block.ChunkRows, (n-1)*block.ChunkRows+f.Seekable.Rows()-f.runs[n-1]*block.ChunkRows)
}

// ReadChunk reads chunk c of the shard; see block.Seekable.
func (f *shardFile) ReadChunk(c int, to *block.Block) error {
	return f.Seekable.ReadChunk(int(f.runs[c/eighthsPerChunk])*eighthsPerChunk+c%eighthsPerChunk, to)
}

// ReadRows reads rows of the shard, which have their numbers in the shard; see block.Seekable.
func (f *shardFile) ReadRows(rows []uint32, to *block.Block) error {
	all := make([]uint32, len(rows))
	for i, row := range rows {
		all[i] = uint32(f.runs[row/block.ChunkRows])*block.ChunkRows + row%block.ChunkRows
	}
	return f.Seekable.ReadRows(all, to)
}

// A buffer has room for the rows of a run.
type buffer struct {
	run   *block.Block
	rows  *block.Block // the rows of run that are in use
	chunk *block.Block // a chunk of sparse rows
}

// Blocks yields the runs. While one run is in use, the next runs are read.
func (f *shardFile) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	buffers := make([]*buffer, min(block.InFlight, len(f.runs)))
	for i := range buffers {
		buffers[i] = new(buffer)
		if b := buffers[i]; f.Sparse() {
			b.run, b.chunk = block.NewSparseFor(f.Spec(), 0, block.ChunkRows, 0), block.NewSparseFor(f.Spec(), 0, kernel.EighthRows, 0)
		} else {
			b.run = block.NewFor(f.Spec(), 0, block.ChunkRows)
		}
	}
	return func(yield func(*block.Block, error) bool) {
		for b, err := range parallel.Prefetch(ctx, len(f.runs), buffers, func(i int, b *buffer) func() error {
			return func() error { return f.read(i, b) }
		}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(b.rows, nil) {
				return
			}
		}
	}
}

// read reads run i of the shard into b.
func (f *shardFile) read(i int, b *buffer) error {
	first := int64(i) * block.ChunkRows
	rows := int(min(block.ChunkRows, f.Rows()-first))
	if f.Sparse() {
		b.run.Clear(first)
	} else {
		b.rows = b.run.Slice(0, rows)
		b.rows.First = first
	}
	for lo := 0; lo < rows; lo += kernel.EighthRows {
		c := i*eighthsPerChunk + lo/kernel.EighthRows
		if !f.Sparse() {
			if err := f.ReadChunk(c, b.run.Slice(lo, lo+kernel.EighthRows)); err != nil {
				return err
			}
			continue
		}
		if err := f.ReadChunk(c, b.chunk); err != nil {
			return err
		}
		for r := range min(rows-lo, b.chunk.Len()) {
			b.run.AppendRow(b.chunk, r)
		}
	}
	if f.Sparse() {
		b.rows = b.run
	}
	return nil
}
