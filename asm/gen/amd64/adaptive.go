package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An adaptive is the state of EpochAdaptive's loop. The weights lie in memory, since a row changes them after the score
// of the row before is known, and their states fill the registers.
type adaptive struct {
	*elements                                 // of one float64 vector
	slope, inverse, beta, sign reg.VecVirtual // in all lanes
	column                     reg.GPVirtual  // number of the first column of a step
	base                       map[string]reg.GPVirtual
}

// epochAdaptive writes EpochAdaptive. A square root and a division for each column are the limit.
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
	row, next, done := w.label("row"), w.label("next"), w.label("done")
	label := operand.Mem{Base: y, Index: r, Scale: uint8(w.Size)}
	rows := w.address(w.Param("y").Len())
	w.CMPQ(r, rows)
	w.JE(ref(done))
	w.Label(row)
	s := w.scoreMemory(x, inMemory(base, size))
	w.VMULSS(label, s, s) // exact, since the label is -1 or 1
	slope := w.slopeOf(e, s, label, next)

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
	w.adapt(e, slope, x, base, size)

	w.MOVL(r.As32(), operand.Mem{Base: v.log, Index: v.updates, Scale: 4})
	w.INCQ(v.updates)
	w.CMPQ(v.updates, v.room)
	w.JNE(ref(next))
	w.INCQ(r)
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

// slopeOf returns the derivative of a row's loss by the score, in lane 0. s holds the margin in float32. Without a loss it
// jumps to next.
func (w *Writer) slopeOf(e *elements, s reg.VecVirtual, label operand.Mem, next string) reg.VecVirtual {
	margin, slope, hinge, logistic, signed := w.full(1)[0], w.full(1)[0], w.GP8(), w.label("logistic"), w.label("signed")
	w.VCVTSS2SD(s, s, margin.AsX())
	one := w.XMM()
	w.VMOVSD(e.c(1), one)
	w.Load(w.Param("hinge"), hinge)
	w.TESTB(hinge, hinge)
	w.JZ(ref(logistic))
	w.VUCOMISD(margin.AsX(), one)
	w.JLS(ref(next))
	w.VMOVAPD(one, slope.AsX())
	w.JMP(ref(signed))
	w.Label(logistic)
	w.VXORPD(e.bits(1<<63), margin, margin)
	w.VMOVAPD(e.sigmoidOf(func() lanes { return lanes{margin} })[0], slope)
	w.Label(signed)
	y := w.XMM()
	w.VXORPS(y, y, y)
	w.VCVTSS2SD(label, y, y)
	w.VMULSD(y, slope.AsX(), slope.AsX())
	w.VXORPD(e.bits(1<<63), slope.AsX(), slope.AsX())
	return slope
}

// adapt updates all columns by the row at x, eight at a time: the weights are loaded as they are stored.
func (w *Writer) adapt(e *elements, slope reg.VecVirtual, x, weights, size reg.GPVirtual) {
	a := adaptive{elements: e, slope: slope, column: w.GP64(), base: map[string]reg.GPVirtual{"x": x, "w": weights}}
	for _, name := range []string{"z", "n", "root", "l1", "l2"} {
		a.base[name] = w.GP64()
		w.Load(w.Param(name).Base(), a.base[name])
	}
	a.inverse, a.beta, a.sign = w.full(1)[0], w.full(1)[0], w.full(1)[0]
	bit := w.GP64()
	w.VBROADCASTSD(w.address(w.Param("inverse")), a.inverse)
	w.VBROADCASTSD(w.address(w.Param("beta")), a.beta)
	w.MOVQ(operand.U64(1<<63), bit)
	w.VMOVQ(bit, a.sign.AsX())
	w.VBROADCASTSD(a.sign.AsX(), a.sign)
	loop := w.label("columns")
	w.XORQ(a.column, a.column)
	w.Label(loop)
	to := a.at("w", 4, 0)
	if e.wide() {
		w.VMOVUPS(a.columns(0).AsY(), to)
	} else {
		all, high := w.YMM(), w.XMM()
		w.VMOVAPD(a.columns(0), all)
		w.VMOVAPD(a.columns(4).AsX(), high)
		w.VINSERTF128(imm(1), high, all, all)
		w.VMOVUPS(all, to)
	}
	w.ADDQ(imm(8), a.column)
	bytes := w.GP64()
	w.LEAQ(operand.Mem{Base: weights, Index: a.column, Scale: 4}, bytes)
	w.SUBQ(weights, bytes)
	w.CMPQ(bytes, size)
	w.JB(ref(loop))
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
	a.VANDNPD(z, a.sign, size)
	beyond := a.compare(greater, lanes{size}, l1)
	a.VSUBPD(l1, size, size)
	a.VADDPD(a.beta, root, root)
	a.VMULPD(a.inverse, root, root)
	a.VADDPD(a.at("l2", 8, offset), root, root)
	a.VDIVPD(root, size, weight)
	a.VANDPD(a.sign, z, z)
	a.VXORPD(a.sign, z, z)
	a.VXORPD(z, weight, weight)
	kept := a.blend(seen, a.blend(beyond, lanes{weight}, lanes{a.nothing()}), lanes{old})[0]
	if a.wide() {
		a.VCVTPD2PS(kept, kept.AsY())
	} else {
		a.VCVTPD2PSY(kept, kept.AsX())
	}
	return kept
}

// nothing returns a vector of zeros.
func (a adaptive) nothing() reg.VecVirtual {
	v := a.full(1)[0]
	a.VXORPD(v.AsY(), v.AsY(), v.AsY())
	return v
}

// keep stores the state in the elements whose lanes seen selects, and leaves the others as they are. It branches, since rows
// seldom have zeros but in their padding.
func (a adaptive) keep(offset int, seen selection, n, root, z reg.VecVirtual) {
	some, done := a.label("some"), a.label("kept")
	state := []reg.VecVirtual{n, root, z}
	at := func(i int) operand.Mem { return a.at([]string{"n", "root", "z"}[i], 8, offset) }
	bits := a.GP32()
	if a.wide() {
		a.KMOVB(seen[0], bits)
		a.CMPL(bits, imm(255))
	} else {
		a.VMOVMSKPD(seen[0], bits)
		a.CMPL(bits, imm(15))
	}
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
