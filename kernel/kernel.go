// Package kernel holds the float32 loops that training spends its time in.
//
// It detects the CPU, checks every argument, and calls the assembly of the active instruction set, or its pure-Go twin.
//
// The comment of a function shows the Go loop that the function equals. Package asm fixes the order of the loop's
// floating-point operations, so a result has the same bits on every instruction set.
//
// All functions follow the same rules:
//
//   - Output parameters come first, then input parameters.
//   - Lengths are exact. A wrong length is a bug of the caller: the function panics with a constant, before it writes.
//   - A row has Stride elements: its columns, then zeros. The stride is the length of the weight vector, or an argument.
//   - Outputs don't overlap inputs, unless the comment allows it.
//   - Calls are safe for concurrent use if no two calls write the same memory.
//
// The runtime can't preempt assembly. So pass a panel of rows (PanelRows) to a function, not a whole data set.
package kernel

import (
	"halfspace/asm/ref"
	"halfspace/internal/parallel"
)

// rowAlign divides the length of a row: 32 bytes.
const rowAlign = 8

// GroupRows is the number of rows in a group of Rows.
const GroupRows = ref.GroupRows

// panelBytes bounds the work of one call: a panel fits the second-level cache and takes microseconds.
const panelBytes = 128 << 10

// Stride returns the length of a row in elements: cols rounded up to a multiple of 8 elements, which is 32 bytes.
func Stride(cols int) int {
	return (cols + rowAlign - 1) / rowAlign * rowAlign
}

// PanelRows returns the number of rows in a panel, the work of one call, for rows of that stride: a power of two from 1
// to 4,096.
func PanelRows(stride int) int {
	rows := 1
	for rows*2*stride*4 <= panelBytes && rows < 4096 {
		rows *= 2
	}
	return rows
}

// checkPair panics unless y, which is written, and x, which is read, have the same length. It reports both to the race
// detector.
func checkPair(y, x []float32) {
	if len(x) != len(y) {
		panicLengths(len(y), len(x))
	}
	parallel.RaceWrite(y)
	parallel.RaceRead(x)
}

func panicLengths(y, x int) {
	if y < x {
		panic("kernel: short y")
	}
	panic("kernel: short x")
}

func checkStride(stride int) {
	if stride <= 0 || stride%rowAlign != 0 {
		panic("kernel: stride is not a positive multiple of 32 bytes")
	}
}

// checkRows panics unless x holds exactly rows rows of a stride. It divides, since a product could overflow.
func checkRows(x []float32, rows, stride int) {
	if len(x)%stride != 0 || len(x)/stride != rows {
		panic("kernel: length of x is not rows * stride")
	}
}
