package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An adaptive is the state of EpochAdaptive's loop over the columns. The weights lie in memory. Their states fill the registers.
type adaptive struct {
	*elements                           // of one float64 vector
	slope, inverse, beta reg.VecVirtual // in all lanes
	column               reg.GPVirtual  // number of the first column of a step
	base                 map[string]reg.GPVirtual
	sums                 []reg.VecVirtual // of the score of the next row; the first belongs to the next vector of weights
}

// epochAdaptive writes EpochAdaptive. A square root for each column, and the way from a score to the next, are the limit. So a
// row that changes the weights adds each vector of them to the score of the next row as soon as it is known.
func (w *Writer) epochAdaptive() {
	e := &elements{Writer: w.inFloat64(), group: 1, offsets: map[uint64]int{}}
	e.beginTable()
	w.begin("EpochAdaptive")
	x, y, r := w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("x").Base(), x)
	w.Load(w.Param("y").Base(), y)
	base, size := w.slice("w")
	w.SHLQ(imm(w.log2()), size)
	v := w.logging()
	w.XORQ(r, r)
	row, scored, next, done := w.label("row"), w.label("scored"), w.label("next"), w.label("done")
	rows := w.address(w.Param("y").Len())
	w.CMPQ(r, rows)
	w.JE(ref(done))
	w.Label(row)
	sums := w.sumsInMemory(x, inMemory(base, size))
	w.Label(scored)
	slope := w.slopeOf(e, w.fold(sums), operand.Mem{Base: y, Index: r, Scale: uint8(w.Size)}, next)

	weights, unweighted := w.GP64(), w.label("unweighted")
	w.Load(w.Param("weights").Base(), weights)
	w.TESTQ(weights, weights)
	w.JZ(ref(unweighted))
	w.VMULSD(operand.Mem{Base: weights, Index: r, Scale: 8}, slope.AsX(), slope.AsX())
	w.Label(unweighted)
	zero, changed := w.XMM(), w.label("changed")
	w.zero(zero)
	w.VUCOMISD(zero, slope.AsX())
	w.JNE(ref(changed))
	w.JPC(ref(next))
	w.Label(changed)
	w.VBROADCASTSD(slope.AsX(), slope)
	w.MOVL(r.As32(), operand.Mem{Base: v.log, Index: v.updates, Scale: 4})
	w.INCQ(v.updates)
	w.INCQ(r)
	after := w.GP64()
	w.LEAQ(at(x, size, 0), after)
	w.CMPQ(r, rows)
	w.CMOVQEQ(x, after) // no row follows: score this one again
	w.adapt(e, slope, x, after, base, sums)
	w.CMPQ(v.updates, v.room)
	w.JE(ref(done))
	w.MOVQ(after, x)
	w.CMPQ(r, rows)
	w.JB(ref(scored))
	w.JMP(ref(done))

	w.Label(next)
	w.ADDQ(size, x)
	w.INCQ(r)
	w.CMPQ(r, rows)
	w.JB(ref(row))
	w.Label(done)
	w.Store(r, w.Return("rows"))
	w.Store(v.updates, w.Return("updates"))
	w.end()
}

// slopeOf returns the derivative of a row's loss by the score s, in lane 0. Without a loss it jumps to next. The label is -1
// or 1, so that its sign bit takes the place of a multiplication.
func (w *Writer) slopeOf(e *elements, s reg.VecVirtual, label operand.Mem, next string) reg.VecVirtual {
	minus, slope, hinge, logistic, signed := w.full(1)[0], w.full(1)[0], w.GP8(), w.label("logistic"), w.label("signed")
	sign := w.XMM() // of minus the label
	w.VMOVSS(label, sign)
	w.VANDNPS(e.bits(1<<31), sign, sign)
	w.VXORPS(sign, s, s)
	w.VPSLLQ(imm(32), sign, sign)
	w.VCVTSS2SD(s, s, minus.AsX()) // minus the margin
	w.Load(w.Param("hinge"), hinge)
	w.TESTB(hinge, hinge)
	w.JZ(ref(logistic))
	w.VUCOMISD(e.c(-1), minus.AsX())
	w.JLS(ref(next))
	w.VMOVSD(e.c(1), slope.AsX())
	w.JMP(ref(signed))
	w.Label(logistic)
	w.VMOVAPD(e.sigmoidOf(func() lanes { return lanes{minus} })[0], slope)
	w.Label(signed)
	w.VXORPD(sign, slope.AsX(), slope.AsX())
	return slope
}

// adapt updates all columns by the row at x, eight at a time: the weights are loaded as they are stored. It sums the score of the
// row at after.
func (w *Writer) adapt(e *elements, slope reg.VecVirtual, x, after, weights reg.GPVirtual, sums []reg.VecVirtual) {
	a := adaptive{elements: e, slope: slope, column: w.GP64(), sums: sums,
		base: map[string]reg.GPVirtual{"x": x, "after": after, "w": weights}}
	for _, name := range []string{"z", "n", "root", "l1", "l2"} {
		a.base[name] = w.GP64()
		w.Load(w.Param(name).Base(), a.base[name])
	}
	count := w.address(w.Param("w").Len())
	a.inverse, a.beta = w.full(1)[0], w.full(1)[0]
	w.VBROADCASTSD(w.address(w.Param("inverse")), a.inverse)
	w.VBROADCASTSD(w.address(w.Param("beta")), a.beta)
	w.zero(sums...)
	if e.wide() {
		a.pipelined(count)
	} else {
		a.inTurn(count)
	}
}

