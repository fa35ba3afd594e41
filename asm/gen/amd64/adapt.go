package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// adapt writes Adapt, a vector of float64 at a time. A square root and a division for each column are the limit.
func (w *Writer) adapt() {
	w.begin("Adapt")
	base, left := map[string]reg.GPVirtual{}, reg.GPVirtual(nil)
	base["w"], left = w.slice("w")
	for _, name := range []string{"z", "n", "root", "x", "rates"} {
		base[name] = w.GP64()
		w.Load(w.Param(name).Base(), base[name])
	}
	constant := func(src operand.Op) reg.VecVirtual {
		v := w.full(1)[0]
		w.VBROADCASTSD(src, v)
		return v
	}
	slope := constant(w.address(w.Param("slope")))
	var rates [4]reg.VecVirtual // 1/alpha, beta, l1, l2
	for i := range rates {
		rates[i] = constant(mem(base["rates"], 8*i))
	}
	bit, sign := w.GP64(), w.full(1)[0]
	w.MOVQ(operand.U64(1<<63), bit)
	w.VMOVQ(bit, sign.AsX())
	w.VBROADCASTSD(sign.AsX(), sign)

	c, loop, done := w.GP64(), w.label("loop"), w.label("done")
	w.XORQ(c, c)
	w.CMPQ(c, left)
	w.JAE(ref(done))
	w.Label(loop)
	step := w.ISA.Bytes / 8
	at := func(name string, size int) operand.Mem {
		return operand.Mem{Base: base[name], Index: c, Scale: uint8(size)}
	}
	next := func() reg.VecVirtual { return w.full(1)[0] }
	x, old, zero := next(), next(), next()
	w.VCVTPS2PD(at("x", 4), x)
	w.VCVTPS2PD(at("w", 4), old)
	w.VXORPD(zero.AsY(), zero.AsY(), zero.AsY())
	seen := w.selected(notEqual, x, zero)
	g, n, root, z := next(), next(), next(), next()
	w.VMULPD(slope, x, g)
	w.VMULPD(g, g, n)
	w.VADDPD(at("n", 8), n, n)
	w.VSQRTPD(n, root)
	w.VSUBPD(at("root", 8), root, z)
	w.VMULPD(rates[0], z, z)
	w.VMULPD(old, z, z)
	w.VSUBPD(z, g, z)
	w.VADDPD(at("z", 8), z, z)
	w.keep(at("n", 8), n, seen)
	w.keep(at("root", 8), root, seen)
	w.keep(at("z", 8), z, seen)

	w.adaptWeight(at("w", 4), z, root, old, sign, seen, rates)
	w.ADDQ(imm(step), c)
	w.CMPQ(c, left)
	w.JB(ref(loop))
	w.Label(done)
	w.end()
}

// adaptWeight stores the weights that follow from z and root. It keeps the weights old whose lanes seen does not select.
func (w *Writer) adaptWeight(to operand.Mem, z, root, old, sign reg.VecVirtual, seen reg.Register, rates [4]reg.VecVirtual) {
	size, weight := w.full(1)[0], w.full(1)[0]
	w.VANDNPD(z, sign, size)
	beyond := w.selected(above, size, rates[2])
	w.VSUBPD(rates[2], size, size)
	w.VADDPD(rates[1], root, root)
	w.VMULPD(rates[0], root, root)
	w.VADDPD(rates[3], root, root)
	w.VDIVPD(root, size, weight)
	w.VANDPD(sign, z, z)
	w.VXORPD(sign, z, z)
	w.VXORPD(z, weight, weight)
	if w.ISA.Bytes > vectorBytes {
		w.VMOVAPD_Z(weight, beyond, weight)
		w.VMOVAPD(weight, seen, old)
		w.VCVTPD2PS(old, weight.AsY())
		w.VMOVUPS(weight.AsY(), to)
	} else {
		w.VANDPD(beyond, weight, weight)
		w.VBLENDVPD(seen, weight, old, weight)
		w.VCVTPD2PSY(weight, weight.AsX())
		w.VMOVUPS(weight.AsX(), to)
	}
}

// The predicates of selected: not equal, which holds for NaN, and above, which does not.
const (
	notEqual = 4
	above    = 0x1e
)

// selected selects the lanes of x for which the predicate holds with y.
func (w *Writer) selected(predicate uint8, x, y operand.Op) (s reg.Register) {
	s = w.YMM()
	if w.ISA.Bytes > vectorBytes {
		s = w.K()
	}
	w.VCMPPD(operand.U8(predicate), y, x, s)
	return s
}

// keep stores v in the elements whose lanes s selects, and leaves the others as they are.
func (w *Writer) keep(to operand.Mem, v reg.VecVirtual, s reg.Register) {
	kept := w.full(1)[0]
	w.VMOVUPD(to, kept)
	if w.ISA.Bytes > vectorBytes {
		w.VMOVAPD(v, s, kept)
	} else {
		w.VBLENDVPD(s, v, kept, kept)
	}
	w.VMOVUPD(kept, to)
}
