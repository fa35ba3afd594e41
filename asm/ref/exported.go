package ref

// The functions below are the exported names of kernels that exist for both element types, and of copies. Package asm
// documents them.

func DotF32(x, y []float32) float32 { return dot(x, y) }

func DotF64(x, y []float64) float64 { return dot(x, y) }

func AxpyF32(y []float32, a float32, x []float32) { axpy(y, a, x) }

func AxpyF64(y []float64, a float64, x []float64) { axpy(y, a, x) }

func ScoresF32(out, x, w []float32) { scores(out, x, w) }

func ScoresF64(out, x, w []float64) { scores(out, x, w) }

func ExpF32(y, x []float32) { exp(y, x) }

func ExpF64(y, x []float64) { exp(y, x) }

// CopyNonTemporalF32 calls copy: pure Go has no non-temporal stores.
func CopyNonTemporalF32(dst, src []float32) { copy(dst, src) }
