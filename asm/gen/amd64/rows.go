package amd64

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weights are w of a row kernel. The kernel has one variant, with w in registers, for each number of vectors of a row
// up to inRegisters. Another variant is for longer rows, with w in memory.
type weights struct {
	regs []reg.VecVirtual // vectors of w, or none
	base reg.GPVirtual    // its memory
	size reg.GPVirtual    // its bytes, which are those of a row
}

// variants calls body once for each variant. The length of w selects the variant's code. body falls out of its end.
func (w *Writer) variants(done string, body func(weights)) {
	base, n := w.slice("w")
	size := w.GP64()
	w.MOVQ(n, size)
	w.SHLQ(imm(w.log2()), size)
	for nv := 1; nv <= inRegisters; nv++ {
		next := w.label("wider")
		w.CMPQ(size, imm(nv*vectorBytes))
		w.JNE(ref(next))
		regs := w.ymms(nv)
		for k, r := range regs {
			w.movp(vec(base, k), r)
		}
		body(weights{regs, base, size})
		w.JMP(ref(done))
		w.Label(next)
	}
	body(inMemory(base, size))
}

// inMemory returns the weights at base, of size bytes.
func inMemory(base, size reg.GPVirtual) weights { return weights{nil, base, size} }

// store writes weights that are in registers back to memory.
func (w *Writer) store(ws weights) {
	for k, r := range ws.regs {
		w.movp(r, vec(ws.base, k))
	}
}

// score returns the dot product of the row at x with the weights in lane 0. Lanes that only meet padding stay +0. They
// matter only to the sign of a zero. exact asks for that sign; a kernel that only compares doesn't need it.
func (w *Writer) score(x reg.GPVirtual, ws weights, exact bool) reg.VecVirtual {
	if ws.regs == nil {
		return w.fold(w.sumsInMemory(x, ws))
	}
	acc := w.ymms(min(accs, len(ws.regs)))
	for k, a := range acc {
		if exact {
			w.zero(a)
			w.fmap(vec(x, k), ws.regs[k], a)
		} else {
			w.mulp(vec(x, k), ws.regs[k], a)
		}
	}
	for k := accs; k < len(ws.regs); k++ {
		w.fmap(vec(x, k), ws.regs[k], acc[k%accs])
	}
	if !exact {
		return w.foldSome(acc)
	}
	if pad := len(ws.regs) % accs; len(acc) < accs || pad != 0 {
		zero := w.YMM()
		w.zero(zero)
		for k := pad; k < len(acc) && len(ws.regs) > accs; k++ {
			w.addp(zero, acc[k], acc[k])
		}
		for len(acc) < accs {
			acc = append(acc, zero)
		}
	}
	return w.foldPadded(acc)
}

// foldPadded is fold for accumulators of which some may be one shared vector of zeros, which it doesn't overwrite.
func (w *Writer) foldPadded(a []reg.VecVirtual) reg.VecVirtual {
	lo, hi := w.YMM(), w.YMM()
	w.addp(a[2], a[0], lo)
	w.addp(a[3], a[1], hi)
	w.addp(hi, lo, lo)
	return w.foldVector(lo)
}

// foldSome folds up to four accumulators; the missing ones are zeros.
func (w *Writer) foldSome(a []reg.VecVirtual) reg.VecVirtual {
	switch len(a) {
	case 4:
		w.addp(a[2], a[0], a[0])
		w.addp(a[3], a[1], a[1])
		w.addp(a[1], a[0], a[0])
	case 3:
		w.addp(a[2], a[0], a[0])
		w.addp(a[1], a[0], a[0])
	case 2:
		w.addp(a[1], a[0], a[0])
	}
	return w.foldVector(a[0])
}

