package online

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/learner"
)

// DealChunks returns the chunks of each shard in an epoch: their numbers, ascending. Of n chunks in order, shard s gets
// the chunks s*n/shards to (s+1)*n/shards-1, so the numbers of chunks of two shards differ by at most 1.
//
// In file order, the order of the chunks is the same in each epoch, and the chunks of a shard follow each other. For
// the other orders the chunks are permuted first, by Fisher and Yates with a PCG generator. Its first word is opt.Seed.
// Its second word is the complement of the epoch's number, and of 0 for learner.FixedShuffle. DealChunks returns an
// error if there are fewer chunks than shards.
func DealChunks(rows int64, opt *learner.Options, epoch int64) ([][]int64, error) {
	chunks := make([]int64, (rows+block.ChunkRows-1)/block.ChunkRows)
	shards := int(max(1, opt.Shards))
	if len(chunks) < shards {
		most := "1 shard"
		if len(chunks) > 1 {
			most = fmt.Sprintf("%d shards or fewer", len(chunks))
		}
		return nil, fmt.Errorf("%s make %s of %s, and there are %s shards: use %s", humanize.Plural(rows, "row"),
			humanize.Plural(int64(len(chunks)), "chunk"),
			humanize.Count(block.ChunkRows), humanize.Count(int64(shards)), most)
	}
	for i := range chunks {
		chunks[i] = int64(i)
	}
	if opt.Order != learner.Cyclic && shards > 1 {
		if opt.Order == learner.FixedShuffle {
			epoch = 0
		}
		learner.Permute(chunks, rand.NewPCG(opt.Seed, ^uint64(epoch)))
	}
	dealt := make([][]int64, shards)
	for s := range dealt {
		dealt[s] = chunks[s*len(chunks)/shards : (s+1)*len(chunks)/shards]
		slices.Sort(dealt[s])
	}
	return dealt, nil
}

// A ShardResult is the result of one shard in one epoch.
type ShardResult struct {
	Weights        []float32   // weights at the end of the epoch, with the stride of a block
	State          [][]float64 // the vectors of Rule.Vectors
	Loss           float64     // sum of the losses of the visits; 0 if the training doesn't use it
	Visits         int64
	Updates        int64
	ChangesNothing bool // no row of the shard would change the weights with which the epoch began
}

// Mix writes the mean of the weights of the shards to w. With learner.Uniform the shards have equal shares. With
// learner.Mistakes the share of a shard is its share of the updates. Without any update, w stays the same. Sums are made
// in float64 in the order of the shards. Mix returns the sum over the shards of updates times share. The sum of the
// returned numbers over the epochs is at most R^2/rho^2 (theorem 3 of McDonald, Hall and Mann).
func Mix(w []float32, shards []ShardResult, mix learner.Mix) (updates float64) {
	shares, all := make([]float64, len(shards)), 0.0
	for s, p := range shards {
		shares[s] = 1
		if mix == learner.Mistakes {
			shares[s] = float64(p.Updates)
		}
		updates += float64(shares[s] * float64(p.Updates))
		all += shares[s]
	}
	if all == 0 || updates == 0 {
		return 0
	}
	for i := range w {
		sum := 0.0
		for s, p := range shards {
			sum += float64(shares[s] * float64(p.Weights[i]))
		}
		w[i] = float32(sum / all)
	}
	return updates / all
}

// MeanState returns the means over the shards of the vectors of State, in new slices. All shards have equal shares. There
// must be one shard or more. Sums are made in the order of the shards.
func MeanState(shards []ShardResult) [][]float64 {
	means := make([][]float64, len(shards[0].State))
	for i := range means {
		means[i] = make([]float64, len(shards[0].State[i]))
		for _, p := range shards {
			f64.Axpy(means[i], 1, p.State[i])
		}
		for c := range means[i] {
			means[i][c] /= float64(len(shards))
		}
	}
	return means
}

const groupsPerChunk = block.ChunkRows / kernel.GroupRows

// A shardSource is the rows of a source, in a form from which shards can be made.
type shardSource struct {
	spec   *schema.Spec
	chunks []*block.Block // rows in memory
	file   block.Seekable // other rows
}

// newShardSource returns the rows of src, which must come from block.Validate. It returns an error unless src is a
// *block.Data or a block.Seekable.
func newShardSource(src block.Source) (*shardSource, error) {
	d := &shardSource{spec: src.Spec()}
	switch from := src.(type) {
	case *block.Data:
		for b, err := range from.Blocks(context.Background()) {
			if err != nil {
				return nil, err
			}
			for lo := 0; lo < b.Len(); lo += block.ChunkRows {
				d.chunks = append(d.chunks, b.Slice(lo, min(b.Len(), lo+block.ChunkRows)))
			}
		}
	case block.Seekable:
		d.file = from
	default:
		return nil, errors.New("shards need the rows in memory or in a cache file")
	}
	return d, nil
}

