package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/kernel"
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
	rows  int64           // rows so far
	block *block.Block[T] // the one being filled; nil before its first row
	fill  int             // rows in it
	spare *block.Block[T] // one to use again
	keep  [][]arrow.Array // of the rows in it, for each kept column

	ones    []T
	inexact []atomic.Bool // features that T can't hold
	scratch sync.Pool     // *scratch[T]
}

// scratch is what turning a panel of columns into rows needs.
type scratch[T kernel.Float] struct {
	columns [][]T
	values  []T
}

func newBuilder[T kernel.Float](sel *selection, l *labels, p pool, mem memory.Allocator, total int64,
	emit func(*block.Block[T], []arrow.Array) error) *builder[T] {
	b := &builder[T]{sel: sel, labels: l, pool: p, mem: mem, total: total, emit: emit, cols: len(sel.features)}
	b.inexact = make([]atomic.Bool, b.cols)
	if sel.bias {
		b.cols++
	}
	b.ones = make([]T, b.panel())
	for i := range b.ones {
		b.ones[i] = 1
	}
	b.scratch.New = func() any {
		return &scratch[T]{make([][]T, b.cols), make([]T, len(sel.features)*b.panel())}
	}
	b.keep = make([][]arrow.Array, len(sel.keep))
	return b
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
		if err != nil {
			return err
		}
		if progress != nil {
			progress(b.rows, b.total)
		}
	}
	if b.block == nil {
		return nil
	}
	return b.flush()
}

func (b *builder[T]) add(ctx context.Context, bt *batch) error {
	views := make([]view[T], len(b.sel.features))
	for k, i := range b.sel.features {
		var err error
		if views[k], err = newView[T](bt.columns[i]); err != nil {
			return errorIn(bt.file, "column %q: %w", b.sel.columns[i].name, err)
		}
	}
	for lo := 0; lo < int(bt.rows); {
		if b.block == nil {
			b.start()
		}
		n := min(int(bt.rows)-lo, b.block.Len()-b.fill)
		if err := b.put(ctx, bt, views, lo, n); err != nil {
			return err
		}
		for k, i := range b.sel.keep {
			b.keep[k] = append(b.keep[k], array.NewSlice(bt.columns[i], int64(lo), int64(lo+n)))
		}
		lo, b.fill, b.rows = lo+n, b.fill+n, b.rows+int64(n)
		if b.fill == b.block.Len() {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// start begins a block.
func (b *builder[T]) start() {
	rows := block.Rows[T](b.cols)
	if b.total >= 0 {
		rows = int(min(int64(rows), b.total-b.rows))
	}
	if b.spare != nil && b.spare.Len() >= rows {
		b.block = b.spare.Slice(0, rows)
		b.block.First = b.rows
	} else {
		b.block = block.New[T](b.rows, rows, b.cols)
		if b.sel.label < 0 {
			b.block.Y = nil
		}
	}
	b.fill = 0
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
}

// A rowError is what is wrong with a row of the input.
type rowError struct {
	row  int64
	text string
}

func (e *rowError) Error() string { return e.text }

// put writes rows lo to lo+n of a batch behind those in the block. The error is that of the first bad row.
func (b *builder[T]) put(ctx context.Context, bt *batch, views []view[T], lo, n int) error {
	step := b.panel()
	var badLabel *rowError
	err := b.pool.each(ctx, 1+(n+step-1)/step, func(i int) error {
		return recovered(func() error {
			if i == 0 { // labels in order, beside the panels; their error must not keep panels from being checked
				badLabel = b.putLabels(bt, lo, n)
				return nil
			}
			at := (i - 1) * step
			if bad := b.putPanel(bt, views, lo+at, b.fill+at, min(step, n-at)); bad != nil {
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
		return errorIn(bt.file, "rows %d to %d: damaged data (%w)", b.rows, b.rows+int64(n)-1, err)
	}
	return err
}

func (b *builder[T]) putLabels(bt *batch, lo, n int) *rowError {
	if b.sel.label < 0 {
		return nil
	}
	row, what := encode(b.labels, bt.columns[b.sel.label], lo, b.block.Y[b.fill:b.fill+n])
	if what != "" {
		return b.rowError(bt, b.sel.label, lo, row, what)
	}
	return nil
}

// putPanel writes rows lo to lo+n of a batch to the block from row at on.
func (b *builder[T]) putPanel(bt *batch, views []view[T], lo, at, n int) *rowError {
	s := b.scratch.Get().(*scratch[T])
	defer b.scratch.Put(s)
	var bad *rowError
	for k, v := range views {
		values, exact := v.read(lo, lo+n, s.values[k*b.panel():])
		if !exact {
			b.inexact[k].Store(true)
		}
		if !v.sound(lo, values) {
			row, what := v.problem(lo, values)
			if err := b.rowError(bt, b.sel.features[k], lo-(at-b.fill), row, what); bad == nil || err.row < bad.row {
				bad = err
			}
		}
		s.columns[k] = values
	}
	if bad != nil {
		return bad
	}
	if b.sel.bias {
		s.columns[len(views)] = b.ones[:n]
	}
	kernel.Transpose(b.block.X[at*b.block.Stride:(at+n)*b.block.Stride], b.block.Stride, s.columns)
	return nil
}

// rowError returns an error about a row of a batch; first is the batch's row that is row b.rows of the input.
func (b *builder[T]) rowError(bt *batch, col, first, row int, what string) *rowError {
	n := b.rows + int64(row-first)
	return &rowError{n, errorIn(bt.file, "column %q, row %d: %s", b.sel.columns[col].name, n, what).Error()}
}

// warn tells once about columns that aren't features by default, and about features that T couldn't hold exactly.
func (b *builder[T]) warn(warn func(string)) {
	if warn == nil {
		return
	}
	if len(b.sel.left) > 0 {
		warn(some(b.sel.left) + ": left out, a feature is a number or a boolean")
	}
	var names []string
	for k, i := range b.sel.features {
		if b.inexact[k].Load() {
			names = append(names, fmt.Sprintf("%q", b.sel.columns[i].name))
		}
	}
	switch {
	case len(names) == 0:
	case unsafe.Sizeof(T(0)) == 4:
		warn(some(names) + ": float32 can't hold every value exactly, they are rounded (use --dtype float64 to keep them)")
	default:
		warn(some(names) + ": float64 can't hold every value exactly, they are rounded")
	}
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
