package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"halfspace/internal/humanize"
)

// An Axis describes the numbers along one side of a picture.
type Axis struct {
	Name     string
	From, To float64  // the range; both 0: the range of the series
	Names    []string // names of the whole numbers from 0 on, in place of ticks
	Log      bool     // the numbers of the series are base-10 logarithms: ticks show the original numbers

	includesZero bool    // the range includes 0
	step         float64 // distance of two ticks; 0: a distance that suits the range
}

// largestNumber is the largest number on an axis. The bound keeps the width of the range finite.
const largestNumber = 1e300

// clamp clamps a number to the range from -largestNumber to largestNumber.
func clamp(v float64) float64 { return max(-largestNumber, min(v, largestNumber)) }

// widen widens a range so that it includes the finite values, clamped to farthest.
func widen(from, to float64, values []float64) (float64, float64) {
	for _, v := range values {
		if v-v == 0 {
			from, to = min(from, clamp(v)), max(to, clamp(v))
		}
	}
	return from, to
}

// fit replaces an impossible or too narrow range by a usable one. With whole, the range ends at ticks.
func (a *Axis) fit(whole bool) {
	if a.Names != nil {
		a.From, a.To = -0.6, float64(len(a.Names))-0.4
		return
	}
	if !(a.From <= a.To) {
		a.From, a.To = 0, 1
	}
	// A float64 has no ticks between numbers that are too close.
	if largest := max(math.Abs(a.From), math.Abs(a.To)); a.To-a.From < max(1e-12*largest, 1/largestNumber) {
		a.From, a.To = a.From-math.Max(1, math.Abs(a.From)/2), a.To+math.Max(1, math.Abs(a.To)/2)
	}
	if !whole {
		return
	}
	step := tickStep(a.From, a.To)
	a.step = step
	a.From, a.To = math.Floor(a.From/step+1e-9)*step, math.Ceil(a.To/step-1e-9)*step
}

// tickStep returns a tick distance of 1, 2 or 5 times a power of ten that gives about six ticks.
func tickStep(from, to float64) float64 {
	const about = 6
	raw := (to - from) / about
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*0.9 {
			return m * power
		}
	}
	return 10 * power
}

func (a *Axis) tickDistance() float64 {
	if a.step > 0 {
		return a.step
	}
	return tickStep(a.From, a.To)
}

// A tick is a labelled number on an axis.
type tick struct {
	at          float64
	text, power string // the exponent power is raised, after the text
}

// letters returns the approximate length of the label, in letters of the usual size.
func (t *tick) letters() float64 {
	return letters(t.text) + powerSize*letters(t.power)
}

func (a *Axis) ticks() (all []tick) {
	switch {
	case a.Names != nil:
		for i, n := range a.Names {
			all = append(all, tick{at: float64(i), text: cut(n, mostName)})
		}
	case a.Log:
		return a.powers()
	default:
		step := a.tickDistance()
		for _, v := range multiples(step, a.From, a.To) {
			all = append(all, tick{at: v, text: number(v, step)})
		}
	}
	return all
}

// multiples returns the multiples of step within a range, at most 20.
func multiples(step, from, to float64) (all []float64) {
	const most = 20 // tickStep makes fewer
	first := math.Ceil(from/step - 1e-9)
	for k := range most {
		v := (first + float64(k)) * step
		if !(v <= to+step*1e-9) {
			break
		}
		all = append(all, v)
	}
	return all
}

// powers returns the ticks of a logarithmic axis: powers of ten. If there are fewer than three in the range, it returns
// 1, 2 and 5 times powers of ten. If these are fewer than three too, it returns the ticks of a linear axis.
func (a *Axis) powers() (all []tick) {
	for _, e := range multiples(max(1, math.Ceil(tickStep(a.From, a.To))), a.From, a.To) {
		all = append(all, tick{at: e, text: "10", power: minus(strconv.Itoa(int(e)))})
	}
	const least = 3
	if len(all) >= least {
		return all
	}
	all = nil
	for e := math.Floor(a.From); e <= a.To; e++ {
		for _, m := range []float64{1, 2, 5} {
			if at := e + math.Log10(m); at >= a.From-1e-9 && at <= a.To+1e-9 {
				all = append(all, tick{at: at, text: number(m*math.Pow(10, e), math.Pow(10, e))})
			}
		}
	}
	if len(all) >= least {
		return all
	}
	all = nil
	from, to := math.Pow(10, a.From), math.Pow(10, a.To)
	step := tickStep(from, to)
	for _, v := range multiples(step, from, to) {
		if v > 0 {
			all = append(all, tick{at: math.Log10(v), text: number(v, step)})
		}
	}
	return all
}

func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// number writes a multiple of a step with the number of digits that the step has.
func number(v, step float64) string {
	if v = math.Round(v/step) * step; v == 0 {
		return "0"
	}
	if a := max(math.Abs(v), step); a >= 1e6 || step < 1e-5 {
		digits := max(1, int(math.Ceil(math.Log10(math.Abs(v)/step)))+1)
		return strings.Replace(fmt.Sprintf("%.*g", digits, v), "e+0", "e", 1)
	}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if digits == 0 && math.Abs(v) < 1e6 {
		return minus(humanize.Count(int64(math.Round(v))))
	}
	return minus(fmt.Sprintf("%.*f", digits, v))
}