// shard returns the rows of the given chunks as a source. Its rows are numbered from 0. Each block is a chunk. Only the
// last chunk of all rows may be shorter than the other chunks, and it must be the last chunk of the shard.
func (d *shardSource) shard(chunks []int64) block.Source {
	if d.file != nil {
		return block.AssumeValid(block.Source(&shardFile{d.file, chunks}))
	}
	blocks := make([]*block.Block, len(chunks))
	for i, number := range chunks {
		b := *d.chunks[number]
		b.First = int64(i) * block.ChunkRows
		blocks[i] = &b
	}
	return block.AssumeValid(block.Source(block.NewData(d.spec, blocks)))
}

// A shardFile is the rows of some chunks of a file, as a source.
type shardFile struct {
	block.Seekable
	chunks []int64
}

func (f *shardFile) Rows() int64 {
	n := int64(len(f.chunks))
	return min(n*block.ChunkRows, (n-1)*block.ChunkRows+f.Seekable.Rows()-f.chunks[n-1]*block.ChunkRows)
}

// ReadGroup reads a group of the shard; see block.Seekable.
func (f *shardFile) ReadGroup(group int, to *block.Block) error {
	return f.Seekable.ReadGroup(int(f.chunks[group/groupsPerChunk])*groupsPerChunk+group%groupsPerChunk, to)
}

// ReadRows reads rows of the shard, which have their numbers in the shard; see block.Seekable.
func (f *shardFile) ReadRows(rows []uint32, to *block.Block) error {
	all := make([]uint32, len(rows))
	for i, row := range rows {
		all[i] = uint32(f.chunks[row/block.ChunkRows])*block.ChunkRows + row%block.ChunkRows
	}
	return f.Seekable.ReadRows(all, to)
}

// A buffer has room for the rows of a chunk.
type buffer struct {
	chunk *block.Block
	rows  *block.Block // the rows of chunk that are in use
	group *block.Block // a group of sparse rows
}

