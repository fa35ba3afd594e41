package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The loops below do one thing at the processor's full speed, as limits for the other kernels.

// fmaChains is the number of independent chains of fused multiply-adds that keeps every pipe busy: latency times
// throughput, 4 times 2 on most processors, and some to spare.
const fmaChains = 12

// peak runs n rounds of fmaChains vector fmas.
func (w *Writer) peak() {
	w.begin("Peak")
	n := w.GP64()
	w.Load(w.Param("n"), n)
	acc, x := w.full(fmaChains), w.full(1)[0]
	w.zero(append(acc, x)...)
	loop, done := w.label("loop"), w.label("done")
	w.TESTQ(n, n)
	w.JZ(ref(done))
	w.Label(loop)
	for _, a := range acc {
		w.fmap(x, x, a)
	}
	w.DECQ(n)
	w.JNZ(ref(loop))
	w.Label(done)
	w.end()
}

// sweepVectors is how many vectors a round of a sweep over memory takes.
const sweepVectors = 8

// sweep walks over the whole rounds of x, which begins at a multiple of a vector's bytes.
func (w *Writer) sweep(name string, move func(v reg.VecVirtual, m operand.Mem)) {
	w.begin(name)
	x, n := w.slice("x")
	v := w.full(sweepVectors)
	w.zero(v...)
	loop, done := w.label("loop"), w.label("done")
	per := sweepVectors * w.ISA.Bytes / w.Size
	w.CMPQ(n, imm(per))
	w.JB(ref(done))
	w.Label(loop)
	for k, r := range v {
		move(r, mem(x, k*w.ISA.Bytes))
	}
	w.ADDQ(imm(sweepVectors*w.ISA.Bytes), x)
	w.SUBQ(imm(per), n)
	w.CMPQ(n, imm(per))
	w.JAE(ref(loop))
	w.Label(done)
}

// limits writes the loops that measure the machine.
func (w *Writer) limits() {
	w.peak()
	w.sweep("Load", func(v reg.VecVirtual, m operand.Mem) { w.movp(m, v) })
	w.end()
	w.sweep("Stream", func(v reg.VecVirtual, m operand.Mem) { w.VMOVNTPS(v, m) })
	w.SFENCE()
	w.end()
}
