package encode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/kernel"
	"halfspace/schema"
)

// A Builder cuts batches into blocks and hands each to emit when it is full.
//
// Labels are class numbers when emit gets them.
type Builder[T kernel.Float] struct {
	sel    *Selection
	Labels *Labels
	pool   frame.Pool
	mem    memory.Allocator // of what keep is put together in
	emit   func(b *block.Block[T], keep []arrow.Array) error

	Cols  int
	total int64           // rows that there will be; -1 where that isn't known
	Input int64           // rows of the input before the batch
	Rows  int64           // rows so far
	block *block.Block[T] // the one being filled; nil before its first row
	fill  int             // rows in it
	Spare *block.Block[T] // one to use again
	Live  bool            // a block ends with each batch
	All   *block.Block[T] // room for all rows, which blocks are parts of; nil: each is made when it is begun
	keep  [][]arrow.Array // of the rows in it, for each kept column

	keptBytes int64 // of keep, about

	texts   []*categories
	ones    []T
	zeros   []T
	losses  []losses     // of feature columns
	heavy   *atomic.Bool // some row doesn't weigh 0
	odd     *suspects    // nil but for the part that has the first rows
	scratch sync.Pool    // *scratch[T]
}

// maxKeptBytes is how many bytes of kept columns a block waits for more rows with.
const maxKeptBytes = 16 << 20

// scratch is what turning a panel of columns into rows needs.
type scratch[T kernel.Float] struct {
	columns [][]T
	values  []T
	wide    []float64 // of a column or a list, where features are standardized
}

func NewBuilder[T kernel.Float](sel *Selection, l *Labels, p frame.Pool, mem memory.Allocator, total int64,
	emit func(*block.Block[T], []arrow.Array) error) *Builder[T] {
	b := &Builder[T]{sel: sel, Labels: l, pool: p, mem: mem, total: total, emit: emit, Cols: sel.Width()}
	b.texts = newCategories(sel)
	b.losses, b.heavy = make([]losses, len(sel.Features)), new(atomic.Bool)
	b.odd = newSuspects(sel)
	if sel.Bias {
		b.Cols++
	}
	b.ones, b.zeros = make([]T, b.panel()), make([]T, b.panel())
	for i := range b.ones {
		b.ones[i] = 1
	}
	b.scratch.New = func() any {
		s := &scratch[T]{columns: make([][]T, b.Cols), values: make([]T, b.Cols*b.panel())}
		for _, c := range sel.Inputs {
			if n := max(b.panel(), c.Width()); c.Center != nil && n > len(s.wide) {
				s.wide = make([]float64, n)
			}
		}
		return s
	}
	b.keep = make([][]arrow.Array, len(sel.Keep))
	return b
}

// MakeRoom makes the memory of all blocks at once, if their rows are known: made one by one, they would have the garbage
// collector run each time the heap has doubled. A file that takes so many bytes may claim any number of rows, so that there
// is a bound to what is made before they were seen; more than the machine has would end the process.
func (b *Builder[T]) MakeRoom(stored int64) {
	const most, ratio = 1 << 30, 64
	bytes := float64(b.total) * float64(block.Bytes[T](1, b.Cols, b.sel.Weight >= 0))
	if b.total > 0 && b.sel.Nulls != schema.NullsDrop && bytes <= float64(min(max(most, ratio*stored), frame.AvailableMemory())) {
		b.All = b.NewBlock(0, int(b.total))
	}
}

// Part returns a builder of rows first to last of those of b, which shares with it what is noted for warnings.
func (b *Builder[T]) Part(l *Labels, p frame.Pool, first, last int64, emit func(*block.Block[T], []arrow.Array) error) *Builder[T] {
	part := NewBuilder(b.sel, l, p, b.mem, last, emit)
	part.texts, part.losses, part.heavy, part.All = b.texts, b.losses, b.heavy, b.All
	if part.odd = nil; first == 0 {
		part.odd = b.odd
	}
	part.Input, part.Rows = first, first
	return part
}

