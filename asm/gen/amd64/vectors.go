package amd64

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot writes Dot. Four vectors are the lanes. x is loaded, and y is the memory operand of the fma.
func (w *Writer) dot() {
	masks := w.masks()
	w.begin("Dot")
	x, n := w.slice("x")
	y := w.GP64()
	w.Load(w.Param("y").Base(), y)
	acc := w.ymms(accs)
	w.zero(acc...)

	// unroll takes twice the lanes at a time. The next call's loads begin under this one's fold only if few
	// instructions lie between.
	const unroll = 2
	loop, one, tail, fin := w.label("loop"), w.label("one"), w.label("tail"), w.label("fold")
	step := func(times int) {
		for k := range times * accs {
			v := w.YMM()
			w.movp(vec(x, k), v)
			w.fmap(vec(y, k), v, acc[k%accs])
		}
		w.ADDQ(imm(times*accs*vectorBytes), x)
		w.ADDQ(imm(times*accs*vectorBytes), y)
	}
	w.SUBQ(imm(unroll*accs*w.Per), n)
	w.JB(ref(one))
	w.Label(loop)
	step(unroll)
	w.SUBQ(imm(unroll*accs*w.Per), n)
	w.JAE(ref(loop))
	w.Label(one)
	w.ADDQ(imm((unroll-1)*accs*w.Per), n)
	w.JNC(ref(tail))
	step(1)
	w.SUBQ(imm(accs*w.Per), n)
	w.Label(tail)
	w.ADDQ(imm(accs*w.Per), n)
	w.TESTQ(n, n)
	w.JZ(ref(fin))
	w.dotTail(masks, x, y, n, acc)

	w.Label(fin)
	s := w.fold(acc)
	w.Store(s, w.ReturnIndex(0))
	w.end()
}

// dotTail adds the last n elements, fewer than a full round of the accumulators. Whole vectors go to the first ones, a
// masked one to the next, and zeros to the others, as padding would.
func (w *Writer) dotTail(masks operand.Mem, x, y, n reg.GPVirtual, acc []reg.VecVirtual) {
	parts := make([]string, accs)
	for k := range parts {
		parts[k] = w.label("part")
	}
	done := w.label("padded")
	for k, a := range acc {
		w.CMPQ(n, imm(w.Per))
		w.JB(ref(parts[k]))
		if k == accs-1 {
			break // fewer than a full round: the last vector is never whole
		}
		v := w.YMM()
		w.movp(mem(x, 0), v)
		w.fmap(mem(y, 0), v, a)
		w.ADDQ(imm(vectorBytes), x)
		w.ADDQ(imm(vectorBytes), y)
		w.SUBQ(imm(w.Per), n)
	}
	table, mask := w.GP64(), w.YMM()
	for k, a := range acc {
		w.Label(parts[k])
		w.LEAQ(masks, table)
		w.NEGQ(n)
		w.movp(operand.Mem{Base: table, Index: n, Scale: uint8(w.Size), Disp: vectorBytes}, mask)
		vx, vy := w.YMM(), w.YMM()
		w.maskLoad(mem(x, 0), mask, vx)
		w.maskLoad(mem(y, 0), mask, vy)
		w.fmap(vy, vx, a)
		if k+1 < accs {
			w.zero(vx)
			for _, rest := range acc[k+1:] {
				w.addp(vx, rest, rest)
			}
			w.JMP(ref(done))
		}
	}
	w.Label(done)
}

// axpy writes Axpy: whole vectors, then single elements. Each element is one fma either way.
func (w *Writer) axpy() {
	w.begin("Axpy")
	x, n := w.slice("x")
	y, _ := w.slice("y")
	a := w.YMM()
	w.broadcast(w.address(w.Param("a")), a)

	const unroll = 4
	for _, vectors := range []int{unroll, 1} {
		loop, next := w.label("loop"), w.label("next")
		w.CMPQ(n, imm(vectors*w.Per))
		w.JB(ref(next))
		w.Label(loop)
		for k := range vectors {
			v := w.YMM()
			w.movp(vec(y, k), v)
			w.fmap(vec(x, k), a, v)
			w.movp(v, vec(y, k))
		}
		w.ADDQ(imm(vectors*vectorBytes), x)
		w.ADDQ(imm(vectors*vectorBytes), y)
		w.SUBQ(imm(vectors*w.Per), n)
		w.CMPQ(n, imm(vectors*w.Per))
		w.JAE(ref(loop))
		w.Label(next)
	}

	loop, done := w.label("loop"), w.label("done")
	w.TESTQ(n, n)
	w.JZ(ref(done))
	w.Label(loop)
	v := w.XMM()
	w.movs(mem(y, 0), v)
	w.fmas(mem(x, 0), a.AsX(), v)
	w.movs(v, mem(y, 0))
	w.ADDQ(imm(w.Size), x)
	w.ADDQ(imm(w.Size), y)
	w.DECQ(n)
	w.JNZ(ref(loop))
	w.Label(done)
	w.end()
}

