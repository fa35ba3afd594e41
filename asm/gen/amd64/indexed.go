package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	sliceHeader   = 24 // bytes of a slice in a slice of slices
	cacheLine     = 64
	prefetchRow   = 16 // number of visits ahead at which a row is fetched to the first-level cache
	prefetchLines = 8  // most lines of a row that are fetched ahead; the processor's own prefetcher follows
)

// epochIndexed writes the loop of epoch. It computes the address of each row from its number.
func (w *Writer) epochIndexed() {
	w.begin("EpochIndexed")
	xs, ys := w.GP64(), w.GP64()
	w.Load(w.Param("x").Base(), xs)
	w.Load(w.Param("y").Base(), ys)
	idx := w.GP64()
	w.Load(w.Param("idx").Base(), idx)
	n := w.address(w.Param("idx").Len())
	ahead, end := w.slice("ahead")
	w.LEAQ(operand.Mem{Base: ahead, Index: end, Scale: uint8(w.Size)}, end)
	v := w.visitor()
	i := w.GP64()
	w.XORQ(i, i)
	done := w.label("done")
	w.CMPQ(n, imm(0))
	w.JEQ(ref(done))
	w.variants(done, func(ws weights) {
		row, next, wrong, full, stop := w.label("row"), w.label("next"), w.label("wrong"), w.label("full"), w.label("stop")
		near, fetched := w.label("near"), w.label("fetched")
		w.Label(row)
		w.prefetchAhead(ahead, end, ws, near)
		w.Label(near)
		w.prefetchVisit(xs, ys, idx, i, n, ws, fetched)
		w.Label(fetched)
		x, label := w.locate(xs, ys, operand.Mem{Base: idx, Index: i, Scale: 4}, ws)
		v.test(x, label, ws, wrong)
		w.Label(next)
		w.INCQ(i)
		w.CMPQ(i, n)
		w.JB(ref(row))
		w.JMP(ref(stop))

		w.Label(wrong)
		v.update(x, label, ws, i, full)
		w.JMP(ref(next))
		w.Label(full)
		w.INCQ(i)
		w.Label(stop)
		w.store(ws)
	})
	w.Label(done)
	w.Store(i, w.Return("visits"))
	w.Store(v.updates, w.Return("updates"))
	w.end()
}

// locate returns the address of the row whose number is in memory, and its label.
func (w *Writer) locate(xs, ys reg.GPVirtual, number operand.Mem, ws weights) (x reg.GPVirtual, label operand.Mem) {
	rowGroup, r, y := w.GP64(), w.GP64(), w.GP64()
	x = w.GP64()
	w.MOVL(number, r.As32())
	w.MOVQ(r, rowGroup)
	w.SHRQ(imm(groupShift), rowGroup)
	w.ANDQ(imm(1<<groupShift-1), r)
	w.LEAQ(operand.Mem{Base: rowGroup, Index: rowGroup, Scale: 2}, rowGroup)
	w.MOVQ(r, x)
	w.IMULQ(ws.size, x)
	w.ADDQ(operand.Mem{Base: xs, Index: rowGroup, Scale: 8}, x)
	w.MOVQ(operand.Mem{Base: ys, Index: rowGroup, Scale: 8}, y)
	return x, operand.Mem{Base: y, Index: r, Scale: uint8(w.Size)}
}

// prefetchAhead fetches the next row of ahead to the second-level cache, if there is one.
func (w *Writer) prefetchAhead(ahead, end reg.GPVirtual, ws weights, none string) {
	w.CMPQ(ahead, end)
	w.JAE(ref(none))
	if ws.regs == nil {
		off := w.GP64()
		w.XORQ(off, off)
		loop := w.label("fetch")
		w.Label(loop)
		w.PREFETCHT1(at(ahead, off, 0))
		w.ADDQ(imm(cacheLine), off)
		w.CMPQ(off, ws.size)
		w.JB(ref(loop))
	}
	for off := 0; off < len(ws.regs)*vectorBytes; off += cacheLine {
		w.PREFETCHT1(mem(ahead, off))
	}
	w.ADDQ(ws.size, ahead)
}

