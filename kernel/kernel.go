// Package kernel holds the loops that training and prediction spend their time in. It detects the CPU, checks every
// argument, and calls the assembly of the active instruction set, or its pure-Go twin.
//
// A comment here shows the Go loop that a function equals. Package asm fixes the order of its floating-point operations,
// so a result has the same bits on every instruction set.
//
// All functions follow the same rules:
//
//   - What is written comes first, then what is read.
//   - Lengths are exact. A wrong length is a bug of the caller: it panics with a constant, before anything is written.
//   - A row has Stride elements: its columns, then zeros. The stride is the length of the weight vector, or an argument.
//   - What is written doesn't overlap what is read, unless the comment allows it.
//   - Calls are safe for concurrent use if no two of them write the same memory.
//
// The runtime can't preempt assembly. So pass a panel of rows (PanelRows) to a function, not a whole data set.
package kernel

import (
	"math"
	"unsafe"

	"halfspace/asm/ref"
	"halfspace/internal/race"
)

// Float is the element type of vectors and rows.
type Float interface{ float32 | float64 }

// rowAlign divides the length of a row in bytes.
const rowAlign = 32

// ChunkRows is the number of rows in a chunk of Rows.
const ChunkRows = ref.ChunkRows

// panelBytes bounds the work of one call: a panel fits the second-level cache and takes microseconds.
const panelBytes = 128 << 10

// Stride returns the length of a row of cols columns in elements: cols, rounded up to a multiple of 32 bytes.
func Stride[T Float](cols int) int {
	per := rowAlign / int(unsafe.Sizeof(T(0)))
	return (cols + per - 1) / per * per
}

// PanelRows returns the number of rows of a stride in a panel, the work of one call: a power of two from 1 to 4,096.
func PanelRows[T Float](stride int) int {
	rows := 1
	for rows*2*stride*int(unsafe.Sizeof(T(0))) <= panelBytes && rows < 4096 {
		rows *= 2
	}
	return rows
}

// checkPair panics unless y, which is written, and x, which is read, have the same length. It reports both to the race
// detector.
func checkPair[T Float](y, x []T) {
	if len(x) != len(y) {
		panicLengths(len(y), len(x))
	}
	race.Write(y)
	race.Read(x)
}

func panicLengths(y, x int) {
	if y < x {
		panic("kernel: short y")
	}
	panic("kernel: short x")
}

func checkStride[T Float](stride int) {
	if stride <= 0 || stride > math.MaxInt/8 || stride*int(unsafe.Sizeof(T(0)))%rowAlign != 0 {
		panic("kernel: stride is not a positive multiple of 32 bytes")
	}
}

// checkRows panics unless x holds exactly rows rows of a stride. It divides, since a product could overflow.
func checkRows[T Float](x []T, rows, stride int) {
	if len(x)%stride != 0 || len(x)/stride != rows {
		panic("kernel: length of x is not rows * stride")
	}
}

func is32[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// f32, f64, f32s and f64s convert a slice to its actual element type, which is32 tells.

func f32[T Float](x []T) []float32      { return *(*[]float32)(unsafe.Pointer(&x)) }
func f64[T Float](x []T) []float64      { return *(*[]float64)(unsafe.Pointer(&x)) }
func f32s[T Float](x [][]T) [][]float32 { return *(*[][]float32)(unsafe.Pointer(&x)) }
func f64s[T Float](x [][]T) [][]float64 { return *(*[][]float64)(unsafe.Pointer(&x)) }
