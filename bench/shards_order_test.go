package bench

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"halfspace/kernel"
	"halfspace/train/learner"
)

// writeShards writes what it measures to the file of -shards.
func writeShards(t *testing.T) {
	before := load1()
	parts := []any{kernel.Active()}
	for _, measure := range []func(*testing.T) string{pathTables, orderTable, costTables, speedTable, othersTable, rareTable} {
		part := measure(t)
		t.Log(part)
		parts = append(parts, part)
	}
	text := fmt.Sprintf(shardsHead, append(parts, before, load1())...)
	if err := os.WriteFile(*shardsTable, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// load1 returns the load of the machine as Linux tells it: processes that run or wait, a mean over a minute.
func load1() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// passesShown are the passes after which tables show errors, and seeds permute the rows to learn from.
var (
	passesShown = []int64{1, 2, 4, 8, 16}
	forms       = []learner.Form{learner.Last, learner.Averaged}
)

const seeds = 5

// orderTable returns the errors of all ways on real sets, by pass, and on how many sets the order of the paper holds.
func orderTable(t *testing.T) string {
	var cells strings.Builder
	pairs := [][2]way{{iterative, serial}, {iterative, oneShot}, {oneShot, single}}
	counts, sets := make([][2]int, len(pairs)), 0
	fmt.Fprintf(&cells, "| set | weights | way | 1 | 2 | 4 | 8 | 16 |\n|---|---|---|---|---|---|---|---|\n")
	for _, set := range realSets() {
		t.Run(set.name, func(t *testing.T) {
			f := loadReal(t, set)
			sets++
			for i, form := range forms {
				last := map[way]float64{}
				for w, line := range f.errorsByPass(t, set, form) {
					fmt.Fprintf(&cells, "| %s | %s | %s |", set.name, form, ways[w])
					for _, s := range line {
						fmt.Fprintf(&cells, " %s |", s)
						last[ways[w]] = s.mean
					}
					cells.WriteByte('\n')
				}
				for p, pair := range pairs {
					if last[pair[0]] <= last[pair[1]] {
						counts[p][i]++
					}
				}
			}
		})
	}
	fmt.Fprintf(&cells, "\nSets where a way makes at most the errors of another after the last pass, by the means:\n\n| | %s | %s |\n|---|---|---|\n", forms[0], forms[1])
	for p, pair := range pairs {
		fmt.Fprintf(&cells, "| %s, beside %s | %d of %d | %d of %d |\n", pair[0], pair[1], counts[p][0], sets, counts[p][1], sets)
	}
	return cells.String()
}

// errorsByPass returns the errors on held-out rows, of each way, by passesShown.
func (f *flatRows) errorsByPass(t *testing.T, set realSet, form learner.Form) [][]spread {
	shares := make([][][]float64, len(ways)) // of a way and a number of passes, for each seed
	for w := range ways {
		shares[w] = make([][]float64, len(passesShown))
	}
	for seed := range uint64(seeds) {
		s := f.split(t, set.held, set.inOrder, seed)
		for w, way := range ways {
			for p, passes := range passesShown {
				shares[w][p] = append(shares[w][p], wrongShare(t, s.held, way.learn(t, s.learn, s.shards, form, passes)))
			}
		}
	}
	spreads := make([][]spread, len(ways))
	for w := range ways {
		for _, x := range shares[w] {
			spreads[w] = append(spreads[w], spreadOf(x))
		}
	}
	return spreads
}

// A spread is the mean of some figures and their standard deviation.
type spread struct{ mean, deviation float64 }

func (s spread) String() string { return fmt.Sprintf("%.2f ± %.2f", s.mean, s.deviation) }

func spreadOf(x []float64) (s spread) {
	for _, v := range x {
		s.mean += v / float64(len(x))
	}
	for _, v := range x {
		s.deviation += (v - s.mean) * (v - s.mean) / float64(len(x)-1)
	}
	s.deviation = math.Sqrt(s.deviation)
	return s
}

// shardsHead says how to read the tables.
const shardsHead = `# Shards

` + "`make bench-shards`" + ` writes these tables. Instruction set: %[1]s. The load of the machine was %[8]s before and %[9]s after (processes
that run or wait, a mean over a minute).

## Ways to learn from shards

Held-out errors in percent after 1 to 16 passes: mean ± standard deviation of 5 orders of the rows to learn from. Where these
stay in the order of the file, another quarter of the rows is held out each time. Shards: 16 for KDD Cup
1999, 4 for letter and magic04, 8 for the others.

%[3]s
## Other learners

Held-out errors in percent after 1, 4 and 16 passes: mean ± standard deviation of 3 orders of the rows to learn from. The last
line of a set and a learner has as many shards as its runs suffice for. The gradient steps are left out for large sets: their proof
would take minutes.

%[6]s
## Errors against time

%[4]s
## Instructions on the longest path: a forecast

%[2]s
## Two cores beside one

%[5]s
## Exact parallel epochs

%[7]s`
