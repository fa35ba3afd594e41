package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"halfspace/internal/forecast"
	"halfspace/internal/hotloops"
	"halfspace/kernel"
	"halfspace/kernel/limits"
)

// allowance is the relative difference of measured and predicted cycles beyond which a prediction is a miss.
const allowance = 0.15

// printTable prints the cycles at the best level of each CPU.
func printTable(w io.Writer, t *forecast.Table) {
	fmt.Fprintf(w, "%s\n\n| kernel | unit |", t.Tool)
	for _, c := range cpus {
		fmt.Fprintf(w, " %s |", c.name)
	}
	fmt.Fprint(w, "\n|---|---|")
	for range cpus {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
	for _, k := range t.Kernels {
		fmt.Fprintf(w, "| %s | %s |", k.Name, k.Unit)
		for _, c := range cpus {
			fmt.Fprintf(w, " %.3g |", t.Cycles[c.name][c.levels[len(c.levels)-1]][k.Name])
		}
		fmt.Fprintln(w)
	}
}

// compare prints predicted and measured cycles on this CPU for each level that the table has, and forecasts of works.
func compare(w io.Writer, t *forecast.Table) error {
	name := forecast.Family(kernel.DetectedCPU())
	if t.Cycles[name] == nil {
		fmt.Fprintf(w, "\nNot measured: the table doesn't have this CPU, %s.\n", kernel.DetectedCPU().Brand)
		return nil
	}
	best := kernel.Active()
	defer kernel.Use(best)
	for _, level := range kernel.Levels() {
		if t.Cycles[name][level.String()] == nil {
			continue
		}
		kernel.Use(level)
		fmt.Fprintf(w, "\n%s, %s, %s\n\n| kernel | predicted | measured | measured / predicted | |\n|---|---|---|---|---|\n",
			kernel.DetectedCPU().Brand, name, level)
		for _, l := range hotloops.All() {
			predicted, ok := t.Predicted(name, level.String(), l.Name)
			if !ok {
				continue
			}
			measured, note := measure(l), ""
			if math.Abs(measured/predicted-1) > allowance {
				note = "miss"
			}
			fmt.Fprintf(w, "| %s | %.3g | %.3g | %.2f | %s |\n", l.Name, predicted, measured, measured/predicted, note)
		}
	}
	kernel.Use(best)
	return compareWorks(w, t, name)
}

// measure returns the cycles of a unit of a loop's work: the fastest of many short runs, and the clock of the same time.
func measure(l hotloops.Loop) float64 {
	const run, all = 20 * time.Microsecond, 40 * time.Millisecond
	calls := 1
	for elapsed(l, calls) < run {
		calls *= 2
	}
	fastest := math.Inf(1)
	for start := time.Now(); time.Since(start) < all; {
		fastest = min(fastest, elapsed(l, calls).Seconds())
	}
	return fastest / float64(calls*l.Units) * limits.Clock(1)
}

func elapsed(l hotloops.Loop, calls int) time.Duration {
	start := time.Now()
	for range calls {
		l.Run()
	}
	return time.Since(start)
}