// sumsInMemory returns the lanes of score, for weights in memory: rounds of four vectors, then the rest of the row and zeros beyond.
func (w *Writer) sumsInMemory(x reg.GPVirtual, ws weights) (acc []reg.VecVirtual) {
	acc = w.ymms(accs)
	w.zero(acc...)
	off, left := w.GP64(), w.GP64()
	w.XORQ(off, off)
	w.MOVQ(ws.size, left)
	round, rest := w.label("round"), w.label("rest")
	w.CMPQ(left, imm(accs*vectorBytes))
	w.JB(ref(rest))
	w.Label(round)
	for k, a := range acc {
		v := w.YMM()
		w.movp(at(ws.base, off, k*vectorBytes), v)
		w.fmap(at(x, off, k*vectorBytes), v, a)
	}
	w.ADDQ(imm(accs*vectorBytes), off)
	w.SUBQ(imm(accs*vectorBytes), left)
	w.CMPQ(left, imm(accs*vectorBytes))
	w.JAE(ref(round))

	w.Label(rest)
	w.TESTQ(left, left)
	folded, padded := w.label("fold"), w.label("pad")
	w.JZ(ref(folded))
	zero := w.YMM()
	for k := range accs - 1 {
		v := w.YMM()
		w.movp(at(ws.base, off, k*vectorBytes), v)
		w.fmap(at(x, off, k*vectorBytes), v, acc[k])
		if k == accs-2 {
			break
		}
		more := w.label("more")
		w.CMPQ(left, imm((k+1)*vectorBytes))
		w.JNE(ref(more))
		w.zero(zero)
		for _, a := range acc[k+1:] {
			w.addp(zero, a, a)
		}
		w.JMP(ref(folded))
		w.Label(more)
	}
	w.Label(padded)
	w.zero(zero)
	w.addp(zero, acc[accs-1], acc[accs-1])
	w.Label(folded)
	return acc
}

// scores writes Scores, one row after the other. With vectors of 64 bytes, rows of 32 float64 have code of their
// own.
func (w *Writer) scores() {
	w.begin("Scores")
	x := w.GP64()
	w.Load(w.Param("x").Base(), x)
	out, n := w.slice("out")
	done := w.label("done")
	w.TESTQ(n, n)
	w.JZ(ref(done))
	if w.ISA.Bytes > vectorBytes {
		w.scoresOfBlocks(x, out, n, done)
	}
	w.variants(done, func(ws weights) {
		row := w.label("row")
		w.Label(row)
		s := w.score(x, ws, true)
		w.movs(s, mem(out, 0))
		w.ADDQ(ws.size, x)
		w.ADDQ(imm(w.Size), out)
		w.DECQ(n)
		w.JNZ(ref(row))
	})
	w.Label(done)
	w.end()
}

// scores64 writes Scores for float64 alone: for float32, AVX-512 has the code of AVX2.
func (w *Writer) scores64() {
	if w.Size == 8 {
		w.scores()
	}
}

// scoresOfBlocks writes Scores of rows of blockRow bytes, the blocks of linalg.Panel, in vectors of 64 bytes: eight rows
// at a time, whose lanes it folds together. It falls out of its end for other rows, and for the rows that are left.
func (w *Writer) scoresOfBlocks(x, out, n reg.GPVirtual, done string) {
	base, length := w.slice("w")
	other, eight := w.label("other"), w.label("eight")
	w.CMPQ(length, imm(blockCols))
	w.JNE(ref(other))
	w.CMPQ(n, imm(8))
	w.JB(ref(other))
	var regs []reg.VecVirtual
	for k := range blockRow / w.ISA.Bytes {
		regs = append(regs, w.ZMM())
		w.movp(mem(base, k*w.ISA.Bytes), regs[k])
	}
	w.Label(eight)
	even, odd := w.foldRows(x, regs, 0), w.foldRows(x, regs, 1)
	lo, hi := w.ZMM(), w.ZMM()
	w.VUNPCKLPD(odd, even, lo)
	w.VUNPCKHPD(odd, even, hi)
	w.addp(hi, lo, lo)
	w.movp(lo, mem(out, 0))
	w.ADDQ(operand.U32(8*blockRow), x)
	w.ADDQ(imm(w.ISA.Bytes), out)
	w.SUBQ(imm(8), n)
	w.CMPQ(n, imm(8))
	w.JAE(ref(eight))
	w.TESTQ(n, n)
	w.JZ(ref(done))
	w.Label(other)
}

