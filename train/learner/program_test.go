package learner_test

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/schema"
)

// A program is a source that a program wrote by itself.
type program struct {
	spec   *schema.Spec
	rows   int64
	blocks []*block.Block
}

func (p *program) Spec() *schema.Spec { return p.spec }

func (p *program) Rows() int64 { return p.rows }

func (p *program) Blocks(context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for _, b := range p.blocks {
			if !yield(b, nil) {
				return
			}
		}
	}
}

// data returns the same blocks in memory.
func (p *program) data() *block.Data { return block.NewData(p.spec, p.blocks) }

// A seekable program reads its rows in any order, from the blocks.
type seekable struct{ *program }

func (s seekable) Sparse() bool { return false }

func (s seekable) ReadRows(rows []uint32, to *block.Block) error {
	for i, r := range rows {
		for _, b := range s.blocks {
			if at := int64(r) - b.First; at >= 0 && at < int64(b.Len()) {
				copy(to.X[i*to.Stride:(i+1)*to.Stride], b.X[int(at)*b.Stride:])
				if to.Y[i] = 0; int(at) < len(b.Y) {
					to.Y[i] = b.Y[at]
				}
				if to.W != nil && int(at) < len(b.W) {
					to.W[i] = b.W[at]
				}
			}
		}
	}
	return nil
}

func (s seekable) ReadGroup(c int, to *block.Block) error {
	var rows []uint32
	for r := range min(int64(to.Len()), s.rows-int64(c)*kernel.GroupRows) {
		rows = append(rows, uint32(int64(c)*kernel.GroupRows+r))
	}
	return s.ReadRows(rows, to)
}

// programRows returns correct rows of three Boolean features and a bias, in blocks of a chunk, with weights if asked
// for.
func programRows(rows, classes int, weighted bool) *program {
	spec := &schema.Spec{Features: []string{"a", "b", "c"}, Bias: true, Label: "y", Weighted: weighted}
	for c := range classes {
		spec.Classes = append(spec.Classes, schema.IntClass(int64(c)))
	}
	p := &program{spec: spec, rows: int64(rows)}
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(classes)))
	for first := 0; first < rows; first += block.ChunkRows {
		b := block.NewFor(spec, int64(first), min(block.ChunkRows, rows-first))
		for r := range b.Len() {
			row := b.X[r*b.Stride:]
			for c := range 3 {
				row[c] = float32(rng.IntN(2))
			}
			row[3] = 1
			if class := int(row[0]+row[1]) % classes; rng.IntN(20) > 0 {
				b.Y[r] = float32(class)
			} else {
				b.Y[r] = float32(rng.IntN(classes))
			}
			if classes == 2 {
				b.Y[r] = 2*b.Y[r] - 1
			}
			if weighted {
				b.W[r] = float64(1 + rng.IntN(3))
			}
		}
		p.blocks = append(p.blocks, b)
	}
	return p
}

// cut splits a block in two, of which the first has that many rows.
func (p *program) cut(n, rows int) {
	b := p.blocks[n]
	p.blocks = slices.Replace(p.blocks, n, n+1, b.Slice(0, rows), b.Slice(rows, b.Len()))
}

func (p *program) relabel(f func(y float32) float32) {
	for _, b := range p.blocks {
		for r := range b.Y {
			b.Y[r] = f(b.Y[r])
		}
	}
}

// bias sets the bias, and the element after it.
func (p *program) bias(bias, padding float32) {
	for _, b := range p.blocks {
		for r := range b.Len() {
			b.X[r*b.Stride+3], b.X[r*b.Stride+4] = bias, padding
		}
	}
}

// sparse turns blocks into sparse ones.
func (p *program) sparse(blocks ...int) {
	for _, n := range blocks {
		for b := range testproblems.Sparse(block.NewData(p.spec, p.blocks[n:n+1])).Blocks(context.Background()) {
			p.blocks[n] = b
		}
	}
}

// clone returns a deep copy.
func (p *program) clone() *program {
	spec := *p.spec
	c := &program{spec: &spec, rows: p.rows}
	for _, b := range p.blocks {
		c.blocks = append(c.blocks, b.Clone())
	}
	return c
}

// oddValues are values that a feature, a label, a weight or padding should hardly have.
var oddValues = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, -2, 1e-45, 1e30, math.NaN(), math.Inf(1), math.Inf(-1)}

// mutate changes one thing. It tells whether the rows may then be different correct rows. The caller leaves those out.
func (p *program) mutate(rng *rand.Rand) (what string, other bool) {
	n := rng.IntN(len(p.blocks))
	b := p.blocks[n]
	r, value := rng.IntN(b.Len()), oddValues[rng.IntN(len(oddValues))]
	set := func(at *float32) bool {
		was := *at
		*at = float32(value)
		return was != *at
	}
	switch rng.IntN(12) {
	case 0:
		return "feature", set(&b.X[r*b.Stride+rng.IntN(3)]) && value-value == 0
	case 1:
		set(&b.X[r*b.Stride+3])
		return "bias", false
	case 2:
		set(&b.X[r*b.Stride+4+rng.IntN(4)])
		return "padding", false
	case 3:
		classes := len(p.spec.Classes)
		right := classes == 2 && math.Abs(value) == 1 || classes > 2 && value >= 0 && value < float64(classes) && value == math.Trunc(value)
		return "label", set(&b.Y[r]) && right
	case 4:
		if b.W == nil {
			return "nothing", false
		}
		was := b.W[r]
		b.W[r] = value
		return "weight", was != value && value >= 0 && value-value == 0
	case 5:
		p.cut(n, []int{r, r / 512 * 512, max(1, b.Len()/2)}[rng.IntN(3)])
		return "two blocks of one", false
	case 6:
		for i := range p.blocks {
			p.sparse(i)
		}
		return "sparse rows", false
	case 7:
		p.sparse(n)
		return "sparse rows of a block", false
	case 8:
		b.First = int64(rng.IntN(3)) * int64(rng.IntN(10000))
		return "First", false
	case 9:
		b.Stride, b.Cols = []int{8, 4, 0, -8, 16}[rng.IntN(5)], []int{4, 3, 0, -1, 5, 4}[rng.IntN(6)]
		return "stride and columns", false
	case 10:
		i := rng.IntN(len(p.blocks))
		if p.blocks[n], p.blocks[i] = p.blocks[i], p.blocks[n]; rng.IntN(2) > 0 {
			p.blocks[n] = nil
		}
		return "order of blocks", false
	}
	b.X, b.Y = b.X[:rng.IntN(len(b.X)+1)], b.Y[:min(len(b.Y), rng.IntN(2*len(b.Y)))]
	return "lengths", false
}
