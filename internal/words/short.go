package words

import "math/bits"

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// load8 returns the 8 bytes of a text from a position on, the first one lowest.
func load8(text string, at int) uint64 {
	t := text[at : at+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// between has the high bit of each byte of x that is from lo to hi. No byte of x may be above 0x7f.
func between(x uint64, lo, hi uint64) uint64 {
	return (x + (0x80-lo)*eachByte) &^ (x + (0x7f-hi)*eachByte) & highBits
}

// shortLength returns the number of small ASCII letters and digits at the beginning of 8 bytes, or 0 if all are.
func shortLength(eight uint64) int {
	low := eight &^ highBits
	others := ^((between(low, 'a', 'z') | between(low, '0', '9')) &^ eight) & highBits
	return bits.TrailingZeros64(others) / 8 % 8
}

// Keys of XXH3 with the seed 0: two differences of its secret.
const (
	keyTo3 = 0x87275a9b
	keyTo8 = 0xc73ab174c5ecd5a2
)

// hashShort returns the hash XXH3 of the first 1 to 7 of 8 bytes, as XXH3_len_1to3_64b and XXH3_len_4to8_64b of Yann
// Collet's program do.
func hashShort(eight uint64, n int) uint64 {
	if n >= 4 {
		last := uint64(uint32(eight >> (8 * (n - 4) & 63)))
		x := (last + eight<<32) ^ keyTo8
		x ^= bits.RotateLeft64(x, 49) ^ bits.RotateLeft64(x, 24)
		x *= 0x9fb21c651e98df25
		x ^= x>>35 + uint64(n)
		x *= 0x9fb21c651e98df25
		return x ^ x>>28
	}
	first, middle, last := eight&0xff, eight>>(8*(n>>1)&63)&0xff, eight>>(8*(n-1)&63)&0xff
	x := (first<<16 | middle<<24 | last | uint64(n)<<8) ^ keyTo3
	x ^= x >> 33
	x *= 0xc2b2ae3d27d4eb4f
	x ^= x >> 29
	x *= 0x165667b19e3779f9
	return x ^ x>>32
}
