// Package microkernel holds the inner loops that few packages need: tiles of matrix products, blocks of rank-k updates,
// non-temporal copies, and the loops that measure the machine. Programs call package kernel.
//
// It stands above kernel, because both must run at the same level, and kernel alone detects the CPU. Its dispatch is
// written by asm/gen, like kernel's, and asks kernel.Active. Its functions follow kernel's rules.
package microkernel
