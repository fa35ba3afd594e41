package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sparse is the rows of a kernel in CSR form, and the weights that they meet.
//
// The loops are scalar. Each element is one fused multiply-add to its lane, which lies on the stack. A gather needs more
// cycles for each element than the loads that it replaces, and the lanes are scattered all the same.
type sparse struct {
	*Writer
	idx, val reg.GPVirtual // elements of the block
	base, n  reg.GPVirtual // weights and their number
	lanes    operand.Mem
}

// weightsOf loads the weights w, and takes lanes on the stack.
func (w *Writer) weightsOf() sparse {
	s := sparse{Writer: w, lanes: w.AllocLocal(accs * vectorBytes)}
	s.base, s.n = w.slice("w")
	return s
}

// elements loads the bases of idx and val, which are slices.
func (s *sparse) elements() {
	s.idx, s.val = s.GP64(), s.GP64()
	s.Load(s.Param("idx").Base(), s.idx)
	s.Load(s.Param("val").Base(), s.val)
}

// row sets k to the first element of the row that begins where ptr points to, and left to their number. It jumps to
// wrong unless the row lies within total elements.
func (s sparse) row(ptr, k, left reg.GPVirtual, total operand.Op, wrong string) {
	s.MOVQ(mem(ptr, 0), k)
	s.MOVQ(mem(ptr, 8), left)
	s.CMPQ(left, total)
	s.JA(ref(wrong))
	s.SUBQ(k, left)
	s.JB(ref(wrong))
}

// unrolled is the number of elements in a round of the loops below.
const unrolled = 4

// each calls step with every element from k on, left of them. It changes both registers.
func (s sparse) each(k, left reg.GPVirtual, step func(i int)) {
	loop, rest, one, done := s.label("loop"), s.label("rest"), s.label("one"), s.label("done")
	s.SUBQ(imm(unrolled), left)
	s.JB(ref(rest))
	s.Label(loop)
	for i := range unrolled {
		step(i)
	}
	s.ADDQ(imm(unrolled), k)
	s.SUBQ(imm(unrolled), left)
	s.JAE(ref(loop))
	s.Label(rest)
	s.ADDQ(imm(unrolled), left)
	s.JZ(ref(done))
	s.Label(one)
	step(0)
	s.INCQ(k)
	s.DECQ(left)
	s.JNZ(ref(one))
	s.Label(done)
}

// column loads the column of element k+i. It jumps to wrong unless that is below n.
func (s sparse) column(k reg.GPVirtual, i int, n reg.GPVirtual, wrong string) reg.GPVirtual {
	c := s.GP64()
	s.MOVL(operand.Mem{Base: s.idx, Index: k, Scale: 4, Disp: 4 * i}, c.As32())
	if wrong != "" {
		s.CMPQ(c, n)
		s.JAE(ref(wrong))
	}
	return c
}

// value is the memory of the value of element k+i.
func (s sparse) value(k reg.GPVirtual, i int) operand.Mem {
	return operand.Mem{Base: s.val, Index: k, Scale: uint8(s.Size), Disp: s.Size * i}
}

// score returns the score of a row in lane 0. It changes k and left, and jumps to wrong at a column beyond the weights.
func (s sparse) score(k, left reg.GPVirtual, wrong string) reg.VecVirtual {
	zero := s.YMM()
	s.zero(zero)
	for i := range accs {
		s.movp(zero, s.lanes.Offset(i*vectorBytes))
	}
	s.each(k, left, func(i int) {
		c := s.column(k, i, s.n, wrong)
		j, x, lane := s.GP64(), s.XMM(), s.XMM()
		s.MOVL(c.As32(), j.As32())
		s.ANDL(imm(accs*s.Per-1), j.As32())
		s.movs(s.value(k, i), x)
		s.movs(s.lanes.Idx(j, uint8(s.Size)), lane)
		s.fmas(operand.Mem{Base: s.base, Index: c, Scale: uint8(s.Size)}, x, lane)
		s.movs(lane, s.lanes.Idx(j, uint8(s.Size)))
	})
	acc := s.ymms(accs)
	for i, a := range acc {
		s.movp(s.lanes.Offset(i*vectorBytes), a)
	}
	return s.fold(acc)
}

