//go:build !linux

package block

func adviseHuge([]byte) {}
