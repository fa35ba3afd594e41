package amd64

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elementGroup is the number of vectors that an elementwise function works on at a time. Their instructions alternate, so
// that none waits for another.
const elementGroup = 2

// elements is a group of elements that a function is applied to.
type elements struct {
	*Writer
	per       int           // elements of a vector
	group     int           // vectors of a variable
	x, n      reg.GPVirtual // address and number of elements left; in the tail, n is what mask needs
	tail      bool
	prefixes  operand.Mem    // AVX2's vector at element group*per-n selects the first n of a group
	constants operand.Mem    // each in all lanes of a vector
	offsets   map[uint64]int // where a pattern of bits lies in constants
}

// lanes are the vectors of a variable.
type lanes []reg.VecVirtual

// elementwise writes a function that sets y[i] to a function of x[i]: a loop over whole groups, then the rest with
// masks. apply loads a group of x and returns that of y; y may be x.
func (w *Writer) elementwise(name string, apply func(*elements) lanes) {
	e := w.elements()
	w.begin(name)
	e.x, e.n = w.slice("x")
	y := w.GP64()
	w.Load(w.Param("y").Base(), y)
	e.each([]reg.GPVirtual{e.x, y}, func() { e.store(apply(e), y) })
	w.end()
}

func (w *Writer) elements() *elements {
	e := &elements{Writer: w, per: w.ISA.Bytes / w.Size, group: elementGroup, offsets: map[uint64]int{}}
	if !e.wide() {
		e.prefixes = e.selections()
	}
	e.beginTable()
	return e
}

// beginTable begins the table of constants.
func (e *elements) beginTable() {
	e.constants = e.StaticGlobal("constants" + e.Suffix)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
}

// each writes the loop over whole groups, then the rest. It advances bases by a group.
func (e *elements) each(bases []reg.GPVirtual, body func()) {
	loop, tail, done := e.label("loop"), e.label("tail"), e.label("done")
	e.CMPQ(e.n, imm(e.group*e.per))
	e.JB(ref(tail))
	e.Label(loop)
	body()
	for _, b := range bases {
		e.ADDQ(imm(e.group*e.ISA.Bytes), b)
	}
	e.SUBQ(imm(e.group*e.per), e.n)
	e.CMPQ(e.n, imm(e.group*e.per))
	e.JAE(ref(loop))

	e.Label(tail)
	e.TESTQ(e.n, e.n)
	e.JZ(ref(done))
	e.tail = true
	e.countMask()
	body()
	e.Label(done)
}

// wide tells whether vectors are those of AVX-512, which has registers for masks.
func (e *elements) wide() bool { return e.ISA.Bytes != vectorBytes }

func (e *elements) newLanes() lanes { return e.full(e.group) }

// vec is the memory of vector i.
func (e *elements) vec(base reg.Register, i int) operand.Mem { return mem(base, i*e.ISA.Bytes) }

// load loads x, and zeros beyond its end.
func (e *elements) load() lanes { return e.loadFrom(e.x) }

func (e *elements) loadFrom(base reg.Register) lanes {
	x := e.newLanes()
	for i, v := range x {
		switch {
		case !e.tail:
			e.movp(e.vec(base, i), v)
		case e.wide():
			e.pick3(e.VMOVUPS_Z, e.VMOVUPD_Z)(e.vec(base, i), e.mask(i), v)
		default:
			e.maskLoad(e.vec(base, i), e.mask(i), v)
		}
	}
	return x
}

// store writes v to base, and nothing beyond its end.
func (e *elements) store(v lanes, base reg.Register) {
	for i, r := range v {
		if e.tail {
			e.maskStore(r, e.mask(i), e.vec(base, i))
		} else {
			e.movp(r, e.vec(base, i))
		}
	}
}

// maskStore stores the lanes of src that mask selects. It doesn't touch the memory of others.
func (e *elements) maskStore(src, mask operand.Op, dst operand.Mem) {
	if e.wide() {
		e.pick(e.VMOVUPS, e.VMOVUPD)(src, mask, dst)
	} else {
		e.pick3(e.VMASKMOVPS, e.VMASKMOVPD)(src, mask, dst)
	}
}

// pick3 is pick for instructions of three operands.
func (e *elements) pick3(f32, f64 func(x, y, z operand.Op)) func(x, y, z operand.Op) {
	if e.Size == 4 {
		return f32
	}
	return f64
}

// selections returns the table of prefixes.
func (e *elements) selections() operand.Mem {
	m := e.StaticGlobal("prefixes" + e.Suffix)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := 0; i < 2*e.group*vectorBytes; i += 8 {
		ones := uint64(0)
		if i < e.group*vectorBytes {
			ones = ^ones
		}
		e.AddDatum(i, operand.U64(ones))
	}
	return m
}

// countMask turns n into what mask needs: minus n, an index into the table, or the n low bits.
func (e *elements) countMask() {
	if !e.wide() {
		e.NEGQ(e.n)
		return
	}
	e.MOVQ(e.n, reg.RCX)
	e.MOVQ(operand.U32(1), e.n)
	e.SHLQ(reg.CL, e.n)
	e.DECQ(e.n)
}

// mask loads the mask of vector i of the tail.
func (e *elements) mask(i int) reg.Register {
	if e.wide() {
		bits, mask := e.GP64(), e.K()
		e.MOVQ(e.n, bits)
		e.SHRQ(imm(i*e.per), bits)
		e.KMOVW(bits.As32(), mask)
		return mask
	}
	table, mask := e.GP64(), e.YMM()
	e.LEAQ(e.prefixes, table)
	e.movp(operand.Mem{Base: table, Index: e.n, Scale: uint8(e.Size), Disp: (e.group + i) * vectorBytes}, mask)
	return mask
}