// add adds a times a row to the weights. It changes k and left. It jumps to wrong[i] at a column beyond the weights, of
// element k+i. A nil wrong means that there is none.
func (s sparse) add(a reg.VecVirtual, k, left reg.GPVirtual, wrong []string) {
	s.each(k, left, func(i int) {
		to := ""
		if wrong != nil {
			to = wrong[i]
		}
		c, v := s.column(k, i, s.n, to), s.XMM()
		at := operand.Mem{Base: s.base, Index: c, Scale: uint8(s.Size)}
		s.movs(at, v)
		s.fmas(s.value(k, i), a, v)
		s.movs(v, at)
	})
}

// sparseScores writes SparseScores.
func (w *Writer) sparseScores() {
	w.begin("SparseScores")
	s := w.weightsOf()
	s.elements()
	total := w.address(w.Param("idx").Len())
	ptr, out, n := w.GP64(), w.GP64(), w.address(w.Param("out").Len())
	w.Load(w.Param("ptr").Base(), ptr)
	w.Load(w.Param("out").Base(), out)
	r, k, left := w.GP64(), w.GP64(), w.GP64()
	w.XORQ(r, r)
	row, done := w.label("row"), w.label("done")
	w.Label(row)
	w.CMPQ(r, n)
	w.JAE(ref(done))
	s.row(ptr, k, left, total, done)
	score := s.score(k, left, done)
	w.movs(score, operand.Mem{Base: out, Index: r, Scale: uint8(w.Size)})
	w.ADDQ(imm(8), ptr)
	w.INCQ(r)
	w.JMP(ref(row))
	w.Label(done)
	w.Store(r, w.ReturnIndex(0))
	w.end()
}

// sparseAdd writes SparseAdd.
func (w *Writer) sparseAdd() {
	w.begin("SparseAdd")
	s := sparse{Writer: w}
	s.base, s.n = w.slice("w")
	s.elements()
	a, k, left := w.XMM(), w.GP64(), w.GP64()
	w.Load(w.Param("a"), a)
	w.XORQ(k, k)
	w.Load(w.Param("idx").Len(), left)
	var stops []string
	for range unrolled {
		stops = append(stops, w.label("stop"))
	}
	s.add(a, k, left, stops)
	w.JMP(ref(stops[0]))
	for i := unrolled - 1; i > 0; i-- { // so many elements of the round were added
		w.Label(stops[i])
		w.INCQ(k)
	}
	w.Label(stops[0])
	w.Store(k, w.ReturnIndex(0))
	w.end()
}

// sparseEpoch writes SparseEpoch, in the form of epoch.
func (w *Writer) sparseEpoch() {
	w.begin("SparseEpoch")
	s := w.weightsOf()
	s.elements()
	total := w.address(w.Param("idx").Len())
	ptr, y, n := w.GP64(), w.GP64(), w.address(w.Param("y").Len())
	w.Load(w.Param("ptr").Base(), ptr)
	w.Load(w.Param("y").Base(), y)
	v := w.sparseVisitor(s)
	r := w.GP64()
	w.XORQ(r, r)
	row, next, wrong, done := w.label("row"), w.label("next"), w.label("wrong"), w.label("end")
	label := operand.Mem{Base: y, Index: r, Scale: uint8(w.Size)}
	w.Label(row)
	w.CMPQ(r, n)
	w.JAE(ref(done))
	v.test(ptr, label, total, wrong, done)
	w.Label(next)
	w.ADDQ(imm(8), ptr)
	w.INCQ(r)
	w.JMP(ref(row))

	w.Label(wrong)
	v.update(ptr, label, r)
	w.JNE(ref(next))
	w.INCQ(r)
	w.Label(done)
	w.Store(r, w.Return("rows"))
	w.Store(v.updates, w.Return("updates"))
	w.end()
}

// A sparseVisitor is what the two epochs share: the test of a row and the update of w.
type sparseVisitor struct {
	sparse
	eta, margin operand.Mem
	sign        reg.VecVirtual
	updates     reg.GPVirtual
}

func (w *Writer) sparseVisitor(s sparse) sparseVisitor {
	v := sparseVisitor{sparse: s, sign: w.signs(), updates: w.GP64()}
	v.eta, v.margin = w.address(w.Param("eta")), w.address(w.Param("margin"))
	w.XORQ(v.updates, v.updates)
	return v
}

// test jumps to mistake if the row that begins where ptr points to is one, and to wrong if it isn't within the block
// and the weights. A comparison with NaN sets the carry flag and falls through.
func (v sparseVisitor) test(ptr reg.GPVirtual, label operand.Mem, total operand.Op, mistake, wrong string) {
	k, left := v.GP64(), v.GP64()
	v.row(ptr, k, left, total, wrong)
	s := v.score(k, left, wrong)
	y, margin := v.XMM(), v.XMM()
	v.movs(label, y)
	v.and(v.sign, y, y)
	v.xor(y, s, s)
	v.movs(v.margin, margin)
	v.compare(s, margin)
	v.JAE(ref(mistake))
}

