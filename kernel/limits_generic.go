//go:build (!amd64 && !arm64) || noasm

package kernel

func peakF32(int) (fmas int) { return 0 }
func peakF64(int) (fmas int) { return 0 }
func load([]float32) bool    { return false }
func stream([]float32) bool  { return false }