// inTurn updates eight columns after the other, in two vectors.
func (a adaptive) inTurn(count operand.Op) {
	loop := a.label("columns")
	a.XORQ(a.column, a.column)
	a.Label(loop)
	all := a.YMM()
	a.VMOVAPD(a.columns(0), all)
	a.VINSERTF128(imm(1), a.columns(4).AsX(), all, all)
	a.VMOVUPS(all, a.at("w", 4, 0))
	a.addToScore(all, 0)
	a.ADDQ(imm(8), a.column)
	a.CMPQ(a.column, count)
	a.JB(ref(loop))
}

// addToScore adds eight weights times their columns of the next row to the first of the sums, and rotates the sums. fold gives
// the same bits for sums that are rotated, since it adds the first to the third and the second to the fourth.
func (a adaptive) addToScore(weights reg.VecVirtual, offset int) {
	a.VFMADD231PS(a.at("after", 4, offset), weights, a.sums[0])
	first := a.YMM()
	a.VMOVAPS(a.sums[0], first)
	for i := range accs - 1 {
		a.VMOVAPS(a.sums[i+1], a.sums[i])
	}
	a.VMOVAPS(first, a.sums[accs-1])
}

// at is the memory of column offset of the step, of elements of size bytes.
func (a adaptive) at(name string, size, offset int) operand.Mem {
	return operand.Mem{Base: a.base[name], Index: a.column, Scale: uint8(size), Disp: offset * size}
}

// columns updates a vector of columns, and returns their weights as float32.
func (a adaptive) columns(offset int) reg.VecVirtual {
	next := func() reg.VecVirtual { return a.full(1)[0] }
	x, old := next(), next()
	a.VCVTPS2PD(a.at("x", 4, offset), x)
	a.VCVTPS2PD(a.at("w", 4, offset), old)
	seen := a.compare(notEqual, lanes{x}, a.nothing())
	g, n, root, z := next(), next(), next(), next()
	a.VMULPD(a.slope, x, g)
	a.VMULPD(g, g, n)
	a.VADDPD(a.at("n", 8, offset), n, n)
	a.VSQRTPD(n, root)
	a.VSUBPD(a.at("root", 8, offset), root, z)
	a.VMULPD(a.inverse, z, z)
	a.VMULPD(old, z, z)
	a.VSUBPD(z, g, z)
	a.VADDPD(a.at("z", 8, offset), z, z)
	a.keep(offset, seen, n, root, z)
	return a.weights(offset, z, root, old, seen)
}

// weights returns the weights that follow from z and root, and the weight old in lanes that seen does not select.
func (a adaptive) weights(offset int, z, root, old reg.VecVirtual, seen selection) reg.VecVirtual {
	l1, size, weight := a.at("l1", 8, offset), a.full(1)[0], a.full(1)[0]
	a.VANDPD(a.bits(1<<63-1), z, size)
	beyond := a.compare(greater, lanes{size}, l1)
	a.VSUBPD(l1, size, size)
	a.VADDPD(a.beta, root, root)
	a.VMULPD(a.inverse, root, root)
	a.VADDPD(a.at("l2", 8, offset), root, root)
	a.VDIVPD(root, size, weight)
	a.VANDNPD(a.bits(1<<63), z, z)
	a.VXORPD(z, weight, weight)
	kept := a.blend(seen, a.blend(beyond, lanes{weight}, lanes{a.nothing()}), lanes{old})[0]
	a.VCVTPD2PSY(kept, kept.AsX())
	return kept
}

// nothing returns a vector of zeros.
func (a adaptive) nothing() reg.VecVirtual {
	v := a.YMM()
	a.VXORPD(v, v, v)
	return v
}

// keep stores the state in the elements whose lanes seen selects, and leaves the others as they are. It branches, since rows
// seldom have zeros but in their padding.
func (a adaptive) keep(offset int, seen selection, n, root, z reg.VecVirtual) {
	some, done := a.label("some"), a.label("kept")
	state := []reg.VecVirtual{n, root, z}
	at := func(i int) operand.Mem { return a.at([]string{"n", "root", "z"}[i], 8, offset) }
	bits := a.GP32()
	a.VMOVMSKPD(seen[0], bits)
	a.CMPL(bits, imm(15))
	a.JNE(ref(some))
	for i, v := range state {
		a.movp(v, at(i))
	}
	a.JMP(ref(done))
	a.Label(some)
	for i, v := range state {
		before := a.full(1)[0]
		a.movp(at(i), before)
		a.movp(a.blend(seen, lanes{v}, lanes{before})[0], at(i))
	}
	a.Label(done)
}