// panel is how many rows are transposed at a time.
func (b *Builder[T]) panel() int { return kernel.PanelRows[T](kernel.Stride[T](b.Cols)) }

// Run adds all batches, releases them, and emits the last block.
func (b *Builder[T]) Run(ctx context.Context, batches iter.Seq2[*frame.Batch, error], progress func(rows, total int64)) error {
	defer b.releaseKept()
	for batch, err := range batches {
		if err != nil {
			return err
		}
		err = b.Add(ctx, batch)
		batch.Release()
		if err == nil && b.Live && b.block != nil {
			err = b.flush()
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(b.Input, b.total)
		}
	}
	if b.block == nil {
		return nil
	}
	return b.flush()
}

func (b *Builder[T]) Add(ctx context.Context, bt *frame.Batch) error {
	var readers []reader[T]
	if bt.Pairs == nil {
		var err error
		if readers, err = newReaders[T](b.sel, b.texts, bt); err != nil {
			return err
		}
	}
	kept, err := b.sel.Kept(ctx, b.pool, bt)
	if err != nil {
		return b.damaged(ctx, bt, kept, err)
	}
	if b.total >= 0 && b.Rows+int64(kept.Len()) > b.total {
		return frame.ErrorIn(bt.File, "the data changed while it was read: try again")
	}
	for i := 0; i < kept.Len(); {
		if b.block == nil {
			b.start()
		}
		rows := kept.slice(i, min(kept.Len()-i, b.room()))
		if err := b.put(ctx, bt, readers, rows); err != nil {
			return err
		}
		for k, i := range b.sel.Keep {
			for _, span := range rows.Spans() {
				part := array.NewSlice(bt.Columns[i], int64(span.Lo), int64(span.Hi))
				b.keep[k] = append(b.keep[k], part)
				b.keptBytes += frame.RowSizes(part)(0, part.Len())
			}
		}
		i, b.fill, b.Rows = i+rows.Len(), b.fill+rows.Len(), b.Rows+int64(rows.Len())
		if b.room() == 0 {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	if b.odd != nil {
		if err := frame.Recovered(func() error { b.odd.Add(b.sel, bt); return nil }); err != nil {
			return b.damaged(ctx, bt, kept, err)
		}
	}
	b.Input += bt.Rows
	return nil
}

// room returns how many rows the block takes before it is to be emitted. Where the kept columns of its rows are large it ends
// with the run.
func (b *Builder[T]) room() int {
	left := b.block.Len() - b.fill
	if ended := b.fill % block.RunRows; b.keptBytes > maxKeptBytes && b.fill > 0 {
		return min(left, (block.RunRows-ended)%block.RunRows)
	}
	return left
}

// start begins a block.
func (b *Builder[T]) start() {
	b.fill = 0
	rows := b.blockRows(b.Rows)
	switch {
	case b.All != nil:
		b.block = b.All.Slice(int(b.Rows), int(b.Rows)+rows)
	case b.Spare != nil && b.Spare.Len() >= rows:
		b.block = b.Spare.Slice(0, rows)
		b.block.First = b.Rows
	default:
		b.block = b.NewBlock(b.Rows, rows)
	}
}

// blockRows returns how many rows the block has that begins with row first.
func (b *Builder[T]) blockRows(first int64) int {
	rows := block.Rows[T](b.Cols)
	if b.total >= 0 {
		rows = int(min(int64(rows), b.total-first))
	}
	return rows
}

func (b *Builder[T]) NewBlock(first int64, rows int) *block.Block[T] {
	blk := block.New[T](first, rows, b.Cols)
	if b.sel.Label < 0 {
		blk.Y = nil
	}
	if b.sel.Weight >= 0 {
		blk.W = block.Alloc[float64](rows)
	}
	return blk
}

// flush emits the block as far as it is filled.
func (b *Builder[T]) flush() error {
	full := b.block.Slice(0, b.fill)
	b.block = nil
	keep := make([]arrow.Array, len(b.keep))
	for k, parts := range b.keep {
		err := frame.Recovered(func() (err error) { // an array may not be what it says
			keep[k], err = array.Concatenate(parts, b.mem)
			return err
		})
		if err != nil {
			return fmt.Errorf("column %q: %w", b.sel.Columns[b.sel.Keep[k]].Name, err)
		}
		defer keep[k].Release()
	}
	b.releaseKept()
	return b.emit(full, keep)
}

func (b *Builder[T]) releaseKept() {
	for k, parts := range b.keep {
		for _, a := range parts {
			a.Release()
		}
		b.keep[k] = nil
	}
	b.keptBytes = 0
}

// A rowError is what is wrong with a row of the input.
type rowError struct {
	row int64
	col int // its number in the selection's features; that of a label is -1, and that of a weight the number of features
	err error
}

func (e *rowError) Error() string { return e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }

// put writes rows of a batch behind those in the block. The error is that of the first bad row.
func (b *Builder[T]) put(ctx context.Context, bt *frame.Batch, readers []reader[T], rows Cut) error {
	step := b.panel()
	var badLabel *rowError
	err := b.pool.Each(ctx, 1+(rows.Len()+step-1)/step, func(i int) error {
		return frame.Recovered(func() error {
			if i == 0 { // labels in order, beside the panels; their error must not keep panels from being checked
				badLabel = b.putLabels(bt, rows)
				return nil
			}
			at := (i - 1) * step
			if bad := b.putPanel(bt, readers, rows.slice(at, min(step, rows.Len()-at)), b.fill+at); bad != nil {
				return bad
			}
			return nil
		})
	})
	var bad *rowError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case badLabel != nil && (err == nil || errors.As(err, &bad) && badLabel.row <= bad.row):
		return badLabel
	case err != nil && !errors.As(err, &bad): // an array that isn't what it says
		return b.damaged(ctx, bt, rows, err)
	}
	return err
}

// damaged returns an error about rows of a batch.
func (b *Builder[T]) damaged(ctx context.Context, bt *frame.Batch, rows Cut, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	lo, hi := rows.Lo, rows.Hi
	if rows.Rows != nil {
		lo, hi = int(rows.Rows[0]), int(rows.Rows[len(rows.Rows)-1])+1
	}
	return frame.ErrorIn(bt.File, "rows %d to %d: damaged data (%w)", b.Input+int64(lo), b.Input+int64(hi)-1, err)
}

func (b *Builder[T]) putLabels(bt *frame.Batch, rows Cut) *rowError {
	if b.sel.Label < 0 {
		return nil
	}
	y := b.block.Y[b.fill:]
	for i, span := range rows.Spans() {
		row, what := Encode(b.Labels, bt.Columns[b.sel.Label], span.Lo, y[i:i+span.Len()])
		if what != "" {
			return b.rowError(bt, -1, row, what)
		}
	}
	return nil
}

// putPanel writes rows of a batch to the block from row at on.
func (b *Builder[T]) putPanel(bt *frame.Batch, readers []reader[T], rows Cut, at int) *rowError {
	if bt.Pairs != nil {
		return b.putPairs(bt, rows, at)
	}
	s := b.scratch.Get().(*scratch[T])
	defer b.scratch.Put(s)
	var bad *rowError
	note := func(k int, lost frame.Loss, row int, what string) {
		if lost == frame.Merged {
			b.losses[k].merged.Store(true)
		}
		if what == "" {
			return
		}
		if err := b.rowError(bt, k, row, what); bad == nil || err.row < bad.row || err.row == bad.row && k < bad.col {
			bad = err
		}
	}
	n := rows.Len()
	for k := range readers {
		r := &readers[k]
		if r.byRow() {
			for i := range r.width {
				s.columns[r.first+i] = b.zeros[:n]
			}
			continue
		}
		values, lost, row, what := r.readCut(rows, s.values[r.first*b.panel():], s)
		if what != "" {
			values = b.zeros[:n]
		}
		note(k, lost, row, what)
		if lost != frame.None {
			addValues(&b.losses[k], values)
		}
		s.columns[r.first] = values
	}
	if b.sel.Weight >= 0 {
		row, what := b.putWeights(bt, rows, b.block.W[at:at+n])
		note(len(readers), frame.None, row, what)
	}
	if b.sel.Bias {
		s.columns[b.Cols-1] = b.ones[:n]
	}
	dst := b.block.X[at*b.block.Stride : (at+n)*b.block.Stride]
	kernel.Transpose(dst, b.block.Stride, s.columns)
	for k := range readers {
		switch r := &readers[k]; {
		case r.list != nil:
			lost, row, what := r.putLists(dst, b.block.Stride, rows, s)
			note(k, lost, row, what)
			for i := 0; lost != frame.None && i < n; i++ {
				addValues(&b.losses[k], dst[i*b.block.Stride+r.first:][:r.width])
			}
		case r.categories != nil:
			row, what := r.putCategories(dst, b.block.Stride, rows, s)
			note(k, frame.None, row, what)
		}
	}
	return bad
}

// putPairs is putPanel for a batch that has pairs.
func (b *Builder[T]) putPairs(bt *frame.Batch, rows Cut, at int) (bad *rowError) {
	p, stride := bt.Pairs, b.block.Stride
	dst := b.block.X[at*stride : (at+rows.Len())*stride]
	clear(dst)
	for r := rows.Lo; r < rows.Hi && bad == nil; r++ {
		row := dst[(r-rows.Lo)*stride:][:stride]
		for i := p.Ends[r]; i < p.Ends[r+1]; i++ {
			k, v := p.Place[p.Index[i]], T(p.Value[i])
			row[k] = v
			if v-v != 0 {
				if bad == nil || k < bad.col {
					bad = b.rowError(bt, k, r, b.unusable(p.Value[i]))
				}
			} else if float64(v) != p.Value[i] && frame.LossOf(p.Value[i]) == frame.Merged { // zeros make any column a wide one
				b.losses[k].merged.Store(true)
			}
		}
		if b.sel.Bias {
			row[b.Cols-1] = 1
		}
	}
	return bad
}

// unusable says what is wrong with a number that T can't hold.
func (b *Builder[T]) unusable(v float64) string {
	switch text := fmt.Sprint(v); {
	case v-v == 0:
		return text + frame.TooWide
	case b.sel.Fixed:
		return text + fillInModel
	default:
		return text + fillIn
	}
}

// putWeights writes the weights of rows of a batch to dst. It returns the first row without a usable one and what is wrong
// there, or "".
func (b *Builder[T]) putWeights(bt *frame.Batch, rows Cut, dst []float64) (row int, what string) {
	v, err := frame.NewView[float64](bt.Columns[b.sel.Weight])
	if err != nil {
		return rows.First(), err.Error()
	}
	heavy := false
	for i, span := range rows.Spans() {
		to := dst[i:][:span.Len()]
		values, _ := v.Read(span.Lo, span.Hi, to)
		copy(to, values)
		for k, w := range to {
			if !(w >= 0) || math.IsInf(w, 0) || v.Array.IsNull(span.Lo+k) {
				advice := "correct it, or leave the row out"
				switch {
				case !frame.IsMissing(v.Array, span.Lo+k):
				case b.sel.Fixed:
					advice = "fill it in, or leave the row out"
				default:
					advice = "fill it in, or use --nulls drop"
				}
				return span.Lo + k, fmt.Sprintf("%s, and a weight is a finite number of 0 or more (%s)", v.Text(span.Lo+k), advice)
			}
			heavy = heavy || w > 0
		}
	}
	if heavy {
		b.heavy.Store(true)
	}
	return 0, ""
}

// Weighed returns an error if there are weights, and all were 0.
func (b *Builder[T]) Weighed(name string) error {
	if b.sel.Weight < 0 || b.heavy.Load() {
		return nil
	}
	return frame.ErrorIn(name, "column %q: every row weighs 0: choose another column with --sample-weight", b.sel.Columns[b.sel.Weight].Name)
}

// rowError returns an error about the feature column k, the label if that is -1, or the weight, in a row of a batch.
func (b *Builder[T]) rowError(bt *frame.Batch, k, row int, what string) *rowError {
	n, col := b.Input+int64(row), b.sel.Label
	switch {
	case k == len(b.sel.Features):
		col = b.sel.Weight
	case k >= 0:
		col = b.sel.Features[k]
	}
	err := frame.ErrorIn(bt.File, "column %q, row %d: %s", b.sel.Columns[col].Name, n, what)
	if a := bt.Columns[col]; a != nil && frame.IsMissing(a, row) {
		err = frame.Mark(err, frame.ErrNulls)
	}
	return &rowError{n, k, err}
}

// losses are what was lost of a column when it was narrowed, and how wide the column is.
type losses struct {
	merged  atomic.Bool
	wide    atomic.Bool // its range is large against its numbers, so that the last digits don't matter
	mu      sync.Mutex
	rounded bool
	lo, hi  float64 // of the values
}

// wideEnough is the least range of a wide column, in units of the last digit of its greatest number.
const wideEnough = 1 << 12

// addValues takes values of a column some of which were rounded. Once a column is wide it stays so, whatever comes.
func addValues[T kernel.Float](l *losses, values []T) {
	if l.wide.Load() || len(values) == 0 {
		return
	}
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rounded {
		l.rounded, l.lo, l.hi = true, float64(lo), float64(hi)
	}
	l.lo, l.hi = min(l.lo, float64(lo)), max(l.hi, float64(hi))
	digit := 0x1p-24
	if unsafe.Sizeof(T(0)) == 8 {
		digit = 0x1p-53
	}
	if l.hi-l.lo >= wideEnough*digit*max(-l.lo, l.hi) {
		l.wide.Store(true)
	}
}

// matter tells whether the losses may matter to a learner: whole numbers became others, or the last digits are much of the column's range.
func (l *losses) matter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.merged.Load() || l.rounded && !l.wide.Load()
}

