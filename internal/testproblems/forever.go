package testproblems

import "fmt"

// A Table is rows of features and their labels.
type Table struct {
	X [][]float64
	Y []string
}

// UnchangingTables returns tables that must never change: noisy rows of two chunks, noisy rows of three classes, bits,
// and noisy rows with more columns than solvers compute a Hessian for.
func UnchangingTables() map[string]Table {
	state := uint32(1)
	random := func(n uint32) uint32 { // Knuth and Lewis' generator
		state = state*1664525 + 1013904223
		return state >> 8 % n
	}
	rows := map[string]Table{}
	for _, name := range []string{"two", "three"} { // in this order, since state continues
		size := map[string][3]int{"two": {5000, 9, 2}, "three": {900, 5, 3}}[name]
		var r Table
		state = uint32(size[0])
		for range size[0] {
			x, sum := make([]float64, size[1]), float64(random(600))/100
			for k := range x {
				x[k] = float64(random(2000))/300 - 3
				sum += float64(x[k] * float64(k%3))
			}
			class := min(size[2]-1, max(0, int(sum/3)))
			r.X, r.Y = append(r.X, x), append(r.Y, string(rune('a'+class)))
		}
		rows[name] = r
	}
	var bits Table
	for range 800 {
		word := random(256)
		x := make([]float64, 8)
		for k := range x {
			x[k] = float64(word >> k & 1)
		}
		bits.X, bits.Y = append(bits.X, x), append(bits.Y, fmt.Sprint(word&0b10110 != 0))
	}
	rows["bits"] = bits
	var wide Table
	for range 700 {
		x, sum := make([]float64, 270), float64(random(400))/100-2
		for range 12 {
			k := random(270)
			x[k] = float64(random(600))/200 - 1.5
			sum += float64(x[k] * float64(k%5))
		}
		wide.X, wide.Y = append(wide.X, x), append(wide.Y, fmt.Sprint(sum > 0))
	}
	rows["wide"] = wide
	return rows
}
