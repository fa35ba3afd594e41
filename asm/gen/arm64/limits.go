package arm64

// The loops below do one thing at the processor's full speed, as limits for the other kernels.

// fmaChains is the number of independent chains of fused multiply-adds that keeps every pipe busy: latency times
// throughput, 4 times 4 on the widest processors, and some to spare.
const fmaChains = 24

// peak runs n rounds of fmaChains vector fmas.
func (w *Writer) peak() {
	w.begin("Peak", 0)
	n := w.load(w.param("n"))
	acc, x := w.vecs(fmaChains), w.vec()
	w.zero(append(acc, x)...)
	loop, done := w.label("loop"), w.label("done")
	w.op("CBZ", n, done)
	w.here(loop)
	for _, a := range acc {
		w.fma(x, x, a)
	}
	w.op("SUB", imm(1), n)
	w.op("CBNZ", n, loop)
	w.here(done)
	w.op("RET")
}

// sweepVectors is how many vectors a round of a sweep over memory takes.
const sweepVectors = 16

// sweep walks over the whole rounds of x.
func (w *Writer) sweep(name string, move func(x mem, v []vec)) {
	w.begin(name, 0)
	x, n := w.slice("x")
	v := w.vecs(sweepVectors)
	w.zero(v...)
	loop, done := w.label("loop"), w.label("done")
	per := sweepVectors * w.per()
	w.op("CMP", imm(per), n)
	w.op("BLO", done)
	w.here(loop)
	move(mem{x, 0}, v)
	w.op("ADD", imm(sweepVectors*vectorBytes), x)
	w.op("SUB", imm(per), n)
	w.op("CMP", imm(per), n)
	w.op("BHS", loop)
	w.here(done)
	w.op("RET")
}

// limits writes the loops that measure the machine.
func (w *Writer) limits() {
	w.peak()
	w.sweep("Load", func(x mem, v []vec) { w.ld(x, v...) })
	w.sweep("Stream", func(x mem, v []vec) {
		for k := 0; k < len(v); k += 2 {
			w.stnp(v[k], v[k+1], mem{x.base, k * vectorBytes})
		}
	})
}
