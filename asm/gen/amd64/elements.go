package amd64

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// group is how many vectors an elementwise function works on at a time. Their instructions alternate, so that one needn't
// wait for another's.
const group = 2

// elements is a group of elements that a function is applied to.
type elements struct {
	*Writer
	x, n      reg.GPVirtual // where they lie, and minus their number in the tail
	tail      bool
	prefixes  operand.Mem    // the vector at element group*Per-n selects the first n of a group
	constants operand.Mem    // each in all lanes of a vector
	offsets   map[uint64]int // where a pattern of bits lies in constants
}

// lanes are the vectors of a variable.
type lanes []reg.VecVirtual

// elementwise writes a function that sets y[i] to something that depends on x[i] alone: a loop over whole groups, then
// the rest with masks. apply loads a group of x and returns that of y; y may be x.
func (w *Writer) elementwise(name, doc string, apply func(*elements) lanes) {
	e := &elements{Writer: w, offsets: map[uint64]int{}}
	e.prefixes = w.StaticGlobal("prefixes" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := 0; i < 2*group*vectorBytes; i += 8 {
		ones := uint64(0)
		if i < group*vectorBytes {
			ones = ^ones
		}
		w.AddDatum(i, operand.U64(ones))
	}
	e.constants = w.StaticGlobal("constants" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)

	w.begin(name, "func(x, y []T)", doc)
	e.x, e.n = w.slice("x")
	y := w.GP64()
	w.Load(w.Param("y").Base(), y)
	loop, tail, done := w.label("loop"), w.label("tail"), w.label("done")
	w.CMPQ(e.n, imm(group*w.Per))
	w.JB(ref(tail))
	w.Label(loop)
	for i, v := range apply(e) {
		w.movp(v, vec(y, i))
	}
	w.ADDQ(imm(group*vectorBytes), e.x)
	w.ADDQ(imm(group*vectorBytes), y)
	w.SUBQ(imm(group*w.Per), e.n)
	w.CMPQ(e.n, imm(group*w.Per))
	w.JAE(ref(loop))

	w.Label(tail)
	w.TESTQ(e.n, e.n)
	w.JZ(ref(done))
	w.NEGQ(e.n)
	e.tail = true
	for i, v := range apply(e) {
		e.maskStore(v, e.mask(i), vec(y, i))
	}
	w.Label(done)
	w.end()
}

// load loads x, zeros beyond its end.
func (e *elements) load() lanes {
	x := e.ymms(group)
	for i, v := range x {
		if e.tail {
			e.maskLoad(vec(e.x, i), e.mask(i), v)
		} else {
			e.movp(vec(e.x, i), v)
		}
	}
	return x
}

// mask loads the mask of vector i of the tail.
func (e *elements) mask(i int) reg.VecVirtual {
	table, mask := e.GP64(), e.YMM()
	e.LEAQ(e.prefixes, table)
	e.movp(operand.Mem{Base: table, Index: e.n, Scale: uint8(e.Size), Disp: (group + i) * vectorBytes}, mask)
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
		offset = vectorBytes * len(e.offsets)
		e.offsets[b] = offset
		for i := 0; i < vectorBytes; i += e.Size {
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
	for i := range group {
		ops := make([]operand.Op, len(operands))
		for j, o := range operands {
			if v, ok := o.(lanes); ok {
				ops[j] = v[i]
			} else {
				ops[j] = o.(operand.Op)
			}
		}
		instruction(ops...)
	}
}

// get is do with a new destination, which it returns.
func (e *elements) get(instruction func(...operand.Op), operands ...any) lanes {
	dst := lanes(e.ymms(group))
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

// above is x, or least where x is less; below is x, or most where x is more. The instructions return their last source
// where it is NaN, so that it has to be x.
func (e *elements) above(x lanes, least float64) lanes {
	return e.get(e.pick(e.VMAXPS, e.VMAXPD), x, e.copyOf(e.c(least)))
}

func (e *elements) below(x lanes, most float64) lanes {
	return e.get(e.pick(e.VMINPS, e.VMINPD), x, e.copyOf(e.c(most)))
}

// blend is x where the sign bit of mask is set, y elsewhere.
func (e *elements) blend(mask, x, y lanes) lanes {
	dst := lanes(e.ymms(group))
	for i, d := range dst {
		if e.Size == 4 {
			e.VBLENDVPS(mask[i], x[i], y[i], d)
		} else {
			e.VBLENDVPD(mask[i], x[i], y[i], d)
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

// maskStore stores the lanes of src that mask selects, and doesn't touch the others' memory.
func (e *elements) maskStore(src, mask, dst operand.Op) {
	if e.Size == 4 {
		e.VMASKMOVPS(src, mask, dst)
	} else {
		e.VMASKMOVPD(src, mask, dst)
	}
}
