// Package gram computes inner products of rows in parallel.
//
// The products make Gram matrices, cross-Gram matrices, scatter matrices, and kernel functions of rows. The package cuts
// matrices into blocks as BLIS does (Van Zee and van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS
// Functionality", ACM TOMS 41(3), 2015), by the method of Goto and van de Geijn ("Anatomy of High-Performance Matrix
// Multiplication", ACM TOMS 34(3), 2008).
//
// # One result on every CPU
//
// The inner product of two rows has the same bits on every instruction set, for every number of workers, and in every
// result of this package. Columns are cut into panels of 256. The sum of a panel starts at +0 and is s = fma(x[k],
// y[k], s) with k ascending. The sums of panels are added in order.
//
// # Workers
//
// A parameter workers is the number of goroutines that compute at once. 0 stands for every core (GOMAXPROCS), and a
// negative number is an error.
package gram

import (
	"context"
	"errors"
	"fmt"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// Storage is the layout of a symmetric matrix in memory.
type Storage uint8

const (
	Packed Storage = iota // the rows of the lower triangle, without gaps
	Full                  // whole rows, padded with zeros to kernel.Stride
)

// A Symmetric is a symmetric matrix of N x N elements.
type Symmetric struct {
	N       int
	Storage Storage
	Stride  int       // elements from one row to the next, with Full storage
	Data    []float32 // Packed: row i begins at element i(i+1)/2 and has i+1 elements; Full: at i*Stride
}

// Elements returns the number of elements of an n x n symmetric matrix. It returns an error if their bytes overflow an
// int.
func Elements(n int, storage Storage) (int, error) {
	if n < 0 || n > math.MaxInt32-64 { // the upper limit also keeps the stride in an int
		return 0, fmt.Errorf("a matrix can't have %d rows", n)
	}
	length := kernel.Stride(n)
	if storage == Packed {
		length = n/2 + 1
	}
	if n > 0 && length > math.MaxInt/4/n {
		return 0, fmt.Errorf("a matrix of %d x %d is too large for this machine's addresses", n, n)
	}
	if storage == Packed {
		return n * (n + 1) / 2, nil
	}
	return n * length, nil
}

// NewSymmetric returns an n x n matrix of zeros.
func NewSymmetric(n int, storage Storage) (*Symmetric, error) {
	elements, err := Elements(n, storage)
	if err != nil {
		return nil, err
	}
	return &Symmetric{N: n, Storage: storage, Stride: kernel.Stride(n), Data: block.Alloc[float32](elements)}, nil
}

// check returns an error unless m has the elements that NewSymmetric makes.
func (m *Symmetric) check() error {
	if m == nil {
		return errors.New("the matrix is nil: make it by NewSymmetric")
	}
	n, err := Elements(m.N, m.Storage)
	if err == nil && (len(m.Data) < n || m.Stride != kernel.Stride(m.N)) {
		err = fmt.Errorf("a matrix of %d rows has %d elements and the stride %d, not %d and %d: make it by NewSymmetric", m.N, n,
			kernel.Stride(m.N), len(m.Data), m.Stride)
	}
	return err
}

// At returns the element in row i and column j.
func (m *Symmetric) At(i, j int) float32 {
	if m.Storage == Full {
		return m.Data[i*m.Stride+j]
	}
	return m.lower(max(i, j))[min(i, j)]
}

// lower returns the elements of row i up to the diagonal.
func (m *Symmetric) lower(i int) []float32 {
	if m.Storage == Full {
		return m.Data[i*m.Stride:][:i+1]
	}
	return m.Data[i*(i+1)/2:][:i+1]
}

// Gram sets m to the Gram matrix of x: element (i, j) is k(x_i, x_j). m must have as many rows as x. Gram computes each
// pair of rows once, on workers goroutines. If ctx ends, it returns ctx's error, and m is partly written.
func Gram(ctx context.Context, m *Symmetric, x *Rows, k Kernel, workers int) error {
	workers, err := checkRows(workers, x)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return err
	}
	if m.N != x.n {
		return fmt.Errorf("the Gram matrix of %d rows can't have %d rows", x.n, m.N)
	}
	p := newProduct(x, x, true)
	apply, err := newMap(ctx, k, x, x, workers)
	if err != nil {
		return err
	}
	p.place = m.place
	put := putFor(4 * int64(len(m.Data)))
	mirror := make([]mirror, workers)
	p.finish = func(worker int, b *part) {
		for r := range b.rows {
			row := b.lower(r)
			apply.row(row, b.i+r, b.j)
			if !b.isInPlace && row != nil {
				copy(m.lower(b.i + r)[b.j:], row)
			}
		}
		if m.Storage == Full {
			mirror[worker].write(m, b, put)
			microkernel.Fence()
		}
	}
	return p.run(ctx, workers)
}

