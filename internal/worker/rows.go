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
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/message"
	"halfspace/internal/objects"
)

// A table has decoded chunks of the files of one plan.
type table struct {
	paths    []string
	sources  []cache.Source // the local files when they were opened
	training string         // that used the table last
	plan     *dataset.Plan
	rows     int64 // number of rows of the files
	chunks   map[int64]*decodedChunk
	kept     int64 // bytes of the chunks that no piece uses
	pieces   int   // number of pieces that use the table
	lastUse  int64 // by the clock of the Worker
}

type decodedChunk struct {
	block   *block.Block // nil until the chunk is decoded
	pieces  int          // number of pieces that use the chunk
	lastUse int64        // by the clock of the Worker
}

// rows returns the rows of chunks as a source, whose rows are numbered from 0. Each block is a chunk. rows waits while the rows of other
// pieces take the memory. The rows count as memory in use until the caller calls release.
func (w *Worker) rows(ctx context.Context, t *Training, chunks []int64) (rows block.Source, release func(), err error) {
	d, err := w.enter(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	taken, err := w.take(ctx, d, chunks)
	if err != nil {
		w.leave(d, nil, 0)
		return nil, nil, err
	}
	blocks, err := w.blocks(ctx, d, t, chunks)
	if err != nil {
		w.leave(d, chunks, taken)
		return nil, nil, err
	}
	return block.AssumeValid(block.NewData(t.Files.Plan.Spec(), blocks)), func() { w.leave(d, chunks, taken) }, nil
}

// enter returns the table of a training, which stays until leave is called.
func (w *Worker) enter(ctx context.Context, t *Training) (*table, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, err := w.open(ctx, t)
	if err != nil {
		return nil, err
	}
	w.clock++
	d.lastUse = w.clock
	d.pieces++
	return d, nil
}

// take waits until there is memory for chunks, whether they are decoded yet or not. It takes all of it at once: pieces that took it chunk
// by chunk could wait for each other. It returns the bytes for leave.
func (w *Worker) take(ctx context.Context, d *table, chunks []int64) (taken int64, err error) {
	for _, chunk := range chunks {
		taken += d.bytesOf(chunk)
	}
	if taken > w.mostBytes && w.memory > 0 {
		const mebibyte = 1 << 20
		needed := 2 * (taken + d.bytesOf(0)) // other shards may have a chunk more
		return 0, fmt.Errorf("%s of the rows take %s, and at most %s, half of the memory, may hold rows: give %d MiB with %s, "+
			"or use more shards", humanize.Plural(int64(len(chunks)), "chunk"), humanize.Size(taken), humanize.Size(w.mostBytes),
			(needed+mebibyte-1)/mebibyte, message.Translate(w.option))
	}
	taken = min(taken, w.mostBytes) // nobody set a limit: the piece computes alone
	if err := w.inUse.Acquire(ctx, taken); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken += taken
	for _, chunk := range chunks {
		k := d.chunks[chunk]
		if k == nil {
			k = new(decodedChunk)
			d.chunks[chunk] = k
		} else if k.pieces == 0 {
			d.kept -= d.bytesOf(chunk)
		}
		k.pieces++
	}
	w.evict(d, w.limit())
	return taken, nil
}

// leave ends the use of a table by a piece, and of the chunks for which the piece took memory.
func (w *Worker) leave(d *table, chunks []int64, taken int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d.pieces--
	for _, chunk := range chunks {
		k := d.chunks[chunk]
		if k.pieces--; k.pieces > 0 {
			continue
		}
		if k.block == nil { // an error came first
			delete(d.chunks, chunk)
		} else {
			d.kept += d.bytesOf(chunk)
		}
	}
	w.taken -= taken
	w.inUse.Release(taken)
}

// blocks returns chunks for which take was called, and decodes the missing ones.
func (w *Worker) blocks(ctx context.Context, d *table, t *Training, chunks []int64) ([]*block.Block, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock++
	blocks := make([]*block.Block, len(chunks))
	for i, chunk := range chunks {
		k := d.chunks[chunk]
		if k.block == nil {
			if err := w.load(ctx, d, chunk, t); err != nil {
				return nil, err
			}
		}
		k.lastUse = w.clock
		b := *k.block
		b.First = int64(i) * block.ChunkRows
		blocks[i] = &b
	}
	return blocks, nil
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
	sources, err := localSourcesOf(&t.Files.Plan)
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
	d = &table{paths: t.Files.Plan.Paths, sources: sources, training: t.Name, plan: plan, rows: t.Files.Rows,
		chunks: map[int64]*decodedChunk{}, lastUse: w.clock + 1}
	w.tables[key] = d
	if len(w.tables) > mostTables {
		w.dropOldest(d)
	}
	w.keepObjects()
	return d, nil
}

// dropOldest drops the table that was not used for longest, but neither the table kept nor one that a piece uses. It returns false if there
// is no other table.
func (w *Worker) dropOldest(kept *table) bool {
	oldest := ""
	for key, d := range w.tables {
		if d != kept && d.pieces == 0 && (oldest == "" || d.lastUse < w.tables[oldest].lastUse) {
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

// localSourcesOf returns the local files of a plan as they are now. The versions of objects are in the options of a Training.
func localSourcesOf(plan *dataset.SharedPlan) ([]cache.Source, error) {
	return dataset.SourcesOf(slices.DeleteFunc(plan.LocalFiles(), func(p string) bool { return p == "" }))
}

// fingerprintsOf returns a fingerprint for each path of a plan: of a local file its size and the SHA-256 of its first and last 64 KiB,
// "" of an object. A Parquet file ends with the places and statistics of its columns. So a file that was replaced by another file has
// another fingerprint, and a copy on another host has the same fingerprint. A commit of a Delta table names files that don't change.
func fingerprintsOf(plan *dataset.SharedPlan) ([]string, error) {
	fingerprints := make([]string, len(plan.Paths))
	for i, path := range plan.LocalFiles() {
		if path == "" {
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
	for i, path := range t.Files.Plan.LocalFiles() {
		if i >= len(t.Fingerprints) || t.Fingerprints[i] == "" {
			continue
		}
		fingerprint := ""
		if path != "" {
			var err error
			if fingerprint, err = fingerprintOf(path); err != nil {
				return err
			}
		}
		if fingerprint != t.Fingerprints[i] {
			return fmt.Errorf("%s: a worker sees another file than the process that trains: give all hosts the same "+
				"file, and try again", t.Files.Plan.Paths[i])
		}
	}
	return nil
}

// windowChunks is the number of chunks that are decoded together, if they take little memory. A page of a Parquet file often holds more
// rows than a chunk, and other pieces need those around.
const windowChunks = 32

// load decodes a chunk, with those beside it in its window that are missing. Pieces took the memory of some of these chunks. For the
// others load drops chunks that no piece uses.
func (w *Worker) load(ctx context.Context, d *table, chunk int64, t *Training) error {
	chunkBytes, limit := max(1, d.plan.Bytes(block.ChunkRows, true)), w.limit()
	begin, end := windowOf(t.Parts, chunk, max(1, min(windowChunks, limit/4/chunkBytes)))
	others, mostOthers := int64(0), (limit-w.taken)/chunkBytes // that no piece took
	missing := func(chunk int64) bool {
		k := d.chunks[chunk]
		if k == nil && others < mostOthers {
			others++
			return true
		}
		return k != nil && k.block == nil
	}
	first, last := chunk, chunk+1
	for last < end && last*block.ChunkRows < d.rows && missing(last) {
		last++
	}
	for first > begin && missing(first-1) {
		first--
	}
	w.evict(d, limit-others*chunkBytes)
	blocks, err := d.plan.LoadRange(ctx, first*block.ChunkRows, min(d.rows, last*block.ChunkRows), d.rows)
	if err != nil {
		return err
	}
	for i, b := range blocks {
		n := first + int64(i)
		if d.chunks[n] == nil {
			d.chunks[n] = new(decodedChunk)
			d.kept += d.bytesOf(n)
		}
		d.chunks[n].block, d.chunks[n].lastUse = b, w.clock
	}
	return nil
}

// bytesOf returns the bytes of memory that a chunk takes, with sample weights.
func (d *table) bytesOf(chunk int64) int64 {
	return d.plan.Bytes(min(block.ChunkRows, d.rows-chunk*block.ChunkRows), true)
}

// evict forgets tables that no piece uses, but not the table kept, and then chunks that no piece uses, those not used for longest first,
// until the others take at most limit bytes.
func (w *Worker) evict(kept *table, limit int64) {
	for w.bytes() > limit && w.dropOldest(kept) {
	}
	for w.bytes() > limit {
		var from *table
		var oldest int64
		for _, d := range w.tables {
			for chunk, k := range d.chunks {
				if k.pieces == 0 && (from == nil || k.lastUse < from.chunks[oldest].lastUse) {
					from, oldest = d, chunk
				}
			}
		}
		if from == nil {
			return
		}
		from.kept -= from.bytesOf(oldest)
		delete(from.chunks, oldest)
	}
}

// bytes returns the bytes of memory that the chunks of all tables take, and that pieces took for chunks.
func (w *Worker) bytes() int64 {
	all := w.taken
	for _, d := range w.tables {
		all += d.kept
	}
	return all
}

// limit returns the most bytes of memory that chunks may take.
func (w *Worker) limit() int64 {
	if w.memory > 0 {
		return w.mostBytes
	}
	return memory.Available() / 2
}
