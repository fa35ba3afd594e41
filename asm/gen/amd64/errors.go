package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	groups   = 2  // full vectors of rows that are scored together
	maxCols  = 64 // most elements of a row that is scored with rows across the lanes
	rowLanes = 32 // lanes of a float32 dot product; float64 has half as many
)

// errors: with rows across the lanes of a vector, the folding tree of a dot product is a tree of vector additions, which
// costs one addition for a whole vector of rows. Rows are transposed to the stack once for all candidates.
//
// Each product loads a column of rows and broadcasts a weight. Two vectors of rows share a broadcast; with the 32
// registers of AVX-512 two candidates also share the columns, so that a product costs one load, no more than the ports
// take.
func (w *Writer) errors() {
	w.begin("Errors", "func(x, y, w []T, stride int, counts []int64)", "counts the errors of candidates.")
	w.Attributes(0) // the stack may have to grow
	b := tileOfRows{Writer: w, scratch: w.AllocLocal(groups * maxCols * w.ISA.Bytes), x: w.GP64(), y: w.GP64(), size: w.GP64()}
	w.Load(w.Param("x").Base(), b.x)
	w.Load(w.Param("y").Base(), b.y)
	for h := 1; h <= w.lanes(); h *= 2 {
		b.sums = append(b.sums, w.full(w.ISA.Bytes/vectorBytes*groups))
	}
	b.columns, b.weight = w.full(groups), w.full(1)[0]
	n := w.GP64()
	w.Load(w.Param("y").Len(), n)
	w.Load(w.Param("stride"), b.size)
	w.SHLQ(imm(w.log2()), b.size)

	rest, done := w.label("rest"), w.label("done")
	rows := groups * w.ISA.Bytes / w.Size
	for b.cols = w.Per; b.cols <= min(maxCols, inRegisters*w.Per); b.cols += w.Per {
		next, block := w.label("wider"), w.label("block")
		w.CMPQ(b.size, imm(b.cols*w.Size))
		w.JNE(ref(next))
		w.Label(block)
		w.CMPQ(n, imm(rows))
		w.JB(ref(rest))
		b.fill()
		b.count()
		w.ADDQ(imm(groups*w.ISA.Bytes), b.y)
		w.SUBQ(imm(rows), n)
		w.JMP(ref(block))
		w.Label(next)
	}
	w.Label(rest)
	w.countRows(b.x, b.y, n, b.size, done)
	w.Label(done)
	w.end()
}

// A tileOfRows is rows whose columns lie side by side on the stack: column c of group g is vector c*groups + g.
type tileOfRows struct {
	*Writer
	scratch operand.Mem
	x, y    reg.GPVirtual // the next rows and their labels
	size    reg.GPVirtual // bytes of a row
	cols    int

	sums    [][]reg.VecVirtual // for each depth of the tree, candidate and group
	columns []reg.VecVirtual   // for each group, where candidates share them
	weight  reg.VecVirtual
}

func (b tileOfRows) column(c, g int) operand.Mem {
	return b.scratch.Offset((c*groups + g) * b.ISA.Bytes)
}

// fill transposes the next rows, squares of 32 bytes at a time, and advances x beyond them.
func (b tileOfRows) fill() {
	parts := b.ISA.Bytes / vectorBytes // of a vector of rows
	for g := range groups {
		for part := range parts {
			for col := 0; col < b.cols; col += b.Per {
				row, v := b.GP64(), b.ymms(b.Per)
				b.MOVQ(b.x, row)
				for k, r := range v {
					b.movp(mem(row, col*b.Size), r)
					if k < b.Per-1 {
						b.ADDQ(b.size, row)
					}
				}
				for k, r := range b.square(v) {
					b.movp(r, b.column(col+k, g).Offset(part*vectorBytes))
				}
			}
			for range b.Per {
				b.ADDQ(b.size, b.x)
			}
		}
	}
}

// count adds the errors that every candidate makes on the rows of the tile.
func (b tileOfRows) count() {
	positive := make([]reg.GPVirtual, groups) // a bit for each row
	for g := range positive {
		v := b.full(1)[0]
		positive[g] = b.GP64()
		b.movp(mem(b.y, g*b.ISA.Bytes), v)
		b.positives(v, positive[g])
	}
	weights, counts, k := b.candidates()
	both, one, done := b.label("both"), b.label("one"), b.label("counted")
	if b.ISA.Bytes > vectorBytes {
		b.Label(both)
		b.CMPQ(k, imm(2))
		b.JB(ref(one))
		b.step(2, positive, weights, counts)
		b.SUBQ(imm(2), k)
		b.JMP(ref(both))
	}
	b.Label(one)
	b.TESTQ(k, k)
	b.JZ(ref(done))
	b.step(1, positive, weights, counts)
	b.DECQ(k)
	b.JMP(ref(one))
	b.Label(done)
}

