package kernel

import "math"

// SetQuantum declares that every feature of the rows to come is a multiple of quantum, a power of two up to 1. The last
// column of the rows must be 1. Call Reset afterwards.
//
// Integer features give many scores of exactly zero, and no limit above zero tells a score of zero from other small
// scores. But weights that are multiples of a power of two give scores that are multiples of a known number q, without
// rounding errors if the scores are small. Then score - q/2 is never zero, and is positive exactly where the score is
// positive. So Reset subtracts q/2 from the packed bias.
func (c *ErrorCounter) SetQuantum(quantum float64) { c.quantum = quantum }

// shift subtracts half of the quantum of candidate i's scores from its packed bias, if the scores have a quantum.
func (c *ErrorCounter) shift(i int, norm float64, bias *float32) {
	if c.quantum == 0 {
		return
	}
	quantum := c.quantum * FixedPointScale(c.Weights(i)[:c.cols], leastQuantum)
	shifted := float32(float64(*bias) - quantum/2)
	if quantum == 0 || float64(shifted) != float64(*bias)-quantum/2 {
		return
	}
	*bias, c.shifts[i] = shifted, quantum/2
	c.exactTo[i] = c.roundings.integers / 4 * quantum / norm * (1 - 0x1p-30)
}

// leastQuantum is the smallest quantum of a candidate's weights that shift uses.
const leastQuantum = 0x1p-20

// FixedPointScale returns the largest power of two up to 1 that divides every element of x. It returns 0 if that power is below
// least, or if an element is NaN.
func FixedPointScale(x []float32, least float64) float64 {
	quantum, inverse := 1.0, 1.0
	for _, v := range x {
		for scaled := float64(v) * inverse; scaled != math.Trunc(scaled); scaled *= 2 {
			if quantum, inverse = quantum/2, inverse*2; !(quantum >= least) || scaled-scaled != 0 {
				return 0
			}
		}
	}
	return quantum
}
