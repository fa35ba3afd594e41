package metrics

import (
	"math"
	"slices"
	"unsafe"
)

// digitBits are the bits of a key that a pass of sorted looks at, least significant bits first.
const digitBits = 11

// sortScores returns the scores in ascending order, NaN first, and -0 as 0. It sorts in place, or in a new slice.
//
// It sorts by radix from the least significant digit (Knuth, "The Art of Computer Programming", volume 3, section 5.2.5): in three
// passes that read and write each score once.
func sortScores(scores []float32) []float32 {
	if len(scores) < 1<<digitBits || uint64(len(scores)) > math.MaxUint32 {
		slices.Sort(scores)
		return scores
	}
	var ends [3][1 << digitBits]uint32
	for _, score := range scores {
		k := keyOf(score)
		ends[0][k%(1<<digitBits)]++
		ends[1][k>>digitBits%(1<<digitBits)]++
		ends[2][k>>(2*digitBits)]++
	}
	for pass := range ends {
		at := uint32(0)
		for d, n := range ends[pass] {
			ends[pass][d], at = at, at+n
		}
	}
	other := make([]float32, len(scores))
	from, to := keysIn(scores), keysIn(other)
	for _, score := range scores {
		k := keyOf(score)
		d := k % (1 << digitBits)
		to[ends[0][d]] = k
		ends[0][d]++
	}
	for _, k := range to {
		d := k >> digitBits % (1 << digitBits)
		from[ends[1][d]] = k
		ends[1][d]++
	}
	for _, k := range from {
		d := k >> (2 * digitBits)
		other[ends[2][d]] = scoreOf(k)
		ends[2][d]++
	}
	return other
}

// keysIn returns the memory of scores for keys.
func keysIn(scores []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(scores))), len(scores))
}

// keyOf returns a number that orders as the score does: 0 for NaN.
func keyOf(score float32) uint32 {
	if score != score {
		return 0
	}
	bits := math.Float32bits(score + 0)             // -0 + 0 is 0
	return bits ^ (uint32(int32(bits)>>31) | 1<<31) // no branch, because signs predict none
}

// scoreOf returns the score whose key is k.
func scoreOf(k uint32) float32 {
	if k == 0 {
		return float32(math.NaN())
	}
	return math.Float32frombits(k ^ (k>>31 - 1 | 1<<31))
}
