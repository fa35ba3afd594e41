package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"halfspace/internal/say"
)

// An Axis says what numbers mean.
type Axis struct {
	Name     string
	From, To float64  // the range; both 0: that of the series
	Names    []string // of the whole numbers from 0 on, in place of ticks
	Log      bool     // the numbers of the series are logarithms to the base 10: ticks show what they are the logarithms of

	zero bool    // the range has 0
	step float64 // between two ticks; 0: what suits the range
}

// farthest is the largest number that an axis reaches, so that the width of its range is finite.
const farthest = 1e300

// reached returns a number, or the nearest one that an axis reaches.
func reached(v float64) float64 { return max(-farthest, min(v, farthest)) }

// span widens a range by the numbers that aren't NaN or infinite, as far as an axis reaches.
func span(from, to float64, values []float64) (float64, float64) {
	for _, v := range values {
		if v-v == 0 {
			from, to = min(from, reached(v)), max(to, reached(v))
		}
	}
	return from, to
}

// fit makes the range one of numbers, around those that there are. With whole it ends at ticks.
func (a *Axis) fit(whole bool) {
	if a.Names != nil {
		a.From, a.To = -0.6, float64(len(a.Names))-0.4
		return
	}
	if !(a.From <= a.To) {
		a.From, a.To = 0, 1
	}
	// A float64 has no ticks between numbers that are too close.
	if largest := max(math.Abs(a.From), math.Abs(a.To)); a.To-a.From < max(1e-12*largest, 1/farthest) {
		a.From, a.To = a.From-math.Max(1, math.Abs(a.From)/2), a.To+math.Max(1, math.Abs(a.To)/2)
	}
	if !whole {
		return
	}
	step := tickStep(a.From, a.To)
	a.step = step
	a.From, a.To = math.Floor(a.From/step+1e-9)*step, math.Ceil(a.To/step-1e-9)*step
}

// tickStep returns a distance of 1, 2 or 5 times a power of ten that makes about six ticks.
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

// between returns the distance of two ticks.
func (a *Axis) between() float64 {
	if a.step > 0 {
		return a.step
	}
	return tickStep(a.From, a.To)
}

// A tick is a labelled number of an axis.
type tick struct {
	at          float64
	text, power string // power is raised behind the text
}

// letters returns about how many letters of the usual size are as long as the label.
func (t *tick) letters() float64 {
	return letters(t.text) + 0.75*letters(t.power)
}

// ticks returns the labelled numbers of an axis, in ascending order.
func (a *Axis) ticks() (all []tick) {
	switch {
	case a.Names != nil:
		for i, n := range a.Names {
			all = append(all, tick{at: float64(i), text: cut(n, mostName)})
		}
	case a.Log:
		return a.powers()
	default:
		step := a.between()
		for _, v := range multiples(step, a.From, a.To) {
			all = append(all, tick{at: v, text: number(v, step)})
		}
	}
	return all
}

// multiples returns those of a step within a range.
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

// powers returns the ticks of a logarithmic axis: powers of ten, else these and their doubles and fivefolds. If fewer than three are
// in the range, it's so narrow that the ticks of a usual axis do.
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

// minus writes a minus in place of a hyphen.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// number returns a multiple of a step with as many digits as the step has.
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
		return minus(say.Count(int64(math.Round(v))))
	}
	return minus(fmt.Sprintf("%.*f", digits, v))
}
