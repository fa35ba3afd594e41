package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// A point is what an averaged perceptron has after some passes.
type point struct {
	shards, passes int64
	wrong          float64 // share of held-out rows, in percent
	ms             float64 // of learning on one core; on two in others
}

const costRounds = 41

// costs learns with 1 to 16 shards, on one core and on two. The points are in the order of shards, and then of passesShown. Their times
// are the passes times the fastest one. Rounds by turns have two passes, so that some find the cores without other work.
func (s split) costs(t *testing.T) (one, two []point) {
	for shards := int64(1); shards <= int64(s.shards); shards *= 2 {
		for _, passes := range passesShown {
			opt := perceptron.Settings{Options: perceptron.Options{Epochs: passes, Shards: shards, Form: learner.Averaged}}
			one = append(one, point{shards, passes, wrongShare(t, s.held, trained(t, s.learn, opt).Weights), math.Inf(1)})
		}
	}
	two = slices.Clone(one)
	for range costRounds {
		for i := 0; i < len(one); i += len(passesShown) {
			for workers, points := range [][]point{one, two} {
				opt := learner.Options{Epochs: 2, Shards: one[i].shards, Run: learner.Run{Workers: workers + 1}}
				r := trained(t, s.learn, *learner.SetShared(&perceptron.Settings{Options: perceptron.Options{Form: learner.Averaged}}, opt).(*perceptron.Settings))
				points[i].ms = min(points[i].ms, 1000*r.Seconds/float64(r.Epochs))
			}
		}
	}
	for _, points := range [][]point{one, two} {
		for i := range points {
			points[i].ms = points[i/len(passesShown)*len(passesShown)].ms * float64(points[i].passes) / float64(passesShown[0])
		}
	}
	return one, two
}

// costTables returns errors and times by shards, and what beats one core's path (McSherry, Isard and Murray, "Scalability! But at
// what COST?", HotOS 2015).
func costTables(t *testing.T) string {
	var by, beats strings.Builder
	fmt.Fprint(&by, "Averaged weights: milliseconds of a pass on one core and on two, the fastest of 41 rounds of two passes by turns; held-out errors in\n"+
		"percent after 1 to 16 passes.\n\n| set | shards | ms on one core | ms on two | 1 | 2 | 4 | 8 | 16 |\n|---|---|---|---|---|---|---|---|---|\n")
	fmt.Fprint(&beats, "The fewest errors that two cores reach in the time of one core without shards, and the shards and passes that they take:\n\n"+
		"| set | passes | ms on one core | errors, % | errors on two cores, % | shards | passes |\n|---|---|---|---|---|---|---|\n")
	add := func(name string, f *flatRows, held int) {
		one, two := f.split(t, held, false, 1).costs(t)
		for i, p := range one {
			if i%len(passesShown) == 0 {
				fmt.Fprintf(&by, "| %s | %d | %.2f | %.2f |", name, p.shards, p.ms, two[i].ms)
			}
			fmt.Fprintf(&by, " %.2f |", p.wrong)
			if i%len(passesShown) == len(passesShown)-1 {
				by.WriteByte('\n')
			}
		}
		for _, p := range one[:len(passesShown)] {
			fmt.Fprintf(&beats, "| %s | %d | %.1f | %.2f | %s |\n", name, p.passes, p.ms, p.wrong, bestPoint(two, p.ms))
		}
	}
	add("planted, 1,000,000 × 28, 5 % wrong", planted(1_250_000, 28, 0.05), 250_000)
	for _, set := range realSets() {
		if slices.Contains([]string{"KDD Cup 1999", "a9a", "MNIST, odd against even"}, set.name) {
			t.Run("cost of "+set.name, func(t *testing.T) { add(set.name, loadReal(t, set), set.held) })
		}
	}
	return by.String() + "\n" + beats.String()
}

// best returns cells of the point with fewest errors among those that take at most some milliseconds, the fastest of equal ones.
func bestPoint(points []point, ms float64) string {
	var bestPoint *point
	for i, p := range points {
		if p.ms <= ms && (bestPoint == nil || p.wrong < bestPoint.wrong || p.wrong == bestPoint.wrong && p.ms < bestPoint.ms) {
			bestPoint = &points[i]
		}
	}
	if bestPoint == nil {
		return "none | |"
	}
	return fmt.Sprintf("%.2f | %d | %d", bestPoint.wrong, bestPoint.shards, bestPoint.passes)
}

const speedRounds, bandwidthEvery = 101, 5

// speedTable returns the times of an epoch of 16 shards on one core and on two, beside bandwidths that are measured by turns with them.
func speedTable(t *testing.T) string {
	var out strings.Builder
	fmt.Fprint(&out, "Milliseconds of an epoch in file order, 5 % of the labels wrong, 16 shards: the fastest of 101 rounds by turns. In the last two columns\n"+
		"both times, and both bandwidths, are medians of the rounds.\n\n"+
		"| rows | MiB | weights | without shards | one core | two cores | ratio | GB/s of one core | of two | ratio | ratio of median times | of bandwidths |\n"+
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, shape := range [][3]int{{131_072, 28, 4}, {65_536, 60, 4}, {2_097_152, 28, 1}, {1_048_576, 60, 1}} {
		rows := planted(shape[0], shape[1], 0.05).all(t)
		for _, form := range forms {
			fmt.Fprintf(&out, "| %d × %d | %.0f | %s | %s |\n", shape[0], shape[1], float64(bytesOf(rows))/(1<<20), form, speeds(t, rows, form, int64(shape[2])))
		}
	}
	return out.String()
}

// arraysOf returns the rows' numbers.
func arraysOf(rows *block.Data) (arrays [][]float32) {
	for b := range rows.Blocks(context.Background()) {
		arrays = append(arrays, b.X)
	}
	return arrays
}

func bytesOf(rows *block.Data) (n int) {
	for _, x := range arraysOf(rows) {
		n += 4 * len(x)
	}
	return n
}

// speeds returns the cells of a shape.
func speeds(t *testing.T, rows *block.Data, form learner.Form, epochs int64) string {
	arrays := arraysOf(rows)
	var ms [3][]float64 // without shards, with them on one core, on two
	var rates [2][]float64
	for round := range speedRounds {
		for i, opt := range []learner.Options{{Run: learner.Run{Workers: 1}}, {Shards: 16, Run: learner.Run{Workers: 1}}, {Shards: 16, Run: learner.Run{Workers: 2}}} {
			opt.Epochs = epochs
			r := trained(t, rows, *learner.SetShared(&perceptron.Settings{Options: perceptron.Options{Form: form}}, opt).(*perceptron.Settings))
			ms[i] = append(ms[i], 1000*r.Seconds/float64(r.Epochs))
		}
		for cores := 1; cores <= 2 && round%bandwidthEvery == 0; cores++ {
			rates[cores-1] = append(rates[cores-1], ReadRate(arrays, cores)/1e9)
		}
	}
	fastest, one, two := slices.Min[[]float64], slices.Max(rates[0]), slices.Max(rates[1])
	return fmt.Sprintf("%.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %.2f | %.2f | %.2f", fastest(ms[0]), fastest(ms[1]), fastest(ms[2]), fastest(ms[1])/fastest(ms[2]),
		one, two, two/one, median(ms[1])/median(ms[2]), median(rates[1])/median(rates[0]))
}
