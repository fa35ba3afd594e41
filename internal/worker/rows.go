package worker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/objects"
)

// A table has decoded chunks of the files of one plan.
type table struct {
	paths    []string
	sources  []cache.Source // the local files when they were opened
	training string         // that used the table last
	plan     *dataset.Plan
	chunks   map[int64]*decodedChunk
	bytes    int64
	lastUse  int64 // by the clock of the Worker
}

type decodedChunk struct {
	block   *block.Block
	lastUse int64 // by the clock of the Worker
}

// rows returns the rows of chunks as a source, whose rows are numbered from 0. Each block is a chunk.
func (w *Worker) rows(ctx context.Context, t *Training, chunks []int64) (block.Source, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, err := w.open(ctx, t)
	if err != nil {
		return nil, err
	}
	w.clock++
	d.lastUse = w.clock
	pieceBytes := int64(0)
	for _, chunk := range chunks {
		if d.chunks[chunk] == nil {
			if err := w.load(ctx, d, chunk, t); err != nil {
				return nil, err
			}
		}
		d.chunks[chunk].lastUse = w.clock
		if pieceBytes += d.bytesOf(d.chunks[chunk].block); w.memory > 0 && pieceBytes > w.memory/2 {
			return nil, fmt.Errorf("%s of the rows take more than half of the %s of memory that a worker has: "+
				"give workers more memory, or use more shards", humanize.Plural(int64(len(chunks)), "chunk"), humanize.Size(w.memory))
		}
		w.evict(d)
	}
	blocks := make([]*block.Block, len(chunks))
	for i, chunk := range chunks {
		b := *d.chunks[chunk].block
		b.First = int64(i) * block.ChunkRows
		blocks[i] = &b
	}
	return block.AssumeValid(block.NewData(t.Files.Plan.Spec(), blocks)), nil
}

// mostTables is the number of plans whose rows a worker keeps: trainings that alternate, as the trainings of folds do, read the files once.
const mostTables = 4

// open returns the table of a training. It opens the files again if they changed since then, unless that was for the same
// training: its earlier passes read other rows.
func (w *Worker) open(ctx context.Context, t *Training) (*table, error) {
	coded, err := distributed.Encode(t.Files)
	if err != nil {
		return nil, err
	}
	key := string(coded)
	sources, err := localSourcesOf(t.Files.Plan.Paths)
	if err != nil {
		return nil, err
	}
	d := w.tables[key]
	if d == nil || d.training != t.Name {
		if err := checkFingerprints(t); err != nil {
			return nil, err
		}
	}
	if d != nil && slices.Equal(d.sources, sources) {
		d.training = t.Name
		return d, nil
	}
	if d != nil && d.training == t.Name {
		return nil, fmt.Errorf("%s: the data changed while it was read: try again", t.Files.Plan.Paths[0])
	}
	plan, err := t.Files.Plan.Plan(ctx, t.Workers)
	if err != nil {
		return nil, err
	}
	if w.tables == nil {
		w.tables = map[string]*table{}
	}
	d = &table{paths: t.Files.Plan.Paths, sources: sources, training: t.Name, plan: plan, chunks: map[int64]*decodedChunk{},
		lastUse: w.clock + 1}
	w.tables[key] = d
	if len(w.tables) > mostTables {
		w.dropOldest(d)
	}
	w.keepObjects()
	return d, nil
}

// dropOldest drops the table that was not used for longest, but keeps the table kept. It returns false if there is no other table.
func (w *Worker) dropOldest(kept *table) bool {
	oldest := ""
	for key, d := range w.tables {
		if d != kept && (oldest == "" || d.lastUse < w.tables[oldest].lastUse) {
			oldest = key
		}
	}
	delete(w.tables, oldest)
	return oldest != ""
}

// keepObjects drops the local copies of objects that no table reads.
func (w *Worker) keepObjects() {
	var paths []string
	for _, d := range w.tables {
		paths = append(paths, d.paths...)
	}
	objects.Keep(paths...)
}

// localSourcesOf returns the local files among paths as they are now. The versions of objects are in the options of a Training.
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
func checkFingerprints(t *Training) error {
	for i, path := range t.Files.Plan.Paths {
		if i >= len(t.Fingerprints) || t.Fingerprints[i] == "" {
			continue
		}
		switch fingerprint, err := fingerprintOf(path); {
		case err != nil:
			return err
		case fingerprint != t.Fingerprints[i]:
			return fmt.Errorf("%s: a worker sees another file than the process that trains: give all hosts the same "+
				"file, and try again", path)
		}
	}
	return nil
}

// windowChunks is the number of chunks that are decoded together, if they take little memory. A page of a Parquet file often holds more
// rows than a chunk, and other pieces need those around.
const windowChunks = 32

// load decodes a chunk, with those beside it in its window that are missing.
func (w *Worker) load(ctx context.Context, d *table, chunk int64, t *Training) error {
	rows, first, last := t.Files.Rows, chunk, chunk+1
	size := max(1, min(windowChunks, w.limit()/4/max(1, d.plan.Bytes(block.ChunkRows, false))))
	begin, end := windowOf(t.Parts, chunk, size)
	for first > begin && d.chunks[first-1] == nil {
		first--
	}
	for last < end && last*block.ChunkRows < rows && d.chunks[last] == nil {
		last++
	}
	blocks, err := d.plan.LoadRange(ctx, first*block.ChunkRows, min(rows, last*block.ChunkRows), rows)
	if err != nil {
		return err
	}
	for i, b := range blocks {
		d.chunks[first+int64(i)] = &decodedChunk{b, w.clock}
		d.bytes += d.bytesOf(b)
	}
	return nil
}

// bytesOf returns the bytes of memory that a chunk takes.
func (d *table) bytesOf(b *block.Block) int64 { return d.plan.Bytes(int64(b.Len()), b.W != nil) }

// evict forgets tables, then chunks of the table in use, that were not used for longest, while all take more memory than the limit.
// It keeps the chunks that this call of rows uses.
func (w *Worker) evict(used *table) {
	limit := w.limit()
	for w.bytes() > limit && w.dropOldest(used) {
	}
	for used.bytes > limit {
		oldestUse, oldestChunk := w.clock, int64(-1)
		for chunk, k := range used.chunks {
			if k.lastUse < oldestUse {
				oldestUse, oldestChunk = k.lastUse, chunk
			}
		}
		if oldestChunk < 0 {
			return
		}
		used.bytes -= used.bytesOf(used.chunks[oldestChunk].block)
		delete(used.chunks, oldestChunk)
	}
}

// bytes returns the bytes of memory that the chunks of all tables take.
func (w *Worker) bytes() (all int64) {
	for _, d := range w.tables {
		all += d.bytes
	}
	return all
}

// limit returns the most bytes of memory that chunks may take.
func (w *Worker) limit() int64 {
	if w.memory > 0 {
		return w.memory / 2
	}
	return memory.Available() / 2
}
