// Package peers measures kernels beside those of other Go libraries:
//
//	go -C bench/peers test -run '^$' -bench . -benchtime 50ms
//
// It is a module of its own, so that programs that use halfspace don't inherit the peers.
package peers
