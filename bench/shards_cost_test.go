package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/kernel/limits"
	"halfspace/train"
	"halfspace/train/perceptron"
)

// A point is what an averaged perceptron has after some passes.
type point struct {
	shards, passes int64
	wrong          float64      // share of held-out rows, in percent
	seconds        [3][]float64 // of learning, with 1 and 2 workers, in each round
}

func (p *point) ms(workers int) float64 { return 1000 * median(p.seconds[workers]) }

const costRounds = 5

// costs learns with 1 to 16 shards, each number of passes and workers in turn.
func (s split) costs(t *testing.T) (points []*point) {
	for shards := 1; shards <= s.shards; shards *= 2 {
		for _, passes := range passesShown {
			points = append(points, &point{shards: int64(shards), passes: passes})
		}
	}
	for range costRounds {
		for _, p := range points {
			for workers := 1; workers <= 2; workers++ {
				r := trained(t, s.learn, perceptron.Options{Options: train.Options{Epochs: p.passes, Shards: p.shards, Workers: workers}, Form: train.Averaged})
				p.seconds[workers] = append(p.seconds[workers], r.Seconds)
				p.wrong = wrongShare(t, s.held, r.Weights)
			}
		}
	}
	return points
}

// costTables returns errors and times by shards, and what beats one core's path (McSherry, Isard and Murray, "Scalability! But at
// what COST?", HotOS 2015).
func costTables(t *testing.T) string {
	var by, beats strings.Builder
	fmt.Fprint(&by, "Averaged weights: held-out errors in percent; milliseconds of learning on one core; on two. Medians of 5 rounds by turns.\n\n"+
		"| set | shards | 1 pass | 2 | 4 | 8 | 16 |\n|---|---|---|---|---|---|---|\n")
	fmt.Fprint(&beats, "The fewest errors that two cores reach in the time of one core without shards, and the shards and passes that they take:\n\n"+
		"| set | passes | ms on one core | errors, % | errors on two cores, % | shards | passes |\n|---|---|---|---|---|---|---|\n")
	add := func(name string, f *flatRows, held int) {
		points := f.split(t, held, 1).costs(t)
		for i, p := range points {
			if i%len(passesShown) == 0 {
				fmt.Fprintf(&by, "| %s | %d |", name, p.shards)
			}
			fmt.Fprintf(&by, " %.2f; %.1f; %.1f |", p.wrong, p.ms(1), p.ms(2))
			if i%len(passesShown) == len(passesShown)-1 {
				by.WriteByte('\n')
			}
		}
		for _, one := range points[:len(passesShown)] {
			fmt.Fprintf(&beats, "| %s | %d | %.1f | %.2f | %s |\n", name, one.passes, one.ms(1), one.wrong, best(points, one.ms(1)))
		}
	}
	add("planted, 1,000,000 × 28, 5 % wrong", planted(1_250_000, 28, 0.05), 250_000)
	for _, set := range realSets() {
		if set.name == "KDD Cup 1999" || set.name == "a9a" || strings.HasPrefix(set.name, "MNIST") {
			t.Run("cost of "+set.name, func(t *testing.T) { add(set.name, loadReal(t, set), set.held) })
		}
	}
	return by.String() + "\n" + beats.String()
}

// best returns cells of the point with fewest errors that two cores reach in some milliseconds, the fastest of equal ones.
func best(points []*point, ms float64) string {
	var best *point
	for _, p := range points {
		if p.ms(2) <= ms && (best == nil || p.wrong < best.wrong || p.wrong == best.wrong && p.ms(2) < best.ms(2)) {
			best = p
		}
	}
	if best == nil {
		return "none | |"
	}
	return fmt.Sprintf("%.2f | %d | %d", best.wrong, best.shards, best.passes)
}

const speedRounds = 9

// speedTable returns the times of an epoch of 16 shards on one core and on two, beside bandwidths that are measured by turns with them.
func speedTable(t *testing.T) string {
	var out strings.Builder
	fmt.Fprint(&out, "Epochs in file order, 5 % of the labels wrong, 16 shards; medians of 9 rounds by turns. Ratios are of medians.\n\n"+
		"| rows | MiB | weights | ms without shards | one core | two cores | ratio | GB/s of one core | of two | ratio |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, shape := range [][3]int{{131_072, 28, 40}, {40_960, 100, 40}, {2_097_152, 28, 5}, {655_360, 100, 5}} {
		f := planted(shape[0], shape[1], 0.05)
		order := make([]int, shape[0])
		for i := range order {
			order[i] = i
		}
		rows := f.take(t, order)
		for _, form := range forms {
			fmt.Fprintf(&out, "| %d × %d | %.0f | %s | %s |\n", shape[0], shape[1], float64(bytesOf(rows))/(1<<20), form, speeds(t, rows, form, int64(shape[2])))
		}
	}
	return out.String()
}

// arraysOf returns the rows' numbers.
func arraysOf(rows *block.Data[float32]) (arrays [][]float32) {
	for b := range rows.Blocks(context.Background()) {
		arrays = append(arrays, b.X)
	}
	return arrays
}

func bytesOf(rows *block.Data[float32]) (n int) {
	for _, x := range arraysOf(rows) {
		n += 4 * len(x)
	}
	return n
}

// speeds returns the cells of a shape.
func speeds(t *testing.T, rows *block.Data[float32], form train.Form, epochs int64) string {
	arrays := arraysOf(rows)
	var ms [3][]float64 // without shards, with them on one core, on two
	var bandwidth [2][]float64
	for range speedRounds {
		for i, opt := range []train.Options{{Workers: 1}, {Workers: 1, Shards: 16}, {Workers: 2, Shards: 16}} {
			opt.Epochs = epochs
			r := trained(t, rows, perceptron.Options{Options: opt, Form: form})
			ms[i] = append(ms[i], 1000*r.Seconds/float64(r.Epochs))
		}
		for cores := 1; cores <= 2; cores++ {
			bandwidth[cores-1] = append(bandwidth[cores-1], limits.Read(arrays, cores)/1e9)
		}
	}
	return fmt.Sprintf("%.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %.2f", median(ms[0]), median(ms[1]), median(ms[2]), median(ms[1])/median(ms[2]),
		median(bandwidth[0]), median(bandwidth[1]), median(bandwidth[1])/median(bandwidth[0]))
}
