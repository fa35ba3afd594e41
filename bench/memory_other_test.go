//go:build !linux

package bench

func touchMemory() {}
