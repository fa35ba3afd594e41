package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"halfspace/internal/files"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// Options select the measurements. The zero value of a field stands for the default in the field's comment.
type Options struct {
	Levels  []kernel.Level // default: all levels of this computer
	Only    []string       // items whose group and name, such as "kernel/Dot/type=float32/n=2048", contain one of these texts; default: all
	Rounds  int            // default: 5
	Time    time.Duration  // approximate time of an item in a round; it runs at least once; default: 50 ms
	Workers int            // default: one for each core

	Version, Command string // for the report

	// Progress, if not nil, receives the name of the next measurement, and the number of measurements done.
	Progress func(name string, done, total int64)
}

// mostTime bounds the total time of an item. Once an item has taken that long, later rounds skip it.
const mostTime = 1500 * time.Millisecond

// Run measures this computer. Each round goes through all levels and items, so that other programs disturb all items
// alike. It returns an error if a learner's model isn't the same in each run and on each level.
func Run(ctx context.Context, opt Options) (*Report, error) {
	defer kernel.Use(kernel.Active())
	if opt.Levels == nil {
		opt.Levels = kernel.Levels()
	}
	if opt.Rounds == 0 {
		opt.Rounds = 5
	}
	if opt.Time == 0 {
		opt.Time = 50 * time.Millisecond
	}
	opt.Workers = parallel.Workers(opt.Workers)
	r := &Report{Format: Format, Machine: newMachine(opt.Workers), Version: opt.Version, Command: opt.Command,
		Date: time.Now().UTC().Format(time.DateOnly)}
	dir, err := os.MkdirTemp(files.TempDir(), "halfspace-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m := &measurement{Options: opt, report: r, data: newData(ctx, dir, opt.Workers)}
	if err := m.prepare(); err != nil {
		return nil, err
	}
	for round := range opt.Rounds {
		if err := m.round(ctx, round); err != nil {
			return nil, err
		}
	}
	r.Items = slices.DeleteFunc(r.Items, func(i *Item) bool { return len(i.Seconds) == 0 }) // limits that a level can't measure
	r.finish()
	return r, nil
}

// A measurement is one call of Run.
type measurement struct {
	Options
	report *Report
	data   *data
	levels [][]*Item // items of each level
	done   int64
}

// prepare makes the items of each level. If an item's kernels have no code for a level, the item gets the level of the
// code that they run, and is measured once.
func (m *measurement) prepare() error {
	var ran []kernel.Level
	for _, l := range m.Levels {
		kernel.Use(l)
		var all []*Item
		for _, list := range []func() []*Item{m.limits, m.data.kernels, m.data.matrices, m.data.loads, m.data.trainings} {
			for _, i := range list() {
				i.Level = cmp.Or(i.Level, l.String())
				if m.wanted(i) && m.report.Find(i.Name, i.Level) == nil {
					all = append(all, i)
				}
			}
		}
		m.levels = append(m.levels, all)
		m.report.Items = append(m.report.Items, all...)
		for _, i := range all {
			if level, err := kernel.ParseLevel(i.Level); err == nil && !slices.Contains(ran, level) {
				ran = append(ran, level)
			}
		}
	}
	slices.Sort(ran)
	for _, l := range ran {
		m.report.Machine.Levels = append(m.report.Machine.Levels, l.String())
	}
	if !slices.ContainsFunc(m.report.Items, func(i *Item) bool { return i.Group != Limits }) {
		return fmt.Errorf("no item of bench has %s in its group and name, such as kernel/Dot/type=float32 or train/learner=svm", strings.Join(m.Only, " or "))
	}
	return nil
}

// wanted tells whether an item is to be measured. Limits are always measured.
func (m *measurement) wanted(i *Item) bool {
	return i.Group == Limits || len(m.Only) == 0 ||
		slices.ContainsFunc(m.Only, func(text string) bool { return strings.Contains(i.Group+"/"+i.Name, text) })
}

func (m *measurement) round(ctx context.Context, round int) error {
	for k, l := range m.Levels {
		kernel.Use(l)
		for _, i := range m.levels[k] {
			if m.Progress != nil {
				m.Progress(i.Group+" "+i.Name+", "+i.Level, m.done, int64(m.Rounds*len(m.report.Items)))
			}
			m.done++
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := m.measure(i, round); err != nil {
				return fmt.Errorf("%s, %s: %w", i.Name, i.Level, err)
			}
		}
	}
	return nil
}

// measure runs an item for about m.Time, and records the time of one run: the mean of the fastest batch of runs, since
// limits are the best of short runs too.
func (m *measurement) measure(i *Item, round int) error {
	if i.Group == Limits { // the first limit measures the others too
		if i.run != nil {
			return i.run()
		}
		return nil
	}
	if i.spent > mostTime {
		return nil
	}
	known := len(i.Seconds)
	if round == 0 && i.Group != Trains || known > 0 && i.Seconds[known-1] < m.Time.Seconds() {
		if err := i.run(); err != nil { // makes rows and files, and warms up
			return err
		}
		i.Seconds = i.Seconds[:known]
	}
	best, runs, start := math.Inf(1), 0, time.Now()
	for more := 1; runs == 0 || time.Since(start) < m.Time; more = batch(runs, time.Since(start)) {
		begin := time.Now()
		for range more {
			if err := i.run(); err != nil {
				return err
			}
		}
		runs += more
		seconds := math.Inf(1)
		if took := time.Since(begin); took >= shortest {
			seconds = took.Seconds() / float64(more)
		}
		for _, noted := range i.Seconds[known:] { // a training times itself
			seconds = min(seconds, noted)
		}
		best, i.Seconds = min(best, seconds), i.Seconds[:known]
	}
	best = min(best, time.Since(start).Seconds()/float64(runs))
	i.spent += time.Since(start)
	i.Seconds = append(i.Seconds, best)
	return nil
}

// A batch of runs takes about batchTime, so that some batches finish before another program gets the core. A batch that
// took less than shortest doesn't count, since some clocks tick every 100 ns.
const (
	batchTime = 200 * time.Microsecond
	shortest  = batchTime / 10
)

// batch returns the number of further runs that make a batch, if the item's runs so far took the time took. It is at
// least 1 and at most runs.
func batch(runs int, took time.Duration) int {
	fits := float64(batchTime) / max(1, float64(took)) * float64(runs)
	return max(1, min(runs, int(fits)))
}

// limits returns the items of the limits of one core and of all cores. The first item of each measures the others as
// well. Pure Go has no loops to measure with.
func (m *measurement) limits() []*Item {
	if kernel.Active() == kernel.Generic {
		return nil
	}
	var all []*Item
	for _, cores := range slices.Compact([]int{1, m.Workers}) {
		var these []*Item
		for _, limit := range []struct {
			name         string
			bytes, flops float64
		}{{"FMA-float32", 0, 1e9}, {"FMA-float64", 0, 1e9}, {"L1", 1e9, 0}, {"L2", 1e9, 0}, {"L3", 1e9, 0}, {"DRAM", 1e9, 0}, {"stream", 1e9, 0}, {"clock", 0, 0}} {
			these = append(these, &Item{Group: Limits, Name: LimitName(limit.name, cores), Cores: cores, Bytes: limit.bytes, Flops: limit.flops})
		}
		these[0].run = func() error {
			l := MeasureRates(cores)
			for k, rate := range []float64{l.FMAF32, l.FMAF64, l.L1, l.L2, l.L3, l.DRAM, l.Stream, l.Clock} {
				if rate > 0 {
					these[k].Seconds = append(these[k].Seconds, 1e9/rate)
				}
			}
			return nil
		}
		all = append(all, these...)
	}
	return all
}
