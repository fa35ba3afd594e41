package train_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/train/learner"
	"halfspace/train/logistic"
)

// countsOf returns the number of rows of each class.
func countsOf(t *testing.T, src block.Source) []int64 {
	t.Helper()
	counts := require.Value(learner.ClassCounts(t.Context(), src, 1))(t)
	return counts
}

// TestFold: every row but that of a class of one is in one fold. Folds differ by at most one row, of each class and of all. Each row of
// neighbours is in the fold of the one before as often as chance has it.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		classes, folds, rows := 2+rng.IntN(4), 2+rng.IntN(6), 10+rng.IntN(300)
		of, counts := make([]int, rows), make([]int64, classes)
		for r := range of {
			of[r] = min(rng.IntN(classes), rng.IntN(classes))
			counts[of[r]]++
		}
		seed, held, each := rng.Uint64(), make([]int, rows), make([][]int64, classes)
		for c := range each {
			each[c] = make([]int64, folds)
		}
		sizes := make([]int64, folds)
		for f := range folds {
			is := train.Fold(seed, folds, counts, f)()
			for r, c := range of {
				if is(c) {
					held[r]++
					each[c][f]++
					sizes[f]++
				}
			}
		}
		for r, n := range held {
			if want := min(1, int(counts[of[r]]-1)); n != want {
				t.Fatalf("row %d is in %d folds, want %d", r, n, want)
			}
		}
		for _, n := range append(each, sizes) {
			if slices.Max(n)-slices.Min(n) > 1 {
				t.Fatalf("folds of %v rows", n)
			}
		}
	}
	const rows, folds = 20_000, 5
	last, together := -1, 0
	var all [folds]func(int) bool
	for f := range all {
		all[f] = train.Fold(3, folds, []int64{rows}, f)()
	}
	for range rows {
		for f := range all {
			if all[f](0) {
				if f == last {
					together++
				}
				last = f
			}
		}
	}
	if together < rows/folds-300 || together > rows/folds+300 { // five standard deviations
		t.Errorf("%d of %d neighbours are in one fold, want about a fifth", together, rows)
	}
}

// TestSplit: groups stay together in folds and hold-outs, and sizes are as even as groups let them be. In order of time, each fold is
// judged by a model of all earlier rows alone, and a hold-out is the last rows.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		rows, folds := 40+rng.IntN(200), 2+rng.IntN(4)
		x, y := make([][]float64, rows), make([]int, rows)
		numbers, counts := make([]int64, rows), make([]int64, 2)
		for r := range x {
			x[r], y[r], numbers[r] = []float64{float64(r)}, rng.IntN(2), int64(rng.IntN(1+min(rng.IntN(40), rng.IntN(40))+3*folds))
			counts[y[r]]++
		}
		all, largest := rowsOf(t, x, y), int64(0)
		for _, n := range train.GroupSizes(numbers) {
			largest = max(largest, n)
		}
		for name, split := range map[string]train.Split{"groups": {Groups: numbers}, "times": {Times: numbers}, "order": {InOrder: true}} {
			seen := make([]int, rows)
			deal, err := train.DealOf(t.Context(), all, folds, rng.Uint64(), &train.Options{Split: split})
			if err != nil {
				t.Fatal(name, err)
			}
			var sizes []int64
			for f := range folds {
				judged, learned := chosenRows(deal.Judge(f), y), chosenRows(deal.Learn(f), y)
				for _, r := range judged {
					seen[r]++
				}
				sizes = append(sizes, int64(len(judged)))
				checkSides(t, name, &split, learned, judged)
				if name == "groups" && len(judged)+len(learned) != rows || name != "groups" && f > 0 && len(learned) <= len(chosenRows(deal.Learn(f-1), y)) {
					t.Fatalf("%s: fold %d of %d learns from %d rows", name, f, rows, len(learned))
				}
			}
			if slices.Max(seen) > 1 || name == "groups" && slices.Min(seen) == 0 {
				t.Fatalf("%s: rows are in %v folds", name, seen)
			}
			if name == "groups" && slices.Max(sizes)-slices.Min(sizes) > largest || name == "order" && slices.Max(sizes)-slices.Min(sizes) > 1 {
				t.Fatalf("%s: folds of %v rows", name, sizes)
			}
			share := 0.1 + 0.8*rng.Float64()
			has := require.Value(split.HoldOut(rng.Uint64(), share, counts))(t)
			held, kept := chosenRows(has(), y), chosenRows(has.Others(), y)
			checkSides(t, name, &split, kept, held)
			if off := math.Abs(float64(len(held)) - share*float64(rows)); off > 0.5+float64(largest) || len(held)+len(kept) != rows {
				t.Fatalf("%s: a hold-out of %v has %d of %d rows", name, share, len(held), rows)
			}
		}
	}
}

// chosenRows returns the numbers of the rows that are chosen.
func chosenRows(is func(class int) bool, classes []int) (rows []int) {
	for r, c := range classes {
		if is(c) {
			rows = append(rows, r)
		}
	}
	return rows
}

// checkSides fails if a group is on both sides, or if a row that is judged is not later than those that are learned from.
func checkSides(t *testing.T, name string, s *train.Split, learned, judged []int) {
	t.Helper()
	for _, a := range learned {
		for _, b := range judged {
			switch {
			case s.Groups != nil && s.Groups[a] == s.Groups[b], s.Times != nil && s.Times[a] >= s.Times[b], s.InOrder && a >= b:
				t.Fatalf("%s: row %d is learned from, row %d is judged", name, a, b)
			}
		}
	}
}

// TestRareGroups: groups with the only rows of a class are learned from in every fold. A note names the class.
func TestRareGroups(t *testing.T) {
	var x [][]float64
	var y []int
	var numbers []int64
	for r := range 60 {
		class := r % 2
		if r/6 == 4 {
			class = 2
		}
		x, y, numbers = append(x, []float64{float64(r % 7), float64(class)}), append(y, class), append(numbers, int64(r/6))
	}
	notes := ""
	opt := train.Options{CV: train.CV{Folds: 3}, Split: train.Split{Groups: numbers},
		Watch: train.Watch{Note: func(text string) { notes += text }}}
	cv, err := train.CrossValidate(t.Context(), rowsOf(t, x, y), logistic.New(logistic.Options{L2: 1}), opt)
	if err != nil || !strings.Contains(notes, "class 2 is in the groups of one fold") {
		t.Fatal(err, notes)
	}
	if *cv.Points[0].Accuracy != 1-float64(*cv.Points[0].Errors)/54 {
		t.Errorf("accuracy %v with %d errors of 54 rows", *cv.Points[0].Accuracy, *cv.Points[0].Errors)
	}
}