// foldRows returns the scores of rows first, first+2, first+4 and first+6 at x: of each, the last two lanes of the fold.
func (w *Writer) foldRows(x reg.GPVirtual, regs []reg.VecVirtual, first int) reg.VecVirtual {
	var rows [4]reg.VecVirtual
	for i := range rows {
		acc := [2]reg.VecVirtual{w.ZMM(), w.ZMM()}
		w.zero(acc[:]...)
		for k, r := range regs {
			w.fmap(mem(x, (first+2*i)*blockRow+k*w.ISA.Bytes), r, acc[k%2])
		}
		rows[i] = acc[0]
		w.addp(acc[1], acc[0], acc[0])
	}
	// halves adds the first half of each vector's quarters to the second half, and joins the sums of both vectors.
	halves := func(a, b reg.VecVirtual, first, second uint8) reg.VecVirtual {
		lo, hi := w.ZMM(), w.ZMM()
		w.VSHUFF64X2(operand.U8(first), b, a, lo)
		w.VSHUFF64X2(operand.U8(second), b, a, hi)
		w.addp(hi, lo, lo)
		return lo
	}
	return halves(halves(rows[0], rows[1], 0x44, 0xee), halves(rows[2], rows[3], 0x44, 0xee), 0x88, 0xdd)
}

// A visitor is what the two epochs share: the test of a row and the update of w.
type visitor struct {
	*Writer
	margin, sign reg.VecVirtual
	eta          operand.Mem
	log, updates reg.GPVirtual
	room         operand.Mem // length of log
}

func (w *Writer) visitor() visitor {
	margin, sign := w.XMM(), w.signs()
	w.Load(w.Param("margin"), margin)
	v := w.logging()
	v.margin, v.eta, v.sign = margin, w.address(w.Param("eta")), sign
	return v
}

// logging returns a visitor that adds rows to w and logs them.
func (w *Writer) logging() visitor {
	v := visitor{Writer: w, updates: w.GP64()}
	v.log = w.GP64()
	w.Load(w.Param("log").Base(), v.log)
	v.room = w.address(w.Param("log").Len())
	w.XORQ(v.updates, v.updates)
	return v
}

// test jumps to wrong if the row at x, whose label is at y, is a mistake: the score with y's sign is <= margin. A
// comparison with NaN sets the carry flag and falls through.
func (v visitor) test(x reg.GPVirtual, y operand.Mem, ws weights, wrong string) {
	label := v.XMM()
	v.movs(y, label)
	v.and(v.sign, label, label)
	s := v.score(x, ws, false)
	v.xor(label, s, s)
	v.compare(s, v.margin)
	v.JAE(ref(wrong))
}

// update adds eta times the label at y times the row at x to w, and logs the position. It jumps to full if the log is
// full.
func (v visitor) update(x reg.GPVirtual, y operand.Mem, ws weights, position reg.GPVirtual, full string) {
	a := v.YMM()
	v.movs(y, a.AsX())
	v.muls(v.eta, a.AsX(), a.AsX())
	v.addScaled(x, a, ws)
	v.record(position, full)
}

// addScaled adds a, in lane 0, times the row at x to w.
func (v visitor) addScaled(x reg.GPVirtual, a reg.VecVirtual, ws weights) {
	v.broadcast(a.AsX(), a)
	for k, r := range ws.regs {
		v.fmap(vec(x, k), a, r)
	}
	if ws.regs == nil {
		off := v.GP64()
		v.XORQ(off, off)
		loop := v.label("add")
		v.Label(loop)
		t := v.YMM()
		v.movp(at(ws.base, off, 0), t)
		v.fmap(at(x, off, 0), a, t)
		v.movp(t, at(ws.base, off, 0))
		v.ADDQ(imm(vectorBytes), off)
		v.CMPQ(off, ws.size)
		v.JB(ref(loop))
	}
}

