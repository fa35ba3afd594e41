package arm64

import (
	"fmt"
	"math"
)

// elementGroup is the number of vectors that an elementwise function works on at a time. Their instructions alternate,
// so that none waits for another. exp and log1p have eight variables at once, which fill the registers.
const elementGroup = 4

// elements is a group of elements that a function is applied to.
type elements struct {
	*Writer
	group    int // vectors of a variable
	x        gp  // address of the group; the rest lies on the stack
	table    gp  // address of the constants
	patterns []uint64
	offsets  map[uint64]int // of a pattern in the table
	free     []vec
}

// lanes are the vectors of a variable. A constant is its place in the table, where it fills a vector.
type (
	lanes    []vec
	constant int
)

// elementwise writes a function that sets y[i] to a function of x[i]: a loop over whole groups, then the rest on the
// stack. The rest may be computed as a whole group; what lies beyond it isn't stored. apply loads a group of x and
// returns that of y; y may be x.
func (w *Writer) elementwise(name string, apply func(*elements) lanes) {
	w.begin(name, 2*groupBytes+aboveSP-8)
	x, n := w.slice("x")
	y := w.load(w.param("y").Base())
	w.each([]gp{x, y}, 1, 1, n, func(e *elements, bases []gp) {
		e.x = bases[0]
		e.st(mem{bases[1], 0}, apply(e)...)
	})
}

// elements returns variables of group vectors, and the name of their table of constants.
func (w *Writer) elements(group int) (e *elements, table string) {
	e = &elements{Writer: w, group: group, offsets: map[uint64]int{}, table: w.gp()}
	table = "constants" + w.Suffix + "<>"
	w.op("MOVD", fmt.Sprintf("$%s(SB)", table), e.table)
	return e, table
}

// groupBytes is the size on the stack of each slice.
const groupBytes = elementGroup * vectorBytes

// each writes the loop over whole groups, then the rest. bases are slices of n elements. The first ones are read, as
// many as read says, and the last ones written, as many as written says. body gets the address of a group of each.
func (w *Writer) each(bases []gp, read, written int, n gp, body func(e *elements, bases []gp)) {
	e, table := w.elements(elementGroup)
	loop, rest, done := w.label("loop"), w.label("rest"), w.label("done")
	per := elementGroup * w.per()
	w.op("CMP", imm(per), n)
	w.op("BLO", rest)
	w.here(loop)
	e.begin(body, bases)
	for _, b := range bases {
		w.op("ADD", imm(groupBytes), b)
	}
	w.op("SUB", imm(per), n)
	w.op("CMP", imm(per), n)
	w.op("BHS", loop)

	w.here(rest)
	w.op("CBZ", n, done)
	var slots []gp
	for i := range bases {
		slots = append(slots, w.gp())
		w.op("ADD", imm(aboveSP+i*groupBytes), "RSP", slots[i])
	}
	for i, b := range bases[:read] {
		w.move(b, slots[i], n)
	}
	e.begin(body, slots)
	for i := len(bases) - written; i < len(bases); i++ {
		w.move(slots[i], bases[i], n)
	}
	w.here(done)
	w.op("RET")
	e.data(table)
}

// begin writes the body, with all vector registers free.
func (e *elements) begin(body func(e *elements, bases []gp), bases []gp) {
	e.free = nil
	for r := range vec(32) {
		e.free = append(e.free, r)
	}
	body(e, bases)
}

// move copies n elements, at least one, one by one.
func (w *Writer) move(src, dst, n gp) {
	defer w.scope()()
	from, to, left, v := w.gp(), w.gp(), w.gp(), w.vec()
	w.op("MOVD", src, from)
	w.op("MOVD", dst, to)
	w.op("MOVD", n, left)
	loop := w.label("move")
	w.here(loop)
	w.op("FMOV"+w.letter+".P", mem{from, w.Size}, v.f())
	w.op("FMOV"+w.letter+".P", v.f(), mem{to, w.Size})
	w.op("SUB", imm(1), left)
	w.op("CBNZ", left, loop)
}