// Blocks yields the chunks. While one chunk is in use, the next chunks are read.
func (f *shardFile) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	buffers := make([]*buffer, min(block.BlocksInFlight, len(f.chunks)))
	for i := range buffers {
		if f.Sparse() {
			buffers[i] = &buffer{chunk: block.NewSparseFor(f.Spec(), 0, block.ChunkRows, 0),
				group: block.NewSparseFor(f.Spec(), 0, kernel.GroupRows, 0)}
		} else {
			buffers[i] = &buffer{chunk: block.NewFor(f.Spec(), 0, block.ChunkRows)}
		}
	}
	return func(yield func(*block.Block, error) bool) {
		for b, err := range parallel.Prefetch(ctx, len(f.chunks), buffers, func(i int, b *buffer) func() error {
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

func (f *shardFile) read(i int, b *buffer) error {
	first := int64(i) * block.ChunkRows
	rows := int(min(block.ChunkRows, f.Rows()-first))
	if b.rows = b.chunk; f.Sparse() {
		b.chunk.Clear(first)
	} else {
		b.rows = b.chunk.Slice(0, rows)
		b.rows.First = first
	}
	for lo := 0; lo < rows; lo += kernel.GroupRows {
		to := b.group
		if !f.Sparse() {
			to = b.chunk.Slice(lo, lo+kernel.GroupRows)
		}
		if err := f.ReadGroup(i*groupsPerChunk+lo/kernel.GroupRows, to); err != nil {
			return err
		}
		if f.Sparse() {
			for r := range min(rows-lo, to.Len()) {
				b.chunk.AppendRow(to, r)
			}
		}
	}
	return nil
}

// A Member learns from the rows of one shard in one epoch.
type Member interface {
	// Pass makes the remaining visits of the epoch. Once a checkpoint is due, Pass returns
	// errPause between two visits. It makes some visits before it pauses, because beginning may take longer than the
	// time between two checkpoints, and each call must make progress.
	Pass(ctx context.Context, epoch int64) error

	// Result returns the result of the shard in the epoch so far.
	Result() ShardResult

	// Visits returns the number of visits of the shard in the epoch so far.
	Visits() int64

	// State saves or restores the state of the shard between two visits.
	State(w *checkpoint.Walk)
}

// errPause ends the visits of a shard until the states of all shards are saved.
var errPause = errors.New("paused")

// Shards are the shards of a training. Between two epochs there are no members.
type Shards struct {
	opt       learner.Options
	count     int64                                              // number of rows
	rows      *shardSource                                       // nil if other processes read the rows
	newMember func(rows block.Source, shard int) (Member, error) // makes a member from the mixed weights
	// makes the passes of an epoch over the dealt chunks
	remoteEpoch func(context.Context, int64, [][]int64) (results []ShardResult, _ error)

	members []Member // members of the present epoch; nil between two epochs
	done    []bool   // members that have finished the epoch
}

// NewShards returns the shards of the rows of src, which must come from block.Validate. At the start of an epoch,
// newMember makes the member of each shard, with the mixed weights. If other processes read the rows, NewShards uses the
// function remoteEpoch in place of newMember: it makes the passes of an epoch there. dealt has the chunks of
// each shard, and remoteEpoch returns the results of the shards in the order of dealt. NewShards returns an error if
// there are too few rows, or if this process reads src and src is neither a *block.Data nor a block.Seekable.
func NewShards(src block.Source, opt learner.Options, newMember func(rows block.Source, shard int) (Member, error),
	remoteEpoch func(ctx context.Context, epoch int64, dealt [][]int64) ([]ShardResult, error)) (x *Shards, err error) {
	x = &Shards{opt: opt, count: src.Rows(), newMember: newMember, remoteEpoch: remoteEpoch}
	if passes.InProcess(src) {
		if x.rows, err = newShardSource(src); err != nil {
			return nil, err
		}
	}
	_, err = DealChunks(x.count, &opt, 0) // returns an error if there are too many shards
	return x, err
}

// CheckMemory returns an error if the weights of all shards don't fit in the memory beside the rows. each is the number
// of bytes of a shard.
func CheckMemory(task *learner.Task, each int64) error {
	shards := task.Settings.Shared().Shards
	if shards < 2 {
		return nil
	}
	limit, beside := memory.Limit(task.Memory), max(1, task.ParallelTrainings)
	if _, ok := task.Rows.(*block.Data); ok && task.Memory > 0 { // otherwise the limit is the free memory beside the rows
		limit -= task.HeldBytes
	}
	if float64(shards)*float64(each)*float64(beside) <= float64(limit) {
		return nil
	}
	text := ""
	if beside > 1 {
		text = fmt.Sprintf(", %d trainings go on at a time", beside)
	}
	return message.Errorf("the weights of %s take %s of memory each%s, and %s is left: use fewer with --shards, or "+
		"give more with --memory",
		humanize.Plural(shards, "shard"), humanize.Size(each), text, humanize.Size(max(0, limit)))
}

// Epoch makes an epoch of all shards, and returns their results in the order of the shards. It calls mark when a
// checkpoint is due. After an error, the next call continues where this call ended; other processes begin the epoch again.
func (x *Shards) Epoch(ctx context.Context, epoch int64, mark func()) ([]ShardResult, error) {
	if x.rows == nil {
		dealt, err := DealChunks(x.count, &x.opt, epoch)
		if err != nil {
			return nil, err
		}
		return x.remoteEpoch(ctx, epoch, dealt)
	}
	if x.members == nil {
		if err := x.deal(epoch); err != nil {
			return nil, err
		}
	}
	for slices.Contains(x.done, false) {
		if err := x.runMembers(ctx, epoch); err != nil {
			return nil, err
		}
		if x.opt.Checkpoint.Due(epoch) {
			mark()
		}
	}
	return x.TakeResults(), nil
}

func (x *Shards) deal(epoch int64) error {
	dealt, err := DealChunks(x.count, &x.opt, epoch)
	if err != nil {
		return err
	}
	each := make([]Member, len(dealt))
	for s, chunks := range dealt {
		if each[s], err = x.newMember(x.rows.shard(chunks), s); err != nil {
			return err
		}
	}
	x.members, x.done = each, make([]bool, len(dealt))
	return nil
}

// runMembers lets the members visit their rows, as many members at once as there are workers. It ends early if a
// checkpoint is due.
func (x *Shards) runMembers(ctx context.Context, epoch int64) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	var once sync.Once
	err := parallel.For(ctx, x.opt.Workers, len(x.members), func(_, s int) {
		if x.done[s] {
			return
		}
		err := x.members[s].Pass(ctx, epoch)
		if x.done[s] = err == nil; err != nil && err != errPause {
			once.Do(func() { failed = err })
			stop()
		}
	})
	return cmp.Or(failed, err)
}

// TakeResults returns the results of the epoch so far, and ends the epoch. It returns nil between two epochs.
func (x *Shards) TakeResults() (parts []ShardResult) {
	for _, member := range x.members {
		parts = append(parts, member.Result())
	}
	x.members = nil
	return parts
}

// visits returns the number of visits of all members in the present epoch.
func (x *Shards) visits() (visits int64) {
	for _, member := range x.members {
		visits += member.Visits()
	}
	return visits
}

// State saves or restores the members of the present epoch.
func (x *Shards) State(w *checkpoint.Walk, epoch int64) {
	within := x.members != nil
	if w.Bool(&within); !within {
		x.members = nil
		return
	}
	if w.IsReading() {
		if x.rows == nil {
			w.Fail(errors.New("its shards learned in one process"))
			return
		}
		if err := x.deal(epoch); err != nil {
			w.Fail(err)
			return
		}
	}
	for s, member := range x.members {
		w.Bool(&x.done[s])
		member.State(w)
	}
}
