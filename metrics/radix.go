package metrics

import (
	"math"
	"slices"
	"unsafe"
)

// digits are the bits of a key that a pass of sorted looks at, least significant bits first.
const digits = 11

// sorted returns the scores in ascending order, NaN first, and -0 as 0. It sorts in place, or in a new slice.
//
// It sorts by radix from the least significant digit (Knuth, "The Art of Computer Programming", volume 3, section 5.2.5): in three
// passes that read and write each score once.
func sorted(scores []float32) []float32 {
	if len(scores) < 1<<digits {
		slices.Sort(scores)
		return scores
	}
	keys := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(scores))), len(scores))
	other := make([]float32, len(scores))
	to := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(other))), len(scores))
	var counts [3][1 << digits]int
	for i, score := range scores {
		k := keyOf(score)
		keys[i] = k
		counts[0][k%(1<<digits)]++
		counts[1][k>>digits%(1<<digits)]++
		counts[2][k>>(2*digits)]++
	}
	for pass := range counts {
		at, n := &counts[pass], 0
		for d, c := range at {
			at[d], n = n, n+c
		}
		shift := digits * pass
		for _, k := range keys {
			d := k >> (shift & 31) % (1 << digits)
			to[at[d]] = k
			at[d]++
		}
		keys, to = to, keys
	}
	for i, k := range keys { // the third pass wrote other
		other[i] = scoreOf(k)
	}
	return other
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