// axpy4 writes Axpy4, two vectors of y at a time, a cache line. Four streams from memory keep more of its lines in
// flight than one.
func (w *Writer) axpy4() {
	w.begin("Axpy4")
	from, header := w.GP64(), w.GP64()
	w.Load(w.Param("a").Base(), from)
	w.Load(w.Param("x").Base(), header)
	y, n := w.slice("y")
	a, x := w.ymms(4), make([]reg.GPVirtual, 4)
	for k := range x {
		x[k] = w.GP64()
		w.broadcast(mem(from, k*w.Size), a[k])
		w.MOVQ(mem(header, k*sliceHeader), x[k])
	}
	i := w.GP64() // bytes
	w.XORQ(i, i)
	for _, vectors := range []int{2, 1} {
		loop, next := w.label("loop"), w.label("next")
		w.CMPQ(n, imm(vectors*w.Per))
		w.JB(ref(next))
		w.Label(loop)
		v := w.ymms(vectors)
		for j, r := range v {
			w.movp(at(y, i, j*vectorBytes), r)
		}
		for k := range x {
			for j, r := range v {
				w.fmap(at(x[k], i, j*vectorBytes), a[k], r)
			}
		}
		for j, r := range v {
			w.movp(r, at(y, i, j*vectorBytes))
		}
		w.ADDQ(imm(vectors*vectorBytes), i)
		w.SUBQ(imm(vectors*w.Per), n)
		w.CMPQ(n, imm(vectors*w.Per))
		w.JAE(ref(loop))
		w.Label(next)
	}

	loop, done := w.label("loop"), w.label("done")
	w.TESTQ(n, n)
	w.JZ(ref(done))
	w.Label(loop)
	v := w.XMM()
	w.movs(at(y, i, 0), v)
	for k := range x {
		w.fmas(at(x[k], i, 0), a[k].AsX(), v)
	}
	w.movs(v, at(y, i, 0))
	w.ADDQ(imm(w.Size), i)
	w.DECQ(n)
	w.JNZ(ref(loop))
	w.Label(done)
	w.end()
}

// firstMistake writes FirstMistake: four vectors at a time until one has a product that isn't above zero, then one,
// then single elements.
func (w *Writer) firstMistake() {
	w.begin("FirstMistake")
	y, n := w.slice("y")
	s, i, zero := w.GP64(), w.GP64(), w.YMM()
	w.Load(w.Param("scores").Base(), s)
	w.XORQ(i, i)
	w.zero(zero)
	bits := w.GP32()
	forward := func(elements int) {
		w.ADDQ(imm(elements*w.Size), y)
		w.ADDQ(imm(elements*w.Size), s)
		w.ADDQ(imm(elements), i)
		w.SUBQ(imm(elements), n)
	}

	found, done := w.label("found"), w.label("done")
	for _, vectors := range []int{4, 1} {
		loop, next := w.label("loop"), w.label("next")
		w.Label(loop)
		w.CMPQ(n, imm(vectors*w.Per))
		w.JB(ref(next))
		w.testProducts(y, s, zero, vectors, bits)
		w.TESTL(bits, bits)
		if vectors == 1 {
			w.JNZ(ref(found))
		} else {
			w.JNZ(ref(next))
		}
		forward(vectors * w.Per)
		w.JMP(ref(loop))
		w.Label(next)
	}

	loop := w.label("loop")
	w.Label(loop)
	w.TESTQ(n, n)
	w.JZ(ref(done))
	v, f := w.XMM(), w.XMM()
	w.movs(mem(y, 0), v)
	w.movs(mem(s, 0), f)
	w.mulp(f, v, v)
	w.notAbove(v, zero.AsX(), v)
	w.moveSigns(v, bits)
	w.TESTL(operand.U32(1), bits)
	w.JNZ(ref(done))
	forward(1)
	w.JMP(ref(loop))

	w.Label(found)
	w.BSFL(bits, bits)
	w.ADDQ(bits.As64(), i)
	w.Label(done)
	w.Store(i, w.ReturnIndex(0))
	w.end()
}