// c is the memory that holds a constant in every lane.
func (e *elements) c(v float64) operand.Mem {
	if e.Size == 4 {
		return e.bits(uint64(math.Float32bits(float32(v))))
	}
	return e.bits(math.Float64bits(v))
}

// bits is c for a pattern of bits.
func (e *elements) bits(b uint64) operand.Mem {
	offset, known := e.offsets[b]
	if !known {
		offset = e.ISA.Bytes * len(e.offsets)
		e.offsets[b] = offset
		for i := 0; i < e.ISA.Bytes; i += e.Size {
			if e.Size == 4 {
				e.AddDatum(offset+i, operand.U32(b))
			} else {
				e.AddDatum(offset+i, operand.U64(b))
			}
		}
	}
	return e.constants.Offset(offset)
}

// do writes an instruction for each vector of the group. An operand is lanes, or an operand.Op for all of them.
func (e *elements) do(instruction func(...operand.Op), operands ...any) {
	for i := range e.group {
		ops := make([]operand.Op, len(operands))
		for j, o := range operands {
			ops[j] = operandOf(o, i)
		}
		instruction(ops...)
	}
}

// operandOf is the operand for vector i.
func operandOf(o any, i int) operand.Op {
	if v, ok := o.(lanes); ok {
		return v[i]
	}
	return o.(operand.Op)
}

// get is do with a new destination, which it returns.
func (e *elements) get(instruction func(...operand.Op), operands ...any) lanes {
	dst := e.newLanes()
	e.do(instruction, append(operands, dst)...)
	return dst
}

// The methods below are operations on lanes. An operand of type any may be memory.

func (e *elements) copyOf(x any) lanes       { return e.get(e.pick(e.VMOVUPS, e.VMOVUPD), x) }
func (e *elements) add(x lanes, y any) lanes { return e.get(e.pick(e.VADDPS, e.VADDPD), y, x) }
func (e *elements) sub(x lanes, y any) lanes { return e.get(e.pick(e.VSUBPS, e.VSUBPD), y, x) }
func (e *elements) mul(x lanes, y any) lanes { return e.get(e.pick(e.VMULPS, e.VMULPD), y, x) }
func (e *elements) div(x lanes, y any) lanes { return e.get(e.pick(e.VDIVPS, e.VDIVPD), y, x) }

// fma adds x*y to sum and fnma subtracts it; fmaBy multiplies x by y and adds z.
func (e *elements) fma(x lanes, y any, sum lanes) {
	e.do(e.pick(e.VFMADD231PS, e.VFMADD231PD), y, x, sum)
}

func (e *elements) fnma(x lanes, y any, sum lanes) {
	e.do(e.pick(e.VFNMADD231PS, e.VFNMADD231PD), y, x, sum)
}

func (e *elements) fmaBy(x, y lanes, z any) {
	e.do(e.pick(e.VFMADD213PS, e.VFMADD213PD), z, y, x)
}

// above is x, or least where x is less. below is x, or most where x is more. The instructions return their last source
// if one is NaN, so it must be x.
func (e *elements) above(x lanes, least float64) lanes {
	return e.get(e.pick(e.VMAXPS, e.VMAXPD), x, e.copyOf(e.c(least)))
}

func (e *elements) below(x lanes, most float64) lanes {
	return e.get(e.pick(e.VMINPS, e.VMINPD), x, e.copyOf(e.c(most)))
}

// A selection has a register for each vector that selects lanes: a vector whose sign bits count, or a mask of AVX-512.
type selection []reg.Register

// negative selects the lanes of x whose sign bit is set.
func (e *elements) negative(x lanes) (s selection) {
	for _, v := range x {
		if !e.wide() {
			s = append(s, v)
			continue
		}
		k := e.K()
		e.VPMOVQ2M(v, k)
		s = append(s, k)
	}
	return s
}

// The predicates of compare. Only notEqual holds for NaN.
const (
	equal    = 0
	notEqual = 4
	less     = 0x11
	greater  = 0x1e
)

// compare selects the lanes where a predicate holds between x and y, which may be memory.
func (e *elements) compare(predicate uint8, x lanes, y any) (s selection) {
	for i, v := range x {
		var dst reg.Register = e.K()
		if !e.wide() {
			dst = e.YMM()
		}
		e.pick(e.VCMPPS, e.VCMPPD)(operand.U8(predicate), operandOf(y, i), v, dst)
		s = append(s, dst)
	}
	return s
}

// blend is x, which may be memory, in the lanes that s selects, and y elsewhere.
func (e *elements) blend(s selection, x any, y lanes) lanes {
	dst := e.newLanes()
	for i, d := range dst {
		v := operandOf(x, i)
		switch {
		case e.wide():
			e.pick(e.VBLENDMPS, e.VBLENDMPD)(v, y[i], s[i], d)
		default:
			e.VBLENDVPD(s[i], v, y[i], d)
		}
	}
	return dst
}

// polynomial is as in package ref.
func (e *elements) polynomial(c []float64, x, xx lanes) lanes {
	even, odd := e.copyOf(e.c(c[len(c)-2])), e.copyOf(e.c(c[len(c)-1]))
	for i := len(c) - 4; i >= 0; i -= 2 {
		e.fmaBy(even, xx, e.c(c[i]))
		e.fmaBy(odd, xx, e.c(c[i+1]))
	}
	e.fmaBy(odd, x, even)
	return odd
}
