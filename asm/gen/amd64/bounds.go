package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxCandidates is the most candidates of one call of Bounds. Their counters must fit a stack frame.
const maxCandidates = 64

// boundsShape returns the numbers of candidates and rows of a tile of Bounds. The former divides maxCandidates. With
// AVX2, 12 accumulators, three vectors of rows and a weight fill the registers. 7 loads for 12 fmas keep the ports busy
// four cycles of six. AVX-512 needs 10 loads for 16 fmas.
func (w *Writer) boundsShape() (candidates, rows int) {
	if w.ISA.Bytes > vectorBytes {
		return 8, 2 * w.ISA.Bytes / w.Size
	}
	return 4, 3 * w.ISA.Bytes / w.Size
}

// A bounds is the state of the loops of Bounds and BoundsWeighted.
type bounds struct {
	*Writer
	mr, nr   int
	vectors  int           // of nr rows
	counters operand.Mem   // for each candidate a vector of low counts, then one of high counts, negative
	weights  reg.GPVirtual // BoundsWeighted: the sample weights of a group of rows, which take the place of low counts
	acc      [][]reg.VecVirtual
}

// bounds writes Bounds. Rows lie across the lanes, so a product of a group of rows with a candidate needs no folding.
// The outer loop is over groups of rows, which stay in the first-level cache while all candidates pass.
func (w *Writer) bounds() { w.boundsOf("Bounds", false) }

// boundsWeighted writes BoundsWeighted: bounds that adds up sample weights instead of ones.
func (w *Writer) boundsWeighted() { w.boundsOf("BoundsWeighted", true) }

func (w *Writer) boundsOf(name string, weighted bool) {
	mr, nr := w.boundsShape()
	w.begin(name)
	w.Attributes(0) // the stack may have to grow
	b := bounds{Writer: w, mr: mr, nr: nr, vectors: nr * w.Size / w.ISA.Bytes, counters: w.AllocLocal(2 * maxCandidates * w.ISA.Bytes)}
	if weighted {
		b.weights, _ = w.slice("weights")
	}
	x, n := w.slice("x")
	cols, size := w.GP64(), w.GP64()
	w.Load(w.Param("cols"), cols)
	w.IMUL3Q(operand.I32(nr), cols, size) // elements of a group
	b.clearCounters()

	group, done := w.label("group"), w.label("done")
	w.Label(group)
	w.CMPQ(n, size)
	w.JB(ref(done))
	b.group(x, cols)
	step := w.GP64()
	w.MOVQ(size, step)
	w.SHLQ(imm(w.log2()), step)
	w.ADDQ(step, x)
	if weighted {
		w.ADDQ(imm(nr*w.Size), b.weights)
	}
	w.SUBQ(size, n)
	w.JMP(ref(group))
	w.Label(done)
	b.addCounters()
	w.end()
}

// clearCounters sets the counters of all candidates to zero.
func (b bounds) clearCounters() {
	at, n, zero := b.GP64(), b.GP64(), b.full(1)[0]
	b.Load(b.Param("low").Len(), n)
	b.LEAQ(b.counters, at)
	b.zero(zero)
	loop := b.label("clear")
	b.Label(loop)
	b.movp(zero, mem(at, 0))
	b.movp(zero, mem(at, b.ISA.Bytes))
	b.ADDQ(imm(2*b.ISA.Bytes), at)
	b.DECQ(n)
	b.JNZ(ref(loop))
}

// group judges all candidates on the group of rows at x.
func (b bounds) group(x, cols reg.GPVirtual) {
	weights, counters := b.GP64(), b.GP64()
	limits, n := b.slice("limits")
	b.Load(b.Param("w").Base(), weights)
	b.LEAQ(b.counters, counters)
	tile := b.label("tile")
	b.Label(tile)
	b.product(x, weights, cols)
	b.judge(limits, counters)
	b.ADDQ(imm(b.mr*b.Size), limits)
	b.ADDQ(imm(2*b.mr*b.ISA.Bytes), counters)
	b.SUBQ(imm(b.mr), n)
	b.JNZ(ref(tile))
}

// product leaves the scores of a tile in acc and advances weights beyond its candidates.
func (b *bounds) product(x, weights, cols reg.GPVirtual) {
	b.acc = make([][]reg.VecVirtual, b.mr)
	for i := range b.acc {
		b.acc[i] = b.full(b.vectors)
		b.zero(b.acc[i]...)
	}
	column, k, loop := b.GP64(), b.GP64(), b.label("k")
	b.MOVQ(x, column)
	b.MOVQ(cols, k)
	b.Label(loop)
	v := b.full(b.vectors)
	for j, r := range v {
		b.movp(mem(column, j*b.ISA.Bytes), r)
	}
	for i, acc := range b.acc {
		s := b.full(1)[0]
		b.broadcast(mem(weights, i*b.Size), s)
		for j, r := range v {
			b.fmap(r, s, acc[j])
		}
	}
	b.ADDQ(imm(b.mr*b.Size), weights)
	b.ADDQ(imm(b.nr*b.Size), column)
	b.DECQ(k)
	b.JNZ(ref(loop))
}

// These are predicates of VCMPPS. That of high holds for a NaN.
const (
	lessOrdered = 0x11
	notGreater  = 0x1a
)

