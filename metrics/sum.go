package metrics

import "math"

// A Sum adds numbers exactly, and rounds once (Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast
// robust geometric predicates"). So it doesn't depend on the order of the numbers. The zero value is the sum of no
// numbers.
type Sum struct {
	// The exact sum of parts is the exact sum of the numbers. No two parts have bits of the same value, and the
	// smallest part comes first.
	parts     []float64
	nonFinite float64 // sum of infinities and NaN; 0 if there are none
}

// Add adds a number.
func (s *Sum) Add(x float64) {
	kept := s.parts[:0]
	for _, y := range s.parts {
		high := x + y
		rest := high - x // Knuth's exact sum: x + y = high + low
		if low := (x - (high - rest)) + (y - rest); low != 0 {
			kept = append(kept, low)
		}
		x = high
	}
	if x-x != 0 { // an infinity, NaN or an overflow
		s.nonFinite += x
		kept, x = kept[:0], 0
	}
	s.parts = append(kept, x)
}

// addAll adds numbers, in a fraction of the time of Add.
func (s *Sum) addAll(values []float64) {
	for n := 0; len(values) > 0; values = values[n:] {
		n = min(len(values), mostNumbersAtOnce)
		s.addByLimbs(values[:n])
	}
}

// A sum of up to mostNumbersAtOnce numbers is an integer of 32-bit limbs: limb k counts 2^(32k-1075), and takes 53 bits of each
// number (Neal 2015, "Fast exact summation using small and large superaccumulators"). Numbers outside of leastExponent to
// endExponent, biased as in a float64, have no limbs here.
const (
	limbBits                   = 32
	limbCount                  = 64
	mostNumbersAtOnce          = 512
	leastExponent, endExponent = 2 * limbBits, (limbCount - 2) * limbBits
)

// addByLimbs is addAll for at most mostNumbersAtOnce numbers.
func (s *Sum) addByLimbs(values []float64) {
	var limbs [limbCount]int64
	for _, v := range values {
		bits := math.Float64bits(v)
		exponent := bits >> 52 & (1<<11 - 1)
		if exponent-leastExponent >= endExponent-leastExponent {
			if v != 0 {
				s.Add(v)
			}
			continue
		}
		mantissa, shift, sign := bits&(1<<52-1)|1<<52, exponent%limbBits, int64(bits)>>63
		low, high := int64(mantissa<<shift&(1<<limbBits-1)), int64(mantissa>>(limbBits-shift))
		at := limbs[exponent/limbBits%(limbCount-1):]
		at[0] += (low ^ sign) - sign
		at[1] += (high ^ sign) - sign
	}
	for k, n := range limbs {
		if n != 0 {
			unit := math.Ldexp(1, limbBits*k-1075)
			s.Add(float64(n>>limbBits) * math.Ldexp(unit, limbBits))
			s.Add(float64(n&(1<<limbBits-1)) * unit)
		}
	}
}

// Value returns the sum, rounded to the nearest float64.
func (s *Sum) Value() float64 {
	if s.nonFinite != 0 {
		return s.nonFinite
	}
	i := len(s.parts) - 1
	if i < 0 {
		return 0
	}
	high, low := s.parts[i], 0.0
	for i--; i >= 0 && low == 0; i-- {
		x := high
		high = x + s.parts[i]
		low = s.parts[i] - (high - x)
	}
	if i >= 0 && (low < 0) == (s.parts[i] < 0) && low != 0 { // half a unit, and smaller parts of the same sign
		if up := high + 2*low; up-high == 2*low {
			high = up
		}
	}
	return high
}

// A Mean is the weighted mean of numbers. Its sums are exact. The zero value is the mean of no numbers.
type Mean struct{ sum, weight Sum }

// Add adds numbers with their weights. If weights is nil, each number counts once.
func (m *Mean) Add(values, weights []float64) {
	if weights == nil {
		m.sum.addAll(values)
		m.weight.Add(float64(len(values)))
		return
	}
	for i, v := range values {
		m.sum.Add(float64(v * weights[i]))
		m.weight.Add(weights[i])
	}
}

// Weight returns the sum of the weights.
func (m *Mean) Weight() float64 { return m.weight.Value() }

// Value returns the mean; NaN without numbers, or if all weights are 0.
func (m *Mean) Value() float64 { return m.sum.Value() / m.weight.Value() }
