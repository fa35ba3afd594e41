// Package microkernel holds the inner loops that few packages need: tiles of matrix products, blocks of rank-k updates,
// non-temporal copies, and the loops that measure the machine. Programs call package kernel.
//
// It stands above kernel, because both must run at the same level, and kernel alone detects the CPU. Its dispatch is
// written by asm/gen, like kernel's, and asks kernel.Active. Its functions follow kernel's rules.
package microkernel

import (
	"unsafe"

	"halfspace/kernel"
)

func is32[T kernel.Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// f32 and f64 convert a slice to its actual element type, which is32 tells.

func f32[T kernel.Float](x []T) []float32 { return *(*[]float32)(unsafe.Pointer(&x)) }
func f64[T kernel.Float](x []T) []float64 { return *(*[]float64)(unsafe.Pointer(&x)) }