// testProducts sets bits where the products of that many vectors at y and at s aren't above zero.
func (w *Writer) testProducts(y, s reg.GPVirtual, zero reg.VecVirtual, vectors int, bits reg.GPVirtual) {
	all := w.YMM()
	for k := range vectors {
		v := w.YMM()
		w.movp(vec(y, k), v)
		w.mulp(vec(s, k), v, v)
		if k == 0 {
			w.notAbove(v, zero, all)
			continue
		}
		w.notAbove(v, zero, v)
		w.pick(w.VORPS, w.VORPD)(v, all, all)
	}
	w.moveSigns(all, bits)
}

// notAbove sets all bits of the lanes of dst where x <= zero, and none where it isn't or x is NaN.
func (w *Writer) notAbove(x, zero, dst operand.Op) {
	const lessOrEqual = 18 // without an exception for NaN
	w.VCMPPS(imm(lessOrEqual), zero, x, dst)
}

// moveSigns sets a bit of dst for each lane that has its sign bit set.
func (w *Writer) moveSigns(x, dst operand.Op) {
	w.VMOVMSKPS(x, dst)
}

// maxSquaredNorm writes MaxSquaredNorm with 16 float64 lanes. Elements are widened first.
func (w *Writer) maxSquaredNorm() {
	w.begin("MaxSquaredNorm")
	x, n := w.slice("x")
	stride := w.GP64()
	w.Load(w.Param("stride"), stride)
	best := w.XMM()
	w.zero(best)

	row, done := w.label("row"), w.label("done")
	w.Label(row)
	w.CMPQ(n, stride)
	w.JB(ref(done))
	left := w.GP64()
	w.MOVQ(stride, left)
	s := w.squares(x, left)
	w.VMAXSD(best, s, best)
	w.SUBQ(stride, n)
	w.JMP(ref(row))

	w.Label(done)
	w.Store(best, w.ReturnIndex(0))
	w.end()
}

// squares returns the sum of the squares of left elements at x, and advances x beyond them: first all four accumulators,
// then the rest of the row, whose vectors go to the first ones.
func (w *Writer) squares(x, left reg.GPVirtual) reg.VecVirtual {
	rest, step, folded := w.label("rest"), w.label("step"), w.label("fold")
	acc := w.ymms(accs)
	w.zero(acc...)
	widened := accs * 4 // elements that fill the four
	w.Label(step)
	w.CMPQ(left, imm(widened))
	w.JB(ref(rest))
	for k, a := range acc {
		w.addSquares(mem(x, k*4*w.Size), a)
	}
	w.ADDQ(imm(widened*w.Size), x)
	w.SUBQ(imm(widened), left)
	w.JMP(ref(step))

	w.Label(rest)
	for k := 0; k < accs-1; k++ {
		w.TESTQ(left, left)
		w.JZ(ref(folded))
		w.addSquares(mem(x, 0), acc[k])
		w.ADDQ(imm(4*w.Size), x)
		w.SUBQ(imm(4), left)
	}
	w.Label(folded)
	return w.inFloat64().fold(acc)
}

// inFloat64 returns a writer of float64 instructions into the same function.
func (w *Writer) inFloat64() *Writer {
	return &Writer{Context: w.Context, Type: Types[1], ISA: w.ISA, labels: w.labels}
}

// addSquares adds the squares of four elements to the lanes of acc.
func (w *Writer) addSquares(src operand.Mem, acc operand.Op) {
	v := w.YMM()
	w.VCVTPS2PD(src, v)
	w.VFMADD231PD(v, v, acc)
}

// narrow writes Narrow: four elements at a time, then single ones.
func (w *Writer) narrow() {
	w.begin("Narrow")
	sign, least, most, zero := w.repeat(1<<63), w.repeat(math.Float64bits(0x1p-126)), w.repeat(math.Float64bits(1<<24)), w.repeat(0)
	const notEqual, notLess, notAtLeast = 4, 5, 9
	w.narrowEach(func(v, all reg.VecVirtual) {
		m, low, some := w.YMM(), w.YMM(), w.YMM()
		w.VANDNPD(v, sign, m)
		w.VORPD(m, all, all)
		w.VCMPPD(operand.U8(notAtLeast), least, m, low)
		w.VCMPPD(operand.U8(notEqual), zero, m, some)
		w.VCMPPD(operand.U8(notLess), most, m, m)
		w.VANDPD(some, low, low)
		w.VORPD(low, m, m)
		w.VANDPD(sign, m, m)
		w.VORPD(m, all, all)
	})
}

// narrowWhole writes NarrowWhole. An integer that is added to the bits of 1.5 * 2^52 gives the bits of the sum, without a conversion.
func (w *Writer) narrowWhole() {
	w.begin("NarrowWhole")
	shifted, zero := w.repeat(math.Float64bits(0x1.8p52)), w.repeat(0)
	w.narrowEach(func(v, all reg.VecVirtual) {
		m := w.YMM()
		w.VPCMPGTQ(v, zero, m)
		w.VPXOR(v, m, m)
		w.VPOR(m, all, all)
		w.VPADDQ(shifted, v, v)
		w.VSUBPD(shifted, v, v)
	})
}

