// Package amd64 writes the kernels for AVX2 and FMA3. Package halfspace/asm states what each computes.
package amd64

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"halfspace/asm/gen/table"
)

// A Kernel writes one function for an element type.
type Kernel struct {
	File  string // the operation, in snake case: the generated file's name
	Write func(*Writer)
}

// An ISA is an instruction set and the kernels that are written for it.
type ISA struct {
	Name    string   // of the package
	Bytes   int      // of a vector
	Gate    []string // the features, in avo's names, that package kernel tests for
	Kernels []Kernel
}

// ISAs lists the instruction sets. AVX-512 has the kernels that measure faster with it.
var ISAs = []ISA{
	{"avx2", 32, []string{"AVX2", "FMA3", "BMI"}, kernels},
	{"avx512", 64, []string{"AVX2", "FMA3", "BMI", "AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL"}, []Kernel{
		{"scores", (*Writer).scores64},
		{"pack", (*Writer).pack},
		{"bounds", (*Writer).bounds},
		{"bounds_weighted", (*Writer).boundsWeighted},
		{"tile", (*Writer).tile},
		{"rank_k_update", (*Writer).rankKUpdate},
		{"limits", (*Writer).limits},
		{"exp", (*Writer).exp},
		{"sigmoid", (*Writer).sigmoid},
		{"log1p", (*Writer).log1p},
		{"logistic", (*Writer).logistic},
		{"epoch_adaptive", (*Writer).epochAdaptive},
	}},
}

var kernels = []Kernel{
	{"dot", (*Writer).dot},
	{"axpy", (*Writer).axpy},
	{"axpy4", (*Writer).axpy4},
	{"first_mistake", (*Writer).firstMistake},
	{"scores", (*Writer).scores},
	{"epoch", (*Writer).epoch},
	{"epoch_averaged", (*Writer).epochAveraged},
	{"epoch_passive", (*Writer).epochPassive},
	{"epoch_adaptive", (*Writer).epochAdaptive},
	{"epoch_indexed", (*Writer).epochIndexed},
	{"transpose", (*Writer).transpose},
	{"max_squared_norm", (*Writer).maxSquaredNorm},
	{"sparse_scores", (*Writer).sparseScores},
	{"sparse_scores8", (*Writer).sparseScores8},
	{"sparse_epoch", (*Writer).sparseEpoch},
	{"sparse_epoch_indexed", (*Writer).sparseEpochIndexed},
	{"sparse_add", (*Writer).sparseAdd},
	{"pack", (*Writer).pack},
	{"bounds", (*Writer).bounds},
	{"bounds_weighted", (*Writer).boundsWeighted},
	{"tile", (*Writer).tile},
	{"scale_rows", (*Writer).scaleRows},
	{"rank_k_update", (*Writer).rankKUpdate},
	{"copy_non_temporal", (*Writer).copyNonTemporal},
	{"standardize", (*Writer).standardize},
	{"narrow", (*Writer).narrow},
	{"narrow_whole", (*Writer).narrowWhole},
	{"exp", (*Writer).exp},
	{"sigmoid", (*Writer).sigmoid},
	{"log1p", (*Writer).log1p},
	{"logistic", (*Writer).logistic},
	{"decimals", (*Writer).decimals},
	{"odd_start", (*Writer).oddStart},
	{"limits", (*Writer).limits},
}

// A Type is an element type.
type Type struct {
	Suffix string // of function names
	Go     string
	Size   int // bytes of an element
	Per    int // elements of a vector of 32 bytes
}

// Types lists the element types.
var Types = []Type{{"F32", "float32", 4, 8}, {"F64", "float64", 8, 4}}

const (
	vectorBytes = 32
	accs        = 4 // vectors that hold the lanes of a dot product
	inRegisters = 9 // most vectors of w that an epoch keeps in registers
	groupShift  = 9 // log2 of the rows in a group of EpochIndexed
)

// A Writer writes the instructions of kernels for one element type and instruction set.
type Writer struct {
	*build.Context
	Type
	ISA    ISA
	labels int
}

// begin opens the function of that name in the table.
func (w *Writer) begin(name string) {
	w.Function(name + w.Suffix)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func" + table.Find(name).SignatureOf(w.Go))
}

// end closes a function that used vectors.
func (w *Writer) end() {
	w.VZEROUPPER()
	w.RET()
}

// log2 is the shift that turns a number of elements into bytes.
func (w *Writer) log2() int { return bits.Len(uint(w.Size)) - 1 }

// label returns a new label.
func (w *Writer) label(name string) string {
	w.labels++
	return fmt.Sprintf("%s%d", name, w.labels)
}

// ref is a jump target.
func ref(label string) operand.Op { return operand.LabelRef(label) }

func mem(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

func at(base, index reg.Register, disp int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: 1, Disp: disp}
}

// vec is the memory of vector k.
func vec(base reg.Register, k int) operand.Mem { return mem(base, k*vectorBytes) }