// step counts for the next candidates and advances beyond them.
func (b tileOfRows) step(candidates int, positive []reg.GPVirtual, weights, counts reg.GPVirtual) {
	for i, s := range b.tree(weights, candidates, 0, 1, 0) {
		bits := b.GP64()
		b.positives(s, bits)
		b.XORQ(positive[i%groups], bits)
		b.POPCNTQ(bits, bits)
		b.ADDQ(bits, mem(counts, i/groups*8))
	}
	b.ADDQ(imm(candidates*8), counts)
	b.ADDQ(imm(candidates*b.cols*b.Size), weights)
}

// lanes is the number of lanes of a dot product.
func (w *Writer) lanes() int { return rowLanes * 4 / w.Size }

// tree computes, for each candidate and group, the sum that the fold leaves in lane j when h lanes are left, and returns
// it in the registers of its depth. It goes down first, so that one set of registers for each depth is enough. Lanes that
// no column meets are zeros and drop out.
func (b tileOfRows) tree(weights reg.GPVirtual, candidates, depth, h, j int) []reg.VecVirtual {
	if h == b.lanes() {
		return b.leaf(weights, candidates, depth, j)
	}
	sum := b.tree(weights, candidates, depth, 2*h, j)
	if j+h < b.cols {
		for i, r := range b.tree(weights, candidates, depth+1, 2*h, j+h) {
			b.addp(r, sum[i], sum[i])
		}
	}
	return sum
}

// leaf computes lane j before the fold: the products of columns j, j+L, j+2L and so on.
func (b tileOfRows) leaf(weights reg.GPVirtual, candidates, depth, j int) []reg.VecVirtual {
	acc := b.sums[depth][:candidates*groups]
	for c := j; c < b.cols; c += b.lanes() {
		columns := make([]operand.Op, groups)
		for g := range columns {
			columns[g] = b.column(c, g)
			if candidates > 1 {
				b.movp(columns[g], b.columns[g])
				columns[g] = b.columns[g]
			}
		}
		for i := range candidates {
			b.broadcast(mem(weights, (i*b.cols+c)*b.Size), b.weight)
			for g, column := range columns {
				if r := acc[i*groups+g]; c == j {
					b.mulp(column, b.weight, r)
				} else {
					b.fmap(column, b.weight, r)
				}
			}
		}
	}
	return acc
}

// positives sets a bit of dst for each element of v that is > 0; a NaN isn't. It overwrites v.
func (w *Writer) positives(v reg.VecVirtual, dst reg.GPVirtual) {
	const greaterOrdered = 0x1e
	if v.Size() == 64 {
		zero, k := w.ZMM(), w.K()
		w.zero(zero)
		w.pick(w.VCMPPS, w.VCMPPD)(operand.U8(greaterOrdered), zero, v, k)
		w.KMOVW(k, dst.As32())
		return
	}
	zero := w.YMM()
	w.zero(zero)
	if v.Size() == 16 {
		zero = zero.AsX().(reg.VecVirtual)
	}
	w.pick(w.VCMPPS, w.VCMPPD)(operand.U8(greaterOrdered), zero, v, v)
	if w.Size == 4 {
		w.VMOVMSKPS(v, dst.As32())
	} else {
		w.VMOVMSKPD(v, dst.As32())
	}
}

// countRows counts on n rows, one at a time.
func (w *Writer) countRows(x, y, n, size reg.GPVirtual, done string) {
	row := w.label("row")
	w.TESTQ(n, n)
	w.JZ(ref(done))
	w.Label(row)
	label, positive := w.XMM(), w.GP64()
	w.movs(mem(y, 0), label)
	w.positive(label, positive)
	weights, counts, k := w.candidates()
	candidate := w.label("candidate")
	w.Label(candidate)
	bit := w.GP64()
	w.positive(w.scoreMemory(x, inMemory(weights, size)), bit)
	w.XORQ(positive, bit)
	w.ADDQ(bit, mem(counts, 0))
	w.ADDQ(imm(8), counts)
	w.ADDQ(size, weights)
	w.DECQ(k)
	w.JNZ(ref(candidate))
	w.ADDQ(size, x)
	w.ADDQ(imm(w.Size), y)
	w.DECQ(n)
	w.JNZ(ref(row))
}

// positive sets dst to 1 if element 0 of v is > 0, else to 0. It overwrites v.
func (w *Writer) positive(v reg.VecVirtual, dst reg.GPVirtual) {
	w.positives(v, dst)
	w.ANDQ(imm(1), dst)
}

// candidates loads where the candidates and their counts begin, and how many there are.
func (w *Writer) candidates() (weights, counts, k reg.GPVirtual) {
	weights, counts, k = w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("w").Base(), weights)
	w.Load(w.Param("counts").Base(), counts)
	w.Load(w.Param("counts").Len(), k)
	return weights, counts, k
}