// place returns the memory from element (i, j) of the lower triangle on, and the distance between its rows: ldc after
// the first row, and grow more after each further row.
func (m *Symmetric) place(i, j int) (to []float32, ldc, grow int) {
	if m.Storage == Full {
		return m.Data[i*m.Stride+j:], m.Stride, 0
	}
	return m.Data[i*(i+1)/2+j:], i + 1, 1
}

// nonTemporalBytes is the size from which a result is written with non-temporal stores, because it wouldn't stay in the
// caches.
const nonTemporalBytes = 32 << 20

// putFor returns the function that copies parts of a result of this many bytes.
func putFor(bytes int64) func(dst, src []float32) {
	if bytes >= nonTemporalBytes {
		return microkernel.CopyNonTemporal
	}
	return func(dst, src []float32) { copy(dst, src) }
}

// A mirror copies blocks of the lower triangle to the upper triangle.
type mirror struct {
	rows    [][]float32
	columns []float32
}

func (v *mirror) write(m *Symmetric, b *part, put func(dst, src []float32)) {
	length := v.transpose(b, func(int, []float32) {})
	for j := b.j; j < b.j+b.cols; j++ {
		below := max(b.i, j+1) // first row of the block that is below the diagonal
		if end := b.i + b.rows; below < end {
			put(m.Data[j*m.Stride+below:j*m.Stride+end], v.columns[(j-b.j)*length+below-b.i:][:end-below])
		}
	}
}

// transpose writes the columns of a block to v.columns, length elements apart. Before that it calls do with each row.
func (v *mirror) transpose(b *part, do func(r int, row []float32)) (length int) {
	v.rows = v.rows[:0]
	for r := range b.rows {
		do(r, b.row(r))
		v.rows = append(v.rows, b.row(r))
	}
	length = kernel.Stride(b.rows)
	if len(v.columns) < length*b.cols {
		v.columns = make([]float32, length*b.cols)
	}
	kernel.Transpose(v.columns[:b.cols*length], length, v.rows)
	return length
}

var errColumns = errors.New("the rows differ in their number of columns")

// checkRows resolves workers to a number of goroutines. It returns an error if workers is negative, or if any rows are
// nil, have wrong blocks, or have another number of columns than the first.
func checkRows(workers int, all ...*Rows) (int, error) {
	for _, x := range all {
		switch {
		case x == nil:
			return 0, errors.New("the rows are nil: make them by RowsOf or Dense")
		case x.err != nil:
			return 0, x.err
		case x.cols != all[0].cols:
			return 0, errColumns
		}
	}
	return parallel.Resolve(workers)
}

// Cross sets element (i, j) of dst, at i*stride+j, to k(x_i, y_j), for all rows of x and y. It doesn't write the
// elements between the rows of dst. Errors, workers and ctx are as for Gram.
func Cross(ctx context.Context, dst []float32, stride int, x, y *Rows, k Kernel, workers int) error {
	workers, err := checkRows(workers, x, y)
	if err != nil {
		return err
	}
	if x.n == 0 || y.n == 0 {
		return nil
	}
	if stride < y.n || len(dst) < y.n || (len(dst)-y.n)/stride < x.n-1 {
		return fmt.Errorf("%d elements with a stride of %d don't hold %d x %d", len(dst), stride, x.n, y.n)
	}
	apply, err := newMap(ctx, k, x, y, workers)
	if err != nil {
		return err
	}
	p := newProduct(x, y, false)
	p.place = func(i, j int) ([]float32, int, int) { return dst[i*stride+j:], stride, 0 }
	p.finish = func(_ int, b *part) {
		for r := range b.rows {
			row := b.row(r)
			apply.row(row, b.i+r, b.j)
			if !b.isInPlace {
				copy(dst[(b.i+r)*stride+b.j:], row)
			}
		}
	}
	return p.run(ctx, workers)
}

// Products calls visit with the inner products of the rows of x and the rows of y: row[k] is x_i . y_(j+k). Each
// product is passed once. The calls for a row i come from one goroutine, with j ascending. visit may change row, but
// must not keep it.
func Products(ctx context.Context, x, y *Rows, workers int, visit func(i, j int, row []float32)) error {
	workers, err := checkRows(workers, x, y)
	if err != nil {
		return err
	}
	return visitRows(ctx, x, y, workers, visit)
}

// LowerProducts is Products of x with itself, only for the lower triangle: j+k <= i.
func LowerProducts(ctx context.Context, x *Rows, workers int, visit func(i, j int, row []float32)) error {
	workers, err := checkRows(workers, x)
	if err != nil {
		return err
	}
	p := newProduct(x, x, true)
	p.finish = func(_ int, b *part) {
		for r := range b.rows {
			if row := b.lower(r); row != nil {
				visit(b.i+r, b.j, row)
			}
		}
	}
	return p.run(ctx, workers)
}

func visitRows(ctx context.Context, x, y *Rows, workers int, visit func(i, j int, row []float32)) error {
	p := newProduct(x, y, false)
	p.finish = func(_ int, b *part) {
		for r := range b.rows {
			visit(b.i+r, b.j, b.row(r))
		}
	}
	return p.run(ctx, workers)
}
