package metrics

import (
	"math"
	"strconv"
	"strings"
)

// Between returns a short decimal above low and below high: 0 if possible, otherwise a power of ten, otherwise a number
// near the middle with as few digits as possible. Its shortest text parses back to the same number. If no float64 is
// between low and high, Between returns low. low must be below high. An infinite end, or NaN for low, stands for no
// bound.
func Between(low, high float64) float64 {
	low, high = finiteBounds(low, high)
	found := low
	Decimals(low, high, func(v float64) bool {
		if v > low && v < high {
			found = v
			return false
		}
		return true
	})
	return found
}

// finiteBounds replaces an absent bound by a number whose distance from the other bound is the other bound's distance
// from 0, and at least 1.
func finiteBounds(low, high float64) (float64, float64) {
	noLow, noHigh := low != low || math.IsInf(low, -1), math.IsInf(high, 1)
	away := func(v, sign float64) float64 {
		to := v + sign*max(1, math.Abs(v))
		return max(-math.MaxFloat64, min(math.MaxFloat64, to))
	}
	switch {
	case noLow && noHigh:
		return -1, 1
	case noLow:
		return away(high, -1), high
	case noHigh:
		return low, away(low, 1)
	}
	return low, high
}

// Decimals yields decimals near the middle of low and high until yield returns false: 0, a power of ten, then the
// middle rounded to 1, 2 and up to 17 digits. The decimals may be outside low and high, which must be finite.
func Decimals(low, high float64, yield func(v float64) bool) {
	middle := low/2 + high/2
	if !yield(0) {
		return
	}
	for digits := range 18 {
		text := strconv.FormatFloat(middle, 'e', max(0, digits-1), 64)
		v, err := strconv.ParseFloat(text, 64)
		if digits == 0 { // the power of ten above the first digit
			v, err = strconv.ParseFloat("1e"+strconv.Itoa(exponent(middle)+1), 64)
			v = math.Copysign(v, middle)
		}
		if err == nil && !yield(v) {
			return
		}
	}
}

// exponent returns the decimal exponent of v's first digit.
func exponent(v float64) int {
	_, text, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(text) // 0 for NaN and infinities
	return e
}
