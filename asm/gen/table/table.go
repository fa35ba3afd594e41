// Package table lists the functions that the generator writes: their stubs, and the dispatch of the packages that call
// them. Package halfspace/asm states what each computes.
package table

import (
	"slices"
	"strings"
)

// The packages that call functions, as folders of the module.
const (
	Kernel      = "kernel"
	Float64     = "kernel/f64"
	Microkernel = "internal/microkernel"
)

// A Function is one name of the packages of kernels, for one element type or several.
type Function struct {
	Name      string   // without the element type's suffix
	Signature string   // in which T stands for the element type; it names its parameters
	Doc       string   // what the function does, after its name
	Types     []string // suffixes of the element types; nil for float32 alone
	Package   string   // that calls it; Float64 in place of Kernel for float64

	Shape  []string // constants of a package that has the function, without suffix, which callers need
	Direct bool     // the caller tests for level Generic itself
	NoTwin bool     // level Generic does nothing
}

var (
	both        = []string{"F32", "F64"}
	float64Only = []string{"F64"}
)

// Functions lists all functions. Parameters that are written come first.
var Functions = []Function{
	{Name: "Dot", Types: both, Signature: "(x, y []T) T", Package: Kernel, Direct: true,
		Doc: "returns the dot product of x and y, of the same length."},
	{Name: "Axpy", Types: both, Signature: "(y []T, a T, x []T)", Package: Kernel, Doc: "adds a*x to y."},
	{Name: "Axpy4", Signature: "(y, a []T, x [][]T)", Package: Kernel, Doc: "adds a[k]*x[k] to y for k = 0, 1, 2, 3."},
	{Name: "FirstMistake", Signature: "(y, scores []T) int", Package: Kernel,
		Doc: "returns the first i with y[i]*scores[i] <= 0, or len(y)."},
	{Name: "Scores", Types: both, Signature: "(out, x, w []T)", Package: Kernel, Doc: "scores len(out) rows of stride len(w)."},
	{Name: "Epoch", Signature: "(w []T, log []uint32, x, y []T, eta, margin T) (rows, updates int)", Package: Kernel,
		Doc: "runs the perceptron over len(y) rows of stride len(w)."},
	{Name: "EpochAveraged", Package: Kernel,
		Signature: "(w, late []T, log []uint32, x, y []T, eta, margin T, visits int) (rows, updates int)",
		Doc:       "runs the perceptron as Epoch, and adds each update times the visits before it to late."},
	{Name: "EpochPassive", Signature: "(w []T, log []uint32, x, y []T, most, slack float64) (rows, updates int)", Package: Kernel,
		Doc: "runs the passive-aggressive algorithm over len(y) rows of stride len(w)."},
	{Name: "EpochAdaptive", Package: Kernel,
		Signature: "(w []T, log []uint32, z, n, root []float64, x, y []T, weights, l1, l2 []float64, inverse, beta float64, hinge bool) (rows, updates int)",
		Doc:       "runs FTRL-Proximal over len(y) rows of stride len(w)."},
	{Name: "EpochIndexed", Package: Kernel,
		Signature: "(w []T, log []uint32, x, y [][]T, idx []uint32, ahead []T, eta, margin T) (visits, updates int)",
		Doc:       "runs the perceptron over the rows numbered in idx."},
	{Name: "Transpose", Signature: "(dst []T, stride int, cols [][]T)", Package: Kernel,
		Doc: "writes columns as rows, and zeros beyond them."},
	{Name: "MaxSquaredNorm", Signature: "(x []T, stride int) float64", Package: Kernel,
		Doc: "returns the largest squared norm of the rows of x."},
	{Name: "SparseScores", Signature: "(out []T, ptr []int64, idx []uint32, val, w []T) int", Package: Kernel,
		Doc: "scores len(out) rows in CSR form, and returns how many."},
	{Name: "SparseScores8", Signature: "(out []T, ptr []int64, idx []uint32, val, w []T) int", Package: Kernel,
		Doc: "scores rows in CSR form by 8 interleaved candidates, and returns how many rows."},
	{Name: "SparseEpoch", Package: Kernel,
		Signature: "(w []T, log []uint32, ptr []int64, idx []uint32, val, y []T, eta, margin T) (rows, updates int)",
		Doc:       "runs the perceptron over len(y) rows in CSR form."},
	{Name: "SparseEpochIndexed", Package: Kernel,
		Signature: "(w []T, log []uint32, ptr [][]int64, idx [][]uint32, val, y [][]T, rows []uint32, eta, margin T) (visits, updates int)",
		Doc:       "runs the perceptron over the rows in CSR form that are numbered in rows."},
	{Name: "SparseAdd", Signature: "(w []T, a T, idx []uint32, val []T) int", Package: Kernel,
		Doc: "adds a times a row in CSR form to w, and returns how many elements it added."},
	{Name: "Pack", Signature: "(dst, x, y []T, stride, cols int) T", Package: Kernel,
		Doc: "packs rows in groups, and returns their largest squared norm."},
	{Name: "Bounds", Signature: "(low, high []int64, x, w, limits []T, cols int)", Package: Kernel,
		Shape: []string{"BoundsMR", "BoundsNR"}, Doc: "bounds the errors of candidates."},
	{Name: "BoundsWeighted", Signature: "(low []int64, x []T, weights []int32, w, limits []T, cols int)", Package: Kernel,
		Doc: "bounds the sums of sample weights over the errors of candidates."},
	{Name: "Standardize", Types: both, Signature: "(dst []float32, x []T, center, scale float64)", Package: Kernel,
		Doc: "sets dst[i] to (x[i]-center)/scale."},
	{Name: "Narrow", Types: float64Only, Signature: "(dst []float32, x []T) (all uint64)", Package: Kernel,
		Doc: "sets dst[i] to x[i], and returns the bits of all magnitudes."},
	{Name: "NarrowWhole", Signature: "(dst []T, x []int64) (all uint64)", Package: Kernel,
		Doc: "sets dst[i] to x[i], and returns the bits of all magnitudes."},
	{Name: "Exp", Types: both, Signature: "(y, x []T)", Package: Kernel, Doc: "sets y[i] to e^x[i]."},
	{Name: "Sigmoid", Types: float64Only, Signature: "(y, x []T)", Package: Kernel, Doc: "sets y[i] to 1/(1 + e^-x[i])."},
	{Name: "Log1p", Types: float64Only, Signature: "(y, x []T)", Package: Kernel, Doc: "sets y[i] to log(1 + x[i])."},
	{Name: "Logistic", Signature: "(z, factor, curvature, loss, y []float64)", Package: Kernel, Types: float64Only,
		Doc: "computes a logistic loss and its derivatives from scores z and signs y."},
	{Name: "Decimals", Signature: "(values []float64, forms []uint32, text []byte, at int, comma uint8, stop uint64) (n, end int)", Package: Kernel,
		Doc: "reads decimal numbers of one or more records of delimited text."},
	{Name: "OddStart", Signature: "(text []byte, comma uint8) (odd uint64)", Package: Kernel,
		Doc: "returns 1 if a number of delimited text has an odd start, else 0."},
	{Name: "Tile", Signature: "(c []T, ldc, grow int, a, b []T, add bool)", Package: Microkernel,
		Shape: []string{"MR", "NR"}, Doc: "multiplies packed panels of MR rows by one of NR columns."},
	{Name: "ScaleRows", Signature: "(dst []float64, x []T, s []float64, stride, cols int)", Package: Microkernel,
		Doc: "widens rows, and multiplies them by the square roots of weights."},
	{Name: "RankKUpdate", Signature: "(c, a, b []float64, rows int, square bool)", Package: Microkernel, Types: float64Only,
		Doc: "adds a rank-k update to a block of sums."},
	{Name: "CopyNonTemporal", Signature: "(dst, src []T)", Package: Microkernel,
		Doc: "copies whole cache lines with non-temporal stores."},
	{Name: "Fence", Signature: "()", Package: Microkernel, NoTwin: true,
		Doc: "orders non-temporal stores before the stores that follow."},
	{Name: "Peak", Signature: "(n int)", Package: Microkernel, Shape: []string{"Round"}, NoTwin: true,
		Doc: "does n rounds of fused multiply-adds."},
	{Name: "Load", Signature: "(x []T)", Package: Microkernel, NoTwin: true, Doc: "loads x."},
	{Name: "Stream", Signature: "(x []T)", Package: Microkernel, NoTwin: true,
		Doc: "overwrites x with zeros by non-temporal stores."},
}

// Types maps the suffix of an element type to its name in Go.
var Types = []struct{ Suffix, Go string }{{"F32", "float32"}, {"F64", "float64"}}

// Find returns the function of that name. It panics if there is none, which is a bug of the generator.
func Find(name string) Function {
	for _, f := range Functions {
		if f.Name == name {
			return f
		}
	}
	panic("table: no function " + name)
}

// SignatureOf returns the signature for an element type, given its name in Go.
func (f Function) SignatureOf(element string) string {
	return strings.NewReplacer("T", element).Replace(f.Signature)
}

// For tells whether the function exists for the element type of that suffix.
func (f Function) For(suffix string) bool {
	if f.Types == nil {
		return suffix == "F32"
	}
	return slices.Contains(f.Types, suffix)
}

// Caller returns the package that calls the function for the element type of that suffix.
func (f Function) Caller(suffix string) string {
	if f.Package == Kernel && suffix == "F64" {
		return Float64
	}
	return f.Package
}

// Name returns the name of the function that a file of assembly holds, given the file's name in snake case. The file limits
// holds Peak and others for the same element types.
func Name(file string) string {
	if file == "limits" {
		return "Peak"
	}
	var name strings.Builder
	for _, word := range strings.Split(file, "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}
