package amd64

// copyNonTemporal writes a cache line at a time, so that it leaves as a whole. A copy of floats is a copy of bytes, so
// float32 is enough.
func (w *Writer) copyNonTemporal() {
	w.begin("CopyNonTemporal")
	dst, n := w.slice("dst")
	src, loop, done := w.GP64(), w.label("loop"), w.label("done")
	w.Load(w.Param("src").Base(), src)
	w.SUBQ(imm(cacheLine/w.Size), n)
	w.JB(ref(done))
	w.Label(loop)
	v := w.ymms(cacheLine / vectorBytes)
	for k, r := range v {
		w.movp(vec(src, k), r)
	}
	for k, r := range v {
		w.VMOVNTPS(r, vec(dst, k))
	}
	w.ADDQ(imm(cacheLine), src)
	w.ADDQ(imm(cacheLine), dst)
	w.SUBQ(imm(cacheLine/w.Size), n)
	w.JAE(ref(loop))
	w.Label(done)
	w.end()

	w.begin("Fence")
	w.SFENCE()
	w.RET()
}