// judge counts the scores of a tile that lie below -limit, and those that don't lie above limit.
func (b bounds) judge(limits, counters reg.GPVirtual) {
	for i, acc := range b.acc {
		limit, minus := b.full(1)[0], b.full(1)[0]
		b.signBits(minus)
		b.broadcast(mem(limits, i*b.Size), limit)
		b.xor(limit, minus, minus)
		at := mem(counters, 2*i*b.ISA.Bytes)
		if b.weights != nil {
			b.tallyWeights(acc, lessOrdered, minus, at)
			continue
		}
		b.tally(acc, lessOrdered, minus, at)
		b.tally(acc, notGreater, limit, at.Offset(b.ISA.Bytes))
	}
}

// tally subtracts 1 from the elements of the counter at mem for each vector of scores that compares so with limit.
func (b bounds) tally(scores []reg.VecVirtual, predicate uint8, limit reg.VecVirtual, counter operand.Mem) {
	sum := b.full(1)[0]
	if b.ISA.Bytes > vectorBytes {
		ones := b.full(1)[0]
		b.ones(ones)
		b.movp(counter, sum)
		for _, s := range scores {
			k := b.K()
			b.pick(b.VCMPPS, b.VCMPPD)(operand.U8(predicate), limit, s, k)
			b.pick(b.VPADDD, b.VPADDQ)(ones, sum, k, sum)
		}
		b.movp(sum, counter)
		return
	}
	for j, s := range scores {
		mask := b.full(1)[0]
		if j == 0 {
			mask = sum
		}
		b.pick(b.VCMPPS, b.VCMPPD)(operand.U8(predicate), limit, s, mask)
		if j > 0 {
			b.addInts(mask, sum, sum)
		}
	}
	b.addInts(counter, sum, sum)
	b.movp(sum, counter)
}

// tallyWeights is tally with sample weights, which it adds.
func (b bounds) tallyWeights(scores []reg.VecVirtual, predicate uint8, limit reg.VecVirtual, counter operand.Mem) {
	sum := b.full(1)[0]
	if b.ISA.Bytes > vectorBytes {
		b.movp(counter, sum)
		for j, s := range scores {
			k := b.K()
			b.pick(b.VCMPPS, b.VCMPPD)(operand.U8(predicate), limit, s, k)
			b.pick(b.VPADDD, b.VPADDQ)(mem(b.weights, j*b.ISA.Bytes), sum, k, sum)
		}
		b.movp(sum, counter)
		return
	}
	for j, s := range scores {
		mask := b.full(1)[0]
		if j == 0 {
			mask = sum
		}
		b.pick(b.VCMPPS, b.VCMPPD)(operand.U8(predicate), limit, s, mask)
		b.and(mem(b.weights, j*b.ISA.Bytes), mask, mask)
		if j > 0 {
			b.addInts(mask, sum, sum)
		}
	}
	b.addInts(counter, sum, sum)
	b.movp(sum, counter)
}

// addInts adds integers as wide as elements.
func (b bounds) addInts(x, y, dst operand.Op) { b.pick(b.VPADDD, b.VPADDQ)(x, y, dst) }

// addCounters subtracts the sum of each negative counter from its candidate's count. Sums of sample weights are added.
func (b bounds) addCounters() {
	at, low, high, n := b.GP64(), b.GP64(), b.GP64(), b.GP64()
	b.LEAQ(b.counters, at)
	b.Load(b.Param("low").Base(), low)
	if b.weights == nil {
		b.Load(b.Param("high").Base(), high)
	}
	b.Load(b.Param("low").Len(), n)
	loop := b.label("add")
	b.Label(loop)
	if b.weights == nil {
		for k, counts := range []reg.GPVirtual{low, high} {
			b.SUBQ(b.sumInts(mem(at, k*b.ISA.Bytes)), mem(counts, 0))
			b.ADDQ(imm(8), counts)
		}
	} else {
		b.ADDQ(b.sumInts(mem(at, 0)), mem(low, 0))
		b.ADDQ(imm(8), low)
	}
	b.ADDQ(imm(2*b.ISA.Bytes), at)
	b.DECQ(n)
	b.JNZ(ref(loop))
}

// sumInts returns the sum of the vector of integers at src.
func (b bounds) sumInts(src operand.Mem) reg.GPVirtual {
	s, t, sum := b.XMM(), b.XMM(), b.GP64()
	b.VMOVDQU(src, s)
	for part := 16; part < b.ISA.Bytes; part += 16 {
		b.addInts(src.Offset(part), s, s)
	}
	b.VPSRLDQ(imm(8), s, t)
	b.addInts(t, s, s)
	b.VPSRLDQ(imm(4), s, t)
	b.addInts(t, s, s)
	b.VMOVD(s, sum.As32())
	b.MOVLQSX(sum.As32(), sum)
	return sum
}

// signBits sets every element of v to -0.
func (w *Writer) signBits(v reg.VecVirtual) {
	w.ones(v)
	w.VPSLLD(imm(31), v, v)
}

// ones sets every bit of v.
func (w *Writer) ones(v reg.VecVirtual) {
	if v.Size() == 64 {
		w.zero(v) // so that the allocator sees where v begins to live
		w.VPTERNLOGD(operand.U8(0xff), v, v, v)
		return
	}
	w.VPCMPEQD(v, v, v)
}