// repeat returns a vector with v in each lane of 64 bits.
func (w *Writer) repeat(v uint64) reg.VecVirtual {
	one, all := w.GP64(), w.YMM()
	w.MOVQ(operand.U64(v), one)
	w.VMOVQ(one, all.AsX())
	w.VPBROADCASTQ(all.AsX(), all)
	return all
}

// narrowEach writes the body of a function that rounds x to dst, four elements at a time, then single ones. widen makes v float64, and adds bits to all.
func (w *Writer) narrowEach(widen func(v, all reg.VecVirtual)) {
	x, n := w.slice("x")
	dst, v, all := w.GP64(), w.YMM(), w.YMM()
	w.Load(w.Param("dst").Base(), dst)
	w.VPXOR(all, all, all)

	loop, rest, one, done := w.label("loop"), w.label("rest"), w.label("one"), w.label("done")
	w.SUBQ(imm(4), n)
	w.JB(ref(rest))
	w.Label(loop)
	w.VMOVUPD(mem(x, 0), v)
	widen(v, all)
	w.VCVTPD2PSY(v, v.AsX())
	w.VMOVUPS(v.AsX(), mem(dst, 0))
	w.ADDQ(imm(4*8), x)
	w.ADDQ(imm(4*4), dst)
	w.SUBQ(imm(4), n)
	w.JAE(ref(loop))

	w.Label(rest)
	w.ADDQ(imm(4), n)
	w.JZ(ref(done))
	w.Label(one)
	w.VMOVSD(mem(x, 0), v.AsX()) // and zeros
	widen(v, all)
	w.VCVTPD2PSY(v, v.AsX())
	w.VMOVSS(v.AsX(), mem(dst, 0))
	w.ADDQ(imm(8), x)
	w.ADDQ(imm(4), dst)
	w.DECQ(n)
	w.JNZ(ref(one))

	w.Label(done)
	high, bits := w.XMM(), w.GP64()
	w.VEXTRACTI128(imm(1), all, high)
	w.VPOR(high, all.AsX(), all.AsX())
	w.VPSRLDQ(imm(8), all.AsX(), high)
	w.VPOR(high, all.AsX(), all.AsX())
	w.VMOVQ(all.AsX(), bits)
	w.Store(bits, w.ReturnIndex(0))
	w.end()
}

// standardize writes Standardize: eight elements at a time, then single ones. The divisions are the limit.
func (w *Writer) standardize() {
	w.begin("Standardize")
	x, n := w.slice("x")
	dst := w.GP64()
	w.Load(w.Param("dst").Base(), dst)
	center, scale := w.YMM(), w.YMM()
	w.VBROADCASTSD(w.address(w.Param("center")), center)
	w.VBROADCASTSD(w.address(w.Param("scale")), scale)

	loop, rest, one, done := w.label("loop"), w.label("rest"), w.label("one"), w.label("done")
	w.SUBQ(imm(8), n)
	w.JB(ref(rest))
	w.Label(loop)
	for k := range 2 {
		v := w.YMM()
		if w.Size == 4 {
			w.VCVTPS2PD(mem(x, k*4*w.Size), v)
		} else {
			w.VMOVUPD(mem(x, k*4*w.Size), v)
		}
		w.VSUBPD(center, v, v)
		w.VDIVPD(scale, v, v)
		w.VCVTPD2PSY(v, v.AsX())
		w.VMOVUPS(v.AsX(), mem(dst, k*16))
	}
	w.ADDQ(imm(8*w.Size), x)
	w.ADDQ(imm(8*4), dst)
	w.SUBQ(imm(8), n)
	w.JAE(ref(loop))

	w.Label(rest)
	w.ADDQ(imm(8), n)
	w.JZ(ref(done))
	w.Label(one)
	v := w.XMM()
	if w.Size == 4 {
		w.VXORPS(v, v, v)
		w.VCVTSS2SD(mem(x, 0), v, v)
	} else {
		w.VMOVSD(mem(x, 0), v)
	}
	w.VSUBSD(center.AsX(), v, v)
	w.VDIVSD(scale.AsX(), v, v)
	w.VCVTSD2SS(v, v, v)
	w.VMOVSS(v, mem(dst, 0))
	w.ADDQ(imm(w.Size), x)
	w.ADDQ(imm(4), dst)
	w.DECQ(n)
	w.JNZ(ref(one))
	w.Label(done)
	w.end()
}
