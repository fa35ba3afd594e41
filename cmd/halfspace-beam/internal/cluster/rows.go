package cluster

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"sync"

	"halfspace/block"
	"halfspace/cmd/halfspace-beam/internal/objects"
	"halfspace/dataset"
	"halfspace/internal/cache"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/internal/memory"
	"halfspace/schema"
)

// computePiece computes a piece of the pass in a folder, and writes its result there.
func computePiece(ctx context.Context, folder string, piece int64) error {
	o, p, err := orders.get(ctx, folder)
	if err != nil {
		return err
	}
	if piece < 0 || piece >= int64(len(o.Pieces)) {
		return fmt.Errorf("%s: there is no piece %d", folder, piece)
	}
	rows := block.Source(block.NewData(new(schema.Spec), nil))
	if chunks := o.Pieces[piece]; len(chunks) > 0 {
		rows, err = rowsOf(ctx, &tables, o, path.Dir(folder), chunks)
	}
	var own, result []byte
	if err == nil && o.Own {
		if own, err = readSealed(ctx, folder+"/"+ownName(piece)); err != nil {
			return err
		}
	}
	if err == nil {
		result, err = distributed.Run(ctx, p, own, rows, int(piece), o.Workers)
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	return writeResult(ctx, folder, piece, result, err)
}

// orders keeps the order of the last pass.
var orders lastOrder

type lastOrder struct {
	mu     sync.Mutex
	folder string
	order  *order
	pass   block.Pass
}

func (l *lastOrder) get(ctx context.Context, folder string) (*order, block.Pass, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folder == folder {
		return l.order, l.pass, nil
	}
	text, err := readSealed(ctx, folder+"/order")
	if err != nil {
		return nil, block.Pass{}, err
	}
	o := new(order)
	if err := distributed.Decode(text, o); err != nil {
		return nil, block.Pass{}, fmt.Errorf("%s: %w", folder, err)
	}
	pass, err := distributed.DecodePass(o.Pass)
	if err != nil {
		return nil, pass, err
	}
	l.folder, l.order, l.pass = folder, o, pass
	return o, pass, nil
}

// tables are the rows that this process keeps.
var tables table

// A table keeps decoded chunks of the files that were asked for last.
type table struct {
	mu      sync.Mutex
	key     string         // of the files and options
	sources []cache.Source // the local files when they were opened
	folder  string         // of the training that used them last
	plan    *dataset.Plan
	chunks  map[int64]*kept
	bytes   int64
	clock   int64
}

type kept struct {
	rows *block.Block
	used int64 // by the clock of the table
}

// rowsOf returns the rows of some chunks as a source, whose rows are numbered from 0. Each block is a chunk. It is for a training that
// has a folder of its own.
func rowsOf(ctx context.Context, t *table, o *order, folder string, chunks []int64) (block.Source, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.open(ctx, o, folder); err != nil {
		return nil, err
	}
	t.clock++
	for _, chunk := range chunks {
		if t.chunks[chunk] == nil {
			if err := t.load(ctx, chunk, o.Files.Rows); err != nil {
				return nil, err
			}
		}
		t.chunks[chunk].used = t.clock
	}
	blocks := make([]*block.Block, len(chunks))
	for i, chunk := range chunks {
		b := *t.chunks[chunk].rows
		b.First = int64(i) * block.ChunkRows
		blocks[i] = &b
	}
	t.shrink()
	return block.AssumeValid(block.NewData(o.Files.Plan.Options.Spec, blocks)), nil
}

// open opens the files of an order, unless they are open. It opens them again if they changed since then, unless that was for the
// same training: its earlier passes read other rows.
func (t *table) open(ctx context.Context, o *order, folder string) error {
	key, err := distributed.Encode(o.Files)
	if err != nil {
		return err
	}
	now, err := localSources(o.Files.Plan.Paths)
	if err != nil {
		return err
	}
	if t.folder != folder {
		if err := checkMarks(o); err != nil {
			return err
		}
	}
	if t.key == string(key) {
		if slices.Equal(t.sources, now) {
			t.folder = folder
			return nil
		}
		if t.folder == folder {
			return fmt.Errorf("%s: the data changed while it was read: try again", o.Files.Plan.Paths[0])
		}
	}
	plan, err := o.Files.Plan.Plan(ctx, o.Workers)
	if err != nil {
		return err
	}
	objects.Keep(o.Files.Plan.Paths...)
	t.plan, t.key, t.sources, t.folder, t.chunks, t.bytes = plan, string(key), now, folder, map[int64]*kept{}, 0
	return nil
}

// localSources returns the local files among paths as they are now. The versions of objects are in the options of an order.
func localSources(paths []string) ([]cache.Source, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return files.Scheme(p) != "" })
	return dataset.SourcesOf(paths)
}

// marksOf returns a mark of each file: of a local one its size and the SHA-256 of its first and last 64 KiB, "" of an object. A Parquet
// file ends with the places and statistics of its columns. So a file that was replaced by another has another mark, and a copy on
// another host has the same.
func marksOf(paths []string) ([]string, error) {
	marks := make([]string, len(paths))
	for i, path := range paths {
		if files.Scheme(path) != "" {
			continue
		}
		var err error
		if marks[i], err = markOf(path); err != nil {
			return nil, err
		}
	}
	return marks, nil
}

func markOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	const end = 64 << 10
	sum, size := sha256.New(), info.Size()
	for _, at := range []int64{0, max(0, size-end)} {
		if _, err := io.Copy(sum, io.NewSectionReader(f, at, end)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d bytes, %x", size, sum.Sum(nil)), nil
}

// checkMarks returns an error if this process sees other files than the driver.
func checkMarks(o *order) error {
	for i, path := range o.Files.Plan.Paths {
		if i >= len(o.Marks) || o.Marks[i] == "" {
			continue
		}
		switch mark, err := markOf(path); {
		case err != nil:
			return err
		case mark != o.Marks[i]:
			return fmt.Errorf("%s: a worker sees another file than the process that trains: give all hosts the same "+
				"file, and try again", path)
		}
	}
	return nil
}

// window is the number of chunks that are decoded together. A page of a Parquet file often holds more rows than a chunk, and other
// pieces need those around.
const window = 32

// load decodes a chunk, with those beside it in its window that are missing.
func (t *table) load(ctx context.Context, chunk, rows int64) error {
	first, last := chunk, chunk+1
	for first%window > 0 && t.chunks[first-1] == nil {
		first--
	}
	for last%window > 0 && last*block.ChunkRows < rows && t.chunks[last] == nil {
		last++
	}
	blocks, err := t.plan.LoadRange(ctx, first*block.ChunkRows, min(rows, last*block.ChunkRows), rows)
	if err != nil {
		return err
	}
	for i, b := range blocks {
		t.chunks[first+int64(i)] = &kept{b, t.clock}
		t.bytes += t.plan.Bytes(int64(b.Len()), b.W != nil)
	}
	return nil
}

// shrink forgets the chunks that were not used for longest, if all take more than half of the memory.
func (t *table) shrink() {
	for limit := memory.Available() / 2; t.bytes > limit; {
		oldest, at := t.clock, int64(-1)
		for chunk, k := range t.chunks {
			if k.used < oldest {
				oldest, at = k.used, chunk
			}
		}
		if at < 0 {
			return
		}
		b := t.chunks[at].rows
		t.bytes -= t.plan.Bytes(int64(b.Len()), b.W != nil)
		delete(t.chunks, at)
	}
}