func imm(n int) operand.Op {
	if n < 0 || n > 127 {
		return operand.U32(n)
	}
	return operand.U8(n)
}

// slice loads the base and the length of a slice parameter.
func (w *Writer) slice(name string) (base, n reg.GPVirtual) {
	base, n = w.GP64(), w.GP64()
	w.Load(w.Param(name).Base(), base)
	w.Load(w.Param(name).Len(), n)
	return base, n
}

// address is where a parameter lies on the stack.
func (w *Writer) address(c gotypes.Component) operand.Mem {
	p, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// full returns n registers of the instruction set's full width, unlike most kernels, which need YMM registers.
func (w *Writer) full(n int) []reg.VecVirtual {
	if w.ISA.Bytes == vectorBytes {
		return w.ymms(n)
	}
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = w.ZMM()
	}
	return v
}

func (w *Writer) ymms(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = w.YMM()
	}
	return v
}

func (w *Writer) zero(regs ...reg.VecVirtual) {
	for _, r := range regs {
		w.VXORPS(r, r, r)
	}
}

// The methods below are instructions of the element type, packed (p) and scalar (s). Operands are in Go's order: the
// destination last.

func (w *Writer) pick(f32, f64 func(...operand.Op)) func(...operand.Op) {
	if w.Size == 4 {
		return f32
	}
	return f64
}

func (w *Writer) movp(src, dst operand.Op)      { w.pick(w.VMOVUPS, w.VMOVUPD)(src, dst) }
func (w *Writer) movs(src, dst operand.Op)      { w.pick(w.VMOVSS, w.VMOVSD)(src, dst) }
func (w *Writer) fmap(x, y, acc operand.Op)     { w.pick(w.VFMADD231PS, w.VFMADD231PD)(x, y, acc) }
func (w *Writer) fmas(x, y, acc operand.Op)     { w.pick(w.VFMADD231SS, w.VFMADD231SD)(x, y, acc) }
func (w *Writer) addp(x, y, dst operand.Op)     { w.pick(w.VADDPS, w.VADDPD)(x, y, dst) }
func (w *Writer) adds(x, y, dst operand.Op)     { w.pick(w.VADDSS, w.VADDSD)(x, y, dst) }
func (w *Writer) mulp(x, y, dst operand.Op)     { w.pick(w.VMULPS, w.VMULPD)(x, y, dst) }
func (w *Writer) muls(x, y, dst operand.Op)     { w.pick(w.VMULSS, w.VMULSD)(x, y, dst) }
func (w *Writer) and(x, y, dst operand.Op)      { w.pick(w.VANDPS, w.VANDPD)(x, y, dst) }
func (w *Writer) xor(x, y, dst operand.Op)      { w.pick(w.VXORPS, w.VXORPD)(x, y, dst) }
func (w *Writer) broadcast(src, dst operand.Op) { w.pick(w.VBROADCASTSS, w.VBROADCASTSD)(src, dst) }

func (w *Writer) compare(x, y operand.Op) {
	w.VUCOMISS(x, y)
}

// maskLoad loads the elements of src that mask selects, and zeros elsewhere. It doesn't touch the memory of others.
func (w *Writer) maskLoad(src, mask, dst operand.Op) {
	if w.Size == 4 {
		w.VMASKMOVPS(src, mask, dst)
	} else {
		w.VMASKMOVPD(src, mask, dst)
	}
}

// fold adds halves of the lanes until one is left, which it returns. It overwrites a.
func (w *Writer) fold(a []reg.VecVirtual) reg.VecVirtual {
	w.addp(a[2], a[0], a[0])
	w.addp(a[3], a[1], a[1])
	w.addp(a[1], a[0], a[0])
	return w.foldVector(a[0])
}

// foldVector folds the lanes of one vector.
func (w *Writer) foldVector(a reg.VecVirtual) reg.VecVirtual {
	s, t := w.XMM(), w.XMM()
	w.VEXTRACTF128(imm(1), a, t)
	w.addp(t, a.AsX(), s)
	if w.Size == 4 {
		w.VMOVHLPS(s, s, t)
		w.addp(t, s, s)
		w.VMOVSHDUP(s, t)
	} else {
		w.VUNPCKHPD(s, s, t)
	}
	w.adds(t, s, s)
	return s
}

// masks returns a table in which the vector at element Per-n selects the first n lanes.
func (w *Writer) masks() operand.Mem {
	m := w.StaticGlobal("masks" + w.Suffix)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 2 * w.Per {
		ones := uint64(0)
		if i < w.Per {
			ones = ^ones
		}
		if w.Size == 4 {
			w.AddDatum(4*i, operand.U32(ones))
		} else {
			w.AddDatum(8*i, operand.U64(ones))
		}
	}
	return m
}

// signs returns the mask of an element's sign bit, in lane 0 of a vector.
func (w *Writer) signs() reg.VecVirtual {
	sign, m := w.GP64(), w.XMM()
	w.MOVQ(operand.U64(1<<31), sign)
	w.VMOVQ(sign, m)
	return m
}
