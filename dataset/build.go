package dataset

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
	"halfspace/kernel"
	"halfspace/schema"
)

// A builder cuts batches into blocks and hands each to emit when it is full.
//
// Labels are class numbers when emit gets them.
type builder[T kernel.Float] struct {
	sel    *selection
	labels *labels
	pool   pool
	mem    memory.Allocator // of what keep is put together in
	emit   func(b *block.Block[T], keep []arrow.Array) error

	cols  int
	total int64           // rows that there will be; -1 where that isn't known
	input int64           // rows of the input before the batch
	rows  int64           // rows so far
	block *block.Block[T] // the one being filled; nil before its first row
	fill  int             // rows in it
	spare *block.Block[T] // one to use again
	live  bool            // a block ends with each batch
	all   *block.Block[T] // room for all rows, which blocks are parts of; nil: each is made when it is begun
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

func newBuilder[T kernel.Float](sel *selection, l *labels, p pool, mem memory.Allocator, total int64,
	emit func(*block.Block[T], []arrow.Array) error) *builder[T] {
	b := &builder[T]{sel: sel, labels: l, pool: p, mem: mem, total: total, emit: emit, cols: sel.width()}
	b.texts = newCategories(sel)
	b.losses, b.heavy = make([]losses, len(sel.features)), new(atomic.Bool)
	b.odd = newSuspects(sel)
	if sel.bias {
		b.cols++
	}
	b.ones, b.zeros = make([]T, b.panel()), make([]T, b.panel())
	for i := range b.ones {
		b.ones[i] = 1
	}
	b.scratch.New = func() any {
		s := &scratch[T]{columns: make([][]T, b.cols), values: make([]T, b.cols*b.panel())}
		for _, c := range sel.inputs {
			if n := max(b.panel(), c.Width()); c.Center != nil && n > len(s.wide) {
				s.wide = make([]float64, n)
			}
		}
		return s
	}
	b.keep = make([][]arrow.Array, len(sel.keep))
	return b
}

// makeRoom makes the memory of all blocks at once, if their rows are known: made one by one, they would have the garbage
// collector run each time the heap has doubled. A file that takes so many bytes may claim any number of rows, so that there
// is a bound to what is made before they were seen; more than the machine has would end the process.
func (b *builder[T]) makeRoom(stored int64) {
	const most, ratio = 1 << 30, 64
	bytes := float64(b.total) * float64(block.Bytes[T](1, b.cols, b.sel.weight >= 0))
	if b.total > 0 && b.sel.nulls != schema.NullsDrop && bytes <= float64(min(max(most, ratio*stored), availableMemory())) {
		b.all = b.newBlock(0, int(b.total))
	}
}

// part returns a builder of rows first to last of those of b, which shares with it what is noted for warnings.
func (b *builder[T]) part(l *labels, p pool, first, last int64, emit func(*block.Block[T], []arrow.Array) error) *builder[T] {
	part := newBuilder(b.sel, l, p, b.mem, last, emit)
	part.texts, part.losses, part.heavy, part.all = b.texts, b.losses, b.heavy, b.all
	if part.odd = nil; first == 0 {
		part.odd = b.odd
	}
	part.input, part.rows = first, first
	return part
}

// panel is how many rows are transposed at a time.
func (b *builder[T]) panel() int { return kernel.PanelRows[T](kernel.Stride[T](b.cols)) }

// run adds all batches, releases them, and emits the last block.
func (b *builder[T]) run(ctx context.Context, batches iter.Seq2[*batch, error], progress func(rows, total int64)) error {
	defer b.releaseKept()
	for batch, err := range batches {
		if err != nil {
			return err
		}
		err = b.add(ctx, batch)
		batch.release()
		if err == nil && b.live && b.block != nil {
			err = b.flush()
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(b.input, b.total)
		}
	}
	if b.block == nil {
		return nil
	}
	return b.flush()
}

func (b *builder[T]) add(ctx context.Context, bt *batch) error {
	var readers []reader[T]
	if bt.pairs == nil {
		var err error
		if readers, err = newReaders[T](b.sel, b.texts, bt); err != nil {
			return err
		}
	}
	kept, err := b.sel.kept(ctx, b.pool, bt)
	if err != nil {
		return b.damaged(ctx, bt, kept, err)
	}
	if b.total >= 0 && b.rows+int64(kept.len()) > b.total {
		return errorIn(bt.file, "the data changed while it was read: try again")
	}
	for i := 0; i < kept.len(); {
		if b.block == nil {
			b.start()
		}
		rows := kept.slice(i, min(kept.len()-i, b.room()))
		if err := b.put(ctx, bt, readers, rows); err != nil {
			return err
		}
		for k, i := range b.sel.keep {
			for _, span := range rows.spans() {
				part := array.NewSlice(bt.columns[i], int64(span.lo), int64(span.hi))
				b.keep[k] = append(b.keep[k], part)
				b.keptBytes += rowSizes(part)(0, part.Len())
			}
		}
		i, b.fill, b.rows = i+rows.len(), b.fill+rows.len(), b.rows+int64(rows.len())
		if b.room() == 0 {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	if b.odd != nil {
		if err := recovered(func() error { b.odd.add(b.sel, bt); return nil }); err != nil {
			return b.damaged(ctx, bt, kept, err)
		}
	}
	b.input += bt.rows
	return nil
}

// room returns how many rows the block takes before it is to be emitted. Where the kept columns of its rows are large it ends
// with the run.
func (b *builder[T]) room() int {
	left := b.block.Len() - b.fill
	if ended := b.fill % block.RunRows; b.keptBytes > maxKeptBytes && b.fill > 0 {
		return min(left, (block.RunRows-ended)%block.RunRows)
	}
	return left
}

// start begins a block.
func (b *builder[T]) start() {
	b.fill = 0
	rows := b.blockRows(b.rows)
	switch {
	case b.all != nil:
		b.block = b.all.Slice(int(b.rows), int(b.rows)+rows)
	case b.spare != nil && b.spare.Len() >= rows:
		b.block = b.spare.Slice(0, rows)
		b.block.First = b.rows
	default:
		b.block = b.newBlock(b.rows, rows)
	}
}

// blockRows returns how many rows the block has that begins with row first.
func (b *builder[T]) blockRows(first int64) int {
	rows := block.Rows[T](b.cols)
	if b.total >= 0 {
		rows = int(min(int64(rows), b.total-first))
	}
	return rows
}

func (b *builder[T]) newBlock(first int64, rows int) *block.Block[T] {
	blk := block.New[T](first, rows, b.cols)
	if b.sel.label < 0 {
		blk.Y = nil
	}
	if b.sel.weight >= 0 {
		blk.W = block.Alloc[float64](rows)
	}
	return blk
}

// flush emits the block as far as it is filled.
func (b *builder[T]) flush() error {
	full := b.block.Slice(0, b.fill)
	b.block = nil
	keep := make([]arrow.Array, len(b.keep))
	for k, parts := range b.keep {
		err := recovered(func() (err error) { // an array may not be what it says
			keep[k], err = array.Concatenate(parts, b.mem)
			return err
		})
		if err != nil {
			return fmt.Errorf("column %q: %w", b.sel.columns[b.sel.keep[k]].name, err)
		}
		defer keep[k].Release()
	}
	b.releaseKept()
	return b.emit(full, keep)
}

func (b *builder[T]) releaseKept() {
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
	row  int64
	col  int // its number in the selection's features; that of a label is -1, and that of a weight the number of features
	text string
}

func (e *rowError) Error() string { return e.text }

// put writes rows of a batch behind those in the block. The error is that of the first bad row.
func (b *builder[T]) put(ctx context.Context, bt *batch, readers []reader[T], rows cut) error {
	step := b.panel()
	var badLabel *rowError
	err := b.pool.each(ctx, 1+(rows.len()+step-1)/step, func(i int) error {
		return recovered(func() error {
			if i == 0 { // labels in order, beside the panels; their error must not keep panels from being checked
				badLabel = b.putLabels(bt, rows)
				return nil
			}
			at := (i - 1) * step
			if bad := b.putPanel(bt, readers, rows.slice(at, min(step, rows.len()-at)), b.fill+at); bad != nil {
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
func (b *builder[T]) damaged(ctx context.Context, bt *batch, rows cut, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	lo, hi := rows.lo, rows.hi
	if rows.rows != nil {
		lo, hi = int(rows.rows[0]), int(rows.rows[len(rows.rows)-1])+1
	}
	return errorIn(bt.file, "rows %d to %d: damaged data (%w)", b.input+int64(lo), b.input+int64(hi)-1, err)
}

func (b *builder[T]) putLabels(bt *batch, rows cut) *rowError {
	if b.sel.label < 0 {
		return nil
	}
	y := b.block.Y[b.fill:]
	for i, span := range rows.spans() {
		row, what := encode(b.labels, bt.columns[b.sel.label], span.lo, y[i:i+span.len()])
		if what != "" {
			return b.rowError(bt, -1, row, what)
		}
	}
	return nil
}

// putPanel writes rows of a batch to the block from row at on.
func (b *builder[T]) putPanel(bt *batch, readers []reader[T], rows cut, at int) *rowError {
	if bt.pairs != nil {
		return b.putPairs(bt, rows, at)
	}
	s := b.scratch.Get().(*scratch[T])
	defer b.scratch.Put(s)
	var bad *rowError
	note := func(k int, lost loss, row int, what string) {
		if lost == merged {
			b.losses[k].merged.Store(true)
		}
		if what == "" {
			return
		}
		if err := b.rowError(bt, k, row, what); bad == nil || err.row < bad.row || err.row == bad.row && k < bad.col {
			bad = err
		}
	}
	n := rows.len()
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
		if lost != none {
			addValues(&b.losses[k], values)
		}
		s.columns[r.first] = values
	}
	if b.sel.weight >= 0 {
		row, what := b.putWeights(bt, rows, b.block.W[at:at+n])
		note(len(readers), none, row, what)
	}
	if b.sel.bias {
		s.columns[b.cols-1] = b.ones[:n]
	}
	dst := b.block.X[at*b.block.Stride : (at+n)*b.block.Stride]
	kernel.Transpose(dst, b.block.Stride, s.columns)
	for k := range readers {
		switch r := &readers[k]; {
		case r.list != nil:
			lost, row, what := r.putLists(dst, b.block.Stride, rows, s)
			note(k, lost, row, what)
			for i := 0; lost != none && i < n; i++ {
				addValues(&b.losses[k], dst[i*b.block.Stride+r.first:][:r.width])
			}
		case r.categories != nil:
			row, what := r.putCategories(dst, b.block.Stride, rows, s)
			note(k, none, row, what)
		}
	}
	return bad
}

// putPairs is putPanel for a batch that has pairs.
func (b *builder[T]) putPairs(bt *batch, rows cut, at int) (bad *rowError) {
	p, stride := bt.pairs, b.block.Stride
	dst := b.block.X[at*stride : (at+rows.len())*stride]
	clear(dst)
	for r := rows.lo; r < rows.hi && bad == nil; r++ {
		row := dst[(r-rows.lo)*stride:][:stride]
		for i := p.ends[r]; i < p.ends[r+1]; i++ {
			k, v := p.place[p.index[i]], T(p.value[i])
			row[k] = v
			if v-v != 0 {
				if bad == nil || k < bad.col {
					bad = b.rowError(bt, k, r, b.unusable(p.value[i]))
				}
			} else if float64(v) != p.value[i] && lossOf(p.value[i]) == merged { // zeros make any column a wide one
				b.losses[k].merged.Store(true)
			}
		}
		if b.sel.bias {
			row[b.cols-1] = 1
		}
	}
	return bad
}

// unusable says what is wrong with a number that T can't hold.
func (b *builder[T]) unusable(v float64) string {
	switch text := fmt.Sprint(v); {
	case v-v == 0:
		return text + tooWide
	case b.sel.fixed:
		return text + fillInModel
	default:
		return text + fillIn
	}
}

// putWeights writes the weights of rows of a batch to dst. It returns the first row without a usable one and what is wrong
// there, or "".
func (b *builder[T]) putWeights(bt *batch, rows cut, dst []float64) (row int, what string) {
	v, err := newView[float64](bt.columns[b.sel.weight])
	if err != nil {
		return rows.first(), err.Error()
	}
	heavy := false
	for i, span := range rows.spans() {
		to := dst[i:][:span.len()]
		values, _ := v.read(span.lo, span.hi, to)
		copy(to, values)
		for k, w := range to {
			if !(w >= 0) || math.IsInf(w, 0) || v.array.IsNull(span.lo+k) {
				advice := "correct it, or leave the row out"
				if isMissing(v.array, span.lo+k) {
					advice = "fill it in, or use --nulls drop"
				}
				return span.lo + k, fmt.Sprintf("%s, and a weight is a finite number of 0 or more (%s)", v.text(span.lo+k), advice)
			}
			heavy = heavy || w > 0
		}
	}
	if heavy {
		b.heavy.Store(true)
	}
	return 0, ""
}

// weighed returns an error if there are weights, and all were 0.
func (b *builder[T]) weighed(name string) error {
	if b.sel.weight < 0 || b.heavy.Load() {
		return nil
	}
	return errorIn(name, "column %q: every row weighs 0: choose another column with --sample-weight", b.sel.columns[b.sel.weight].name)
}

// rowError returns an error about the feature column k, the label if that is -1, or the weight, in a row of a batch.
func (b *builder[T]) rowError(bt *batch, k, row int, what string) *rowError {
	n, col := b.input+int64(row), b.sel.label
	switch {
	case k == len(b.sel.features):
		col = b.sel.weight
	case k >= 0:
		col = b.sel.features[k]
	}
	return &rowError{n, k, errorIn(bt.file, "column %q, row %d: %s", b.sel.columns[col].name, n, what).Error()}
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

// warn tells once about columns that aren't features by default, rows left out, and features of which T lost what matters.
func (b *builder[T]) warn(warn func(string)) {
	if warn == nil {
		return
	}
	if len(b.sel.left) > 0 {
		advice := ""
		if b.sel.texts {
			advice = " (use --categorical onehot or hash:BITS for text)"
		}
		warn(some(b.sel.left) + ": left out, a feature is " + featureTypes + advice)
	}
	if n := b.input - b.rows; n > 0 {
		what := "a feature or the label"
		if b.sel.weight >= 0 {
			what = "a feature, the label or the weight"
		}
		warn(fmt.Sprintf("%d of %d rows left out: %s is null, NaN or infinite there", n, b.input, what))
	}
	for k, c := range b.texts {
		if c != nil && c.unknown.Load() > 0 {
			warn(fmt.Sprintf("column %q: %d of %d rows have a category that the training had not, it counts as none",
				b.sel.inputs[k].Name, c.unknown.Load(), b.rows))
		}
	}
	if b.sel.fixed {
		return // the training told the rest
	}
	var names []string
	for k, i := range b.sel.features {
		if b.losses[k].matter() {
			names = append(names, fmt.Sprintf("%q", b.sel.columns[i].name))
		}
	}
	switch {
	case len(names) == 0:
	case unsafe.Sizeof(T(0)) == 4 && !b.sel.standardize:
		warn(some(names) + ": float32 can't hold every value exactly, they are rounded (use --dtype float64 to keep them)")
	default:
		warn(some(names) + ": float64 can't hold every value exactly, they are rounded")
	}
	b.odd.warn(b.sel, warn)
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
