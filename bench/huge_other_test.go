//go:build unix && !linux

package bench

func hugePages([]byte) {}

func backMemory() {}
