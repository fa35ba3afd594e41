package train_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/parallel"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/kernel"
)

// A machine is an instruction set and a number of workers.
type machine struct {
	level   kernel.Level
	workers int
}

// TestInvariance: the model of every training is the same, byte for byte, in every form of the rows, on every instruction set and for
// every number of workers. Each training is made in one order of visits, in some forms of its rows, each on one machine, such that all
// pairs of a learner, a form, an instruction set and a number of workers are tried. HALFSPACE_TEST=full tries all combinations in that
// order, and makes the training in the other orders too.
func TestInvariance(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	levels := kernel.Levels()
	if parallel.RaceEnabled { // for each level the kernels are to read and write the same
		levels = levels[len(levels)-1:]
	}
	var machines []machine
	for _, level := range slices.Backward(levels) {
		for _, workers := range []int{3, 1, 8, 2} {
			machines = append(machines, machine{level, workers})
		}
	}
	tried, made, turn := map[string]bool{}, map[string]int{}, 0
	for _, c := range trainings {
		all := c.inOrders()
		first := made[c.learner] % len(all)
		if made[c.learner]++; require.Small() {
			all, first = all[first:][:1], -1
		}
		for i, c := range all {
			d := rowSets()[c.rows]
			kernel.Use(best)
			want, _, err := c.learn(t.Context(), t, d, 1, 0, nil)
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			for k, f := range c.forms(t, d) {
				some := machines
				if i != first {
					m, pairs := machineToTry(c, f, machines, tried)
					if pairs == 0 {
						if turn++; (k+made[c.learner])%5 > 0 {
							continue
						}
						m = machines[turn%4]
					}
					some = []machine{m}
				}
				for _, m := range some {
					kernel.Use(m.level)
					got, _, err := c.learn(t.Context(), t, f.src, m.workers, f.memory, nil)
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%v: %s on %v with %d workers gives (error %v)\n%.1000s\nand in memory with one worker\n%.1000s", c, f.name, m.level, m.workers, err, got, want)
					}
					for _, pair := range pairs(c, f, m) {
						tried[pair] = true
					}
				}
			}
		}
	}
	for _, c := range trainings {
		for _, f := range c.inOrders()[0].forms(t, rowSets()[c.rows]) {
			for _, m := range machines {
				for _, pair := range pairs(c, f, m) {
					if !tried[pair] {
						t.Errorf("no training tries %s", pair)
						tried[pair] = true
					}
				}
			}
		}
	}
}

// machineToTry returns the machine with the most pairs that weren't tried, and their number.
func machineToTry(c training, f form, machines []machine, tried map[string]bool) (best machine, most int) {
	for _, m := range machines {
		n := 0
		for _, pair := range pairs(c, f, m) {
			if !tried[pair] {
				n++
			}
		}
		if n > most {
			best, most = m, n
		}
	}
	return best, most
}

// pairs names each pair of the learner, the form, the instruction set and the number of workers.
func pairs(c training, f form, m machine) (all []string) {
	values := []any{c.learner, f.name, m.level, m.workers}
	for a := range values {
		for b := range a {
			all = append(all, fmt.Sprint(values[b], " with ", values[a]))
		}
	}
	return all
}

// TestTrainings: every option of every learner is set by some training.
func TestTrainings(t *testing.T) {
	for _, l := range train.Learners {
		for _, o := range l.Options {
			if !slices.ContainsFunc(trainings, func(c training) bool {
				return c.learner == l.Name && strings.Contains(" "+strings.ReplaceAll(c.options, "orders", "order=")+" ", " "+o.Name+"=")
			}) {
				t.Errorf("no training of %s sets %s", l.Name, o.Name)
			}
		}
	}
}
