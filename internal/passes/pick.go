package passes

import (
	"context"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"halfspace/block"
)

// Pick returns a source of some rows of src, in their order. keep is called once for each pass. What it returns is called with the label
// of each row of src in turn, and tells whether the source has that row. The source has that many rows, in blocks of up to each rows.
func Pick(src block.Source, rows int64, each int, keep func() func(y float32) bool) block.Source {
	return picked{src, rows, each, keep}
}

type picked struct {
	block.Source
	rows int64
	each int
	keep func() func(y float32) bool
}

func (p picked) Rows() int64 { return p.rows }

func (p picked) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		keep, spec, rows := p.keep(), p.Spec(), int(min(p.rows, int64(p.each)))
		var to *block.Block
		n := 0 // rows in it
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

// copyRow copies row r of a block to row n of another one. To a sparse block it appends the row.
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

// Picked returns a cluster that makes passes over the chosen rows of src, in their order. Row i is chosen if bit i%64 of chosen[i/64] is
// set. It sends each piece to the cluster of src, with the runs of src that hold the piece's rows. It returns nil if src has no cluster.
func Picked(src block.Source, chosen []uint64) block.Cluster {
	if cluster, _ := block.RemoteOf(src); cluster == nil {
		return nil
	}
	c := &choice{src: src, chosen: chosen}
	n := int64(0)
	for run := range slices.Chunk(chosen, words) {
		c.before = append(c.before, n)
		for _, w := range run {
			n += int64(bits.OnesCount64(w))
		}
	}
	c.before = append(c.before, n)
	return c
}

// words is the number of words with the bits of a run.
const words = block.RunRows / 64

// A choice is a cluster for some rows of src.
type choice struct {
	src    block.Source
	chosen []uint64
	before []int64 // chosen rows before each run of src, and all
}

// pickTask computes a task, which is the argument, on the chosen rows of a piece. Its result has the bytes of the task's.
var pickTask = NewOwn("passes.pick", pickPiece)

// A pick is what a piece has of its own.
type pick struct {
	chosen []uint64 // the bits of its rows
	own    string   // of EncodeOwn
	err    string
}

// Pass makes a pass; see block.Cluster.
func (c *choice) Pass(ctx context.Context, p block.Pass, merge func(result any) error) error {
	coded, err := EncodePass(p)
	if err != nil {
		return err
	}
	pieces := make([][]int64, len(p.Pieces))
	for i, runs := range p.Pieces {
		pieces[i] = c.around(runs)
	}
	return EachOwn(ctx, c.src, pickTask, string(coded), pieces, func(i int) pick {
		own, err := EncodeOwn(p, i)
		if err != nil {
			return pick{err: err.Error()}
		}
		return pick{chosen: c.bits(p.Pieces[i], pieces[i]), own: string(own)}
	}, func(r string) error {
		result, err := DecodeResult(p, []byte(r))
		if err != nil {
			return err
		}
		return merge(result)
	})
}

// around returns the runs of src that have rows of some runs of the choice.
func (c *choice) around(runs []int64) (of []int64) {
	for _, run := range runs {
		first, _ := slices.BinarySearch(c.before, run*block.RunRows+1) // the first run with so many rows before it comes after
		for first--; first < len(c.before)-1 && c.before[first] < (run+1)*block.RunRows; first++ {
			if n := len(of); n == 0 || of[n-1] < int64(first) {
				of = append(of, int64(first))
			}
		}
	}
	return of
}

// bits returns the bits of the rows of some runs of src that are in some runs of the choice.
func (c *choice) bits(runs, of []int64) (all []uint64) {
	for _, from := range of {
		n := c.before[from]
		for _, w := range c.chosen[from*words : min((from+1)*words, int64(len(c.chosen)))] {
			own := uint64(0)
			for ; w != 0; w &= w - 1 {
				if _, ok := slices.BinarySearch(runs, n/block.RunRows); ok {
					own |= w & -w
				}
				n++
			}
			all = append(all, own)
		}
	}
	return all
}

func pickPiece(ctx context.Context, piece Piece, coded string, own pick) (string, error) {
	if own.err != "" {
		return "", errors.New(own.err)
	}
	pass, err := DecodePass([]byte(coded))
	if err != nil {
		return "", err
	}
	n := int64(0)
	for _, w := range own.chosen {
		n += int64(bits.OnesCount64(w))
	}
	chosen, err := block.Collect(ctx, Pick(piece.Source, n, block.RunRows, func() func(float32) bool {
		row := -1
		return func(float32) bool {
			row++
			return own.chosen[row/64]>>(row%64)&1 > 0
		}
	}))
	if err != nil {
		return "", err
	}
	result, err := Run(ctx, pass, []byte(own.own), block.Trust(block.Source(chosen)), piece.Number, piece.Workers)
	return string(result), err
}
