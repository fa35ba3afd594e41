package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	groups   = 2  // vectors of rows that are scored together
	maxCols  = 64 // most elements of a row that is scored with rows across the lanes
	rowLanes = 32 // lanes of a float32 dot product; float64 has half as many
)

// errors: with rows across the lanes of a vector, the folding tree of a dot product is a tree of vector additions, which
// costs one addition for a whole vector of rows. Rows are transposed to the stack once for all candidates.
func (w *Writer) errors() {
	w.begin("Errors", "func(x, y, w []T, stride int, counts []int64)", "counts the errors of candidates.")
	w.Attributes(0) // the stack may have to grow
	scratch := w.AllocLocal(groups * maxCols * vectorBytes)
	x, y := w.GP64(), w.GP64()
	w.Load(w.Param("x").Base(), x)
	w.Load(w.Param("y").Base(), y)
	n := w.GP64()
	w.Load(w.Param("y").Len(), n)
	size := w.GP64()
	w.Load(w.Param("stride"), size)
	w.SHLQ(imm(w.log2()), size)

	rest, done := w.label("rest"), w.label("done")
	widest := min(maxCols, inRegisters*w.Per)
	for cols := w.Per; cols <= widest; cols += w.Per {
		next, block := w.label("wider"), w.label("block")
		w.CMPQ(size, imm(cols*w.Size))
		w.JNE(ref(next))
		w.Label(block)
		w.CMPQ(n, imm(groups*w.Per))
		w.JB(ref(rest))
		w.toColumns(x, size, scratch, cols)
		w.countBlock(y, scratch, cols)
		w.ADDQ(imm(groups*vectorBytes), y)
		w.SUBQ(imm(groups*w.Per), n)
		w.JMP(ref(block))
		w.Label(next)
	}
	w.Label(rest)
	w.countRows(x, y, n, size, done)
	w.Label(done)
	w.end()
}

// toColumns writes the next rows to scratch as columns, groups of rows side by side, and advances x beyond them.
func (w *Writer) toColumns(x, size reg.GPVirtual, scratch operand.Mem, cols int) {
	for g := range groups {
		for col := 0; col < cols; col += w.Per {
			row, v := w.GP64(), w.ymms(w.Per)
			w.MOVQ(x, row)
			for k, r := range v {
				w.movp(mem(row, col*w.Size), r)
				if k < w.Per-1 {
					w.ADDQ(size, row)
				}
			}
			for k, r := range w.square(v) {
				w.movp(r, scratch.Offset(((col+k)*groups+g)*vectorBytes))
			}
		}
		for range w.Per {
			w.ADDQ(size, x)
		}
	}
}

// countBlock adds the errors that every candidate makes on the rows in scratch, whose labels are at y.
func (w *Writer) countBlock(y reg.GPVirtual, scratch operand.Mem, cols int) {
	zero := w.YMM()
	positive := make([]reg.GPVirtual, groups) // a bit for each row
	w.zero(zero)
	for g := range positive {
		m := w.YMM()
		positive[g] = w.GP64()
		w.movp(vec(y, g), m)
		w.positives(m, zero, positive[g])
	}
	weights, counts, k := w.candidates()

	candidate := w.label("candidate")
	w.Label(candidate)
	sum := w.GP64()
	for g, s := range w.tree(weights, scratch, cols, 1, 0) {
		bits := w.GP64()
		z := w.YMM()
		w.zero(z)
		w.positives(s, z, bits)
		w.XORQ(positive[g], bits)
		w.POPCNTQ(bits, bits)
		if g == 0 {
			sum = bits
		} else {
			w.ADDQ(bits, sum)
		}
	}
	w.ADDQ(sum, mem(counts, 0))
	w.ADDQ(imm(8), counts)
	w.ADDQ(imm(cols*w.Size), weights)
	w.DECQ(k)
	w.JNZ(ref(candidate))
}

// positives sets a bit of dst for each element of v that is > 0; a NaN isn't. It overwrites v.
func (w *Writer) positives(v, zero reg.VecVirtual, dst reg.GPVirtual) {
	const greaterOrdered = 0x1e
	if w.Size == 4 {
		w.VCMPPS(operand.U8(greaterOrdered), zero, v, v)
		w.VMOVMSKPS(v, dst.As32())
	} else {
		w.VCMPPD(operand.U8(greaterOrdered), zero, v, v)
		w.VMOVMSKPD(v, dst.As32())
	}
}

// lanes is the number of lanes of a dot product.
func (w *Writer) lanes() int { return rowLanes * 4 / w.Size }

// tree returns, for each group, the sum that the fold leaves in lane j when h lanes are left. It goes down first, so that
// few sums are alive at a time. Lanes that no column meets are zeros and drop out.
func (w *Writer) tree(weights reg.GPVirtual, scratch operand.Mem, cols, h, j int) []reg.VecVirtual {
	if h == w.lanes() {
		return w.leaf(weights, scratch, cols, j)
	}
	sum := w.tree(weights, scratch, cols, 2*h, j)
	if j+h < cols {
		for g, r := range w.tree(weights, scratch, cols, 2*h, j+h) {
			w.addp(r, sum[g], sum[g])
		}
	}
	return sum
}

// leaf returns lane j before the fold: the products of columns j, j+L, j+2L and so on.
func (w *Writer) leaf(weights reg.GPVirtual, scratch operand.Mem, cols, j int) []reg.VecVirtual {
	acc := w.ymms(groups)
	for c := j; c < cols; c += w.lanes() {
		b := w.YMM()
		w.broadcast(mem(weights, c*w.Size), b)
		for g, r := range acc {
			column := scratch.Offset((c*groups + g) * vectorBytes)
			if c == j {
				w.mulp(column, b, r)
			} else {
				w.fmap(column, b, r)
			}
		}
	}
	return acc
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
	zero := w.XMM()
	w.zero(zero)
	w.positives(v, zero, dst)
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
