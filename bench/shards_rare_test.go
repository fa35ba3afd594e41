package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// made returns generated rows.
func made(t *testing.T, opt Synthetic) *flatRows {
	opt.Seed = 7
	f := &flatRows{width: opt.Features + 1}
	f.add(t, SyntheticRows(opt))
	return f
}

// digitPair returns the images of two digits of MNIST, the second one with label 1.
func digitPair(t *testing.T, first, second int) *flatRows {
	data, err := mnist("../../shared/data/mnist", "train", 60_000)
	if err != nil {
		t.Skipf("SKIPPED: MNIST: its files are not beside the checkout: %v", err)
	}
	all, f := &flatRows{width: data.Spec().Cols()}, &flatRows{width: data.Spec().Cols()}
	all.add(t, data)
	for r, y := range all.y {
		if y == first || y == second {
			f.x = append(f.x, all.x[r*f.width:(r+1)*f.width]...)
			f.y = append(f.y, 2*(y-first)/(second-first)-1)
		}
	}
	return f
}

// rareTable returns the times of whole trainings in whose epochs mistakes become rare, with one worker and with two.
func rareTable(t *testing.T) string {
	const rounds = 21
	var out strings.Builder
	fmt.Fprintf(&out, "Milliseconds of a perceptron's training in file order from zeros, to the end or 100 epochs, without shards: the fastest and the median\n"+
		"of %d rounds by turns.\n\n"+
		"| rows | MiB | epochs | visits for each update | one worker: fastest, median | two | gain |\n|---|---|---|---|---|---|---|\n", rounds)
	for _, c := range []struct {
		name string
		load func() *flatRows
	}{
		{"MNIST, 0 against 1", func() *flatRows { return digitPair(t, 0, 1) }},
		{"MNIST, 4 against 9", func() *flatRows { return digitPair(t, 4, 9) }},
		{"KDD Cup 1999", func() *flatRows { return loadReal(t, realSets()[3]) }},
		{"60,000 × 28, separated by 0.05", func() *flatRows { return made(t, Synthetic{Rows: 60_000, Features: 28, Margin: 0.05}) }},
		{"1,000,000 × 28, separated by 0.05", func() *flatRows { return made(t, Synthetic{Rows: 1_000_000, Features: 28, Margin: 0.05}) }},
		{"20,000 × 250, separated by 0.5", func() *flatRows { return made(t, Synthetic{Rows: 20_000, Features: 250, Margin: 0.5}) }},
	} {
		rows := c.load().all(t)
		var ms [2][]float64
		var r *learner.Result
		for range rounds {
			for workers := range ms {
				r = trained(t, rows, perceptron.Settings{Options: perceptron.Options{Epochs: 100}, Run: learner.Run{Workers: workers + 1}})
				ms[workers] = append(ms[workers], 1000*r.Seconds)
			}
		}
		one, two, half, other := slices.Min(ms[0]), slices.Min(ms[1]), median(ms[0]), median(ms[1])
		fmt.Fprintf(&out, "| %s | %.0f | %d | %.0f | %.2f, %.2f | %.2f, %.2f | %.2f, %.2f |\n", c.name, float64(bytesOf(rows))/(1<<20), r.Epochs,
			float64(r.Visits)/float64(max(1, r.Updates)), one, half, two, other, one/two, half/other)
	}
	return out.String()
}
