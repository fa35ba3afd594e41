package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/lake"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/source"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/internal/passes"
	"halfspace/schema"
)

// LoadRange reads the kept rows from first up to, but not including, last of files with rows kept rows in all. It
// returns them as chunks: blocks of block.ChunkRows rows, whose First is the number of their first row among all rows.
// first must be a multiple of block.ChunkRows. From Parquet files it decodes only the pages with these rows, unless
// rows are dropped. From other files it also reads the rows before them. Options.Spec must be set.
func (p *Plan) LoadRange(ctx context.Context, first, last, rows int64) ([]*block.Block, error) {
	switch {
	case p.bound.Plan.Spec == nil:
		return nil, errors.New("a range of rows needs Options.Spec, which has the classes")
	case first%block.ChunkRows != 0 || first < 0 || last > rows || first >= last:
		return nil, fmt.Errorf("rows %d to %d of %d are no chunks", first, last, rows)
	}
	batches, at, total := p.in.Batches, int64(0), rows
	if files, ok := p.in.(*parquetfile.Input); ok && !p.bound.Drops() {
		if files.Rows != rows {
			return nil, changed(p.in.Name())
		}
		buffers := parquetfile.NewPool(p.table.mem)
		defer buffers.Close()
		files.Bound(buffers, cap(p.table.pool))
		batches, at, total = files.Only(parquetfile.RowRange{First: first, Last: last}, buffers).Batches, first, last
	}
	var chunks []*block.Block
	signs := transform.Signs(p.bound.Plan.Spec)
	all := transform.NewBuilder(p.bound, transform.NewLabels(p.bound.Plan.Spec), p.table.pool, p.table.mem, total, nil)
	b := all.ForRows(transform.NewLabels(p.bound.Plan.Spec), p.table.pool, at, total, func(full *block.Block, _ []arrow.Array) error {
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
	b.BlockRows = block.ChunkRows // a chunk that is kept must not keep the memory of others
	if err := b.Run(ctx, batches(ctx, p.table.pool, p.table.mem), nil); err != transform.ErrEnough {
		if err == nil {
			err = changed(p.in.Name())
		}
		return nil, err
	}
	return slices.Clip(chunks), nil
}

// A SharedPlan is a plan for other processes, which see the same files. It has all that they need to read the same blocks.
type SharedPlan struct {
	Paths           []string // which don't depend on the working directory
	text            TextOptions
	raw             bool
	labels, weights string // paths of arrays, as in Options
	memory          int64  // as Options.Memory
	plan            plan.Plan
	versions        []files.Version // of the files in object stores; nil: any version
	constants       source.Constants
}

// Fields returns pointers to the fields, for the messages to other processes.
func (s *SharedPlan) Fields() []any {
	return []any{&s.Paths, &s.text, &s.raw, &s.labels, &s.weights, &s.memory, &s.plan, &s.versions, &s.constants}
}

// LocalFiles returns, for each of Paths, the local file by whose content processes can tell whether they see the same data:
// the file itself, or the commit of a Delta table's version. It is "" for an object of a store.
func (s *SharedPlan) LocalFiles() (all []string) {
	for _, p := range s.Paths {
		all = append(all, source.LocalFile(p))
	}
	return all
}

// Spec describes the features and classes of the blocks.
func (s *SharedPlan) Spec() *schema.Spec { return s.plan.Spec }

// Shared returns the plan for other processes. spec describes the features and classes of the blocks. If another process
// finds other versions of the files in object stores, opening them returns an error.
func (p *Plan) Shared(spec *schema.Spec) SharedPlan {
	shared := p.table.shared(p.bound.Plan)
	shared.memory, shared.plan.Spec, shared.plan.Inputs, shared.plan.Storage = 0, spec, nil, Dense
	if p.bound.Sparse {
		shared.plan.Storage = Sparse
	}
	return shared
}

func (t *Table) shared(p plan.Plan) SharedPlan {
	p.Notes = nil
	s := SharedPlan{Paths: absolute(t.source.Named), raw: t.opt.Raw, text: t.opt.Text, memory: t.opt.Memory,
		plan: p, versions: t.source.Versions(), constants: t.source.Constants}
	if t.opt.Labels != "" {
		s.labels = absolute([]string{t.opt.Labels})[0]
	}
	if t.opt.Weights != "" {
		s.weights = absolute([]string{t.opt.Weights})[0]
	}
	return s
}

// planner examines the files of a shared plan in workers goroutines, and returns the planner of the plan.
func (s *SharedPlan) planner(ctx context.Context, workers int) (planner, error) {
	src, err := lake.List(ctx, s.Paths, rank, source.Choice{Raw: s.raw})
	if err != nil {
		return planner{}, err
	}
	src.Constants, src.Expected = s.constants, s.versions
	opt := Options{Text: s.text, Raw: s.raw, Labels: s.labels, Weights: s.weights, Memory: s.memory, Workers: workers}
	t, err := examine(ctx, src, opt, memory.DefaultAllocator)
	if err != nil {
		return planner{}, err
	}
	return planner{table: t, request: plan.Draft{Plan: s.plan, MakesBlocks: true,
		CountsRows: s.plan.Storage.Widest() > schema.MaxFeatures}}, nil
}

// Plan makes the plan in this process, which computes in workers goroutines; 0: GOMAXPROCS.
func (s *SharedPlan) Plan(ctx context.Context, workers int) (*Plan, error) {
	d, err := s.planner(ctx, workers)
	if err != nil {
		return nil, err
	}
	return d.plan(ctx)
}

// An Engine opens the rows of a plan in other processes, which make passes over them. rows is the number of these rows. For
// the plan without a file, it returns the processes that learn the features; see Options.Cluster. memory is Options.Memory,
// the limit of the pieces that this process computes.
type Engine func(plan SharedPlan, rows, memory int64) (block.Cluster, error)

// distributedRows is a stream whose rows a cluster reads too.
type distributedRows struct {
	*Stream
	cluster block.Cluster
}

// Remote returns the cluster; see block.Remote.
func (d distributedRows) Remote() (block.Cluster, []block.View) { return d.cluster, nil }

// openDistributed returns rows over which a cluster makes passes; see Budget.Engine.
func (p *Plan) openDistributed(ctx context.Context, of Engine) (*Rows, error) {
	stream, err := p.streamed(ctx)
	if err != nil {
		return nil, err
	}
	cluster, err := of(p.Shared(stream.Spec()), stream.Rows(), p.table.opt.Memory)
	if err != nil {
		return nil, err
	}
	return p.rowsOf(distributedRows{stream, cluster}), nil
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

// otherProcesses are the processes of Options.Cluster, and the data with which they open the files. Each of their tasks is
// for a range of the rows.
type otherProcesses struct {
	cluster block.Cluster
	files   sharedFiles
}

// sharedFiles are files whose rows are cut into ranges.
type sharedFiles struct {
	shared SharedPlan
	ranges []parquetfile.RowRange
}

func (s *sharedFiles) Fields() []any { return []any{&s.shared, &s.ranges} }

// rangeChunks is the smallest number of chunks in a range. A page often holds the rows of several chunks, and is decoded
// for each range that has some of these rows. Tests use a smaller number.
var rangeChunks int64 = 32

// mostRanges is the largest number of ranges. With that many ranges, processes of different speeds end at about the
// same time.
const mostRanges = 256

// othersOf returns the other processes, or nil if this process reads the files alone.
func othersOf(t *Table, in *openedInput, cluster block.Cluster) *otherProcesses {
	files, is := in.Input.(*parquetfile.Input)
	if !is || cluster == nil || in.bound.Plan.Spec != nil || in.bound.Drops() || in.bound.Plan.HashTexts {
		return nil
	}
	o := &otherProcesses{cluster, sharedFiles{shared: t.shared(in.bound.Plan)}}
	o.files.ranges = rangesOf(files)
	return o
}

// rangesOf cuts the rows of files into ranges of whole chunks. A file whose rows end with a chunk ends a range, unless there are many
// files: another process may have some of the files alone.
func rangesOf(in *parquetfile.Input) (ranges []parquetfile.RowRange) {
	each := max(rangeChunks, in.Rows/block.ChunkRows/mostRanges+1) * block.ChunkRows
	for first, end := int64(0), int64(0); first < in.Rows; first = end {
		end = min(in.Rows, first+each)
		if file := in.FileEnd(first); file%block.ChunkRows == 0 && len(in.Files) <= mostRanges {
			end = min(end, file)
		}
		ranges = append(ranges, parquetfile.RowRange{First: first, Last: end})
	}
	return ranges
}

// positions returns the share of the rows before each range.
func (s *sharedFiles) positions() (shares []float64) {
	rows := s.ranges[len(s.ranges)-1].Last
	for _, r := range s.ranges {
		shares = append(shares, float64(r.First)/float64(rows))
	}
	return shares
}

// learn lets the other processes compute everything that the features of bound depend on, and returns the binding with it.
// rows is the number of all rows, for progress. learned is nil if this process must read the rows itself: there are no
// other processes, they can't learn parts, or they found an error that this process must find again to report it.
func (o *otherProcesses) learn(ctx context.Context, bound *transform.Binding, rows int64, p column.Pool,
	progress func(rows, total int64)) (learned *transform.Binding, err error) {
	if o == nil || !bound.Parted() {
		return nil, nil
	}
	st, done := transform.NewStatistics(bound, p), true
	err = learnTask.EachAt(ctx, o.cluster, o.files, o.files.positions(), func(part *transform.Learned) error {
		if done = done && part != nil && st.Merge(part); done && progress != nil {
			progress(st.Input, rows)
		}
		return nil
	})
	if done && err == nil {
		learned, _ = st.Finish("")
	}
	return learned, err
}

// allLabels numbers the classes of all kept rows and returns the number of these rows.
func (p *Plan) allLabels(ctx context.Context, l *transform.Labels) (rows int64, err error) {
	done := p.processes != nil && p.bound.Label >= 0
	if done {
		ranges := p.processes.files.ranges
		err = labelsTask.EachAt(ctx, p.processes.cluster, p.processes.files, p.processes.files.positions(),
			func(part []schema.Class) error {
				_, what := l.Add(&transform.Labels{Classes: part})
				rows, ranges = ranges[0].Last, ranges[1:]
				if done = done && part != nil && what == ""; done && p.table.opt.Progress != nil {
					p.table.opt.Progress(passLabels, rows, p.in.Total())
				}
				return nil
			})
	}
	if !done && err == nil {
		*l = *transform.NewLabels(p.bound.Plan.Spec)
		rows, err = p.numberClasses(ctx, l, p.table.opt.progressOf(passLabels), nil)
	}
	return rows, err
}

// learnTask computes everything that features depend on. labelsTask finds the classes, in the order in which they
// appear. If there is an error, their results are nil. Then the process that requested the task reads the files
// itself, and returns the first error.
var (
	learnTask = passes.NewTask("dataset.learn",
		func(ctx context.Context, piece passes.Piece, f sharedFiles) (learned *transform.Learned, err error) {
			return learned, f.read(ctx, piece, func(p *Plan) (err error) {
				learned, err = p.bound.LearnPart(ctx, p.table.pool, p.in.Batches(ctx, p.table.pool, p.table.mem))
				return err
			})
		})
	labelsTask = passes.NewTask("dataset.labels",
		func(ctx context.Context, piece passes.Piece, f sharedFiles) (classes []schema.Class, err error) {
			return classes, f.read(ctx, piece, func(p *Plan) error {
				l := transform.NewLabels(nil)
				_, err := p.numberClasses(ctx, l, p.table.opt.progressOf(passLabels), nil)
				if err == nil {
					classes = l.Classes
				}
				return err
			})
		})
)

// read calls do with the range of a piece. It returns the error of ctx, or an error if the range doesn't exist. It
// doesn't return errors of files.
func (f *sharedFiles) read(ctx context.Context, piece passes.Piece, do func(*Plan) error) error {
	if piece.Number >= len(f.ranges) {
		return errors.New("there is no such range of the rows: the programs of the cluster differ: use the same version everywhere")
	}
	pool, err := column.PoolOf(piece.Workers)
	if err != nil {
		return err
	}
	p, err := lastPlan.open(ctx, f)
	if err != nil {
		return ctx.Err()
	}
	buffers := parquetfile.NewPool(memory.DefaultAllocator)
	defer buffers.Close()
	files, table := p.in.(*parquetfile.Input), *p.table
	files.Bound(buffers, cap(pool))
	table.pool = pool
	if do(&Plan{planner: planner{table: &table}, in: files.Only(f.ranges[piece.Number], buffers), bound: p.bound}) != nil {
		lastPlan.forget()
	}
	return ctx.Err()
}

// lastPlan is the plan of the last task. It keeps the files open.
var lastPlan openPlan

type openPlan struct {
	mu   sync.Mutex
	key  string
	plan *Plan
}

func (l *openPlan) open(ctx context.Context, f *sharedFiles) (*Plan, error) {
	key, err := distributed.Encode(*f)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plan != nil && l.key == string(key) {
		return l.plan, nil
	}
	d, err := f.shared.planner(ctx, 0)
	if err != nil {
		return nil, err
	}
	in, err := d.table.read(ctx, d.request)
	if err != nil {
		return nil, err
	}
	files, is := in.Input.(*parquetfile.Input)
	if last := f.ranges[len(f.ranges)-1].Last; !is || files.Rows != last {
		return nil, fmt.Errorf("%s: the files have %d rows here, and %d elsewhere", in.Name(), in.Total(), last)
	}
	l.key, l.plan = string(key), &Plan{planner: d, in: in.Input, bound: in.bound}
	l.plan.within(0)
	return l.plan, nil
}

// forget makes the next task open its files again.
func (l *openPlan) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plan = nil
}
