package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotTail adds the last n elements, fewer than a full round of the accumulators. Whole vectors go to the first ones, a
// masked one to the next, and zeros to the others, as padding would.
func (w *Writer) dotTail(masks operand.Mem, x, y, n reg.GPVirtual, acc []reg.VecVirtual) {
	parts := make([]string, accs)
	for k := range parts {
		parts[k] = w.label("part")
	}
	done := w.label("padded")
	for k, a := range acc {
		w.CMPQ(n, imm(w.Per))
		w.JB(ref(parts[k]))
		if k == accs-1 {
			break // fewer than a full round: the last vector is never whole
		}
		v := w.YMM()
		w.movp(mem(x, 0), v)
		w.fmap(mem(y, 0), v, a)
		w.ADDQ(imm(vectorBytes), x)
		w.ADDQ(imm(vectorBytes), y)
		w.SUBQ(imm(w.Per), n)
	}
	table, mask := w.GP64(), w.YMM()
	for k, a := range acc {
		w.Label(parts[k])
		w.LEAQ(masks, table)
		w.NEGQ(n)
		w.movp(operand.Mem{Base: table, Index: n, Scale: uint8(w.Size), Disp: vectorBytes}, mask)
		vx, vy := w.YMM(), w.YMM()
		w.maskLoad(mem(x, 0), mask, vx)
		w.maskLoad(mem(y, 0), mask, vy)
		w.fmap(vy, vx, a)
		if k+1 < accs {
			w.zero(vx)
			for _, rest := range acc[k+1:] {
				w.addp(vx, rest, rest)
			}
			w.JMP(ref(done))
		}
	}
	w.Label(done)
}