// record logs the position of an update. It jumps to full if the log is full.
func (v visitor) record(position reg.GPVirtual, full string) {
	v.MOVL(position.As32(), operand.Mem{Base: v.log, Index: v.updates, Scale: 4})
	v.INCQ(v.updates)
	v.CMPQ(v.updates, v.room)
	v.JE(ref(full))
}

// prefetchAhead is the number of bytes ahead of a row that an epoch prefetches. While the processor recovers from a
// mispredicted mistake, it begins no loads. The prefetched lines must last for that time. From 1 to 8 KiB measure alike on
// Zen 3; on Zen 4, an epoch takes 10 % longer from 2 KiB on.
const prefetchAhead = 1024

// epoch writes Epoch.
func (w *Writer) epoch() {
	w.begin("Epoch")
	w.epochOf(func() rule {
		v := w.visitor()
		return rule{v, v.test, func(x reg.GPVirtual, y operand.Mem, ws weights, position reg.GPVirtual, _, full string) {
			v.update(x, y, ws, position, full)
		}}
	})
}

// epochAveraged writes EpochAveraged. late stays in memory: the registers hold w, and no score waits for late.
func (w *Writer) epochAveraged() {
	w.begin("EpochAveraged")
	w.epochOf(func() rule {
		v, late, visits := w.visitor(), w.GP64(), w.address(w.Param("visits"))
		w.Load(w.Param("late").Base(), late)
		return rule{v, v.test, func(x reg.GPVirtual, y operand.Mem, ws weights, position reg.GPVirtual, _, full string) {
			a, before, c := w.YMM(), w.GP64(), w.YMM()
			w.movs(y, a.AsX())
			w.muls(v.eta, a.AsX(), a.AsX())
			v.addScaled(x, a, ws)
			w.MOVQ(visits, before)
			w.ADDQ(position, before)
			w.zero(c)
			w.VCVTSI2SSQ(before, c.AsX(), c.AsX())
			w.muls(v.eta, c.AsX(), c.AsX())
			w.muls(y, c.AsX(), c.AsX())
			v.addToMemory(x, c, late, ws)
			v.record(position, full)
		}}
	})
}

// addToMemory adds c, in lane 0, times the row at x to a vector in memory that is as long as the weights.
func (v visitor) addToMemory(x reg.GPVirtual, c reg.VecVirtual, to reg.GPVirtual, ws weights) {
	if ws.regs == nil {
		v.addScaled(x, c, inMemory(to, ws.size))
		return
	}
	v.broadcast(c.AsX(), c)
	for k := range ws.regs {
		t := v.YMM()
		v.movp(vec(to, k), t)
		v.fmap(vec(x, k), c, t)
		v.movp(t, vec(to, k))
	}
}

// A rule is the visitor of an epoch over rows in file order. test jumps to wrong if the row at x, whose label is at y,
// is to change w. update changes it. It may jump to next, and w and the log stay as they are.
type rule struct {
	visitor
	test   func(x reg.GPVirtual, y operand.Mem, ws weights, wrong string)
	update func(x reg.GPVirtual, y operand.Mem, ws weights, position reg.GPVirtual, next, full string)
}

