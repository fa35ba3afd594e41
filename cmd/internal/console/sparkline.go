package console

import (
	"slices"
	"strings"
)

// levels are the heights of a sparkline, the lowest first.
var levels = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws a curve in one line of at most most characters. If there are more values than characters, each
// character shows a mean. It returns "" for a flat curve, a curve that isn't finite, and fewer than two values or
// characters.
func Sparkline(values []float64, most int) string {
	if most < 2 || len(values) < 2 {
		return ""
	}
	n := min(most, len(values))
	means := make([]float64, n)
	for i := range means {
		part := values[i*len(values)/n : (i+1)*len(values)/n]
		for _, v := range part {
			means[i] += v / float64(len(part))
		}
	}
	low, high := slices.Min(means), slices.Max(means)
	if !(low < high) || high-low-(high-low) != 0 {
		return ""
	}
	var s strings.Builder
	for _, v := range means {
		s.WriteRune(levels[min(len(levels)-1, int((v-low)/(high-low)*float64(len(levels))))])
	}
	return s.String()
}

// UnicodeWidth returns the width of the terminal that shows the results, if its locale has Unicode; otherwise 0.
func (a *App) UnicodeWidth() int {
	if f := terminal(a.Stdout.to.w); f != nil && unicodeTerminal() {
		return width(f)
	}
	return 0
}