// update adds eta times the label times the row to w, and logs the position. Then it compares the number of updates with
// the length of the log.
func (v sparseVisitor) update(ptr reg.GPVirtual, label operand.Mem, position reg.GPVirtual) {
	a, k, left, log := v.XMM(), v.GP64(), v.GP64(), v.GP64()
	v.movs(label, a)
	v.muls(v.eta, a, a)
	v.MOVQ(mem(ptr, 0), k)
	v.MOVQ(mem(ptr, 8), left)
	v.SUBQ(k, left)
	v.add(a, k, left, nil)
	v.Load(v.Param("log").Base(), log)
	v.MOVL(position.As32(), operand.Mem{Base: log, Index: v.updates, Scale: 4})
	v.INCQ(v.updates)
	v.CMPQ(v.updates, v.address(v.Param("log").Len()))
}

// sparseScores8 writes SparseScores8. Each lane holds a sum for every candidate, one or two vectors. The lanes take 1 KiB
// of the stack, so that it may have to grow.
func (w *Writer) sparseScores8() {
	w.begin("SparseScores8")
	w.Attributes(0)
	const sums = 8
	vectors, shift := sums/w.Per, w.log2()+3
	s := sparse{Writer: w, lanes: w.AllocLocal(accs * w.Per * sums * w.Size)}
	s.base, s.n = w.slice("w")
	w.SHRQ(imm(3), s.n)
	s.elements()
	total := w.address(w.Param("idx").Len())
	ptr, out, n := w.GP64(), w.GP64(), w.GP64()
	w.Load(w.Param("ptr").Base(), ptr)
	w.Load(w.Param("out").Base(), out)
	w.Load(w.Param("out").Len(), n)
	w.SHRQ(imm(3), n)
	r, k, left := w.GP64(), w.GP64(), w.GP64()
	w.XORQ(r, r)
	row, done := w.label("row"), w.label("end")
	w.Label(row)
	w.CMPQ(r, n)
	w.JAE(ref(done))
	s.row(ptr, k, left, total, done)
	zero := w.YMM()
	w.zero(zero)
	for i := range accs * w.Per * vectors {
		w.movp(zero, s.lanes.Offset(i*vectorBytes))
	}
	s.each(k, left, func(i int) {
		c := s.column(k, i, s.n, done)
		j, x := w.GP64(), w.YMM()
		w.SHLQ(imm(shift), c)
		w.MOVL(c.As32(), j.As32())
		w.ANDL(operand.U32((accs*w.Per-1)<<shift), j.As32())
		w.broadcast(s.value(k, i), x)
		for v := range vectors {
			sum, lane := w.YMM(), s.lanes.Idx(j, 1).Offset(v*vectorBytes)
			w.movp(lane, sum)
			w.fmap(at(s.base, c, v*vectorBytes), x, sum)
			w.movp(sum, lane)
		}
	})
	for v := range vectors {
		w.movp(s.foldLanes(vectors, v), mem(out, v*vectorBytes))
	}
	w.ADDQ(imm(sums*w.Size), out)
	w.ADDQ(imm(8), ptr)
	w.INCQ(r)
	w.JMP(ref(row))
	w.Label(done)
	w.Store(r, w.ReturnIndex(0))
	w.end()
}

// foldLanes folds vector v of the lanes on the stack: for h = L/2, L/4, ..., 1, lane j is the sum of lanes j and j+h.
func (s sparse) foldLanes(vectors, v int) reg.VecVirtual {
	lanes := accs * s.Per
	lane := func(j int) operand.Mem { return s.lanes.Offset((j*vectors + v) * vectorBytes) }
	sums := s.ymms(lanes / 4)
	for j, sum := range sums {
		other := s.YMM()
		s.movp(lane(j), sum)
		s.addp(lane(j+lanes/2), sum, sum)
		s.movp(lane(j+lanes/4), other)
		s.addp(lane(j+lanes/4+lanes/2), other, other)
		s.addp(other, sum, sum)
	}
	for h := len(sums) / 2; h > 0; h /= 2 {
		for j := range h {
			s.addp(sums[j+h], sums[j], sums[j])
		}
	}
	return sums[0]
}
