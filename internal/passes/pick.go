package passes

import (
	"context"
	"iter"
	"math/bits"
	"reflect"
	"slices"

	"halfspace/internal/block"
)

// Pick returns a source of some rows of src, in their order. For each pass it calls keep once, and then calls the
// function that keep returned with the label of each row of src in turn; that function tells whether the source has the
// row. rows is the number of rows of the source, and each the largest number of rows in its blocks.
//
// If chosen isn't nil, the processes that read src read the source too: row i of src is chosen if bit i%64 of
// chosen[i/64] is set. A nil chosen leaves the reading to this process.
func Pick(src block.Source, rows int64, each int, keep func() func(y float32) bool, chosen []uint64) block.Source {
	p := pickedSource{src, rows, each, keep, nil}
	if chosen != nil && !InProcess(src) {
		p.choice = newChoice(src, chosen)
	}
	return p
}

type pickedSource struct {
	block.Source
	rows   int64
	each   int
	keep   func() func(y float32) bool
	choice *choice // for other processes; nil: this process reads the rows
}

// Remote returns the cluster of the picked rows; see block.Remote.
func (p pickedSource) Remote() (block.Cluster, []block.View) {
	if p.choice == nil {
		return nil, nil
	}
	return p.choice, nil
}

func (p pickedSource) Rows() int64 { return p.rows }

func (p pickedSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		keep, spec, rows := p.keep(), p.Spec(), int(min(p.rows, int64(p.each)))
		var to *block.Block
		n := 0 // rows in to
		for from, err := range p.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if to == nil && from.Sparse != nil {
				to = block.NewSparseFor(spec, 0, rows, 0)
			} else if to == nil {
				to = block.NewFor(spec, 0, rows)
			}
			for r, y := range from.Y {
				if !keep(y) {
					continue
				}
				copyRow(to, n, from, r)
				if n++; n < rows {
					continue
				}
				if !yield(to, nil) {
					return
				}
				n = 0
				if to.First += int64(rows); to.Sparse != nil {
					to.Clear(to.First)
				}
			}
		}
		if n > 0 {
			yield(to.Slice(0, n), nil)
		}
	}
}

// copyRow copies row r of from to row n of to. If the blocks are sparse, it appends the row.
func copyRow(to *block.Block, n int, from *block.Block, r int) {
	if from.Sparse != nil {
		to.AppendRow(from, r)
		return
	}
	copy(to.X[n*to.Stride:(n+1)*to.Stride], from.X[r*from.Stride:])
	if to.Y[n] = from.Y[r]; to.W != nil {
		to.W[n] = from.W[r]
	}
}

// words is the number of words with the bits of one chunk.
const words = block.ChunkRows / 64

// A choice is a cluster for some rows of src. It passes each piece on to the cluster of src, with the chunks of src that
// hold the rows of the piece.
type choice struct {
	src        block.Source
	chosenBits []uint64
	rowsBefore []int64 // number of chosen rows before each chunk of src; the last element is their total
}

func newChoice(src block.Source, chosen []uint64) *choice {
	c, n := &choice{src: src, chosenBits: chosen}, int64(0)
	for chunk := range slices.Chunk(chosen, words) {
		c.rowsBefore = append(c.rowsBefore, n)
		n += ones(chunk)
	}
	c.rowsBefore = append(c.rowsBefore, n)
	return c
}

func ones(bitmap []uint64) (n int64) {
	for _, w := range bitmap {
		n += int64(bits.OnesCount64(w))
	}
	return n
}

// pickView leaves the chosen rows of a piece, which the own arguments of the piece tell.
const pickView = "passes.pick"

var _ = newView(pickView, reflect.TypeFor[struct{}](), leavePicked)

// Picked is the own arguments of a piece with a view that picks rows. IsPick tells such views.
type Picked struct {
	Chosen []uint64 // a bit for each row of the piece's chunks
	Own    any      // the own arguments for the views that follow, and for the task
}

// IsPick tells whether the own arguments of a piece with the view are a Picked.
func IsPick(v block.View) bool { return v.Name == pickView }

// Pass makes a pass; see block.Cluster.
func (c *choice) Pass(ctx context.Context, p block.Pass, merge func(result any) error) error {
	cluster, views := block.RemoteOf(c.src)
	inner, pieces := p, make([][]int64, len(p.Pieces))
	for i, chunks := range p.Pieces {
		pieces[i] = c.chunksAround(chunks)
	}
	p.Pieces, p.Views = pieces, slices.Concat(views, []block.View{{Name: pickView, Args: struct{}{}}}, p.Views)
	p.OwnArgs = func(i int) any {
		own := Picked{Chosen: c.bits(inner.Pieces[i], pieces[i])}
		if inner.OwnArgs != nil {
			own.Own = inner.OwnArgs(i)
		}
		return own
	}
	return cluster.Pass(ctx, p, merge)
}

// chunksAround returns the chunks of src that contain rows of the given chunks of the choice.
func (c *choice) chunksAround(chunks []int64) (of []int64) {
	for _, chunk := range chunks {
		// one after the chunk with the choice's row chunk*block.ChunkRows
		first, _ := slices.BinarySearch(c.rowsBefore, chunk*block.ChunkRows+1)
		for first--; first < len(c.rowsBefore)-1 && c.rowsBefore[first] < (chunk+1)*block.ChunkRows; first++ {
			if n := len(of); n == 0 || of[n-1] < int64(first) {
				of = append(of, int64(first))
			}
		}
	}
	return of
}

// bits returns, for the chunks of src in of, the bits of the rows that belong to the given chunks of the choice.
func (c *choice) bits(chunks, of []int64) (all []uint64) {
	for _, from := range of {
		n := c.rowsBefore[from]
		for _, w := range c.chosenBits[from*words : min((from+1)*words, int64(len(c.chosenBits)))] {
			own := uint64(0)
			for ; w != 0; w &= w - 1 {
				if _, ok := slices.BinarySearch(chunks, n/block.ChunkRows); ok {
					own |= w & -w
				}
				n++
			}
			all = append(all, own)
		}
	}
	return all
}

// leavePicked returns the chosen rows of a piece, in blocks of a chunk, and the own arguments that are left.
func leavePicked(ctx context.Context, src block.Source, _, own any) (block.Source, any, error) {
	picked, is := own.(Picked)
	if !is {
		return nil, nil, ErrProgramsDiffer
	}
	rows, err := block.Collect(ctx, Pick(src, ones(picked.Chosen), block.ChunkRows, func() func(float32) bool {
		row := -1
		return func(float32) bool {
			row++
			return picked.Chosen[row/64]>>(row%64)&1 > 0
		}
	}, nil))
	if err != nil {
		return nil, nil, err
	}
	return block.AssumeValid(block.Source(rows)), picked.Own, nil
}