// data writes the table of constants.
func (e *elements) data(table string) {
	e.asm.WriteString("\n")
	for i, b := range e.patterns {
		for off := 0; off < vectorBytes; off += e.Size {
			fmt.Fprintf(&e.asm, "DATA %s+%d(SB)/%d, $0x%0*x\n", table, i*vectorBytes+off, e.Size, 2*e.Size, b)
		}
	}
	fmt.Fprintf(&e.asm, "GLOBL %s(SB), RODATA|NOPTR, $%d\n", table, len(e.patterns)*vectorBytes)
}

// c is a constant of that value.
func (e *elements) c(v float64) constant {
	if e.Size == 4 {
		return e.bits(uint64(math.Float32bits(float32(v))))
	}
	return e.bits(math.Float64bits(v))
}

// bits is c for a pattern of bits.
func (e *elements) bits(b uint64) constant {
	if _, known := e.offsets[b]; !known {
		e.offsets[b] = vectorBytes * len(e.patterns)
		e.patterns = append(e.patterns, b)
	}
	return constant(e.offsets[b])
}

// take takes the register that has been free for longest, so that its last use is far behind.
func (e *elements) take() vec {
	if len(e.free) == 0 {
		panic("no vector register is left")
	}
	r := e.free[0]
	e.free = e.free[1:]
	return r
}

func (e *elements) newLanes() lanes {
	v := make(lanes, e.group)
	for i := range v {
		v[i] = e.take()
	}
	return v
}

// drop gives back the registers of variables.
func (e *elements) drop(variables ...lanes) {
	for _, v := range variables {
		e.free = append(e.free, v...)
	}
}

func (e *elements) load() lanes { return e.loadFrom(e.x) }

func (e *elements) loadFrom(base gp) lanes {
	v := e.newLanes()
	e.ld(mem{base, 0}, v...)
	return v
}

// all is a variable that begins as a constant. Each vector has its own load, which takes no time from the units that
// add and multiply.
func (e *elements) all(c constant) lanes {
	v := e.newLanes()
	for _, r := range v {
		e.ld(mem{e.table, int(c)}, r)
	}
	return v
}

func (e *elements) copyOf(x lanes) lanes {
	v := e.newLanes()
	for i, r := range v {
		e.op("VMOV", x[i].bytes(), r.bytes())
	}
	return v
}

// do writes an instruction for each vector of the group. y is lanes, or a constant.
func (e *elements) do(instruction func(x, y, dst vec), x lanes, y any, dst lanes) {
	if c, ok := y.(constant); ok {
		r := e.take()
		e.ld(mem{e.table, int(c)}, r)
		for i, d := range dst {
			instruction(x[i], r, d)
		}
		e.free = append(e.free, r)
		return
	}
	for i, d := range dst {
		instruction(x[i], y.(lanes)[i], d)
	}
}

// get is do with a new destination, which it returns.
func (e *elements) get(instruction func(x, y, dst vec), x lanes, y any) lanes {
	dst := e.newLanes()
	e.do(instruction, x, y, dst)
	return dst
}

// shift shifts each element by n bits.
func (e *elements) shift(name string, n int, x, dst lanes) {
	for i, d := range dst {
		e.op(name, imm(n), e.whole(x[i]), e.whole(d))
	}
}

// blend is x, which may be a constant, in the lanes that s selects, and y elsewhere. It overwrites s and gives back y.
func (e *elements) blend(s lanes, x any, y lanes) lanes {
	e.do(e.choose, y, x, s)
	e.drop(y)
	return s
}

// polynomial is as in package ref.
func (e *elements) polynomial(c []float64, x, xx lanes) lanes {
	even, odd := e.all(e.c(c[len(c)-2])), e.all(e.c(c[len(c)-1]))
	for i := len(c) - 4; i >= 0; i -= 2 {
		even = e.horner(even, xx, c[i])
		odd = e.horner(odd, xx, c[i+1])
	}
	e.do(e.fma, odd, x, even)
	e.drop(odd)
	return even
}

// horner is p*x + c. It gives back p.
func (e *elements) horner(p, x lanes, c float64) lanes {
	sum := e.all(e.c(c))
	e.do(e.fma, p, x, sum)
	e.drop(p)
	return sum
}
