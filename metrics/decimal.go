package metrics

import (
	"math"
	"strconv"
)

// Between returns a short decimal above low and below high: 0, else a power of ten, else a number with as few digits as possible that is
// near the middle. Its shortest text parses back to the same number. Where no float64 is between low and high, Between returns low. low is
// below high. An infinite end, or NaN for low, stands for no bound.
func Between(low, high float64) float64 {
	low, high = bounded(low, high)
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

// bounded replaces bounds that are absent by numbers that are as far from the other bound as that is from 0, and at least 1.
func bounded(low, high float64) (float64, float64) {
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

// Decimals yields decimals near the middle of low and high until yield returns false: 0, powers of ten, then the middle rounded to 1, 2 and up
// to 17 digits. They may be outside of low and high, which are finite.
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

// exponent returns the decimal exponent of v: that of its first digit.
func exponent(v float64) int {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	for i := range text {
		if text[i] == 'e' {
			e, _ := strconv.Atoi(text[i+1:])
			return e
		}
	}
	return 0
}
