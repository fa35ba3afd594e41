package gram

import (
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// elements returns the number of elements that sparse rows store. It returns false if any rows are dense.
func (x *Rows) elements() (n int64, sparse bool) {
	for _, b := range x.blocks {
		if b.Sparse == nil {
			return 0, false
		}
		n += b.Sparse.Ptr[b.Len()] - b.Sparse.Ptr[0]
	}
	return n, len(x.blocks) > 0
}

// SupportRows returns n rows of cols elements that lie without gaps in values. If few elements aren't 0, it copies them
// to sparse rows, so that products with other sparse rows are sparse. Otherwise the rows share the memory of values.
func SupportRows(values []float32, n, cols int) *Rows {
	s := &kernel.SparseRows{Ptr: make([]int64, 1, n+1)}
	for r := range n {
		for c, v := range values[r*cols:][:cols] {
			if v != 0 {
				s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
			}
		}
		if float64(len(s.Idx)) > sparseShare*float64(n)*float64(cols) {
			return Dense(values, n, cols, cols)
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	x := &Rows{cols: cols, zeros: make([]float32, cols)}
	x.add(&block.Block{Cols: cols, Stride: kernel.Stride(cols), Sparse: s})
	return x
}

// pick returns copies of the rows with the given numbers, in the form of x.
func (x *Rows) pick(numbers []uint32) *Rows {
	if _, sparse := x.elements(); !sparse {
		return Dense(x.Values(numbers), len(numbers), x.cols, x.cols)
	}
	s := &kernel.SparseRows{Ptr: []int64{0}}
	for _, r := range numbers {
		columns, values := x.sparseRow(int(r))
		s.Idx, s.Val = append(s.Idx, columns...), append(s.Val, values...)
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	picked := &Rows{cols: x.cols, zeros: x.zeros}
	picked.add(&block.Block{Cols: x.cols, Stride: kernel.Stride(x.cols), Sparse: s})
	return picked
}

// sparseRow returns the columns and values of row r. It leaves out a bias that isn't one of x's columns.
func (x *Rows) sparseRow(r int) ([]uint32, []float32) {
	b, local := x.find(r)
	columns, values := b.Sparse.Row(local)
	n := len(columns)
	for n > 0 && int(columns[n-1]) >= x.cols {
		n--
	}
	return columns[:n], values[:n]
}

// A sparseColumns is sparse rows by column: row c holds the numbers and values of the rows that store column c.
type sparseColumns kernel.SparseRows

func transposeSparse(x *Rows) *sparseColumns {
	ptr, idx, val, _ := linalg.TransposeSparse(x.cols, func(do func(r uint32, columns []uint32, values []float32)) error {
		for r := range x.n {
			columns, values := x.sparseRow(r)
			do(uint32(r), columns, values)
		}
		return nil
	})
	return &sparseColumns{Ptr: ptr, Idx: idx, Val: val}
}

// add adds the inner products of a row and each row r of the columns to sums[r], for r below len(sums). In each
// panel of KC columns it sums the products of the columns that both rows store, from 0 on, and then adds this sum. So
// the results are the same as for dense rows, except for the sign of a zero. part must hold zeros, and holds zeros
// afterwards.
func (t *sparseColumns) add(sums, part []float32, columns []uint32, values []float32) {
	for len(columns) > 0 {
		n, touched := 0, 0
		for n < len(columns) && columns[n]/kc == columns[0]/kc {
			rows, stored := t.column(columns[n], len(sums))
			kernel.AddSparse(part, values[n], rows, stored)
			touched += len(rows)
			n++
		}
		if touched > len(sums)/16 {
			kernel.Axpy(sums, 1, part)
			clear(part)
		} else {
			for _, c := range columns[:n] {
				rows, _ := t.column(c, len(sums))
				for _, r := range rows {
					sums[r] += part[r]
					part[r] = 0
				}
			}
		}
		columns, values = columns[n:], values[n:]
	}
}

// column returns the rows below end that store column c, and their values.
func (t *sparseColumns) column(c uint32, end int) ([]uint32, []float32) {
	rows, values := (*kernel.SparseRows)(t).Row(int(c))
	if n := len(rows); n > 0 && int(rows[n-1]) >= end { // in a triangle
		n, _ = slices.BinarySearch(rows, uint32(end))
		rows, values = rows[:n], values[:n]
	}
	return rows, values
}

// sparseShare is the largest share of the columns that rows may store for sparse products. A tile multiplies 32
// elements in the time in which a sparse product gathers one element.
const sparseShare = 1.0 / 32

// transpose returns b by column if both a and b are sparse and b stores few elements. Otherwise it returns nil. It also
// returns nil if an element isn't finite, because the product of that element and 0 is NaN.
func (p *product) transpose() *sparseColumns {
	if _, sparse := p.a.elements(); !sparse {
		return nil
	}
	n, sparse := p.b.elements()
	if !sparse || float64(n) > sparseShare*float64(p.b.n)*float64(p.b.cols) || !p.a.storesFinite() || !p.b.storesFinite() {
		return nil
	}
	return transposeSparse(p.b)
}

// storesFinite tells whether all stored elements of sparse rows are finite.
func (x *Rows) storesFinite() bool {
	for _, b := range x.blocks {
		for _, v := range b.Sparse.Val[b.Sparse.Ptr[0]:b.Sparse.Ptr[b.Len()]] {
			if v-v != 0 {
				return false
			}
		}
	}
	return true
}

// runSparse is run for sparse rows.
func (p *product) runSparse(ctx context.Context, workers int, t *sparseColumns) error {
	const group = 16 // rows of a task
	stride := kernel.Stride(p.b.n)
	memory := make([][]float32, workers)
	return parallel.For(ctx, workers, (p.a.n+group-1)/group, func(worker, task int) {
		if memory[worker] == nil {
			memory[worker] = block.Alloc[float32]((group + 1) * stride)
		}
		sums, zeros := memory[worker][:group*stride], memory[worker][group*stride:]
		clear(sums)
		b := part{i: task * group, rows: min(group, p.a.n-task*group), ldc: stride}
		hi := p.b.n
		if p.triangle {
			hi = b.i + b.rows
		}
		for r := range b.rows {
			columns, values := p.a.sparseRow(b.i + r)
			t.add(sums[r*stride:][:hi], zeros[:hi], columns, values)
		}
		for ; b.j < hi; b.j += b.cols {
			b.cols = min(hi-b.j, nb)
			b.data = sums[b.j:]
			p.finish(worker, &b)
		}
	})
}
