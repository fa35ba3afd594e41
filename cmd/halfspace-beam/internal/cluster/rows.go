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

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/internal/memory"
	"halfspace/internal/objects"
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
		rows, err = rowsOfChunks(ctx, &chunkCache, o, path.Dir(folder), chunks)
	}
	var ownArgs, result []byte
	if err == nil && o.HasOwnArgs {
		if ownArgs, err = readSealed(ctx, folder+"/"+ownArgsName(piece)); err != nil {
			return err
		}
	}
	if err == nil {
		result, err = distributed.Run(ctx, p, ownArgs, rows, int(piece), o.Workers)
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

// chunkCache has the rows that this process keeps.
var chunkCache decodedChunks

// decodedChunks keeps chunks of the files that the last pass read.
type decodedChunks struct {
	mu      sync.Mutex
	key     string         // of the files and options
	sources []cache.Source // the local files when they were opened
	folder  string         // of the training that used them last
	plan    *dataset.Plan
	chunks  map[int64]*decodedChunk
	bytes   int64
	clock   int64
}

type decodedChunk struct {
	block   *block.Block
	lastUse int64 // by the clock of decodedChunks
}

// rowsOfChunks returns the rows of chunks as a source, whose rows are numbered from 0. Each block is a chunk. folder is the folder
// of the training.
func rowsOfChunks(ctx context.Context, d *decodedChunks, o *order, folder string, chunks []int64) (block.Source, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(ctx, o, folder); err != nil {
		return nil, err
	}
	d.clock++
	for _, chunk := range chunks {
		if d.chunks[chunk] == nil {
			if err := d.load(ctx, chunk, o.Files.Rows); err != nil {
				return nil, err
			}
		}
		d.chunks[chunk].lastUse = d.clock
	}
	blocks := make([]*block.Block, len(chunks))
	for i, chunk := range chunks {
		b := *d.chunks[chunk].block
		b.First = int64(i) * block.ChunkRows
		blocks[i] = &b
	}
	d.evictOldest()
	return block.AssumeValid(block.NewData(o.Files.Plan.Spec(), blocks)), nil
}

// open opens the files of an order, unless they are open. It opens them again if they changed since then, unless that was for the
// same training: its earlier passes read other rows.
func (d *decodedChunks) open(ctx context.Context, o *order, folder string) error {
	key, err := distributed.Encode(o.Files)
	if err != nil {
		return err
	}
	sources, err := localSourcesOf(o.Files.Plan.Paths)
	if err != nil {
		return err
	}
	if d.folder != folder {
		if err := checkFingerprints(o); err != nil {
			return err
		}
	}
	if d.key == string(key) {
		if slices.Equal(d.sources, sources) {
			d.folder = folder
			return nil
		}
		if d.folder == folder {
			return fmt.Errorf("%s: the data changed while it was read: try again", o.Files.Plan.Paths[0])
		}
	}
	plan, err := o.Files.Plan.Plan(ctx, o.Workers)
	if err != nil {
		return err
	}
	objects.Keep(o.Files.Plan.Paths...)
	d.plan, d.key, d.sources, d.folder, d.chunks, d.bytes = plan, string(key), sources, folder, map[int64]*decodedChunk{}, 0
	return nil
}

// localSourcesOf returns the local files among paths as they are now. The versions of objects are in the options of an order.
func localSourcesOf(paths []string) ([]cache.Source, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return files.Scheme(p) != "" })
	return dataset.SourcesOf(paths)
}

// fingerprintsOf returns a fingerprint of each file: of a local file its size and the SHA-256 of its first and last 64 KiB, "" of an
// object. A Parquet file ends with the places and statistics of its columns. So a file that was replaced by another file has another
// fingerprint, and a copy on another host has the same fingerprint.
func fingerprintsOf(paths []string) ([]string, error) {
	fingerprints := make([]string, len(paths))
	for i, path := range paths {
		if files.Scheme(path) != "" {
			continue
		}
		var err error
		if fingerprints[i], err = fingerprintOf(path); err != nil {
			return nil, err
		}
	}
	return fingerprints, nil
}

func fingerprintOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	const endBytes = 64 << 10
	sum, size := sha256.New(), info.Size()
	for _, at := range []int64{0, max(0, size-endBytes)} {
		if _, err := io.Copy(sum, io.NewSectionReader(f, at, endBytes)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d bytes, %x", size, sum.Sum(nil)), nil
}

// checkFingerprints returns an error if this process sees other files than the driver.
func checkFingerprints(o *order) error {
	for i, path := range o.Files.Plan.Paths {
		if i >= len(o.Fingerprints) || o.Fingerprints[i] == "" {
			continue
		}
		switch fingerprint, err := fingerprintOf(path); {
		case err != nil:
			return err
		case fingerprint != o.Fingerprints[i]:
			return fmt.Errorf("%s: a worker sees another file than the process that trains: give all hosts the same "+
				"file, and try again", path)
		}
	}
	return nil
}

// windowChunks is the number of chunks that are decoded together. A page of a Parquet file often holds more rows than a chunk, and other
// pieces need those around.
const windowChunks = 32

// load decodes a chunk, with those beside it in its window that are missing.
func (d *decodedChunks) load(ctx context.Context, chunk, rows int64) error {
	first, last := chunk, chunk+1
	for first%windowChunks > 0 && d.chunks[first-1] == nil {
		first--
	}
	for last%windowChunks > 0 && last*block.ChunkRows < rows && d.chunks[last] == nil {
		last++
	}
	blocks, err := d.plan.LoadRange(ctx, first*block.ChunkRows, min(rows, last*block.ChunkRows), rows)
	if err != nil {
		return err
	}
	for i, b := range blocks {
		d.chunks[first+int64(i)] = &decodedChunk{b, d.clock}
		d.bytes += d.plan.Bytes(int64(b.Len()), b.W != nil)
	}
	return nil
}

// evictOldest forgets the chunks that were not used for longest, if all take more than half of the memory.
func (d *decodedChunks) evictOldest() {
	for limit := memory.Available() / 2; d.bytes > limit; {
		oldestUse, oldestChunk := d.clock, int64(-1)
		for chunk, k := range d.chunks {
			if k.lastUse < oldestUse {
				oldestUse, oldestChunk = k.lastUse, chunk
			}
		}
		if oldestChunk < 0 {
			return
		}
		b := d.chunks[oldestChunk].block
		d.bytes -= d.plan.Bytes(int64(b.Len()), b.W != nil)
		delete(d.chunks, oldestChunk)
	}
}