// prefetchVisit fetches the label and the first lines of a row that is visited soon to the first-level cache.
func (w *Writer) prefetchVisit(xs, ys, idx, i reg.GPVirtual, n operand.Mem, ws weights, none string) {
	soon := w.GP64()
	w.LEAQ(mem(i, prefetchRow), soon)
	w.CMPQ(soon, n)
	w.JAE(ref(none))
	x, label := w.locate(xs, ys, operand.Mem{Base: idx, Index: soon, Scale: 4}, ws)
	w.PREFETCHT0(label)
	lines := prefetchLines
	if ws.regs != nil {
		lines = (len(ws.regs)*vectorBytes + cacheLine - 1) / cacheLine
	}
	for k := range lines {
		w.PREFETCHT0(mem(x, k*cacheLine))
	}
}

// sparseEpochIndexed writes SparseEpochIndexed. The bases of a row's group come from slices of slices.
func (w *Writer) sparseEpochIndexed() {
	w.begin("SparseEpochIndexed")
	s := w.weightsOf()
	n := w.address(w.Param("rows").Len())
	v := w.sparseVisitor(s)
	i := w.GP64()
	w.XORQ(i, i)
	row, next, near, wrong, done := w.label("row"), w.label("next"), w.label("near"), w.label("wrong"), w.label("end")
	w.Label(row)
	w.CMPQ(i, n)
	w.JAE(ref(done))
	v.prefetch(i, n, near)
	w.Label(near)
	v.idx, v.val = w.GP64(), w.GP64()
	rows, r, rowGroup, ptr, total := w.GP64(), w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("rows").Base(), rows)
	w.MOVL(operand.Mem{Base: rows, Index: i, Scale: 4}, r.As32())
	v.rowGroup(r, rowGroup)
	slices := w.GP64()
	w.Load(w.Param("idx").Base(), slices)
	w.MOVQ(operand.Mem{Base: slices, Index: rowGroup, Scale: 8, Disp: 8}, total)
	w.MOVQ(operand.Mem{Base: slices, Index: rowGroup, Scale: 8}, v.idx)
	v.sliceOf("val", rowGroup, v.val)
	v.sliceOf("ptr", rowGroup, ptr)
	w.LEAQ(operand.Mem{Base: ptr, Index: r, Scale: 8}, ptr)
	y := w.GP64()
	v.sliceOf("y", rowGroup, y)
	label := operand.Mem{Base: y, Index: r, Scale: uint8(w.Size)}
	v.test(ptr, label, total, wrong, done)
	w.Label(next)
	w.INCQ(i)
	w.JMP(ref(row))

	w.Label(wrong)
	v.update(ptr, label, i)
	w.JNE(ref(next))
	w.INCQ(i)
	w.Label(done)
	w.Store(i, w.Return("visits"))
	w.Store(v.updates, w.Return("updates"))
	w.end()
}

// rowGroup splits the number of a row into three times the number of its group and the number within the group.
func (v sparseVisitor) rowGroup(r, rowGroup reg.GPVirtual) {
	v.MOVQ(r, rowGroup)
	v.SHRQ(imm(groupShift), rowGroup)
	v.ANDL(imm(1<<groupShift-1), r.As32())
	v.LEAQ(operand.Mem{Base: rowGroup, Index: rowGroup, Scale: 2}, rowGroup)
}

// sliceOf loads the base of a group's slice in a slice of slices.
func (v sparseVisitor) sliceOf(name string, rowGroup, to reg.GPVirtual) {
	v.Load(v.Param(name).Base(), to)
	v.MOVQ(operand.Mem{Base: to, Index: rowGroup, Scale: 8}, to)
}

// sparseLines is the number of lines of columns and of values that are prefetched of a row that is visited soon.
const sparseLines = 4

// prefetch fetches the first lines of a row that is visited soon, if there is one.
func (v sparseVisitor) prefetch(i reg.GPVirtual, n operand.Mem, none string) {
	rows, r, rowGroup, at, k := v.GP64(), v.GP64(), v.GP64(), v.GP64(), v.GP64()
	v.LEAQ(mem(i, prefetchRow), r)
	v.CMPQ(r, n)
	v.JAE(ref(none))
	v.Load(v.Param("rows").Base(), rows)
	v.MOVL(operand.Mem{Base: rows, Index: r, Scale: 4}, r.As32())
	v.rowGroup(r, rowGroup)
	v.sliceOf("ptr", rowGroup, at)
	v.MOVQ(operand.Mem{Base: at, Index: r, Scale: 8}, k)
	for j, size := range []int{4, v.Size} {
		v.sliceOf([]string{"idx", "val"}[j], rowGroup, at)
		for line := range sparseLines {
			v.PREFETCHT0(operand.Mem{Base: at, Index: k, Scale: uint8(size), Disp: line * cacheLine})
		}
	}
}