// epochOf writes a plain branch on the mistake. The predictor is right for most rows, so that many rows are in flight.
// The update stands outside of the loop.
func (w *Writer) epochOf(begin func() rule) {
	x := w.GP64()
	w.Load(w.Param("x").Base(), x)
	y, n := w.slice("y")
	v := begin()
	r := w.GP64()
	w.XORQ(r, r)
	done := w.label("done")
	w.TESTQ(n, n)
	w.JZ(ref(done))
	w.variants(done, func(ws weights) {
		row, next, wrong, full, stop := w.label("row"), w.label("next"), w.label("wrong"), w.label("full"), w.label("stop")
		label := operand.Mem{Base: y, Index: r, Scale: uint8(w.Size)}
		w.Label(row)
		for k := 0; k < len(ws.regs); k += cacheLine / vectorBytes {
			w.PREFETCHT1(mem(x, prefetchAhead+k*vectorBytes))
		}
		v.test(x, label, ws, wrong)
		w.Label(next)
		w.ADDQ(ws.size, x)
		w.INCQ(r)
		w.CMPQ(r, n)
		w.JB(ref(row))
		w.JMP(ref(stop))

		w.Label(wrong)
		v.update(x, label, ws, r, next, full)
		w.JMP(ref(next))
		w.Label(full)
		w.INCQ(r)
		w.Label(stop)
		w.store(ws)
	})
	w.Label(done)
	w.Store(r, w.Return("rows"))
	w.Store(v.updates, w.Return("updates"))
	w.end()
}

// epochPassive writes EpochPassive. The squared norm of a row does not depend on w: it is computed while the score is
// on its way. The label is -1 or 1, so that its sign bit takes the place of a multiplication.
func (w *Writer) epochPassive() {
	w.begin("EpochPassive")
	w.epochOf(func() rule {
		v, loss, one := w.logging(), w.XMM(), w.StaticGlobal("one")
		w.DataAttributes(attr.RODATA | attr.NOPTR)
		w.AddDatum(0, operand.U64(math.Float64bits(1)))
		v.sign = w.signs()
		return rule{v, func(x reg.GPVirtual, y operand.Mem, ws weights, wrong string) {
			minus, zero := w.XMM(), w.XMM() // the sign of minus the label
			w.VMOVSS(y, minus)
			w.VANDNPS(v.sign, minus, minus)
			s := w.score(x, ws, false)
			w.VXORPS(minus, s, s)
			w.VCVTSS2SD(s, s, s)
			w.VADDSD(one, s, loss)
			w.zero(zero)
			w.VUCOMISD(zero, loss)
			w.JHI(ref(wrong))
		}, func(x reg.GPVirtual, y operand.Mem, ws weights, position reg.GPVirtual, next, full string) {
			square, zero, factor, label, changed := w.rowSquares(x, ws), w.XMM(), w.YMM(), w.XMM(), w.label("changed")
			size := factor.AsX()
			w.zero(zero)
			w.VUCOMISD(zero, square)
			w.JEQ(ref(next))
			w.VADDSD(w.address(w.Param("slack")), square, square)
			w.VDIVSD(square, loss, size)
			w.VMOVSD(w.address(w.Param("most")), square)
			w.VMINSD(size, square, size) // NaN if size is NaN
			w.VUCOMISD(zero, size)
			w.JNE(ref(changed))
			w.JPC(ref(next))
			w.Label(changed)
			w.VMOVSS(y, label)
			w.VANDPS(v.sign, label, label)
			w.VCVTSD2SS(size, size, size)
			w.VXORPS(label, size, size)
			v.addScaled(x, factor, ws)
			v.record(position, full)
		}}
	})
}

// rowSquares returns the squared norm of the row at x in float64, as MaxSquaredNorm computes it.
func (w *Writer) rowSquares(x reg.GPVirtual, ws weights) reg.VecVirtual {
	if ws.regs == nil {
		at, left := w.GP64(), w.GP64()
		w.MOVQ(x, at)
		w.MOVQ(ws.size, left)
		w.SHRQ(imm(w.log2()), left)
		return w.squares(at, left)
	}
	acc := w.ymms(min(accs, 2*len(ws.regs)))
	for k := range 2 * len(ws.regs) {
		if k < len(acc) {
			w.VCVTPS2PD(mem(x, k*4*w.Size), acc[k])
			w.VMULPD(acc[k], acc[k], acc[k])
		} else {
			w.addSquares(mem(x, k*4*w.Size), acc[k%accs])
		}
	}
	return w.inFloat64().foldSome(acc)
}
