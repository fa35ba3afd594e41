package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A columnVector is eight columns whose state is updated, and whose weights aren't yet.
type columnVector struct {
	z, root reg.VecVirtual
	weights reg.VecVirtual // before the update, as float32
	seen    reg.OpmaskVirtual
}

func (a adaptive) columnVector() columnVector { return columnVector{a.ZMM(), a.ZMM(), a.YMM(), a.K()} }

// pipelined updates the state of eight columns, then the weights of the eight before. Without that order, instructions that wait
// for a square root fill the processor's schedulers, and the square root of the next columns begins late.
func (a adaptive) pipelined(count operand.Op) {
	loop, last := a.label("columns"), a.label("last")
	before, present := a.columnVector(), a.columnVector()
	a.XORQ(a.column, a.column)
	a.updateState(before)
	a.ADDQ(imm(8), a.column)
	a.CMPQ(a.column, count)
	a.JAE(ref(last))
	a.Label(loop)
	a.updateState(present)
	a.updateWeights(before)
	a.VMOVAPD(present.z, before.z)
	a.VMOVAPD(present.root, before.root)
	a.VMOVAPS(present.weights, before.weights)
	a.KMOVB(present.seen, before.seen)
	a.ADDQ(imm(8), a.column)
	a.CMPQ(a.column, count)
	a.JB(ref(loop))
	a.Label(last)
	a.updateWeights(before)
}

// updateState updates the state of the columns at a.column.
func (a adaptive) updateState(c columnVector) {
	x, old, g, n, root := a.ZMM(), a.ZMM(), a.ZMM(), a.ZMM(), a.ZMM()
	a.VCVTPS2PD(a.at("x", 4, 0), x)
	a.VMOVUPS(a.at("w", 4, 0), c.weights)
	a.VCVTPS2PD(c.weights, old)
	a.VPXORQ(g, g, g)
	a.VCMPPD(operand.U8(notEqual), g, x, c.seen)
	a.VMULPD(a.slope, x, x)
	a.VMOVUPD(a.at("n", 8, 0), n)
	a.VMULPD(x, x, g)
	a.VADDPD(g, n, c.seen, n)
	a.VMOVUPD(n, a.at("n", 8, 0))
	a.VMOVUPD(a.at("root", 8, 0), root)
	a.VMOVAPD(root, c.root)
	a.VSQRTPD(n, c.seen, c.root)
	a.VMOVUPD(c.root, a.at("root", 8, 0))
	a.VSUBPD(root, c.root, root)
	a.VMULPD(a.inverse, root, root)
	a.VMULPD(old, root, root)
	a.VSUBPD(root, x, x)
	a.VMOVUPD(a.at("z", 8, 0), c.z)
	a.VADDPD(x, c.z, c.seen, c.z)
	a.VMOVUPD(c.z, a.at("z", 8, 0))
}

// updateWeights updates the weights of the eight columns before a.column.
func (a adaptive) updateWeights(c columnVector) {
	const offset = -8
	size, live := a.ZMM(), a.K()
	l1, signXorNot := a.at("l1", 8, offset), operand.U8(0xd2) // p ^ (^q & r)
	a.VANDPD(a.bits(1<<63-1), c.z, size)
	a.VCMPPD(operand.U8(greater), l1, size, c.seen, live)
	a.VSUBPD(l1, size, size)
	a.VADDPD(a.beta, c.root, c.root)
	a.VMULPD(a.inverse, c.root, c.root)
	a.VADDPD(a.at("l2", 8, offset), c.root, c.root)
	a.VDIVPD(c.root, size, size)
	a.VPTERNLOGQ_Z(signXorNot, a.bits(1<<63), c.z, live, size)
	a.VCVTPD2PS(size, c.seen, c.weights)
	a.VMOVUPS(c.weights, a.at("w", 4, offset))
	a.addToScore(c.weights, offset)
}