// Warn tells once about columns that aren't features by default, rows left out, and features of which T lost what matters.
func (b *Builder[T]) Warn(warn func(string)) {
	if warn == nil {
		return
	}
	if len(b.sel.left) > 0 {
		advice := ""
		if b.sel.texts {
			advice = " (use --categorical onehot or hash:BITS for text)"
		}
		warn(some(b.sel.left) + ": left out, a feature is " + frame.FeatureTypes + advice)
	}
	if n := b.Input - b.Rows; n > 0 {
		what := "a feature or the label"
		if b.sel.Weight >= 0 {
			what = "a feature, the label or the weight"
		}
		warn(fmt.Sprintf("%d of %d rows left out: %s is null, NaN or infinite there", n, b.Input, what))
	}
	for k, c := range b.texts {
		if c != nil && c.unknown.Load() > 0 {
			warn(fmt.Sprintf("column %q: %d of %d rows have a category that the training had not, it counts as none",
				b.sel.Inputs[k].Name, c.unknown.Load(), b.Rows))
		}
	}
	if b.sel.Fixed {
		return // the training told the rest
	}
	var names []string
	for k, i := range b.sel.Features {
		if b.losses[k].matter() {
			names = append(names, fmt.Sprintf("%q", b.sel.Columns[i].Name))
		}
	}
	switch {
	case len(names) == 0:
	case unsafe.Sizeof(T(0)) == 4 && !b.sel.standardize:
		warn(some(names) + ": float32 can't hold every value exactly, they are rounded (use --dtype float64 to keep them)")
	default:
		warn(some(names) + ": float64 can't hold every value exactly, they are rounded")
	}
	b.odd.Warn(b.sel, warn)
}

// some names columns, not all if they are many.
func some(names []string) string {
	const most = 4
	switch more := len(names) - most; {
	case more > 0:
		return fmt.Sprintf("columns %s and %d more", strings.Join(names[:most], ", "), more)
	case len(names) > 1:
		return "columns " + strings.Join(names, ", ")
	}
	return "column " + names[0]
}
