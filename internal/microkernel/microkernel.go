// Package microkernel holds the inner loops that few packages need.
//
// They are tiles of matrix products, blocks of rank-k updates, non-temporal copies, and the loops that measure the
// machine. Programs call package kernel.
//
// Package microkernel imports kernel, because both must run at the same level and only kernel detects the CPU. asm/gen
// writes its dispatch, like kernel's; the dispatch asks kernel.Active. The functions follow the rules of kernel.
package microkernel
